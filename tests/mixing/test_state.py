"""What learners are mixed by: exported, adopted, added up."""

import copy
import pickle
import weakref
from concurrent.futures import ThreadPoolExecutor

import joblib
import numpy as np
import pytest
from inside import reading_of
from mixing_cases import add_all, families, joint, lesson_for, made, mixed_estimators
from scipy import sparse

from sklearn_predtron import PredtronBinaryClassifier, PredtronClassifier, PredtronOrdinalClassifier, PredtronRanker
from sklearn_predtron._core.mixable_state import KINDS, Contribution, Moments, Recent, add, advance, contribution, fields
from sklearn_predtron.mixing import ParameterMixing
from sklearn_predtron.mixing._total import FAN_IN, ContributionSum
from sklearn_predtron.norms import RKHS

CUT = 48


def flat(state):
    """Return the fields of a state by kind and name, as arrays."""
    found = {}
    for kind in KINDS:
        for name, value in state[kind].items():
            values = value._asdict() if isinstance(value, Moments | Recent) else {"": value}
            found |= {(kind, name, part): np.asarray(of_part, dtype=float) for part, of_part in values.items()}
    return found


def assert_same(one, other, rtol):
    """Two states agree, each field to rtol of its largest entry."""
    one, other = flat(one), flat(other)
    assert one.keys() == other.keys()
    for name, value in one.items():
        finite = np.isfinite(value)
        np.testing.assert_array_equal(finite, np.isfinite(other[name]))
        largest = np.abs(value[finite]).max(initial=0)
        np.testing.assert_allclose(value[finite], other[name][finite], rtol=0, atol=rtol * largest + 1e-290, err_msg=str(name))


def scores_of(model, lesson):
    """Return the scores of some rows under the weights that predict and under the last iterate."""
    model._model.close_stream()
    if isinstance(lesson.X, list):
        return np.array([model._model.learner.weights.mean()[0].ravel(), model._model.learner.weights.last()[0].ravel()])
    X = np.asarray(lesson.X[:40].todense() if sparse.issparse(lesson.X) else lesson.X[:40])
    found = []
    for theta, b in (model._model.learner.weights.mean(), model._model.learner.weights.last()):
        found.append(X @ model._model.learner.weights.primal(theta).T + b)
    return np.array(found)


def counts_of(model):
    learner = model._model.learner
    return learner.t, learner.n_updates, learner.n_mistakes, learner.weighted


def assert_adopts(model, lesson, then):
    """A learner that adopts its own state predicts as before, and learns on as it would have."""
    X, y, given = lesson.first(0, CUT)
    model.partial_fit(X, y, **given)
    other = copy.deepcopy(model)
    other._model.learner.adopt(model._model.learner.export(), True)
    before, after = scores_of(model, lesson), scores_of(other, lesson)
    assert np.abs(before - after).max() <= 1e-14 * max(1, np.abs(before).max())
    assert counts_of(model) == counts_of(other)
    assert model.cumulative_loss_ == other.cumulative_loss_
    assert_same(model._model.learner.export(), other._model.learner.export(), 1e-13)
    X, y, given = then.part(CUT, len(then.y))
    for learner in (model, other):
        learner.partial_fit(X, y, **given)
    before, after = scores_of(model, lesson), scores_of(other, lesson)
    assert np.abs(before - after).max() <= 1e-12 * max(1, np.abs(before).max())
    assert counts_of(model) == counts_of(other)
    np.testing.assert_allclose(model.cumulative_loss_, other.cumulative_loss_, rtol=1e-12)


