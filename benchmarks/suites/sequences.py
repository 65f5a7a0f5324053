"""Labels of tokens in sequences, beside CRFsuite's averaged perceptron: errors, times, chunks, memory, one sentence at a time."""

import json
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass, field
from functools import partial
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.child import peak, resident
from benchmarks.contestants import TAGGING_CONTESTANTS
from benchmarks.contestants.crfsuite import CRFsuite
from benchmarks.contestants.our_taggers import OursTagger
from benchmarks.contestants.taggers import TaggingContestant
from benchmarks.measure import Case, Measured, interleave, ratios
from benchmarks.read import letters
from benchmarks.report import Table, mean_error, spread
from benchmarks.suites.fits import at_most, verdict
from benchmarks.suites.memory import python
from benchmarks.suites.quality import standard_error
from benchmarks.tasks import Options
from sklearn_predtron import PredtronSequenceTagger
from sklearn_predtron.datasets import make_sequences
from sklearn_predtron.metrics import chunk_f1_score

OURS, PERCEPTRON, PEER = "ours, default", "ours, perceptron", "CRFsuite ap"
FOLDS, EPOCHS = 10, 20
MOST_ERROR = {"small": 0.171, "large": 0.118}
SENTENCES, HELD_OUT, TOKENS, ACTIVE, FEATURES, LABELS, NOISE = 12_000, 2_400, 20, 20, 300_000, 23, 0.8
AHEAD = 0.002
MOST_REPEATS = 3
OUTSIDE, NAMES = 0.9, 7  # the share of O in text with few names, and its labels
LBFGS, MOST_ITERATIONS = "CRFsuite lbfgs", 100
BY_DEFAULT = [
    OursTagger(),
    CRFsuite(),
    CRFsuite("CRFsuite pa", "passive-aggressive"),
    CRFsuite(LBFGS, "lbfgs"),
]
ONE_TOKENS, ONE_FEATURES, ONE_LABELS, MOST_US = 25, 2**18, 9, 100.0
NO_SETS = "No --data: the handwritten words are skipped."
Sequences = tuple[Any, NDArray, NDArray]


@dataclass
class Work:
    """Sequences to learn from and to tag; epochs of a long fit and of a short one, and how many times faster ours should be."""

    name: str
    train: Sequences
    test: Sequences
    epochs: tuple[int, int]
    learn: dict[str, float]
    tag: float
    converted: dict[str, Any] = field(default_factory=dict)


def run(options: Options) -> list[Table]:
    """Errors on words, times of fits and of tagging, chunks of text, memory, one sentence at a time."""
    works = [text_work(options)] if options.data is None else [words_work(options), text_work(options)]
    learned = [learn_times(work, options) for work in works]
    tables = [
        by_default(options),
        fits(works, learned),
        tagging(works, learned, options),
        chunks(works[-1], learned[-1]),
        memory(options),
        one(options),
    ]
    return tables if options.data is None else [errors(options), *tables]


# ---------------------------------------------------------------------------------------------------------------------- words


def errors(options: Options) -> Table:
    """Wrong letters and wrong words, of little and of much to learn from."""
    n_folds = FOLDS if options.scale == 1 else options.seeds
    table = Table(
        "Handwritten words",
        ["learn from", "learner", "token error", "goal", "met", f"to {PEER} (ratio)", "word error"],
        note="The letters of Taskar, Guestrin and Koller, 128 pixels each: one of the ten folds to learn from and nine to tag "
        f"(small), or the reverse (large); mean ± standard error of {n_folds} folds, {EPOCHS} epochs, but as many "
        "as it chooses of ours by default.  CRFsuite is given a feature more, for the offset.",
    )
    words = letters(options.data)
    for size, most in MOST_ERROR.items():
        found = {}
        for contestant in TAGGING_CONTESTANTS:
            if contestant.installed:
                found[contestant.name] = np.array([error_of_fold(contestant, words, fold, size) for fold in range(n_folds)])
        table.rows += [[size, contestant.name, *error_cells(contestant.name, found, most)] for contestant in TAGGING_CONTESTANTS]
    return table


def error_cells(name: str, found: dict[str, NDArray], most: float) -> list:
    """Errors of a learner on the folds, and its goal."""
    if name not in found:
        return ["not installed", *[None] * 4]
    token, word = found[name].T
    goal = at_most(round(float(token.mean()), 3), most) if name == OURS else [None, None]
    theirs = found[PEER][:, 0].mean() if PEER in found else 0
    ratio = float(token.mean() / theirs) if theirs else None
    return [mean_error(token.mean(), standard_error(token)), *goal, ratio, mean_error(word.mean(), standard_error(word))]


