"""Rankings of the documents of queries: fits beside the baselines, and the NDCG of the defaults."""

import warnings
from functools import partial

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from benchmarks.contestants import (
    RANKING_CONTESTANTS,
    LightGBMRanker,
    OursRanker,
    PairwiseSGD,
    RankSVM,
    RidgeRelevance,
    XGBoostRanker,
)
from benchmarks.contestants.queries import PairwiseContestant, RankingContestant, differences
from benchmarks.measure import Case, Measured, interleave, ratios
from benchmarks.read import ranking
from benchmarks.report import Table, mean_error, spread
from benchmarks.suites.quality import standard_error
from benchmarks.tasks import Options, Task, graded_queries
from sklearn_predtron.metrics import ndcg

QUERIES, HELD_OUT, DOCUMENTS, COLUMNS, GRADES = 2000, 500, 100, 136, 5
CUT_OFF = 10
SETS = ("lightgbm_lambdarank", "mslr_web10k_sample")
OURS, SVM, TREES = OursRanker("ours, default"), RankSVM(), LightGBMRanker()
ONE_EPOCH, LINEAR = OursRanker("ours, one epoch"), OursRanker("ours, one epoch, linear", representation="linear")
PAIRS = "pairs"
FITS: list[tuple[RankingContestant, Task]] = [
    *((contestant, Task(GRADES, epochs=1)) for contestant in (ONE_EPOCH, LINEAR)),
    *((contestant, Task(GRADES)) for contestant in (OURS, SVM, PairwiseSGD(), RidgeRelevance(), TREES, XGBoostRanker())),
]
CONTESTANTS: list[RankingContestant] = [OURS, *RANKING_CONTESTANTS[1:]]
NO_SETS = "No --data: the NDCG on the two sets is skipped."
Split = tuple[NDArray, NDArray, NDArray]


def run(options: Options) -> list[Table]:
    """Fits, NDCG."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        tables = [fits(options)]
        return tables if options.data is None else [*tables, quality(options)]


def query_ndcg(scores: NDArray, y: NDArray, qid: NDArray) -> NDArray:
    """NDCG at 10 of each query."""
    return ndcg(y, scores, qid, k=CUT_OFF)


# ---------------------------------------------------------------------------------------------------------------------- speed


def fits(options: Options) -> Table:
    """Epochs and whole fits beside RankSVM's and LightGBM's."""
    train, test = drawn(options)
    n_documents = len(train[1])
    table = Table(
        "Ranking fits",
        [
            *("learner", "pairs, seconds", "seconds", "documents a second"),
            *(f"times faster than {SVM.name} (ratio)", "than its fit alone (ratio)", f"than {TREES.name} (ratio)"),
            *(f"NDCG@{CUT_OFF}", f"ahead of {SVM.name}"),
        ],
        note=f"Whole calls of `fit` on {n_documents // DOCUMENTS} queries of {DOCUMENTS} documents, {COLUMNS} columns, {GRADES} "
        "grades of as many documents each, a Gaussian latent variable whose linear part has twice the standard deviation of its "
        "noise.  Defaults of all, ours in all its epochs and in one.  The learners on pairs take one random pair of different "
        f"relevance for each document; their seconds have the making of the pairs in them.  NDCG@{CUT_OFF} on "
        f"{len(test[1]) // DOCUMENTS} more queries.  " + ("" if options.data else NO_SETS),
    )
    timed = [(contestant, task) for contestant, task in FITS if contestant.installed]
    measured, alone = measure(timed, train, options.repeats)
    scores = {
        contestant.name: float(query_ndcg(contestant.predict(measured[contestant.name].result, test[0]), *test[1:]).mean())
        for contestant, _ in timed
    }
    for contestant, _ in FITS:
        if contestant.installed:
            found = measured[contestant.name]
            beside = [measured[SVM.name], alone[SVM.name], measured.get(TREES.name)]
            faster = ["not installed" if other is None else spread(ratios(other, found)) for other in beside]
            making = measured[PAIRS].seconds if contestant.name in alone else None
            speed = round(n_documents / found.seconds)
            cells = [making, found.seconds, speed, *faster, scores[contestant.name], scores[contestant.name] - scores[SVM.name]]
            table.rows.append([contestant.name, *cells])
        else:
            table.rows.append([contestant.name, "not installed", *[None] * 7])
    return table


def drawn(options: Options) -> tuple[Split, Split]:
    """The made-up queries to learn from and to test on."""
    n = options.rows(QUERIES)
    X, y, qid = graded_queries(n + options.rows(HELD_OUT), DOCUMENTS, COLUMNS, GRADES)
    first = qid < n
    return (X[first], y[first], qid[first]), (X[~first], y[~first], qid[~first])


def measure(timed: list[tuple[RankingContestant, Task]], train: Split, repeats: int) -> tuple[dict, dict]:
    """Whole fits of all and the making of the pairs; of the learners on pairs, what is left without the pairs."""
    pairs = differences(*train, seed=0)
    cases = [Case(PAIRS, partial(_pairs, train))]
    for contestant, task in timed:
        fit = partial(_fit_pairs, pairs) if isinstance(contestant, PairwiseContestant) else partial(_fit, contestant, train)
        cases.append(Case(contestant.name, fit, partial(contestant.make, task)))
    measured = interleave(cases, repeats)
    alone = {contestant.name: measured[contestant.name] for contestant, _ in timed if isinstance(contestant, PairwiseContestant)}
    making = measured[PAIRS].times
    for name, found in alone.items():
        whole = [a + b for a, b in zip(making, found.times, strict=True)]
        measured[name] = Measured(whole, found.result)
    return measured, alone


def _pairs(train: Split, _: None) -> None:
    differences(*train, seed=0)


def _fit_pairs(pairs: tuple, model: object) -> object:
    return model.fit(*pairs)


def _fit(contestant: RankingContestant, train: Split, model: object) -> object:
    return contestant.fit(model, *train)


# -------------------------------------------------------------------------------------------------------------------- quality


def quality(options: Options) -> Table:
    """NDCG on the sets of --data, by their own parts."""
    table = Table(
        "Ranking quality",
        ["data", "learner", f"NDCG@{CUT_OFF}", "ours, default, ahead"],
        note=f"NDCG@{CUT_OFF} on the set's own test part: mean ± standard error of {options.seeds} seeds; features standardised "
        "on the training part.  The difference is the mean ± standard error over the queries, each the mean of the seeds.  "
        "Defaults of all, and ours with other representations and updates.",
    )
    for data in SETS:
        train, test = ranking(options.data, data)
        found = {
            contestant.name: seed_ndcg(contestant, train, test, options.seeds)
            for contestant in CONTESTANTS
            if contestant.installed
        }
        for contestant in CONTESTANTS:
            values = found.get(contestant.name)
            table.rows.append(
                [data, contestant.name, *(["not installed", None] if values is None else _cells(values, found[OURS.name]))]
            )
    return table


def seed_ndcg(contestant: RankingContestant, train: Split, test: Split, seeds: int) -> NDArray:
    """Rows: seeds; columns: queries."""
    X_test, y_test, qid_test = test
    models = (contestant.fit(contestant.make(Task(GRADES, seed=seed)), *train) for seed in range(seeds))
    return np.array([query_ndcg(contestant.predict(model, X_test), y_test, qid_test) for model in models])


def _cells(values: NDArray, ours: NDArray) -> list[str]:
    of_seeds, ahead = values.mean(axis=1), (ours - values).mean(axis=0)
    return [mean_error(of_seeds.mean(), standard_error(of_seeds)), mean_error(ahead.mean(), standard_error(ahead))]
