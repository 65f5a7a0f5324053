"""The estimators, one module each, and their shared parts."""

from sklearn_predtron.families import _public as _public