def error_of_fold(contestant: TaggingContestant, words: tuple, fold: int, size: str) -> tuple[float, float]:
    """The share of wrong letters and of wrong words."""
    X, y, sid, fold_of = words
    inside = fold_of == fold
    train, test = (inside, ~inside) if size == "small" else (~inside, inside)
    epochs = None if contestant.name == OURS else EPOCHS
    model = contestant.learn(contestant.load(contestant.convert(X[train], sid[train]), y[train]), epochs)
    wrong = contestant.tag(model, contestant.convert(X[test], sid[test])) != y[test]
    return float(wrong.mean()), float(len(np.unique(sid[test][wrong])) / len(np.unique(sid[test])))


def words_work(options: Options) -> Work:
    """Nine folds of words to learn from, one to tag."""
    X, y, sid, fold = letters(options.data)
    train, test = np.flatnonzero(fold != 0), np.flatnonzero(fold == 0)
    train, test = train[sid[train] < sid[train][options.rows(len(train)) - 1]], test[: options.rows(len(test))]
    parts = [(X[rows], y[rows], sid[rows]) for rows in (train, test)]
    return Work("words", *parts, epochs=(EPOCHS, 4), learn={PERCEPTRON: 3.0, OURS: 2.5}, tag=6.0)


# ----------------------------------------------------------------------------------------------------------------------- text


def text(options: Options, labels: int = LABELS, outside: float | None = None) -> tuple[Sequences, Sequences]:
    """Sentences whose labels are a Markov chain of B-x, I-x and O: to learn from and to tag."""
    n, m = options.rows(SENTENCES), options.rows(HELD_OUT)
    shape = {"n_tokens": TOKENS, "n_active": ACTIVE, "noise": NOISE}
    X, y, sid = make_sequences(n + m, labels, FEATURES, **shape, bio=True, outside=outside, random_state=0)
    train = sid < n
    return (X[train], y[train], sid[train]), (X[~train], y[~train], sid[~train])


def text_work(options: Options) -> Work:
    """The sentences, and what is asked of ours."""
    return Work("text", *text(options), epochs=(10, 2), learn={PERCEPTRON: 4.0, OURS: 2.5}, tag=8.0)


def chunks(work: Work, learned: dict[str, Measured]) -> Table:
    """F1 of chunks."""
    table = Table(
        "Chunks of text",
        ["learner", "F1", f"ahead of {PEER}", "goal", "met", "token error"],
        note=f"{len(np.unique(work.test[2]))} held-out sentences of the text of the times, after {work.epochs[0]} epochs; F1 of "
        "chunks that are right from their first token to their last.",
    )
    found = {}
    for contestant in TAGGING_CONTESTANTS:
        if contestant.installed:
            tags = contestant.tag(learned[case_name(contestant, work.epochs[0])].result, converted(work, contestant, "test"))
            found[contestant.name] = chunk_f1_score(work.test[1], tags, work.test[2]), float((tags != work.test[1]).mean())
    for contestant in TAGGING_CONTESTANTS:
        if not contestant.installed:
            table.rows.append([contestant.name, "not installed", *[None] * 4])
            continue
        f1, error = found[contestant.name]
        ahead = f1 - found[PEER][0] if PEER in found else None
        goal = [f"at least {AHEAD}", ahead >= AHEAD] if ahead is not None and contestant.name == OURS else [None, None]
        table.rows.append([contestant.name, f1, ahead, *goal, error])
    return table


# ------------------------------------------------------------------------------------------------------------------- defaults


def by_default(options: Options) -> Table:
    """Errors, F1 and times of all learners as they are without any parameter."""
    table = Table(
        "Taggers by default",
        ["data", "tokens", "learner", "token error", "F1", "fit, seconds", "us per token", "log loss", "fit, to ours (ratio)"],
        note="No learner is given a parameter, but lbfgs, which would go on for an hour, 100 iterations.  Ours sets sequences "
        "aside by which it chooses, and learns all; CRFsuite's averaged perceptron and passive-aggressive learner take 100 "
        "epochs.  CPU time of a fit, and of tagging the rest.  Words: one fold of ten, or nine; text as below; names: text of "
        f"which {100 * OUTSIDE:.0f} % is labelled O.",
    )
    for name, train, test in sets_by_default(options):
        found = [found_by_default(contestant, train, test) if contestant.installed else NOT_THERE for contestant in BY_DEFAULT]
        ours = found[0][2]
        for contestant, figures in zip(BY_DEFAULT, found, strict=True):
            ratio = None if figures[2] is None else figures[2] / ours
            table.rows.append([name, len(train[1]), contestant.name, *figures, ratio])
    return table


NOT_THERE = ["not installed", None, None, None, None]


