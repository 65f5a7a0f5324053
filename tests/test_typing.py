"""Learning returns the type of the learner, and parameters have the names that they take as literals."""

import inspect
import re
import typing

import numpy as np
import pytest

import sklearn_predtron
from sklearn_predtron import PredtronBinaryClassifier, PredtronClassifier
from sklearn_predtron._support.compat import StrOptions
from sklearn_predtron._support.parts import Part, kinds
from sklearn_predtron.datasets import chunk_labels, make_ranking_queries, read_svmlight
from sklearn_predtron.decisions import Cut
from sklearn_predtron.families.multilabel import MEASURES
from sklearn_predtron.inspection import CostDisplay, NDCGDisplay, OnlineLossDisplay
from sklearn_predtron.metrics import chunk_precision_recall_fscore_support, ndcg, ndcg_scorer, subset_scorer
from sklearn_predtron.theory import largest_margin

ESTIMATORS = [name for name in sklearn_predtron.__all__ if hasattr(getattr(sklearn_predtron, name), "fit")]


@pytest.mark.parametrize("method", ["fit", "partial_fit", "set_params", "set_callbacks"])
@pytest.mark.parametrize("name", ESTIMATORS)
def test_learning_returns_the_type_of_the_learner(name, method):
    """An editor then completes what follows ``.fit(X, y)``."""
    assert inspect.signature(getattr(getattr(sklearn_predtron, name), method)).return_annotation == "Self"


# ------------------------------------------------------------------------------------------------- names of parameters


def literals(hint):
    """The strings that a type has as literals."""
    within = [literals(part) for part in typing.get_args(hint) if not isinstance(part, str)]
    return {part for part in typing.get_args(hint) if isinstance(part, str)}.union(*within)


def named(function):
    """The parameters that take names, and these."""
    found = {name: literals(hint) for name, hint in typing.get_type_hints(function).items() if name != "return"}
    return {name: names for name, names in found.items() if names}


FAMILIES = [getattr(sklearn_predtron, name) for name in ESTIMATORS]
OF_FAMILIES = [(family, name) for family in FAMILIES for name in named(family.__init__)]


@pytest.mark.parametrize(("family", "name"), OF_FAMILIES, ids=lambda value: getattr(value, "__name__", value))
def test_literals_of_estimators_are_the_names_in_their_docstrings(family, name):
    """Which are compared with those that work in the tests of docstrings."""
    line = re.search(rf"^ *{name} : (.*), default=", family.__doc__, re.MULTILINE)
    assert named(family.__init__)[name] == set(re.findall(r'"(\w+)"', line[1]))


def test_no_parameter_that_takes_names_is_without_literals():
    for family in FAMILIES:
        lines = re.findall(r"^    (\w+) : (.*), default=", family.__doc__, re.MULTILINE)
        assert {name for name, line in lines if '"' in line} == set(named(family.__init__))


@pytest.mark.parametrize("name", ["decision", "features"])
@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.__name__)
def test_literals_are_what_a_message_says_is_accepted(family, name):
    if name not in inspect.signature(family).parameters:
        return
    required = {"problem": TwoScores()} if family is sklearn_predtron.Predtron else {}
    ids = {"PredtronRanker": {"qid": "one"}, "PredtronSequenceTagger": {"sid": "one"}}.get(family.__name__, {})
    model = family(**required, **{name: "nope"})
    assert named(family.__init__)[name] == accepted(lambda: model.fit(np.eye(4), [0, 1, 0, 1], **ids))


class TwoScores(sklearn_predtron.Problem):
    n_scores = 2


def accepted(call):
    """The names that are accepted, as the message of a refusal has them."""
    with pytest.raises(ValueError, match="nope") as caught:
        call()
    return set(re.findall(r"'(\w+)'", re.search(r"(accepted (are|is)|must be)(.*?)(instances|Did|$)", str(caught.value))[3]))


WITH_OPTIONS = [
    (kind, name, set().union(*(one.options for one in values if isinstance(one, StrOptions))))
    for kind in [*FAMILIES, *kinds(Part)]
    for name, values in getattr(kind, "_parameter_constraints", {}).items()
    if name in inspect.signature(kind).parameters and any(isinstance(one, StrOptions) for one in values)
]


def shown(value):
    """A name that is the same in each process; sets have no order."""
    return value if isinstance(value, str) else " ".join(sorted(value)) if isinstance(value, set | frozenset) else value.__name__


@pytest.mark.parametrize(("kind", "name", "options"), WITH_OPTIONS, ids=shown)
def test_literals_are_what_validation_accepts(kind, name, options):
    assert named(kind.__init__)[name] == options


QUERY = ([1.0, 0.0], [1.0, 0.0])
DISPLAY = {"y_true": [0, 1, 0], "y_pred": [0, 1, 1]}
REFUSING = [
    (ndcg, "gain", lambda name: ndcg(*QUERY, gain=name)),
    (ndcg_scorer, "gain", lambda name: ndcg(*QUERY, gain=name)),
    (NDCGDisplay.from_predictions, "gain", lambda name: ndcg(*QUERY, gain=name)),
    (chunk_labels, "scheme", lambda name: chunk_labels(["O"], scheme=name)),
    (
        chunk_precision_recall_fscore_support,
        "average",
        lambda name: chunk_precision_recall_fscore_support(["O"], ["O"], average=name),
    ),
    (subset_scorer, "loss", lambda name: subset_scorer(name)),
    (make_ranking_queries, "rows", lambda name: make_ranking_queries(rows=name)),
    (make_ranking_queries, "norm", lambda name: make_ranking_queries(norm=name)),
    (read_svmlight, "zero_based", lambda name: read_svmlight("missing.svm", zero_based=name)),
    (largest_margin, "norm", lambda name: largest_margin(PredtronClassifier(), np.eye(2), [0, 1], norm=name)),
    (CostDisplay.from_predictions, "against", lambda name: CostDisplay.from_predictions([0, 1], [0.2, 0.7], against=name)),
    (OnlineLossDisplay.from_predictions, "kind", lambda name: OnlineLossDisplay.from_predictions(**DISPLAY, kind=name)),
]


