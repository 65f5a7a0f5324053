"""The table of what goes with what in the user guide: each of its cells is asked of an estimator, which does it or refuses.

``python tests/test_compatibility.py`` writes the table anew.
"""

import csv
import inspect
import sys
import tempfile
import warnings
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.multiclass import OneVsRestClassifier

sys.path.insert(0, str(Path(__file__).parent))

from cases import Hours

import sklearn_predtron
from sklearn_predtron import (
    Predtron,
    PredtronBinaryClassifier,
    PredtronBipartiteClassifier,
    PredtronClassifier,
    PredtronLabelRanker,
    PredtronMultilabelClassifier,
    PredtronOrdinalClassifier,
    PredtronRanker,
    PredtronSequenceTagger,
)
from sklearn_predtron._support.parts import kinds
from sklearn_predtron.cli import main
from sklearn_predtron.losses import Reject, SequenceHamming
from sklearn_predtron.mixing import ParameterMixing
from sklearn_predtron.norms import Norm

FOLDER = Path(__file__).parents[1] / "doc" / "user_guide"
TABLE = FOLDER / "compatibility_table.csv"
pytestmark = pytest.mark.skipif(not FOLDER.exists(), reason="the tests do not run from a checkout")

N, P, K = 150, 5, 3
RANDOM = np.random.default_rng(0)
X = RANDOM.standard_normal((N, P))
SCORES = X @ RANDOM.standard_normal((P, K)) + RANDOM.standard_normal((N, K))
TWO, MORE, SETS = (SCORES[:, 0] > 0).astype(int), SCORES.argmax(axis=1), (SCORES > 0).astype(int)
RELEVANCES = np.digitize(SCORES, [-1.0, 1.0])
RANKS, IDS = RELEVANCES[:, 0], np.arange(N) // 5
COSTS = np.array([[0, 1, 2], [5, 0, 1], [2, 9, 0]], dtype=float)


def arguments(method):
    return inspect.signature(method).parameters


class Case:
    """A family, labels of its kind, its task on the command line, and what else its calls take."""

    def __init__(self, estimator, y, task=None, ids=None, classes=None):
        self.estimator, self.y, self.task, self.ids = estimator, y, task, ids or {}
        self.classes = {} if classes is None else {"classes": range(classes)}

    def made(self, **parameters):
        """Return an estimator; a parameter that it has not is an AttributeError, as a method is."""
        for name in parameters:
            if name not in self.estimator.get_params():
                raise AttributeError(name)
        return clone(self.estimator).set_params(random_state=0, **parameters)

    def fitted(self, rows=X, **parameters):
        return self.made(**parameters).fit(rows, self.y, **self.ids)

    def streamed(self, rows=X, **parameters):
        return self.made(**parameters).partial_fit(rows, self.y, **self.classes, **self.ids)

    def predicted(self, model, rows=X, **more):
        ids = {name: ids for name, ids in self.ids.items() if name in arguments(model.predict)}
        found = model.predict(rows, **ids, **more)
        assert len(found) == N
        return found


CASES = {
    ":doc:`two classes <binary>`": Case(PredtronBinaryClassifier(), TWO, "binary", classes=2),
    ":doc:`classes <multiclass>`": Case(PredtronClassifier(), MORE, "multiclass", classes=K),
    ":doc:`ranks <ordinal>`": Case(PredtronOrdinalClassifier(), RANKS, "ordinal", classes=K),
    ":doc:`sets <multilabel>`": Case(PredtronMultilabelClassifier(), SETS, "multilabel"),
    ":doc:`batches <bipartite>`": Case(PredtronBipartiteClassifier(batch_size=30), TWO, "bipartite", classes=2),
    ":doc:`queries <ranking>`": Case(PredtronRanker(), RANKS, "rank", {"qid": IDS}),
    ":doc:`label rankings <label_ranking>`": Case(PredtronLabelRanker(), RELEVANCES),
    ":doc:`sequences <sequences>`": Case(PredtronSequenceTagger(), MORE, "sequence", {"sid": IDS}, classes=K),
    ":doc:`problems <problems>`": Case(Predtron(Hours()), MORE),
}

