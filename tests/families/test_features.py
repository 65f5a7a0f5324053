"""Tables that are mapped on the way: the same as learning from the features that the map makes, also in streams."""

import pickle

import numpy as np
import pandas as pd
import pytest
from joblib import parallel_config
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.utils.estimator_checks import check_estimator

from sklearn_predtron import (
    PredtronBinaryClassifier,
    PredtronBipartiteClassifier,
    PredtronClassifier,
    PredtronLabelRanker,
    PredtronMultilabelClassifier,
    PredtronOrdinalClassifier,
    PredtronRanker,
    PredtronSequenceTagger,
    load,
)
from sklearn_predtron.callbacks import EarlyStopping
from sklearn_predtron.families.training import runs
from sklearn_predtron.families.training.plan import default_shape
from sklearn_predtron.features import Auto, PiecewiseLinear, RandomFourier
from sklearn_predtron.mixing import ParameterMixing
from tests.cases import weights_of
from tests.expected_failures import expected_failed_checks

N = 900
RNG = np.random.default_rng(0)
X = RNG.standard_normal((N, 4))
CURVED = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2]  # which no linear function is near
TWO = (CURVED > 0).astype(int)
RANKS = np.digitize(CURVED, [-0.7, 0.7])
SETS = np.column_stack([CURVED > 0, X[:, 3] > 0, CURVED > 1]).astype(int)
GROUPS = np.repeat(np.arange(N // 10), 10)
FAMILIES = {
    "binary": (PredtronBinaryClassifier(cv=0), TWO, {}),
    "several": (PredtronClassifier(cv=0), RANKS, {}),
    "ranks": (PredtronOrdinalClassifier(cv=0), RANKS, {}),
    "one direction": (PredtronOrdinalClassifier(cv=0, representation="shared"), RANKS, {}),
    "sets": (PredtronMultilabelClassifier(cv=0), SETS, {}),
    "documents": (PredtronRanker(cv=0), RANKS.astype(float), {"qid": GROUPS}),
    "labels": (PredtronLabelRanker(cv=0), np.digitize(np.column_stack([CURVED, -CURVED, X[:, 1]]), [-1, 0, 1]).astype(float), {}),
    "batches": (PredtronBipartiteClassifier(), TWO, {}),
    "tokens": (PredtronSequenceTagger(cv=0), RANKS, {"sid": GROUPS}),
}
families = pytest.mark.parametrize("family", FAMILIES)


def classes_of(y, given):
    """Return what the first call of a stream takes beside."""
    if "qid" in given or y.dtype == float:
        return {}
    return {"classes": np.arange(y.shape[1]) if y.ndim > 1 else np.unique(y)}


def stream(model, rows, y, given, cuts):
    """Let a model learn rows in calls, and be saved now and then."""
    for begin, end in zip([0, *cuts], [*cuts, len(y)], strict=True):
        part = {name: value[begin:end] for name, value in given.items()}
        model.partial_fit(rows[begin:end], y[begin:end], **part, **classes_of(y, given))
        if end % 20 == 0:
            model = pickle.loads(pickle.dumps(model))
    return model


@pytest.fixture(scope="module")
def frame():
    """A table of numbers, some of them missing, of categories, texts and truth values."""
    table = pd.DataFrame(X, columns=list("abcd"))
    table.loc[RNG.random(N) < 0.1, "a"] = np.nan
    table["e"] = pd.Categorical(np.array(["low", "middle", "high"])[RANKS])
    table["f"] = RNG.choice(["x", "y", None], N)
    table["g"] = RNG.random(N) < 0.5
    return table


@families
def test_a_fit_is_one_of_the_features_that_the_map_makes(family):
    model, y, given = FAMILIES[family]
    model = clone(model).set_params(random_state=0, max_iter=3)
    mapped = clone(model).set_params(features="piecewise").fit(X, y, **given)
    made = mapped.features_.transform(X)
    direct = clone(model).set_params(norm="l2").fit(made, y, **given)
    assert mapped.norm_ == "l2" and mapped.n_features_in_ == 4
    assert_array_equal(weights_of(mapped), weights_of(direct))
    assert weights_of(mapped).shape[-1] == len(mapped.features_.get_feature_names_out())
    ids = {name: value for name, value in given.items() if name == "sid"}
    assert_array_equal(mapped.predict(X, **ids), direct.predict(made, **ids))
    assert_array_equal(pickle.loads(pickle.dumps(mapped)).predict(X, **ids), mapped.predict(X, **ids))


@families
def test_a_stream_learns_its_first_rows_once_under_the_map_that_they_make(family):
    """The same bits in any split, and as if the map of the first 500 rows had been known before them."""
    model, y, given = FAMILIES[family]
    model = clone(model).set_params(features="piecewise")
    whole = stream(clone(model), X, y, given, [])
    if family != "batches":  # where a call is a batch
        cut = stream(clone(model), X, y, given, [10, 20, 300, 490, 500, 510, 700])
        assert_array_equal(weights_of(whole), weights_of(cut))
        assert (whole.t_, whole.cumulative_loss_) == (cut.t_, cut.cumulative_loss_)
    known = clone(model).set_params(features=None, norm="l2")
    known = stream(known, whole.features_.transform(X), y, given, [])
    assert_array_equal(weights_of(whole), weights_of(known))
    assert whole.t_ == known.t_


def test_first_rows_are_kept_and_saved_as_arrays(tmp_path):
    """Of labels, weights and costs in series, and of label sets in a frame."""
    labels, sets = pd.Series(np.where(TWO[:400], "yes", "no")), pd.DataFrame(np.c_[TWO, 1 - TWO][:400], columns=["a", "b"])
    costs = {("yes", "no"): pd.Series(np.arange(400.0) + 1)}
    for kind, y, given in [
        (PredtronBinaryClassifier, labels, {"classes": ["no", "yes"], "sample_weight": pd.Series(np.ones(400)), "costs": costs}),
        (PredtronMultilabelClassifier, sets, {}),
    ]:
        model = kind(features="piecewise").partial_fit(X[:400], y, **given)
        model.save(tmp_path / "m")
        plain = {name: value.to_numpy() if isinstance(value, pd.Series) else value for name, value in given.items()}
        plain |= {"costs": {("yes", "no"): np.arange(400.0) + 1}} if given else {}
        of_arrays = kind(features="piecewise").partial_fit(X[:400], y.to_numpy(), **plain)
        for grown in (model, of_arrays):
            grown.partial_fit(X[400:600], y[:200].to_numpy())
        assert_array_equal(weights_of(model), weights_of(of_arrays))
        assert_array_equal(weights_of(model), weights_of(load(tmp_path / "m").partial_fit(X[400:600], y[:200].to_numpy())))


def test_until_the_map_is_there_numbers_are_learned_as_they_are():
    first = stream(PredtronBinaryClassifier(features="piecewise"), X[:400], TWO[:400], {}, [7, 100])
    plain = stream(PredtronBinaryClassifier(), X[:400], TWO[:400], {}, [])
    assert_array_equal(weights_of(first), weights_of(plain))
    assert not hasattr(first, "features_") and first.t_ == 400
    later = first.partial_fit(X[400:600], TWO[400:600])
    assert weights_of(later).shape[1] == later.features_.n_features_out_ > 100
    assert later.t_ == 600
    made = PiecewiseLinear().fit(X[:500], TWO[:500])
    assert_array_equal(later.features_.transform(X).toarray(), made.transform(X).toarray())


def test_until_the_map_is_there_a_missing_value_is_the_mean_so_far():
    """In any split, as if means had been put in before; a prediction takes the mean of all rows so far."""
    rows, far = X[:400].copy(), X[:400] * 10 + 1e3
    gaps = np.random.default_rng(1).random(rows.shape) < 0.1
    rows, filled = np.where(gaps, np.nan, far), far.copy()
    for i, j in zip(*np.nonzero(gaps), strict=True):
        before = rows[:i, j][~np.isnan(rows[:i, j])]
        filled[i, j] = np.cumsum(before)[-1] / len(before) if len(before) else 0
    plain = PredtronBinaryClassifier().partial_fit(filled, TWO[:400], classes=[0, 1])
    for size in (1, 70, 400):
        model = PredtronBinaryClassifier(features="piecewise", norm="scaled")
        for i in range(0, 400, size):
            model.partial_fit(rows[i : i + size], TWO[i : min(i + size, 400)], classes=[0, 1])
        assert_array_equal(weights_of(model), weights_of(plain))
    means = np.array([np.cumsum(column[~np.isnan(column)])[-1] / (~np.isnan(column)).sum() for column in rows.T])
    late = np.array([[np.nan, 1e3, np.nan, 1e3]])
    assert_array_equal(model.decision_function(late), plain.decision_function(np.where(np.isnan(late), means, late)))


def test_rows_of_no_weight_are_none_of_the_first():
    weight = (np.arange(N) % 3 > 0).astype(float)
    some = weight > 0
    model = PredtronBinaryClassifier(features="piecewise")
    weighed = clone(model).partial_fit(X, TWO, classes=[0, 1], sample_weight=weight)
    alone = clone(model).partial_fit(X[some], TWO[some], classes=[0, 1], sample_weight=weight[some])
    assert_array_equal(weights_of(weighed), weights_of(alone))


@pytest.mark.parametrize("learn", ["fit", "mixing"])
@pytest.mark.parametrize("features", ["piecewise", "fourier"])
def test_rows_of_no_weight_do_not_change_the_map_of_a_fit(features, learn, frame):
    weight = (np.arange(N) % 3 > 0).astype(float)
    some = weight > 0
    rows = frame.copy() if features == "piecewise" else np.where(some[:, None], X, 1e3)
    model = PredtronBinaryClassifier(features=features, random_state=0, cv=0)
    model = model if learn == "fit" else ParameterMixing(model, shards=1, rounds=1)
    if features == "piecewise":
        rows.loc[~some, "b"], rows.loc[~some, "f"] = 1e3, "z"
    weighed = clone(model).fit(rows, TWO, sample_weight=weight)
    alone = clone(model).fit(rows[some], TWO[some], sample_weight=weight[some])
    weighed, alone = (getattr(one, "estimator_", one) for one in (weighed, alone))
    made = [one.features_.transform(rows[some]) for one in (weighed, alone)]
    assert_array_equal(*(one.toarray() if sparse.issparse(one) else one for one in made))
    if learn == "fit":  # shards shuffle rows of no weight with the others
        assert_array_equal(weights_of(weighed), weights_of(alone))
    bad = np.where(np.arange(N)[:, None] == 301, np.inf, X)
    with pytest.raises(ValueError, match="in row 301 "):
        clone(model).fit(bad, TWO, sample_weight=weight)


def test_classes_of_a_first_call_without_weights_are_known_to_the_map():
    names = np.array(["no", "yes"])[TWO]
    model = PredtronBinaryClassifier(features="piecewise")
    plain = clone(model).partial_fit(X, names, classes=["no", "yes"])
    model.partial_fit(X[:10], names[:10], classes=["no", "yes"], sample_weight=np.zeros(10))
    assert_array_equal(weights_of(model.partial_fit(X, names)), weights_of(plain))
    tagger = PredtronSequenceTagger(features="piecewise")
    tagger.partial_fit(X[:10], RANKS[:10], sid=GROUPS[:10], classes=[0, 1, 2], sample_weight=np.zeros(10))
    assert tagger.partial_fit(X, RANKS, sid=GROUPS).features_.n_features_in_ == 4
    sets = PredtronMultilabelClassifier(features="piecewise")
    sets.partial_fit(X[:10], SETS[:10], classes=range(3), sample_weight=np.zeros(10)).partial_fit(X, SETS)
    assert sets.features_.n_features_in_ == 4


@pytest.mark.parametrize("learn", ["fit", "partial_fit"])
def test_names_of_the_labels_of_tokens_do_not_change_the_map(learn):
    rows = np.hstack([X, RNG.standard_normal((N, 12))])
    found = []
    for names in (np.arange(3), np.array([0, 1, 50]), np.array(["a", "b", "c"])):
        model = PredtronSequenceTagger(features=PiecewiseLinear(n_pairs=5), random_state=0, max_iter=2, cv=0)
        classes = {} if learn == "fit" else {"classes": names}
        found.append(getattr(model, learn)(rows, names[RANKS], sid=GROUPS, **classes))
    assert all(model.features_.terms_ == found[0].features_.terms_ for model in found)
    for model in found[1:]:
        assert_array_equal(weights_of(model), weights_of(found[0]))


def test_streams_of_groups_are_the_same_in_any_split():
    model = PredtronBipartiteClassifier(features="piecewise")
    given = {"groups": GROUPS}
    whole, cut = (stream(clone(model), X, TWO, given, cuts) for cuts in ([], [10, 20, 300, 490, 500, 510, 700]))
    assert_array_equal(whole.features_.get_feature_names_out(), cut.features_.get_feature_names_out())
    assert_array_equal(weights_of(whole), weights_of(cut))


def test_lengths_are_compared_before_rows_of_no_weight_are_left_out():
    rows, weight, costs = np.eye(6), [0, 0, 0, 1, 1, 1], np.array([[[0, 1], [1, 0]]] * 3, float)
    model = PredtronBinaryClassifier(features="piecewise")
    for features in (None, "piecewise"):
        model = PredtronBinaryClassifier(features=features)
        with pytest.raises(ValueError, match="X has 6 rows and y has 3"):
            model.partial_fit(rows, [0, 1, 0], classes=[0, 1], sample_weight=weight)
        with pytest.raises(ValueError, match="costs"):
            model.partial_fit(rows, [0, 1] * 3, classes=[0, 1], sample_weight=weight, costs=costs)
        assert not model.__sklearn_is_fitted__()
    ranker = PredtronRanker(features="piecewise")
    with pytest.raises(ValueError, match="qid"):
        ranker.partial_fit(rows, [0, 1] * 3, qid=[1, 1, 2], sample_weight=weight)


@pytest.mark.parametrize("known", [0, 300])
def test_a_call_that_fails_changes_nothing(known):
    """Rows of no good behind the 500th, of a call with others of the first before them."""
    model = PredtronBinaryClassifier(features="piecewise")
    if known:
        model.partial_fit(X[:known], TWO[:known], classes=[0, 1])
    before = pickle.dumps(model)
    bad = X[known:].copy()
    bad[-1, 2] = np.inf
    with pytest.raises(ValueError, match="infinite value"):
        model.partial_fit(bad, TWO[known:], classes=[0, 1])
    assert pickle.dumps(model) == before
    model.partial_fit(X[known:], TWO[known:], classes=[0, 1])
    assert_array_equal(
        weights_of(model), weights_of(PredtronBinaryClassifier(features="piecewise").partial_fit(X, TWO, classes=[0, 1]))
    )


def test_a_data_frame_needs_no_preprocessing(frame):
    """Its categories tell the class, in folds, in a stream, and in a search; unknown ones are none."""
    model = PredtronClassifier(features="piecewise", random_state=0)
    assert cross_val_score(model, frame, RANKS, cv=3).min() > 0.98
    streamed = stream(clone(model), frame, RANKS, {}, list(range(70, N, 70)))
    assert streamed.score(frame, RANKS) > 0.98
    search = GridSearchCV(
        clone(model).set_params(features=PiecewiseLinear()), {"features__n_knots": [4, 12], "features__n_pairs": [0, 10]}, cv=2
    ).fit(frame, RANKS)
    assert search.best_score_ > 0.98
    other = frame.assign(e="none of them", f=None)
    assert set(streamed.predict(other)) <= {0, 1, 2}
    with pytest.raises(ValueError, match="feature names"):
        streamed.predict(frame[list("bacdefg")])


def test_curves_and_products_are_learned_from_few_rows():
    """Where a linear learner is hardly better than chance."""
    first, rest = slice(0, 700), slice(700, N)
    linear = PredtronBinaryClassifier(random_state=0).fit(X[first], TWO[first])
    for features in ("piecewise", RandomFourier(n_features=300, random_state=0)):
        mapped = PredtronBinaryClassifier(features=features, random_state=0).fit(X[first], TWO[first])
        assert mapped.score(X[rest], TWO[rest]) > linear.score(X[rest], TWO[rest]) + 0.1


@pytest.mark.parametrize(
    ("features", "y", "by_itself"),
    [
        ("auto", X[:, 0] + X[:, 1] > 0, None),
        ("auto", np.sin(3 * X[:, 0]) > 0, PiecewiseLinear(n_knots=32, n_pairs=6, pair_knots=8)),
        ("piecewise", np.sin(3 * X[:, 0]) > 0, PiecewiseLinear(n_knots=32, n_pairs=6, pair_knots=8)),
        ("piecewise", X[:, 1] * X[:, 2] > 0, PiecewiseLinear(n_knots=12, n_pairs=6, pair_knots=5)),
    ],
    ids=["columns", "hats", "hats of piecewise", "products"],
)
def test_folds_choose_what_predicts_best(features, y, by_itself):
    """The model is that of the choice made by itself, which goes on in a stream, and is saved."""
    chosen = PredtronBinaryClassifier(features=features, random_state=0, cv=5).fit(X, y)
    alone = PredtronBinaryClassifier(features=by_itself, random_state=0, cv=5).fit(X, y)
    assert_array_equal(weights_of(chosen), weights_of(alone))
    assert_array_equal(chosen.predict_proba(X), alone.predict_proba(X))
    assert chosen.norm_ == ("scaled" if by_itself is None else "l2")
    assert chosen.score(X, y) > 0.95
    assert_array_equal(pickle.loads(pickle.dumps(chosen)).predict(X), chosen.predict(X))
    assert chosen.partial_fit(X, y).score(X, y) > 0.9


def test_a_split_chooses_among_few_rows_and_all_are_learned():
    """Where more rows than the first comparison takes are there: the model is that of all rows, for as many epochs."""
    random = np.random.default_rng(1)
    rows = random.uniform(-1, 1, (8000, 5))
    y = np.sin(4 * rows[:, 0]) * rows[:, 1] + 0.1 * random.standard_normal(8000) > 0
    chosen = PredtronBinaryClassifier(features="auto", random_state=0).fit(rows[:7000], y[:7000])
    given = PiecewiseLinear(n_knots=12, n_pairs=100, pair_knots=5)
    alone = PredtronBinaryClassifier(features=given, random_state=0, max_iter=chosen.n_iter_, cv=0)
    assert_array_equal(weights_of(chosen), weights_of(alone.fit(rows[:7000], y[:7000])))
    linear = PredtronBinaryClassifier(random_state=0).fit(rows[:7000], y[:7000])
    assert chosen.score(rows[7000:], y[7000:]) > linear.score(rows[7000:], y[7000:]) + 0.3


@pytest.mark.parametrize("n", [N, 3 * N])
def test_costs_of_rows_choose_among_maps_too(n):
    random = np.random.default_rng(2)
    rows = random.standard_normal((n + 3000, 4))
    y = ((rows**2).sum(axis=1) > 3.4).astype(int)
    costs = np.zeros((n + 3000, 2, 2))
    costs[:, 1, 0], costs[:, 0, 1] = 2, random.uniform(0.5, 1.5, n + 3000)
    chosen, first = (
        PredtronBinaryClassifier(features=features, random_state=0).fit(rows[:n], y[:n], costs=costs[:n])
        for features in ("auto", PiecewiseLinear(n_knots=12, n_pairs=100, pair_knots=5))
    )
    assert type(chosen.features_) is RandomFourier and chosen.cost_power_ in (0, 0.5, 1)
    paid, paid_first = (one.sample_loss(rows[n:], y[n:], costs=costs[n:]).mean() for one in (chosen, first))
    assert paid < 0.8 * paid_first


def test_one_shard_chooses_a_map_and_its_epochs_are_those_of_one_learner():
    y = (X**2).sum(axis=1) > 3.4
    mixed = ParameterMixing(PredtronBinaryClassifier(features="auto"), shards=1, rounds=4, random_state=0).fit(X, y)
    assert type(mixed.estimator_.features_) is RandomFourier and len(mixed.loss_curve_) == 4


@pytest.mark.parametrize(
    "made",
    [
        lambda rows, y: PredtronBipartiteClassifier(),
        lambda rows, y: PredtronBinaryClassifier(warm_start=True),
        lambda rows, y: PredtronBinaryClassifier(average="auto"),
        lambda rows, y: PredtronBinaryClassifier().set_callbacks(EarlyStopping((rows[:99], y[:99]))),
    ],
    ids=["batches", "warm_start", "average", "callback"],
)
def test_a_single_model_compares_no_maps(made):
    """Columns of numbers stay as they are, whatever would predict better; a table with gaps has the default map."""
    y = ((X**2).sum(axis=1) > 3.4).astype(int)
    default = PiecewiseLinear(n_knots=12, n_pairs=100, pair_knots=5)
    for rows, of_auto in ((X, None), (np.where(X > 2, np.nan, X), default)):
        kinds = ["auto", of_auto, *(["piecewise"] if of_auto is default else [])]
        models = [made(rows, y).set_params(features=features, random_state=0).fit(rows, y) for features in kinds]
        for model in models[1:]:
            assert_array_equal(weights_of(models[0]), weights_of(model))
            assert_array_equal(models[0].predict(rows), model.predict(rows))
        assert hasattr(models[0], "features_") == (of_auto is default)
        again = models[0].fit(rows[::-1], y[::-1])
        assert_array_equal(again.predict(rows), pickle.loads(pickle.dumps(again)).predict(rows))


def test_threads_change_no_bit_of_a_choice():
    y = np.sin(3 * X[:, 0]) + X[:, 1] * X[:, 2] > 0
    alone = PredtronBinaryClassifier(features="auto", random_state=0).fit(X, y)
    with parallel_config("threading", n_jobs=2):
        assert_array_equal(weights_of(PredtronBinaryClassifier(features="auto", random_state=0).fit(X, y)), weights_of(alone))


def test_cosines_are_chosen_where_columns_interact():
    y = (X**2).sum(axis=1) > 3.4
    chosen = PredtronBinaryClassifier(features="auto", random_state=0, cv=5).fit(X, y)
    alone = PredtronBinaryClassifier(features=RandomFourier(), random_state=0, cv=5).fit(X, y)
    hats = PredtronBinaryClassifier(features="piecewise", random_state=0, cv=5).fit(X, y)
    assert type(chosen.features_) is RandomFourier and min(chosen.held_out_loss_.values()) < min(hats.held_out_loss_.values())
    assert_array_equal(weights_of(chosen), weights_of(alone))
    assert_array_equal(chosen.decision_function(X), alone.decision_function(X))
    assert_array_equal(pickle.loads(pickle.dumps(chosen)).predict(X), chosen.predict(X))
    assert clone(chosen).fit(X, y).score(X, y) == chosen.score(X, y) > 0.9
    with pytest.raises(ValueError, match="RandomFourier"):
        chosen.explain(X)


WIDE = np.hstack([X, RNG.standard_normal((N, 12))])  # of 120 pairs


@pytest.mark.parametrize(
    ("auto", "table", "offered"),
    [
        (PiecewiseLinear(), X, [PiecewiseLinear] * 2),  # all pairs are fewer than twelve
        (PiecewiseLinear(), WIDE, [PiecewiseLinear] * 4),
        (PiecewiseLinear(n_knots=9), WIDE, [PiecewiseLinear] * 4),
        (PiecewiseLinear(n_knots=9, pair_knots=4), WIDE, [PiecewiseLinear] * 2),
        (PiecewiseLinear(n_pairs=3), X, [PiecewiseLinear] * 2),
        (PiecewiseLinear(n_knots=9, n_pairs=3), X, [PiecewiseLinear] * 2),
        (PiecewiseLinear(n_knots=9, n_pairs=3, pair_knots=4), X, [PiecewiseLinear]),
        (Auto(), X, [Auto, PiecewiseLinear, RandomFourier]),
        (Auto(), WIDE, [Auto, *[PiecewiseLinear] * 3, RandomFourier]),
        (Auto(), np.where(X > 1, np.nan, X), [Auto, PiecewiseLinear, RandomFourier]),
        (Auto(missing=False, n_pairs=0), X, [Auto, PiecewiseLinear, RandomFourier]),
        (Auto(categories=[0]), np.round(X), [Auto]),
    ],
)
def test_what_there_is_to_choose(auto, table, offered):
    choices = clone(auto).fit(table).choices()
    assert [type(choice) for choice in choices] == offered
    for hats in (choice for choice in choices[1:] if isinstance(choice, PiecewiseLinear)):
        assert_array_equal(hats.transform(table[:9]).toarray(), clone(hats).fit(table).transform(table[:9]).toarray())
    for cosines in (choice for choice in choices if isinstance(choice, RandomFourier)):
        alone = RandomFourier(missing=auto.missing).fit(table)
        assert_array_equal(cosines.transform(table[:9]), alone.transform(table[:9]))
        assert cosines.n_features_in_ == alone.n_features_in_ and cosines.get_params() == alone.get_params()


def test_what_is_behind_another_map_is_learned_no_further(monkeypatch):
    epochs = []
    train = runs.FoldModel.train
    monkeypatch.setattr(runs.FoldModel, "train", lambda model, n: epochs.append((model.batch.rows.p, n)) or train(model, n))
    PredtronBinaryClassifier(features="auto", random_state=0).fit(X, np.sin(3 * X[:, 0]) > 0)
    learned = {width: sum(n for other, n in epochs if other == width) for width, _ in epochs}
    plain = PredtronBinaryClassifier(random_state=0).fit(X, np.sin(3 * X[:, 0]) > 0)
    last = max(plain.held_out_loss_)
    assert learned.keys() == {4, 202, 516, 1000}
    n_models = default_shape("tables", len(X)).n_models
    assert learned[4] == 5 * last + n_models * 3  # by its own plan, and again to be compared with the maps after three epochs
    assert learned[202] == learned[1000] == n_models * 3 < learned[516]


def test_queries_choose_too():
    _, y, given = FAMILIES["documents"]
    model = PredtronRanker(features="auto", random_state=0).fit(X, y, **given)
    own = PiecewiseLinear(n_knots=12, n_pairs=100, pair_knots=5)
    alone = PredtronRanker(features=own, random_state=0).fit(X, y, **given)
    assert_array_equal(weights_of(model), weights_of(alone))
    plain = PredtronRanker(random_state=0).fit(X, y, **given)
    assert min(model.held_out_loss_.values()) < min(plain.held_out_loss_.values())
    streams = [PredtronRanker(features=features).partial_fit(X, y, **given) for features in ("auto", None)]
    assert_array_equal(*map(weights_of, streams))


def test_costs_and_rejects_go_with_tables(frame):
    amount = RNG.lognormal(0, 1, N)
    costs = {(1, 0): amount, (0, 1): 0.2}
    model = PredtronBinaryClassifier(features="piecewise", random_state=0, reject=0.1).fit(frame, TWO, costs=costs)
    paid = model.sample_loss(frame, TWO, costs=costs)
    assert paid.mean() < 0.5 * min((TWO * amount).mean(), 0.2 * (1 - TWO).mean())
    assert np.allclose(model.predict_proba(frame).sum(axis=1), 1)


def test_shards_learn_under_one_map():
    mixed = ParameterMixing(PredtronBinaryClassifier(features="piecewise", random_state=0)).fit(X, TWO)
    assert mixed.score(X, TWO) > 0.85
    assert mixed.partial_fit(X, TWO).score(X, TWO) > 0.85


def test_classes_may_come_later_and_weights_go():
    model = PredtronClassifier(features="piecewise").partial_fit(X, RANKS, classes=[0, 1, 2])
    model.widen(classes=[3]).partial_fit(X, RANKS + 1)
    assert weights_of(model).shape == (4, model.features_.n_features_out_)
    kept = PredtronBinaryClassifier(features="piecewise", random_state=0).fit(X, TWO)
    predicted = kept.predict(X)
    assert_array_equal(kept.sparsify().predict(X), predicted)
    assert kept.densify().partial_fit(X, TWO).score(X, TWO) > 0.9


def begun(model, n=N):
    return model.partial_fit(X[:n], RANKS[:n], classes=[0, 1, 2])


REFUSED = {
    "CSR rows": (lambda m: m.fit(sparse.csr_matrix(X), TWO), "features= takes dense rows and data frames"),
    "CSR rows of a stream": (lambda m: m.partial_fit(sparse.csr_matrix(X), TWO, classes=[0, 1]), "features= takes dense rows"),
    "kernels": (lambda m: m.set_params(norm="rkhs").fit(X, TWO), "norm='rkhs' does not go with features='piecewise'"),
    "unknown": (
        lambda m: m.set_params(features="tree").fit(X, TWO),
        "features='tree' is not known; accepted are 'piecewise', 'auto', 'f",
    ),
    "a class": (lambda m: m.set_params(features=PiecewiseLinear).fit(X, TWO), "features=PiecewiseLinear is a class"),
    "alias": (lambda m: m.set_params(features__n_knots=3), r"pass features=PiecewiseLinear\(n_knots=3\)"),
    "infinity": (lambda m: m.fit(np.where(X > 2, np.inf, X), TWO), "infinite value"),
    "missing": (
        lambda m: m.set_params(features=PiecewiseLinear(missing=False)).fit(np.where(X > 2, np.nan, X), TWO),
        "missing value",
    ),
    "constants": (lambda m: m.fit(np.ones((20, 2)), TWO[:20]), "X has no column that varies"),
    "lengths": (lambda m: m.fit(X, TWO[:-1]), "X has 900 rows and y has 899"),
    "more columns": (lambda m: begun(m).widen(n_features=7), "n_features=7: features='piecewise' is made of the columns"),
    "classes too early": (lambda m: begun(m, 9).widen(classes=[3]), "once the map is made, of the first 500 rows; there are 9"),
    "gone": (lambda m: begun(begun(m).set_params(features=None)), "features cannot change from"),
    "come": (lambda m: begun(begun(m.set_params(features=None)).set_params(features="fourier")), "features cannot change from"),
    "fewer columns": (lambda m: begun(m).predict(X[:, :3]), "X has 3 features, but PredtronClassifier is expecting 4"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_no_map_takes_is_refused(what):
    call, message = REFUSED[what]
    with pytest.raises(ValueError, match=message):
        call(PredtronClassifier(features="piecewise", random_state=0))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:qid=None")  # the checks give no ids
@pytest.mark.filterwarnings("ignore:Skipping check")  # of array API input, which is for an environment that asks for it
@pytest.mark.parametrize("model", [PredtronClassifier(features="piecewise"), PredtronRanker(features="auto")], ids=str)
def test_checks_of_scikit_learn(model):
    check_estimator(model, expected_failed_checks=expected_failed_checks(model))
