"""Readers of data that need not fit in memory, and the papers' simulated queries."""

from sklearn_predtron.datasets._ranking_queries import make_ranking_queries, make_separable_queries
from sklearn_predtron.datasets._reader import BrokenLineError, SvmlightReader, SvmlightSummary

__all__ = ["BrokenLineError", "SvmlightReader", "SvmlightSummary", "make_ranking_queries", "make_separable_queries"]

# Pickles name these by the public path, whatever module defines them.
for name in __all__:
    globals()[name].__module__ = __name__
del name
