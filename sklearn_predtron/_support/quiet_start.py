"""Quiet Ctrl-C during the imports of the command line.

It ends the program at once, without a traceback.

The package imports this module before the modules that take long.  Elsewhere than on the command line nothing changes.
"""

from __future__ import annotations

import signal
import sys
import threading
from pathlib import PurePath

PROGRAM = "predtron"


def is_program() -> bool:
    """Return whether the interpreter runs the command line."""
    given = sys.argv[:1]
    if given == ["-m"]:
        words = sys.orig_argv
        return "-m" in words and words[words.index("-m") + 1 :][:1] == [__name__.partition(".")[0]]
    return bool(given) and PurePath(given[0]).stem == PROGRAM


def interrupt_at_once() -> bool:
    """Make SIGINT end the program quietly, unless ignored; return whether it does."""
    main = threading.current_thread() is threading.main_thread()
    quiet = is_program() and main and signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if quiet:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    return quiet


def raise_interrupts() -> None:
    """Make SIGINT raise KeyboardInterrupt again."""
    main = threading.current_thread() is threading.main_thread()
    if QUIET and main and signal.getsignal(signal.SIGINT) is signal.SIG_DFL:
        signal.signal(signal.SIGINT, signal.default_int_handler)


QUIET = interrupt_at_once()  # known now: `python -m` changes sys.argv before the program runs
