"""`norm="auto"`: which norm it is, when that is fixed, and what is warned of."""

import copy
import pickle
import warnings
from unittest.mock import Mock

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import dump_svmlight_file, load_wine, make_classification
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

import sklearn_predtron
from sklearn_predtron import Predtron, PredtronBinaryClassifier, PredtronClassifier, PredtronRanker, PredtronSequenceTagger
from sklearn_predtron.families.training import trainer as calls
from sklearn_predtron.mixing import ParameterMixing
from sklearn_predtron.norms import Auto, PNorm
from tests.cli_cases import run
from tests.joint_cases import Tables, tables
from tests.mixing_cases import families, lesson_for, made
from tests.ranking_cases import make_data as make_queries

RANDOM = np.random.default_rng(0)
X, Y = make_classification(120, 6, n_informative=4, n_classes=3, random_state=0)
X = X * 10.0 ** np.arange(-2, 4) + 5
S = sparse.csr_array(X)
FORMATS = {"dense": X, "CSR": sparse.csr_array(np.sign(X - 5))}
OTHER = "X is (CSR|dense), and the first rows were"


def same_weights(a, b):
    return np.array_equal(a.coef_, b.coef_) and np.array_equal(a.intercept_, b.intercept_) and a.t_ == b.t_


def written(path, share, seed, p=100):
    """A file of rows of which a share of the values is stored."""
    random = np.random.default_rng(seed)
    rows = np.where(random.random((120, p)) < share, random.standard_normal((120, p)).round(3) + 2, 0)
    rows[:, 0] = 1  # the width of all chunks
    rows[:, -1] = 1
    labels = (rows[:, 1:4] + random.standard_normal((120, 3))).argmax(axis=1)
    dump_svmlight_file(rows, labels, str(path), zero_based=False)
    return str(path)


def silent():
    warnings.simplefilter("error")


@pytest.mark.parametrize("norm", ["auto", Auto()], ids=str)
@pytest.mark.parametrize(("rows", "chosen"), [("dense", "scaled"), ("CSR", "l2")])
def test_it_is_the_norm_for_the_format_of_the_first_rows(norm, rows, chosen):
    model = PredtronClassifier(norm=norm, random_state=0).fit(FORMATS[rows], Y)
    assert model.norm_ == chosen
    assert same_weights(model, PredtronClassifier(norm=chosen, random_state=0).fit(FORMATS[rows], Y))
    stream = PredtronClassifier(norm=norm).partial_fit(FORMATS[rows], Y, classes=[0, 1, 2])
    assert stream.norm_ == chosen
    assert same_weights(stream, PredtronClassifier(norm=chosen).partial_fit(FORMATS[rows], Y, classes=[0, 1, 2]))


def test_a_norm_that_is_given_is_shown_as_it_was_given():
    norm = PNorm(q=4)
    assert PredtronClassifier(norm=norm).fit(X, Y).norm_ is norm
    assert PredtronClassifier(norm="l1").fit(X, Y).norm_ == "l1"
    with pytest.raises(AttributeError, match="norm_"):
        PredtronClassifier().norm_  # noqa: B018


def test_fit_chooses_anew_and_a_call_that_fails_changes_nothing():
    model = PredtronClassifier(random_state=0).fit(X, Y)
    before = model.coef_
    with pytest.raises(ValueError, match="NaN"):
        model.fit(sparse.csr_array(np.where(X > 100, np.nan, np.sign(X))), Y)
    assert model.norm_ == "scaled"
    assert np.array_equal(model.coef_, before)
    assert model.fit(FORMATS["CSR"], Y).norm_ == "l2"
    assert not hasattr(clone(model), "norm_")