def sets_by_default(options: Options) -> Iterator[tuple[str, Sequences, Sequences]]:
    """A name, sequences to learn and sequences to tag."""
    if options.data is not None:
        X, y, sid, fold = letters(options.data)
        parts = [(X[rows], y[rows], sid[rows]) for rows in (fold == 0, fold != 0)]
        yield "words, small", *parts
        yield "words, large", *parts[::-1]
    yield "text", *text(options)
    yield "names", *text(options, NAMES, OUTSIDE)


def found_by_default(contestant: TaggingContestant, train: Sequences, test: Sequences) -> list:
    """Token error, F1 of chunks, seconds of the fit, microseconds of a token, log loss."""
    loaded = contestant.load(contestant.convert(train[0], train[2]), train[1])
    began = process_time()
    model = contestant.learn(loaded, MOST_ITERATIONS if contestant.name == LBFGS else None)
    fitted = process_time()
    given = contestant.convert(test[0], test[2])
    tagging = process_time()
    tags = contestant.tag(model, given)
    us = (process_time() - tagging) / len(tags) * 1e6
    f1 = chunk_f1_score(test[1], tags, test[2]) if "O" in test[1] else None
    return [float((tags != test[1]).mean()), f1, fitted - began, us, contestant.log_loss(model, given, test[1])]


# ---------------------------------------------------------------------------------------------------------------------- times


def converted(work: Work, contestant: TaggingContestant, part: str) -> Any:
    """The sequences as a learner takes them, made once."""
    X, _, sid = getattr(work, part)
    key = f"{contestant.name}, {part}"
    if key not in work.converted:
        work.converted[key] = contestant.convert(X, sid)
    return work.converted[key]


def case_name(contestant: TaggingContestant, epochs: int) -> str:
    return f"{contestant.name}, {epochs} epochs"


def learn_times(work: Work, options: Options) -> dict[str, Measured]:
    """CPU seconds of a long fit and a short one of each learner."""
    cases = []
    for contestant in TAGGING_CONTESTANTS:
        if contestant.installed:
            loaded = contestant.load(converted(work, contestant, "train"), work.train[1])
            cases += [
                Case(case_name(contestant, epochs), partial(contestant.learn, epochs=epochs), partial(as_it_is, loaded))
                for epochs in work.epochs
            ]
    return interleave(cases, min(options.repeats, MOST_REPEATS), process_time)


def as_it_is(loaded: Any) -> Any:
    return loaded


def per_token(work: Work, learned: dict[str, Measured], contestant: TaggingContestant) -> Measured:
    """Seconds of a token in an epoch, by the difference of a long fit and a short one."""
    many, few = (learned[case_name(contestant, epochs)].times for epochs in work.epochs)
    tokens = (work.epochs[0] - work.epochs[1]) * len(work.train[1])
    return Measured([max(a - b, 1e-9) / tokens for a, b in zip(many, few, strict=True)])


def fits(works: list[Work], learned: list[dict[str, Measured]]) -> Table:
    """A token in an epoch."""
    table = Table(
        "Fits of sequences",
        ["data", "tokens", "learner", "us per token and epoch", "times faster (ratio)", "goal", "met", "whole fit, seconds"],
        note=f"CPU time of an epoch by the difference of fits of many and of few ({works_epochs(works)}), so that what is done "
        f"once is left out; the ratio is {PEER} over the learner.  Strings and CRFsuite's own copies of them are made off the "
        f"clock.  {about_text(works[-1])}" + ("" if len(works) > 1 else NO_SETS),
    )
    for work, measured in zip(works, learned, strict=True):
        found = {c.name: per_token(work, measured, c) for c in TAGGING_CONTESTANTS if c.installed}
        for contestant in TAGGING_CONTESTANTS:
            about = [work.name, len(work.train[1]), contestant.name]
            if contestant.name not in found:
                table.rows.append([*about, "not installed", *[None] * 4])
                continue
            own, whole = found[contestant.name], measured[case_name(contestant, work.epochs[0])].seconds
            table.rows.append([*about, own.seconds * 1e6, *faster(found, own, work.learn.get(contestant.name)), whole])
    return table


def works_epochs(works: list[Work]) -> str:
    return ", ".join(f"{work.name} {work.epochs[0]} and {work.epochs[1]}" for work in works)


def about_text(work: Work) -> str:
    """What the text is like."""
    return (
        f"Text: `make_sequences`, {len(np.unique(work.train[2]))} sentences of {TOKENS} tokens with up to {ACTIVE} of {FEATURES} "
        f"features, {LABELS} labels of chunks.  "
    )


def faster(found: dict[str, Measured], own: Measured, goal: float | None) -> list:
    """How many times as long the peer takes, and the goal."""
    if PEER not in found:
        return [None, None, None]
    ratio = ratios(found[PEER], own)
    return [spread(ratio), *verdict(ratio, goal)]


