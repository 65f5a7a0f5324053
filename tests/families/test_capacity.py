"""Costs by row within a bound of the share of rows that have an answer, and costs that are known with the true label."""

import numpy as np
import pytest
from sklearn import config_context
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_validate

from sklearn_predtron import PredtronBinaryClassifier, PredtronClassifier, PredtronOrdinalClassifier, load, predictor
from sklearn_predtron.decisions import AtLeast, AtMost, ExpectedCost
from sklearn_predtron.inspection import CostDisplay
from sklearn_predtron.losses import Reject
from sklearn_predtron.metrics import cost_scorer, savings_score

RNG = np.random.default_rng(0)
N, SHARE = 6000, 0.03
X = RNG.standard_normal((N, 4))
FRAUD = X[:, 0] + X[:, 1] + RNG.standard_normal(N) > 3
AMOUNT = RNG.lognormal(2, 1, N)
FIRST, REST = slice(0, 3000), slice(3000, None)
QUOTA = AtMost("predicted_rate", SHARE, label=True)


def costs(rows):
    """A missed fraud costs its amount, an alarm 1."""
    return {(True, False): AMOUNT[rows], (False, True): 1.0, (True, True): 1.0}


def quota(bound=QUOTA, confidence=None, **parameters):
    decision = ExpectedCost(subject_to=[bound], confidence=confidence)
    return PredtronBinaryClassifier(decision=decision, features=None, random_state=0, **parameters)


@pytest.fixture(scope="module")
def model():
    return quota().fit(X[FIRST], FRAUD[FIRST], costs=costs(FIRST))


def test_the_rows_that_save_most_within_the_share_have_the_answer(model):
    saving = model.predict_proba(X[REST])[:, 1] * AMOUNT[REST] - 1
    assert (saving > 0).sum() > 90  # the share binds
    best = np.sort(np.argsort(-saving)[:90])
    assert (np.flatnonzero(model.predict(X[REST], costs=costs(REST))) == best).all()
    few = model.predict(X[3000:3100], costs=costs(slice(3000, 3100)))
    assert (np.flatnonzero(few) == np.sort(np.argsort(-saving[:100])[: min(3, (saving[:100] > 0).sum())])).all()


def test_a_share_that_does_not_bind_changes_nothing():
    wide = quota(AtMost("predicted_rate", 0.9, label=True)).fit(X[FIRST], FRAUD[FIRST])
    free = PredtronBinaryClassifier(features=None, random_state=0).fit(X[FIRST], FRAUD[FIRST])
    assert (wide.predict(X[REST], costs=costs(REST)) == free.predict(X[REST], costs=costs(REST))).all()


@pytest.mark.parametrize("confidence", [None, 0.95])
def test_single_rows_exceed_a_limit_of_the_saving(confidence, tmp_path):
    model = quota(confidence=confidence).fit(X[FIRST], FRAUD[FIRST], costs=costs(FIRST))
    model.save(tmp_path / "model")
    alone, loaded = predictor.load(tmp_path / "model"), load(tmp_path / "model")
    saving = model.predict_proba(X[REST])[:, 1] * AMOUNT[REST] - 1
    found = np.array([alone.predict(X[[i]], costs=costs([i]))[0] for i in range(3000, N)])
    assert saving[found].min() > saving[~found].max() > 0
    assert SHARE * (0.75 if confidence is None else 0.5) < found.mean() < SHARE * (1.3 if confidence is None else 1.0)
    for one in (model, loaded):
        assert [one.predict(X[[i]], costs=costs([i]))[0] for i in range(3000, 3200)] == found[:200].tolist()
        assert (one.predict(X[REST], costs=costs(REST)) == alone.predict(X[REST], costs=costs(REST))).all()
    model.partial_fit(X[3000:3100], FRAUD[3000:3100], costs=costs(slice(3000, 3100)))
    assert model.predict(X[:1], costs=costs(slice(1))).shape == (1,)