def test_rows_of_the_other_format_are_learned_under_it_and_warn_once():
    model = PredtronClassifier().partial_fit(X[:40], Y[:40], classes=[0, 1, 2])
    explicit = PredtronClassifier(norm="scaled").partial_fit(X[:40], Y[:40], classes=[0, 1, 2])
    with pytest.warns(UserWarning, match="X is CSR, and the first rows were dense.*norm='scaled'"):
        model.partial_fit(S[40:80], Y[40:80])
    explicit.partial_fit(S[40:80], Y[40:80])
    with warnings.catch_warnings():
        silent()
        for part in (S[80:100], X[100:101], S[101:]):
            at = slice(model.t_, model.t_ + part.shape[0])
            model.partial_fit(part, Y[at])
            explicit.partial_fit(part, Y[at])
    assert model.norm_ == "scaled"
    assert same_weights(model, explicit)


@pytest.mark.parametrize(("first", "later"), [("dense", "CSR"), ("CSR", "dense")])
def test_the_short_way_for_single_rows_warns_too(first, later, monkeypatch):
    model = PredtronClassifier().partial_fit(FORMATS[first][:30], Y[:30], classes=[0, 1, 2])
    for i in range(30, 35):
        model.partial_fit(FORMATS[first][[i]], Y[[i]])
    with pytest.warns(UserWarning, match=OTHER):
        model.partial_fit(FORMATS[later][[35]], Y[[35]])
    monkeypatch.setattr(PredtronClassifier, "_partial_fit", None)
    for i in range(36, 40):  # the fast path, and silent, as the suite's filter of warnings checks
        model.partial_fit(FORMATS[later][[i]], Y[[i]])
    assert model._model.stream is not None
    assert model.t_ == 40


def test_a_warning_that_is_an_error_leaves_the_model_as_it_was():
    model = PredtronClassifier().partial_fit(X[:40], Y[:40], classes=[0, 1, 2])
    before = pickle.dumps(model)
    with warnings.catch_warnings():
        silent()
        with pytest.raises(UserWarning, match=OTHER):
            model.partial_fit(S[40:], Y[40:])
    assert pickle.dumps(model) == before
    model.partial_fit(X[40:], Y[40:])
    assert same_weights(model, PredtronClassifier(norm="scaled").partial_fit(X, Y, classes=[0, 1, 2]))


def test_predictions_of_the_other_format_do_not_warn():
    model = PredtronClassifier(random_state=0).fit(X, Y)
    assert np.array_equal(model.predict(S), model.predict(X))


@pytest.mark.parametrize("taken", [copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))], ids=["copied", "saved"])
def test_the_choice_and_the_warning_are_kept(taken):
    model = PredtronClassifier().partial_fit(X[:40], Y[:40], classes=[0, 1, 2])
    with pytest.warns(UserWarning, match=OTHER):
        model.partial_fit(S[40:50], Y[40:50])
    model = taken(model).partial_fit(S[50:], Y[50:])
    assert model.norm_ == "scaled"
    other = taken(PredtronClassifier().partial_fit(X[:40], Y[:40], classes=[0, 1, 2]))
    with pytest.warns(UserWarning, match=OTHER):
        other.partial_fit(S[40:], Y[40:])


@pytest.mark.parametrize(("rows", "chosen"), [("dense", "scaled"), ("CSR", "l2")])
def test_a_stream_goes_on_under_the_name_of_what_was_chosen_and_back(rows, chosen):
    model = PredtronClassifier().partial_fit(FORMATS[rows][:60], Y[:60], classes=[0, 1, 2])
    model.set_params(norm=chosen).partial_fit(FORMATS[rows][60:90], Y[60:90])
    model.set_params(norm="auto").partial_fit(FORMATS[rows][90:], Y[90:])
    assert same_weights(model, PredtronClassifier(norm=chosen).partial_fit(FORMATS[rows], Y, classes=[0, 1, 2]))
    other = "l2" if chosen == "scaled" else "scaled"
    assert model.set_params(norm=other).norm_ == chosen
    with pytest.raises(ValueError, match="norm cannot change"):
        model.set_params(norm=other).partial_fit(FORMATS[rows], Y)
    learned = PredtronClassifier(norm="l1").partial_fit(FORMATS[rows], Y, classes=[0, 1, 2])
    with pytest.raises(ValueError, match="norm cannot change"):
        learned.set_params(norm="auto").partial_fit(FORMATS[rows], Y)
    assert learned.set_params(norm="auto", warm_start=False).fit(FORMATS[rows], Y).norm_ == chosen


