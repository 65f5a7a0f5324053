"""The documentation keeps up with the code: the worked exercises of doc/extend apply, build and pass the tests that find parts,
they are short, the reference is complete, and the tests that are named exist."""

import importlib
import inspect
import os
import pkgutil
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import sklearn_predtron
from sklearn_predtron.families.estimator.base import BasePredtron

ROOT = Path(__file__).parents[1]
EXTEND = ROOT / "doc" / "extend"
# Of each exercise: what adding such a part costs at most, in files of the package and in lines; and what tests call the new part.
EXERCISES = {
    "table_loss": (1, 60, ["Capped", "capped"]),
    "set_loss": (1, 60, ["WeightedHamming", "weighted_hamming"]),
    "representation": (1, 60, ["ErrorCorrect", "error_correcting"]),
    "ranking_loss": (2, 60, ["TopOne", "top_one"]),
    "update": (2, 60, ["Relaxation", "relaxation"]),
    "norm": (2, 120, ["Diagonal"]),
    "family": (2, 125, ["PredtronCyclicClassifier"]),
}
SOURCES = ["sklearn_predtron", "tests", "doc", "setup.py", "pyproject.toml", "conftest.py", "README.md", "LICENSE"]
# The tests that find parts by discovery.
FINDING = [
    "tests/core/test_properties.py",
    "tests/estimator_checks/test_parts.py",
    "tests/families/test_estimators.py",
    "tests/theory/test_theorems.py",
    "sklearn_predtron/families/cyclic.py",
    "sklearn_predtron/losses",
    "sklearn_predtron/norms",
    "sklearn_predtron/representations.py",
    "sklearn_predtron/updates",
]
MODULES = ["", *(f".{found.name}" for found in pkgutil.iter_modules(sklearn_predtron.__path__) if not found.name.startswith("_"))]
MODULES = [module for module in MODULES if hasattr(importlib.import_module(f"sklearn_predtron{module}"), "__all__")]
in_checkout = pytest.mark.skipif(
    not EXTEND.exists() or shutil.which("git") is None, reason="the tests do not run from a checkout"
)


def run(tree, *command):
    """Run a command in a tree, on one thread; its output if it succeeds."""
    environment = {**os.environ, "GIT_CEILING_DIRECTORIES": str(tree.parent), "OPENBLAS_NUM_THREADS": "1"}
    environment.pop("PYTEST_ADDOPTS", None)
    done = subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, f"{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """A copy of the checkout with all exercises, compiled: only what they change is compiled again."""
    tree = tmp_path_factory.mktemp("extended")
    for name in [*SOURCES, "build"]:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, tree / name, ignore=shutil.ignore_patterns("__pycache__"))
        elif (ROOT / name).exists():
            shutil.copy2(ROOT / name, tree / name)
    for patch in sorted(EXTEND.glob("*.diff")):
        assert "Skipped" not in run(tree, "git", "apply", "-v", str(patch))
    run(tree, sys.executable, "setup.py", "-q", "build_ext", "--inplace")
    return tree


@in_checkout
def test_patches_apply():
    """To the sources as they are; with `--all` what they add is compiled and tested, too."""
    run(ROOT, "git", "apply", "--check", *map(str, sorted(EXTEND.glob("*.diff"))))


def cost(patch):
    """The files of a patch, and the lines that it adds."""
    lines = patch.read_text().splitlines()
    files = [line.removeprefix("+++ b/") for line in lines if line.startswith("+++ ")]
    return files, len([line for line in lines if line.startswith("+")]) - len(files)


@in_checkout
def test_every_exercise_is_built_and_shown():
    assert {patch.stem for patch in EXTEND.glob("*.diff")} == {*EXERCISES, "reference"}
    shown = re.findall(r"^\.\. literalinclude:: (\w+)\.diff", (EXTEND / "index.rst").read_text(), re.M)
    assert sorted(shown) == sorted([*EXERCISES, "reference"])


@in_checkout
@pytest.mark.parametrize("name", EXERCISES)
def test_what_an_exercise_costs(name):
    most_files, most_lines, _ = EXERCISES[name]
    files, added = cost(EXTEND / f"{name}.diff")
    print(f"{name}: {len(files)} files, {added} lines")
    assert len(files) <= most_files and added <= most_lines
    assert all(file.startswith("sklearn_predtron/") for file in files)


@pytest.mark.slow
@in_checkout
def test_exercises_pass_the_tests_that_find_parts(tree):
    names = " or ".join(name for _, _, called in EXERCISES.values() for name in called)
    passed = run(
        tree, sys.executable, "-m", "pytest", "--all", "-rp", "-W", "ignore", "-p", "no:cacheprovider", "-k", names, *FINDING
    )
    for name, (_, _, called) in EXERCISES.items():
        found = [line for line in passed.splitlines() if "PASSED" in line and any(part in line for part in called)]
        assert found, f"no test has found the part of the exercise {name!r}"


@pytest.mark.slow
@in_checkout
def test_the_rule_of_the_exercise_is_that_of_the_reference(tree):
    one = "tests/families/test_worlds.py::test_iterates_and_averages"
    passed = run(tree, sys.executable, "-m", "pytest", "--all", "-W", "ignore", "-p", "no:cacheprovider", "-k", "Relaxation", one)
    assert " passed" in passed or "100%" in passed


CHECKS = """
from sklearn_predtron.families.cyclic import PredtronCyclicClassifier
from tests.own_checks import all_checks
for check in all_checks():
    check("PredtronCyclicClassifier", PredtronCyclicClassifier())
