"""Codecs, which encode labels and decode predictions, one module for each kind of labels."""
