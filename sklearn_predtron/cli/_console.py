"""Output of the main job, with or without a reader."""

from __future__ import annotations

import errno
import os
import re
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, NoReturn

from sklearn_predtron._support.one_line import one_line

INTERRUPTED, NOBODY_READS, TERMINATED = 128 + 2, 128 + 13, 128 + 15  # a shell's exit code for a program that a signal ended


PARAMETERS = [
    "chunk_rows",
    "classes",
    "costs",
    "drop",
    "encoding",
    "format",
    "grow",
    "header",
    "id",
    "label",
    "like",
    "n_features",
]
PARAMETERS += ["path", "reject.label", "sep", "skip_unlabelled", "template"]
OPTIONS = {"train": "TRAIN", "path": "TRAIN", "like": "--load", "n_features": "--features", "chunk_rows": "--chunk"}
OPTIONS |= {"multilabel": "--task multilabel", "reject.label": "the label of --reject-cost"}


class UsageError(ValueError):
    """Error in the arguments of the command line."""


def option(name: str) -> str:
    """Return the option of a parameter."""
    return OPTIONS.get(name) or "--" + name.replace("_", "-")


def as_options(text: str, path: str = "TRAIN") -> str:
    """Return a message with options in place of parameters."""
    names = "|".join(PARAMETERS)
    text = text.replace("the model that `like` is", "the model of --load").replace(" is not for like,", " is not for --load,")
    text = re.sub(rf"^({names})(?=[= ])", lambda found: path if found[1] == "path" else option(found[1]), text)
    text = re.sub(r"the parameter `(\w+)`", lambda found: option(found[1]), text)
    return re.sub(r"((?:, which|;) )format='(\w+)'(?= reads)", r"\1--format \2", text)


class Terminated(KeyboardInterrupt):
    """SIGTERM was received, for example from a service manager."""


@contextmanager
def terminable() -> Iterator[None]:
    """Make SIGTERM end the job as Ctrl-C does."""

    def stop(*_: Any) -> NoReturn:
        raise Terminated("terminated")

    if threading.current_thread() is not threading.main_thread() or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield  # signals are for the main thread alone, and one that is ignored stays so
        return
    try:
        signal.signal(signal.SIGTERM, stop)
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


class OutputClosedError(Exception):
    """The reader of the predictions has closed the pipe."""


def report(text: str, *, to_stderr: bool = False) -> int:
    """Write a report to standard output; return the exit code.

    If predictions use standard output, the report goes to standard error.
    """
    try:
        emit(text, to_stderr=to_stderr)
    except BrokenPipeError:
        return NOBODY_READS
    except OSError as error:
        return complain(f"standard {'error' if to_stderr else 'output'}: {error.strerror}")
    return 0


def complain(error: BaseException | str, rest: str = "") -> int:
    """Write an error to standard error; return the exit code."""
    if isinstance(error, OutputClosedError):
        return NOBODY_READS
    stopped = isinstance(error, KeyboardInterrupt)
    message = as_options(str(error)) or ("stopped from the keyboard" if stopped else "")
    with suppress(OSError):  # The exit code says it too.
        say("error", "; ".join(filter(None, [message, rest])))
    return (TERMINATED if isinstance(error, Terminated) else INTERRUPTED) if stopped else 1


def say(kind: str, message: str) -> None:
    """Write a message to standard error, in one line."""
    emit(f"{kind}: {one_line(message)}\n", to_stderr=True)


@contextmanager
def warnings_in_a_line(clear: Callable[[], None]) -> Iterator[None]:
    """Show warnings on one line, after clearing the progress bar."""

    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        with suppress(OSError):
            clear()
            say("warning", as_options(str(message)))

    with warnings.catch_warnings():
        warnings.showwarning = show
        warnings.filterwarnings("ignore", "X does not have valid feature names")  # rows of files are matrices, whoever was fitted
        warnings.filterwarnings("ignore", "X has .* is read as categories")  # the file's reader warns, and names the column
        yield


def emit(text: str, *, to_stderr: bool = False) -> None:
    """Write to standard output, or to standard error if that is open.

    After an error the stream is replaced, so that the program ends quietly.
    """
    stream = sys.stderr if to_stderr else sys.stdout
    if stream is None:
        if text and not to_stderr:
            raise OSError(errno.EBADF, "it is closed")
        return
    encoding = stream.encoding or "utf-8"
    try:
        if text:
            stream.write(text.encode(encoding, "backslashreplace").decode(encoding))
        stream.flush()
    except OSError:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
        raise
