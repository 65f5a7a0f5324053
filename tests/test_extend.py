"""The documentation keeps up with the code: the worked exercises of doc/extend apply and are short,
the reference is complete, the tests that are named exist."""

import importlib.util
import os
import pkgutil
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import sklearn_predtron

ROOT = Path(__file__).parents[1]
PATCHES = sorted((ROOT / "doc" / "extend").glob("*.diff"))
NAMES = [patch.stem for patch in PATCHES]
MODULES = ["", *(f".{found.name}" for found in pkgutil.iter_modules(sklearn_predtron.__path__) if not found.name.startswith("_"))]


@pytest.fixture
def tree(tmp_path):
    """A copy of the sources to which patches can be applied."""
    if not (ROOT / "sklearn_predtron" / "_core" / "updates.pyx").exists():
        pytest.skip("the tests do not run from a checkout")
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    for folder in ("sklearn_predtron", "tests"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("*.so", "*.c", "__pycache__"))
    return tmp_path


def apply(patch, tree):
    environment = {**os.environ, "GIT_CEILING_DIRECTORIES": str(tree.parent)}
    done = subprocess.run(["git", "apply", "-v", str(patch)], cwd=tree, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "Skipped" not in done.stderr, done.stderr


def test_there_are_exercises():
    assert {"representation", "update"} <= set(NAMES) or not (ROOT / "doc").exists()


@pytest.mark.parametrize("patch", PATCHES, ids=NAMES)
def test_exercise_applies(patch, tree):
    apply(patch, tree)
    for path in tree.rglob("*.py"):
        compile(path.read_text(), str(path), "exec")


@pytest.mark.parametrize("patch", PATCHES, ids=NAMES)
def test_exercise_is_short(patch):
    lines = patch.read_text().splitlines()
    files = [line for line in lines if line.startswith("+++ ")]
    added = [line for line in lines if line.startswith("+") and line not in files]
    assert len(files) <= 2
    assert len(added) <= 60


@pytest.mark.parametrize("k", [2, 3, 50, 1000])
def test_representation_of_the_exercise(tree, k):
    apply(ROOT / "doc" / "extend" / "representation.diff", tree)
    path = tree / "sklearn_predtron" / "representations.py"
    spec = importlib.util.spec_from_file_location("patched_representations", path)
    patched = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(patched)
    code = patched.ErrorCorrecting().code(k)
    np.testing.assert_allclose(np.linalg.norm(code, axis=1), 1)
    assert ((code @ code.T).argmax(axis=1) == np.arange(k)).all()


@pytest.mark.parametrize("module", MODULES)
def test_every_public_name_is_in_the_reference(module):
    api = ROOT / "doc" / "api.rst"
    if not api.exists():
        pytest.skip("the tests do not run from a checkout")
    listed = {}
    for section in api.read_text().split(".. currentmodule:: ")[1:]:
        name, *lines = section.splitlines()
        listed[name] = {line.strip() for line in lines}
    missing = set(importlib.import_module(f"sklearn_predtron{module}").__all__) - listed.get(f"sklearn_predtron{module}", set())
    assert missing - listed["sklearn_predtron"] == set()


def test_the_tests_that_the_theory_names_exist():
    theory = ROOT / "doc" / "theory.rst"
    if not theory.exists():
        pytest.skip("the tests do not run from a checkout")
    defined = {
        name for path in (ROOT / "tests").glob("test_*.py") for name in re.findall(r"^def (test_\w+)", path.read_text(), re.M)
    }
    assert set(re.findall(r"``(test_\w+)``", theory.read_text())) - defined == set()
