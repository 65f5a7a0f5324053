"""What is kept of the rounds of mixing so far: numbers and arrays, no pickle."""

from __future__ import annotations

import json
import os
import re
from typing import Any

import numpy as np
from joblib import hash as hash_of

from sklearn_predtron._core.mixed import KINDS, Moments
from sklearn_predtron._queries import shortened
from sklearn_predtron.mixing._algebra import MADE_BY
from sklearn_predtron.mixing._rounds import Progress

FORMAT = 1
ABOUT = "about"


def described(value: Any) -> Any:
    """Return what tells a parameter from others, in any process."""
    if isinstance(value, np.ndarray):
        return ["array", list(value.shape), hash_of(value)]
    return re.sub(r" at 0x[0-9a-f]+", "", repr(value))


def check_path(path: Any) -> None:
    """Refuse what no file can be written to."""
    if not isinstance(path, (str, os.PathLike)) or not os.path.basename(os.fspath(path)) or os.path.isdir(path):
        raise ValueError(f"checkpoint={path!r} is no file; accepted are None and the path of one, which need not be there.")
    if not os.path.isdir(os.path.dirname(os.path.abspath(path))):
        raise ValueError(f"checkpoint={os.fspath(path)!r} cannot be written: its folder is not there.")


class Checkpoint:
    """A file that is rewritten, as a whole or not at all, after each round.

    Parameters
    ----------
    path : str or path-like
        The file.
    about : dict
        What the rounds are of, by name: a file about anything else is refused.
    """

    def __init__(self, path: str | os.PathLike[str], about: dict[str, Any]):
        self.path = os.fspath(path)
        self.about = json.loads(json.dumps({"format": FORMAT, "made_by": MADE_BY, **about}))

    def load(self, most: int) -> Progress | None:
        """Return the rounds that the file holds, or None if there is no file; refuse more than so many."""
        if not os.path.exists(self.path):
            return None
        try:
            with open(self.path, "rb") as opened, np.load(opened, allow_pickle=False) as file:  # numpy keeps damaged ones open
                found = {name: file[name] for name in file.files}
            about = json.loads(str(found.pop(ABOUT)))
        except Exception as error:  # whatever a damaged file brings numpy to raise
            raise ValueError(f"checkpoint={self.path!r} is damaged: {type(error).__name__}: {error}") from None
        self._compare(about)
        progress = self._progress(found)
        if len(progress.losses) > most:
            raise ValueError(
                f"checkpoint={self.path!r} holds {len(progress.losses)} rounds, and rounds={most}; accepted is the file of no "
                "more rounds."
            )
        return progress

    def _compare(self, about: dict[str, Any]) -> None:
        """Refuse a file about something else by the first thing that differs."""
        for name in {**self.about, **about}:
            own, other = self.about.get(name), about.get(name)
            if own != other:
                raise ValueError(
                    f"checkpoint={self.path!r} is of a fit with {name} = {shortened(other)}, and this one has "
                    f"{shortened(own)}; accepted is the file of the same fit, or one that is not there."
                )

    def _progress(self, found: dict[str, Any]) -> Progress:
        """Return the rounds that the arrays of a file tell."""
        try:
            state: dict[str, dict[str, Any]] = {kind: {} for kind in KINDS}
            moments: dict[str, dict[str, Any]] = {}
            losses, mixed_loss = tuple(found.pop("losses").tolist()), float(found.pop("mixed_loss"))
            for name, value in found.items():
                kind, field = name.split("/", 1)
                plain = value.item() if value.ndim == 0 else value
                if kind == "moments":
                    field, part = field.rsplit("/", 1)
                    moments.setdefault(field, {})[part] = plain
                else:
                    state[kind][field] = plain
            state["moments"] = {field: Moments(**parts) for field, parts in moments.items()}
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"checkpoint={self.path!r} is damaged: {error!r}.") from None
        return Progress(state, losses, mixed_loss)

    def save(self, progress: Progress) -> None:
        """Put the rounds so far in the place of those before."""
        arrays = {f"{kind}/{name}": value for kind in KINDS for name, value in progress.state[kind].items()}
        for name, moments in progress.state["moments"].items():
            del arrays[f"moments/{name}"]
            arrays |= {f"moments/{name}/{part}": value for part, value in moments._asdict().items()}
        part = f"{self.path}.part"
        arrays |= {ABOUT: json.dumps(self.about), "losses": np.array(progress.losses), "mixed_loss": progress.mixed_loss}
        with open(part, "wb") as file:
            np.savez(file, **arrays)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, self.path)
        folder = os.open(os.path.dirname(os.path.abspath(self.path)), os.O_RDONLY) if os.name == "posix" else None
        if folder is not None:
            os.fsync(folder)
            os.close(folder)
