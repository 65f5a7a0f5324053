"""Estimators that begin at a fitted linear model of scikit-learn: they predict as it does, and go on learning."""

import pickle
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.datasets import make_classification, make_multilabel_classification
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import (
    LinearRegression,
    LogisticRegression,
    Perceptron,
    Ridge,
    RidgeClassifier,
    SGDClassifier,
    SGDRegressor,
)
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier, MultiOutputRegressor
from sklearn.svm import SVC, LinearSVC

from sklearn_predtron import (
    PredtronBinaryClassifier,
    PredtronBipartiteClassifier,
    PredtronClassifier,
    PredtronLabelRanker,
    PredtronMultilabelClassifier,
    PredtronOrdinalClassifier,
    PredtronRanker,
    PredtronSequenceTagger,
)
from sklearn_predtron.losses import PrecisionAtK
from sklearn_predtron.norms import PNorm
from sklearn_predtron.representations import Code

NORMS = ["l2", "l1", "group", "trace", PNorm(q=3)]
MODELS = [LogisticRegression(), SGDClassifier(random_state=0), LinearSVC(), Perceptron(), RidgeClassifier()]
CLASSIFIERS = [PredtronBinaryClassifier, PredtronClassifier, PredtronOrdinalClassifier, PredtronBipartiteClassifier]


def rows(k=3, n=300):
    X, y = make_classification(n, 8, n_informative=5, n_classes=k, random_state=0)
    return X + 1, np.array(["a", "b", "c", "d"])[y]


def begun(family, model, norm="l2", **parameters):
    return family.from_linear(model, norm=norm, intercept_scaling=1.0, **parameters)


@pytest.mark.parametrize("norm", NORMS, ids=str)
@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_it_predicts_as_the_model_does_and_goes_on(model, norm):
    for k, families in [(2, CLASSIFIERS), (3, CLASSIFIERS[1:3])]:
        X, y = rows(k)
        model.fit(X[:200], y[:200])
        for family in families:
            estimator = begun(family, model, norm)
            assert estimator.t_ == 0 and estimator.n_features_in_ == 8
            assert_array_equal(estimator.predict(X), model.predict(X))
            if family in (PredtronBinaryClassifier, PredtronClassifier):
                assert_allclose(estimator.decision_function(X), model.decision_function(X), rtol=1e-9, atol=1e-9)
            before = estimator.last_coef_
            estimator.partial_fit(X[200:], y[200:])
            assert estimator.t_ >= 1 and (estimator.last_coef_ != before).any()
            assert estimator.score(X, y) > 0.5


@pytest.mark.parametrize("representation", ["onehot", "simplex", Code(np.eye(3)[[2, 0, 1]])], ids=str)
def test_other_representations_decode_to_the_scores_of_the_model(representation):
    X, y = rows()
    model = LogisticRegression().fit(X, y)
    estimator = PredtronClassifier.from_linear(model, representation=representation)
    assert_array_equal(estimator.predict(X), model.predict(X))
    found, scores = estimator.decision_function(X), model.decision_function(X)
    assert_allclose(found - found.mean(axis=1, keepdims=True), scores - scores.mean(axis=1, keepdims=True), atol=1e-9)


def test_the_coefficients_are_those_of_the_model():
    X, y = rows()
    model = LogisticRegression().fit(X, y)
    estimator = PredtronClassifier.from_linear(model)
    assert_array_equal(estimator.coef_, model.coef_)
    assert_array_equal(estimator.intercept_, model.intercept_)


@pytest.mark.parametrize("average", ["linear", "uniform", "auto", 100.0, False, None])
def test_the_average_begins_at_the_model(average):
    X, y = rows()
    model = LogisticRegression().fit(X, y)
    far = 10 * X[:1]
    sure = PredtronClassifier.from_linear(model, average=average, update="perceptron").partial_fit(far, model.predict(far))
    assert sure.t_ == 1 and sure.n_updates_ == 0  # a round without a mistake takes no step
    assert_allclose(sure.coef_, model.coef_, rtol=1e-14)


def test_the_average_is_over_the_iterates_that_follow():
    X, y = rows(2)
    model = LogisticRegression().fit(X, y)
    estimator = PredtronBinaryClassifier.from_linear(model, average="uniform", update="perceptron")
    wrong = np.flatnonzero(model.predict(X) != y)[:3]
    iterates = [estimator.partial_fit(X[i : i + 1], y[i : i + 1]).last_coef_ for i in wrong]
    assert estimator.n_updates_ >= 2
    assert_allclose(estimator.coef_, np.mean(iterates, axis=0), rtol=1e-12)