def test_a_model_that_begins_at_weights_is_under_l2():
    batch = LogisticRegression().fit(np.sign(X), Y)
    model = PredtronClassifier.from_linear(batch)
    assert model.norm_ == "l2"
    same = PredtronClassifier.from_linear(batch, norm="l2")
    assert same_weights(model.partial_fit(np.sign(X), Y), same.partial_fit(np.sign(X), Y))
    assert model.norm_ == "l2"


def test_features_that_appear_in_a_stream_are_under_it():
    model = (
        PredtronClassifier().partial_fit(X[:60, :4], Y[:60], classes=[0, 1, 2]).widen(n_features=6).partial_fit(X[60:], Y[60:])
    )
    assert model.norm_ == "scaled"
    zeros = np.where(np.arange(6) < 4, X[:60], 0.0)
    whole = PredtronClassifier().partial_fit(zeros, Y[:60], classes=[0, 1, 2]).partial_fit(X[60:], Y[60:])
    assert same_weights(model, whole)


def test_what_it_cannot_do_names_the_norm_that_can():
    model = PredtronClassifier(random_state=0)
    assert not hasattr(model, "sparsify")
    assert not hasattr(model.fit(X, Y), "sparsify")
    with pytest.raises(AttributeError) as caught:
        model.sparsify()
    assert "'l2'" in str(caught.value.__cause__)
    assert sparse.issparse(model.fit(FORMATS["CSR"], Y).sparsify().coef_)
    bounded = PredtronBinaryClassifier(fit_intercept=False).fit(X, Y == 1)
    with pytest.raises(ValueError, match="norm='l2'"):
        bounded.loss_bound(0.1)


def test_joint_features_are_under_l2():
    assert Predtron(Tables(4), random_state=0).fit(*tables()).norm_ == "l2"


def counts(n=400, p=300):
    """Words of a text: most are rare, and some stand in each row many times."""
    often = 30.0 / np.arange(1, p + 1)
    return sparse.csr_array(RANDOM.poisson(often, (n, p)).astype(float))


class TestScales:
    """CSR rows whose columns differ in scale."""

    @staticmethod
    def warned(X, y=None, **parameters):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            PredtronClassifier(random_state=0, max_iter=1, **parameters).fit(X, np.arange(X.shape[0]) % 2 if y is None else y)
        return [str(warning.message) for warning in caught]

    def test_raw_columns_warn_and_name_what_learns_from_them(self):
        X, y = load_wine(return_X_y=True)
        X[0] = 1  # which does not tell
        (message,) = self.warned(sparse.csr_array(X), y)
        size = np.sqrt((X**2).mean(axis=0))
        assert f"{size.max() / size.min():.3g}" in message
        assert f"columns {size.argmin()} " in message
        assert f"and {size.argmax()} " in message
        assert "norm='scaled'" in message

    @pytest.mark.parametrize("norm", ["l2", "scaled", "l1"])
    def test_a_norm_that_was_given_does_not(self, norm):
        X, y = load_wine(return_X_y=True)
        assert self.warned(sparse.csr_array(X), y, norm=norm) == []

    @pytest.mark.parametrize(("factor", "n"), [(990, 0), (1010, 1)])
    def test_by_a_factor_of_a_thousand(self, factor, n):
        X = RANDOM.choice([-1.0, 0.0, 1.0], (200, 3)) * [1.0, factor, 30.0]
        assert len(self.warned(sparse.csr_array(X))) == n

    def test_words_do_not(self):
        assert self.warned(counts()) == []

    def test_a_few_values_of_a_column_make_nothing_known(self):
        X = sparse.lil_array((200, 2))
        X[:, [0]] = np.ones((200, 1))
        X[1:10, [1]] = 1e6
        assert self.warned(X.tocsr()) == []
        X[10, 1] = 1e6
        assert len(self.warned(X.tocsr())) == 1

    def test_only_the_first_rows_of_a_stream_do(self):
        X, y = load_wine(return_X_y=True)
        X[0] = 1
        model = PredtronClassifier()
        with pytest.warns(UserWarning, match="root mean squares"):
            model.partial_fit(sparse.csr_array(X), y, classes=[0, 1, 2])
        model.partial_fit(sparse.csr_array(X), y)

    @pytest.mark.parametrize("bad", [np.nan, np.inf])
    def test_what_is_not_finite_is_refused_as_ever(self, bad):
        X = sparse.csr_array(np.where(np.arange(400).reshape(100, 4) == 7, bad, 1.0))
        with pytest.raises(ValueError, match=r"NaN|infinity"):
            PredtronClassifier().fit(X, np.arange(100) % 2)

    def test_empty_rows_are_taken(self):
        model = PredtronClassifier().partial_fit(sparse.csr_array((3, 4)), [0, 1, 0], classes=[0, 1])
        assert model.norm_ == "l2"


