"""Docstrings whose paragraphs are shared, and whose lists of parts are compared with what discovery finds."""

import re
import subprocess
import sys

import numpy as np
import pytest

import sklearn_predtron
from sklearn_predtron import Problem
from sklearn_predtron._support.parts import Part, kinds
from sklearn_predtron.families.estimator.base import BasePredtron
from sklearn_predtron.families.labels.classes import Classes, TwoClasses
from sklearn_predtron.families.labels.objects import AnyLabels
from sklearn_predtron.families.labels.ranks import Ranks
from sklearn_predtron.families.labels.relevances import DocumentRelevances, LabelRelevances
from sklearn_predtron.families.labels.sets import Sets
from sklearn_predtron.families.labels.tokens import Tokens
from sklearn_predtron.families.training.factory import update_of

FAMILIES = [getattr(sklearn_predtron, name) for name in sklearn_predtron.__all__ if name.startswith("Predtron")]


class TwoScores(Problem):
    n_scores = 2


# Labels of which each family can build a problem, and estimators in one of which a part must work.
EXAMPLES = {
    "PredtronClassifier": (Classes(np.arange(3)), [{}]),
    "PredtronBinaryClassifier": (TwoClasses(np.arange(2)), [{}]),
    "PredtronBipartiteClassifier": (TwoClasses(np.arange(2)), [{}]),
    "PredtronOrdinalClassifier": (Ranks(np.arange(3)), [{}, {"representation": "shared"}]),
    "PredtronMultilabelClassifier": (Sets(3, None, None, "ndarray", "int64"), [{}]),
    "PredtronLabelRanker": (LabelRelevances(3, None), [{}, {"loss": "kendall_tau"}]),
    "PredtronRanker": (DocumentRelevances(), [{}]),
    "PredtronSequenceTagger": (Tokens(np.arange(3)), [{}]),
    "Predtron": (AnyLabels(), [{"problem": TwoScores()}]),
}


@pytest.mark.parametrize("family", FAMILIES)
def test_nothing_is_left_to_be_filled_in(family):
    assert issubclass(family, BasePredtron)
    assert re.findall(r"\{\w+\}", family.__doc__) == []
    assert re.search(rf"(None is|of one learner) {family._epochs}\b", family.__doc__)


def listed(family, parameter):
    """Return the aliases that a docstring lists for a parameter, but for those that are no part's."""
    line = re.search(rf"^ *{parameter} : (.*), default=", family.__doc__, re.MULTILINE)
    return re.findall(r'"(\w+)"', line[1])


def works(family, parameters, labels, parameter, kind):
    """Return whether a part goes together with the others of an estimator."""
    model = family(**{**parameters, parameter: kind.alias})
    try:
        problem = model._build_problem(labels)
        if parameter == "norm":
            problem.score_map.check_norm(kind())
        if parameter == "update":
            update_of(model, problem)
    except (TypeError, ValueError):
        return False
    return True


def bases(family):
    """Return the base of the parts that a parameter may be, for those that may."""
    accepted = family._parameter_constraints.items()
    found = {name: [kind for kind in kinds if isinstance(kind, type) and issubclass(kind, Part)] for name, kinds in accepted}
    return {name: kinds[0] for name, kinds in found.items() if kinds and name in ("loss", "norm", "representation", "update")}


LISTS = [(family, parameter) for family in FAMILIES for parameter in bases(family)]


@pytest.mark.parametrize(("family", "parameter"), LISTS, ids=lambda value: getattr(value, "__name__", value))
def test_lists_are_what_discovery_finds(family, parameter):
    labels, examples = EXAMPLES[family.__name__]
    parts = list(kinds(bases(family)[parameter]))
    fitting = {kind.alias for kind in parts if any(works(family, example, labels, parameter, kind) for example in examples)}
    found = [alias for alias in listed(family, parameter) if alias in {kind.alias for kind in parts}]
    assert sorted(found) == sorted(fitting) and len(found) > 0
    default = family(**examples[0]).get_params(deep=False)[parameter]
    assert listed(family, parameter)[0] == default


def test_lists_of_all_families_are_compared():
    assert set(EXAMPLES) == {family.__name__ for family in FAMILIES} and len(LISTS) >= 30


@pytest.mark.slow
def test_without_docstrings():
    code = "import sklearn_predtron as s; assert s.PredtronClassifier.__doc__ is None; print(s.PredtronClassifier())"
    run = subprocess.run([sys.executable, "-OO", "-W", "ignore", "-c", code], capture_output=True, text=True)
    assert run.stdout == "PredtronClassifier()\n", run.stderr