@pytest.mark.filterwarnings("ignore:X is (CSR|dense), and the first rows were")  # as rows of both are learned
@pytest.mark.parametrize("family", families(), ids=lambda family: family.__name__)
def test_a_state_is_the_learner(family):
    """Whatever the parts; for dense rows, for CSR rows, and for the one after the other."""
    lesson = lesson_for(family)
    thin = lesson.laid_out(sparse.csr_matrix)
    ways = [(lesson, lesson), (thin, thin), (lesson, thin), (thin, lesson)]
    found = mixed_estimators(family)
    assert len(found) > 20
    for i, parameters in enumerate(found):
        begins, goes_on = ways[i % 4]
        try:
            assert_adopts(made(family, **parameters), begins, goes_on)
        except AssertionError as error:
            raise AssertionError(f"{family.__name__}(**{parameters}), way {i % 4}: {error}") from None


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("family", families(), ids=lambda family: family.__name__)
def test_an_export_changes_nothing(family, layout):
    """`fit` exports fold models to average them, and trains them further: later updates must be rounded in the same way."""
    lesson = lesson_for(family).laid_out(layout)
    for parameters in mixed_estimators(family):
        X, y, given = lesson.first(0, CUT)
        learner = made(family, **parameters).partial_fit(X, y, **given)._model.learner
        before = pickle.dumps(learner)
        first, second = flat(learner.export()), flat(learner.export())
        assert pickle.dumps(learner) == before, parameters
        assert all(np.array_equal(first[name], second[name]) for name in first), parameters


def test_a_state_of_joint_features():
    model, lesson = joint()
    assert_adopts(model, lesson, lesson)


def learned(model, lesson, *parts):
    """Return what shards of some rows contribute, each from the state after the first rows, and that state."""
    X, y, given = lesson.first(0, 16)
    model.partial_fit(X, y, **given)
    before = model._model.learner.export()
    found = []
    for first, last in parts:
        shard = copy.deepcopy(model)
        shard._model.learner.adopt(before, False)
        if first < last:
            X, y, given = lesson.part(first, last)
            shard.partial_fit(X, y, **given)
        found.append(contribution(before, shard._model.learner.export()))
    return before, found


def of_tree(contributions):
    """Return the sum by the tree, of new arrays."""
    while len(contributions) > 1:
        contributions = [add(*contributions[i : i + FAN_IN]) for i in range(0, len(contributions), FAN_IN)]
    return contributions[0]


@pytest.mark.parametrize("n", [1, 2, 7, 8, 9, 16, 63, 64, 65, 130])
def test_a_total_depends_on_no_order_of_arrival(n):
    """To the last bit, it is the sum by the tree in which a cluster adds up."""
    random = np.random.default_rng(n)
    states = [fields(mean={"theta": random.standard_normal(3)}, gain={"clock.rounds": 1}) for _ in range(n)]
    states[n // 2] = fields()
    found = [Contribution(1, random.random(), state, (i,)) for i, state in enumerate(states)]
    expected, total = of_tree(found), ContributionSum()
    for i in random.permutation(n):
        total.put(int(i), copy.deepcopy(found[i]))
    assert joblib.hash(total.finish()) == joblib.hash(expected)
    assert not total.waiting

    def bring(i):
        total.put(i, copy.deepcopy(found[i]))

    total = ContributionSum()
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(bring, range(n)))
    assert joblib.hash(total.finish()) == joblib.hash(expected)


def test_few_contributions_are_there_at_a_time():
    total, alive = ContributionSum(), []
    for i in range(100):
        found = Contribution(1, 0.0, fields(mean={"theta": np.ones(3)}))
        alive.append(weakref.ref(found.state["mean"]["theta"]))
        total.put(i, found)
        del found
        assert sum(one() is not None for one in alive) <= 3
    assert total.finish().state["mean"]["theta"].tolist() == [100.0] * 3


PARTS = [(16, 56), (56, 60), (60, 60), (60, 120)]


@pytest.mark.parametrize("family", families(), ids=lambda family: family.__name__)
def test_contributions_are_a_commutative_monoid(family):
    lesson = lesson_for(family)
    for parameters in mixed_estimators(family)[::4]:
        model = made(family, **parameters)
        before, (a, b, none, c) = learned(model, lesson, *PARTS)
        assert none.rounds == none.loss == 0
        for one, other in [
            (add(a, b), add(b, a)),
            (add(add(a, b), c), add(a, add(b, c))),
            (add(a, none), a),
            (add(none, a), a),
            (add_all([a, b, none, c]), add(c, b, a)),
        ]:
            assert one.rounds == other.rounds
            np.testing.assert_allclose(one.loss, other.loss, rtol=1e-12)
            assert_same(one.state, other.state, 1e-12)
        assert_same(advance(before, none), before, 0)


