"""Rankings of labels: the loss of the default, and Kendall's tau, beside one logistic regression for each pair of labels."""

import time
import warnings

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import make_classification
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
CLUSTERS, MANY = 8, 10
OURS, LOGISTIC = OursLabelRanker("ours, default"), PairwiseLogistic()
CONTESTANTS: list[Contestant] = [OURS, *LABEL_RANKING_CONTESTANTS[1:]]
NO_SETS = "No --data: the losses on iris, vehicle and glass are skipped."


def run(options: Options) -> list[Table]:
    """Fits, losses."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        tables = [fits(options), generated_quality(options)]
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
        "with the loss and the representation named.  " + ("" if options.data else NO_SETS),
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


COLUMNS_OF_QUALITY = ["data", "folds", "learner", "1 - NDCG", "ratio", "difference", "Kendall's tau", "difference", "ms a fit"]
NOTE = (
    'Defaults of all, and ours with `loss="kendall_tau"` and `representation="linear"`, of one score a label, or `"pairwise"`.  '
    f"Ratios of the means to, and differences fold by fold from, `{LOGISTIC.name}`, which sums probabilities; `votes` counts "
    "the pairs won, as ours do.  Milliseconds are means over the folds."
)


def quality(options: Options) -> Table:
    """Measures on the sets of --data."""
    table = Table(
        "Label ranking quality",
        COLUMNS_OF_QUALITY,
        note=f"Mean ± standard error over the folds, {options.seeds} times as many; the relevance of a label is the number of "
        f"labels less its position; features standardised on the training part.  {NOTE}",
    )
    for data in SETS:
        X, Y = label_ranking(options.data, data)
        for folds in FOLDS:
            table.rows += _rows_of(data, folds, fold_measures(X, Y, folds, options.seeds))
    return table


def generated_quality(options: Options) -> Table:
    """Measures on rows whose scores are linear, and on rows in clusters that have orders of their own."""
    n = options.rows(ROWS) // 2
    table = Table(
        "Label ranking quality, generated rows",
        COLUMNS_OF_QUALITY,
        note=f"As on the sets, of {n} rows and {COLUMNS} columns.  linear: {LABELS} labels in the order of Gaussian linear "
        f"functions, whose noise is as large; clusters: {CLUSTERS} of them with a Gaussian score for each of {LABELS} or {MANY} "
        f"labels, noise half as large.  {NOTE}",
    )
    drawings = {"linear": drawn(n)[:2], "clusters": clusters(n, LABELS), f"clusters, {MANY} labels": clusters(n, MANY)}
    for data, (X, Y) in drawings.items():
        table.rows += _rows_of(data, FOLDS[0], fold_measures(X, Y, FOLDS[0], 1))
    return table


def clusters(n: int, labels: int, seed: int = 0) -> tuple[NDArray, NDArray]:
    """Rows in clusters, and relevances 0, ..., labels - 1 in the noisy order of the cluster."""
    rng = np.random.default_rng(seed)
    kinds = {"n_classes": CLUSTERS, "n_clusters_per_class": 1, "n_informative": COLUMNS // 2, "random_state": seed}
    X, cluster = make_classification(n, COLUMNS, **kinds)
    latent = rng.standard_normal((CLUSTERS, labels))[cluster] + 0.5 * rng.standard_normal((n, labels))
    return X, latent.argsort(axis=1).argsort(axis=1).astype(float)


def fold_measures(X: NDArray, Y: NDArray, n_folds: int, repeats: int) -> dict[str, NDArray]:
    """Of each contestant; rows: folds; columns: measures, and the milliseconds of the fit."""
    found: dict[str, list] = {contestant.name: [] for contestant in CONTESTANTS}
    folds = RepeatedKFold(n_splits=n_folds, n_repeats=repeats, random_state=0)
    for seed, (train, test) in enumerate(folds.split(X)):
        X_train, X_test = standardised(X[train], X[test])
        for contestant in CONTESTANTS:
            model, start = contestant.make(Task(Y.shape[1], seed=seed)), time.perf_counter()
            model = contestant.fit(model, X_train, Y[train])
            taken = 1000 * (time.perf_counter() - start)
            scores = contestant.predict(model, X_test)
            found[contestant.name].append([*(measure(scores, Y[test]) for measure in MEASURES.values()), taken])
    return {name: np.array(values) for name, values in found.items()}


def _rows_of(data: str, folds: int, found: dict[str, NDArray]) -> list[list]:
    return [[data, folds, name, *_cells(values, found[LOGISTIC.name])] for name, values in found.items()]


def _cells(values: NDArray, theirs: NDArray) -> list:
    (loss, loss_ahead), (tau, tau_ahead) = (
        [_mean_cell(v), _mean_cell(v - other)] for v, other in zip(values.T[:2], theirs.T[:2], strict=True)
    )
    ratio, milliseconds = values[:, 0].mean() / theirs[:, 0].mean(), values[:, 2].mean()
    return [loss, float(ratio), loss_ahead, tau, tau_ahead, float(milliseconds)]


def _mean_cell(values: NDArray) -> str:
    return mean_error(values.mean(), standard_error(values))
