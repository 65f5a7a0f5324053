"""Rankers: functions of a user, and bad parameters."""

import numpy as np
import pytest
from ranking_cases import label_ranker, make_data, make_labels, plain, ranker, refuses
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from sklearn_predtron import PredtronBinaryClassifier, PredtronClassifier, PredtronRanker
from sklearn_predtron.losses import NDCG
from sklearn_predtron.representations import PowerRank
from sklearn_predtron.updates import MMP, ListNet, LossAugmented, LossDriven, MaxPair, PassiveAggressive, Slam
from tests.families.test_ranking import state

# -------------------------------------------------------------------------------------------------------------- user functions


def rising(j):
    return j


def flat(j):
    return np.ones(len(j))


def not_a_number(j):
    return np.where(j > 1, np.nan, -j)


def infinite(j):
    return np.where(j > 1, -np.inf, -j)


def scalar(j):
    return 3.0


def too_long(j):
    return -np.arange(len(j) + 1.0)


def two_columns(j):
    return np.column_stack([j, j])


def textual(j):
    return np.array(["high"] * len(j))


def falling_below_six(j):
    """Falls for lists of fewer than 6."""
    return -np.minimum(j, 5.0)


def failing(j):
    raise KeyError("broken")


BAD_F = [rising, flat, not_a_number, infinite, scalar, too_long, two_columns]
BAD_GAIN = [flat, np.negative, not_a_number, scalar, too_long, two_columns, lambda y: np.where(y > 0, np.inf, 0), lambda y: y - 1]
BAD_DISCOUNT = [rising, not_a_number, scalar, too_long, two_columns, lambda j: 0 * j, lambda j: -j, lambda j: 1 / (j - 1.5)]


def bad_functions():
    for parameter, functions in (("representation", BAD_F), ("gain", BAD_GAIN), ("discount", BAD_DISCOUNT)):
        for function in functions:
            setting = {"representation": function} if parameter == "representation" else {"loss": NDCG(**{parameter: function})}
            yield pytest.param(parameter, setting, id=f"{parameter}-{getattr(function, '__name__', function)}")


def state_of(model):
    """What can be compared where functions cannot be pickled."""
    return state(model) if hasattr(model, "n_features_in_") else sorted(model.__getstate__())


@pytest.mark.filterwarnings("ignore:divide by zero")
@pytest.mark.parametrize(("parameter", "setting"), list(bad_functions()))
def test_bad_functions(parameter, setting):
    X, y, qid = make_data()
    L, relevance = make_labels()
    for make, rows, labels, more in ((ranker, X, y, {"qid": qid}), (label_ranker, L, relevance, {})):
        models = [make(), make().fit(rows, labels, **more), make().partial_fit(rows, labels, **more)]
        for model in models:
            before = state_of(model)
            model.set_params(**setting)
            for learn in (model.fit, model.partial_fit):
                with pytest.raises(ValueError, match=f"^{parameter}="):
                    learn(rows, labels, **more)
                assert state_of(model) == before
        plain = make().partial_fit(rows, labels, **more).partial_fit(rows, labels, **more)
        models[2].set_params(representation="log", loss="ndcg").partial_fit(rows, labels, **more)
        assert state(models[2]) == state(plain)


@pytest.mark.parametrize("parameter", ["representation", "gain", "discount"])
def test_functions_that_raise(parameter):
    X, y, qid = make_data()
    setting = {"representation": failing} if parameter == "representation" else {"loss": NDCG(**{parameter: failing})}
    for model in (ranker(), ranker().fit(X, y, qid), ranker().partial_fit(X, y, qid)):
        model.set_params(**setting)
        refuses(model, lambda model=model: model.fit(X, y, qid), "broken", KeyError)
        refuses(model, lambda model=model: model.partial_fit(X, y, qid), "broken", KeyError)


@pytest.mark.parametrize("setting", [{"representation": textual}, {"loss": NDCG(gain=textual)}, {"loss": NDCG(discount=textual)}])
def test_functions_that_give_text(setting):
    X, y, qid = make_data()
    model = ranker(**setting)
    refuses(model, lambda: model.fit(X, y, qid), "could not convert|textual|numbers")


