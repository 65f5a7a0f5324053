"""The table and the picture of the first page: errors and times beside other learners', of the results that are kept."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import exp, log
from pathlib import Path
from statistics import mean
from typing import Any

from benchmarks.headlines import HEADLINES, OURS, Headline, rest
from benchmarks.record import RESULTS, Record
from benchmarks.report import Table, replace
from benchmarks.suites import paid

PAGE = Path(__file__).parents[1] / "README.md"
PICTURE, PAID = RESULTS / "peers.svg", RESULTS / "paid.svg"
COLUMNS = ["you predict", "compared with", "on", "measured by", "error, ours / theirs", "time, ours / theirs"]
COLORS = {"error": "#d55e00", "time": "#3c9dd0"}
WAYS = {
    paid.USUAL: ("as usual: the most probable class", "#999999"),
    paid.DECIDED: ("logistic regression, least expected cost", "#3c9dd0"),
    paid.OURS: ("ours, told what mistakes cost", "#d55e00"),
    paid.ASKING: ("ours, or to ask for 0.5", "#e69f00"),
}
TICKS = {
    "error": {"1/4": 0.25, "1/2": 0.5, "equal": 1, "2": 2},
    "time": {"1/100": 0.01, "1/10": 0.1, "equal": 1, "10": 10},
}


SGD, LOGISTIC = "`SGDClassifier`, averaged", "`LogisticRegression`"
ONE_EACH = "`OneVsRestClassifier`"
FIT, ROW, TOKENS = "time of a fit", "learning from a row", "error of tokens"
TAGGED, ROWS = "6,877 handwritten words, from a tenth and from all but that; 2 generated texts", "generated, 100 columns"


@dataclass(frozen=True)
class Comparison:
    """What is predicted beside which learner, on which data, and the headlines of its error and its time."""

    predicted: str
    peer: str
    on: str
    error: Headline | None = None
    time: Headline | None = None

    def sides(self) -> Iterator[tuple[str, str, list[float]]]:
        """Yield "error" and "time" with what it is of and its ratios, nothing of what was not measured."""
        for side, of in (("error", self.error), ("time", self.time)):
            if of is not None and (found := ratios(of)):
                yield side, of.what, found

    def cells(self) -> list:
        """Return the row of the table."""
        measured = {side: (what, spread(found)) for side, what, found in self.sides()}
        measure = measured.get("error", measured.get("time", (None,)))[0]
        return [self.predicted, self.peer, self.on, measure, *(measured.get(side, (None, None))[1] for side in TICKS)]


def headline(suite: str, what: str, baseline: str) -> Headline:
    """Return the headline of that name."""
    (found,) = (known for known in HEADLINES if (known.suite, known.what, known.baseline) == (suite, what, baseline))
    return found


MORD, TREES, PAIRS = "mord `LogisticAT`", "LightGBM lambdarank", "pairwise `LogisticRegression`"
TUNED, CHOW = "`TunedThresholdClassifierCV(LogisticRegression)`", "`LogisticRegression` and Chow's rule"
EXPECTED = "`LogisticRegressionCV`, least expected cost"
CLASSES, RATINGS = "6 sets, 178 to 49,000 rows", "9 sets, each cut in 4 ways, 74 to 4,200 rows"
DOCUMENTS = "2 sets of few queries; on large ones trees lead (Qin et al. 2021)"
COMPARISONS = [
    Comparison(
        "what costs least",
        EXPECTED,
        "47 sets, at most 3,000 rows",
        headline("costs", "what mistakes cost", EXPECTED),
        headline("costs", FIT, "`LogisticRegressionCV`"),
    ),
    Comparison(
        "probabilities",
        "`LogisticRegressionCV`",
        "the same",
        Headline(
            "costs",
            "log loss",
            "`LogisticRegressionCV`",
            "What is paid",
            "log loss (ratio)",
            {"learner": OURS},
            {"learner": "LogisticRegressionCV"},
        ),
    ),
    Comparison(
        "classes of a table",
        "`LGBMClassifier`",
        "16 sets, 7 generated, 398 to 20,000 rows",
        headline("tables", "error on tables", "LightGBM"),
        headline("tables", "time of a fit of a table", "LightGBM"),
    ),
    Comparison(
        "classes",
        SGD,
        CLASSES,
        Headline("quality", "error", SGD, "Accuracy of the defaults", OURS, {}, beside="SGDClassifier, averaged", loss=rest),
        headline("updates", "time of the default fit", SGD),
    ),
    Comparison("classes", LOGISTIC, CLASSES, headline("quality", "error", LOGISTIC)),
    Comparison(
        "classes, by a kernel",
        "`SVC`",
        "6 sets, 4 generated",
        headline("kernels", "error on sets that are not linear", "`SVC`"),
        headline("kernels", FIT, "`SVC`"),
    ),
    Comparison(
        "classes, or to ask",
        f"{LOGISTIC}, Chow's rule",
        "9 sets, 5 generated, 150 to 2,000 rows",
        headline("reject", "loss with a reject option", CHOW),
    ),
    Comparison(
        "a rare class",
        "`TunedThresholdClassifierCV`",
        "7 sets, 6 generated, 1,000 to 49,000 rows",
        headline("thresholds", "F1 of the rarer class", TUNED),
    ),
    Comparison(
        "ratings",
        "mord",
        RATINGS,
        Headline("ordinal", "absolute error", MORD, "Ordinal errors", OURS, {}, beside="mord LogisticAT"),
        headline("ordinal", FIT, MORD),
    ),
    Comparison(
        "sets of labels",
        ONE_EACH,
        "2 sets, 593 and 2,417 rows",
        headline("multilabel", "Hamming loss", "`OneVsRestClassifier(LogisticRegression)`"),
        Headline(
            "thresholds",
            FIT,
            ONE_EACH,
            "F1 of sets of labels",
            FIT,
            {"learner": "ours, multilabel"},
            {"learner": "OneVsRestClassifier(LogisticRegression)"},
        ),
    ),
    Comparison(
        "ranked documents",
        "`LGBMRanker`",
        DOCUMENTS,
        headline("ranking", "1 - NDCG@10", TREES),
        headline("ranking", FIT, TREES),
    ),
    Comparison("ranked documents", "XGBoost", DOCUMENTS, headline("ranking", "1 - NDCG@10", "XGBoost rank:ndcg")),
    Comparison(
        "ranked labels",
        PAIRS,
        "3 sets, 150 to 846 rows",
        headline("label_ranking", "1 - NDCG", PAIRS),
        headline("label_ranking", FIT, PAIRS),
    ),
    *(
        Comparison(
            "sequences", f"CRFsuite, {name}", TAGGED, headline("sequences", TOKENS, peer), headline("sequences", FIT, peer)
        )
        for name, peer in (("passive-aggressive", "CRFsuite pa"), ("lbfgs", "CRFsuite lbfgs"))
    ),
    Comparison("a stream's next row", "river", ROWS, time=headline("stream", ROW, "river LogisticRegression")),
    Comparison("a stream's next row", "Vowpal Wabbit", ROWS, time=headline("stream", ROW, "Vowpal Wabbit")),
    Comparison(
        "a text file", "Vowpal Wabbit", "generated, 100,000 rows", time=headline("files", "learning from text", "Vowpal Wabbit")
    ),
]


def ratios(of: Headline) -> list[float]:
    """Return the ratios of ours to theirs that were measured."""
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
    return Table("Results", COLUMNS, [comparison.cells() for comparison in COMPARISONS]).lines()


def pyplot() -> Any:
    """Return matplotlib's interface, for pictures that are the same in each run and are read on light and dark pages."""
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams.update({"svg.hashsalt": "peers", "svg.fonttype": "none", "text.color": "gray", "font.size": 11})
    import matplotlib.pyplot as plt

    return plt


