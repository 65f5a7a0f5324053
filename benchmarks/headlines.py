"""What the summary says of each suite: which ratios of which table."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from benchmarks.report import Table

OURS = "ours, default"
BY_HAND = "a structured perceptron by hand"
ABOVE = "sets above 1.05"
MEANS = ("mean", "geometric mean", "worst set", ABOVE)
Where = dict[str, Any]


@dataclass(frozen=True)
class Headline:
    """Where the ratio of ours to a baseline's is found in a table of a suite, below 1 where ours is ahead.

    The values are those of `column` in the rows that `ours` describes.  They are ratios already, of the baseline's to ours if
    `inverse`; or those of the rows that `theirs` describes, or of the column `beside`, are what they are divided by.
    """

    suite: str
    what: str
    baseline: str
    title: str
    column: str
    ours: Where = field(default_factory=lambda: {"learner": OURS})
    theirs: Where | None = None
    beside: str | None = None
    inverse: bool = False
    loss: Callable[[float], float] = float
    limited: bool = False

    def ratios(self, table: Table) -> list[float | None]:
        """One for each row of ours; None where one of the two was not measured."""
        ours = [self._value(table, row, self.column) for row in rows(table, self.ours)]
        if self.theirs is not None:
            theirs = [self._value(table, row, self.column) for row in rows(table, self.theirs)]
        elif self.beside is not None:
            theirs = [self._value(table, row, self.beside) for row in rows(table, self.ours)]
        else:
            theirs = [1.0] * len(ours)
        pairs = zip(theirs, ours, strict=True) if self.inverse else zip(ours, theirs, strict=True)
        return [None if a is None or b is None else a / b for a, b in pairs]

    def limits(self, table: Table) -> list[tuple[float, bool] | None]:
        """Of each row of ours, the limit as a ratio of ours to the baseline's, and whether it is kept; None without one."""
        given = rows(table, self.ours)
        if not self.limited:
            return [None] * len(given)
        goal = table.columns.index("goal", place(table, self.column))
        return [None if row[goal] is None else (self._limit(row[goal]), row[goal + 1]) for row in given]

    def _limit(self, goal: Any) -> float:
        return 1 / leading(goal) if self.inverse else leading(goal)

    def _value(self, table: Table, row: list, column: str) -> float | None:
        value = leading(row[place(table, column)])
        return None if value is None else self.loss(value)


def rows(table: Table, where: Where) -> list[list]:
    """The rows with the given cells; one of means only if it is asked for."""
    found = [row for row in table.rows if all(row[table.columns.index(name)] == cell for name, cell in where.items())]
    return [row for row in found if row[0] not in MEANS or row[0] in where.values()]


def place(table: Table, column: str) -> int:
    """The place of a column; "#2" at the end of its name asks for the second of that name."""
    name, _, which = column.partition("#")
    return [i for i, found in enumerate(table.columns) if found == name][int(which or 1) - 1]


def leading(cell: Any) -> float | None:
    """The first number in a cell, if there is one."""
    found = re.search(r"-?\d+\.?\d*(e-?\d+)?", str(cell))
    return None if found is None else float(found[0])


def rest(share: float) -> float:
    """What a share, as an accuracy, is short of 1."""
    return 1 - share


