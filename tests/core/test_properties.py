"""What every part has to satisfy, by discovery: the lemmas, the gradient, ties, pickling, parameters."""

import copy
import inspect
import pickle

import numpy as np
import pytest
from cases import cost_table, data, kinds_of_updates, losses, name, representations, state, updates
from given_scores import ProblemOfScores, unit_rows, weights_with_scores
from reference.sets import FORMULAS
from scipy import sparse
from sklearn.base import clone

from sklearn_predtron import Predtron, PredtronBinaryClassifier, PredtronClassifier
from sklearn_predtron._core.averages import Average
from sklearn_predtron._core.learner import Learner
from sklearn_predtron._core.problem import Codes
from sklearn_predtron._support.parts import kinds, resolve
from sklearn_predtron.losses import CostMatrix, CostTableLoss, ZeroOne
from sklearn_predtron.norms import Norm
from sklearn_predtron.representations import Code, CodeRepresentation, OneHot, Sign, Simplex
from sklearn_predtron.updates import PassiveAggressive, Update
from sklearn_predtron.updates import _rules as core

# Every representation with every loss, of 3 and 6 predictions in turn; of 2 with half of the losses.
PROBLEMS = [(2, rep, loss) for i, rep in enumerate(representations(2)) for loss in losses(2)[i % 2 :: 2]]
PROBLEMS += [
    (k := (3, 6)[(i + j) % 2], representations(k)[i], losses(k)[j])
    for i in range(len(representations(6)))
    for j in range(len(losses(6)))
]
each_problem = pytest.mark.parametrize(
    ("k", "representation", "loss"), PROBLEMS, ids=[f"{k}-{name(rep)[:12]}-{type(loss).__name__}" for k, rep, loss in PROBLEMS]
)
each_kind = pytest.mark.parametrize("base", [Update, CostTableLoss, CodeRepresentation, Norm], ids=lambda base: base.__name__)


def one_round(table, t, label, update):
    """One compiled round on the input x = (1) at scores t: its loss and the change of the scores."""
    if table.score_map.offsets_apart:  # what the problem answers does not depend on where scores come from
        table = type(table)(table.k, table.cost_matrix)
    t = np.array([t], dtype=float)
    weights = weights_with_scores(t)
    learner = Learner(weights, table, update, Average())
    learner.learn(unit_rows(1), Codes(np.array([label], dtype=np.intp)))
    return learner.cumulative_loss, (weights.last()[0].T - t)[0]


def surrogate(table, t, label):
    """The compiled phi(t, y), its gradient and the loss, each from the rounds that use them."""
    loss, change = one_round(table, t, label, core.SubgradientRule(1e-200, 1.0))
    _, passive = one_round(table, t, label, core.PassiveAggressiveRule(np.inf, 0, False, False, 1.0))
    return np.linalg.norm(passive) * np.linalg.norm(change), -change, loss


def brute_surrogate(code, cost, t, label):
    score = code @ t
    return (score + cost[label]).max() - score[label]


def draws(d, n=40, seed=1):
    """Scores of all sizes."""
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, d)) * 10 ** rng.uniform(-2, 2, (n, 1))


# ------------------------------------------------------------------------------------------------------- lemmas of phi


@each_problem
def test_surrogate_bounds_the_loss(k, representation, loss):
    """phi >= L and phi >= 0 (Lemma 9), and phi is what its definition says."""
    code, cost = representation.code(k), cost_table(loss, k)
    table = loss.build(representation, np.arange(k))
    for i, t in enumerate(draws(code.shape[1])):
        label = i % k
        phi, _, suffered = surrogate(table, t, label)
        tolerance = 1e-9 * (1 + np.abs(t).max())
        assert phi >= suffered - tolerance
        assert suffered == cost[label, (code @ t).argmax()]
        np.testing.assert_allclose(phi, brute_surrogate(code, cost, t, label), atol=tolerance)


