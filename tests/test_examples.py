"""The examples of the gallery run; the slowest are only compiled, and run with the documentation."""

import ast
import runpy
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "doc" / "examples"
FOUND = {path.relative_to(EXAMPLES).as_posix(): path for path in sorted(EXAMPLES.glob("*/plot_*.py"))}
SLOW = {"streams/plot_drift.py", "streams/plot_late_labels.py", "streams/plot_new_words.py"}
pytestmark = pytest.mark.skipif(not EXAMPLES.exists(), reason="the tests do not run from a checkout")


def test_examples_are_found():
    assert len(FOUND) >= 20 and set(FOUND) >= SLOW
    assert {path.parent.name for path in FOUND.values()} == {path.parent.name for path in EXAMPLES.glob("*/README.rst")}


@pytest.mark.parametrize("name", FOUND)
def test_an_example_has_a_title_and_a_reason(name):
    title, underline, blank, *reason = ast.get_docstring(ast.parse(FOUND[name].read_text())).splitlines()
    assert underline == "=" * len(title) and not blank and 1 <= len(reason) <= 5


@pytest.mark.parametrize("name", sorted(set(FOUND) - SLOW))
def test_an_example_draws_and_prints(name, capsys):
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.close("all")
    runpy.run_path(str(FOUND[name]))
    axes = [ax for number in plt.get_fignums() for ax in plt.figure(number).axes]
    plt.close("all")
    assert axes and all(ax.has_data() for ax in axes)
    assert capsys.readouterr().out.count("\n") >= 2
