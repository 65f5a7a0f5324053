"""The base of the estimators, and their fitted model: attributes, saving, widening, bounds."""
