"""Break in known ways, by the seed, so that the tests see that the runner finds what breaks; no part of a run."""

import os
import signal
import time

FORKED = "FUZZ_FORKED" in os.environ
OUTCOMES = ["good", "crash", "assertion", "good", "endless", "good"]


def run(seed: int) -> str:
    outcome = OUTCOMES[seed % len(OUTCOMES)]
    if outcome == "crash":
        os.kill(os.getpid(), signal.SIGSEGV)
    if outcome == "assertion":
        raise AssertionError("planted")
    while outcome == "endless":
        time.sleep(0.01)
    return outcome
