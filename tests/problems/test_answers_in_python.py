"""What methods of a problem in Python return or raise, of scores and of joint features: each round checks it."""

import itertools

import numpy as np
import pytest
from cases import Hours, name, state, updates
from joint_cases import Tables, tables
from numpy.testing import assert_array_equal
from scipy import sparse

from sklearn_predtron import JointProblem, Predtron, Problem
from sklearn_predtron.problems._user import PythonProblem
from sklearn_predtron.theory import loss_constants
from sklearn_predtron.updates import Adaptive, PassiveAggressive, PerceptronUpdate


def hours(n=40):
    rows = np.random.default_rng(0).standard_normal((n, 2))
    return rows, np.floor(np.arctan2(rows[:, 1], rows[:, 0]) * 6 / np.pi).astype(int) % 12


class Sabotage:
    """A right problem while `broken_` is False; then a method returns something else."""

    def __getattribute__(self, attribute):
        value = super().__getattribute__(attribute)
        if attribute in METHODS["scores"] + METHODS["joint"] and self.method == attribute:
            return lambda *given: self.change(value, *given) if self.broken_ else value(*given)
        return value


class SabotagedHours(Sabotage, Hours):
    def __init__(self, method=None, change=None):
        self.method, self.change, self.broken_ = method, change, True


class SabotagedTables(Sabotage, Tables):
    def __init__(self, method=None, change=None, form="dense"):
        super().__init__(4, None, form)
        self.method, self.change, self.broken_ = method, change, True


REPRESENTED = {"scores": "representation", "joint": "features"}
METHODS = {name: ("decode", "loss", rep, "augmented_decode", "correct") for name, rep in REPRESENTED.items()}
RIGHT = {"scores": Hours, "joint": lambda: Tables(4)}
BROKEN = {"scores": SabotagedHours, "joint": SabotagedTables}
DATA = {"scores": hours, "joint": tables}
each_kind = pytest.mark.parametrize("kind", RIGHT)


def constant(value):
    return lambda method, *given: value


def csr(n=9, **how):
    matrix = sparse.csr_matrix(np.ones((1, n)))
    for attribute, value in how.items():
        setattr(matrix, attribute, np.asarray(value))
    return matrix


OF_SCORES = {
    "loss NaN": ("loss", constant(np.nan), r"loss\(.*\) returned nan; accepted are numbers from 0 to 1e\+100"),
    "loss infinite": ("loss", constant(np.inf), "returned inf"),
    "loss negative": ("loss", constant(-1.0), "returned -1.0"),
    "loss huge": ("loss", constant(1e101), r"returned 1e\+101"),
    "loss a huge integer": ("loss", constant(10**400), "returned 1000"),
    "loss text": ("loss", constant("1"), "returned '1'"),
    "loss none": ("loss", constant(None), "returned None"),
    "loss complex": ("loss", constant(1j), "returned 1j"),
    "loss array": ("loss", constant(np.array([1.0])), r"returned array\(\[1.\]\)"),
    "loss below c_L": ("loss", lambda loss, sigma, y: 0.5 * (loss(sigma, y) > 0), r"returned 0.5; .* c_L = 1.0"),
    "loss above C_L": ("loss", lambda loss, sigma, y: 7.0 * (loss(sigma, y) > 0), r"returned 7.0; .* C_L = 6.0"),
    "loss of the right one": (
        "loss",
        lambda loss, sigma, y: max(loss(sigma, y), 1.0),
        r"correct\(.*, .*\) returned .*, whose loss is 1.0; accepted is a prediction of loss 0",
    ),
    "correct wrong": ("correct", lambda correct, y, c: (y + 1) % 12, r"correct\(.*, .*\) returned .*, whose loss is [12].0"),
    "representation short": ("representation", constant(np.ones(1)), r"representation\(\d+\) returned an array of shape \(1,\)"),
    "representation a row": ("representation", constant(np.ones((1, 2))), r"returned an array of shape \(1, 2\)"),
    "representation a number": ("representation", constant(1.0), r"returned an array of shape \(\)"),
    "representation NaN": ("representation", constant(np.array([np.nan, 1])), r"returned .*nan.*, of length nan"),
    "representation infinite": ("representation", constant(np.array([np.inf, 1])), r"of length inf"),
    "representation long": ("representation", lambda rep, sigma: 2 * rep(sigma), r"of length 2"),
    "representation slightly long": ("representation", lambda rep, sigma: rep(sigma) * (1 + 2e-6), "of length 1.000002"),
    "representation text": ("representation", constant(["0", "1"]), "does not hold numbers"),
    "representation complex": ("representation", lambda rep, sigma: rep(sigma) * 1j, "does not hold numbers"),
    "representation none": ("representation", constant(None), "does not hold numbers"),
    "decode worst": (
        "decode",
        lambda decode, t: decode(-t),
        r"decode\(.*\) returned .*, whose score <rep, t> is -.*; that of .* is .*; accepted is a prediction of the largest score",
    ),
    "decode changes t": ("decode", lambda decode, t: (decode(t), t.fill(7))[0], r"decode\(t\) changed the scores t"),
    "decode next": ("decode", lambda decode, t: (decode(t) + 3) % 12, "whose score"),
    "augmented worst": (
        "augmented_decode",
        lambda decode, t, y: min(range(12), key=lambda hour: Hours().loss(hour, y) + Hours.code[hour] @ t),
        r"augmented_decode\(.*\) returned \d+, where loss \+ <rep, t> is .*; with .* it is .*; accepted is",
    ),
    "augmented without loss": ("augmented_decode", lambda decode, t, y: y, r"augmented_decode\(.*loss \+ <rep, t>"),
    "augmented changes t": (
        "augmented_decode",
        lambda decode, t, y: (decode(t, y), t.fill(7))[0],
        r"augmented_decode\(t, y\) changed the scores t",
    ),
}


