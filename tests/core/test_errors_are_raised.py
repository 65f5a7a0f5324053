"""No error, an interrupt among them, is lost in compiled code: what cannot raise calls nothing that does."""

import re
from pathlib import Path

import numpy as np
import pytest

from sklearn_predtron import PredtronSequenceTagger
from sklearn_predtron.datasets import make_sequences
from sklearn_predtron.losses import SequenceHamming

GENERATED = sorted(Path(__file__).parents[2].glob("build/cython*/sklearn_predtron/**/*.c"))

# They hold the interpreter's lock for a body that catches whatever it raises.
CATCH_ALL = {
    "problems._user.UserProblem.decode_competitor",
    "problems._user.UserProblem.loss_augmented_competitor",
    "decisions._recent_scores.RecentScores.set_size",
    "decisions._rejection_tracker.RejectionTracker.follow",
    "problems._counts.TabulatedSetLoss.bind_label",
    "datasets._svmlight.odd_number",
    "datasets._svmlight.odd_index",
}


@pytest.mark.skipif(not GENERATED, reason="the C that Cython wrote is not kept with an installed package")
def test_no_function_prints_an_error_instead_of_raising_it():
    found = set()
    for path in GENERATED:
        found.update(re.findall(r'__Pyx_WriteUnraisable\("sklearn_predtron\.([^"]+)"', path.read_text()))
    assert found <= CATCH_ALL


def test_an_interrupt_while_the_largest_loss_is_sought_is_raised(monkeypatch):
    X, y, sid = make_sequences(20, random_state=0)
    K, real, asked = len(np.unique(y)), np.max, []

    def interrupted(values, *args, **more):
        if "memoryview" in type(values).__name__ and not asked:
            asked.append(values)
            raise KeyboardInterrupt
        return real(values, *args, **more)

    monkeypatch.setattr(np, "max", interrupted)
    model = PredtronSequenceTagger(loss=SequenceHamming(2.0 * (1 - np.eye(K))))
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y, sid=sid)
    assert asked
    assert not hasattr(model, "classes_")
