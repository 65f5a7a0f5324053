"""The base of the estimators and the model that each of them has: attributes, saving, growing, bounds."""
