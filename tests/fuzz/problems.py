"""Draw problems in Python: places on a circle, by scores or by joint features in any form."""

from typing import Any

import numpy as np
from scipy import sparse

from sklearn_predtron import JointProblem, Problem
from tests.own_checks.data import disordered

FORMS = ["dense", "one array", "csr", "disordered"]


def circle(k: int) -> np.ndarray:
    """Place k points on the unit circle, at angles that never tie by symmetry."""
    angle = (np.arange(k) + 0.1 * np.sin(1 + np.arange(k))) * 2 * np.pi / k
    return np.column_stack([np.cos(angle), np.sin(angle)])


class OnCircle:
    """Lose by the way round between two of k places."""

    c_L = 1.0
    k: int

    @property
    def C_L(self) -> float:
        return float(self.k // 2)

    def loss(self, prediction: Any, y: Any) -> float:
        way = abs(prediction - y) % self.k
        return float(min(way, self.k - way))

    def losses(self, y: Any) -> list[float]:
        return [self.loss(place, y) for place in range(self.k)]


class Circle(OnCircle, Problem):
    """Predict a place by two scores."""

    n_scores = 2

    def __init__(self, k: int = 6):
        self.k = k

    def decode(self, t: Any) -> int:
        return int((circle(self.k) @ t).argmax())

    def representation(self, prediction: Any) -> np.ndarray:
        return circle(self.k)[prediction]

    def augmented_decode(self, t: Any, y: Any) -> int:
        return int((circle(self.k) @ t + self.losses(y)).argmax())


class JointCircle(OnCircle, JointProblem):
    """Predict a place for a row x by Phi(x, place) = point of the place (x) x, which is what `Circle` does."""

    def __init__(self, k: int, p: int, form: str = "dense"):
        self.k, self.p, self.form = k, p, form

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the answer of the last round."""
        return {name: value for name, value in vars(self).items() if name != "given"}

    @property
    def n_features(self) -> int:  # type: ignore[override]
        return 2 * self.p

    def _table(self, x: np.ndarray) -> np.ndarray:
        """Compute the features of every place."""
        return np.kron(circle(self.k), x)

    def _features(self, x: Any) -> np.ndarray:
        """Compute the features of every place, of a row in any layout."""
        x = np.asarray(x.toarray() if sparse.issparse(x) else x, dtype=np.float64).ravel()
        if len(x) != self.p or not np.isfinite(x).all():
            raise ValueError(f"x has {len(x)} values, or not all are finite; accepted are {self.p} numbers.")
        return self._table(x)

    def features(self, x: Any, prediction: Any) -> Any:
        """Give the features of a place, in the form that is drawn."""
        found = self._features(x)[prediction]
        if self.form == "dense":
            return found
        if self.form == "one array":  # which the next answer overwrites
            given = vars(self).setdefault("given", np.zeros(self.n_features))
            given[:] = found
            return given
        row = sparse.csr_array(found[None])
        return row if self.form == "csr" else disordered(row, duplicates=True)

    def decode(self, w: Any, x: Any) -> int:
        return int((self._features(x) @ w).argmax())

    def augmented_decode(self, w: Any, x: Any, y: Any) -> int:
        return int((self._features(x) @ w + self.losses(y)).argmax())


class RolledCircle(JointCircle):
    """Predict a place by features that are no product of the row and the place: x rolled by the place, and the place."""

    @property
    def n_features(self) -> int:  # type: ignore[override]
        return self.p + 2 * self.k

    def _table(self, x: np.ndarray) -> np.ndarray:
        """Compute the features of every place."""
        padded = np.concatenate([x, np.zeros(self.k)])
        rolled = np.array([np.roll(padded, place) for place in range(self.k)])
        return np.hstack([rolled, np.eye(self.k)])


def draw_joint(random: np.random.Generator, k: int, p: int) -> JointCircle:
    """Draw a problem of joint features for rows of p values."""
    kind = JointCircle if random.random() < 0.5 else RolledCircle
    return kind(k, p, FORMS[random.integers(len(FORMS))])