def unobserved(state):
    """Return a state without what an observer saw, to whom a shard shows an average of its own rounds."""
    return {kind: {name: value for name, value in state[kind].items() if not name.startswith("observer")} for kind in KINDS}


@pytest.mark.parametrize("family", families(), ids=lambda family: family.__name__)
def test_of_one_shard_the_mixture_is_the_learner(family):
    """What one shard learns is what the state advances to; its sums are those of before and its own."""
    lesson = lesson_for(family)
    for parameters in mixed_estimators(family)[1::4]:
        model = made(family, **parameters)
        before, (one,) = learned(model, lesson, (16, 120))
        mixed = copy.deepcopy(model)
        mixed._model.learner.adopt(advance(before, one), True)
        X, y, given = lesson.part(16, 120)
        model.partial_fit(X, y, **given)
        alone, together = unobserved(model._model.learner.export()), unobserved(mixed._model.learner.export())
        assert_same(alone, together, 1e-11)
        assert counts_of(model) == counts_of(mixed)


def pooled(X, order, layout):
    """Return the statistics that `scaled` has of rows of constant length, so that none is clipped."""
    model = PredtronClassifier(norm="scaled").partial_fit(layout(X[order]), np.zeros(len(order)), classes=[0, 1])
    state = model._model.learner.export()
    (name,) = state["moments"]
    return state["moments"][name]


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_matrix])
def test_moments_are_those_of_the_pooled_rows(layout):
    random = np.random.default_rng(0)
    X = random.uniform(-1, 1, (80, 6)) + [0, 5, 100, 0, 0, 0]
    X[:, 3] = 3  # constant
    X[:40, 4] = 0  # not seen in the first shards
    X[:, 5] = 0  # not seen at all
    parts = [np.arange(first, first + 10) for first in range(0, 80, 10)]
    found = [pooled(X, part, layout) for part in parts]
    together = found[0]
    for other in found[1:]:
        together = together.with_rows(other)
    alone = pooled(X, np.arange(80), layout)
    assert together.rows == alone.rows == 80
    np.testing.assert_allclose(together.mean, alone.mean, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(together.mean, X.mean(axis=0), rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(together.squares, alone.squares, rtol=1e-12, atol=1e-11)
    np.testing.assert_allclose(together.squares, ((X - X.mean(axis=0)) ** 2).sum(axis=0), rtol=1e-12, atol=1e-11)
    np.testing.assert_array_equal(together.counted, alone.counted)
    rest = together.without(found[0])
    np.testing.assert_allclose(rest.mean, X[10:].mean(axis=0), rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(rest.squares, ((X[10:] - X[10:].mean(axis=0)) ** 2).sum(axis=0), rtol=1e-10, atol=1e-10)
    assert (rest.squares >= 0).all()


def test_moments_of_no_rows():
    nothing = Moments(0, np.zeros(2), np.zeros(2), np.zeros(2))
    some = Moments(3, np.array([1.0, 2.0]), np.array([2.0, 0.0]), np.array([3.0, 3.0]))
    for found in (nothing.with_rows(some), some.with_rows(nothing), some.without(nothing)):
        assert found is some
    for found in (some.without(some), nothing.without(nothing), nothing.with_rows(nothing)):
        assert found.rows == 0
        assert not any(np.any(values) for values in found[1:])


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_matrix])
def test_shards_of_one_row_take_steps_under_scaled(layout):
    """A row is its own mean: that there are others is known once statistics are pooled."""
    X, y = np.random.default_rng(0).standard_normal((20, 3)) + 5, np.arange(20) % 2
    X[:, 0] += 10 * y
    mixed = ParameterMixing(PredtronBinaryClassifier(norm="scaled"), shards=20, random_state=0).fit(layout(X), y)
    assert mixed.n_shards_ == 20
    assert mixed.score(layout(X), y) == 1


def test_frozen_rounds_of_a_scaled_direction_take_steps():
    """Whether a step may be taken is found anew of what is adopted: no row of later rounds enters the statistics."""
    lesson = lesson_for(PredtronOrdinalClassifier)
    model = PredtronOrdinalClassifier(norm="scaled", representation="shared", average="linear")
    X, y, given = lesson.first(0, CUT)
    model.partial_fit(X, y, **given)
    state = model._model.learner.export()
    blank = PredtronOrdinalClassifier(norm="scaled", representation="shared", average="linear")
    X, y, given = lesson.first(0, 4)
    blank.partial_fit(X, y, **given)
    learner = blank._model.learner
    learner.adopt(state, False)
    batch = reading_of(model, *lesson.part(CUT, 120)[:2]).batch
    assert learner.learn(batch.rows, batch.labels, fresh=False) == -1
    assert learner.t == 120
    assert learner.n_updates > 0
    (moments,) = learner.export()["moments"].values()
    assert moments.rows == CUT


def test_what_cannot_be_mixed_says_so():
    for norm in ("rkhs", RKHS(budget=10)):
        model = PredtronClassifier(norm=norm).partial_fit([[1.0], [2.0]], [0, 1], classes=[0, 1])
        with pytest.raises(ValueError, match="norm='rkhs' cannot be mixed: its support grows with every shard"):
            model._model.learner.export()
        with pytest.raises(ValueError, match="norm='rkhs' cannot be mixed"):
            model._model.learner.weights.adopt({}, True)
    for wrong in (PredtronRanker(), PredtronClassifier(norm="l1"), PredtronOrdinalClassifier(representation="shared")):
        lesson = lesson_for(type(wrong))
        X, y, given = lesson.first(0, CUT)
        wide = copy.deepcopy(wrong).partial_fit(np.column_stack([X, X]), y, **given)
        wrong.partial_fit(X, y, **given)
        before = scores_of(wrong, lesson)
        with pytest.raises(ValueError, match=r"weights of shape.* are not those of [0-9]* scores and 7 features"):
            wrong._model.learner.adopt(wide._model.learner.export(), True)
        np.testing.assert_array_equal(scores_of(wrong, lesson), before)


@pytest.mark.parametrize(("norm", "down", "up"), [("l2", 8, 16), ("l1", 8, 16), ("trace", 8, 16), ("scaled", 8, 16)])
def test_what_a_round_sends(norm, down, up):
    """Weights to a shard; weights and the sum of its iterates back; once, the statistics of the features.

    For probabilities also the scores of the last rows, in double precision.
    """
    p, k = 300, 10
    X, y = np.random.default_rng(0).standard_normal((50, p)), np.arange(50) % k
    model = PredtronClassifier(norm=norm, average="linear").partial_fit(X, y, classes=range(k))
    assert size_of(model._model.learner.observer.export()) <= len(y) * (8 * k + 3 * 8)
    model = PredtronClassifier(norm=norm, average="linear", decision="learned").partial_fit(X, y, classes=range(k))
    before = model._model.learner.export()
    after = model.partial_fit(X, y)._model.learner.export()
    sent = {"down": size_of({**before, "sum": {}}), "up": size_of(contribution(before, after).state)}
    statistics = 24 * p if norm == "scaled" else 0
    offsets = 100 * k
    assert down * p * k + statistics <= sent["down"] <= down * p * k + statistics + offsets
    assert up * p * k + statistics <= sent["up"] <= up * p * k + statistics + offsets


def size_of(value):
    """Return the bytes of all arrays in a state."""
    if isinstance(value, np.ndarray):
        return value.nbytes
    values = value.values() if isinstance(value, dict) else value if isinstance(value, tuple) else ()
    return sum(map(size_of, values))
