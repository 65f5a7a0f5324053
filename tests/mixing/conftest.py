"""Interrupts that reach the tests."""

import signal

import pytest


@pytest.fixture
def keyboard():
    """Let Ctrl-C interrupt also in the background, where a shell has it ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