# ------------------------------------------------------------------------------------------ what is asked of each family
# Each returns nothing, or what the cell says in place of "yes"; what a family has not, or refuses, raises.


def costs(case):
    k = len(np.unique(case.y))
    for loss in [SequenceHamming(COSTS)] if case.task == "sequence" else [{(0, 1): 5.0}, COSTS[:k, :k]]:
        case.predicted(case.fitted(loss=loss))


def counts(case):
    case.predicted(case.fitted(loss=lambda hits, false, missed, rest: false + 5.0 * missed))


def amounts(case):
    """Return what answers cost in each row, by pairs or by labels."""
    return {(0, "missed") if case.task == "multilabel" else (1, 0): np.where(np.arange(N) % 2, 200.0, 0.01)}


def costs_by_row_to_predict(case):
    model = case.fitted()
    if "costs" not in arguments(model.predict):
        raise AttributeError("costs")
    assert (case.predicted(model, costs=amounts(case)) != case.predicted(model)).any()


def costs_by_row_to_learn(case):
    if "costs" not in arguments(case.estimator.fit):
        raise AttributeError("costs")
    case.predicted(case.made().fit(X, case.y, costs=amounts(case)))
    case.predicted(case.made().partial_fit(X, case.y, **case.classes, costs=amounts(case)))


def sample_weight(case):
    model = case.made().fit(X, case.y, **case.ids, sample_weight=np.where(IDS % 2, 3.0, 0.2))
    assert not np.array_equal(model.coef_, case.fitted().coef_)


def class_weight(case):
    assert not np.array_equal(case.fitted(class_weight={0: 9.0}).coef_, case.fitted().coef_)


def sparse_rows(case):
    # The intercept's length is fixed, as that of a tagger follows the format.
    same = {"norm": "l2"} | ({} if case.task == "rank" else {"intercept_scaling": 1.0})
    rows = sparse.csr_array(X)
    for learn in (case.fitted, case.streamed):
        np.testing.assert_allclose(case.predicted(learn(rows, **same), rows), case.predicted(learn(**same)), rtol=1e-9)


def norms(case):
    taken, refused = [], []
    for norm in sorted(kind.alias for kind in kinds(Norm)):
        try:
            for learn in (case.fitted, case.streamed):
                case.predicted(learn(norm=norm))
            taken.append(norm)
        except ValueError:
            refused.append(norm)
    return ", ".join(taken) if refused else "all"


def tables(case):
    table = pd.DataFrame(X, columns=list("abcde"))
    table["town"] = np.where(table["a"] > 0, "Ulm", "Bonn")
    table.loc[::7, "b"] = np.nan
    for learn in (case.fitted, case.streamed):
        case.predicted(learn(table, features="piecewise"), table)


def reject(case):
    assert (case.predicted(case.fitted(reject=0.01)) == -1).any()


def promised_risk(case):
    case.predicted(case.fitted(reject=Reject(risk=0.5)).certify(X, case.y))


def check_probabilities(case, model):
    found = model.predict_proba(X, **(case.ids if case.task == "sequence" else {}))
    assert len(found) == N and np.min(found) >= 0 and np.max(found) <= 1
    if case.y.ndim == 1:
        np.testing.assert_allclose(found.sum(axis=1), 1)


def probabilities(case):
    check_probabilities(case, case.fitted())


def probabilities_in_a_stream(case):
    model = case.streamed()
    if not hasattr(model, "calibrate"):
        return check_probabilities(case, model)
    assert not hasattr(model, "predict_proba")
    check_probabilities(case, model.calibrate(X, case.y, **case.ids))
    return "by `calibrate`"


def folds(case):
    assert len(case.fitted(cv=3).held_out_loss_) > 1


def more_features(case):
    wide = np.column_stack([X, np.ones((N, 2))])
    case.predicted(case.streamed().widen(n_features=P + 2).partial_fit(wide, case.y, **case.ids), wide)


def more_classes(case):
    model = case.streamed().widen(classes=range(K + 1) if case.task == "multilabel" else [K])
    assert model.coef_.shape == (K + 1, P)


