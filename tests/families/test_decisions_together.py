"""Every decision with every family, and every two of what else there is: it works, or is refused with what is accepted.

The table of the user guide is what is found here; ``python tests/families/test_decisions_together.py`` writes it anew.
"""

import copy
import csv
import io
import pickle
import re
import sys
import warnings
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone

sys.path.insert(0, str(Path(__file__).parents[1]))

from cases import pairwise

from sklearn_predtron import (
    PredtronBinaryClassifier,
    PredtronBipartiteClassifier,
    PredtronClassifier,
    PredtronMultilabelClassifier,
    PredtronOrdinalClassifier,
)
from sklearn_predtron.decisions import Cut, ExpectedCost
from sklearn_predtron.losses import FBeta, Reject
from sklearn_predtron.mixing import ParameterMixing

TABLE = Path(__file__).parents[2] / "doc" / "user_guide" / "decisions_table.csv"
N, P, K = 120, 6, 3


def false_and_missed(a, b, c, d):
    return b + 4.0 * c


FAMILIES = {
    PredtronBinaryClassifier: {"unit": {}, "costs": {"loss": [[0, 1], [7, 0]]}},
    PredtronClassifier: {"unit": {}, "costs": {"loss": [[0, 1, 2], [5, 0, 1], [2, 9, 0]]}},
    PredtronOrdinalClassifier: {"unit": {}, "costs": {"loss": "squared"}},
    PredtronMultilabelClassifier: {"unit": {}, "costs": {"loss": false_and_missed}, "measure": {"loss": "f1"}},
    PredtronBipartiteClassifier: {"unit": {"loss": "balanced", "batch_size": 20}, "measure": {"loss": "f1", "batch_size": 20}},
}
PAGES = ["two classes <binary>", "classes <multiclass>", "ranks <ordinal>", "sets <multilabel>", "batches <bipartite>"]
DECISIONS = {
    "None": None,
    '"learned"': "learned",
    '"expected_cost"': "expected_cost",
    "ExpectedCost(smoothing=1.0)": ExpectedCost(smoothing=1.0),
    '"f1"': "f1",
    '"balanced"': "balanced",
    "Cut(FBeta(beta=2.0))": Cut(FBeta(beta=2.0)),
    '"macro_f1"': "macro_f1",
    '"micro_f1"': "micro_f1",
    '"fitted"': "fitted",
    "0.1": 0.1,
    "Cut([...])": Cut([0.1, 0.0, -0.1]),
}
REJECTS = {"": None, "reject=0.2": 0.2, "reject=Reject(rate=0.2)": Reject(rate=0.2)}
NORMS = ["auto", "l2", "l1", "group", "trace", "scaled", "rkhs"]
AVERAGES = [None, "linear", 20.0, False]
WEIGHTS = ["none", "rows", "classes"]
WAYS = ["fit", "stream"]
AFTER = ["nothing", "saved", "mixed", "widened"]


@cache
def lesson(kind):
    """Return rows, some of which are noise, and labels of the family."""
    random = np.random.default_rng(0)
    X = random.standard_normal((N, P))
    score = X @ random.standard_normal(P) + random.standard_normal(N)
    if kind is PredtronMultilabelClassifier:
        return X, (X[:, :K] + 0.7 * random.standard_normal((N, K)) > 0.3).astype(int)
    if kind in (PredtronBinaryClassifier, PredtronBipartiteClassifier):
        return X, (score > 0.5).astype(int)
    return X, np.digitize(score, [-0.8, 0.8])


def rejects_of(kind):
    """Return the ways in which a family rejects."""
    return REJECTS if "reject" in kind().get_params() else {"": None}


def combinations():
    """Every family, loss, decision and reject, with every two values of the rest over all of them."""
    rest = pairwise(NORMS, AVERAGES, WEIGHTS, WAYS, AFTER)
    number = 0
    for kind, losses in FAMILIES.items():
        for loss in losses:
            for decision in DECISIONS:
                for reject in rejects_of(kind):
                    for _ in range(4):
                        yield kind, loss, decision, reject, rest[number % len(rest)]
                        number += 1


def made(kind, loss, decision, reject, norm="auto", average=None, weights="none"):
    parameters = {**FAMILIES[kind][loss], "decision": DECISIONS[decision], "norm": norm, "average": average, "max_iter": 3}
    if reject:
        parameters["reject"] = REJECTS[reject]
    if weights == "classes" and "class_weight" in kind().get_params():
        parameters["class_weight"] = {1: 3.0}
    return kind(random_state=0, **parameters)


