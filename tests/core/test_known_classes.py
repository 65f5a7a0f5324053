"""The fast path of streams recognises the classes of an earlier call, and only those."""

import numpy as np
import pandas as pd
import pytest

from sklearn_predtron import PredtronClassifier, PredtronMultilabelClassifier, PredtronSequenceTagger

ROWS = np.random.default_rng(0).standard_normal((40, 3))
CODES = np.arange(40) % 3


def refuse(*args, **kwargs):
    raise AssertionError("the call took the general path")


@pytest.mark.parametrize("classes", [[0, 1, 2], (0, 1, 2), np.arange(3), np.arange(3.0)], ids=lambda value: type(value).__name__)
def test_classes_in_every_call_take_the_fast_path(classes, monkeypatch):
    plain = PredtronClassifier().partial_fit(ROWS[:20], CODES[:20], classes=[0, 1, 2]).partial_fit(ROWS[20:], CODES[20:])
    model = PredtronClassifier().partial_fit(ROWS[:20], CODES[:20], classes=classes)
    monkeypatch.setattr(PredtronClassifier, "_partial_fit", refuse)
    for i in range(20, 40):
        again = classes.copy() if isinstance(classes, np.ndarray) else type(classes)(list(classes))
        model.partial_fit(ROWS[i : i + 1], CODES[i : i + 1], classes=again)
    np.testing.assert_array_equal(model.coef_, plain.coef_)


@pytest.mark.parametrize("other", [[0, 1], [0, 1, 3], np.array([0, 1, 2, 3]), ["0", "1", "2"], "012"])
def test_other_classes_are_an_error_as_before(other):
    model = PredtronClassifier().partial_fit(ROWS, CODES, classes=[0, 1, 2])
    with pytest.raises(ValueError, match="classes="):
        model.partial_fit(ROWS, CODES, classes=other)
    assert model.t_ == 40


@pytest.mark.parametrize("other", [[0, 1, pd.NA], [np.array([0, 1]), 1, 2]], ids=["missing", "array"])
def test_values_that_are_no_labels_are_refused_by_name(other):
    model = PredtronClassifier().partial_fit(ROWS, CODES, classes=[0, 1, 2])
    with pytest.raises(ValueError, match="classes"):
        model.partial_fit(ROWS, CODES, classes=other)
    assert model.t_ == 40


def test_a_list_that_was_changed_in_place_is_another_one():
    classes = [0, 1, 2]
    model = PredtronClassifier().partial_fit(ROWS, CODES, classes=classes)
    classes[2] = 7
    with pytest.raises(ValueError, match="New are"):
        model.partial_fit(ROWS, CODES, classes=classes)


def test_classes_of_sets_and_tokens():
    sets = (ROWS > 0).astype(int)
    model = PredtronMultilabelClassifier().partial_fit(ROWS, sets, classes=[0, 1, 2]).partial_fit(ROWS, sets, classes=[0, 1, 2])
    assert model.t_ == 80
    tagger = PredtronSequenceTagger().partial_fit(ROWS, CODES, classes=[0, 1, 2], sid="one")
    assert tagger.partial_fit(ROWS, CODES, classes=[0, 1, 2], sid="one").t_ == 2
