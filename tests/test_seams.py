"""No module of the engine, the updates or the theory asks of what class a part is: parts say it themselves."""

import ast
import builtins
import importlib
from pathlib import Path

import pytest

import sklearn_predtron
from sklearn_predtron._core.problem import Problem
from sklearn_predtron._core.rule import Rule
from sklearn_predtron._support.parts import Part
from sklearn_predtron.families.structured import Problem as UserProblem

ROOT = Path(sklearn_predtron.__file__).parent
PARTS = (Part, Problem, Rule, UserProblem)
MODULES = sorted(path for folder in ("_core", "theory", "updates") for path in (ROOT / folder).glob("*.py"))


def questions(tree):
    """The classes that isinstance and issubclass are asked for, as source."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("isinstance", "issubclass"):
            asked = node.args[1]
            yield from map(ast.unparse, asked.elts if isinstance(asked, (ast.Tuple, ast.List)) else [asked])


def classes_of_parts(source, names):
    """Those of the classes that are parts, as the names of a module stand for them."""
    known = {**vars(builtins), **names}
    asked = [asked for asked in questions(ast.parse(source)) if asked.split(".")[0] in known]  # the others are variables
    found = [eval(kind, dict(known)) for kind in asked]
    return [kind for kind in found if isinstance(kind, type) and issubclass(kind, PARTS)]


@pytest.mark.parametrize("path", MODULES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_no_module_asks_for_the_class_of_a_part(path):
    module = ".".join(path.relative_to(ROOT.parent).with_suffix("").parts).removesuffix(".__init__")
    assert not classes_of_parts(path.read_text(), vars(importlib.import_module(module)))


def test_the_question_is_found():
    assert classes_of_parts("isinstance(x, (int, Part))\nisinstance(x, str)", {"Part": Part}) == [Part]


def repetitions(source):
    """Methods that stand in a class as they stand in its base in the same module."""
    classes = {node.name: node for node in ast.parse(source).body if isinstance(node, ast.ClassDef)}
    methods = {
        name: {ast.dump(item): item.name for item in node.body if isinstance(item, ast.FunctionDef)}
        for name, node in classes.items()
    }
    for name, node in classes.items():
        for base in map(ast.unparse, node.bases):
            yield from (f"{name}.{methods[name][same]}" for same in methods[name].keys() & methods.get(base, {}).keys())


def test_no_method_repeats_that_of_a_base():
    assert list(repetitions("class A:\n    def f(self): return 1\nclass B(A):\n    def f(self): return 1")) == ["B.f"]
    found = {path.name: list(repetitions(path.read_text())) for path in ROOT.rglob("*.py")}
    assert not {name: repeated for name, repeated in found.items() if repeated}
