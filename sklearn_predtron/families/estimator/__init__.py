"""The base of estimators; the package has attributes, saving, widening and bounds."""