@each_problem
def test_direction_is_the_gradient(k, representation, loss):
    code, cost = representation.code(k), cost_table(loss, k)
    table = loss.build(representation, np.arange(k))
    for i, t in enumerate(draws(code.shape[1], seed=2)):
        label, step = i % k, 1e-7
        _, gradient, _ = surrogate(table, t, label)
        moved = step * np.eye(len(t))
        slope = [
            (brute_surrogate(code, cost, t + e, label) - brute_surrogate(code, cost, t - e, label)) / (2 * step) for e in moved
        ]
        np.testing.assert_allclose(gradient, slope, atol=1e-5)


@each_problem
def test_D2_is_the_largest_distance(k, representation, loss):
    """Over all pairs of predictions."""
    code = representation.code(k)
    expected = max(((a - b) ** 2).sum() for a in code for b in code)
    assert pytest.approx(expected, rel=1e-12) == loss.build(representation, np.arange(k)).D2


@each_problem
def test_self_bounding_on_mistakes(k, representation, loss):
    """|grad phi|^2 <= 4 L / c_L wherever Algorithm 1 steps (Lemma 10), and no step without loss."""
    cost = cost_table(loss, k)
    table = loss.build(representation, np.arange(k))
    assert (table.c_L, table.C_L) == (cost[cost > 0].min(), cost.max())
    steps = 0
    for i, t in enumerate(draws(table.d, seed=3)):
        suffered, change = one_round(table, t, i % k, core.LossAugmentedRule(1.0))
        assert change @ change <= table.D2 * suffered / table.c_L + 1e-9 * (1 + np.abs(t).max())
        steps += suffered > 0
    assert 0 < steps < 40


@each_problem
def test_zero_at_margin_C_L(k, representation, loss):
    """A margin of C_L makes phi vanish (Lemma 11); below the largest cost of the label it does not."""
    code, cost = representation.code(k), cost_table(loss, k)
    table = loss.build(representation, np.arange(k))
    for t in draws(table.d, seed=4):
        score = code @ t
        label = int(score.argmax())
        margin = score[label] - np.delete(score, label).max()
        _, gradient, _ = surrogate(table, t * table.C_L / margin * (1 + 1e-9), label)
        assert not gradient.any()
        hinge = (score - score[label]) / margin
        least = cost[label].max() / -hinge[cost[label].argmax()]
        phi, gradient, suffered = surrogate(table, t / margin * least * 0.99, label)
        assert phi > 0
        assert gradient.any()
        assert suffered == 0


@each_problem
def test_surrogate_of_the_loss_driven_update(k, representation, loss):
    """max(0, 1 + the lead of the best prediction that costs): at least 1 where any is lost, 0 at a margin of 1 (Lemmas 12, 13).

    The step is L times its gradient.
    """
    code, cost = representation.code(k), cost_table(loss, k)
    table = loss.build(representation, np.arange(k))
    lost = 0
    for i, t in enumerate(draws(table.d, seed=5)):
        label = i % k
        lead = np.where(cost[label] > 0, code @ t, -np.inf) - (code @ t)[label]
        suffered, change = one_round(table, t, label, core.LossDrivenRule(1.0))
        lost += suffered > 0
        if suffered > 0:
            assert max(0, 1 + lead.max()) >= 1
            np.testing.assert_allclose(change, -suffered * (code[lead.argmax()] - code[label]), atol=1e-9 * (1 + np.abs(t).max()))
        elif lead.max() < 0:  # else another prediction that costs nothing is ahead of all
            assert max(0, 1 + lead.max() / -lead.max()) == 0
            assert one_round(table, t / -lead.max(), label, core.LossDrivenRule(1.0))[0] == 0
    assert 0 < lost < 40


# --------------------------------------------------------------------------------------------------- codes and decoders


