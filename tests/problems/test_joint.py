"""Problems whose features depend on the prediction as well: the loop, against a plain learner and against scores."""

import numpy as np
import pandas as pd
import pytest
from cases import Multiclass, assert_close, data, name, updates
from joint_cases import Tables, tables
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score

from sklearn_predtron import JointProblem, Predtron, PredtronClassifier
from sklearn_predtron.callbacks import EarlyStopping
from sklearn_predtron.metrics import progressive_val_score
from sklearn_predtron.theory import theorem_of
from sklearn_predtron.updates import LossAugmented, LossDriven, PerceptronUpdate


def test_average_that_chooses_itself():
    """What "auto" predicts is one of its candidates, and its charges are those of the same problem with scores."""
    X, y = data(n=200, k=3)
    ours = Predtron(Blocks(3, X.shape[1]), average="auto").partial_fit(X, y)
    theirs = Predtron(Multiclass(3), norm="l2", average="auto", fit_intercept=False).partial_fit(X, y)
    assert ours.average_ == theirs.average_
    assert ours.progressive_loss_ == theirs.progressive_loss_
    assert_close(ours.coef_, theirs.coef_.ravel())
    assert_close(ours.set_params(average=False).partial_fit(X, y).coef_, ours.last_coef_)


@pytest.mark.parametrize(("p", "every"), [(9, 8), (2**17, 16), (2**21, 64)])
def test_candidates_are_charged_more_rarely_where_averages_are_long(p, every):
    """Each charge asks for a prediction by either average; that of the last iterate is the round's own."""
    calls = []

    class Counting(Tables):
        n_features = p

        def features(self, x, prediction):
            return sparse.csr_matrix((x[prediction], np.arange(9), [0, 9]), shape=(1, p))

        def decode(self, w, x):
            calls.append(1)
            return super().decode(w[:9], x)

        def augmented_decode(self, w, x, y):
            return super().augmented_decode(w[:9], x, y)

    X, y = tables(130)
    Predtron(Counting(4), average="auto").partial_fit(X, y)
    assert len(calls) == 130 + 2 * len(range(0, 130, every))


class Blocks(JointProblem):
    """The multivector construction of the same problem: Phi(x, y) = e_y (x) x."""

    c_L = C_L = 1.0

    def __init__(self, k, p):
        self.k, self.p = k, p

    @property
    def n_features(self):
        return self.k * self.p

    def features(self, x, prediction):
        return np.kron(np.eye(self.k)[prediction], x)

    def decode(self, w, x):
        return int((w.reshape(self.k, self.p) @ x).argmax())

    def loss(self, prediction, y):
        return float(prediction != y)

    def augmented_decode(self, w, x, y):
        return int((w.reshape(self.k, self.p) @ x + (np.arange(self.k) != y)).argmax())


class SparseBlocks(Blocks):
    """The same of CSR rows."""

    def features(self, x, prediction):
        return sparse.csr_matrix((x.data, x.indices + prediction * self.p, x.indptr), shape=(1, self.n_features))

    def decode(self, w, x):
        return int((x @ w.reshape(self.k, self.p).T).argmax())

    def augmented_decode(self, w, x, y):
        return int(((x @ w.reshape(self.k, self.p).T).ravel() + (np.arange(self.k) != y)).argmax())


@pytest.mark.parametrize("update", updates(), ids=name)
def test_blocks_are_the_classifier(update):
    """A round of the classifier takes the same step; `fit` draws the same orders."""
    X, y = data(k=3)
    assert y[0] != 0
    rows = sparse.csr_matrix(X)
    for average in ["linear", "uniform", 7.0, False, None]:
        how = {"norm": "l2", "update": update, "average": average}
        how |= {"fit_intercept": False, "max_iter": 2, "random_state": 0}
        ours, wide = Predtron(Blocks(3, X.shape[1]), **how), Predtron(SparseBlocks(3, X.shape[1]), **how)
        theirs, codes = PredtronClassifier(representation="onehot", **how, cv=0), Predtron(Multiclass(3), **how)
        for model, inputs in [(ours, X), (theirs, X), (codes, X), (wide, rows)]:
            model.fit(inputs, y)
        for model in (theirs, codes):
            bound = 1e-13 * np.abs(model.coef_).max()
            np.testing.assert_allclose(ours.coef_, model.coef_.ravel(), rtol=1e-12, atol=bound)
            np.testing.assert_allclose(wide.coef_, model.coef_.ravel(), rtol=1e-12, atol=bound)
            assert_array_equal(ours.predict(X), model.predict(X))
            assert_array_equal(wide.predict(rows), model.predict(X))
            assert (ours.t_, ours.n_mistakes_, ours.n_updates_) == (model.t_, model.n_mistakes_, model.n_updates_)
            assert ours.loss_curve_ == model.loss_curve_
            assert ours.score(X, y) == pytest.approx(model.score(X, y), rel=1e-12)


# ------------------------------------------------------------------------------------------- what the loop promises


def test_weights_are_handed_over_in_place_and_cannot_be_written():
    X, y = tables()
    seen = []

    class Watching(Tables):
        def decode(self, w, x):
            seen.append(w)
            with pytest.raises(ValueError, match="read-only"):
                w[0] = 1.0
            return super().decode(w, x)

    model = Predtron(Watching(4), average="linear").partial_fit(X, y)
    with pytest.raises(ValueError, match="cannot set WRITEABLE"):
        seen[0].flags.writeable = True
    assert all(np.shares_memory(w, seen[0]) for w in seen)
    assert_array_equal(seen[0], model.last_coef_)
    predictions = model.predict(X)
    assert_array_equal(seen[-1], model.coef_)
    assert not np.shares_memory(seen[-1], seen[0])
    assert len(predictions) == len(X)


