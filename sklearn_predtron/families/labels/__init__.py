"""Codecs, one module for each kind of labels; they encode labels and decode predictions."""
