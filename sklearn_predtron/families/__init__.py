"""The estimators, a module for each, and what they share."""