def test_a_step_along_sparse_features_costs_what_they_are_many():
    """A million features, of which rounds touch ten: no time or memory for the others."""

    class Wide(Tables):
        n_features = 10**7

        def features(self, x, prediction):
            return sparse.csr_matrix((np.ones(10), x + prediction, [0, 10]), shape=(1, self.n_features))

        def decode(self, w, x):
            return int(np.argmax([w[x + prediction].sum() for prediction in range(self.k)]))

        def augmented_decode(self, w, x, y):
            return int(np.argmax([w[x + prediction].sum() + (prediction != y) for prediction in range(self.k)]))

    X = np.random.default_rng(0).integers(10**6, size=(100, 10)) * 10
    y = np.arange(100) % 4
    model = Predtron(Wide(4), average=False).partial_fit(X, y)
    assert model.n_updates_ > 50


@pytest.mark.parametrize("form", [list, tuple, np.asarray, lambda X: np.asarray(X + [None], dtype=object)[:-1]], ids=range(4))
def test_sequences_of_any_kind(form):
    X, y = tables()
    expected = Predtron(Tables(4), random_state=0).fit(X, y)
    model = Predtron(Tables(4), random_state=0).fit(form(X), list(y))
    assert_array_equal(model.coef_, expected.coef_)
    assert_array_equal(model.predict(form(X)), expected.predict(X))
    assert not hasattr(model, "n_features_in_")
    assert model.intercept_ == 0


def test_rows_of_frames_and_sparse_matrices():
    """A row of a data frame is a Series, one of a sparse matrix a CSR row."""
    X, y = data(k=3)
    frame = pd.DataFrame(X)
    expected = Predtron(Blocks(3, X.shape[1]), random_state=0).fit(X, y)
    model = Predtron(Blocks(3, X.shape[1]), random_state=0).fit(frame, y)
    assert_array_equal(model.coef_, expected.coef_)
    assert_array_equal(model.predict(frame), expected.predict(X))
    for kind in (sparse.csr_matrix, sparse.csc_array):
        model = Predtron(SparseBlocks(3, X.shape[1]), random_state=0).fit(kind(X), y)
        assert_close(model.coef_, expected.coef_)


def test_early_stopping_on_objects():
    X, y = tables()
    model = Predtron(Tables(4), random_state=0, max_iter=30)
    model.set_callbacks(EarlyStopping(validation=(X[:10], y[:10]), patience=3)).fit(X[10:], y[10:])
    assert model.n_iter_ < 30
    assert model.best_score_ == model.score(X[:10], y[:10])


def test_progressive_validation_of_objects():
    """Items are batches, whatever the objects are: lists of one text are no rows."""

    class Texts(Tables):
        n_features = 256

        def features(self, x, prediction):
            return np.roll(np.bincount(np.frombuffer(x.encode(), dtype=np.uint8), minlength=256), 64 * prediction)

        def decode(self, w, x):
            return int(np.argmax([self.features(x, prediction) @ w for prediction in range(self.k)]))

        def augmented_decode(self, w, x, y):
            return int(np.argmax([self.features(x, prediction) @ w + (prediction != y) for prediction in range(self.k)]))

    words, y = ["one", "two", "three"] * 20, [0, 1, 2] * 20
    model = Predtron(Texts(3), average=False)
    loss = progressive_val_score(model, (([word], [label]) for word, label in zip(words, y, strict=True)))
    models = [Predtron(Texts(3), average=False).partial_fit(words[:i], y[:i]) for i in range(1, 60)]
    scores = [model.score(words[i : i + 1], y[i : i + 1]) for i, model in enumerate(models, 1)]
    assert loss == pytest.approx(1 - np.mean(scores))
    assert list(model.predict(["two", "three", "one"])) == [1, 2, 0]


def test_search_over_updates_and_averages():
    X, y = tables()
    model = Predtron(Tables(4), max_iter=2, random_state=0)
    grid = {"update": ["adaptive", PerceptronUpdate()], "average": ["linear", "uniform", False]}
    search = GridSearchCV(model, grid, cv=3, error_score="raise").fit(X, y)
    assert search.best_score_ == search.cv_results_["mean_test_score"].max()
    scores = cross_val_score(clone(model), X, y, cv=3, error_score="raise")
    assert len(scores) == 3


# ----------------------------------------------------------------------------------------------------------- the theory


@pytest.mark.parametrize(
    "update", [LossAugmented(eta="theory"), LossDriven(eta="theory"), PerceptronUpdate(), "adaptive"], ids=name
)
def test_bounds_hold(update):
    """On data that w separates, by the radius of the differences, given or seen."""
    rng = np.random.default_rng(0)
    w = rng.standard_normal(9)
    X = [rng.standard_normal((4, 9)) for _ in range(200)]
    scores = np.array([table @ w for table in X])
    X = [table for table, t in zip(X, scores, strict=True) if np.diff(np.sort(t))[-1] > 0.5]
    y = [int((table @ w).argmax()) for table in X]
    leads = [np.delete(table[label] - table, label, axis=0) for table, label in zip(X, y, strict=True)]
    margin = min((lead @ w).min() for lead in leads) / np.linalg.norm(w)
    radius = max(np.linalg.norm(lead, axis=1).max() for lead in leads)
    model = Predtron(Tables(4), update=update, average=False).partial_fit(X, y)
    assert 0 < model.cumulative_loss_ <= model.loss_bound(margin, radius)
    assert theorem_of(model)
    if "theory" in str(update):
        assert model.cumulative_loss_ <= model.loss_bound(margin) <= model.loss_bound(margin, radius)
    else:
        with pytest.raises(ValueError, match="radius=None"):
            model.loss_bound(margin)