def test_fit_goes_on_with_a_warm_start_alone():
    X, y = rows()
    model = LogisticRegression().fit(X, y)
    warm = PredtronClassifier.from_linear(model, warm_start=True, max_iter=1, random_state=0)
    cold = PredtronClassifier.from_linear(model, max_iter=1, random_state=0)
    anew = PredtronClassifier(max_iter=1, random_state=0).fit(X, y)
    assert_array_equal(cold.fit(X, y).coef_, anew.coef_)
    assert (warm.fit(X, y).coef_ != anew.coef_).any() and warm.n_iter_ == 1


def test_a_good_model_stays_good_in_a_stream():
    X, y = rows(3, 2000)
    model = LogisticRegression().fit(X[:1000], y[:1000])
    estimator = PredtronClassifier.from_linear(model).partial_fit(X[1000:1500], y[1000:1500])
    assert estimator.score(X[1500:], y[1500:]) > model.score(X[1500:], y[1500:]) - 0.03


def test_streams_and_saved_models():
    X, y = rows()
    model = LogisticRegression().fit(X, y)
    whole, rowwise = (PredtronClassifier.from_linear(model, norm="l1", intercept_scaling=2.0) for _ in range(2))
    whole.partial_fit(X, y)
    for i in range(len(X)):
        rowwise.partial_fit(X[i : i + 1], y[i : i + 1])
    saved = pickle.loads(pickle.dumps(PredtronClassifier.from_linear(model, norm="l1", intercept_scaling=2.0)))
    assert_array_equal(whole.coef_, rowwise.coef_)
    assert_array_equal(whole.coef_, saved.partial_fit(X, y).coef_)


def test_features_keep_their_names():
    X, y = rows()
    frame = pd.DataFrame(X, columns=list("stuvwxyz"))
    model = LogisticRegression().fit(frame, y)
    estimator = PredtronClassifier.from_linear(model)
    assert estimator.feature_names_in_.tolist() == list("stuvwxyz")
    with pytest.raises(ValueError, match="feature names"):
        estimator.partial_fit(frame.rename(columns={"s": "a"}), y)


@pytest.mark.parametrize("family", [PredtronClassifier, PredtronOrdinalClassifier, PredtronSequenceTagger])
def test_nothing_of_the_model_is_shared(family):
    X, y = rows()
    model = LogisticRegression().fit(pd.DataFrame(X, columns=list("stuvwxyz")), y)
    estimator = family.from_linear(model)
    expected = estimator.coef_.copy()
    for array in (model.coef_, model.intercept_, model.classes_, model.feature_names_in_):
        array[:] = array[::-1].copy()
    assert_array_equal(estimator.coef_, expected)
    assert estimator.classes_.tolist() == ["a", "b", "c"] and estimator.feature_names_in_.tolist() == list("stuvwxyz")


def test_sparse_coefficients_and_rows():
    X, y = rows()
    X = sparse.csr_matrix(np.where(np.abs(X) > 1, X, 0))
    model = LogisticRegression().fit(X, y)
    dense = PredtronClassifier.from_linear(model)
    model.sparsify()
    estimator = PredtronClassifier.from_linear(model)
    assert_array_equal(estimator.predict(X), model.predict(X))
    assert_allclose(estimator.partial_fit(X, y).coef_, dense.partial_fit(X, y).coef_, atol=1e-12)


# ------------------------------------------------------------------------------------------------------- ordinal models


@pytest.mark.parametrize("k", [2, 3])
def test_categories_put_the_scores_of_the_classes_in_their_order(k):
    X, y = rows(k)
    model = LogisticRegression().fit(X, y)
    order = ["b", "a", "c"] if k == 3 else ["b", "a"]
    estimator = PredtronOrdinalClassifier.from_linear(model, categories=order)
    assert estimator.classes_.tolist() == order
    assert_array_equal(estimator.predict(X), model.predict(X))
    with pytest.raises(ValueError, match="is not the same as in categories"):
        PredtronOrdinalClassifier.from_linear(model, categories=[*order, "z"])


