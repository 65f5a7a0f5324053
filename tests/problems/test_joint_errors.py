"""What a problem of joint features returns is checked in each round, and a call that fails leaves the last complete one."""

import numpy as np
import pytest
from cases import Multiclass, state, updates
from joint_cases import Tables, tables
from numpy.testing import assert_array_equal
from scipy import sparse

from sklearn_predtron import Predtron, Problem
from sklearn_predtron.estimator_checks import check_problem
from sklearn_predtron.inspection import MarginDisplay
from sklearn_predtron.theory import largest_margin, loss_constants, margin, radius
from sklearn_predtron.updates import LossAugmented, PerceptronUpdate
from tests.problems.test_answers_in_python import METHODS, OF_JOINT_FEATURES, SabotagedTables


def test_answers_of_any_form():
    X, y = tables()
    expected = Predtron(Tables(4), random_state=0).fit(X, y).coef_
    forms = [list, tuple, lambda v: v.astype(">f8"), lambda v: np.repeat(v, 2)[::2], lambda v: v.astype(np.float32)]
    kinds = [sparse.csr_matrix, sparse.csr_array, sparse.csc_matrix, sparse.coo_array, sparse.lil_matrix]
    forms += [lambda v, kind=kind: kind(v[None]) for kind in kinds]
    forms.append(
        lambda v: sparse.csr_matrix((np.tile(v / 2, 2), np.tile(np.arange(9), 2)[::-1], [0, 18])[:3], shape=(1, 9))[:, ::-1]
    )
    for form in forms:
        problem = SabotagedTables("features", lambda features, x, s, form=form: form(features(x, s)))
        np.testing.assert_allclose(Predtron(problem, random_state=0).fit(X, y).coef_, expected, rtol=1e-12, atol=1e-14)
    mixed = SabotagedTables(
        "features", lambda features, x, s: sparse.csr_matrix(features(x, s)[None]) if s % 2 else features(x, s)
    )
    np.testing.assert_allclose(Predtron(mixed, random_state=0).fit(X, y).coef_, expected, rtol=1e-12, atol=1e-14)
    buffer = np.empty(9)

    def in_one_place(features, x, prediction):
        buffer[:] = features(x, prediction)
        return buffer

    assert_array_equal(Predtron(SabotagedTables("features", in_one_place), random_state=0).fit(X, y).coef_, expected)


def test_features_that_are_the_same_for_two_predictions():
    """Nothing can be learned, and nothing breaks."""

    class Blind(Tables):
        def features(self, x, prediction):
            return x[0]

        def decode(self, w, x):
            return 0

        def augmented_decode(self, w, x, y):
            return (y + 1) % 4

    X, y = tables()
    for update in updates():
        model = Predtron(Blind(4), update=update, max_iter=2).fit(X, y)
        assert not model.coef_.any()
        assert model.n_mistakes_ > 0


# --------------------------------------------------------------------------------------------------------------- bad input


def refused(model, X, y, message):
    before = set(vars(model))
    for call in (model.fit, model.partial_fit):
        with pytest.raises(ValueError, match=message):
            call(X, y)
        assert set(vars(model)) - {"_call_lock"} == before - {"_call_lock"}


X, Y = tables()
NO_SEQUENCE = "^X is .*; accepted for a problem of joint features are sequences of objects"
NO_NUMBER = r"^Bad\.n_features is .*; accepted are integers from 1 to 100000000"
REFUSED = [  # problem, parameters, inputs, labels, and message
    *(
        (Tables, {}, inputs, [0, 1, 2], NO_SEQUENCE)
        for inputs in ["abc", b"abc", {1: 2}, {1, 2}, None, 3.0, np.array(1.0), iter([1])]
    ),
    (Tables, {}, [], [], "X is empty; accepted are sequences of at least one object"),
    (Tables, {}, X, Y[:-1], "X has 40 rows and y has 39"),
    (Tables, {}, X, None, "requires y to be passed"),
    *(
        (Tables, {"norm": norm}, X, Y, f"norm='{norm}' does not go with a problem of joint features; accepted is 'l2'")
        for norm in ["l1", "group", "trace", "scaled", "rkhs"]
    ),
    *((type("Bad", (Tables,), {"n_features": n}), {}, X, Y, NO_NUMBER) for n in [0, -1, 2.0, None, "2", True, 10**12]),
    (Tables, {"update": "slam"}, X, Y, "update='slam'"),
    (Tables, {"features": "piecewise"}, X, Y, "features='piecewise' does not go with a JointProblem"),
]


