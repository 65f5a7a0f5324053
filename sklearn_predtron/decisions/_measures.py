"""Measures of predictions that promises and bounds are about."""

from __future__ import annotations

# The conditions that a promise about each measure may have, and those that it must have.
CONDITIONS = {
    "risk": ("label", "predicted"),
    "precision": ("label",),
    "recall": ("label",),
    "false_positive_rate": ("label",),
    "predicted_rate": ("label",),
    "abstention_rate": ("label",),
}
NEEDS_LABEL = ("precision", "recall", "false_positive_rate", "predicted_rate")