OF_JOINT_FEATURES = {
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


BAD_ANSWERS = {("scores", bad): answer for bad, answer in OF_SCORES.items()}
BAD_ANSWERS |= {("joint", bad): answer for bad, answer in OF_JOINT_FEATURES.items()}


@pytest.mark.always(each="bad")
@pytest.mark.parametrize("bad", BAD_ANSWERS, ids="-".join)
@pytest.mark.parametrize("update", [Adaptive(), PassiveAggressive(C=0.1, target="constant", delta=0.7)], ids=name)
def test_answers_of_a_problem(bad, update):
    """The first bad answer is refused; the model is as after the last complete round, and goes on from there."""
    (method, change, message), kind = BAD_ANSWERS[bad], bad[0]
    X, y = DATA[kind]()
    problem = BROKEN[kind](method, change)
    fresh = Predtron(problem, norm="l2", update=update)
    before = set(fresh.__getstate__())
    with pytest.raises(ValueError, match=rf"^Sabotaged\w+\..*{message}"):
        fresh.fit(X, y) or fresh.partial_fit(X, y)
    if not hasattr(fresh, "t_"):
        assert set(fresh.__getstate__()) == before
    problem.broken_ = False
    model = Predtron(problem, norm="l2", update=update).partial_fit(X[:20], y[:20])
    problem.broken_ = True
    with pytest.raises(ValueError, match=rf"^Sabotaged\w+\..*{message}"):
        model.partial_fit(X[20:], y[20:]).partial_fit(X, y)
    plain = Predtron(RIGHT[kind](), norm="l2", update=update)
    for i in range(model.t_):
        plain.partial_fit(X[i % 40 : i % 40 + 1], y[i % 40 : i % 40 + 1])
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


@pytest.mark.parametrize("error", [Marker("stop"), KeyboardInterrupt(), SystemExit(3), StopIteration()], ids=repr)
@pytest.mark.parametrize(("kind", "method"), [(kind, method) for kind, methods in METHODS.items() for method in methods])
def test_exception_leaves_the_last_complete_round(kind, method, error):
    X, y = DATA[kind](60)
    norm, csr = ("l2", X) if kind == "joint" else ("scaled", sparse.csr_matrix(X))
    for call in (1, 2, 3, 18, 19, 20, 21):
        problem = BROKEN[kind](method, raise_in_call(call, error))
        problem.form = "csr" if call % 2 else "dense"
        X = csr if call % 2 else DATA[kind](60)[0]
        problem.broken_ = False
        model = Predtron(problem, norm=norm).partial_fit(X[:10], y[:10])
        problem.broken_ = True
        with pytest.raises(type(error)) as caught:
            model.partial_fit(X[10:], y[10:])
        assert caught.value is error
        assert 10 <= model.t_ < len(y)
        right = RIGHT[kind]()
        right.form = problem.form
        undisturbed = Predtron(right, norm=norm).partial_fit(X[: model.t_], y[: model.t_])
        assert state(model) == state(undisturbed)
        rest = slice(model.t_, None)
        assert state(model.partial_fit(X[rest], y[rest])) == state(undisturbed.partial_fit(X[rest], y[rest]))


@each_kind
@pytest.mark.parametrize("update", updates(), ids=name)
def test_exception_in_any_call_of_the_representation(update, kind):
    """The direction asks for representations a second time, after the loss is known."""
    X, y = DATA[kind](12)
    whole = state(Predtron(RIGHT[kind](), update=update).partial_fit(X, y))
    for call in range(1, 30):
        model = Predtron(BROKEN[kind](REPRESENTED[kind], raise_in_call(call, Marker("stop"))), update=update)
        try:
            model.partial_fit(X, y)
        except Marker:
            rest = slice(getattr(model, "t_", 0), None)
            model.partial_fit(X[rest], y[rest])
        assert state(model) == whole


@pytest.mark.parametrize(
    ("kind", "method"), [(kind, method) for kind, methods in METHODS.items() for method in methods if method != "correct"]
)
def test_missing_methods_are_named(kind, method):
    base, right = {"scores": (Problem, Hours), "joint": (JointProblem, Tables)}[kind]
    defined = {name: value for name, value in vars(right).items() if name != method and not name.startswith("__")}
    missing = type("Missing", (base,), {**defined, "k": 4, "form": "dense", "cost": None})
    with pytest.raises(TypeError, match=f"Missing does not define {method}"):
        Predtron(missing()).fit(*DATA[kind]())


# ---------------------------------------------------------------------------------------------------------- of scores alone


def test_predicted_competitors_of_a_problem():
    rows, labels = hours()
    for method, change, message in [OF_SCORES["decode worst"], OF_SCORES["representation long"], OF_SCORES["loss NaN"]]:
        with pytest.raises(ValueError, match=message):
            Predtron(SabotagedHours(method, change), update=PerceptronUpdate()).partial_fit(rows, labels)


def test_a_problem_that_is_scored():
    rows, labels = hours()
    for method, change, message in [OF_SCORES[bad] for bad in OF_SCORES if bad.startswith("loss") and "right" not in bad]:
        problem = SabotagedHours(method, change)
        problem.broken_ = False
        model = Predtron(problem).fit(rows, labels)
        problem.broken_ = True
        for ask in [model.sample_loss, model.score]:
            with pytest.raises(ValueError, match=message):
                ask(rows, (labels + 6) % 12)
    model = Predtron(Hours()).fit(rows, labels)
    for weight, says in [(-np.ones(len(rows)), "sample_weight"), (np.zeros(len(rows)), "zero for every row")]:
        with pytest.raises(ValueError, match=says):
            model.score(rows, labels, sample_weight=weight)


@pytest.mark.parametrize("n", [0, -1, 2.0, None, "2", True, 10**12, 10**30, np.float64(2), [2]], ids=repr)
def test_a_number_of_scores_that_is_none(n):
    kind = type("Bad", (Hours,), {"n_scores": n})
    model = Predtron(kind())
    with pytest.raises(ValueError, match=r"^Bad\.n_scores is .*; accepted are integers from 1 to 100000000"):
        model.fit(*hours())
    assert not hasattr(model, "n_features_in_")


def test_numbers_of_scores_of_any_integer_type():
    for n in [np.int8(2), np.uint64(2), np.int64(2)]:
        assert Predtron(type("Good", (Hours,), {"n_scores": n})()).fit(*hours()).coef_.shape == (2, 2)

    class Silent:
        decode = loss = representation = augmented_decode = correct = None

    with pytest.raises(ValueError, match="Silent does not state n_scores"):
        PythonProblem(Silent())


@pytest.mark.parametrize(
    ("c_L", "C_L", "message"),
    [
        (0, None, r"^Bad\.c_L is 0; accepted are positive finite numbers and None"),
        (-1.0, 6.0, r"^Bad\.c_L is -1"),
        (np.nan, 6.0, r"^Bad\.c_L is nan"),
        (None, np.inf, r"^Bad\.C_L is inf"),
        ("1", 6.0, r"^Bad\.c_L is '1'"),
        (1j, 6.0, r"^Bad\.c_L is 1j"),
        (6.0, 1.0, r"^Bad\.c_L = 6.0 .* at most C_L = 1.0"),
    ],
)
def test_stated_constants_that_are_none(c_L, C_L, message):
    problem = type("Bad", (Hours,), {"c_L": c_L, "C_L": C_L})()
    model = Predtron(problem)
    with pytest.raises(ValueError, match=message):
        model.fit(*hours())
    with pytest.raises(ValueError, match="does not state" if c_L is None or C_L is None else message):
        loss_constants(problem)
    assert not hasattr(model, "n_features_in_")


def test_losses_of_any_type_of_number():
    rows, labels = hours()
    expected = Predtron(Hours(), random_state=0).fit(rows, labels).coef_
    for kind in [int, np.float32, np.int16, np.array, float]:
        change = lambda loss, sigma, y, kind=kind: kind(loss(sigma, y))  # noqa: E731
        assert_array_equal(Predtron(SabotagedHours("loss", change), random_state=0).fit(rows, labels).coef_, expected)
    for kind in [list, lambda rep: rep.astype(">f8"), lambda rep: np.repeat(rep, 2)[::2], tuple]:
        change = lambda rep, sigma, kind=kind: kind(rep(sigma))  # noqa: E731
        assert_array_equal(Predtron(SabotagedHours("representation", change), random_state=0).fit(rows, labels).coef_, expected)


@pytest.mark.parametrize("stated", [None, 4.0, 0.1, -1.0, "4"])
def test_the_stated_distance_of_representations(stated):
    """None is the 4 of unit vectors; a smaller one makes a smaller bound, and is checked in each round."""
    X, y = hours(60)
    model = Predtron(type("Stated", (Hours,), {"D2": stated})(), norm="l2", update="perceptron", fit_intercept=False)
    if stated in (-1.0, "4"):
        with pytest.raises(ValueError, match=r"Stated.D2 is .*; accepted are positive finite numbers and None"):
            model.fit(X, y)
    elif stated in (None, 4.0):
        assert model.fit(X, y).loss_bound(0.1, 1.0) == pytest.approx(4 * 6 / 0.1**2)
    else:
        with pytest.raises(
            ValueError, match=r"Stated.D2 = .* is stated as the largest \|rep\(sigma\) - rep\(sigma'\)\|\^2; that of"
        ):
            model.fit(X, y)


def test_predictions_of_any_shape():
    X, y = hours(60)

    class Spread(Hours):
        def decode(self, t):
            return (super().decode(t),) * int(1 + super().decode(t) % 2)

        def loss(self, prediction, y):
            return super().loss(prediction[0], y)

        def representation(self, prediction):
            return super().representation(prediction[0] if isinstance(prediction, tuple) else prediction)

        def augmented_decode(self, t, y):
            return (int((self.code @ t + [Hours.loss(self, hour, y) for hour in range(12)]).argmax()),)

        def correct(self, y, competitor):
            return (y,)

    predicted = Predtron(Spread(), random_state=0).fit(X, y).predict(X)
    assert predicted.shape == (len(X),) and predicted.dtype == object
    assert {len(prediction) for prediction in predicted} == {1, 2}
    with pytest.raises(ValueError, match="X has 60 rows and y has 59"):
        Predtron(Hours()).fit(X, y).sample_loss(X, y[1:])
