"""Checkpoints of mixing rounds: numbers and arrays, no pickles."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from joblib import hash as hash_of

from sklearn_predtron._core.learner import Learner
from sklearn_predtron._support.array_file import OtherFileError, read_file, write_file
from sklearn_predtron._support.one_line import one_line
from sklearn_predtron._support.queries import shortened
from sklearn_predtron._support.warning import warn
from sklearn_predtron.mixing._checked_state import arrays_of, finite_numbers, validated_state
from sklearn_predtron.mixing._rounds import Progress
from sklearn_predtron.mixing._total import MADE_BY

MAGIC = b"predtron checkpoint 2\n"
RESTART = "delete the file to start from scratch"
LONGEST_REASON = 200  # characters: it may repeat text of the file


def stable_description(value: Any) -> Any:
    """Return a process-independent description of a parameter's value."""
    if isinstance(value, np.ndarray):
        return ["array", list(value.shape), hash_of(value)]
    return re.sub(r" at 0x[0-9a-f]+", "", repr(value))


def check_path(path: Any) -> None:
    """Raise ValueError for a path that cannot be written."""
    text = os.fspath(path) if isinstance(path, (str, os.PathLike)) else b""
    is_name = isinstance(text, str) and "\0" not in text and os.path.basename(text)
    if not is_name or os.path.islink(os.path.realpath(text)) or (os.path.exists(text) and not os.path.isfile(text)):
        raise ValueError(f"checkpoint={path!r} is no file; accepted are None and the path of one, which need not be there.")
    folder = os.path.dirname(os.path.realpath(text))
    if not os.path.isdir(folder):
        raise ValueError(f"checkpoint={text!r} cannot be written: its folder is not there.")
    if not os.access(folder, os.W_OK):
        raise ValueError(f"checkpoint={text!r} cannot be written: its folder may not be changed.")


class MixingCheckpoint:
    """A file that is rewritten atomically after each round.

    Parameters
    ----------
    path : str or path-like
        The file.
    about : dict
        The properties of the fit, by name.  A file with other properties raises an error.
    """

    def __init__(self, path: str | os.PathLike[str], about: dict[str, Any]):
        self.path = os.fspath(path)
        self.about = json.loads(json.dumps({"made_by": MADE_BY, **about}))
        self.digests = self.about["hash of the data"] is None  # whether rows are identified as they are learned
        self.rows: Sequence[str] = ()  # the digest of each shard's rows, once it is known
        self.is_warned = False

    def load(self, learner: Learner, most: int) -> Progress | None:
        """Load the rounds so far; None without a file."""
        with self._reading():
            if not os.path.exists(self.path):
                return None
            about, arrays = read_file(self.path, MAGIC)
            fit, rows, losses = dict(about["fit"]), list(about["rows"]), finite_numbers(about["losses"])
        self._compare(fit)
        with self._reading():
            if len(rows) != (len(self.about["shards"]) if self.digests else 0) or not all(isinstance(one, str) for one in rows):
                raise ValueError(f"its rows are {rows}")
            progress = Progress(validated_state(learner, arrays), losses, finite_numbers([about["mixed_loss"]])[0])
        if len(losses) > most:
            raise ValueError(
                f"checkpoint={self.path!r} holds {len(losses)} rounds, and rounds={most}; accepted is the file of no more rounds."
            )
        self.rows = rows
        return progress

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """Name the file in errors."""
        try:
            yield
        except MemoryError:
            raise
        except OtherFileError:
            raise ValueError(
                f"checkpoint={self.path!r} is no checkpoint that this version wrote; accepted are one that is, and a file "
                "that is not there."
            ) from None
        except OSError as error:
            raise ValueError(f"checkpoint={self.path!r} cannot be read: {error.strerror or error}.") from None
        except Exception as error:  # whatever a file brings about that was made to be wrong
            reason = str(error) if type(error) is ValueError else f"{type(error).__name__}: {error}"
            raise ValueError(f"checkpoint={self.path!r} is damaged: {one_line(reason, LONGEST_REASON)}; {RESTART}.") from None

    def _compare(self, fit: dict[str, Any]) -> None:
        """Raise ValueError for a file of another fit."""
        for name in {**self.about, **fit}:
            own, other = self.about.get(name), fit.get(name)
            if own != other:
                what = name if name in self.about else shortened(name)
                raise ValueError(
                    f"checkpoint={self.path!r} is of a fit with {what} = {shortened(other)}, and this one has "
                    f"{shortened(own)}; accepted is the file of the same fit, or none; {RESTART}."
                )

    def compare_rows(self, rows: Sequence[str]) -> None:
        """Raise ValueError if a shard has other rows than before."""
        for (name, _), own, other in zip(self.about["shards"], rows, self.rows or rows, strict=True):
            if own != other:
                raise ValueError(
                    f"checkpoint={self.path!r} is of a fit to other rows than {name} has now; accepted is the file of the same "
                    f"data, or none; {RESTART}."
                )
        self.rows = rows

    def keep(self, progress: Progress) -> None:
        """Save the rounds so far, or warn once about failure; a full disk must not lose the trained model."""
        try:
            self.save(progress)
        except OSError as error:
            if not self.is_warned:
                warn(
                    f"checkpoint={self.path!r} could not be written after round {len(progress.losses)}: "
                    f"{error.strerror or error}; learning goes on, and each round tries again."
                )
            self.is_warned = True

    def save(self, progress: Progress) -> None:
        """Replace the file by the rounds so far."""
        more = {"rows": self.rows, "losses": progress.losses, "mixed_loss": progress.mixed_loss}
        write_file(self.path, MAGIC, {"fit": self.about, **more}, arrays_of(progress.state))