PERCEPTRON, SGD, MORD = "`Perceptron`", "`SGDClassifier`", "mord `LogisticAT`"
TREES = "LightGBM lambdarank"
BARE = "the bare loop"
PEER = "CRFsuite ap"
CRF = "CRFsuite, averaged perceptron"
TUNED = "TunedThresholdClassifierCV(LogisticRegression)"
TIMES = "times faster (ratio)"
AVERAGE_COST = "Average cost"
COST_RATIO = "average cost (ratio)"
MIXED = "8 shards / 1 shard, after 20"
PLAIN = {"learner": "ours, perceptron"}
PIECEWISE = {"learner": "ours, piecewise"}
EBM = "`ExplainableBoostingClassifier`"
HEADLINES = [
    *(
        Headline(
            f"throughput_{kind}", "time of an epoch", PERCEPTRON, f"Throughput, {kind}", TIMES, PLAIN, inverse=True, limited=True
        )
        for kind in ("dense", "sparse")
    ),
    Headline(
        "limit",
        "time of an epoch, dense",
        BARE,
        "Dense rows and the bare loop",
        f"to {BARE} (ratio)",
        {"what": "epoch, ours"},
        limited=True,
    ),
    Headline("limit", "predicting, dense", BARE, "Dense rows and the bare loop", f"to {BARE} (ratio)", {"what": "predict, ours"}),
    Headline("limit", "time of an epoch, CSR", BARE, "CSR rows and the bare loop", f"to {BARE} (ratio)", {"what": "epoch, ours"}),
    Headline(
        "limit",
        "time of an epoch, CSR",
        PERCEPTRON,
        "CSR rows and the bare loop",
        "to Perceptron (ratio)",
        {"what": "epoch, ours"},
        limited=True,
    ),
    *(
        Headline(
            "limit",
            f"time of an epoch, CSR, {what}",
            "ours, l2",
            "CSR epochs beside l2",
            "to l2, sorted (ratio)",
            {"what": variant},
            limited=True,
        )
        for what, variant in (("l1", "l1"), ("scaled", "scaled"), ("unsorted rows", "l2, unsorted"))
    ),
    Headline("limit", "time of a small fit", PERCEPTRON, "A small fit", "to Perceptron (ratio)", {"learner": "ours"}),
    *(
        Headline("predict", f"predicting, {kind}", SGD, f"Prediction, {title}", "to SGDClassifier (ratio)", limited=True)
        for kind, title in (("dense", "dense"), ("CSR", "sparse"))
    ),
    Headline("predict", "predicting a row", SGD, "Prediction, one row", "to SGDClassifier (ratio)"),
    Headline("predict", "training on a row and predicting it", SGD, "Prediction, one row", "to SGDClassifier (ratio)#2"),
    Headline("updates", "time of the default fit", SGD + ", averaged", "The default fit", TIMES, inverse=True, limited=True),
    *(
        Headline(
            "files",
            "training on text",
            other,
            "Text files, rows a second",
            "times as many (ratio)",
            {"what": "reader + learning", "beside": other},
            inverse=True,
            limited=True,
        )
        for other in ("former reader + learning", "Vowpal Wabbit")
    ),
    Headline("stream", "training on a row", SGD, "Streams, one row at a time", "ratio", inverse=True, limited=True),
    *(
        Headline(
            "stream",
            "training on a row",
            baseline,
            "Streams, one row at a time",
            "ratio",
            theirs={"learner": baseline},
            inverse=True,
        )
        for baseline in ("river LogisticRegression", "Vowpal Wabbit")
    ),
    Headline("stream", "predicting a row", SGD, "Streams, one row at a time", "ratio#2", inverse=True),
    *(
        Headline(
            "stream",
            "predicting a row",
            baseline,
            "Streams, one row at a time",
            "ratio#2",
            theirs={"learner": baseline},
            inverse=True,
        )
        for baseline in ("river LogisticRegression", "Vowpal Wabbit")
    ),
    Headline("memory", "growth in `fit`", "the size of X", "Peak memory of fit", "growth / X", {"learner": "ours"}, limited=True),
    Headline("memory", "growth in `fit`", PERCEPTRON, "Peak memory of fit", "ratio to Perceptron", {"learner": "ours"}),
    *(
        Headline("quality", "error", f"`{baseline}`", "Accuracy of the defaults", OURS, {}, beside=baseline, loss=rest)
        for baseline in ("LogisticRegression", "LinearSVC", "Perceptron")
    ),
    *(
        Headline("costs", "average cost", f"`{baseline}`, lowest expected cost", AVERAGE_COST, COST_RATIO, theirs=theirs)
        for baseline, theirs in (("LogisticRegression", None), ("LogisticRegressionCV", {"learner": "LogisticRegressionCV"}))
    ),
    Headline(
        "costs",
        "log loss",
        "`LogisticRegressionCV`",
        AVERAGE_COST,
        "log loss (ratio)",
        theirs={"learner": "LogisticRegressionCV"},
    ),
    *(
        Headline("costs", "time of a fit", baseline, "Time of a fit with costs", column, theirs=theirs, limited=theirs is None)
        for baseline, column, theirs in (
            ('`decision="learned"`', "to decision=learned (ratio)", None),
            ("`LogisticRegressionCV`", "seconds", {"learner": "LogisticRegressionCV"}),
        )
    ),
    Headline("reject", "loss at a cost of 0.05", "without reject", "Reject option", "ratio", {"cost": 0.05}),
    Headline("ordinal", "time of a fit", MORD, "Ordinal fits", TIMES, inverse=True, limited=True),
    Headline("ordinal", "absolute error", MORD, "Ordinal errors beside LogisticAT's", "all sets", limited=True),
    Headline(
        "multilabel",
        "time of an epoch",
        "`MultiOutputClassifier(Perceptron)`",
        "Multilabel fits",
        TIMES,
        {"learner": "ours, one epoch"},
        inverse=True,
        limited=True,
    ),
    Headline(
        "multilabel",
        "Hamming loss",
        "`OneVsRestClassifier(LogisticRegression)`",
        "Multilabel goals",
        "ratio",
        {"measure": "Hamming loss"},
        limited=True,
    ),
    Headline("inference", "time", "`linear_sum_assignment`", "Loss-augmented inference", TIMES, {}, inverse=True),
    Headline("ranking", "time of a fit", "RankSVM", "Ranking fits", "times faster than RankSVM (ratio)", inverse=True),
    Headline("ranking", "time of a fit", TREES, "Ranking fits", f"than {TREES} (ratio)", inverse=True),
    *(
        Headline("ranking", "1 - NDCG@10", baseline, "Ranking quality", "NDCG@10", theirs={"learner": baseline}, loss=rest)
        for baseline in ("RankSVM", TREES, "XGBoost rank:ndcg")
    ),
    Headline("label_ranking", "time of a fit", "pairwise `LogisticRegression`", "Label ranking fits", TIMES, inverse=True),
    Headline("label_ranking", "1 - NDCG", "pairwise `LogisticRegression`", "Label ranking quality", "ratio"),
    Headline(
        "norms",
        "loss where few features matter, l1",
        "ours, l2",
        "Norms and targets",
        "loss",
        {"norm": "l1", "that matter": 5},
        beside="loss, l2",
    ),
    Headline(
        "norms",
        "loss where few directions matter, trace",
        "ours, l2",
        "Norms and targets",
        "loss",
        {"norm": "trace", "rank": 3},
        beside="loss, l2",
    ),
    Headline(
        "norms",
        "loss on raw features, scaled",
        "l2 after `StandardScaler`",
        "Raw features",
        "scaled, raw (ratio)",
        {"data": "geometric mean"},
    ),
    *(
        Headline("sequences", what, peer, "Taggers by default", column, {"learner": OURS}, {"learner": peer})
        for what, column in (("error of tokens", "token error"), ("time of a fit", "fit, seconds"))
        for peer in ("CRFsuite ap", "CRFsuite pa", "CRFsuite lbfgs")
    ),
    Headline("sequences", "error of handwritten letters", CRF, "Handwritten words", f"to {PEER} (ratio)"),
    *(
        Headline(
            "sequences",
            f"time of an epoch, {what}",
            CRF,
            "Fits of sequences",
            TIMES,
            {"learner": name},
            inverse=True,
            limited=True,
        )
        for what, name in (("default", OURS), ("perceptron", "ours, perceptron"))
    ),
    Headline("sequences", "tagging", CRF, "Tagging", TIMES, inverse=True, limited=True),
    Headline("sequences", "1 - F1 of chunks", CRF, "Chunks of text", "F1", theirs={"learner": PEER}, loss=rest),
    Headline("sequences", "memory of a fit of text", CRF, "Peak memory of a fit of text", f"to {PEER} (ratio)"),
    *(
        Headline("norms", f"time of an epoch, {norm}", "ours, l2", "Cost of a round", "to l2 (ratio)", {"norm": norm})
        for norm in ("l1", "group", "trace", "scaled")
    ),
    Headline(
        "kernels",
        "error on sets that are not linear",
        "`SVC`",
        "Sets that are not linear",
        "accuracy",
        {"learner": "ours, RKHS"},
        theirs={"learner": "SVC"},
        loss=rest,
    ),
    Headline(
        "kernels", "time of a fit", "`SVC`", "A fit beside SVC's", "to SVC (ratio)", {"learner": "ours, RKHS"}, limited=True
    ),
    Headline(
        "kernels",
        "predicting a row, budget 500",
        "`SVC`",
        "One row at a time",
        "SVC to it (ratio)",
        {"learner": "ours, RKHS, budget 500", "call": "predict"},
        inverse=True,
    ),
    Headline(
        "weights",
        "balanced error, classes balanced",
        "`LogisticRegression`",
        'Balanced accuracy with class_weight="balanced"',
        "ours",
        {},
        beside="LogisticRegression",
        loss=rest,
    ),
    Headline(
        "weights",
        "time of a weighted fit",
        "an unweighted one",
        "Time of a weighted fit over that of an unweighted one",
        "ratio of times",
        {},
    ),
    Headline(
        "averages",
        "progressive loss of the average that chooses itself",
        "the best fixed one",
        "Progressive loss by what predicts",
        "auto / best fixed",
        {},
        limited=True,
    ),
    *(
        Headline("average_cost", "average cost per row", f"the {column}", "Average cost per row", "ours", {}, beside=column)
        for column in ("most probable class", "lowest expected cost")
    ),
    Headline(
        "electricity",
        "error on a stream that drifts",
        "`SGDClassifier`, passive-aggressive",
        "Electricity: progressive error",
        "error",
        theirs={"learner": "SGDClassifier, pa1"},
    ),
    Headline(
        "thresholds",
        "F1 of the rarer class",
        f"`{TUNED}`",
        "F1 of the rarer class",
        f"ours, decision=f1 / {TUNED}",
        {},
        inverse=True,
    ),
    Headline(
        "measures",
        "balanced accuracy, by batches",
        '`LogisticRegression(class_weight="balanced")`',
        "Balanced accuracy",
        'batches, balanced / LogisticRegression(class_weight="balanced")',
        {},
        inverse=True,
    ),
    Headline(
        "reject",
        "loss with a reject option",
        "`LogisticRegression` and Chow's rule",
        "Reject loss beside logistic regression with Chow's rule",
        "reject= / Chow",
        {},
    ),
    Headline(
        "promises",
        "cost at a recall",
        "`LogisticRegression`, threshold by hand",
        "Lowest cost at a recall",
        "subject_to / by hand",
        {},
    ),
    Headline(
        "promises",
        "predicting a row within bounds",
        "without bounds",
        "A decision within bounds, one row at a time",
        "to unconstrained (ratio)",
        {"decision": "subject_to"},
        limited=True,
    ),
    *(
        Headline("joint", f"time of an epoch, {update}", BY_HAND, "Joint features, an epoch", f"{update} / by hand (ratio)", {})
        for update in ("perceptron", "default")
    ),
    Headline("joint", "loss", BY_HAND, "Joint features, held-out loss", OURS, {}, beside="by hand"),
    Headline("mixing", "error of 8 shards after 20 rounds", "one learner", "Errors of mixtures", MIXED, {"norm": "l2"}),
    Headline(
        "mixing", "time of a round on two threads", "one thread", "A round of mixing on two threads", TIMES, {}, inverse=True
    ),
    *(
        Headline("tables", what, "LightGBM", "Error on tables", "ours, auto (ratio)", where)
        for what, where in (("error on tables", {}), ("error on tables, measured ones", {"kind": "measured"}))
    ),
    Headline(
        "tables", "time of a fit of a table", "LightGBM", "Time of a fit and of a prediction", "fit, ours, auto (ratio)", {}
    ),
    Headline(
        "tables",
        "error on streams",
        "river ARFClassifier",
        "Streams of tables",
        "error, to river ARFClassifier (ratio)",
        PIECEWISE,
    ),
]
