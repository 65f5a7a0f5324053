"""Docstrings whose paragraphs are shared, and whose lists of parts come from discovery."""

import re
import subprocess
import sys

import numpy as np
import pytest

import sklearn_predtron
from sklearn_predtron import PredtronClassifier, PredtronLabelRanker, PredtronRanker
from sklearn_predtron._parts import kinds
from sklearn_predtron.families._docstrings import documented
from sklearn_predtron.families._estimator import BasePredtron
from sklearn_predtron.families.labels.classes import Classes
from sklearn_predtron.norms import Norm
from sklearn_predtron.updates import Adaptive, Update

FAMILIES = [getattr(sklearn_predtron, name) for name in sklearn_predtron.__all__ if name.startswith("Predtron")]


@pytest.mark.parametrize("family", FAMILIES)
def test_nothing_is_left_to_be_filled_in(family):
    assert issubclass(family, BasePredtron)
    assert re.findall(r"\{\w+\}", family.__doc__) == []
    assert re.search(rf"(None is|of one learner) {family._epochs}\b", family.__doc__)


def listed(family, parameter):
    """The aliases that a docstring lists for a parameter."""
    line = re.search(rf"^ *{parameter} : (.*), default=", family.__doc__, re.MULTILINE)
    return re.findall(r'"(\w+)"', line[1])


@pytest.mark.parametrize("family", FAMILIES)
def test_lists_are_those_of_the_messages(family):
    sequences = family is sklearn_predtron.PredtronSequenceTagger
    assert listed(family, "norm") == [kind.alias for kind in kinds(Norm) if kind.of_sequences or not sequences]
    assert listed(family, "update")[0] == "adaptive"
    assert set(listed(family, "update")) <= {kind.alias for kind in kinds(Update)}
    assert ("slam" in listed(family, "update")) == (family in (PredtronRanker, PredtronLabelRanker))
    assert ("prank" in listed(family, "update")) == (family is sklearn_predtron.PredtronOrdinalClassifier)


def test_a_new_part_shows_up_by_itself():
    class Eager(Adaptive):
        alias = "eager"

    try:

        @documented(Classes(np.arange(3)), d="d")
        class Own(PredtronClassifier):
            """Classify.

            {update}
            {max_iter}
            """

            _epochs = 7
    finally:
        Eager.alias = None  # other tests are not to find it

    assert "eager" in listed(Own, "update") and "adaptive" in listed(Own, "update")
    assert "Epochs of `fit`; None is what folds choose (see `cv`), and of one learner 7.\n" in Own.__doc__


def test_without_docstrings():
    code = "import sklearn_predtron as s; assert s.PredtronClassifier.__doc__ is None; print(s.PredtronClassifier())"
    run = subprocess.run([sys.executable, "-OO", "-W", "ignore", "-c", code], capture_output=True, text=True)
    assert run.stdout == "PredtronClassifier()\n", run.stderr
