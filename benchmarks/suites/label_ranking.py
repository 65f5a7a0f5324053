"""Rankings of labels: the loss of the default, and Kendall's tau, beside one logistic regression for each pair of labels."""

import warnings

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import RepeatedKFold

from benchmarks.contestants import LABEL_RANKING_CONTESTANTS, OursLabelRanker, PairwiseLogistic
from benchmarks.contestants.base import Contestant
from benchmarks.measure import interleave, ratios
from benchmarks.read import label_ranking, standardised
from benchmarks.report import Table, mean_error, spread
from benchmarks.suites.fits import fit_case
from benchmarks.suites.quality import standard_error
from benchmarks.tasks import Options, Task
from sklearn_predtron.metrics import kendall_tau, ndcg

SETS = ("iris", "vehicle", "glass")
FOLDS = (10, 2)
ROWS, COLUMNS, LABELS = 2000, 20, 5
OURS, LOGISTIC = OursLabelRanker("ours, default"), PairwiseLogistic()
CONTESTANTS: list[Contestant] = [OURS, *LABEL_RANKING_CONTESTANTS[1:]]
NO_SETS = "No --data: the losses on iris, vehicle and glass are skipped."


def run(options: Options) -> list[Table]:
    """Fits, losses."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        tables = [fits(options)]
        return tables if options.data is None else [*tables, quality(options)]


# ------------------------------------------------------------------------------------------------------------------- measures


def ndcg_loss(scores: NDArray, Y: NDArray) -> float:
    """The mean of 1 - NDCG of the whole list."""
    return float(1 - ndcg(Y, scores).mean())


def mean_tau(scores: NDArray, Y: NDArray) -> float:
    """The mean of Kendall's tau."""
    return float(kendall_tau(Y, scores).mean())


MEASURES = {"1 - NDCG": ndcg_loss, "Kendall's tau": mean_tau}


# ---------------------------------------------------------------------------------------------------------------------- speed


def fits(options: Options) -> Table:
    """Whole fits beside the logistic regressions."""
    n = options.rows(ROWS)
    X, Y, X_test, Y_test = drawn(n)
    table = Table(
        "Label ranking fits",
        ["learner", "seconds", "times faster (ratio)", *MEASURES],
        note=f"Whole calls of `fit` on {n} rows, {COLUMNS} columns, {LABELS} labels in the order of Gaussian linear functions "
        f"whose noise is as large; ratios to `{LOGISTIC.name}`.  Measured on as many held-out rows.  Defaults of all, and ours "
        "with another loss.  " + ("" if options.data else NO_SETS),
    )
    measured = interleave([fit_case(contestant, Task(LABELS), X, Y) for contestant in CONTESTANTS], options.repeats)
    for contestant in CONTESTANTS:
        found = measured[contestant.name]
        scores = contestant.predict(found.result, X_test)
        values = [measure(scores, Y_test) for measure in MEASURES.values()]
        table.rows.append([contestant.name, found.seconds, spread(ratios(measured[LOGISTIC.name], found)), *values])
    return table


def drawn(n: int, seed: int = 0) -> tuple[NDArray, NDArray, NDArray, NDArray]:
    """Rows and relevances 0, ..., LABELS - 1 to learn from, and as many to test on."""
    rng = np.random.default_rng(seed)
    X, W = rng.standard_normal((2 * n, COLUMNS)), rng.standard_normal((COLUMNS, LABELS))
    latent = X @ W / np.sqrt(COLUMNS) + rng.standard_normal((2 * n, LABELS))
    Y = latent.argsort(axis=1).argsort(axis=1).astype(float)
    return X[:n], Y[:n], X[n:], Y[n:]


# -------------------------------------------------------------------------------------------------------------------- quality


def quality(options: Options) -> Table:
    """Measures on the sets of --data."""
    table = Table(
        "Label ranking quality",
        ["data", "folds", "learner", "1 - NDCG", "ratio", "difference", "Kendall's tau", "difference"],
        note=f"Mean ± standard error over the folds, {options.seeds} times as many; the relevance of a label is the number of "
        "labels less its position; features standardised on the training part.  Defaults of all, and ours with "
        '`loss="kendall_tau", representation="linear"`.  Ratios of the means to, and differences fold by fold from, '
        f"`{LOGISTIC.name}`.",
    )
    for data in SETS:
        X, Y = label_ranking(options.data, data)
        for folds in FOLDS:
            found = fold_measures(X, Y, folds, options.seeds)
            table.rows += [[data, folds, name, *_cells(values, found[LOGISTIC.name])] for name, values in found.items()]
    return table


def fold_measures(X: NDArray, Y: NDArray, n_folds: int, repeats: int) -> dict[str, NDArray]:
    """Of each contestant; rows: folds; columns: measures."""
    found: dict[str, list] = {contestant.name: [] for contestant in CONTESTANTS}
    folds = RepeatedKFold(n_splits=n_folds, n_repeats=repeats, random_state=0)
    for seed, (train, test) in enumerate(folds.split(X)):
        X_train, X_test = standardised(X[train], X[test])
        for contestant in CONTESTANTS:
            model = contestant.fit(contestant.make(Task(Y.shape[1], seed=seed)), X_train, Y[train])
            scores = contestant.predict(model, X_test)
            found[contestant.name].append([measure(scores, Y[test]) for measure in MEASURES.values()])
    return {name: np.array(values) for name, values in found.items()}


def _cells(values: NDArray, theirs: NDArray) -> list:
    (loss, loss_ahead), (tau, tau_ahead) = (
        [_mean_cell(v), _mean_cell(v - other)] for v, other in zip(values.T, theirs.T, strict=True)
    )
    return [loss, float(values[:, 0].mean() / theirs[:, 0].mean()), loss_ahead, tau, tau_ahead]


def _mean_cell(values: NDArray) -> str:
    return mean_error(values.mean(), standard_error(values))
