"""Predictions of saved models, on NumPy alone."""

from sklearn_predtron.predictor._predictor import ModelPredictor, load

__all__ = ["ModelPredictor", "load"]

for name in __all__:
    globals()[name].__module__ = __name__
del name