@pytest.mark.parametrize(
    "setting", [{"representation": falling_below_six}, {"loss": NDCG(discount=lambda j: np.where(j > 5, 2.0, 1.0))}], ids=plain
)
def test_a_longer_query_than_ever_before(setting):
    """Positions that no list had so far are asked for in mid-stream."""
    rng = np.random.default_rng(0)
    model, plain = ranker(**setting), ranker(**setting)
    parameter = "representation" if "representation" in setting else "discount"
    for _ in range(3):
        X, y = rng.standard_normal((2, 3)), [0, 1]
        model.partial_fit(X, y), plain.partial_fit(X, y)
    long = rng.standard_normal((9, 3))
    fitted = clone(model).fit(X, y, "one")
    for learner in (model, fitted):
        before, scores = state(learner), learner.predict(long)
        calls = [
            lambda learner=learner: learner.partial_fit(long, np.arange(9)),
            lambda learner=learner: learner.partial_fit(long, np.arange(9), qid=[0] * 9),
            lambda learner=learner: learner.fit(long, np.arange(9), "one"),
            lambda learner=learner: learner.sample_loss(long, np.arange(9), "one"),
            lambda learner=learner: learner.margin(long, np.arange(9), "one"),
        ]
        for call in calls:
            with pytest.raises(ValueError, match=f"^{parameter}="):
                call()
            assert state(learner) == before
            np.testing.assert_array_equal(learner.predict(long), scores)
    for _ in range(3):
        X, y = rng.standard_normal((3, 3)), [0, 1, 1]
        model.partial_fit(X, y), plain.partial_fit(X, y)
    assert state(model) == state(plain)


def test_functions_of_the_user():
    """A function gives what the part of the same values gives."""
    X, y, qid = make_data()
    for own, part in (
        ({"representation": lambda j: -j}, {"representation": "linear"}),
        ({"representation": lambda j: 1 / j}, {"representation": "reciprocal"}),
        ({"loss": NDCG(gain=lambda y: y)}, {"loss": NDCG(gain="linear")}),
        ({"loss": NDCG(gain=lambda y: 2.0**y - 1)}, {"loss": "ndcg"}),
        ({"loss": NDCG(k=3, discount=lambda j: 1 / np.log2(1 + j))}, {"loss": NDCG(k=3)}),
    ):
        model, other = ranker(**own).fit(X, y, qid), ranker(**part).fit(X, y, qid)
        np.testing.assert_allclose(model.coef_, other.coef_, rtol=1e-9)
        np.testing.assert_allclose(model.sample_loss(X, y, qid), other.sample_loss(X, y, qid), atol=1e-12)
    precise = ranker(loss=NDCG(k=2, gain="linear", discount=np.ones_like)).fit(X, y > 1, qid)
    t = precise.predict(X)
    best = [np.sort(y[qid == q] > 1)[::-1][:2].sum() for q in np.unique(qid)]
    found = [(y[qid == q] > 1)[np.argsort(-t[qid == q])][:2].sum() for q in np.unique(qid)]
    expected = [1 - a / b if b else 0.0 for a, b in zip(found, best, strict=True)]
    np.testing.assert_allclose(precise.sample_loss(X, y > 1, qid), expected, atol=1e-12)


@pytest.mark.parametrize(
    ("own", "weight"),
    [
        ({"representation": np.vectorize(lambda j: -float(j))}, 1.0),
        ({"loss": NDCG(discount=np.vectorize(lambda j: 1 / j))}, 1.0),
        ({"loss": NDCG(gain=np.vectorize(lambda y: 2.0 * y))}, 0.0),
    ],
    ids=["representation", "discount", "gain"],
)
def test_functions_that_stand_no_empty_arrays(own, weight):
    X, y, qid = make_data()
    model = ranker(**own).partial_fit(X, y, qid, np.full(len(y), weight))
    assert model.t_ == (20 if weight else 0)


# ------------------------------------------------------------------------------------------------------------ bad parameters


@pytest.mark.parametrize("update", ["slam", "max_pair", "listnet", "mmp", Slam(eta=0.1), MMP(weights="max")], ids=plain)
@pytest.mark.parametrize("kind", [PredtronClassifier, PredtronBinaryClassifier])
def test_updates_of_rankings_for_other_families(kind, update):
    X, y, _ = make_data()
    model = kind(update=update)
    message = r"update=.* needs rankings .*PredtronLabelRanker\); accepted here are 'predtron'"
    refuses(model, lambda: model.fit(X, y > 1), message)


