"""What a fold model has learned does not depend on the rows that are held out of it."""

import numpy as np
import pytest
from golden.write import FAMILIES, data
from sklearn.model_selection import KFold

from sklearn_predtron import PredtronSequenceTagger
from sklearn_predtron.families.training import runs

WITH_FOLDS = {name: kind for name, kind in FAMILIES.items() if "cv" in kind._get_param_names()} | {
    "sequences": PredtronSequenceTagger
}
MAPS = [None, "piecewise", "auto", "fourier"]
N_FOLDS = 3


def weights_of_folds(monkeypatch, model, X, y, given):
    """The weights of the fold models whenever their held-out rows are scored, by the first of these rows."""
    found = {}
    held_out = runs.FoldModel.held_out

    def recorded(fold_model):
        W, b = fold_model.learner.read(lambda weights: weights.last())
        at = fold_model.learner.t, np.shape(W), int(fold_model.rows[0])
        found.setdefault(at, []).append((np.asarray(W).tobytes(), np.asarray(b).tobytes()))
        return held_out(fold_model)

    monkeypatch.setattr(runs.FoldModel, "held_out", recorded)
    model.fit(X, y, **given)
    monkeypatch.undo()
    return found


@pytest.mark.filterwarnings("ignore")  # of few rows
@pytest.mark.parametrize(("features", "n_columns"), [(features, 0) for features in MAPS] + [("piecewise", 20), ("auto", 20)])
@pytest.mark.parametrize("family", WITH_FOLDS)
def test_held_out_rows_do_not_change_a_fold_model(family, features, n_columns, monkeypatch):
    """Of twenty columns more, labels decide which pairs have products."""
    kind = WITH_FOLDS[family]
    X, y, given = data("multiclass" if family == "sequences" else family)
    X = np.hstack([X, np.random.default_rng(0).standard_normal((len(X), n_columns))])
    given = {"sid": np.repeat(np.arange(10), 4)} if family == "sequences" else given
    settings = {"random_state": 0, "max_iter": 3, "cv": KFold(N_FOLDS), "features": features}
    n_units = len(X) // (4 if given else 1)
    (_, units), *_ = KFold(N_FOLDS).split(np.zeros(n_units))
    rows = np.isin(np.arange(len(X)) // (4 if given else 1), units)
    other_X, other_y = X.copy(), y.copy()
    other_y[rows] = y[rows][::-1]
    if features is None:  # knots and scales of a map are those of all rows, without their labels
        other_X[rows] = X[rows] + 0.3 * np.cos(np.arange(rows.sum()))[:, None]
    before = weights_of_folds(monkeypatch, kind(**settings), X, y, given)
    after = weights_of_folds(monkeypatch, kind(**settings), other_X, other_y, given)
    first = [at for at in before if rows[at[2]]]
    assert first and all(after[at] == before[at] for at in first)
    assert any(after.get(at) != before[at] for at in before if not rows[at[2]])  # the others learn from these rows
