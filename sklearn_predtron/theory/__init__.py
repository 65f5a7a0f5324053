"""Theory: margins, loss constants, and theorems behind bounds."""

from sklearn_predtron.theory._constants import loss_constants
from sklearn_predtron.theory._largest_margin import LargestMargin, largest_margin
from sklearn_predtron.theory._margin import margin, unit_margin
from sklearn_predtron.theory._theorems import radius, theorem_of

__all__ = ["LargestMargin", "largest_margin", "loss_constants", "margin", "radius", "theorem_of", "unit_margin"]

for name in __all__:
    globals()[name].__module__ = __name__
del name
