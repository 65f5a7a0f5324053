"""Ctrl-C at any instruction of the command line is an exit status, never a traceback."""

import signal

import numpy as np
import pytest
from stopped import instructions_of, stopped_at

from sklearn_predtron.cli import main


@pytest.fixture
def jobs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [f"{x[0]:.3f},{x[1]:.3f},{int(x[0] > 0)}" for x in np.random.default_rng(0).standard_normal((60, 2))]
    (tmp_path / "a.csv").write_text("\n".join(["a,b,y", *rows]) + "\n")
    fit = ["fit", "a.csv", "--label", "y", "--quiet", "--save", "m"]
    assert main(fit) == 0
    return {"fit": fit, "predict": ["predict", "m", "a.csv", "-o", "out"], "score": ["score", "m", "a.csv", "--quiet"]}


@pytest.fixture(autouse=True)
def handlers():
    """An interrupt of the very end leaves the handler of a program that ends."""
    yield
    signal.signal(signal.SIGTERM, signal.SIG_DFL)


# A file that was opened just before, and has no owner yet, is closed when it is collected.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("job", ["fit", "predict", "score"])
def test_an_interrupt_at_any_instruction_is_an_exit_status(job, jobs, n_draws, capfd):
    n = instructions_of(lambda: main(jobs[job]))
    for place in np.random.default_rng(0).integers(1, n, n_draws(30, 300)).tolist():
        ended = []
        stopped_at(lambda ended=ended: ended.append(main(jobs[job])), place)
        assert ended in ([130], [0]), place
