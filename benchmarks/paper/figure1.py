"""Figure 1 of Predtron (paper 000): python -m benchmarks.paper.figure1 [--figures DIR] [--write].

The NDCG loss (a) against the number of queries that are learned from, (b) against the number of documents in each, and (c)
under the norms l1 and l2, against the number of features, few of which matter.
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

from benchmarks.paper.cusum_tables import README
from benchmarks.report import Table, mean_error, replace, versions
from benchmarks.suites.quality import standard_error
from sklearn_predtron import PredtronRanker
from sklearn_predtron.datasets import make_ranking_queries
from sklearn_predtron.representations import LinearRank, PowerRank, ReciprocalRank
from sklearn_predtron.updates import LossAugmented

SEEDS, TEST_QUERIES = 20, 500
FEATURES, DOCUMENTS, QUERIES = 30, 20, 30
NUMBERS_OF_QUERIES = (5, 10, 20, 30, 40, 50, 60)
NUMBERS_OF_DOCUMENTS = (5, 10, 15, 20, 25, 30)
REPRESENTATIONS = {"1/i": ReciprocalRank(), "-i": LinearRank(), "-i^1.1": PowerRank(1.1), "-i^2": PowerRank(2)}
NUMBERS_OF_FEATURES = (50, 100, 200, 500, 1000, 2000)
INFORMATIVE, SPARSE_QUERIES = 5, 100
NORMS, DEFAULT = ("l1", "l2"), "{}, all defaults"
NORM_REPRESENTATION, THIRD = "-i^1.1", 1 / 3
PAPER = ("1/i", "-i^1.1", "-i^2")
SLOW, FAST = PAPER[0], PAPER[1:]
LOSS = "NDCG loss of new queries, 1 - NDCG (0 to 1)"


def main(argv: Sequence[str] | None = None) -> None:
    """Print the tables; draw the figures and write the tables where that is asked for."""
    arguments = parse(argv)
    of_queries = by_queries(arguments)
    of_documents = by_documents(arguments)
    of_features = by_features(arguments)
    tables = [
        queries_table(of_queries, arguments),
        documents_table(of_documents, arguments),
        features_table(of_features, arguments),
        growth_table(of_features, arguments),
    ]
    body = "\n".join([versions() + "\n", *(table.markdown() for table in tables)])
    print(body)
    if arguments.figures is not None:
        draw(arguments.figures / "figure1a.png", "queries learned from (count)", arguments.queries, curve_names(of_queries))
        draw(arguments.figures / "figure1b.png", "documents in a query (count)", arguments.documents, curve_names(of_documents))
        draw(arguments.figures / "figure1c.png", "features p0 (count)", arguments.features, of_features, logarithmic=True)
    if arguments.write:
        README.write_text(replace(README.read_text(), "figure1", body))


def parse(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.paper.figure1", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=SEEDS, help=f"repetitions with other data; {SEEDS} unless told")
    parser.add_argument("--test", type=int, default=TEST_QUERIES, help=f"queries to test on; {TEST_QUERIES} unless told")
    parser.add_argument("--queries", type=int, nargs="+", default=NUMBERS_OF_QUERIES, help="values of (a), ascending")
    parser.add_argument("--documents", type=int, nargs="+", default=NUMBERS_OF_DOCUMENTS, help="values of (b), ascending")
    parser.add_argument("--features", type=int, nargs="+", default=NUMBERS_OF_FEATURES, help="values of (c), ascending")
    parser.add_argument("--average", choices=("last", "linear", "uniform"), default="last", help="the iterate that predicts")
    parser.add_argument(
        "--figures", type=Path, help="a folder for figure1a.png, figure1b.png and figure1c.png (needs matplotlib)"
    )
    parser.add_argument("--write", action="store_true", help="replace the tables of the README beside this file")
    return parser.parse_args(argv)


# --------------------------------------------------------------------------------------------------------------------- losses


def by_queries(arguments: argparse.Namespace) -> dict[str, NDArray]:
    """(a): of each representation, losses; rows: seeds, columns: numbers of queries."""
    runs = [curves(seed, DOCUMENTS, arguments.queries, arguments) for seed in range(arguments.seeds)]
    return {name: np.array([found[name] for found in runs]) for name in REPRESENTATIONS}


def by_documents(arguments: argparse.Namespace) -> dict[str, NDArray]:
    """(b): of each representation, losses; rows: seeds, columns: numbers of documents."""
    runs = [[curves(seed, m, [QUERIES], arguments) for m in arguments.documents] for seed in range(arguments.seeds)]
    return {name: np.array([[found[name][0] for found in lengths] for lengths in runs]) for name in REPRESENTATIONS}


def curves(seed: int, m: int, numbers: Sequence[int], arguments: argparse.Namespace) -> dict[str, list[float]]:
    """Losses after the first n queries of one stream, which every representation learns from."""
    X, y, qid = make_ranking_queries(numbers[-1] + arguments.test, m, FEATURES, random_state=seed)
    return {name: losses(learner(part, arguments.average), X, y, qid, numbers) for name, part in REPRESENTATIONS.items()}


def learner(representation: Any, average: str, norm: str = "l2") -> PredtronRanker:
    """Algorithm 1, or 3 under another norm, with eta = 1."""
    kept = False if average == "last" else average
    return PredtronRanker(representation=representation, update=LossAugmented(eta=1.0), average=kept, norm=norm)


def by_features(arguments: argparse.Namespace) -> dict[str, NDArray]:
    """(c): of each norm under both updates, losses; rows: seeds, columns: numbers of features."""
    runs = [[norm_losses(seed, p, arguments) for p in arguments.features] for seed in range(arguments.seeds)]
    return {name: np.array([[found[name] for found in widths] for widths in runs]) for name in runs[0][0]}


def norm_losses(seed: int, p: int, arguments: argparse.Namespace) -> dict[str, float]:
    """Losses after one stream of queries with p features, few of which matter, which every learner learns from."""
    X, y, qid = make_ranking_queries(
        *(SPARSE_QUERIES + arguments.test, DOCUMENTS, p),
        n_informative=INFORMATIVE,
        rows="uniform",
        norm="l1",
        random_state=seed,
    )
    models = {norm: learner(REPRESENTATIONS[NORM_REPRESENTATION], arguments.average, norm) for norm in NORMS}
    models |= {DEFAULT.format(norm): PredtronRanker(norm=norm) for norm in NORMS}
    return {name: losses(model, X, y, qid, [SPARSE_QUERIES])[0] for name, model in models.items()}


def losses(model: PredtronRanker, X: NDArray, y: NDArray, qid: NDArray, numbers: Sequence[int]) -> list[float]:
    """After the first n queries, for each n; the queries after the last n are for tests."""
    test, start, found = qid >= numbers[-1], 0, []
    for n in numbers:
        part = (qid >= start) & (qid < n)
        model.partial_fit(X[part], y[part], qid=qid[part])
        found.append(1 - model.score(X[test], y[test], qid=qid[test]))
        start = n
    return found


# --------------------------------------------------------------------------------------------------------------------- output


def queries_table(found: dict[str, NDArray], arguments: argparse.Namespace) -> Table:
    """(a), and whether the paper's order of the representations is found."""
    table = Table(
        "Figure 1 (a)",
        ["queries", *REPRESENTATIONS, f"below {SLOW}: {' and '.join(FAST)}"],
        note=f"{LOSS}: mean ± standard error of {arguments.seeds} seeds; {DOCUMENTS} documents, {FEATURES} features, one epoch, "
        f"`update=LossAugmented(eta=1)`, {predicts(arguments)}.",
    )
    for column, n in enumerate(arguments.queries):
        means = {name: values[:, column].mean() for name, values in found.items()}
        table.rows.append([n, *cells(found, column), bool(all(means[name] < means[SLOW] for name in FAST))])
    return table


