"""The base of estimators, and their fitted model; the package has attributes, saving, widening and bounds."""
