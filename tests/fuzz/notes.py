"""Words about the case in which an exception was raised."""


def add_note(error: BaseException, note: str) -> None:
    """Add a note to an exception; before Python 3.11, which has notes, to its arguments."""
    if hasattr(error, "add_note"):
        error.add_note(note)
    else:
        error.args += (note,)
