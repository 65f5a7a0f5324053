"""Joint features in the plain-Python learner: each round has a table of them, a row for each prediction."""

import numpy as np

from reference.learner import Reference


class JointReference(Reference):
    """A learner of w whose rounds are tables Phi(x, .), of shape (k, p), as if they were codes and w the scores."""

    def __init__(self, cost, p, rule, parameters):
        super().__init__(np.zeros((np.shape(cost)[1], p)), cost, 1, rule, parameters, intercept=None)
        self.D2 = 1.0

    def learn(self, X, y, weight=None):
        weight = np.ones(len(X)) if weight is None else weight
        for table, label, w in zip(X, y, weight, strict=True):
            if w > 0:
                self.code = np.asarray(table, dtype=float)
                self.learn_one(np.ones(1), label, w)
        return self

    def squared_radius(self, x, norm2, r2):
        """The radius is that of the differences of features, which are known later in the round."""
        return 0.0

    def _predtron(self, r):
        return super()._predtron(self.measured(r, r.augmented))

    def _loss_driven(self, r):
        return super()._loss_driven(self.measured(r, r.predicted))

    def measured(self, r, competitor):
        """The round, after its difference of features has been seen, if it is one of a step."""
        if r.suffered > 0:
            self.R2 = max(self.R2, ((self.code[competitor] - self.code[r.right]) ** 2).sum())
        return r