def learned(model, X, y, weights, way):
    weight = {"sample_weight": np.arange(len(X)) % 3 + 0.5} if weights == "rows" else {}
    if way == "fit":
        return model.fit(X, y, **weight)
    known = {} if y.ndim == 2 else {"classes": np.unique(y)}
    for part in np.array_split(np.arange(len(X)), 5):
        model.partial_fit(X[part], y[part], **known, **{name: values[part] for name, values in weight.items()})
    return model


def changed(model, X, y, after):
    """Return the model after what is done with it; None where the family or the norm refuses that."""
    if after == "saved":
        return pickle.loads(pickle.dumps(model))
    try:
        if after == "mixed":
            return ParameterMixing(clone(model).set_params(warm_start=False), shards=2, rounds=1, random_state=0).fit(X, y)
        if after == "widened":
            sets = y.ndim == 2
            classes = list(range(K + 1)) if sets else [7] if isinstance(model, PredtronClassifier) else None
            return copy.deepcopy(model).widen(n_features=P + 1, classes=classes)
    except ValueError as error:
        assert re.search("accepted|cannot be mixed|classes=|give [a-z]* to the norm|one for each of the", str(error)), error
        return None
    return model


def check_predictions(model, X, y):
    """Rows predict by themselves what they do together; probabilities are those of the labels."""
    predicted = model.predict(X)
    assert len(predicted) == len(X)
    if not hasattr(model, "predict_proba"):
        return None
    P = model.predict_proba(X)
    assert np.isfinite(P).all() and P.min() >= 0 and P.max() <= 1
    if y.ndim == 1:
        np.testing.assert_allclose(P.sum(axis=1), 1, atol=1e-12)
    alone, kernel = model.predict_proba(X[3:4]), "rkhs" in str(getattr(model, "estimator", model).norm)
    np.testing.assert_allclose(alone, P[3:4], rtol=1e-12 if kernel else 0)  # sums of kernels are rounded block by block
    return P


def outcome(kind, loss, decision, reject):
    """Return how a family takes a decision with what it has by default: "works", or the message by which it is refused."""
    X, y = lesson(kind)
    model = made(kind, loss, decision, reject)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(X, y).predict(X)
    except ValueError as error:
        assert "accepted" in str(error), error
        assert not hasattr(model, "classes_")  # nothing was learned
        return str(error)
    return "works"


@pytest.mark.parametrize(
    "kind",
    [pytest.param(kind, marks=[pytest.mark.slow] * (kind is not PredtronMultilabelClassifier)) for kind in FAMILIES],
    ids=lambda kind: kind.__name__,
)
@pytest.mark.filterwarnings("ignore:decision=.* fits the cut to rows in memory", "ignore:y has .* positive rows")
def test_all_that_goes_together_predicts(kind):
    n_works = 0
    for family, loss, decision, reject, (norm, average, weights, way, after) in combinations():
        if family is not kind or outcome(kind, loss, decision, reject) != "works":
            continue
        if reject.endswith('"online")') and DECISIONS[decision] not in (None, "learned"):
            continue
        X, y = lesson(kind)
        model = learned(made(kind, loss, decision, reject, norm, average, weights), X, y, weights, way)
        before = check_predictions(model, X, y)
        explicit, online = decision == '"learned"', "online" in reject or (decision == '"learned"' and reject)
        assert (before is not None) == (not online and not (explicit and (way == "fit" or average not in (None, False))))
        other = changed(model, X, y, after)
        if other is None:
            continue
        if after == "widened":
            X = np.column_stack([X, np.zeros(len(X))])
        found = check_predictions(other, X, y)
        if after == "saved":
            np.testing.assert_array_equal(other.predict(X), model.predict(X))
            assert found is None or (found == before).all()
        n_works += 1
    assert n_works > 10


def table():
    """Return, for each decision, what each family makes of it."""
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(["decision", *(f":doc:`{page}`" for page in PAGES)])
    for decision in DECISIONS:
        cells = []
        for kind, losses in FAMILIES.items():
            works = [loss for loss in losses if outcome(kind, loss, decision, "") == "works"]
            cells.append("yes" if len(works) == len(losses) else " and ".join(works) if works else "no")
        rows.writerow([f"``{decision}``", *cells])
    return text.getvalue()


def test_the_table_of_the_user_guide():
    assert TABLE.read_text() == table()


if __name__ == "__main__":
    TABLE.write_text(table())
