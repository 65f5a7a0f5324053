"""The norms' links in plain NumPy: W of the dual weights Theta, and what measures inputs and directions."""

import numpy as np


class Euclidean:
    """W = Theta."""

    q = 2.0
    curvature = 1.0  # q - 1, or less where "adaptive" takes longer steps
    joined = False  # whether the intercept's feature is one more column of Theta

    def link(self, Theta):
        return Theta

    def length(self, x):
        return np.linalg.norm(x)

    def of_scores(self, g):
        return np.linalg.norm(g)


class PNorm(Euclidean):
    """Entries to the power q - 1, over the q-norm to the power q - 2."""

    joined = True

    def __init__(self, q, curvature=None):
        self.q = q
        self.curvature = q - 1 if curvature is None else curvature

    def link(self, Theta):
        size = self.size(Theta)
        if size == 0:
            return np.zeros_like(Theta)
        return np.sign(Theta) * np.abs(Theta / size) ** (self.q - 1) * size

    def size(self, Theta):
        return self.length(Theta.ravel())

    def length(self, x):
        largest = np.abs(x).max(initial=0)
        return largest * (np.abs(x / largest) ** self.q).sum() ** (1 / self.q) if largest > 0 else 0.0

    def of_scores(self, g):
        return self.length(g)


class Group(PNorm):
    """Columns times their length to the power q - 2, over the q-norm of the lengths to the same power."""

    def link(self, Theta):
        lengths = np.linalg.norm(Theta, axis=0)
        size = self.length(lengths)
        if size == 0:
            return np.zeros_like(Theta)
        return Theta * np.where(lengths > 0, lengths / size, 1) ** (self.q - 2)

    def of_scores(self, g):
        return np.linalg.norm(g)


def power_link(theta, r):
    """U diag(s^(r - 1)) V^T / |theta|_S(r)^(r - 2): the gradient of |.|_S(r)^2 / 2; equal rows stay so to the last bit."""
    touched = theta.any(axis=1)
    if not touched.any():
        return np.zeros_like(theta)
    U, s, V = np.linalg.svd(theta[touched], full_matrices=False)
    top, s = s[0], s / s[0]
    W = np.zeros_like(theta)
    W[touched] = top * (U * s ** (r - 1)) @ V / np.sum(s**r) ** (1 - 2 / r)
    _, first, same = np.unique(theta, axis=0, return_index=True, return_inverse=True)
    return W[first[same.ravel()]]


class Trace(Euclidean):
    """Singular values to the power q - 1, over their q-norm to the power q - 2; the intercept stands apart."""

    def __init__(self, q):
        self.q = q
        self.curvature = q - 1

    def link(self, Theta):
        return power_link(Theta, self.q)
