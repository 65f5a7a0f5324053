"""Figure 1 of Predtron (Jain, Natarajan and Tewari, 2015): python -m benchmarks.paper.figure1 [--figures DIR] [--write].

The NDCG loss (a) against the number of queries that are learned from, (b) against the number of documents in each, and (c)
under the norms l1 and l2, against the number of features, few of which matter; each with two rules for the right ranking that a
step goes to: documents of one relevance by their index, or in the competitor's order.
"""

import argparse
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    for library in ("OMP", "OPENBLAS", "MKL"):
        os.environ[f"{library}_NUM_THREADS"] = "1"

import numpy as np
from numpy.typing import NDArray

from benchmarks.paper.by_index import PlainPredtron
from benchmarks.paper.curves import draw
from benchmarks.paper.cusum_tables import README
from benchmarks.report import Table, mean_error, replace, versions
from benchmarks.suites.quality import standard_error
from sklearn_predtron import PredtronRanker
from sklearn_predtron.datasets import make_ranking_queries
from sklearn_predtron.losses import NDCG
from sklearn_predtron.metrics import ndcg
from sklearn_predtron.norms import PNorm
from sklearn_predtron.representations import LinearRank, PowerRank, ReciprocalRank
from sklearn_predtron.updates import LossAugmented

SEEDS, SPARSE_SEEDS, TEST_QUERIES = 100, 20, 500
FEATURES, DOCUMENTS, QUERIES, STD = 30, 20, 30, 0.1
NUMBERS_OF_QUERIES = (5, 10, 20, 30, 40, 60, 80, 100)
NUMBERS_OF_DOCUMENTS = (5, 10, 20, 30, 40)
REPRESENTATIONS = {"1/i": ReciprocalRank(), "-i": LinearRank(), "-i^1.1": PowerRank(1.1), "-i^2": PowerRank(2)}
NUMBERS_OF_FEATURES = (50, 100, 200, 500, 1000, 2000)
INFORMATIVE, SPARSE_QUERIES = 5, 100
BY_INDEX, RE_SORTED, DEFAULTS = "by index", "re-sorted", "all defaults"
RULES = (BY_INDEX, RE_SORTED)
NORMS = {"l1": PNorm(q="theory"), "l2": "l2"}  # of Algorithms 1 and 3
NORM_REPRESENTATION, THIRD = "-i^1.1", 1 / 3
PAPER = ("1/i", "-i^1.1", "-i^2")
SLOW, FAST = PAPER[0], PAPER[1:]
LOSS = "NDCG loss of new queries, 1 - NDCG (0 to 1)"

Losses = dict[str, dict[str, NDArray]]


def main(argv: Sequence[str] | None = None) -> None:
    """Print the tables; draw the figures and write the tables where that is asked for."""
    arguments = parse(argv)
    of_queries, of_documents, of_features = by_queries(arguments), by_documents(arguments), by_features(arguments)
    tables = [
        *(queries_table(rule, found, arguments) for rule, found in of_queries.items()),
        *(documents_table(rule, found, arguments) for rule, found in of_documents.items()),
        features_table(of_features, arguments),
        growth_table(of_features, arguments),
    ]
    body = "\n".join([versions() + "\n", *(table.markdown() for table in tables)])
    print(body)
    if arguments.figures is not None:
        draw(arguments.figures / "figure1a.png", "queries learned from (count)", LOSS, arguments.queries, of_queries)
        draw(arguments.figures / "figure1b.png", "documents in a query (count)", LOSS, arguments.documents, of_documents)
        draw(arguments.figures / "figure1c.png", "features p0 (count)", LOSS, arguments.features, of_features, xscale="log")
    if arguments.write:
        README.write_text(replace(README.read_text(), "figure1", body))


