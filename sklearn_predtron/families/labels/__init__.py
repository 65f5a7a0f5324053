"""Codecs, one module for each kind of labels.

They encode labels and decode predictions.
"""