def draw_paid(path: Path) -> None:
    """Draw what a row costs, in units of what it costs by the most probable class."""
    plt = pyplot()
    table = Record.last("paid").table(paid.TITLE)
    assert table is not None
    figure, ax = plt.subplots(figsize=(9.5, 3.4), layout="constrained")
    usual = table.columns.index(paid.USUAL)
    for place, (way, (words, color)) in enumerate(WAYS.items()):
        heights = [row[table.columns.index(way)] / row[usual] for row in table.rows]
        at = [number + 0.2 * place for number in range(len(heights))]
        ax.bar(at, heights, width=0.19, color=color, label=words)
    ax.set_xticks([number + 0.3 for number in range(len(table.rows))], [row[0] for row in table.rows])
    ax.set_title("what a row costs, where a miss costs 20 false alarms; as usual = 1", color="gray", fontsize=11)
    ax.legend(frameon=False, labelcolor="gray", ncols=2, loc="upper right", bbox_to_anchor=(1, 0.98))
    ax.set_ylim(0, 1.35)
    ax.tick_params(colors="gray", length=0)
    ax.grid(axis="y", alpha=0.3)
    ax.spines[:].set_visible(False)
    figure.savefig(path, transparent=True, metadata={"Date": None, "Creator": None})
    plt.close(figure)


def draw(path: Path) -> None:
    """Draw each comparison's mean and extremes: errors and times beside each other, on logarithmic axes."""
    plt = pyplot()
    figure, axes = plt.subplots(1, 2, figsize=(9.5, 5), sharey=True, layout="constrained")
    names = [f"{comparison.predicted}: {comparison.peer.replace('`', '')}" for comparison in COMPARISONS]
    axes[0].set_yticks(range(len(names)), names)
    axes[0].invert_yaxis()
    for ax, (side, ticks) in zip(axes, TICKS.items(), strict=True):
        for place, comparison in enumerate(COMPARISONS):
            for found in (found for which, _, found in comparison.sides() if which == side):
                ax.plot([min(found), max(found)], [place] * 2, color=COLORS[side], linewidth=3, alpha=0.5)
                ax.plot(geometric_mean(found), place, "o", color=COLORS[side])
        ax.set_title(f"{side}, ours / theirs", color="gray", fontsize=11)
        ax.axvline(1, color="gray", linewidth=1.5)
        ax.set_xscale("log")
        ax.set_xticks(list(ticks.values()), list(ticks))
        ax.set_xlim(min(ticks.values()) / 1.6, max(2.2, 1.2 * greatest(side)))
        ax.minorticks_off()
        ax.tick_params(colors="gray", length=0)
        ax.grid(alpha=0.3)
        ax.spines[:].set_visible(False)
    figure.supxlabel("left of the line we are ahead", color="gray", fontsize=11)
    figure.savefig(path, transparent=True, metadata={"Date": None, "Creator": None})
    plt.close(figure)


def greatest(side: str) -> float:
    """Return the greatest ratio of a side of the picture."""
    return max(value for comparison in COMPARISONS for which, _, found in comparison.sides() if which == side for value in found)


def write() -> None:
    """Put the table on the first page and draw the picture."""
    PAGE.write_text(replace(PAGE.read_text(), "results", results()))
    draw_paid(PAID)
    draw(PICTURE)
