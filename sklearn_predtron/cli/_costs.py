"""Costs of the rows of the job, read together with them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

from sklearn_predtron._support.queries import shortened
from sklearn_predtron.cli._action_spaces import ActionSpace, RowsWithCosts, action_space_of
from sklearn_predtron.cli._compare import Comparison
from sklearn_predtron.cli._console import UsageError
from sklearn_predtron.cli._costs_file import CostsError, CostsFile, CostsReader
from sklearn_predtron.cli._data_files import DataFile
from sklearn_predtron.cli._file_format import AnyFormat, JobFiles
from sklearn_predtron.cli._job import Job, option
from sklearn_predtron.cli._labels import shortened_labels
from sklearn_predtron.cli._progress import ProgressBar
from sklearn_predtron.cli._unseen import counted


class RowCostsReader:
    """Costs of the rows of files, one after the other.

    Parameters
    ----------
    reader : CostsReader
        A pass over the file of costs.
    action_space : ActionSpace
        The action space.
    """

    def __init__(self, reader: CostsReader, action_space: ActionSpace):
        self._reader, self._pairs = reader, pairs_of(reader, action_space)

    def with_costs(self, X: Any) -> RowsWithCosts:
        """Return the next rows with their costs."""
        return RowsWithCosts(X, self._pairs, self._reader.take(X.shape[0]))


@dataclass(frozen=True)
class CostFiles:
    """The cost files of the job, for training and scoring."""

    learned: CostsFile | None
    tested: CostsFile | None

    @classmethod
    def of(cls, job: Job, files: JobFiles, stack: ExitStack) -> CostFiles:
        """Return the cost files of the arguments.

        The stack closes them. Those of TRAIN without labels are for predictions.
        """
        learned, tested = (
            CostsFile(option(name), stack.enter_context(DataFile(path)), job.chunk_bytes) if path else None
            for name, path in (("costs", job.costs), ("test_costs", job.test_costs))
        )
        return cls(learned, tested) if files.train else cls(None, learned or tested)

    @property
    def given(self) -> list[CostsFile]:
        """Return the given cost files."""
        return [file for file in (self.learned, self.tested) if file is not None]


@contextmanager
def open_costs(file: CostsFile | None, comparison: Comparison, file_format: AnyFormat) -> Iterator[RowCostsReader | None]:
    """Yield a reader of costs beside the rows, if any.

    It checks that both end at the same row.
    """
    if file is None:
        yield None
        return
    with file.open() as reader:
        yield RowCostsReader(reader, action_space_of(comparison.models[0].estimator, file_format.classes))
        reader.finish()


def pairs_of(reader: CostsReader, action_space: ActionSpace) -> list[tuple[Any, Any]]:
    """Return the pairs that the header's columns name."""
    what, labels = action_space.accepted_pairs
    known = shortened_labels(labels)
    found = []
    for text in reader.pairs:
        parse_pair = action_space.parse_pair(text)
        if parse_pair is None:
            raise CostsError(f"{reader.said}, line 1: unknown pair {shortened(text)}; accepted are {what} {known}")
        if parse_pair in found:
            raise CostsError(f"{reader.said}, line 1: the pair {text} is there twice")
        found.append(parse_pair)
    missing_pair = action_space.missing_pair(found)
    if missing_pair is not None:
        raise CostsError(
            f"{reader.said}, line 1: the pair {missing_pair} is not there, and the loss is no sum of costs of labels"
        )
    return found


def check_costs(job: Job, costs: CostFiles, model: Any, file_format: AnyFormat, bar: ProgressBar) -> None:
    """Validate cost files before training begins."""
    for file in costs.given:
        check_model(file, model)
        if job.written != "predictions" and file.option == "--costs" and file is costs.tested:
            raise UsageError("--costs changes predictions alone: --scores and --proba are what they are without it")
    action_space = action_space_of(model, file_format.classes)
    try:
        for file in costs.given:
            # The program that writes several pipes may write one after the other.
            if not file.file.is_pipe:
                with file.open() as reader:
                    pairs_of(reader, action_space)
        if costs.learned is not None and (job.epochs > 1 or file_format.n_rows is not None):
            costs.learned.file.keep(bar)
        if costs.learned is not None and file_format.n_rows is not None:
            check_rows(costs.learned, file_format.n_rows)
    except CostsError as error:
        raise UsageError(str(error)) from None


def check_model(file: CostsFile, model: Any) -> None:
    """Raise UsageError if the model cannot predict by costs."""
    if model.__sklearn_is_fitted__() and not hasattr(model, "predict_proba"):
        raise UsageError(f"{file.option} needs probabilities, and the model of --load has none")
    risk = getattr(getattr(model, "reject", None), "risk", None)
    if risk is not None:
        raise UsageError(
            f"{file.option} does not go with reject.risk={risk!r} of --load, which is in units of loss; accepted is --reject-cost"
        )


def check_rows(file: CostsFile, n: int) -> None:
    """Raise an error unless each row of TRAIN has costs."""
    with file.open() as reader:
        found = reader.count()
    if found != n:
        raise CostsError(f"{file.said} has {counted(found, 'line')} of costs, and TRAIN has {counted(n, 'row')}")