def tagging(works: list[Work], learned: list[dict[str, Measured]], options: Options) -> Table:
    """A token that is tagged."""
    table = Table(
        "Tagging",
        ["data", "tokens", "learner", "us per token", "times faster (ratio)", "goal", "met"],
        note="CPU time of tagging the held-out sequences by the models of the long fits, after one call that is not counted, in "
        f"which ours writes its average down; the ratio is {PEER} over the learner.  Ours takes a CSR matrix, CRFsuite "
        "sequences of strings of its own, which it looks up.",
    )
    for work, measured in zip(works, learned, strict=True):
        cases = [
            Case(c.name, partial(c.tag, measured[case_name(c, work.epochs[0])].result), partial(converted, work, c, "test"))
            for c in TAGGING_CONTESTANTS
            if c.installed
        ]
        found = interleave(cases, options.many, process_time)
        for contestant in TAGGING_CONTESTANTS:
            about = [work.name, len(work.test[1]), contestant.name]
            if contestant.name not in found:
                table.rows.append([*about, "not installed", *[None] * 3])
                continue
            own = found[contestant.name]
            goal = work.tag if contestant.name == OURS else None
            table.rows.append([*about, own.seconds / len(work.test[1]) * 1e6, *faster(found, own, goal)])
    return table


# --------------------------------------------------------------------------------------------------------------------- memory


def memory(options: Options) -> Table:
    """Growth of the peak in a fit."""
    table = Table(
        "Peak memory of a fit of text",
        ["learner", "X in MB", "growth in MB", f"to {PEER} (ratio)"],
        note="Growth of the peak of resident memory in two epochs, X in memory already, in one fresh process each.  Of CRFsuite "
        "it is with its own copy of the sequences, made one by one.",
    )
    found = {}
    for contestant in TAGGING_CONTESTANTS:
        if contestant.installed and contestant.name in (OURS, PERCEPTRON, PEER):
            found[contestant.name] = json.loads(python("-c", GROWTH.format(contestant.name, options.scale)))
    for name, run in found.items():
        ratio = run["growth"] / found[PEER]["growth"] if PEER in found and found[PEER]["growth"] else None
        table.rows.append([name, run["X"] / 1e6, run["growth"] / 1e6, ratio])
    return table


GROWTH = "from benchmarks.suites.sequences import growth; import json; print(json.dumps(growth({!r}, {})))"


def growth(name: str, scale: float) -> dict[str, int]:
    """Bytes by which the peak grew while the text was learned, after a small fit; bytes of X."""
    contestant = next(contestant for contestant in TAGGING_CONTESTANTS if contestant.name == name)
    (X, y, sid), _ = text(Options(scale=scale))
    first = sid < 100
    contestant.learn(contestant.load(contestant.convert(X[first], sid[first]), y[first]), 1)
    before = resident()
    contestant.learn(contestant.load_one_by_one(X, y, sid), 2)
    return {"growth": peak() - before, "X": X.data.nbytes + X.indices.nbytes + X.indptr.nbytes}


# --------------------------------------------------------------------------------------------------------------- one sentence


def one(options: Options) -> Table:
    """partial_fit of a sentence."""
    sentences = sentences_alone(options.rows(1000))
    table = Table(
        "One sentence at a time",
        ["call", "us per sentence", "to the long way (ratio)", "goal", "met"],
        note=f"{ONE_TOKENS} tokens with up to {ACTIVE} of {ONE_FEATURES} features, {ONE_LABELS} labels; "
        "the same sentences again in each repeat, which begins with a copy of the learner.  A CSC matrix goes the long way.",
    )
    start = PredtronSequenceTagger().partial_fit(*sentences[0], classes=np.arange(ONE_LABELS))
    learn_each(start, sentences)
    forms = {"CSR": sentences, "CSC": [(X.tocsc(), y) for X, y in sentences]}
    cases = [Case(name, partial(learn_each, sentences=given), partial(deepcopy, start)) for name, given in forms.items()]
    measured = interleave(cases, options.repeats)
    for name in forms:
        us = measured[name].seconds / len(sentences) * 1e6
        ratio = ratios(measured[name], measured["CSC"])
        table.rows.append([f"`partial_fit`, {name}", us, spread(ratio), *at_most(us, MOST_US if name == "CSR" else None)])
    return table


def sentences_alone(n: int) -> list[tuple]:
    """X and y of each sentence."""
    shape = {"n_tokens": ONE_TOKENS, "n_active": ACTIVE, "noise": NOISE}
    X, y, _ = make_sequences(n, ONE_LABELS, ONE_FEATURES, **shape, random_state=0)
    return [(X[i : i + ONE_TOKENS], y[i : i + ONE_TOKENS]) for i in range(0, len(y), ONE_TOKENS)]


def learn_each(model: PredtronSequenceTagger, sentences: list[tuple]) -> None:
    """Learn the sentences one after the other."""
    for X, y in sentences:
        model.partial_fit(X, y)
