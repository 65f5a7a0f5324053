"""The table and the pictures of the first page: errors and times relative to peers, from the recorded results."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import exp, log
from pathlib import Path
from statistics import mean
from typing import Any

from benchmarks.headlines import AVERAGE_COST, HEADLINES, OURS, Headline, rest
from benchmarks.record import RESULTS, Record
from benchmarks.report import Table, replace
from benchmarks.suites import average_cost

PAGE = Path(__file__).parents[1] / "README.md"
PICTURE, COSTS = RESULTS / "peers.svg", RESULTS / "average_cost.svg"
COLUMNS = ["task (measure)", "compared with", "data", "error ratio", "time ratio"]
COLORS = {"error": "#d55e00", "time": "#3c9dd0"}
BARS = {
    average_cost.PROBABLE: ("logistic regression, most probable class", "#999999"),
    average_cost.DECIDED: ("logistic regression, lowest expected cost", "#3c9dd0"),
    average_cost.TUNED: ("logistic regression, tuned, lowest expected cost", "#56b4e9"),
    average_cost.TREES: ("boosted trees, lowest expected cost", "#009e73"),
    average_cost.OURS: ("sklearn_predtron, cost-sensitive", "#d55e00"),
    average_cost.REJECTING: ("sklearn_predtron, with abstention at 0.5", "#e69f00"),
}
TICKS = {
    "error": {"1/4": 0.25, "1/2": 0.5, "equal": 1, "2": 2},
    "time": {"1/100": 0.01, "1/10": 0.1, "equal": 1, "10": 10},
}


SGD, LOGISTIC = "`SGDClassifier`, averaged", "`LogisticRegression`"
ONE_EACH = "`OneVsRestClassifier`"
COST, FIT, ROW, TOKENS = "average cost", "time of a fit", "training on a row", "error of tokens"
TAGGED, ROWS = "handwritten words (2 splits), 2 generated texts", "generated, 100 columns"


@dataclass(frozen=True)
class Comparison:
    """A task with its measure, the peer, the data, and the headlines of the error and the time.

    All are in the picture; those with `in_table` are in the table as well.
    """

    task: str
    peer: str
    data: str
    error: Headline | Sequence[Headline] = ()
    time: Headline | Sequence[Headline] = ()
    in_table: bool = False

    def sides(self) -> Iterator[tuple[str, list[float]]]:
        """Yield "error" and "time" with their ratios; a side without ratios is left out."""
        for side, of in (("error", self.error), ("time", self.time)):
            headlines = [of] if isinstance(of, Headline) else of
            if found := [ratio for headline in headlines for ratio in ratios(headline)]:
                yield side, found

    def name(self) -> str:
        """Return the name in the picture."""
        return f"{self.task.partition(' (')[0]}: {self.peer.replace('`', '')}"

    def cells(self) -> list:
        """Return the row of the table."""
        measured = {side: spread(found) for side, found in self.sides()}
        return [self.task, self.peer, self.data, *(measured.get(side) for side in TICKS)]


def headline(suite: str, what: str, baseline: str) -> Headline:
    """Return the headline of that name."""
    (found,) = (known for known in HEADLINES if (known.suite, known.what, known.baseline) == (suite, what, baseline))
    return found


MORD, TREES, PAIRS = "mord `LogisticAT`", "LightGBM lambdarank", "pairwise `LogisticRegression`"
TUNED, CHOW = "`TunedThresholdClassifierCV(LogisticRegression)`", "`LogisticRegression` and Chow's rule"
EXPECTED = "`LogisticRegressionCV`, lowest expected cost"
KINDS_OF_COSTS = (
    *("two classes", "two classes, with abstention", "two classes, 100 rows"),
    *("many classes", "many classes, with abstention", "ordinal classes", "multilabel"),
)
CLASSES, RATINGS = "6 sets, 178 to 49,000 rows", "9 sets, each cut in 4 ways, 74 to 4,200 rows"
DOCUMENTS = "2 sets of few queries; on large ones trees lead (Qin et al. 2021)"
COMPARISONS = [
    Comparison(
        "lowest expected cost (cost per row)",
        EXPECTED,
        "47 sets (86 settings), at most 3,000 rows",
        [
            Headline("costs", COST, EXPECTED, f"{AVERAGE_COST}: {kind}", OURS, {}, beside="LogisticRegressionCV")
            for kind in KINDS_OF_COSTS
        ],
        headline("costs", FIT, "`LogisticRegressionCV`"),
        in_table=True,
    ),
    Comparison(
        "probabilities (log loss)",
        "`LogisticRegressionCV`",
        "the same",
        Headline(
            "costs",
            "log loss",
            "`LogisticRegressionCV`",
            "Log loss and reliability",
            f"{OURS} (ratio)",
            {},
            beside="LogisticRegressionCV (ratio)",
        ),
    ),
    Comparison(
        'tables, features="auto" (error)',
        "`LGBMClassifier`",
        "16 sets, 7 generated, 398 to 20,000 rows",
        headline("tables", "error on tables", "LightGBM"),
        headline("tables", "time of a fit of a table", "LightGBM"),
        in_table=True,
    ),
    Comparison(
        "ratings (absolute error)",
        "mord",
        RATINGS,
        Headline("ordinal", "absolute error", MORD, "Ordinal errors", OURS, {}, beside="mord LogisticAT"),
        headline("ordinal", FIT, MORD),
        in_table=True,
    ),
    Comparison(
        "a rare class (F1)",
        "`TunedThresholdClassifierCV`",
        "7 sets, 6 generated, 1,000 to 49,000 rows",
        headline("thresholds", "F1 of the rarer class", TUNED),
    ),
    *(
        Comparison(
            "sequences (token error)",
            f"CRFsuite, {name}",
            TAGGED,
            headline("sequences", TOKENS, peer),
            headline("sequences", FIT, peer),
            in_table=peer == "CRFsuite lbfgs",
        )
        for name, peer in (("passive-aggressive", "CRFsuite pa"), ("lbfgs", "CRFsuite lbfgs"))
    ),
    Comparison(
        "label ranking (1 - NDCG)",
        PAIRS,
        "3 sets, 150 to 846 rows",
        headline("label_ranking", "1 - NDCG", PAIRS),
        headline("label_ranking", FIT, PAIRS),
    ),
    Comparison("stream, training a row", "river", ROWS, time=headline("stream", ROW, "river LogisticRegression"), in_table=True),
    Comparison("stream, training a row", "Vowpal Wabbit", ROWS, time=headline("stream", ROW, "Vowpal Wabbit")),
    Comparison(
        "text file", "Vowpal Wabbit", "generated, 100,000 rows", time=headline("files", "training on text", "Vowpal Wabbit")
    ),
    Comparison(
        "classes (error)",
        SGD,
        CLASSES,
        Headline("quality", "error", SGD, "Accuracy of the defaults", OURS, {}, beside="SGDClassifier, averaged", loss=rest),
    ),
    Comparison("classes (error)", LOGISTIC, CLASSES, headline("quality", "error", LOGISTIC)),
    Comparison(
        "classes, kernel (error)",
        "`SVC`",
        "6 sets, 4 generated",
        headline("kernels", "error on sets that are not linear", "`SVC`"),
    ),
    Comparison(
        "classes or abstention (loss)",
        f"{LOGISTIC}, Chow's rule",
        "9 sets, 5 generated, 150 to 2,000 rows",
        headline("reject", "loss with a reject option", CHOW),
    ),
    Comparison(
        "multilabel (Hamming loss)",
        ONE_EACH,
        "2 sets, 593 and 2,417 rows",
        headline("multilabel", "Hamming loss", "`OneVsRestClassifier(LogisticRegression)`"),
    ),
    Comparison("documents of queries (1 - NDCG@10)", "`LGBMRanker`", DOCUMENTS, headline("ranking", "1 - NDCG@10", TREES)),
    Comparison(
        "documents of queries (1 - NDCG@10)",
        "XGBoost",
        DOCUMENTS,
        headline("ranking", "1 - NDCG@10", "XGBoost rank:ndcg"),
    ),
]


def ratios(of: Headline) -> list[float]:
    """Return the recorded ratios of sklearn_predtron to the peer."""
    table = Record.last(of.suite).table(of.title)
    return [] if table is None else [found for found in of.ratios(table) if found is not None]


def geometric_mean(found: list[float]) -> float:
    """Return the mean of ratios."""
    return exp(mean(map(log, found)))


def spread(found: list[float]) -> str:
    """Return the mean of ratios, and their least and greatest if there are several."""
    several = f" ({ratio(min(found))} to {ratio(max(found))})" if len(found) > 1 else ""
    return ratio(geometric_mean(found)) + several


def ratio(value: float) -> str:
    """Return two decimals, or one digit of what is less than that."""
    return f"{value:.2f}" if value >= 0.095 else f"{value:.2g}"


def results() -> str:
    """Return the table of the first page."""
    return Table("Results", COLUMNS, [comparison.cells() for comparison in COMPARISONS if comparison.in_table]).lines()


def pyplot() -> Any:
    """Return matplotlib's interface, for pictures that are the same in each run and are read on light and dark pages."""
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams.update({"svg.hashsalt": "peers", "svg.fonttype": "none", "text.color": "gray", "font.size": 11})
    import matplotlib.pyplot as plt

    return plt


