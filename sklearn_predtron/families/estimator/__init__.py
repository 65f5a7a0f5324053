"""The base of estimators, and their fitted model.

The package has attributes, saving, widening and bounds.
"""
