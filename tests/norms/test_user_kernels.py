"""What a user's own kernel returns is checked where it is first used."""

import numpy as np
import pytest
from cases import Hours
from refusals import QID, RELEVANCE, X, Y, frozen, y3

from sklearn_predtron import (
    Predtron,
    PredtronBinaryClassifier,
    PredtronClassifier,
    PredtronLabelRanker,
    PredtronMultilabelClassifier,
    PredtronOrdinalClassifier,
    PredtronRanker,
)
from sklearn_predtron.norms import RKHS


def linear(A, B):
    return A @ B.T


def marred(value):
    def kernel(A, B):
        K = linear(A, B)
        K[0, -1] = value
        return K

    return kernel


BAD_KERNELS = {
    "NaN": (marred(np.nan), "returned nan for two rows of finite numbers"),
    "infinite": (marred(np.inf), "returned inf for two rows of finite numbers"),
    "complex": (lambda A, B: linear(A, B) + 0j, "not hold numbers"),
    "text": (lambda A, B: linear(A, B).astype(str), "not hold numbers"),
    "objects": (lambda A, B: np.full((len(A), len(B)), None), "not hold numbers"),
    "transposed": (lambda A, B: np.ones((len(B), len(A) + 1)), r"returned shape \("),
    "not symmetric": (lambda A, B: linear(A, B) + A[:, :1] - B[:, 0], r"k\(x, z\) = .* and k\(z, x\) = "),
    "negative": (lambda A, B: -linear(A, B), r"returned k\(x, x\) = -"),
}


@pytest.mark.parametrize("bad", BAD_KERNELS)
def test_kernels_that_are_none(bad):
    kernel, message = BAD_KERNELS[bad]
    cases = [
        (PredtronClassifier, y3, {}),
        (PredtronBinaryClassifier, y3 > 0, {}),
        (PredtronOrdinalClassifier, y3, {}),
        (PredtronMultilabelClassifier, Y, {}),
        (PredtronLabelRanker, RELEVANCE, {}),
        (PredtronRanker, RELEVANCE[:, 0], {"qid": QID}),
        (lambda **given: Predtron(Hours(), **given), y3, {}),
    ]
    for make, labels, more in cases:
        for budget in [None, 5]:
            model = make(norm=RKHS(kernel=kernel, budget=budget))
            before = frozen(model)
            with pytest.raises(ValueError, match=rf"^kernel=.*{message}.*; accepted is a"):
                model.fit(X, labels, **more)
            assert frozen(model) == before


def test_a_kernel_of_rows_that_are_not_finite():
    for value, says in [(np.nan, "X contains NaN"), (np.inf, "X contains infinity")]:
        broken = X.copy()
        broken[3, 1] = value
        with np.errstate(all="ignore"), pytest.raises(ValueError, match=says):
            PredtronClassifier(norm=RKHS(kernel=linear)).fit(broken, y3)
