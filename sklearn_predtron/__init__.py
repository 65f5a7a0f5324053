"""Mistake-driven online learning for general prediction problems, as scikit-learn estimators."""

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from sklearn_predtron._support import quiet_start as quiet_start

# isort: split
from sklearn_predtron._support.version import __version__ as __version__

if TYPE_CHECKING:
    from sklearn_predtron.families._public import *

if find_spec("sklearn_predtron._core.learner") is None:
    raise ImportError(
        f"The source of sklearn_predtron in {__path__[0]} is not compiled. To import the installed package, start Python in "
        "another folder. To use this source, run `pip install -e .` in its checkout."
    )

__all__ = [
    "JointProblem",
    "Patience",
    "Predtron",
    "PredtronBinaryClassifier",
    "PredtronBipartiteClassifier",
    "PredtronClassifier",
    "PredtronLabelRanker",
    "PredtronMultilabelClassifier",
    "PredtronOrdinalClassifier",
    "PredtronRanker",
    "PredtronSequenceTagger",
    "Problem",
    "load",
    "show_versions",
]

MODULES = {
    "callbacks",
    "datasets",
    "decisions",
    "estimator_checks",
    "features",
    "inspection",
    "losses",
    "metrics",
    "mixing",
    "norms",
    "predictor",
    "representations",
    "theory",
    "updates",
}


def __getattr__(name: str) -> Any:
    """Import public names when they are used.

    The help and the errors of the command line do without them, and so without scikit-learn, whose import takes long.
    """
    if name in MODULES:
        return import_module(f"{__name__}.{name}")
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(f"{__name__}.families._public"), name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *MODULES})