@pytest.mark.always
@pytest.mark.parametrize("number", range(len(REFUSED)), ids=lambda i: f"{i}-{REFUSED[i][-1][:30]}")
def test_what_is_refused(number):
    kind, parameters, inputs, labels, message = REFUSED[number]
    refused(Predtron(kind(4), **parameters), inputs, labels, message)
    if message == NO_SEQUENCE:
        with pytest.raises(ValueError, match=message):
            Predtron(Tables(4)).fit(X, Y).predict(inputs)


def test_measures_refuse_inputs_that_are_empty_or_of_another_number():
    model = Predtron(Tables(4)).fit(X, Y)
    for call, message in [
        (lambda: model.score(X, Y[:-1]), "X has 40 rows and y has 39"),
        (lambda: model.predict([]), "X is empty"),
        (lambda: model.fit(X, Y, sample_weight=np.ones(39)), "sample_weight"),
    ]:
        with pytest.raises(ValueError, match=message):
            call()


def test_problems_of_another_base():
    """What has the methods is a problem; a JointProblem is one whatever else it has."""
    X, y = tables()
    expected = Predtron(Tables(4), random_state=0).fit(X, y).coef_
    methods = {name: getattr(Tables(4), name) for name in METHODS["joint"]}
    plain = type("Plain", (), {**methods, "n_features": 9})()
    assert_array_equal(Predtron(plain, random_state=0).fit(X, y).coef_, expected)
    more = type("More", (Tables,), {"representation": "text"})(4)
    assert_array_equal(Predtron(more, random_state=0).fit(X, y).coef_, expected)
    with pytest.raises(ValueError, match="The 'problem' parameter of Predtron must be an object implementing 'decode'"):
        Predtron(object()).fit(X, y)


def test_problems_that_change():
    """Weights of one number of features, or of scores, are no weights of others."""

    class Scored(Problem):
        n_scores = 9

    X, y = tables()
    wide = type("Wide", (Tables,), {"n_features": 10})(4)
    model = Predtron(Tables(4), warm_start=True).fit(X, y)
    before = state(model)
    for problem, says in [(wide, "10 joint features"), (Scored(), "scores of the rows of X")]:
        model.set_params(problem=problem)
        for call in (model.fit, model.partial_fit):
            with pytest.raises(ValueError, match=f"problem=.* has {says} and the weights so far are of 9 joint features; call"):
                call(X, y)
        assert state(model) == before
    scored = Predtron(Multiclass()).fit(np.eye(2), [0, 1])
    with pytest.raises(ValueError, match="has 9 joint features and the weights so far are of scores of the rows of X"):
        scored.set_params(problem=Tables(4)).partial_fit(X, y)


def test_numbers_of_scores_that_change():
    model = Predtron(Multiclass()).fit(np.eye(2), [0, 1])
    more = type("More", (Multiclass,), {})(3)
    with pytest.raises(ValueError, match=r"problem=More\(k=3\) has 3 scores and the weights so far have 2 scores; call fit"):
        model.set_params(problem=more).partial_fit(np.eye(2), [0, 1])


