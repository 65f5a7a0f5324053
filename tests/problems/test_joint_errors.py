"""What a problem of joint features returns is checked in each round, and a call that fails leaves the last complete one."""

import itertools

import numpy as np
import pytest
from cases import name, state, updates
from joint_cases import Tables, tables
from numpy.testing import assert_array_equal
from scipy import sparse

from sklearn_predtron import JointProblem, Predtron, Problem
from sklearn_predtron.estimator_checks import check_problem
from sklearn_predtron.inspection import MarginDisplay
from sklearn_predtron.theory import largest_margin, loss_constants, margin, radius
from sklearn_predtron.updates import Adaptive, LossAugmented, PassiveAggressive, PerceptronUpdate

METHODS = ("decode", "loss", "features", "augmented_decode", "correct")


class Saboteur(Tables):
    """A right problem while `broken_` is False; then a method returns something else."""

    def __init__(self, k=4, method=None, change=None, form="dense"):
        super().__init__(k, None, form)
        self.method, self.change, self.broken_ = method, change, True

    def __getattribute__(self, attribute):
        value = super().__getattribute__(attribute)
        if attribute in METHODS and self.method == attribute:
            return lambda *given: self.change(value, *given) if self.broken_ else value(*given)
        return value


def constant(value):
    return lambda method, *given: value


def csr(n=9, **how):
    matrix = sparse.csr_matrix(np.ones((1, n)))
    for attribute, value in how.items():
        setattr(matrix, attribute, np.asarray(value))
    return matrix


BAD_ANSWERS = {
    "loss NaN": ("loss", constant(np.nan), r"loss\(.*\) returned nan; accepted are numbers from 0 to 1e\+100"),
    "loss negative": ("loss", constant(-1.0), "returned -1.0"),
    "loss text": ("loss", constant("1"), "returned '1'"),
    "loss below c_L": ("loss", lambda loss, sigma, y: 0.5 * (loss(sigma, y) > 0), r"returned (np.float64\()?0.5.* c_L = 1.0"),
    "loss above C_L": ("loss", lambda loss, sigma, y: 7.0 * (loss(sigma, y) > 0), r"returned .*7.0.* C_L = 1.0"),
    "loss of the right one": ("loss", constant(1.0), r"correct\(.*, .*\) returned .*, whose loss is 1.0"),
    "correct wrong": ("correct", lambda correct, y, c: (y + 1) % 4, r"correct\(.*, .*\) returned .*, whose loss is 1.0"),
    "features short": ("features", constant(np.ones(8)), r"features\(.*, \d\) returned an array of shape \(8,\); accepted are"),
    "features a row": ("features", constant(np.ones((1, 9))), r"returned an array of shape \(1, 9\).* \(n_features,\) = \(9,\)"),
    "features a number": ("features", constant(1.0), r"returned an array of shape \(\)"),
    "features NaN": ("features", lambda phi, x, s: phi(x, s) * np.nan, r"features\(.*\) returned .*nan.*, which is not finite"),
    "features infinite": ("features", lambda phi, x, s: phi(x, s) + np.inf, r"inf.*, which is not finite"),
    "features text": ("features", constant(["0"] * 9), "does not hold numbers"),
    "features complex": ("features", lambda phi, x, s: phi(x, s) * 1j, "does not hold numbers"),
    "features none": ("features", constant(None), "does not hold numbers"),
    "features huge": ("features", lambda phi, x, s: phi(x, s) * 1e145, r"have the distance .*; accepted are 0 and distances"),
    "features tiny": ("features", lambda phi, x, s: phi(x, s) * 1e-145, r"have the distance .*; accepted are 0 and distances"),
    "csr wide": ("features", constant(csr(10)), r"returned a sparse matrix of shape \(1, 10\)"),
    "csr of two rows": ("features", constant(sparse.csr_matrix(np.ones((2, 9)))), r"a sparse matrix of shape \(2, 9\)"),
    "csr complex": ("features", constant(csr() * 1j), "a sparse matrix of dtype complex128"),
    "csr NaN": ("features", constant(csr() * np.nan), "which is not finite"),
    "csr index too large": ("features", constant(csr(indices=[0, 1, 2, 3, 4, 5, 6, 7, 9])), r"indices do not lie in 0\.\.8"),
    "csr index negative": ("features", constant(csr(indices=[0, 1, 2, 3, 4, 5, 6, 7, -1])), r"indices do not lie in 0\.\.8"),
    "csr pointer too large": ("features", constant(csr(indptr=[0, 10])), r"indices do not lie in 0\.\.8"),
    "csr pointer negative": ("features", constant(csr(indptr=[-1, 9])), r"indices do not lie in 0\.\.8"),
    "decode worst": (
        "decode",
        lambda decode, w, x: decode(-w, x),
        r"decode\(w, .*\) returned \d, whose score <w, features> is .*; that of .* is .*; accepted is a prediction",
    ),
    "augmented worst": (
        "augmented_decode",
        lambda decode, w, x, y: int((x @ w + (np.arange(4) != y)).argmin()),
        r"augmented_decode\(w, .*\) returned \d, where loss \+ <w, features> is .*; with .* it is .*; accepted is a prediction",
    ),
    "augmented without loss": ("augmented_decode", lambda decode, w, x, y: y, r"augmented_decode\(.*loss \+ <w, features>"),
}


