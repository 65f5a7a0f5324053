"""Exact inference for rankings."""