class TestTables:
    """CSR rows are those of a table if the first round stores much, in columns of other scales; no split changes that."""

    X, y = load_wine(return_X_y=True)
    classes = (0, 1, 2)

    def test_they_learn_under_scaled(self):
        X, y = sparse.csr_array(self.X), self.y
        model = PredtronClassifier(random_state=0).fit(X, y)  # without a warning
        assert model.norm_ == "scaled"
        assert same_weights(model, PredtronClassifier(random_state=0, norm="scaled").fit(X, y))
        assert model.score(X, y) > 0.95

    def test_any_split_of_a_stream_chooses_the_same(self):
        X, y = sparse.csr_array(self.X[::5]), self.y[::5]
        whole = PredtronClassifier().partial_fit(X, y, classes=self.classes)
        assert whole.norm_ == "scaled"
        for size in (1, 7):
            parts = PredtronClassifier()
            for first in range(0, len(y), size):
                parts.partial_fit(X[first : first + size], y[first : first + size], classes=self.classes)
            assert parts.norm_ == "scaled" and same_weights(parts, whole)

    @pytest.mark.parametrize("share", [0.04, 0.06])
    def test_words_are_fewer(self, share):
        row = np.zeros((1, 200))
        row[0, : int(200 * share)] = 10.0 ** np.arange(int(200 * share))
        model = PredtronClassifier().partial_fit(sparse.csr_array(row), [0], classes=[0, 1])
        assert model.norm_ == ("l2" if share < 0.05 else "scaled")

    @pytest.mark.parametrize(("factor", "chosen"), [(990.0, "l2"), (1010.0, "scaled")])
    def test_the_first_round_that_weighs_decides(self, factor, chosen):
        X = np.array([[1, 1e9, 3], [1, factor, 3], [1, 1e9, 3.0], [1, 1, 2]])
        y, weight = np.array([0, 1, 1, 0]), np.array([0, 1, 1, 1.0])
        absent = PredtronClassifier().partial_fit(sparse.csr_array(X), y, classes=[0, 1], sample_weight=weight)
        without = PredtronClassifier().partial_fit(sparse.csr_array(X[1:]), y[1:], classes=[0, 1])
        assert absent.norm_ == without.norm_ == chosen and same_weights(absent, without)

    def test_a_query_is_a_round(self):
        X, relevance, qid = np.tile(self.X[:40], (1, 1)), np.arange(40) % 3, np.arange(40) // 20
        X[0] = 1
        for order in (np.arange(40), np.arange(40).reshape(2, 20).T.ravel()):  # also where queries are interleaved
            assert PredtronRanker().partial_fit(sparse.csr_array(X[order]), relevance[order], qid=qid[order]).norm_ == "scaled"
        assert PredtronRanker().partial_fit(sparse.csr_array(X[:1]), relevance[:1]).norm_ == "l2"

    def test_a_tagger_has_the_intercept_of_the_norm(self):
        X, y, sid = sparse.csr_array(self.X), self.y % 2, np.arange(len(self.y)) // 10
        auto, given = (PredtronSequenceTagger(norm=norm, random_state=0, max_iter=3) for norm in ("auto", "scaled"))
        assert same_weights(auto.partial_fit(X, y, sid=sid, classes=[0, 1]), given.partial_fit(X, y, sid=sid, classes=[0, 1]))
        assert auto.norm_ == "scaled"


