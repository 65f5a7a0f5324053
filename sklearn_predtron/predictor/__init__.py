"""Predictions of saved models, on NumPy alone."""

from sklearn_predtron.predictor._predictor import Predictor, load

__all__ = ["Predictor", "load"]

for name in __all__:
    globals()[name].__module__ = __name__
del name
