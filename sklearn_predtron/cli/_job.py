"""The job that the command line specifies."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import Any

from sklearn_predtron.cli._console import UsageError
from sklearn_predtron.cli._labels import are_words, shortened_labels
from sklearn_predtron.cli._lines import typed_label, typed_labels

CHUNK_ROWS, CHUNK_BYTES = 10_000, 8 * 2**20
SHARD_ROWS = 2_000  # of the chunks of shards, as `ParameterMixing` reads files
LEARNER_OPTIONS = ["loss", "representation", "update", "norm", "average", "decision"]


def option(name: str) -> str:
    """Return the option of an argument as the user writes it."""
    return "TRAIN" if name == "train" else "--" + name.replace("_", "-")


@dataclass(frozen=True)
class Job:
    """All settings of a job; None is "not given"."""

    given: frozenset[str]  # the names of the arguments that were
    train: tuple[str, ...]
    test: str | None
    save: str | None
    load: str | None
    pickle: bool
    costs: str | None  # of the rows of TRAIN
    test_costs: str | None
    predictions: str | None
    plot: str | None
    written: str  # of rows: "predictions", "scores" or "probabilities"
    json: bool
    quiet: bool
    task: str | None
    classes: Any
    parameters: dict[str, Any]  # of the estimator, labels in them as the user has written them
    reject_cost: float | None
    reject_label: str | None
    compare: bool | None
    epochs: int
    shuffle: bool
    seed: int
    grow: bool
    jobs: int | None
    cluster: str | None
    checkpoint: str | None
    cache: bool
    features: int | None  # the width of the data
    max_classes: int | None
    zero_based: bool | None
    chunk_rows: int
    chunk_bytes: int
    format: str | None
    label: str | None  # the column of the labels
    header: bool | None
    template: str | None
    comment: str | None  # how lines of comment begin
    sep: str | None  # between columns
    encoding: str | None
    drop: tuple[str, ...]  # columns that are no features
    id: str | None  # the column that is copied to the predictions
    skip_unlabelled: bool

    @classmethod
    def of(cls, args: argparse.Namespace) -> Job:
        """Return the job of parsed arguments."""
        values = vars(args)
        if args.scores and args.proba:
            raise UsageError("--scores and --proba are two things to write in the place of predictions; accepted is one of them")
        same = ["test", "save", "load", "predictions", "task", "reject_cost", "reject_label", "compare", "costs", "test_costs"]
        same += ["jobs", "cluster", "checkpoint", "features", "max_classes", "zero_based"]
        same += ["format", "label", "header", "template", "plot", "comment", "sep", "encoding", "id"]
        switches = {name: bool(values[name]) for name in ("json", "quiet", "grow", "cache", "pickle", "skip_unlabelled")}
        maps = {"features": args.features} if isinstance(args.features, str) else {}
        return cls(
            given=frozenset(name for name, value in values.items() if not (value is None or (name == "train" and not value))),
            train=tuple(args.train),
            drop=tuple(args.drop or ()),
            written="scores" if args.scores else "probabilities" if args.proba else "predictions",
            classes=None if args.classes is None else typed_labels(args.classes),
            parameters={name: values[name] for name in LEARNER_OPTIONS if values[name] is not None} | maps,
            epochs=args.epochs or 1,
            shuffle=args.shuffle is not False,
            seed=args.seed or 0,
            chunk_rows=args.chunk or (SHARD_ROWS if args.jobs else CHUNK_ROWS),
            chunk_bytes=args.chunk_bytes or CHUNK_BYTES,
            **{name: None if name in maps else values[name] for name in same},  # type: ignore[arg-type]
            **switches,  # type: ignore[arg-type]
        )

    def asks_for(self, name: str) -> bool:
        """Return whether an argument was given and is not False."""
        return name in self.given and getattr(self, name, True) is not False

    @property
    def mixing(self) -> str | None:
        """Return the given option of mixing, if any."""
        return "--jobs" if self.jobs else "--cluster" if self.cluster else None

    @property
    def has_costs(self) -> bool:
        """Return whether the loss is a table of costs."""
        return isinstance(self.parameters.get("loss"), dict)

    def learner_parameters(self, classes: Any = None) -> dict[str, Any]:
        """Return the given parameters of the estimator."""
        parameters = dict(self.parameters)
        if self.has_costs:
            pairs = parameters["loss"].items()
            parameters["loss"] = {(like(true, classes), like(predicted, classes)): cost for (true, predicted), cost in pairs}
        if self.reject_cost is not None:
            from sklearn_predtron.losses import Reject  # predictors do without scikit-learn

            label = None if self.reject_label is None else like(self.reject_label, classes)
            parameters["reject"] = Reject(self.reject_cost, label)
        return parameters


def like(text: str, classes: Any) -> str | float:
    """Convert a label of the command line to the classes' type."""
    label = typed_label(text, classes)
    if isinstance(label, str) and classes is not None and not are_words(classes):
        raise UsageError(f"the label {text!r} must be a finite number; accepted are {shortened_labels(classes)} and the like")
    return label