@pytest.mark.parametrize(("function", "name", "call"), REFUSING, ids=[f"{f.__qualname__} {name}" for f, name, _ in REFUSING])
def test_literals_of_functions_are_what_they_accept(function, name, call):
    if name in ("against", "kind"):
        pytest.importorskip("matplotlib")
    assert named(function)[name] == accepted(lambda: call("nope"))


def test_literals_of_cuts_are_those_of_all_families():
    assert named(Cut.__init__)["at"] == {*PredtronBinaryClassifier._cuts, *MEASURES, "fitted"}


# Each line by itself, in a file that begins with the imports.
IMPORTS = """
import numpy as np
from sklearn_predtron import *
from sklearn_predtron.decisions import Cut, ExpectedCost
from sklearn_predtron.features import PiecewiseLinear
from sklearn_predtron.losses import CostMatrix, FBeta, Reject
from sklearn_predtron.metrics import ndcg, subset_scorer
from sklearn_predtron.norms import L2, RKHS
from sklearn_predtron.representations import PowerRank
from sklearn_predtron.updates import PassiveAggressive
"""
ACCEPTED = """
PredtronClassifier(norm="l1", update="perceptron", loss="absolute", representation="simplex", features="piecewise")
PredtronClassifier(norm=RKHS(kernel="poly"), update=PassiveAggressive(variant="pa2"), features=PiecewiseLinear(categories=[0]))
PredtronClassifier(norm=RKHS(kernel=lambda a, b: a @ b.T), average=False, reject=Reject(0.1))
PredtronClassifier(loss={("a", "b"): 3}, class_weight={"a": 2}, average=100, decision="expected_cost", reject=0.1)
PredtronClassifier(decision=ExpectedCost(), loss=[[0, 1], [5.5, 0]], representation=np.eye(2), class_weight="balanced")
PredtronBinaryClassifier(loss=np.eye(2), decision="f1", representation="sign")
PredtronBinaryClassifier(loss=CostMatrix([[0, 1], [2, 0]]), decision=0.5)
PredtronOrdinalClassifier(update="prank", representation="shared", categories=["low", "high"])
PredtronBipartiteClassifier(loss="auc", balance=0.5, decision="fitted")
PredtronMultilabelClassifier(loss=lambda a, b, c, d: b + c, decision=Cut(FBeta(beta=2.0)))
PredtronMultilabelClassifier(loss=FBeta(), decision=Cut([0.1, 0.2]))
PredtronLabelRanker(representation="pairwise", loss="kendall_tau", update="mmp")
PredtronRanker(representation=lambda positions: -positions, norm=L2(), update="slam")
PredtronRanker(representation=PowerRank(alpha=2))
PredtronSequenceTagger(constraint=[[True, False], [True, True], [True, True]], norm="scaled", loss="zero_one")
subset_scorer("f1"), ndcg([1], [1], gain="linear")
"""
REFUSED = """
PredtronClassifier(norm="l7")
PredtronClassifier(update="adaptve")
PredtronClassifier(loss="hinge")
PredtronClassifier(representation="one_hot")
PredtronClassifier(features="piecewize")
PredtronClassifier(average="linaer")
PredtronClassifier(class_weight="balance")
PredtronClassifier(decision="f1")
PredtronClassifier(update="prank")
PredtronClassifier(update=PassiveAggressive(variant="pa3"))
PredtronClassifier(norm=RKHS(kernel="gaussian"))
PredtronBinaryClassifier(decision="balancd")
PredtronBinaryClassifier(intercept_scaling="autp")
PredtronOrdinalClassifier(loss="hamming")
PredtronBipartiteClassifier(balance="balanced")
PredtronMultilabelClassifier(decision=Cut("macro_f2"))
PredtronLabelRanker(representation="sign")
PredtronRanker(loss="ndcg@10")
PredtronSequenceTagger(constraint="bioes")
PredtronSequenceTagger(norm="l1")
subset_scorer("f2")
ndcg([1], [1], gain="exp")
"""


def test_mypy_refuses_misspelt_names_and_passes_what_is_accepted(tmp_path):
    api = pytest.importorskip("mypy.api")
    path, lines = tmp_path / "names.py", (IMPORTS.strip() + ACCEPTED + REFUSED.strip()).splitlines()
    path.write_text("\n".join(lines) + "\n")
    found, errors, _ = api.run(
        [str(path), "--config-file=", "--ignore-missing-imports", f"--cache-dir={tmp_path}", "--no-pretty"]
    )
    assert not errors
    complained = {int(number): text for number, text in re.findall(r"^.*names\.py:(\d+): error: (.*)$", found, re.MULTILINE)}
    wanted = set(range(len(lines) - len(REFUSED.strip().splitlines()) + 1, len(lines) + 1))
    assert set(complained) == wanted, found
    assert all("incompatible type" in text for text in complained.values()), found
