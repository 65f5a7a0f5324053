"""The summands of scores: exact, one for each column and pair, and refused where there are none."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from sklearn_predtron import (
    JointProblem,
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
from sklearn_predtron.features import PiecewiseLinear, RandomFourier
from sklearn_predtron.inspection import Explanation
from sklearn_predtron.norms import RKHS
from tests.cases import Multiclass, weights_of


def table(n=400, seed=0):
    """Numbers, some missing, of several units, and categories."""
    random = np.random.default_rng(seed)
    numbers = random.normal(size=(n, 3)) * [1, 1000, 0.01]
    numbers[random.random((n, 3)) < 0.1] = np.nan
    return pd.DataFrame(numbers, columns=["age", "income", "rate"]).assign(town=random.choice(["Ulm", "Bonn", "Kiel"], n))


def labels_of(X, k=2):
    score = np.nan_to_num(X["age"]) * np.where(X["town"] == "Ulm", 1, -1) + np.nan_to_num(X["income"]) / 1000
    return np.digitize(score, np.linspace(-1, 1, k + 1)[1:-1])


def score_of(model, X):
    """What the summands are of."""
    if isinstance(model, PredtronRanker):
        return model.predict(X)
    if isinstance(model, PredtronSequenceTagger):
        return X @ model.coef_.T + model.intercept_
    return model.decision_function(X)


def in_units(explanation, scores):
    """The largest difference of the sums and the scores, in rounding units of what is added up."""
    values = explanation.values
    size = np.abs(values).sum(axis=1) + np.abs(explanation.base)
    return (np.abs(explanation.scores() - scores) / np.spacing(size)).max()


def families(**more):
    """Each family with labels of a table, and representations whose scores are decoded."""
    fast = {"max_iter": 2, "random_state": 0, **more}
    held = {"cv": 0, **fast}
    several = np.eye(3)
    return {
        "binary": (PredtronBinaryClassifier(**held), lambda X: labels_of(X), {}),
        "cut": (PredtronBinaryClassifier(**fast, decision="f1"), lambda X: labels_of(X) == 1, {}),
        "two": (PredtronClassifier(**held), lambda X: labels_of(X), {}),
        "classes": (PredtronClassifier(**held), lambda X: labels_of(X, 3), {}),
        "simplex": (PredtronClassifier(representation="simplex", **held), lambda X: labels_of(X, 4), {}),
        "ranks": (PredtronOrdinalClassifier(**held), lambda X: labels_of(X, 4), {}),
        "shared": (PredtronOrdinalClassifier(representation="shared", **held), lambda X: labels_of(X, 4), {}),
        "sets": (PredtronMultilabelClassifier(**held), lambda X: several[labels_of(X, 3)].astype(int), {}),
        "batch": (PredtronBipartiteClassifier(**fast), lambda X: labels_of(X), {}),
        "ranker": (PredtronRanker(**fast), lambda X: labels_of(X, 3), {"qid": np.repeat(np.arange(40), 10)}),
        "lists": (PredtronLabelRanker(**fast), lambda X: several[labels_of(X, 3)], {}),
        "own": (Predtron(Multiclass(), **fast), lambda X: labels_of(X).tolist(), {}),
    }


@pytest.mark.parametrize("family", families())
def test_summands_of_a_map_add_up(family):
    X = table()
    model, labels, ids = families(features=PiecewiseLinear(n_knots=5, pair_knots=3))[family]
    model.fit(X, labels(X), **ids)
    explanation, scores = model.explain(X), score_of(model, X)
    assert explanation.values.shape == (400, 10, *scores.shape[1:])
    assert explanation.scores().shape == scores.shape
    assert in_units(explanation, scores) <= 32
    assert explanation.names.tolist()[:5] == ["age", "income", "rate", "town", "age x income"]
    assert explanation.terms == [(0,), (1,), (2,), (3,), (0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]


def test_summands_are_those_of_the_features_of_a_term():
    X = table()
    for family, k in ((PredtronBinaryClassifier, 2), (PredtronClassifier, 3)):
        model = family(features="piecewise", max_iter=2, cv=0, random_state=0).fit(X, labels_of(X, k))
        features, term_of = model.features_.transform(X).toarray(), model.features_.term_of_
        values = model.explain(X).values.reshape(400, 10, -1)
        for term in range(10):
            chosen = term_of == term
            np.testing.assert_allclose(values[:, term], features[:, chosen] @ weights_of(model)[:, chosen].T, atol=1e-13)


@pytest.mark.parametrize("family", [*families(), "tagger"])
@pytest.mark.parametrize("norm", ["scaled", "l2"])
def test_summands_of_columns_as_they_are(family, norm):
    X = table().drop(columns="town").fillna(0).to_numpy() if norm == "scaled" else table()[["age", "rate"]].fillna(0).to_numpy()
    if family == "tagger":
        model = PredtronSequenceTagger(norm=norm, random_state=0).fit(X, labels_of(table(), 3), sid=np.arange(400) // 10)
    else:
        model, labels, ids = families(norm=norm)[family]
        model.fit(X, labels(table()), **ids)
    explanation = model.explain(X)
    assert in_units(explanation, score_of(model, X)) <= 32
    assert explanation.names.tolist() == [f"x{j}" for j in range(X.shape[1])]
    if family in ("binary", "classes", "batch", "sets"):
        coef = model.coef_.T if family in ("classes", "sets") else model.coef_[0]
        np.testing.assert_array_equal(explanation.values, (X[:, :, None] * coef) if coef.ndim > 1 else X * coef)
        np.testing.assert_array_equal(explanation.base, model.intercept_ if coef.ndim > 1 else model.intercept_[0])


def test_summands_of_csr_rows_are_sparse():
    X = sparse.random_array((300, 50), density=0.1, rng=np.random.default_rng(0), format="csr")
    y = np.asarray(X.sum(axis=1)).ravel() > 2.5
    model = PredtronBinaryClassifier(random_state=0).fit(X, y)
    values = model.explain(X).values
    assert sparse.issparse(values) and values.nnz == X.nnz
    np.testing.assert_array_equal(values.toarray(), X.toarray() * model.coef_[0])
    np.testing.assert_allclose(model.explain(X).scores(), model.decision_function(X), atol=1e-13)
    dense = model.explain(X.toarray())
    np.testing.assert_array_equal(dense.values, values.toarray())
    several = PredtronClassifier(random_state=0).fit(X, y.astype(int) + (X[:, [0]].toarray().ravel() > 0))
    explanation = several.explain(X)
    assert [part.shape for part in explanation.values] == [(300, 50)] * 3
    np.testing.assert_allclose(explanation.scores(), several.decision_function(X), atol=1e-13)
    np.testing.assert_allclose(several.sparsify().explain(X).scores(), explanation.scores(), atol=1e-13)


def test_rows_do_not_depend_on_each_other(monkeypatch):
    X = table()
    model = PredtronClassifier(features="piecewise", max_iter=1, cv=0, random_state=0).fit(X, labels_of(X, 3))
    together = model.explain(X).values
    monkeypatch.setattr("sklearn_predtron.families.model.explanation.ENTRIES", 500)  # blocks of a few rows
    np.testing.assert_array_equal(model.explain(X).values, together)
    np.testing.assert_array_equal(model.explain(X.iloc[7:8]).values, together[7:8])


def test_summands_of_a_stream_whose_map_is_to_come():
    X = table(600)
    stream = PredtronBinaryClassifier(features="piecewise").partial_fit(X[:100], labels_of(X)[:100], classes=[0, 1])
    explanation = stream.explain(X)
    assert explanation.names.tolist() == ["age", "income", "rate", "town"] and not explanation.values[:, 3].any()
    assert in_units(explanation, stream.decision_function(X)) <= 32
    stream.partial_fit(X[100:], labels_of(X)[100:])
    assert stream.explain(X).values.shape == (600, 10)


def test_ids_in_a_column_are_no_term():
    X = table().drop(columns="town").fillna(0).assign(qid=np.arange(400) // 10)
    model = PredtronRanker(random_state=0).fit(X, labels_of(table()))
    assert model.explain(X).names.tolist() == ["age", "income", "rate"]


def test_scores_of_pairs_are_by_pair():
    X, y = table().drop(columns="town").fillna(0), np.eye(3)[labels_of(table(), 3)]
    model = PredtronLabelRanker(loss="kendall_tau", representation="pairwise", random_state=0).fit(X, y)
    np.testing.assert_allclose(model.explain(X).scores(), X.to_numpy() @ model.coef_.T + model.intercept_, atol=1e-9)


def test_summands_of_plain_numbers():
    explanation = Explanation(np.array([[[1.0, 2.0], [3.0, 4.0]]]), np.array([0.5, 0]), ["a", "b"], [(0,), (1,)])
    assert explanation.scores().tolist() == [[4.5, 6.0]]
    assert Explanation([[1.0, 2.0]], 0.5, ["a", "b"], [(0,), (1,)]).scores().tolist() == [3.5]


class Joint(JointProblem):
    n_features = 2

    def features(self, x, prediction):
        return np.array([x[0] * (prediction == 0), x[0] * (prediction == 1)])

    def decode(self, w, x):
        return int(w[1] * x[0] > w[0] * x[0])

    def loss(self, prediction, y):
        return float(prediction != y)

    def augmented_decode(self, w, x, y):
        return self.decode(w, x)


def test_what_has_no_summands():
    X, y = table().drop(columns="town").fillna(0).to_numpy(), labels_of(table())
    with pytest.raises(ValueError, match=r"norm=RKHS.* by a kernel, .* accepted are the norms with a coef_, and features='piece"):
        PredtronBinaryClassifier(norm=RKHS(gamma=0.1), max_iter=1, cv=0).fit(X, y).explain(X)
    with pytest.raises(
        ValueError, match=r"features=RandomFourier\(n_features=9\) mixes columns.* accepted are 'piecewise' and None"
    ):
        PredtronBinaryClassifier(features=RandomFourier(n_features=9), max_iter=1, cv=0).fit(X, y).explain(X)
    with pytest.raises(ValueError, match=r"A JointProblem has features of x and a prediction together"):
        Predtron(Joint(), max_iter=1).fit(X.tolist(), y.tolist()).explain(X.tolist())
    model = PredtronBinaryClassifier(max_iter=1, cv=0).fit(X, y)
    with pytest.raises(ValueError, match="contains NaN"):
        model.explain(np.full((1, 3), np.nan))
    with pytest.raises(ValueError, match="X has 2 features"):
        model.explain(X[:, :2])
    small = PredtronBinaryClassifier(max_iter=1, cv=0).fit(X * 1e-6, y)
    with pytest.raises(ValueError, match="the scores overflow"):
        small.explain(np.full((1, 3), 1e308))
