"""The modules of the families: short, and none imports another that imports it."""

import ast
from graphlib import TopologicalSorter
from pathlib import Path

import sklearn_predtron.families

FOLDER = Path(sklearn_predtron.families.__file__).parent
NAME = "sklearn_predtron.families."


def imports(path):
    """The modules of the folder that a module imports."""
    nodes = ast.walk(ast.parse(path.read_text()))
    names = [node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module]
    return {name.removeprefix(NAME) for name in names if name.startswith(NAME)}


def test_no_circle_of_imports():
    modules = {path.stem: imports(path) for path in FOLDER.glob("*.py")}
    assert {"_validation", "_epochs", "_composition", "_saved"} <= modules["_base"]
    list(TopologicalSorter(modules).static_order())


def test_modules_are_short():
    lengths = {path.name: len(path.read_text().splitlines()) for path in FOLDER.glob("*.py")}
    assert lengths["_base.py"] <= 300
    assert max(lengths.values()) < 600