def parse(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.paper.figure1", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    told = f"{SEEDS} unless told, of which (c) takes {SPARSE_SEEDS}"
    parser.add_argument("--seeds", type=int, default=SEEDS, help=f"repetitions with other data; {told}")
    parser.add_argument("--test", type=int, default=TEST_QUERIES, help=f"queries to test on; {TEST_QUERIES} unless told")
    parser.add_argument("--std", type=float, default=STD, help=f"of documents about their means in (a), (b); {STD} unless told")
    parser.add_argument("--queries", type=int, nargs="+", default=NUMBERS_OF_QUERIES, help="values of (a), ascending")
    parser.add_argument("--documents", type=int, nargs="+", default=NUMBERS_OF_DOCUMENTS, help="values of (b), ascending")
    parser.add_argument("--features", type=int, nargs="+", default=NUMBERS_OF_FEATURES, help="values of (c), ascending")
    parser.add_argument(
        "--figures", type=Path, help="a folder for figure1a.png, figure1b.png and figure1c.png (needs matplotlib)"
    )
    parser.add_argument("--write", action="store_true", help="replace the tables of the README beside this file")
    return parser.parse_args(argv)


# --------------------------------------------------------------------------------------------------------------------- losses


def by_queries(arguments: argparse.Namespace) -> Losses:
    """(a): of each rule and representation, losses; rows: seeds, columns: numbers of queries."""
    return gathered([curves(seed, DOCUMENTS, arguments.queries, arguments) for seed in range(arguments.seeds)])


def by_documents(arguments: argparse.Namespace) -> Losses:
    """(b): of each rule and representation, losses; rows: seeds, columns: numbers of documents."""
    return side_by_side(arguments.seeds, arguments.documents, lambda seed, m: curves(seed, m, [QUERIES], arguments))


def by_features(arguments: argparse.Namespace) -> Losses:
    """(c): of each rule (or all defaults) and norm, losses; rows: seeds, columns: numbers of features."""
    seeds = min(arguments.seeds, SPARSE_SEEDS)
    return side_by_side(seeds, arguments.features, lambda seed, p: norm_losses(seed, p, arguments))


def side_by_side(seeds: int, numbers: Sequence[int], measured: Any) -> Losses:
    """Of runs that find one loss for each seed and number."""
    rows = [gathered([measured(seed, number) for number in numbers]) for seed in range(seeds)]
    return gathered([{rule: {name: v[:, 0] for name, v in found.items()} for rule, found in row.items()} for row in rows])


def gathered(runs: Sequence[dict]) -> Losses:
    """Of each rule and name, what the runs found; rows: runs."""
    return {rule: {name: np.array([run[rule][name] for run in runs]) for name in found} for rule, found in runs[0].items()}


def curves(seed: int, m: int, numbers: Sequence[int], arguments: argparse.Namespace) -> dict[str, dict[str, list[float]]]:
    """Losses after the first n queries of one stream, which every learner learns from."""
    data = make_ranking_queries(numbers[-1] + arguments.test, m, FEATURES, std=arguments.std, random_state=seed)
    return {rule: {name: losses(learner(rule, part), *data, numbers) for name, part in REPRESENTATIONS.items()} for rule in RULES}


def norm_losses(seed: int, p: int, arguments: argparse.Namespace) -> dict[str, dict[str, list[float]]]:
    """The loss after one stream of queries with p features, few of which matter, which every learner learns from."""
    sparse = {"n_informative": INFORMATIVE, "rows": "uniform", "norm": "l1", "random_state": seed}
    data = make_ranking_queries(SPARSE_QUERIES + arguments.test, DOCUMENTS, p, **sparse)
    part = REPRESENTATIONS[NORM_REPRESENTATION]
    models = {rule: {norm: learner(rule, part, norm) for norm in NORMS} for rule in RULES}
    models |= {DEFAULTS: {norm: PredtronRanker(norm=norm) for norm in NORMS}}
    return {rule: {norm: losses(model, *data, [SPARSE_QUERIES]) for norm, model in of.items()} for rule, of in models.items()}


def learner(rule: str, representation: Any, norm: str = "l2") -> Any:
    """Algorithm 1, or 3 under l1, with eta = 1; its last iterate predicts."""
    if rule == BY_INDEX:
        return PlainPredtron(representation, norm)
    update, loss = LossAugmented(eta=1.0), NDCG(gain=exponential)
    return PredtronRanker(representation=representation, update=update, average=False, norm=NORMS[norm], loss=loss)


def exponential(y: NDArray) -> NDArray:
    """The gain, which the ranker knows by its name up to the relevance 30 only."""
    return np.exp2(y) - 1


def losses(model: Any, X: NDArray, y: NDArray, qid: NDArray, numbers: Sequence[int]) -> list[float]:
    """After the first n queries, for each n; the queries after the last n are for tests."""
    test, start, found = qid >= numbers[-1], 0, []
    for n in numbers:
        part = (qid >= start) & (qid < n)
        model.partial_fit(X[part], y[part], qid=qid[part])
        found.append(1 - float(ndcg(y[test], model.predict(X[test]), qid[test]).mean()))
        start = n
    return found


# --------------------------------------------------------------------------------------------------------------------- output


def queries_table(rule: str, found: dict[str, NDArray], arguments: argparse.Namespace) -> Table:
    """(a), and whether the paper's order of the representations is found."""
    table = Table(
        f"Figure 1 (a), {rule}",
        ["queries", *REPRESENTATIONS, f"below {SLOW}: {' and '.join(FAST)}"],
        note=f"{LOSS}: mean ± standard error of {arguments.seeds} seeds; {DOCUMENTS} documents, {FEATURES} features, standard "
        f"deviation {arguments.std:g} about their means; one epoch, eta = 1, the last iterate predicts.",
    )
    for column, n in enumerate(arguments.queries):
        means = {name: values[:, column].mean() for name, values in found.items()}
        table.rows.append([n, *cells(found, column), bool(all(means[name] < means[SLOW] for name in FAST))])
    return table


def documents_table(rule: str, found: dict[str, NDArray], arguments: argparse.Namespace) -> Table:
    """(b), and how much the loss grows."""
    table = Table(
        f"Figure 1 (b), {rule}",
        ["documents", *REPRESENTATIONS],
        note=f"As in (a), after {QUERIES} queries, by the number of documents in each.",
    )
    table.rows += [[m, *cells(found, column)] for column, m in enumerate(arguments.documents)]
    table.rows.append([growth_name(arguments.documents), *map(growth, found.values())])
    return table


def features_table(found: Losses, arguments: argparse.Namespace) -> Table:
    """(c)."""
    every = {f"{norm}, {rule}": values for rule, of_rule in found.items() for norm, values in of_rule.items()}
    table = Table(
        "Figure 1 (c)",
        ["features", *every],
        note=f"{LOSS}: mean ± standard error of {min(arguments.seeds, SPARSE_SEEDS)} seeds; {DOCUMENTS} documents, features "
        f"uniform on [-1, 1]: {INFORMATIVE} matter (w* of l1 norm 1); after one epoch of {SPARSE_QUERIES} queries.  By index and "
        f"re-sorted: eta = 1, f(i) = {NORM_REPRESENTATION}, the last iterate predicts; beside them the default update, "
        "representation and average.",
    )
    table.rows += [[p, *cells(every, column)] for column, p in enumerate(arguments.features)]
    table.rows.append([growth_name(arguments.features), *map(growth, every.values())])
    return table


def growth_table(found: Losses, arguments: argparse.Namespace) -> Table:
    """Whether the loss under l1 grows by less than a third of the growth under l2."""
    table = Table(
        "Figure 1 (c), goals",
        ["learners", "growth, l1", "growth, l2", "goal", "met"],
        note=f"From p0 = {arguments.features[0]} to p0 = {arguments.features[-1]} the l1 learner's loss grows by less than "
        "a third of the l2 learner's growth.",
    )
    for rule, of_rule in found.items():
        l1, l2 = (float((of_rule[norm][:, -1] - of_rule[norm][:, 0]).mean()) for norm in NORMS)
        table.rows.append([rule, l1, l2, "below a third", bool(l1 < THIRD * l2)])
    return table


def growth_name(numbers: Sequence[int]) -> str:
    return f"growth, {numbers[0]} to {numbers[-1]}"


def growth(values: NDArray) -> str:
    """From the first number to the last, of each seed by itself."""
    grown = values[:, -1] - values[:, 0]
    return mean_error(grown.mean(), standard_error(grown))


def cells(found: dict[str, NDArray], column: int) -> list[str]:
    return [mean_error(values[:, column].mean(), standard_error(values[:, column])) for values in found.values()]


if __name__ == "__main__":
    main()