def test_abstentions_within_a_share():
    bound = AtMost("abstention_rate", 0.05)
    model = PredtronClassifier(decision=ExpectedCost(subject_to=[bound]), reject=0.05, features=None, random_state=0)
    y = np.digitize(X[:, 0] + 0.5 * RNG.standard_normal(N), [-0.5, 0.5])
    table = np.repeat(np.append(1.0 - np.eye(3), np.full((3, 1), 0.05), axis=1)[None], N, axis=0) * AMOUNT[:, None, None]
    model.fit(X[FIRST], y[FIRST], costs=table[FIRST])
    expected = np.einsum("nk,nkm->nm", model.predict_proba(X[REST]), table[REST])
    saving = expected[:, :3].min(axis=1) - expected[:, 3]
    assert (saving > 0).sum() > 150
    found = model.predict(X[REST], costs=table[REST])
    assert (np.flatnonzero(found == -1) == np.sort(np.argsort(-saving)[:150])).all()
    others = found != -1
    assert (found[others] == expected[others, :3].argmin(axis=1)).all()


@pytest.mark.parametrize(
    ("bound", "fitted", "rows", "match"),
    [
        (AtLeast("recall", 0.5, label=True), True, 3000, r"^costs of rows do not go with decision\.subject_to=\[AtLeast"),
        (AtLeast("predicted_rate", 0.01, label=True), True, 3000, r"accepted are AtMost\('predicted_rate', \.\.\., label="),
        (QUOTA, False, 10, r"^X has 10 rows, of which the share 0\.03 .* accepted here are 34 rows or more\.$"),
    ],
)
def test_refused(bound, fitted, rows, match):
    model = quota(bound).fit(X[FIRST], FRAUD[FIRST], costs=costs(FIRST) if fitted else None)
    with pytest.raises(ValueError, match=match):
        model.predict(X[:rows], costs=costs(slice(rows)))


def test_another_share_than_that_of_the_fit_has_no_limit(model):
    other = quota(AtMost("predicted_rate", 0.01, label=True)).fit(X[FIRST], FRAUD[FIRST], costs=costs(FIRST))
    other.set_params(decision=model.decision)
    with pytest.raises(ValueError, match=r"^X has 1 rows, of which the share 0\.03"):
        other.predict(X[:1], costs=costs(slice(1)))


# ------------------------------------------------------------------------------------- costs that are known with the label

REALISED = np.where(FRAUD[:, None], np.column_stack([AMOUNT, np.ones(N)]), [[0.0, 1.0]])


@pytest.mark.parametrize("kind", [PredtronBinaryClassifier, PredtronClassifier, PredtronOrdinalClassifier])
def test_costs_known_with_the_label_decide_by_their_means(kind):
    model = kind(random_state=0, features=None).fit(X[FIRST], FRAUD[FIRST], costs=REALISED[FIRST])
    P = model.predict_proba(X[REST])
    assert P[:, 1].mean() == pytest.approx(FRAUD[REST].mean(), rel=0.1)  # no row is weighted by what depends on its label
    means = np.array([REALISED[FIRST][FRAUD[FIRST] == label].mean(axis=0) for label in (False, True)])
    found = model.predict(X[REST])
    assert (found == ((P @ means).argmin(axis=1) == 1)).all()
    paid = REALISED[REST][np.arange(3000), found.astype(int)]
    assert (model.sample_loss(X[REST], FRAUD[REST], costs=REALISED[REST]) == paid).all()
    assert model.score(X[REST], FRAUD[REST], costs=REALISED[REST]) == pytest.approx(-paid.mean(), rel=1e-12)
    with config_context(enable_metadata_routing=True):
        assert cost_scorer()(model, X[REST], FRAUD[REST], costs=REALISED[REST]) == pytest.approx(-paid.mean(), rel=1e-12)
    constant = min(REALISED[REST].sum(axis=0))
    assert savings_score(FRAUD[REST], found, REALISED[REST]) == pytest.approx(1 - paid.sum() / constant, rel=1e-12)
    with pytest.raises(ValueError, match=r"^costs has shape \(3000, 2\): what each prediction costs in a row is known with its"):
        model.predict(X[REST], costs=REALISED[REST])


