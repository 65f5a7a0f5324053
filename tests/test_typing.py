"""Stubs of compiled modules name what these have and Python modules use, and learning returns the type of the learner."""

import ast
import importlib
import inspect
from pathlib import Path

import pytest

import sklearn_predtron

PACKAGE = Path(sklearn_predtron.__file__).parent


def modules(suffix):
    """Files of the package by the names of their modules."""
    return {".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts): path for path in PACKAGE.rglob(f"*{suffix}")}


STUBS, COMPILED = modules(".pyi"), modules(".pyx")


def defined(body):
    """Names of functions, classes, properties and annotated attributes, each with its node."""
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name, node
        elif isinstance(node, ast.AnnAssign):
            yield node.target.id, node


def imported_from_compiled_modules():
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and node.module in COMPILED:
                yield from ((path.name, node.module, alias.name) for alias in node.names)


def test_every_stub_is_of_a_compiled_module():
    assert STUBS and set(STUBS) <= set(COMPILED)


@pytest.mark.parametrize("module", STUBS)
def test_the_compiled_module_has_what_its_stub_names(module):
    compiled = importlib.import_module(module)
    for name, node in defined(ast.parse(STUBS[module].read_text()).body):
        assert hasattr(compiled, name), f"{module} has no {name}"
        if isinstance(node, ast.ClassDef):
            kind = getattr(compiled, name)
            assert [base.id for base in node.bases] == [base.__name__ for base in kind.__bases__ if base is not object]
            missing = [member for member, _ in defined(node.body) if member != "__getattr__" and not hasattr(kind, member)]
            assert not missing, f"{module}.{name} has no {missing}"


def test_stubs_name_what_python_modules_import():
    names = {module: dict(defined(ast.parse(path.read_text()).body)) for module, path in STUBS.items()}
    missing = [found for found in imported_from_compiled_modules() if found[2] not in names.get(found[1], {})]
    assert not missing


ESTIMATORS = [name for name in sklearn_predtron.__all__ if hasattr(getattr(sklearn_predtron, name), "fit")]


@pytest.mark.parametrize("method", ["fit", "partial_fit", "set_params", "set_callbacks"])
@pytest.mark.parametrize("name", ESTIMATORS)
def test_learning_returns_the_type_of_the_learner(name, method):
    """An editor then completes what follows ``.fit(X, y)``."""
    assert inspect.signature(getattr(getattr(sklearn_predtron, name), method)).return_annotation == "Self"
