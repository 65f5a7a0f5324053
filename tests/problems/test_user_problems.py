"""What a user's own problem returns is checked where it is first used."""

import numpy as np
import pytest
from cases import Hours, name
from numpy.testing import assert_array_equal

from sklearn_predtron import (
    Predtron,
)
from sklearn_predtron.problems._user import PythonProblem
from sklearn_predtron.theory import loss_constants
from sklearn_predtron.updates import Adaptive, PassiveAggressive, PerceptronUpdate


def hours(n=40):
    rows = np.random.default_rng(0).standard_normal((n, 2))
    return rows, np.floor(np.arctan2(rows[:, 1], rows[:, 0]) * 6 / np.pi).astype(int) % 12


class Saboteur(Hours):
    """A right problem until `break_` says from which call on a method returns something else."""

    def __init__(self, method=None, change=None):
        self.method, self.change, self.broken_ = method, change, True

    def __getattribute__(self, attribute):
        value = super().__getattribute__(attribute)
        if attribute in ("decode", "loss", "representation", "augmented_decode", "correct") and self.method == attribute:
            return lambda *given: self.change(value, *given) if self.broken_ else value(*given)
        return value


def constant(value):
    return lambda method, *given: value


BAD_ANSWERS = {
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


@pytest.mark.parametrize("bad", BAD_ANSWERS)
@pytest.mark.parametrize("update", [Adaptive(), PassiveAggressive(C=0.1, target="constant", delta=0.7)], ids=name)
def test_answers_of_a_problem(bad, update):
    """The first bad answer is refused; the model is as after the last complete round, and goes on from there."""
    rows, labels = hours()
    method, change, message = BAD_ANSWERS[bad]
    problem = Saboteur(method, change)
    fresh = Predtron(problem, norm="l2", update=update)
    before = set(fresh.__getstate__())
    with pytest.raises(ValueError, match=rf"^Saboteur\.{message}|^Saboteur\..*{message}"):
        fresh.fit(rows, labels) or fresh.partial_fit(rows, labels)
    if not hasattr(fresh, "t_"):
        assert set(fresh.__getstate__()) == before
    problem.broken_ = False
    model = Predtron(problem, norm="l2", update=update).partial_fit(rows[:20], labels[:20])
    problem.broken_ = True
    with pytest.raises(ValueError, match=rf"^Saboteur\..*{message}"):
        model.partial_fit(rows[20:], labels[20:]).partial_fit(rows, labels)
    plain = Predtron(Hours(), norm="l2", update=update)
    for i in range(model.t_):
        plain.partial_fit(np.vstack([rows[:], rows])[i : i + 1], np.append(labels, labels)[i : i + 1])
    assert_array_equal(model.coef_, plain.coef_)
    problem.broken_ = False
    assert_array_equal(model.partial_fit(rows, labels).coef_, plain.partial_fit(rows, labels).coef_)


def test_predicted_competitors_of_a_problem():
    rows, labels = hours()
    for method, change, message in [BAD_ANSWERS["decode worst"], BAD_ANSWERS["representation long"], BAD_ANSWERS["loss NaN"]]:
        with pytest.raises(ValueError, match=message):
            Predtron(Saboteur(method, change), update=PerceptronUpdate()).partial_fit(rows, labels)


def test_a_problem_that_is_scored():
    rows, labels = hours()
    for method, change, message in [BAD_ANSWERS[bad] for bad in BAD_ANSWERS if bad.startswith("loss") and "right" not in bad]:
        problem = Saboteur(method, change)
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
        assert_array_equal(Predtron(Saboteur("loss", change), random_state=0).fit(rows, labels).coef_, expected)
    for kind in [list, lambda rep: rep.astype(">f8"), lambda rep: np.repeat(rep, 2)[::2], tuple]:
        change = lambda rep, sigma, kind=kind: kind(rep(sigma))  # noqa: E731
        assert_array_equal(Predtron(Saboteur("representation", change), random_state=0).fit(rows, labels).coef_, expected)