@pytest.mark.parametrize("k", [2, 3, 4, 10, 31])
def test_codes_are_unit_vectors_that_decode_to_themselves(k):
    for representation in representations(k):
        code = representation.code(k)
        table = representation.compiled(k, None)
        np.testing.assert_allclose(np.linalg.norm(code, axis=1), 1, rtol=1e-12)
        np.testing.assert_allclose(table.decision(np.eye(table.d)).T, code, rtol=1e-15)
        assert (table.k, table.d) == code.shape
        np.testing.assert_array_equal(table.decision(np.ascontiguousarray(code)).argmax(axis=1), np.arange(k))


@pytest.mark.parametrize("k", [2, 3, 5, 12])
def test_simplex_geometry(k):
    code = Simplex().code(k)
    assert code.shape == (k, k - 1)
    np.testing.assert_allclose(code @ code.T, np.where(np.eye(k) > 0, 1, -1 / (k - 1)), atol=1e-12)
    np.testing.assert_allclose(code.sum(axis=0), 0, atol=1e-12)


@pytest.mark.always
@each_problem
def test_table_helpers(k, representation, loss):
    """decision and margins against their definitions."""
    code, cost = representation.code(k), cost_table(loss, k)
    table = loss.build(representation, np.arange(k))
    scores = draws(table.d, seed=5)
    decision = scores @ code.T
    label = np.arange(len(scores), dtype=np.intp) % k
    np.testing.assert_allclose(table.decision(scores), decision, rtol=1e-12)
    margins = [row[y] - row[(cost[y] > 0) | (row > row[y])].max() for row, y in zip(decision, label, strict=True)]
    np.testing.assert_allclose(table.margins(scores, Codes(label)), margins, rtol=1e-9, atol=1e-12)


def test_code_matrix_is_normalised_with_a_warning():
    with pytest.warns(UserWarning, match="brought to length 1"):
        code = Code([[3.0, 4.0], [0.0, -2.0]]).code(2)
    np.testing.assert_allclose(code, [[0.6, 0.8], [0, -1]])


# -------------------------------------------------------------------------------------------------------------------- ties


@each_problem
def test_all_predictions_tie_at_zero(k, representation, loss):
    """At t = 0 the worst maximiser counts; the competitor is the first with the largest loss, the prediction the first."""
    code, cost = representation.code(k), cost_table(loss, k)
    table = loss.build(representation, np.arange(k))
    assert table.decision(np.zeros((1, table.d))).argmax(axis=1)[0] == 0
    for label in range(k):
        for update in (core.PerceptronRule(1.0), core.LossAugmentedRule(1.0)):
            suffered, change = one_round(table, np.zeros(table.d), label, update)
            assert suffered == cost[label].max()
            np.testing.assert_array_equal(change, code[label] - code[cost[label].argmax()])


@pytest.mark.parametrize("loss", [ZeroOne(), CostMatrix([[0, 2.0, 2, 1], [1, 0, 3, 3], [5, 1, 0, 1], [0, 1, 4, 0]])], ids=name)
@pytest.mark.parametrize("representation", [OneHot(), Code(np.eye(4))], ids=name)
def test_exact_ties_of_the_best(representation, loss):
    cost = cost_table(loss, 4)
    table = loss.build(representation, np.arange(4))
    tied = [(0, 1), (1, 2), (0, 3), (1, 2, 3), (0, 2, 3)]
    for best in tied:
        t = np.full(4, -1.0)
        t[list(best)] = 0.5
        assert table.decision(t[None]).argmax(axis=1)[0] == best[0]
        for label in range(4):
            losing = [cost[label, sigma] for sigma in best]
            competitor = best[int(np.argmax(losing))]
            suffered, change = one_round(table, t, label, core.PerceptronRule(1.0))
            assert suffered == max(losing)
            np.testing.assert_array_equal(change, (np.eye(4)[label] - np.eye(4)[competitor]) * (suffered > 0))