def test_queries_and_their_documents():
    X, relevance, qid = make_queries()
    assert PredtronRanker(random_state=0).fit(X, relevance, qid=qid).norm_ == "scaled"
    assert PredtronRanker(random_state=0).fit(sparse.csr_array(X), relevance, qid=qid).norm_ == "l2"


@pytest.mark.parametrize("family", families(), ids=lambda family: family.__name__)
def test_every_family_chooses(family):
    lesson = lesson_for(family)
    for layout, chosen in ((np.asarray, "scaled"), (sparse.csr_array, "l2")):
        X, y, given = lesson.laid_out(layout).first(0, 60)
        assert made(family).partial_fit(X, y, **given).norm_ == chosen
        X, y, given = lesson.laid_out(layout).part(0, 60)
        assert made(family, random_state=0).fit(X, y, **given).norm_ == chosen


def test_a_search_in_a_pipeline():
    pipeline = make_pipeline(SimpleImputer(), PredtronClassifier(random_state=0, max_iter=3))
    search = GridSearchCV(pipeline, {"predtronclassifier__norm": ["auto", "l1"]}, cv=3, error_score="raise").fit(X, Y)
    assert search.best_params_ == {"predtronclassifier__norm": "auto"}
    assert search.best_estimator_[-1].norm_ == "scaled"


class TestMixing:
    """Shards in memory, as functions and as files."""

    @pytest.mark.parametrize(("rows", "chosen"), [("dense", "scaled"), ("CSR", "l2")])
    @pytest.mark.parametrize("n_jobs", [1, 3])
    def test_shards_in_memory(self, rows, chosen, n_jobs):
        fitted = [
            ParameterMixing(PredtronClassifier(norm=norm), shards=3, rounds=2, n_jobs=n_jobs, random_state=0)
            .fit(FORMATS[rows], Y)
            .estimator_
            for norm in ("auto", chosen)
        ]
        assert fitted[0].norm_ == chosen
        assert same_weights(*fitted)

    @pytest.mark.parametrize(("share", "chosen"), [(0.9, "scaled"), (0.02, "l2")])
    def test_files_by_what_they_store(self, share, chosen, tmp_path):
        paths = [written(tmp_path / f"{seed}.svm", share, seed) for seed in range(2)]
        fitted = [
            ParameterMixing(PredtronClassifier(norm=norm), rounds=2, random_state=0).fit(paths).estimator_
            for norm in ("auto", chosen)
        ]
        assert fitted[0].norm_ == chosen
        assert same_weights(*fitted)

    def test_raw_columns_of_files_do_not_warn(self, tmp_path):
        wine = load_wine()
        path = tmp_path / "wine.svm"
        dump_svmlight_file(wine.data, wine.target, str(path))
        assert ParameterMixing(PredtronClassifier(), rounds=1).fit([str(path)]).estimator_.norm_ == "scaled"

    def test_functions_of_the_other_format_warn(self):
        shards = [lambda: (FORMATS["dense"][:60], Y[:60]), lambda: (FORMATS["CSR"][60:], Y[60:])]
        with pytest.warns(UserWarning, match=OTHER):
            mixed = ParameterMixing(PredtronClassifier(), rounds=1, random_state=0).fit(shards, classes=[0, 1, 2])
        assert mixed.estimator_.norm_ == "scaled"

    def test_files_after_dense_rows_have_no_format(self, tmp_path):
        path = written(tmp_path / "rows.svm", 0.9, 0, p=6)
        mixed = ParameterMixing(PredtronClassifier(), shards=2, rounds=1, random_state=0).fit(X, Y)
        assert mixed.partial_fit([path]).estimator_.norm_ == "scaled"