@pytest.mark.always(each="bad")
@pytest.mark.parametrize("bad", BAD_ANSWERS)
@pytest.mark.parametrize("update", [Adaptive(), PassiveAggressive(C=0.1, target="constant", delta=0.7)], ids=name)
def test_answers_of_a_problem(bad, update):
    """The first bad answer is refused; the model is as after the last complete round, and goes on from there."""
    X, y = tables()
    method, change, message = BAD_ANSWERS[bad]
    problem = Saboteur(4, method, change)
    fresh = Predtron(problem, update=update)
    before = set(fresh.__getstate__())
    with pytest.raises(ValueError, match=rf"^Saboteur\..*{message}"):
        fresh.fit(X, y) or fresh.partial_fit(X, y)
    if not hasattr(fresh, "t_"):
        assert set(fresh.__getstate__()) == before
    problem.broken_ = False
    model = Predtron(problem, update=update).partial_fit(X[:20], y[:20])
    problem.broken_ = True
    with pytest.raises(ValueError, match=rf"^Saboteur\..*{message}"):
        model.partial_fit(X[20:], y[20:]).partial_fit(X, y)
    plain = Predtron(Tables(4), update=update)
    for i in range(model.t_):
        plain.partial_fit([*X, *X][i : i + 1], np.append(y, y)[i : i + 1])
    assert state(model) == state(plain)
    problem.broken_ = False
    assert state(model.partial_fit(X, y)) == state(plain.partial_fit(X, y))


class Marker(Exception):
    """What only the test raises."""


def raise_in_call(number, error):
    calls = itertools.count(1)

    def answer(method, *given):
        if next(calls) == number:
            raise error
        return method(*given)

    return answer


@pytest.mark.parametrize("error", [Marker("stop"), KeyboardInterrupt(), StopIteration()], ids=repr)
@pytest.mark.parametrize("method", METHODS)
def test_exception_leaves_the_last_complete_round(method, error):
    X, y = tables()
    for call in (1, 2, 3, 18, 19, 20, 21):
        problem = Saboteur(4, method, raise_in_call(call, error), "csr" if call % 2 else "dense")
        problem.broken_ = False
        model = Predtron(problem).partial_fit(X[:10], y[:10])
        problem.broken_ = True
        with pytest.raises(type(error)) as caught:
            model.partial_fit(X[10:], y[10:])
        assert caught.value is error
        assert 10 <= model.t_ < len(y)
        undisturbed = Predtron(Tables(4, None, problem.form)).partial_fit(X[: model.t_], y[: model.t_])
        assert state(model) == state(undisturbed)
        rest = slice(model.t_, None)
        assert state(model.partial_fit(X[rest], y[rest])) == state(undisturbed.partial_fit(X[rest], y[rest]))


@pytest.mark.parametrize("update", updates(), ids=name)
def test_exception_in_any_call_of_the_features(update):
    X, y = tables(12)
    whole = state(Predtron(Tables(4), update=update).partial_fit(X, y))
    for call in range(1, 30, 2):
        model = Predtron(Saboteur(4, "features", raise_in_call(call, Marker("stop"))), update=update)
        try:
            model.partial_fit(X, y)
        except Marker:
            rest = slice(getattr(model, "t_", 0), None)
            model.partial_fit(X[rest], y[rest])
        assert state(model) == whole


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
        problem = Saboteur(4, "features", lambda features, x, s, form=form: form(features(x, s)))
        np.testing.assert_allclose(Predtron(problem, random_state=0).fit(X, y).coef_, expected, rtol=1e-12, atol=1e-14)
    mixed = Saboteur(4, "features", lambda features, x, s: sparse.csr_matrix(features(x, s)[None]) if s % 2 else features(x, s))
    np.testing.assert_allclose(Predtron(mixed, random_state=0).fit(X, y).coef_, expected, rtol=1e-12, atol=1e-14)
    buffer = np.empty(9)

    def in_one_place(features, x, prediction):
        buffer[:] = features(x, prediction)
        return buffer

    assert_array_equal(Predtron(Saboteur(4, "features", in_one_place), random_state=0).fit(X, y).coef_, expected)


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


