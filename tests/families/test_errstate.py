"""Under numpy.errstate(all="raise") nothing else happens: what underflows is 0, and bad input is refused in the same words."""

import numpy as np
import pytest
from sklearn.base import clone

from sklearn_predtron import PredtronBinaryClassifier
from sklearn_predtron.losses import Reject
from sklearn_predtron.norms import RKHS
from tests.families.test_estimators import ESTIMATORS
from tests.own_checks.data import make_data, seeded

CASES = [
    *ESTIMATORS,
    *(clone(estimator).set_params(norm="scaled") for estimator in ESTIMATORS),
    PredtronBinaryClassifier(norm="trace"),
    PredtronBinaryClassifier(norm="group", average=0.001),
    PredtronBinaryClassifier(norm=RKHS(gamma=1e3)),
    PredtronBinaryClassifier(norm=RKHS(kernel="poly", gamma=1e-100, degree=4)),
    PredtronBinaryClassifier(loss=[[0, 1], [5, 0]]),
    PredtronBinaryClassifier(reject=Reject(cost=0.2, label=-1)),
]


def outcome(data, estimator, X):
    """What a fit, a stream and their predictions come to: numbers, or the words of a refusal."""
    found = []
    for learn in (data.fit, data.stream):
        try:
            model = learn(estimator, X=X)
            found += [model.t_, np.asarray(data.predict(model, X=X), dtype=object).tolist()]
            if hasattr(model, "coef_"):
                found += [np.ravel(model.coef_).tolist(), np.ravel(model.intercept_).tolist()]
        except ValueError as error:
            found.append(str(error))
    return found


@pytest.mark.parametrize("estimator", CASES, ids=str)
@pytest.mark.parametrize("extreme", ["tiny", "large", "far too large", "far too small", "inf", "mixed"])
def test_rows_of_any_size(estimator, extreme):
    data = make_data(seeded(estimator), 0)
    X = data.X.copy()
    if extreme in ("tiny", "large"):
        X *= {"tiny": 1e-130, "large": 1e130}[extreme]
    elif extreme == "mixed":
        X *= 10.0 ** np.linspace(-120, 120, X.shape[1])
    else:
        X[3, 0] = {"far too large": 2e300, "far too small": 1e-300, "inf": np.inf}[extreme]
        X[3, 1:] = 1e-10 if extreme == "far too large" else 0
    want = outcome(data, estimator, X)
    with np.errstate(all="raise"):
        found = outcome(data, estimator, X)
    assert found == want