"""


@pytest.mark.slow
@in_checkout
def test_the_family_of_the_exercise_passes_every_check(tree):
    run(tree, sys.executable, "-W", "ignore", "-c", CHECKS)


SCALES = """
import pickle
import numpy as np
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn_predtron import PredtronClassifier, PredtronOrdinalClassifier, PredtronRanker
from sklearn_predtron.norms import Diagonal
from sklearn_predtron.theory import radius
from sklearn_predtron.updates import LossAugmented

rng = np.random.default_rng(0)
a, X, y, qid = 10 ** rng.uniform(-2, 2, 6), rng.standard_normal((60, 6)), rng.integers(0, 3, 60), np.arange(60) // 6
X[rng.random(X.shape) < 0.3] = 0
theory = LossAugmented(eta="theory")
for model in [
    PredtronClassifier(features=None),
    PredtronClassifier(features=None, update=theory, average=False, intercept_scaling=2.0),
    PredtronOrdinalClassifier(features=None, representation="shared"),
    PredtronRanker(average=5.0),
    PredtronRanker(update=theory),
    PredtronRanker(update="max_pair"),
]:
    queries = {"qid": qid} if isinstance(model, PredtronRanker) else {}
    for form in (np.array, csr_array):
        plain = clone(model).set_params(random_state=0, norm="l2").fit(form(X * a**0.5), y, **queries)
        ours = clone(model).set_params(random_state=0, norm=Diagonal(a)).fit(form(X), y, **queries)
        ours = pickle.loads(pickle.dumps(ours)).partial_fit(form(X), y, **queries)
        plain.partial_fit(form(X * a**0.5), y, **queries)
        np.testing.assert_allclose(ours.coef_, plain.coef_ * a**0.5, rtol=1e-8, atol=1e-10)
        np.testing.assert_allclose(ours.predict(form(X)), plain.predict(form(X * a**0.5)), rtol=1e-8, atol=1e-10)
        np.testing.assert_allclose(ours.margin(X, y, **queries), plain.margin(X * a**0.5, y, **queries), rtol=1e-8)
        if queries or model.intercept_scaling != "auto":
            np.testing.assert_allclose(radius(ours, form(X), **queries), radius(plain, form(X * a**0.5), **queries))

for k in (2, 3):
    wide = PredtronClassifier(norm="diagonal").partial_fit(X, y % k, classes=np.arange(k)).widen(9, classes=[5])
    plain = PredtronClassifier(norm="l2").partial_fit(X, y % k, classes=np.arange(k)).widen(9, classes=[5])
    more = rng.standard_normal((60, 9))
    np.testing.assert_allclose(wide.partial_fit(more, y % k).coef_, plain.partial_fit(more, y % k).coef_, rtol=1e-8, atol=1e-10)

alike = np.tile(rng.standard_normal(6), (5, 1))
assert not PredtronRanker(norm=Diagonal(a)).fit(alike, [0, 1, 2, 1, 0], qid="one").coef_.any()
for scales in [3, a[:5], [a], [1, 1, 1, 1, 1, 0], [1, 1, 1, 1, 1, np.nan], "xxxxxx"]:
    try:
        PredtronClassifier(features=None, norm=Diagonal(scales)).fit(X, y)
    except ValueError as error:
        assert str(error).startswith("scales=") and "must be 6 numbers" in str(error)
    else:
        raise AssertionError(f"scales={scales} are taken")
"""


@pytest.mark.slow
@in_checkout
def test_the_norm_of_the_exercise_is_the_euclidean_one_of_scaled_rows(tree):
    run(tree, sys.executable, "-W", "ignore", "-c", SCALES)


@pytest.mark.parametrize("module", MODULES)
def test_every_public_name_is_in_the_reference(module):
    api = ROOT / "doc" / "api.rst"
    if not api.exists():
        pytest.skip("the tests do not run from a checkout")
    listed = {}
    for section in api.read_text().split(".. currentmodule:: ")[1:]:
        name, *lines = section.splitlines()
        listed.setdefault(name, set()).update(line.strip() for line in lines)
    missing = set(importlib.import_module(f"sklearn_predtron{module}").__all__) - listed.get(f"sklearn_predtron{module}", set())
    assert missing - listed["sklearn_predtron"] == set()


def test_the_tests_that_the_theory_names_exist():
    theory = ROOT / "doc" / "theory.rst"
    if not theory.exists():
        pytest.skip("the tests do not run from a checkout")
    defined = {
        name for path in (ROOT / "tests").rglob("test_*.py") for name in re.findall(r"^def (test_\w+)", path.read_text(), re.M)
    }
    assert set(re.findall(r"``(test_\w+)``", theory.read_text())) - defined == set()


def test_hooks_of_a_family_have_the_signatures_of_the_page():
    section = (EXTEND / "index.rst").read_text().partition("A family\n---")[2].partition("Checked builds")[0]
    hooks = re.findall(r"``(_\w+)\(([\w, =]*)\)``", section)
    assert {"_read_labels", "_decision", "_intercept"} <= {name for name, _ in hooks}
    for name, arguments in hooks:
        own, *parameters = inspect.signature(getattr(BasePredtron, name)).parameters
        assert own == "self" and parameters == re.findall(r"\w+", arguments), name
    for name in re.findall(r"``(_\w+)``", section.partition("six hooks")[2]):
        assert vars(BasePredtron)[name] is None, name