def test_sign_of_zero_loses_for_both_labels():
    for label in (0, 1):
        suffered, change = one_round(Sign().compiled(2, None), [0.0], label, core.PerceptronRule(1.0))
        assert suffered == 1
        assert change[0] == 2 * (2 * label - 1)


# ----------------------------------------------------------------------------------------------------- pickles and clones


def all_parts():
    return (
        updates() + representations(4) + [Sign()] + losses(4) + [loss for loss, _ in FORMULAS] + [kind() for kind in kinds(Norm)]
    )


def equal(a, b):
    if isinstance(a, np.ndarray):
        return np.array_equal(a, b)
    return a == b


@pytest.mark.parametrize("part", all_parts(), ids=name)
def test_parts_keep_their_parameters(part):
    given = part.get_params()
    assert set(given) == set(inspect.signature(type(part).__init__).parameters) - {"self", "args", "kwargs"}
    for twin in (pickle.loads(pickle.dumps(part)), copy.deepcopy(part), clone(part), type(part)(**given)):
        assert type(twin) is type(part)
        assert twin is not part
        assert all(equal(value, given[key]) for key, value in twin.get_params().items())
    assert part.set_params(**given) is part


@each_problem
def test_problems_go_on_from_a_pickle(k, representation, loss):
    table = loss.build(representation, np.arange(k))
    twin = pickle.loads(pickle.dumps(table))
    assert (type(twin), twin.k, twin.d, twin.c_L, twin.C_L) == (type(table), table.k, table.d, table.c_L, table.C_L)
    for i, t in enumerate(draws(table.d, n=5)):
        for update in (core.PerceptronRule(1.0), core.LossAugmentedRule(1.0)):
            first, second = one_round(table, t, i % k, update), one_round(twin, t, i % k, update)
            assert first[0] == second[0]
            np.testing.assert_array_equal(first[1], second[1])


def test_pickle_of_a_learner_long_after_its_scales_left_one():
    X, y = data(n=60, k=3)
    model = PredtronClassifier(update=resolve(Update, "subgradient", "update").set_params(alpha=0.4, eta=1.0), average=3.0)
    for _ in range(10):
        model.partial_fit(X, y, classes=[0, 1, 2])
    twin = pickle.loads(pickle.dumps(model))
    assert state(twin) == state(model)
    assert state(twin.partial_fit(X, y)) == state(model.partial_fit(X, y))


@pytest.mark.parametrize("estimator", [PredtronClassifier, PredtronBinaryClassifier, Predtron], ids=lambda e: e.__name__)
def test_parameters_of_parts_are_reached_through_the_estimator(estimator):
    arguments = {"problem": ProblemOfScores(2)} if estimator is Predtron else {}
    model = estimator(**arguments, update=PassiveAggressive(C=0.1))
    assert model.get_params()["update__C"] == 0.1
    assert model.set_params(update__C=0.3).update.C == 0.3
    if estimator is not Predtron:
        assert clone(model).update is not model.update


# ------------------------------------------------------------------------------------------------------------------ aliases


@each_kind
def test_aliases_are_distinct_and_resolve_to_their_kind(base):
    found = kinds(base)
    assert len({kind.alias for kind in found}) == len(found) > 0
    for kind in found:
        assert type(resolve(base, kind.alias, "parameter")) is kind
        instance = kind()
        assert resolve(base, instance, "parameter") is instance


@pytest.mark.parametrize(
    ("parameter", "base"), [("update", Update), ("norm", Norm), ("loss", CostTableLoss), ("representation", CodeRepresentation)]
)
def test_unknown_aliases_name_what_is_accepted(parameter, base):
    X, y = data(n=20, k=3)
    model = PredtronClassifier(**{parameter: "nope"})
    with pytest.raises(ValueError, match=f"{parameter}='nope' is not known") as caught:
        model.fit(X, y)
    assert not hasattr(model, "coef_")
    for alias in (kind.alias for kind in kinds(base)):
        if repr(alias) in str(caught.value):
            assert model.set_params(**{parameter: alias}).fit(X, y).t_ > 0
        else:
            with pytest.raises(ValueError, match=parameter):
                PredtronClassifier(**{parameter: alias}).fit(X, y)
    assert base.__name__ in str(caught.value)