def draw_costs(path: Path) -> None:
    """Draw the cost per row, relative to that of predicting the most probable class."""
    plt = pyplot()
    table = Record.last("average_cost").table(average_cost.TITLE)
    assert table is not None
    figure, ax = plt.subplots(figsize=(9.5, 3.4), layout="constrained")
    probable = table.columns.index(average_cost.PROBABLE)
    for place, (column, (words, color)) in enumerate(BARS.items()):
        heights = [row[table.columns.index(column)] / row[probable] for row in table.rows]
        at = [number + 0.14 * place for number in range(len(heights))]
        ax.bar(at, heights, width=0.13, color=color, label=words)
    ax.set_xticks([number + 0.35 for number in range(len(table.rows))], [row[0] for row in table.rows])
    ax.set_title(
        "cost per row, relative to the most probable class (lower is better); a miss costs 20 false alarms",
        color="gray",
        fontsize=11,
    )
    ax.legend(frameon=False, labelcolor="gray", ncols=2, loc="upper right", bbox_to_anchor=(1, 0.98))
    ax.set_ylim(0, 1.55)
    ax.tick_params(colors="gray", length=0)
    ax.grid(axis="y", alpha=0.3)
    ax.spines[:].set_visible(False)
    figure.savefig(path, transparent=True, metadata={"Date": None, "Creator": None})
    plt.close(figure)


