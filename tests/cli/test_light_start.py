"""Help, version and wrong arguments come without the imports that take long."""

import subprocess
import sys

import pytest

import sklearn_predtron
from sklearn_predtron._support.parts import kinds
from sklearn_predtron.cli import _names
from sklearn_predtron.cli._tasks import TASKS
from sklearn_predtron.datasets._svmlight import MOST_FEATURES
from sklearn_predtron.datasets.formats.opening import FORMATS
from sklearn_predtron.families.input.tables import names_of_maps
from sklearn_predtron.norms import Norm

HEAVY = {"numpy", "scipy", "sklearn", "pandas", "joblib"}
RUN = """
import sys
from sklearn_predtron.cli import main
try:
    main(sys.argv[1:])
except SystemExit as stop:
    print(stop.code, *sys.modules)
"""


@pytest.mark.parametrize(
    ("arguments", "code"),
    [(["--help"], 0), (["fit", "--help"], 0), (["--version"], 0), (["--norm", "l3"], 2), (["score", "m", "t", "--odd"], 2)],
)
def test_nothing_heavy_is_imported(arguments, code):
    done = subprocess.run([sys.executable, "-c", RUN, *arguments], capture_output=True, text=True, check=True)
    found, *modules = done.stdout.splitlines()[-1].split()
    assert found == str(code) and "sklearn_predtron.cli" in modules
    assert not HEAVY & set(modules)


def test_training_imports_what_it_uses(tmp_path):
    (tmp_path / "t.csv").write_text("a,b,y\n" + "1,2,no\n3,4,yes\n" * 20)
    call = RUN.replace("main(sys.argv[1:])", "raise SystemExit(main(sys.argv[1:]))")
    words = ["fit", str(tmp_path / "t.csv"), "--save", str(tmp_path / "m")]
    done = subprocess.run([sys.executable, "-c", call, *words], capture_output=True, text=True, check=True)
    found, *modules = done.stdout.splitlines()[-1].split()
    assert found == "0" and "sklearn_predtron.families" in modules
    unused = ("mixing", "datasets._parquet", "datasets._markov_sequences", "datasets._ranking_queries", "cli._picture")
    assert not {f"sklearn_predtron.{name}" for name in unused} & set(modules)


def test_names_are_those_of_the_parts():
    assert [kind.alias for kind in kinds(Norm)] == _names.NORMS
    assert {name: task.loss_names for name, task in TASKS.items()} == _names.LOSSES and list(TASKS) == list(_names.LOSSES)
    assert list(FORMATS) == _names.FORMATS and names_of_maps() == _names.MAPS and _names.MOST_FEATURES == MOST_FEATURES


def test_public_names_come_when_they_are_used():
    text = (
        "import sys, sklearn_predtron as package; "
        "assert 'sklearn' not in sys.modules; "
        "package.losses.Reject, package.PredtronClassifier; "
        "assert 'sklearn' in sys.modules; from sklearn_predtron import *; PredtronRanker"
    )
    subprocess.run([sys.executable, "-c", text], check=True)
    assert {*sklearn_predtron.__all__, "losses", "__version__"} <= set(dir(sklearn_predtron))
    with pytest.raises(AttributeError, match="has no attribute 'PredtronClasifier'"):
        _ = sklearn_predtron.PredtronClasifier