@pytest.mark.parametrize(
    "X", ["abc", b"abc", {1: 2}, {1, 2}, None, 3.0, np.array(1.0), iter([1])], ids=lambda X: type(X).__name__
)
def test_inputs_that_are_no_sequence(X):
    refused(Predtron(Tables(4)), X, [0, 1, 2], "^X is .*; accepted for a problem of joint features are sequences of objects")
    X_good, y = tables()
    with pytest.raises(ValueError, match=r"^X is .*; accepted for a problem of joint features"):
        Predtron(Tables(4)).fit(X_good, y).predict(X)


def test_inputs_that_are_empty_or_of_another_number():
    X, y = tables()
    refused(Predtron(Tables(4)), [], [], "X is empty; accepted are sequences of at least one object")
    refused(Predtron(Tables(4)), X, y[:-1], "X has 40 rows and y has 39")
    refused(Predtron(Tables(4)), X, None, "requires y to be passed")
    model = Predtron(Tables(4)).fit(X, y)
    with pytest.raises(ValueError, match="X has 40 rows and y has 39"):
        model.score(X, y[:-1])
    with pytest.raises(ValueError, match="X is empty"):
        model.predict([])
    with pytest.raises(ValueError, match="sample_weight"):
        model.fit(X, y, sample_weight=np.ones(39))


@pytest.mark.parametrize("norm", ["l1", "group", "trace", "scaled", "rkhs"])
def test_norms_other_than_l2(norm):
    X, y = tables()
    refused(Predtron(Tables(4), norm=norm), X, y, f"norm='{norm}' does not go with a problem of joint features; accepted is 'l2'")


@pytest.mark.parametrize("n", [0, -1, 2.0, None, "2", True, 10**12], ids=repr)
def test_a_number_of_features_that_is_none(n):
    X, y = tables()
    problem = type("Bad", (Tables,), {"n_features": n})(4)
    refused(Predtron(problem), X, y, r"^Bad\.n_features is .*; accepted are integers from 1 to 100000000")


@pytest.mark.parametrize("method", ["decode", "loss", "features", "augmented_decode"])
def test_missing_methods_are_named(method):
    defined = {name: vars(Tables)[name] for name in ("decode", "loss", "features", "augmented_decode") if name != method}
    missing = type("Missing", (JointProblem,), {**defined, "n_features": 9, "k": 4, "form": "dense", "costs": 1 - np.eye(4)})
    X, y = tables()
    with pytest.raises(TypeError, match=f"Missing does not define {method}"):
        Predtron(missing()).fit(X, y)


def test_problems_of_another_base():
    """What has the methods is a problem; a JointProblem is one whatever else it has."""
    X, y = tables()
    expected = Predtron(Tables(4), random_state=0).fit(X, y).coef_
    methods = {name: getattr(Tables(4), name) for name in METHODS}
    plain = type("Plain", (), {**methods, "n_features": 9})()
    assert_array_equal(Predtron(plain, random_state=0).fit(X, y).coef_, expected)
    more = type("More", (Tables,), {"representation": "text"})(4)
    assert_array_equal(Predtron(more, random_state=0).fit(X, y).coef_, expected)
    with pytest.raises(ValueError, match="The 'problem' parameter of Predtron must be an object implementing 'decode'"):
        Predtron(object()).fit(X, y)


def test_updates_of_other_families():
    X, y = tables()
    refused(Predtron(Tables(4), update="slam"), X, y, "update='slam'")


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
    scored = Predtron(Codes()).fit(np.eye(2), [0, 1])
    with pytest.raises(ValueError, match="has 9 joint features and the weights so far are of scores of the rows of X"):
        scored.set_params(problem=Tables(4)).partial_fit(X, y)


class Codes(Problem):
    n_scores = 2

    def decode(self, t):
        return int(t.argmax())

    def loss(self, prediction, y):
        return float(prediction != y)

    def representation(self, prediction):
        return np.eye(self.n_scores)[prediction]

    def augmented_decode(self, t, y):
        return int((t + (np.arange(self.n_scores) != y)).argmax())


def test_numbers_of_scores_that_change():
    model = Predtron(Codes()).fit(np.eye(2), [0, 1])
    more = type("More", (Codes,), {"n_scores": 3})()
    with pytest.raises(ValueError, match=r"problem=More\(\) has 3 scores and the weights so far have 2 scores; call fit"):
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
@pytest.mark.parametrize("bad", BAD_ANSWERS)
def test_a_bad_answer_is_found(bad):
    if bad in ("features huge", "features tiny"):
        pytest.skip("a distance is measured in a round")
    method, change, _ = BAD_ANSWERS[bad]
    with pytest.raises(AssertionError, match=r"^Saboteur\."):
        check_problem(Saboteur(4, method, change), pairs())


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


def test_a_map_of_columns_does_not_go_with_joint_features():
    refused(Predtron(Tables(4), features="piecewise"), *tables(), "features='piecewise' does not go with a JointProblem")