class Thresholds(BaseEstimator):
    """What mord's models are: one direction and ordered thresholds on it."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.coef_ = LinearRegression().fit(X, y).coef_
        self.theta_ = np.quantile(X @ self.coef_, np.arange(1, len(self.classes_)) / len(self.classes_))
        return self

    def predict(self, X):
        return self.classes_[(X @ self.coef_ > self.theta_[:, None]).sum(axis=0)]


@pytest.mark.parametrize("representation", ["shared", "thermometer", "onehot"])
@pytest.mark.parametrize("k", [2, 3, 4])
def test_thresholds_on_one_direction(representation, k):
    X, y = rows(k)
    y = np.searchsorted(list("abcd"), y) + 1
    model = Thresholds().fit(X, y)
    estimator = PredtronOrdinalClassifier.from_linear(model, representation=representation)
    assert_array_equal(estimator.predict(X), model.predict(X))
    if representation != "onehot":
        assert_allclose(-estimator.intercept_, model.theta_)
        assert_allclose(estimator.coef_[0], model.coef_)
    assert estimator.partial_fit(X, y).t_ == len(X)


# ----------------------------------------------------------------------------------------- sets of labels, lists, sequences


@pytest.mark.parametrize(
    "model",
    [
        OneVsRestClassifier(LogisticRegression()),
        OneVsRestClassifier(LinearSVC()),
        MultiOutputClassifier(SGDClassifier(random_state=0)),
        RidgeClassifier(),
    ],
    ids=str,
)
@pytest.mark.parametrize("norm", NORMS, ids=str)
def test_sets_of_labels(model, norm):
    X, Y = make_multilabel_classification(200, 12, n_classes=5, random_state=0)
    model.fit(X, Y)
    estimator = begun(PredtronMultilabelClassifier, model, norm, loss="f1")
    assert_array_equal(estimator.predict(X), model.predict(X))
    assert estimator.partial_fit(X, Y).score(X, Y) > 0.7


@pytest.mark.parametrize("model", [OneVsRestClassifier(LinearSVC()), RidgeClassifier()], ids=str)
def test_sets_are_as_sparse_as_those_of_the_model(model):
    X, Y = make_multilabel_classification(100, 6, n_classes=4, random_state=0)
    for labels in (Y, sparse.csr_matrix(Y)):
        estimator, expected = PredtronMultilabelClassifier.from_linear(model.fit(X, labels)), model.predict(X)
        for predicted in (estimator.predict(X), estimator.partial_fit(X, labels).predict(X)):
            assert sparse.issparse(predicted) == sparse.issparse(expected) and predicted.dtype == expected.dtype


@pytest.mark.parametrize("dtype", [bool, np.int8, np.float64])
def test_sets_have_the_type_of_those_of_the_model(dtype):
    X, Y = make_multilabel_classification(100, 6, n_classes=4, random_state=0)
    model = MultiOutputClassifier(Perceptron()).fit(X, Y.astype(dtype))
    predicted = PredtronMultilabelClassifier.from_linear(model).predict(X)
    assert predicted.dtype == model.predict(X).dtype == dtype
    assert_array_equal(predicted, model.predict(X))


def test_labels_that_are_always_on_or_off():
    X, Y = make_multilabel_classification(100, 6, n_classes=4, random_state=0)
    for off, on in [(1, 3), (0, 2)]:
        labels = Y.copy()
        labels[:, off], labels[:, on] = 0, 1
        with pytest.warns(UserWarning, match="Label"):
            model = OneVsRestClassifier(LogisticRegression()).fit(X, labels)
        predicted = PredtronMultilabelClassifier.from_linear(model).predict(X)
        # Not model.predict: of a first label that is constant scikit-learn concludes that all scores are probabilities.
        assert_array_equal(predicted, np.column_stack([part.predict(X) for part in model.estimators_]))


def test_one_label():
    X, y = rows(2)
    model = LogisticRegression().fit(X, y)
    estimator = PredtronMultilabelClassifier.from_linear(model)
    assert_array_equal(estimator.predict(X), model.predict(X))
    assert estimator.partial_fit(X, y).classes_.tolist() == ["a", "b"]


def test_one_versus_rest_of_classes():
    X, y = rows(3)
    model = OneVsRestClassifier(LinearSVC()).fit(X, y)
    assert_array_equal(PredtronClassifier.from_linear(model).predict(X), model.predict(X))


@pytest.mark.parametrize("model", [Ridge(), LinearRegression(), SGDRegressor(random_state=0), LinearSVC()], ids=str)
@pytest.mark.parametrize("norm", ["l2", "l1", PNorm(q=3)], ids=str)
def test_documents(model, norm):
    random = np.random.default_rng(0)
    X, qid = random.standard_normal((120, 5)), np.repeat(np.arange(12), 10)
    y = (X @ np.arange(5) > 0).astype(int)
    model.fit(X, y)
    ranker = PredtronRanker.from_linear(model, norm=norm)
    scores = model.decision_function(X) if hasattr(model, "decision_function") else model.predict(X)
    assert_allclose(ranker.predict(X), scores - model.intercept_, atol=1e-9)
    assert ranker.partial_fit(X, y, qid=qid).t_ == 12


@pytest.mark.parametrize("representation", ["log", "pairwise"])
def test_labels_in_order(representation):
    random = np.random.default_rng(0)
    X = random.standard_normal((100, 4))
    Y = np.maximum(X @ random.standard_normal((4, 5)) + 1, 0)
    for model in [Ridge(), MultiOutputRegressor(SGDRegressor(random_state=0))]:
        scores = model.fit(X, Y).predict(X)
        loss = "kendall_tau" if representation == "pairwise" else "ndcg"
        ranker = PredtronLabelRanker.from_linear(model, loss=loss, representation=representation)
        assert_array_equal(np.argsort(ranker.predict(X)), np.argsort(-scores))
        assert ranker.partial_fit(X, Y).t_ == 100


def test_tokens():
    X, y = rows(3)
    sid = np.arange(len(y)) // 10
    for model, labels in [(LogisticRegression().fit(X, y), y), (LinearSVC().fit(X, y == "a"), y == "a")]:
        tagger = PredtronSequenceTagger.from_linear(model)
        assert_array_equal(tagger.predict(X, sid=sid), model.predict(X))
        assert not tagger.transitions_.any() and tagger.partial_fit(X, labels, sid=sid).transitions_.any()


# ------------------------------------------------------------------------------------------------------------ refusals


def fitted(model, k=3, **y):
    X, labels = rows(k)
    return model.fit(X, labels)


def changed(model, **attributes):
    """A fitted model with other attributes."""
    vars(model).update(attributes)
    return model


def falling():
    X, y = rows(4)
    model = Thresholds().fit(X, np.searchsorted(list("abcd"), y))
    return changed(model, theta_=model.theta_[::-1])


NUMBERS = np.arange(300.0)
FOUR = lambda: fitted(LogisticRegression(), 4)  # noqa: E731
FLAT = Code(np.column_stack([np.cos(np.arange(4)), np.sin(np.arange(4))]))
REFUSED = [
    (PredtronClassifier, lambda: fitted(SVC(kernel="linear")), {}, r"model=SVC\(kernel='linear'\) is none that"),
    (PredtronClassifier, lambda: fitted(OneVsOneClassifier(LinearSVC())), {}, "is none that PredtronClassifier can begin at"),
    (PredtronClassifier, lambda: fitted(OneVsRestClassifier(SVC())), {}, "accepted are fitted linear classifiers"),
    (PredtronClassifier, lambda: Ridge().fit(rows()[0], NUMBERS), {}, "is none that"),
    (PredtronClassifier, lambda: RidgeClassifier().fit(*make_multilabel_classification(random_state=0)), {}, "is none that"),
    (PredtronBinaryClassifier, lambda: fitted(LinearSVC()), {}, "Only binary classification is supported"),
    (PredtronBipartiteClassifier, lambda: fitted(LinearSVC()), {}, "Only binary classification is supported"),
    (PredtronMultilabelClassifier, lambda: fitted(LinearSVC()), {}, "Only binary classification is supported"),
    (PredtronMultilabelClassifier, lambda: Ridge().fit(rows()[0], NUMBERS), {}, "is none that"),
    (PredtronRanker, lambda: fitted(LinearSVC()), {}, "is none that PredtronRanker can begin at"),
    (PredtronRanker, lambda: Ridge().fit(rows()[0], np.eye(300)[:, :2]), {}, "is none that"),
    (PredtronLabelRanker, lambda: Ridge().fit(rows()[0], NUMBERS), {}, "is none that"),
    (PredtronLabelRanker, lambda: fitted(RidgeClassifier()), {}, "is none that"),
    (PredtronSequenceTagger, lambda: Ridge().fit(rows()[0], NUMBERS), {}, "is none that"),
    (PredtronClassifier, lambda: fitted(LinearSVC()), {"norm": "rkhs"}, "norm='rkhs' cannot begin at the weights of a model"),
    (PredtronClassifier, lambda: fitted(LinearSVC()), {"norm": "scaled"}, "accepted are 'l2', 'l1', 'group' and 'trace'"),
    (PredtronClassifier, lambda: fitted(LinearSVC()), {"norm": "l1"}, "intercept_scaling='auto'"),
    (PredtronClassifier, lambda: fitted(LinearSVC()), {"fit_intercept": False}, "fit_intercept=False leaves out the intercept"),
    (PredtronClassifier, lambda: fitted(LinearSVC()), {"average": "sometimes"}, "average"),
    (PredtronClassifier, FOUR, {"representation": FLAT}, "has no scores for any 4 decoded ones"),
    (PredtronClassifier, lambda: changed(fitted(LogisticRegression()), coef_=np.full((3, 8), np.nan)), {}, "are not finite"),
    *(
        (PredtronOrdinalClassifier, falling, {"representation": representation}, r"has theta_=.*; thresholds must not fall")
        for representation in ["shared", "thermometer", "onehot"]
    ),
    *(
        (family, lambda: fitted(LogisticRegression()), {"representation": "shared"}, "'shared' has one direction with ordered")
        for family in (PredtronClassifier, PredtronOrdinalClassifier)
    ),
    (PredtronClassifier, lambda: SimpleNamespace(coef_=np.eye(3), classes_=range(3)), {}, "estimator|fit"),
]


@pytest.mark.parametrize("family, model, parameters, message", REFUSED)
def test_refusals(family, model, parameters, message):
    with pytest.raises((ValueError, TypeError), match=message):
        family.from_linear(model(), **parameters)


@pytest.mark.parametrize("family", [*CLASSIFIERS, PredtronMultilabelClassifier, PredtronRanker, PredtronSequenceTagger])
def test_a_model_that_is_not_fitted(family):
    with pytest.raises(NotFittedError, match="LinearSVC"):
        family.from_linear(LinearSVC())


@pytest.mark.parametrize("norm, size", [("group", 1e-200), ("trace", 1e-200), ("trace", 1e300)])
def test_weights_whose_powers_are_no_numbers(norm, size):
    X, _ = rows()
    model = fitted(LogisticRegression(fit_intercept=False))
    model.coef_ *= size
    with pytest.raises(ValueError, match=f"norm='{norm}' cannot hold the weights of the model.* the largest is "):
        begun(PredtronClassifier, model, norm)
    assert_array_equal(begun(PredtronClassifier, model).predict(X), model.predict(X))


def test_no_loss_bound_is_proven():
    X, y = rows(2)
    how = {"norm": "l2", "update": "perceptron", "intercept_scaling": 1.0}
    model = PredtronBinaryClassifier.from_linear(LogisticRegression().fit(X, y), **how)
    for _ in range(2):
        with pytest.raises(ValueError, match="No loss bound is proven"):
            model.loss_bound(margin=1.0, radius=1.0)
        model.partial_fit(X, y)
    assert model.set_params(cv=0).fit(X, y).loss_bound(margin=1.0, radius=1.0) > 0


def test_an_intercept_of_zero_needs_none():
    X, y = rows(3)
    model = LinearSVC(fit_intercept=False).fit(X, y)
    for parameters in [{"fit_intercept": False}, {"norm": "l1"}]:
        assert_array_equal(PredtronClassifier.from_linear(model, **parameters).predict(X), model.predict(X))


def test_measures_at_k_need_no_rows_unless_they_count_positive_ones():
    X, y = rows(k=2)
    model = LogisticRegression().fit(X, y)
    loss = PrecisionAtK(k=20)
    found = PredtronBipartiteClassifier.from_linear(model, loss=loss).predict(X)
    assert_array_equal(np.flatnonzero(found == model.classes_[1]), np.sort(np.argsort(-model.decision_function(X))[:20]))
    with pytest.raises(ValueError, match="loss='break_even' predicts the share of rows that was positive in training"):
        PredtronBipartiteClassifier.from_linear(model, loss="break_even").predict(X)