def from_linear(case):
    linear = Ridge() if case.task in ("rank", None) else LogisticRegression()
    linear = OneVsRestClassifier(linear) if case.task == "multilabel" else linear
    problem = {"problem": case.estimator.problem} if isinstance(case.estimator, Predtron) else {}
    model = type(case.estimator).from_linear(linear.fit(X, case.y), **problem)
    case.predicted(model.partial_fit(X, case.y, **case.ids))


def explain(case):
    assert case.fitted().explain(X).values.shape[:2] == (N, P)


def mixing(case):
    mixed = ParameterMixing(case.made(), shards=2, rounds=1, random_state=0).fit(X, case.y, **case.ids)
    case.predicted(mixed.estimator_)


def onnx(case):
    from onnxruntime import InferenceSession
    from skl2onnx import to_onnx

    from sklearn_predtron.onnx import register_converters

    register_converters()
    model = case.fitted()
    session = InferenceSession(to_onnx(model, X[:1]).SerializeToString(), providers=["CPUExecutionProvider"])
    found, expected = session.run([session.get_outputs()[0].name], {"X": X})[0], case.predicted(model)
    np.testing.assert_allclose(found.reshape(expected.shape), expected, atol=1e-9)


def river(case):
    from sklearn_predtron.river import to_river

    to_river(case.made(), **({"classes": list(range(K))} if case.task == "ordinal" else {}))


def command_line(case):
    if case.task is None:
        raise AttributeError("task")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.svm"
        with path.open("w") as file:
            for x, y, i in zip(X, case.y, IDS, strict=True):
                label = ",".join(map(str, np.flatnonzero(y))) if case.task == "multilabel" else str(y)
                query = f" qid:{i}" if case.ids else ""
                print(label + query, *(f"{j}:{value}" for j, value in enumerate(x, 1)), file=file)
        assert main([str(path), "--test", str(path), "--task", case.task, "--quiet"]) == 0


ASKED = {
    "costs of pairs of labels, `loss`": costs,
    "a function of hits and misses, `loss`": counts,
    "costs by row, `predict`": costs_by_row_to_predict,
    "costs by row, `fit` and `partial_fit`": costs_by_row_to_learn,
    "`sample_weight`": sample_weight,
    "`class_weight`": class_weight,
    "sparse rows": sparse_rows,
    "norms": norms,
    '``features="piecewise"``': tables,
    "``reject=0.1``": reject,
    "``Reject(risk=...)``, `certify`": promised_risk,
    "`predict_proba` after `fit`": probabilities,
    "`predict_proba` after `partial_fit`": probabilities_in_a_stream,
    "epochs chosen by folds, `cv`": folds,
    "`widen` by features": more_features,
    "`widen` by classes": more_classes,
    "`from_linear`": from_linear,
    "`explain`": explain,
    "`ParameterMixing`": mixing,
    "ONNX": onnx,
    "`to_river`": river,
    "the command line": command_line,
}
NEEDED = {"ONNX": ("skl2onnx", "onnxruntime"), "`to_river`": ("river",)}


def asked(question):
    """Return a line of the table: what each family does, or a dash where it refuses or has no such thing."""
    cells = [question]
    for case in CASES.values():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                cells.append(ASKED[question](case) or "yes")
            except (AttributeError, ValueError):
                cells.append("\N{EN DASH}")
    return cells


def written():
    with TABLE.open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


@pytest.mark.parametrize("question", ASKED)
def test_the_table_says_what_the_estimators_do(question):
    missing = [package for package in NEEDED.get(question, ()) if not find_spec(package)]
    if missing:
        pytest.skip(f"{missing[0]} is not installed")
    assert asked(question) in written()


def test_the_table_has_all_questions_and_families():
    head, *lines = written()
    assert head == ["", *CASES] and [line[0] for line in lines] == list(ASKED)
    public = {name for name in sklearn_predtron.__all__ if name.startswith("Predtron")}
    assert {type(case.estimator).__name__ for case in CASES.values()} == public


if __name__ == "__main__":
    with TABLE.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([["", *CASES], *map(asked, ASKED)])
