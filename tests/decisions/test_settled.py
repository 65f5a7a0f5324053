"""What a decision has settled is saved, and what comes from a file is checked before anything is made of it."""

import copy
import pickle

import joblib
import numpy as np
import pytest

from sklearn_predtron import (
    PredtronBinaryClassifier,
    PredtronBipartiteClassifier,
    PredtronClassifier,
    PredtronMultilabelClassifier,
    PredtronOrdinalClassifier,
)
from sklearn_predtron.decisions._calibration import Calibration

RANDOM = np.random.default_rng(0)
X = RANDOM.standard_normal((150, 4))
SCORE = X[:, 0] + 0.5 * RANDOM.standard_normal(150)
TWO, RANKS, SETS = (SCORE > 0).astype(int), np.digitize(SCORE, [-0.5, 0.5]), (X @ RANDOM.standard_normal((4, 3)) > 0).astype(int)
MODELS = {
    "two": (PredtronBinaryClassifier(loss=[[0, 1], [5, 0]]), TWO),
    "cut": (PredtronBinaryClassifier(decision="f1"), TWO),
    "reject": (PredtronClassifier(reject=0.2), RANKS),
    "ranks": (PredtronOrdinalClassifier(loss="squared"), RANKS),
    "sets": (PredtronMultilabelClassifier(loss="f1"), SETS),
    "batches": (PredtronBipartiteClassifier(loss="auc"), TWO),
}
NEGATIVE = -1  # which a cut may be
BAD = [None, "text", np.nan, NEGATIVE, (), np.array([np.nan]), np.zeros((2, 2, 2))]


def learned(name):
    model, y = MODELS[name]
    return type(model)(**model.get_params(deep=False)).set_params(random_state=0, max_iter=3).fit(X, y)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("way", ["pickle", "joblib", "memory map"])
def test_saved_models_predict_the_same_bits(name, way, tmp_path):
    model = learned(name)
    joblib.dump(model, tmp_path / "model")
    same = (
        pickle.loads(pickle.dumps(model)) if way == "pickle" else joblib.load(tmp_path / "model", "r" if way[0] == "m" else None)
    )
    y = MODELS[name][1]
    for _ in range(2):
        np.testing.assert_array_equal(same.predict(X), model.predict(X))
        np.testing.assert_array_equal(same.predict_proba(X), model.predict_proba(X))
        for each in (model, same):
            each.partial_fit(X, y)


def places(value, path=()):
    """The paths to all that a value is made of."""
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, (list, tuple)) else ()
    for place, inner in items:
        yield from places(inner, (*path, place))


def with_value(value, path, new):
    if not path:
        return new
    if isinstance(value, dict):
        return {**value, path[0]: with_value(value.get(path[0]), path[1:], new)}
    return [with_value(inner, path[1:], new) if i == path[0] else inner for i, inner in enumerate(value)]


def damaged(state, kind, path, bad):
    """A saved state with another value in what was settled, or in the scores that were recorded."""
    parts = [dict(part) for part in state["_model"]["parts"]]
    if kind == "Model":
        fields = dict(parts[-1]["state"])
        parts[-1]["state"] = [
            [name, value]
            for name, value in {**fields, "fitted_decision": with_value(fields["fitted_decision"], path, bad)}.items()
        ]
    else:
        part = next(part for part in parts if part["kind"] == kind)
        part["state"] = with_value(part["state"], path, bad)
    return {**state, "_model": {**state["_model"], "parts": parts}}


@pytest.mark.parametrize("name", MODELS)
def test_damaged_values_are_refused(name):
    """As the model is loaded: of NaN predictions would be read where nothing is."""
    model = learned(name)
    state = model.__getstate__()
    parts, tried = state["_model"]["parts"], 0
    found = {"Model": dict(parts[-1]["state"])["fitted_decision"]}
    found |= {part["kind"]: part["state"] for part in parts if part["kind"] == "RecentScores"}
    for kind, value in found.items():
        for path in places(value):
            if kind == "Model" and path in [(), ("cut", 1)]:  # nothing settled, and whatever names a measure
                continue
            for bad in BAD if path not in [("cut", 2, 0), ("fitted",)] else [bad for bad in BAD if bad is not NEGATIVE]:
                if path == ("plug_in", 1) and isinstance(bad, tuple):  # a measure without parameters
                    continue
                if kind == "RecentScores" and path == (6,) and isinstance(bad, tuple):  # no rows since a mark
                    continue
                with pytest.raises(ValueError, match="damaged"):
                    type(model)().__setstate__(damaged(state, kind, path, bad))
                tried += 1
    assert tried > 30


@pytest.mark.parametrize(
    ("name", "path", "bad", "message"),
    [
        ("two", ("map", 2, 0), np.zeros(1), "below 4.94066e-324"),
        ("two", ("map", 2, 1), np.array([[0.0, 1.0, 2.0]]), "a curve falls"),
        ("sets", ("map", 2, 0), np.ones(2), "there are 2 curves, and 3 scores"),
        ("two", ("map", 2, 2), np.array([[1.0, 0.0]]), "the least score is above the largest"),
        ("reject", ("map", 2, 4), np.zeros(6), "a map of 3 classes has 6 numbers"),
        ("ranks", ("map", 2), (np.ones(2),), "where a map is expected"),
        ("two", ("map", 1), 0.0, "is not a number between"),
        ("two", ("other",), 1, "where a map, a cut or a choice is expected"),
    ],
)
def test_what_no_decision_settles_is_refused_by_name(name, path, bad, message):
    state = learned(name).__getstate__()
    with pytest.raises(ValueError, match=f"The saved model is damaged: .*{message}"):
        type(MODELS[name][0])().__setstate__(damaged(state, "Model", path, bad))


def test_a_stream_fits_its_map_once_for_each_mark_when_a_prediction_needs_it(monkeypatch):
    fits, fit = [], Calibration.fit
    monkeypatch.setattr(Calibration, "fit", lambda self, problem, held: fits.append(len(held.scores)) or fit(self, problem, held))
    model = PredtronBinaryClassifier(loss=[[0, 1], [5, 0]]).partial_fit(X[:100], TWO[:100], classes=[0, 1])
    assert fits == []
    for rows, expected in [(X[:0], 1), (X[:1], 1), (X[100:130], 2)]:
        if len(rows):
            model.partial_fit(rows, TWO[: len(rows)])
        for _ in range(2):
            model.predict(X)
            model.predict_proba(X)
        assert len(fits) == expected


@pytest.mark.parametrize("way", [copy.deepcopy, lambda value: pickle.loads(pickle.dumps(value))], ids=["copy", "pickle"])
@pytest.mark.parametrize("size", [1, 150])  # the fast path of rows, and batches
def test_copies_record_rows_by_their_frequency_not_by_the_weights_of_their_classes(way, size):
    model = PredtronBinaryClassifier(loss=[[0, 1], [4, 0]], average="linear").partial_fit(X[:50], TWO[:50], classes=[0, 1])
    other = way(model)
    for first in range(50, 150, size):
        other.partial_fit(X[first : first + size], TWO[first : first + size])
    assert (other._model.learner.observer.rows()[2] == np.ones(150)).all()