def documents_table(found: dict[str, NDArray], arguments: argparse.Namespace) -> Table:
    """(b), and whether the loss grows."""
    table = Table(
        "Figure 1 (b)",
        ["documents", *REPRESENTATIONS],
        note=f"As in (a), after {QUERIES} queries, by the number of documents in each.",
    )
    table.rows += [[m, *cells(found, column)] for column, m in enumerate(arguments.documents)]
    grows = [bool((np.diff(values.mean(axis=0)) > 0).all()) for values in found.values()]
    table.rows.append(["grows throughout", *grows])
    return table


def features_table(found: dict[str, NDArray], arguments: argparse.Namespace) -> Table:
    """(c)."""
    first, last = arguments.features[0], arguments.features[-1]
    table = Table(
        "Figure 1 (c)",
        ["features", *found],
        note=f"{LOSS}: mean ± standard error of {arguments.seeds} seeds; {DOCUMENTS} documents, features uniform on [-1, 1]: "
        f"{INFORMATIVE} matter (w* of l1 norm 1); after one epoch of {SPARSE_QUERIES} queries.  "
        f"l1 and l2: `LossAugmented(eta=1)`, f(i) = {NORM_REPRESENTATION}, {predicts(arguments)}; "
        "beside them the default update, representation and average.",
    )
    table.rows += [[p, *cells(found, column)] for column, p in enumerate(arguments.features)]
    growth = {name: values[:, -1] - values[:, 0] for name, values in found.items()}
    table.rows.append([f"growth, {first} to {last}", *(mean_error(v.mean(), standard_error(v)) for v in growth.values())])
    return table


def growth_table(found: dict[str, NDArray], arguments: argparse.Namespace) -> Table:
    """Whether the loss under l1 grows by less than a third of the growth under l2."""
    table = Table(
        "Figure 1 (c), goals",
        ["learners", "growth, l1", "growth, l2", "goal", "met"],
        note=f"From p0 = {arguments.features[0]} to p0 = {arguments.features[-1]} the l1 learner's loss grows by less than "
        "a third of the l2 learner's growth.",
    )
    for form, name in (("{}", "eta = 1"), (DEFAULT, "all defaults")):
        l1, l2 = (float((values[:, -1] - values[:, 0]).mean()) for values in (found[form.format(norm)] for norm in NORMS))
        table.rows.append([name, l1, l2, "below a third", bool(l1 < THIRD * l2)])
    return table


def predicts(arguments: argparse.Namespace) -> str:
    return "the last iterate predicts" if arguments.average == "last" else f'`average="{arguments.average}"`'


def cells(found: dict[str, NDArray], column: int) -> list[str]:
    return [mean_error(values[:, column].mean(), standard_error(values[:, column])) for values in found.values()]


def curve_names(found: dict[str, NDArray]) -> dict[str, NDArray]:
    return {f"f(i) = {name}": values for name, values in found.items()}


def draw(path: Path, axis: str, numbers: Sequence[int], found: dict[str, NDArray], *, logarithmic: bool = False) -> None:
    """Means with their standard errors."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 4), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    for name, values in found.items():
        errors = [standard_error(column) for column in values.T]
        axes.errorbar(numbers, values.mean(axis=0), yerr=errors, marker="o", capsize=3, label=name)
    axes.set(xlabel=axis, ylabel=LOSS, ylim=(0, None), xscale="log" if logarithmic else "linear")
    axes.legend()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    main()