@pytest.mark.parametrize(("share", "chosen"), [(0.9, "scaled"), (0.02, "l2")])
@pytest.mark.parametrize("options", [[], ["--chunk", 30, "--epochs", 2], ["--jobs", 2]], ids=str)
def test_the_command_line_chooses_by_what_the_first_chunk_stores(capsys, share, chosen, options, tmp_path):
    path = written(tmp_path / "rows.svm", share, 0)
    models = []
    for norm in ("auto", chosen):
        saved = tmp_path / norm
        code, _, err = run(capsys, path, *options, "--norm", norm, "--save", saved)
        assert (code, err) == (0, "")
        models.append(sklearn_predtron.load(saved))
    assert models[0].norm_ == chosen
    assert same_weights(*models)


def test_the_command_line_goes_on_with_a_model_of_dense_rows(capsys, tmp_path):
    path = written(tmp_path / "rows.svm", 0.9, 0, p=6)
    PredtronClassifier().partial_fit(X, Y.astype(float), classes=[0.0, 1.0, 2.0]).save(tmp_path / "model")
    assert run(capsys, path, "--load", tmp_path / "model", "--save", tmp_path / "model")[0] == 0
    model = sklearn_predtron.load(tmp_path / "model")
    assert (model.norm_, model.t_) == ("scaled", 2 * len(X))


@pytest.mark.parametrize("norm", ["auto", "l2"])
def test_a_message_about_rows_names_the_norm_that_was_chosen(norm):
    with pytest.raises(ValueError, match="norm='l2' accepts rows of lengths"):
        PredtronClassifier(norm=norm).fit(FORMATS["CSR"] * 1e200, Y)


def test_callbacks_of_a_stream_begin_once():
    begun = []

    class Beginning:
        def on_stream_begin(self, estimator):
            begun.append(estimator.norm_)

    model = PredtronClassifier().partial_fit(X[:30], Y[:30], classes=[0, 1, 2])
    model._skl_callbacks = [Beginning()]
    model.partial_fit(X[30:60], Y[30:60])
    known = len(begun)
    with pytest.warns(UserWarning, match=OTHER):
        model.partial_fit(S[60:61], Y[60:61])
    model.partial_fit(S[61:], Y[61:])
    assert len(begun) == known


def test_a_failed_call_of_the_other_format_neither_warns_nor_changes_anything():
    model = PredtronClassifier().partial_fit(X[:40], Y[:40], classes=[0, 1, 2])
    before = pickle.dumps(model)
    bad = S[40:].copy()
    bad.data[3] = np.nan
    for rows, labels, message in [(bad, Y[40:], "NaN"), (S[40:], Y[41:], "same number"), (S[40:], Y[40:] + 1, "not in classes_")]:
        with pytest.raises(ValueError, match=message):
            model.partial_fit(rows, labels)
        assert pickle.dumps(model) == before
    with pytest.warns(UserWarning, match=OTHER):
        model.partial_fit(S[40:], Y[40:])


def test_a_call_that_fails_in_another_format_leaves_the_short_way(monkeypatch):
    X, y = np.random.default_rng(0).standard_normal((40, 3)), np.arange(40) % 2
    model = PredtronBinaryClassifier().partial_fit(X, y, classes=[0, 1])
    stream = model._model.stream
    with monkeypatch.context() as patch, pytest.raises(MemoryError), pytest.warns(UserWarning, match="X is CSR"):
        patch.setattr(calls, "learn_in_order", Mock(side_effect=MemoryError))
        model.partial_fit(sparse.csr_matrix(X), y)
    assert model._model.stream is stream and stream.take(X, y)
    with pytest.warns(UserWarning, match="X is CSR, and the first rows were dense"):
        model.partial_fit(sparse.csr_matrix(X), y)
    assert model._model.stream is not stream and model._model.stream.take(sparse.csr_matrix(X), y)