def test_noise_seems_to_cost_what_it_costs():
    noise = RNG.standard_normal((1000, 3))
    y = RNG.random(1000) < 0.25
    realised = np.where(y[:, None], [[1.0, 0.0]], [[0.0, 1.0]])
    with config_context(enable_metadata_routing=True):
        for one in (PredtronBinaryClassifier(random_state=0), LogisticRegression().set_fit_request(sample_weight=False)):
            found = cross_validate(one, noise, y, scoring=cost_scorer(), params={"costs": realised})["test_score"]
            assert -found.mean() == pytest.approx(0.25, abs=0.03)


def test_scorers_weigh_abstentions_and_capacities_as_score_does():
    """In all forms of costs, those without abstentions too, which then cost what they do for the model."""
    costs_of_classes = np.repeat(1.0 - np.eye(2)[None], N, axis=0) * AMOUNT[:, None, None]
    whole = np.concatenate([costs_of_classes, np.full((N, 2, 1), 0.2)], axis=2)
    y = FRAUD.astype(int)
    for decision in (None, ExpectedCost(subject_to=[AtMost("abstention_rate", 0.02)])):
        model = PredtronClassifier(decision=decision, reject=0.2, features=None, random_state=0).fit(X[FIRST], y[FIRST])
        expected = model.score(X[REST], y[REST], costs=whole[REST])
        assert (model.predict(X[REST], costs=whole[REST]) == -1).any()
        with config_context(enable_metadata_routing=True):
            for given in (whole[REST], costs_of_classes[REST]):
                assert cost_scorer()(model, X[REST], y[REST], costs=given) == pytest.approx(expected, rel=1e-12)
        display = CostDisplay.from_estimator(model, X[REST], y[REST], costs=whole[REST])
        assert display.threshold == pytest.approx((model.predict(X[REST], costs=whole[REST]) == 1).mean())


def test_costs_known_with_the_label_leave_the_weights_of_the_loss():
    loss = {(True, False): 20.0}
    with_costs = PredtronBinaryClassifier(loss=loss, random_state=0, features=None).fit(
        X[FIRST], FRAUD[FIRST], costs=REALISED[FIRST]
    )
    alone = PredtronBinaryClassifier(loss=loss, random_state=0, features=None).fit(X[FIRST], FRAUD[FIRST])
    assert (with_costs.coef_ == alone.coef_).all() and (with_costs.predict(X) == alone.predict(X)).all()


def test_a_stream_of_costs_known_with_the_label_is_the_same_in_any_split():
    whole = PredtronBinaryClassifier(random_state=0)
    whole.partial_fit(X[:900], FRAUD[:900], classes=[False, True], costs=REALISED[:900])
    split = PredtronBinaryClassifier(random_state=0)
    for part in (slice(0, 1), slice(1, 400), slice(400, 900)):
        split.partial_fit(X[part], FRAUD[part], classes=[False, True], costs=REALISED[part])
    assert (split.predict(X) == whole.predict(X)).all() and (split.coef_ == whole.coef_).all()


@pytest.mark.parametrize(("value", "match"), [(-1.0, "has -1 for the pair"), (np.nan, "has nan for the pair")])
def test_costs_known_with_the_label_are_checked(value, match):
    wrong = REALISED[FIRST].copy()
    wrong[7, 1] = value
    model = PredtronBinaryClassifier(reject=Reject(risk=0.1), random_state=0)
    with pytest.raises(ValueError, match=r"^costs do not go with reject\.risk"):
        model.fit(X[FIRST], FRAUD[FIRST].astype(int), costs=wrong)
    with pytest.raises(ValueError, match=match):
        model.set_params(reject=None).fit(X[FIRST], FRAUD[FIRST], costs=wrong)
