"""Norms beside l2: errors where few features or directions matter, raw features, and the cost of a round."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dsyevd
from sklearn.preprocessing import StandardScaler

from benchmarks.contestants import (
    OneVsRestLogistic,
    Ours,
    OursLabelRanker,
    OursMultilabel,
    OursOrdinal,
    OursRanker,
    VowpalWabbit,
)
from benchmarks.contestants.base import Contestant
from benchmarks.measure import Measured, interleave, ratios
from benchmarks.read import ORDINAL, Dataset, dense, elec2, ordinal, ranking
from benchmarks.report import Table, mean_error, number, spread
from benchmarks.suites.fits import fit_case
from benchmarks.suites.label_ranking import ndcg_loss
from benchmarks.suites.multilabel import hamming, micro_f1, with_both
from benchmarks.suites.ordinal import mean_absolute
from benchmarks.suites.quality import progressive_error, standard_error
from benchmarks.suites.ranking import query_ndcg
from benchmarks.tasks import (
    Options,
    Task,
    counted_words,
    gaussian_classes,
    held_out,
    labels_own_words,
    text,
    text_labels,
)
from sklearn_predtron.norms import Group, PNorm, Trace

L2, SCALED = "l2", "scaled"
NORMS = (L2, "l1", "group", "trace", SCALED)
WABBIT = VowpalWabbit()
NOISE, GRADES = 0.3, (0.7, 0.9)
SMALLEST_RATIO = 0.01
AT_RANDOM, DIFFERENT_ROWS = 0.3, 200
LATER_EPOCHS = 5
DECOMPOSITIONS = 50
NO_SETS = "No --data: letter, elec2, the ordinal sets and mslr_web10k_sample are skipped."


def run(options: Options) -> list[Table]:
    """Made-up targets, raw features, units and offsets, costs, sparse label sets."""
    return [targets(options), raw(options), units(options), costs(options), decomposition(options), sparse_labels(options)]


# ---------------------------------------------------------------------------------------------------------------------- targets


def errors(predicted: NDArray, y: NDArray) -> float:
    """The share of wrong labels."""
    return float((predicted != y).mean())


@dataclass(frozen=True)
class Target:
    """Gaussian rows, and scores linear in them; `sparse` features matter to all scores, or all, through `rank` directions."""

    name: str
    family: Callable[..., Contestant]
    scores: int
    columns: int
    norms: tuple
    sparse: int | None = None
    rank: int | None = None
    rows: int = 500

    def drawn(self, n: int, seed: int) -> tuple[NDArray, NDArray, NDArray, NDArray]:
        """Rows and labels, or relevances, to learn from, and as many to test on."""
        rng = np.random.default_rng(seed)
        p, d = self.columns, self.scores
        W = np.zeros((p, d))
        relevant = rng.permutation(p)[: self.sparse]
        if self.rank is None:
            W[relevant] = rng.standard_normal((len(relevant), d))
        else:
            W[relevant] = (
                rng.standard_normal((len(relevant), self.rank)) @ rng.standard_normal((self.rank, d)) / np.sqrt(self.rank)
            )
        X = rng.standard_normal((2 * n, p))
        latent = X @ W / np.sqrt(len(relevant)) + NOISE * rng.standard_normal((2 * n, d))
        ranked = self.family is OursLabelRanker
        y = sum((latent > np.quantile(latent, cut)).astype(float) for cut in GRADES) if ranked else latent.argmax(axis=1)
        return X[:n], y[:n], X[n:], y[n:]


FEW, MANY = 5, 1000
LABELS, LABEL_COLUMNS = 10, 500
CLASSES, CLASS_COLUMNS, RANK = 50, 200, 3
TRACES = ("trace", Trace(q=4))
L1, GROUP = ("l1", PNorm(q="theory")), ("group", Group(q="theory"))
TARGETS = (
    Target("binary, few features", Ours, 2, MANY, L1, sparse=FEW),
    Target("binary, all features", Ours, 2, MANY, L1),
    Target("multiclass, few features", Ours, 5, MANY, (*L1, *GROUP), sparse=FEW),
    Target("multiclass, all features", Ours, 5, MANY, (*L1, *GROUP)),
    Target("label ranking, few features", OursLabelRanker, LABELS, LABEL_COLUMNS, (*GROUP, *L1), sparse=FEW),
    Target("label ranking, all features", OursLabelRanker, LABELS, LABEL_COLUMNS, (*GROUP, *L1)),
    Target("multiclass, few directions", Ours, CLASSES, CLASS_COLUMNS, TRACES, rank=RANK),
    Target("multiclass, all directions", Ours, CLASSES, CLASS_COLUMNS, TRACES),
)


def targets(options: Options) -> Table:
    """Held-out losses under the norm that fits a target, and under l2."""
    table = Table(
        "Norms and targets",
        ["target", "scores", "columns", "that matter", "rank", "norm", "loss", "loss, l2", "difference", "goal", "met"],
        note=f"Mean ± standard error of {options.seeds} seeds; {options.rows(TARGETS[0].rows)} Gaussian rows to learn from, "
        "as many held out; scores are Gaussian linear functions of variance about 1 plus noise of standard "
        f"deviation {NOISE}.  The loss is the error, of label rankings 1 - NDCG (grade 2 for the highest tenth of "
        "all scores, 1 for the fifth below).  All else is at its default.  Differences are to l2 on the same "
        "data, seed by seed; where all features or directions matter l2 should win.",
    )
    for target in TARGETS:
        found = target_losses(target, options)
        about = [target.name, target.scores, target.columns, target.sparse or target.columns, target.rank]
        structured = target.sparse is not None or target.rank is not None
        for norm in target.norms:
            difference = found[norm] - found[L2]
            goal = "below 0" if structured else "above 0"
            met = bool((difference.mean() < 0) == structured)
            cells = [_mean_cell(values) for values in (found[norm], found[L2], difference)]
            table.rows.append([*about, str(norm), *cells, goal, met])
    return table


def target_losses(target: Target, options: Options) -> dict[Any, NDArray]:
    """Under each norm, one loss of each seed."""
    found: dict[Any, list] = {norm: [] for norm in (L2, *target.norms)}
    for seed in range(options.seeds):
        X, y, X_test, y_test = target.drawn(options.rows(target.rows), seed)
        for norm, values in found.items():
            contestant = target.family(norm=norm)
            predicted = contestant.predict(contestant.fit(contestant.make(Task(target.scores, seed=seed)), X, y), X_test)
            values.append(ndcg_loss(predicted, y_test) if target.family is OursLabelRanker else errors(predicted, y_test))
    return {norm: np.array(values) for norm, values in found.items()}


def _mean_cell(values: NDArray) -> str:
    return mean_error(values.mean(), standard_error(values))


# ---------------------------------------------------------------------------------------------------------------- sparse labels


WORD_ROWS, WORD_HELD_OUT, WORD_LABELS = 2000, 1000, 20
WORDS: tuple[tuple[str, Callable[..., tuple], int], ...] = (
    ("counts of words", counted_words, 1000),
    ("common words", text_labels, 1000),
    ("common words", text_labels, 5000),
    ("common words", text_labels, 50_000),
    ("own words", labels_own_words, 1000),
    ("own words", labels_own_words, 20_000),
)
LEAST_SHARE = 0.9


def sparse_labels(options: Options) -> Table:
    """Label sets of rows of words: what the norms for few features find beside l2 and a batch learner."""
    contestants = [OneVsRestLogistic(), *(OursMultilabel(str(norm), norm=norm) for norm in (L2, *L1, *GROUP))]
    table = Table(
        "Label sets of rows of words",
        ["data", "columns", "learner", "micro-F1", "Hamming loss", f"micro-F1, at least {LEAST_SHARE:g} of l2's"],
        note=f"Means of {options.seeds} seeds: {options.rows(WORD_ROWS)} rows to learn from, {options.rows(WORD_HELD_OUT)} held "
        f"out, {WORD_LABELS} labels, 60 to 75 words a row; counts: `make_multilabel_classification`; common words: each label is "
        "linear in the 500 commonest of Zipf's law; own words: each has twenty.  `q='theory'`: the theorem's exponent and steps.",
    )
    for name, draw, columns in WORDS:
        found = word_scores(contestants, draw, columns, options)
        for learner, (f1, loss) in found.items():
            met = None if learner in (L2, contestants[0].name) else bool(f1 >= LEAST_SHARE * found[L2][0])
            table.rows.append([name, columns, learner, float(f1), float(loss), met])
    return table


def word_scores(contestants: list[Contestant], draw: Callable[..., tuple], columns: int, options: Options) -> dict[str, NDArray]:
    """The mean micro-F1 and Hamming loss of each learner."""
    found: dict[str, list] = {contestant.name: [] for contestant in contestants}
    n = options.rows(WORD_ROWS)
    for seed in range(options.seeds):
        X, Y, X_test, Y_test = held_out(*draw(n + options.rows(WORD_HELD_OUT), columns, WORD_LABELS, seed=seed), n)
        Y, Y_test = with_both(Y, Y_test)
        for contestant in contestants:
            model = contestant.fit(contestant.make(Task(Y.shape[1], seed=seed)), X, Y)
            predicted = contestant.predict(model, X_test).astype(int)
            found[contestant.name].append((micro_f1(predicted, Y_test), hamming(predicted, Y_test)))
    return {name: np.mean(values, axis=0) for name, values in found.items()}


# ------------------------------------------------------------------------------------------------------------------------- raw


BINNING = "len10"
MSLR = "mslr_web10k_sample"
LEARNERS = ("scaled, raw", "l2, raw", "l2, standardised", "Vowpal Wabbit, raw")
REFERENCE = LEARNERS[2]
Losses = dict[str, float | None]


def raw(options: Options) -> Table:
    """Losses on raw features, beside those after StandardScaler."""
    table = Table(
        "Raw features",
        ["data", "loss", *LEARNERS, *(f"{name} (ratio)" for name in LEARNERS if name != REFERENCE)],
        note=f"Means of {options.seeds} splits or seeds; ratios to l2 after `StandardScaler`, which has seen the whole "
        "training part (of elec2, the whole stream) beforehand; their geometric mean over the sets, with its "
        "standard error as a factor.  elec2 in order of time, last iterate (`average=False`); ordinal sets in "
        f"{BINNING}; all else at the defaults, ours in 10 epochs.  Vowpal Wabbit: its defaults with hinge loss, "
        "one pass, classes only.  " + ("" if options.data else NO_SETS),
    )
    found = {(data, loss): losses for data, loss, losses in raw_losses(options)}
    for about, losses in found.items():
        table.rows.append([*about, *losses.values(), *(_ratio(losses, name) for name in LEARNERS if name != REFERENCE)])
    means = [_geometric([_ratio(losses, name) for losses in found.values()]) for name in LEARNERS if name != REFERENCE]
    table.rows.append(["geometric mean", *[None] * (1 + len(LEARNERS)), *means])
    return table


def raw_losses(options: Options) -> Iterator[tuple[str, str, Losses]]:
    """Of each set: its name, the loss, and what each learner loses."""
    for data in dense(options):
        yield data.name, "error", _table_losses(data, options)
    if options.data is None:
        return
    yield "elec2", "progressive error", _stream_losses(*elec2(options))
    for name in ORDINAL:
        found = [ordinal(options.data, name, BINNING, options.seeds, standardise=flag) for flag in (False, True)]
        yield f"{name}, {BINNING}", "MAE", _pair_losses(partial(OursOrdinal, "ours"), mean_absolute, *found)
    yield MSLR, "1 - NDCG@10", _query_losses(options)


def _named(scaled: float, plain: float, standard: float, wabbit: float | None = None) -> Losses:
    return dict(zip(LEARNERS, (scaled, plain, standard, wabbit), strict=True))


def _table_losses(data: Dataset, options: Options) -> Losses:
    k = len(np.unique(data.y))
    plain = Dataset(data.name, data.X, data.y, standardise=False)
    splits = [[part.split(seed, options) for seed in range(options.seeds)] for part in (plain, data)]
    labels = np.unique(data.y)
    found = _pair_losses(partial(Ours, "ours"), errors, *splits)
    if WABBIT.installed:
        numbered = [
            (X, np.searchsorted(labels, y), X_test, np.searchsorted(labels, y_test)) for X, y, X_test, y_test in splits[0]
        ]
        found[LEARNERS[3]] = _mean_loss(WABBIT, errors, numbered, k)
    return found


def _pair_losses(family: Callable[..., Contestant], loss: Callable, plain: Iterable[tuple], standard: Iterable[tuple]) -> Losses:
    """Under scaled and l2 on raw rows, under l2 on standardised ones."""
    plain = list(plain)
    k = len(np.unique(plain[0][1]))
    return _named(
        *(_mean_loss(family(norm=norm), loss, rows, k) for norm, rows in ((SCALED, plain), (L2, plain), (L2, standard)))
    )


def _mean_loss(contestant: Contestant, loss: Callable, splits: Iterable[tuple], k: int) -> float:
    found = []
    for seed, (X, y, X_test, y_test) in enumerate(splits):
        model = contestant.fit(contestant.make(Task(k, seed=seed)), X, y)
        found.append(loss(contestant.predict(model, X_test), y_test))
    return float(np.mean(found))


def _stream_losses(X: NDArray, y: NDArray) -> Losses:
    scaled, plain = (Ours(f"ours, {norm}", norm=norm, average=False) for norm in (SCALED, L2))
    ours = [progressive_error(scaled, X, y), progressive_error(plain, X, y)]
    ours.append(progressive_error(plain, StandardScaler().fit_transform(X), y))
    return _named(*ours, _wabbit_progressive(X, y) if WABBIT.installed else None)


def _wabbit_progressive(X: NDArray, y: NDArray) -> float:
    model = WABBIT.make(Task(2))
    wrong = 0
    for i, row in enumerate(WABBIT.convert(model, X, y)):
        wrong += i > 0 and WABBIT.guess(model, row) != y[i]
        WABBIT.take(model, row)
    return wrong / (len(y) - 1)


def _query_losses(options: Options) -> Losses:
    found = []
    for norm, standardise in ((SCALED, False), (L2, False), (L2, True)):
        train, (X_test, *about) = ranking(options.data, MSLR, standardise=standardise)
        contestant = OursRanker(norm=norm)
        models = (contestant.fit(contestant.make(Task(seed=seed)), *train) for seed in range(options.seeds))
        found.append(float(np.mean([1 - query_ndcg(contestant.predict(model, X_test), *about).mean() for model in models])))
    return _named(*found)


def _ratio(losses: Losses, name: str) -> float | None:
    """To the reference; None where one of the two is missing or the reference loses nothing."""
    loss, reference = losses[name], losses[REFERENCE]
    return loss / reference if loss is not None and reference else None


def _geometric(values: Iterable[float | None]) -> str | None:
    """The geometric mean of those that are there, with its standard error; None where there are none."""
    logarithms = np.log([max(value, SMALLEST_RATIO) for value in values if value is not None])
    if not len(logarithms):
        return None
    return f"{np.exp(logarithms.mean()):.3f} x/ {np.exp(standard_error(logarithms)):.3f}"


ORDERS, OFFSET = 3.0, 1000.0
NAMES_OF_UNITS = ("breast_cancer", "wine", "digits")


def units(options: Options) -> Table:
    """Columns in other units, and far from 0."""
    table = Table(
        "Units and offsets",
        ["data", "learner", "test rows", "changed by other units", "accuracy", f"change, X + {OFFSET:g}"],
        note=f"Raw features; units: each column times 10^U(-{ORDERS:g}, {ORDERS:g}); sums over {options.seeds} splits of the "
        "test rows and of the predictions that change, means of the accuracy and of its change when every feature is shifted.",
    )
    learners = [Ours("scaled", norm=SCALED), Ours("l2"), WABBIT]
    for data in dense(options):
        if data.name in NAMES_OF_UNITS:
            plain = Dataset(data.name, data.X, data.y, standardise=False)
            for contestant in learners:
                found = (
                    [_moved(contestant, plain, seed, options) for seed in range(options.seeds)] if contestant.installed else None
                )
                table.rows.append(
                    [data.name, contestant.name, *(_moved_cells(found) if found else ["not installed", *[None] * 3])]
                )
    return table


def _moved(contestant: Contestant, data: Dataset, seed: int, options: Options) -> tuple[int, int, float, float]:
    """Test rows, predictions that change, accuracy, its change."""
    X, y, X_test, y_test = data.split(seed, options)
    factors = 10 ** np.random.default_rng(seed).uniform(-ORDERS, ORDERS, X.shape[1])
    task = Task(len(np.unique(data.y)), seed=seed)
    moves = (lambda Z: Z, lambda Z: Z * factors, lambda Z: Z + OFFSET)
    here, scaled, shifted = (
        contestant.predict(contestant.fit(contestant.make(task), move(X), y), move(X_test)) for move in moves
    )
    accuracy = float((here == y_test).mean())
    return len(y_test), int((scaled != here).sum()), accuracy, float((shifted == y_test).mean()) - accuracy


def _moved_cells(found: list[tuple]) -> list:
    rows, changed, accuracies, changes = zip(*found, strict=True)
    return [sum(rows), sum(changed), float(np.mean(accuracies)), float(np.round(np.mean(changes), 12))]


# ------------------------------------------------------------------------------------------------------------------------ costs


@dataclass(frozen=True)
class Work:
    """A set on which rounds are timed: kind, columns, classes, rows, and the norms."""

    kind: str
    columns: int
    classes: int
    rows: int
    norms: tuple[str, ...] = NORMS

    def drawn(self, quiet: bool, n: int) -> tuple[Any, NDArray]:
        """Rows that tell their labels, or of which a share has labels at random."""
        if self.kind == "CSR":
            X, y = text(n, self.classes, p=self.columns)
            if quiet:
                again = np.arange(n) % DIFFERENT_ROWS
                X, y = X[again], y[again]
        else:
            X, y = gaussian_classes(n, self.columns, self.classes, distance=np.sqrt(self.columns))
        rng = np.random.default_rng(0)
        random = rng.random(n) < (0 if quiet else AT_RANDOM)
        return X, np.where(random, rng.integers(self.classes, size=n), y)


WORKS = (
    Work("CSR", 100_000, 10, 4000),
    Work("dense", 1000, 10, 2000),
    Work("dense", 100, 2, 20_000),
    Work("dense", 100, 100, 500, (L2, "trace")),
)


def costs(options: Options) -> Table:
    """What a round costs beside l2, in the first epoch and in the second."""
    table = Table(
        "Cost of a round",
        [
            *("data", "classes", "labels", "norm"),
            *("epoch 1, us per round", "to l2 (ratio)", "share of steps"),
            *("later epochs, us per round", "to l2 (ratio)", "share of steps"),
        ],
        note="Default update and average, rows in the given order.  Epoch 1: a whole `fit` with `max_iter=1`, over "
        f"its rounds; later epochs: what `max_iter={1 + LATER_EPOCHS}` takes longer, over its further rounds (the "
        "statistics of scaled are frozen then).  Ratios within a repeat: median (least-greatest).  Clean: "
        f"Gaussian classes sqrt(columns) standard deviations apart; {DIFFERENT_ROWS} rows of text again and "
        f"again.  Noisy: as many rows of text as there are rounds, and {AT_RANDOM:.0%} of the labels at random.  "
        "A round without a step costs the scores, and what the norm needs to know of the row (l1, group: its q-norm).",
    )
    for work in WORKS:
        for labels in ("clean", "noisy"):
            X, y = work.drawn(labels == "clean", options.rows(work.rows))
            about = [f"{work.kind}, {work.columns} columns", work.classes, labels]
            table.rows += [[*about, *cells] for cells in cost_rows(work, X, y, options)]
    return table


def cost_rows(work: Work, X: Any, y: NDArray, options: Options) -> Iterator[list]:
    """The cells of each norm."""
    lengths = (1, 1 + LATER_EPOCHS)
    contestants = {(norm, epochs): Ours(f"{norm}, {epochs}", norm=norm) for norm in work.norms for epochs in lengths}
    cases = [
        fit_case(contestant, Task(work.classes, epochs=epochs, shuffle=False), X, y)
        for (_, epochs), contestant in contestants.items()
    ]
    measured = interleave(cases, options.repeats)
    found = {norm: [measured[contestants[norm, epochs].name] for epochs in lengths] for norm in work.norms}
    cells = {norm: [per_round(one), later_per_round(one, more)] for norm, (one, more) in found.items()}
    for norm in work.norms:
        yield [norm, *(cell for each, of_l2 in zip(cells[norm], cells[L2], strict=True) for cell in _cost_cells(*each, *of_l2))]


def per_round(one: Measured) -> tuple[Measured, float]:
    """Seconds of a round, and the share of rounds that take a step."""
    rounds = one.result.t_
    return Measured([seconds / rounds for seconds in one.times]), one.result.n_updates_ / rounds


def later_per_round(one: Measured, more: Measured) -> tuple[Measured, float]:
    """The same of the rounds by which a fit is longer than another."""
    rounds = max(more.result.t_ - one.result.t_, 1)
    longer = [(b - a) / rounds for a, b in zip(one.times, more.times, strict=True)]
    return Measured(longer), (more.result.n_updates_ - one.result.n_updates_) / rounds


def _cost_cells(found: Measured, steps: float, of_l2: Measured, _: float) -> list:
    """A repeat whose difference is lost in the noise has no ratio."""
    both = [pair for pair in zip(found.times, of_l2.times, strict=True) if min(pair) > 0]
    ours, theirs = (Measured(list(times)) for times in zip(*both, strict=True)) if both else (Measured(), Measured())
    return [found.seconds * 1e6, spread(ratios(ours, theirs)) if both else "too short", steps]


def decomposition(options: Options) -> Table:
    """What a step under trace needs: eigenvectors of a symmetric matrix."""
    table = Table(
        "Eigendecomposition",
        ["rows and columns", "us", "times 10 x 10 (ratio)"],
        note=f"LAPACK's dsyevd, called by SciPy: median of {options.repeats} runs of {DECOMPOSITIONS} each.",
    )
    seconds = {d: median(_decompose(d) for _ in range(options.repeats)) for d in (10, 100)}
    table.rows += [[d, value * 1e6, number(value / seconds[10])] for d, value in seconds.items()]
    return table


def _decompose(d: int) -> float:
    A = np.random.default_rng(0).standard_normal((d, d))
    A = np.asfortranarray(A @ A.T)
    start = perf_counter()
    for _ in range(DECOMPOSITIONS):
        dsyevd(A)
    return (perf_counter() - start) / DECOMPOSITIONS
