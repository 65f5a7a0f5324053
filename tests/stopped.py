"""Interrupt a call at any instruction of the package after which Python looks for signals."""

from __future__ import annotations

import dis
import sys
from collections.abc import Callable
from functools import cache
from itertools import pairwise
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import sklearn_predtron

PACKAGE = str(Path(sklearn_predtron.__file__).parent)
LOOKS_FOR_SIGNALS = ("CALL", "RESUME", "JUMP_BACKWARD")


class Stopped(KeyboardInterrupt):
    """An interrupt of these tests."""


@cache
def places_of_signals(code: CodeType) -> frozenset[tuple[int, int]]:
    """Return the offsets of the instructions after which Python looks for signals, each with that of the next one.

    There an interrupt is handled as by the instruction itself; pairs with other handlers cannot stand for it, and are left out.
    """
    handlers = [(entry.start, entry.end, entry.target) for entry in dis.Bytecode(code).exception_entries]

    def handler(offset: int) -> int:
        return next((target for start, end, target in handlers if start <= offset < end), -1)

    pairs = pairwise(dis.get_instructions(code))
    return frozenset(
        (one.offset, other.offset)
        for one, other in pairs
        if one.opname.startswith(LOOKS_FOR_SIGNALS) and handler(one.offset) == handler(other.offset)
    )


def stopped_at(call: Callable[[], Any], number: int) -> int:
    """Make a call, and interrupt it at an instruction by number; return how many it had, or `number` if it was interrupted."""
    count, last = 0, dict[FrameType, int | None]()

    def follow(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal count
        if event == "opcode":
            before, last[frame] = last.get(frame), frame.f_lasti
            if before is None or (before, frame.f_lasti) in places_of_signals(frame.f_code):
                count += 1
                if count == number:
                    sys.settrace(None)
                    raise Stopped
        elif event == "return":
            last.pop(frame, None)
        return follow

    def enter(frame: FrameType, event: str, _: Any) -> Any:
        if not frame.f_code.co_filename.startswith(PACKAGE):
            return None
        frame.f_trace_opcodes, last[frame] = True, None  # a frame that begins or goes on looks for signals, too
        return follow

    sys.settrace(enter)
    try:
        call()
    except Stopped:
        return number
    finally:
        sys.settrace(None)
    return count


def instructions_of(call: Callable[[], Any]) -> int:
    """Return the number of places at which a call can be interrupted."""
    return stopped_at(call, -1)
