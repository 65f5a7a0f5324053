"""Formats of data files, read in chunks: svmlight, CSV, CoNLL, JSON and Vowpal Wabbit."""