def test_what_there_is_not():
    X, y = tables()
    model = Predtron(Tables(4), update=LossAugmented(eta=0.1)).fit(X, y)
    assert not hasattr(model, "decision_function")
    assert not model.__sklearn_tags__().input_tags.two_d_array
    w = np.arange(9.0)
    for ask in [
        lambda: margin(model, X, y, w),
        lambda: radius(model, X),
        lambda: largest_margin(model, X, y),
        lambda: model.loss_bound(comparator=w, X=X, y=y),
    ]:
        with pytest.raises(ValueError, match="has joint features: margins over all predictions and lengths of rows are not"):
            ask()
    with pytest.raises(ValueError, match="has no margins"):
        MarginDisplay.from_estimator(model, X, y)
    with pytest.raises(AttributeError, match="n_features_in_ is the number of columns of X, and with joint features X has none"):
        model.n_features_in_  # noqa: B018
    assert loss_constants(Tables(4)) == (1.0, 1.0)


def test_bounds_by_a_comparator():
    """Hinges of given weights bound the loss of a fixed step on any data; other updates say what they lack."""
    X, y = tables()
    u = np.random.default_rng(0).standard_normal(9) / 10
    longest = max(np.linalg.norm(table[:, None] - table, axis=2).max() for table in X)
    hinges = [(table @ u + (np.arange(4) != label)).max() - table[label] @ u for table, label in zip(X, y, strict=True)]
    eta = 0.5 / longest**2
    model = Predtron(Tables(4), update=LossAugmented(eta=eta), average=False).partial_fit(X, y)
    bound = model.loss_bound(comparator=u, X=X, y=y, radius=longest)
    expected = (u @ u + 2 * eta * sum(hinges)) / (eta * (2 - eta * longest**2))
    np.testing.assert_allclose(bound, expected)
    assert model.cumulative_loss_ <= bound
    other = Predtron(Tables(4), update=PerceptronUpdate(), average=False).partial_fit(X, y)
    with pytest.raises(ValueError, match="No bound against given weights is known for Tables under this update"):
        other.loss_bound(comparator=u, X=X, y=y, radius=longest)


# ------------------------------------------------------------------------------------------------------------------ checks


def pairs(n=6):
    X, y = tables(n)
    return list(zip(X, y, strict=True))


def test_a_good_problem_passes():
    check_problem(Tables(4), pairs())
    check_problem(Tables(4, None, "csr"), pairs())
    listing = type("Listing", (Tables,), {"predictions": lambda self, x: range(len(x))})
    check_problem(listing(4), pairs())


@pytest.mark.always
@pytest.mark.parametrize("bad", OF_JOINT_FEATURES)
def test_a_bad_answer_is_found(bad):
    if bad in ("features huge", "features tiny"):
        pytest.skip("a distance is measured in a round")
    method, change, _ = OF_JOINT_FEATURES[bad]
    with pytest.raises(AssertionError, match=r"^SabotagedTables\."):
        check_problem(SabotagedTables(method, change), pairs())


def test_what_a_round_cannot_see_is_found():
    class Lazy(Tables):
        """Never predicts 3, though `predictions` lists it."""

        def predictions(self, x):
            return range(4)

        def decode(self, w, x):
            return int((x[:3] @ w).argmax())

        def augmented_decode(self, w, x, y):
            return int((x[:3] @ w + (np.arange(3) != y)).argmax())

    with pytest.raises(AssertionError, match=r"^Lazy\.decode\(.*expected is a maximiser, as 3 with"):
        check_problem(Lazy(4), pairs())

    class Forgetful(Tables):
        def __init__(self, k):
            super().__init__(k)
            self.calls_ = 0

        def get_params(self, deep=True):
            return {"k": self.k}

        def features(self, x, prediction):
            self.calls_ += 1
            return super().features(x, prediction) * (1 + (self.calls_ > 600))

    with pytest.raises(AssertionError, match=r"^Forgetful\."):
        check_problem(Forgetful(4), pairs(2))


def test_labels_that_are_no_pairs():
    with pytest.raises(ValueError, match=r"labels holds 0; accepted for joint features are pairs \(x, y\)"):
        check_problem(Tables(4), [0])
    with pytest.raises(ValueError, match="labels is empty"):
        check_problem(Tables(4), [])