BAD_SETTINGS = [
    ({"update": "mmp"}, r"update='mmp' needs rankings by one score a label \(PredtronLabelRanker\); accepted here .*'max_pair'"),
    ({"update": "prank"}, "update='prank' needs ordered thresholds .* with representation='shared'.; accepted here are"),
    (
        {"update": "slam", "loss": "kendall_tau"},
        "update='slam' needs a loss with weights .*, which 'ndcg' and 'ap' have",
    ),
    ({"update": "slam", "loss": "swapped_pairs"}, "update='slam' needs .* have; accepted here are .*'max_pair'"),
    ({"update": LossAugmented(eta="theory"), "loss": "kendall_tau"}, r"LossAugmented\(eta='theory'\) has no theorem for"),
    ({"update": LossDriven(eta="theory"), "loss": "kendall_tau"}, r"LossDriven\(eta='theory'\) has no theorem for"),
    ({"update": Slam(eta="large")}, "'eta' parameter of Slam must be"),
    ({"update": Slam(eta=0)}, "'eta' parameter of Slam must be"),
    ({"update": MaxPair(eta=-1)}, "'eta' parameter of MaxPair must be"),
    ({"update": MaxPair(weighted="no")}, "'weighted' parameter of MaxPair must be"),
    ({"update": ListNet(eta="theory")}, "'eta' parameter of ListNet must be"),
    ({"update": PassiveAggressive(C=0)}, "'C' parameter of PassiveAggressive must be"),
    ({"loss": "zero_one"}, "loss='zero_one' is not known; accepted are 'ndcg', 'ap', .* instances of RankingLoss"),
    ({"loss": 3}, "'loss' parameter of PredtronRanker must be .* Got 3"),
    ({"loss": NDCG}, r"loss=NDCG is a class; pass an instance, loss=NDCG\(\)"),
    ({"loss": NDCG(k=0)}, "'k' parameter of NDCG must be"),
    ({"loss": NDCG(k=1.5)}, "'k' parameter of NDCG must be"),
    ({"loss": NDCG(gain="quadratic")}, "'gain' parameter of NDCG must be"),
    ({"loss": NDCG(discount="linear")}, "'discount' parameter of NDCG must be"),
    ({"representation": "onehot"}, "representation='onehot' is not known; accepted are 'log', .*RankingRepresentation"),
    ({"representation": PowerRank}, "representation=PowerRank is a class; pass an instance"),
    ({"representation": PowerRank(alpha=0)}, "'alpha' parameter of PowerRank must be"),
    ({"representation": PowerRank(alpha=1e-17)}, r"representation=PowerRank\(alpha=1e-17\) must fall strictly"),
    ({"representation": PowerRank(alpha=1000.0)}, r"representation=PowerRank\(alpha=1000.0\) is not finite"),
    ({"representation": np.arange(3)}, "'representation' parameter of PredtronRanker must be"),
]


@pytest.mark.filterwarnings("ignore:overflow")
@pytest.mark.parametrize(("settings", "message"), BAD_SETTINGS, ids=[str(settings) for settings, _ in BAD_SETTINGS])
def test_parameters_that_are_none(settings, message):
    X, y, qid = make_data(grades=(0, 1))
    fresh, fitted, streamed = ranker(**settings), ranker().fit(X, y, qid), ranker().partial_fit(X, y, qid)
    for model in (fresh, fitted.set_params(**settings), streamed.set_params(**settings)):
        refuses(model, lambda model=model: model.fit(X, y, qid), message)
        refuses(model, lambda model=model: model.partial_fit(X, y, qid), message)
        refuses(model, lambda model=model: model.partial_fit(X[:4], y[:4]), message)
    with pytest.raises(NotFittedError):
        check_is_fitted(fresh)
    if settings.get("update") != "mmp":
        X, y = make_labels(grades=(0, 1))
        labels = label_ranker(**settings)
        refuses(labels, lambda: labels.fit(X, y), message.replace("PredtronRanker", "PredtronLabelRanker"))


@pytest.mark.parametrize("settings", [{"fit_intercept": False}, {"class_weight": "balanced"}, {"intercept_scaling": 1.0}])
def test_parameters_that_a_ranker_of_documents_does_not_have(settings):
    with pytest.raises(TypeError, match="unexpected keyword argument"):
        PredtronRanker(**settings)


def test_parameters_of_aliases_are_refused_with_advice():
    with pytest.raises(ValueError, match=r"loss__k=3 cannot be set in an alias; pass loss=NDCG\(k=3\)"):
        PredtronRanker().set_params(loss__k=3)


@pytest.mark.parametrize("update", [LossAugmented(eta="theory"), LossDriven(eta="theory")], ids=str)
def test_a_step_without_a_theorem_is_refused_for_single_documents_too(update):
    """Whose representations are all at one place."""
    X, y, _ = make_data(grades=(0, 1))
    model = ranker(update=update, loss="kendall_tau")
    with pytest.warns(UserWarning, match="every query has one document"):
        refuses(
            model, lambda: model.partial_fit(X[:2], y[:2], qid=[0, 1]), r"eta='theory'\) has no theorem for the pairwise form"
        )
