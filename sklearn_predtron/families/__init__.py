"""The estimators, one module each, and their shared parts."""