def draw(path: Path) -> None:
    """Draw each comparison's mean and extremes: errors and times beside each other, on logarithmic axes."""
    plt = pyplot()
    figure, axes = plt.subplots(1, 2, figsize=(9.5, 5), sharey=True, layout="constrained")
    axes[0].set_yticks(range(len(COMPARISONS)), [comparison.name() for comparison in COMPARISONS])
    axes[0].invert_yaxis()
    for ax, (side, ticks) in zip(axes, TICKS.items(), strict=True):
        for place, comparison in enumerate(COMPARISONS):
            for found in (found for which, found in comparison.sides() if which == side):
                ax.plot([min(found), max(found)], [place] * 2, color=COLORS[side], linewidth=3, alpha=0.5)
                ax.plot(geometric_mean(found), place, "o", color=COLORS[side])
        ax.set_title(f"{side} ratio", color="gray", fontsize=11)
        ax.axvline(1, color="gray", linewidth=1.5)
        ax.set_xscale("log")
        ax.set_xticks(list(ticks.values()), list(ticks))
        ax.set_xlim(min(ticks.values()) / 1.6, max(2.2, 1.2 * greatest(side)))
        ax.minorticks_off()
        ax.tick_params(colors="gray", length=0)
        ax.grid(alpha=0.3)
        ax.spines[:].set_visible(False)
    figure.supxlabel("sklearn_predtron / peer: better on the left of the line", color="gray", fontsize=11)
    figure.savefig(path, transparent=True, metadata={"Date": None, "Creator": None})
    plt.close(figure)


def greatest(side: str) -> float:
    """Return the greatest ratio of a side of the picture."""
    return max(value for comparison in COMPARISONS for which, found in comparison.sides() if which == side for value in found)


def write() -> None:
    """Put the table on the first page and draw the picture."""
    PAGE.write_text(replace(PAGE.read_text(), "results", results()))
    draw_costs(COSTS)
    draw(PICTURE)