@pytest.mark.parametrize("alias", [kind.alias for kind in kinds_of_updates()])
def test_alias_and_default_instance_are_the_same(alias):
    X, y = data(n=40, k=3)
    models = [
        PredtronClassifier(update=update).partial_fit(X, y, classes=[0, 1, 2]) for update in (alias, resolve(Update, alias, ""))
    ]
    assert state(models[0]) == state(models[1])


# -------------------------------------------------------------------------------------------------------- scale of the data


@pytest.mark.parametrize("scale", [2.0**-30, 0.25, 2.0, 2.0**30, 0.01, 100.0])
@pytest.mark.parametrize("loss", [ZeroOne(), CostMatrix(np.array([[0, 1.0, 4], [2, 0, 1], [1, 3, 0]]))], ids=name)
def test_adaptive_predictions_do_not_depend_on_the_scale_of_the_inputs(loss, scale):
    X, y = data(n=300, k=3)
    for rows in (X, sparse.csr_matrix(X)):
        model, scaled = (PredtronClassifier(loss=loss, random_state=0, max_iter=3) for _ in range(2))
        model.fit(rows, y)
        scaled.fit(rows * scale, y)
        assert np.array_equal(scaled.predict(rows * scale), model.predict(rows))
        assert (scaled.n_mistakes_, scaled.n_updates_) == (model.n_mistakes_, model.n_updates_)
        np.testing.assert_allclose(scaled.decision_function(rows * scale), model.decision_function(rows), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("scale", [2.0**-30, 0.25, 2.0**30])
@pytest.mark.parametrize(
    "update", [PassiveAggressive(), *(resolve(Update, a, "") for a in ("perceptron", "loss_driven"))], ids=name
)
def test_powers_of_two_change_no_bit_where_no_logarithm_is_taken(update, scale):
    X, y = data(n=100, k=3)
    how = {"norm": "l2", "update": update, "fit_intercept": False}
    models = [PredtronClassifier(**how).partial_fit(rows, y, [0, 1, 2]) for rows in (X, X * scale)]
    power = 1 if isinstance(update, PassiveAggressive) else 1 / scale**2
    assert np.array_equal(models[0].decision_function(X), models[1].decision_function(X * scale) * power)
    assert models[0].n_updates_ == models[1].n_updates_


@pytest.mark.parametrize("scale", [0.001, 8.0])
def test_adaptive_predictions_do_not_depend_on_the_scale_of_the_loss(scale):
    X, y = data(n=200, k=3)
    cost = np.array([[0, 1.0, 4], [2, 0, 1], [1, 3, 0]])
    how = {"decision": "learned", "random_state": 0, "max_iter": 3}
    models = [PredtronClassifier(loss=costs, **how).fit(X, y) for costs in (cost, cost * scale)]
    assert np.array_equal(models[0].predict(X), models[1].predict(X))
    np.testing.assert_allclose(models[1].coef_, models[0].coef_ * scale, rtol=1e-6, atol=1e-8 * scale)


@pytest.mark.parametrize("scale", [0.001, 8.0])
def test_what_costs_least_in_expectation_does_not_depend_on_the_scale_of_the_loss(scale):
    X, y = data(n=200, k=3)
    cost = np.array([[0, 1.0, 4], [2, 0, 1], [1, 3, 0]])
    models = [PredtronClassifier(loss=costs, random_state=0, max_iter=3).fit(X, y) for costs in (cost, cost * scale)]
    assert state(models[0]) == state(models[1])
    assert np.array_equal(models[0].predict(X), models[1].predict(X))
    np.testing.assert_allclose(models[1].sample_loss(X, y), models[0].sample_loss(X, y) * scale, rtol=1e-12)
