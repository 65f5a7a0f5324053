"""The settings of a command: source, model and output."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from sklearn_predtron.cli._console import UsageError
from sklearn_predtron.datasets.formats.base import CHUNK_ROWS
from sklearn_predtron.datasets.formats.labels import are_words, shortened_labels, typed

LARGEST_TABLE = 2**30  # bytes of a chunk under a feature map


@dataclass(frozen=True)
class Source:
    """The files of rows, and how they are read."""

    train: tuple[str, ...] = ()
    test: str | None = None
    holdout: float = 0.0  # the share of TRAIN that is scored instead
    costs: dict[tuple[str, str], str] | None = None  # columns by pair
    format: str | None = None  # its name; None: by the files' names
    options: dict[str, Any] = field(default_factory=dict)  # parameters of the format
    classes: list[Any] | None = None
    chunk_rows: int = CHUNK_ROWS


@dataclass(frozen=True)
class ModelSettings:
    """The model, and how it is trained."""

    load: str | None = None
    task: str | None = None
    parameters: dict[str, Any] = field(default_factory=dict)  # of the estimator, labels as the user has written them
    reject_cost: float | None = None
    reject_label: str | None = None
    epochs: int | None = None  # None: chosen by `fit`, and one of a stream
    stream: bool = False
    shuffle: bool = True
    seed: int = 0
    grow: bool = False
    jobs: int | None = None

    @property
    def passes(self) -> int:
        """The passes of a stream."""
        return self.epochs or 1

    @property
    def has_costs(self) -> bool:
        """Return whether the loss is a table of costs."""
        return isinstance(self.parameters.get("loss"), dict)

    def estimator_parameters(self, classes: Any = None) -> dict[str, Any]:
        """Return the given parameters of the estimator."""
        parameters = dict(self.parameters)
        if self.has_costs:
            parameters["loss"] = as_pairs(parameters["loss"], classes)
        if self.reject_cost is not None:
            from sklearn_predtron.losses import Reject  # predictors do without scikit-learn

            label = None if self.reject_label is None else like(self.reject_label, classes)
            parameters["reject"] = Reject(self.reject_cost, label)
        return parameters


@dataclass(frozen=True)
class Output:
    """The files and the report that are written."""

    save: str | None = None
    predictions: str | None = None
    written: str = "predictions"  # of rows, or "scores" or "probabilities"
    compare: str | None = None  # the rows that the peer is trained on
    plot: str | None = None
    json: bool = False
    quiet: bool = False


@dataclass(frozen=True)
class Job:
    """A command with its settings."""

    command: str  # "fit", "predict", "score", "demo", or "" for the short form
    source: Source
    model: ModelSettings
    output: Output

    @property
    def test_name(self) -> str:
        """The name of the file to score or predict, in messages."""
        return "FILE" if self.command in ("predict", "score") else "--test"

    @property
    def model_name(self) -> str:
        """The loaded model, in messages."""
        return f"{'MODEL' if self.command in ('predict', 'score') else '--load'}={self.model.load!r}"


def as_pairs(pairs: dict[tuple[str, str], Any], classes: Any) -> dict[tuple[Any, Any], Any]:
    """Return pairs of labels in the type of the classes."""
    return {(like(true, classes), like(predicted, classes)): value for (true, predicted), value in pairs.items()}


def like(text: str, classes: Any) -> str | float:
    """Convert a label of the command line to the classes' type."""
    label = typed_label(text, classes)
    if isinstance(label, str) and classes is not None and not are_words(classes):
        raise UsageError(f"the label {text!r} must be a finite number; accepted are {shortened_labels(classes)} and the like")
    return label


def typed_label(text: str, like: Any) -> str | float:
    """Convert a label of the command line to the known labels' type."""
    try:
        return typed(text, like)
    except ValueError:
        return text


def typed_labels(texts: list[str]) -> list[Any]:
    """Convert labels of the command line, to numbers if possible."""
    labels = [typed_label(text, None) for text in texts]
    return list(texts) if any(isinstance(label, str) for label in labels) else labels
