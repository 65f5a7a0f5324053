"""The command line as a program, in a fork of the process of the tests: the seconds that imports take are spared."""

import os
import signal
import sys
import warnings
from subprocess import CompletedProcess

from sklearn_predtron.cli import main

LIMIT = 120  # seconds
IGNORED = (DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning)  # by an interpreter as it starts


def run_program(*argv, stdin=None, stdout=None, stderr=None, cwd=None):
    """Run `predtron` with streams that are files or descriptors; return its exit code, and as text what other streams get."""
    pipes = {number: os.pipe() for number, stream in ((1, stdout), (2, stderr)) if stream is None}
    streams = {0: stdin, 1: stdout, 2: stderr} | {number: writing for number, (_, writing) in pipes.items()}
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*multi-threaded.*fork", DeprecationWarning)
        child = os.fork()
    if child == 0:
        try:
            signal.alarm(LIMIT)
            code = _run([str(word) for word in argv], streams, cwd)
        except BaseException:
            sys.excepthook(*sys.exc_info())
            code = 1
        finally:
            os._exit(code)
    texts = {}
    for _, writing in pipes.values():
        os.close(writing)
    for number, (reading, _) in pipes.items():
        with open(reading, encoding="utf-8") as pipe:
            texts[number] = pipe.read()
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return CompletedProcess(argv, code, texts.get(1), texts.get(2))


def _run(argv, streams, cwd):
    """Do what an interpreter does around `main`: open the standard streams, and flush them at the end."""
    for number, stream in streams.items():
        if stream is not None:
            os.dup2(stream if isinstance(stream, int) else stream.fileno(), number)
    sys.stdin, sys.stdout = os.fdopen(0, closefd=False), os.fdopen(1, "w", closefd=False)
    sys.stderr = os.fdopen(2, "w", buffering=1, errors="backslashreplace", closefd=False)
    sys.argv = ["predtron", *argv]
    warnings.resetwarnings()
    for category in IGNORED:
        warnings.simplefilter("ignore", category)
    os.chdir(cwd or ".")
    try:
        code = main(argv)
    except SystemExit as stop:
        code = stop.code
    try:
        sys.stdout.flush()
    except OSError:
        code = 120
    return code or 0
