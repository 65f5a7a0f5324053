"""What the structure of the families promises, computed from the classes and the modules."""

import ast
import inspect
from graphlib import TopologicalSorter
from pathlib import Path

import pytest
from sklearn.base import BaseEstimator

import sklearn_predtron
from sklearn_predtron._support.parts import Part
from sklearn_predtron.families.estimator.base import BasePredtron

ROOT = Path(sklearn_predtron.__file__).parent
FAMILIES = ROOT / "families"
public = [getattr(sklearn_predtron, name) for name in sklearn_predtron.__all__]
ESTIMATORS = sorted(
    {kind for kind in public if isinstance(kind, type) and issubclass(kind, BasePredtron)}, key=lambda kind: kind.__name__
)
KNOW_NO_ESTIMATOR = [
    *(FAMILIES / "labels").glob("*.py"),
    *(ROOT / "decisions").glob("*.py"),
    *(FAMILIES / "input" / f"{name}.py" for name in ("reading", "batches")),
    *(FAMILIES / "model" / f"{name}.py" for name in ("model", "model_parts")),
    FAMILIES / "training" / "patience.py",
]


def imported(path):
    """Return the modules that a module imports, also within functions, by their names."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return found


def name_of(path):
    return ".".join(path.relative_to(ROOT.parent).with_suffix("").parts)


def is_own(kind):
    return kind.__module__.startswith("sklearn_predtron")


def depth(kind):
    """Return how many classes lie on the longest way up to the first that is scikit-learn's, or Python's."""
    return 1 + max(map(depth, kind.__bases__)) if is_own(kind) else 0


def test_every_family_is_looked_at():
    assert len(ESTIMATORS) == 9


@pytest.mark.parametrize("kind", ESTIMATORS, ids=lambda kind: kind.__name__)
def test_few_bases_stand_between_a_family_and_scikit_learn(kind):
    own = [base for base in kind.__mro__[1:] if is_own(base) and base.__module__ != "sklearn_predtron._support.compat"]
    assert len(own) <= 3, own
    assert depth(kind) <= 4
    assert issubclass(kind, BaseEstimator)


def hooks():
    """Return which families override each private method of the base, and of a base of several families."""
    found = {}
    for base in {BasePredtron, *(parent for kind in ESTIMATORS for parent in kind.__bases__ if issubclass(parent, BasePredtron))}:
        for name, method in vars(base).items():
            if inspect.isfunction(method) and name.startswith("_") and not name.startswith("__"):
                found[name] = found.get(name, set())
    for name in found:
        for kind in {owner for family in ESTIMATORS for owner in family.__mro__ if is_own(owner) and owner is not BasePredtron}:
            if name in vars(kind) and any(name in vars(base) for base in kind.__mro__[1:]):
                found[name].add(kind.__name__)
    return {name: kinds for name, kinds in found.items() if kinds}


def test_at_most_eight_hooks_all_of_one_class_each_with_two_users():
    found = hooks()
    optional = {name for name, value in vars(BasePredtron).items() if value is None} & found.keys()
    assert len(optional) <= 6, sorted(optional)
    found = {name: kinds for name, kinds in found.items() if name not in optional}
    declared = {name: kinds for name, kinds in found.items() if name in vars(BasePredtron)}
    assert "_build_problem" in declared
    assert len(declared) <= 8, sorted(declared)
    assert not {name: kinds for name, kinds in declared.items() if len(kinds) < 2}
    assert found.keys() == declared.keys(), "hooks that another class than BasePredtron declares"


def test_no_circle_of_imports():
    """Also of `labels` and `decisions`; what is imported for annotations alone counts as well."""
    paths = {name_of(path): path for path in [*FAMILIES.rglob("*.py"), *(ROOT / "decisions").rglob("*.py")]}
    modules = {name: imported(path) & paths.keys() for name, path in paths.items()}
    assert {"sklearn_predtron.families.training.trainer", "sklearn_predtron.families.model.model"} <= modules[
        BasePredtron.__module__
    ]
    list(TopologicalSorter(modules).static_order())


@pytest.mark.always
@pytest.mark.parametrize("path", KNOW_NO_ESTIMATOR, ids=name_of)
def test_codecs_readers_and_decisions_know_no_estimator(path):
    families = {name_of(path) for path in FAMILIES.glob("*.py") if not path.stem.startswith("_")}
    assert "sklearn_predtron.families.ranking" in families
    assert not imported(path) & {*families, BasePredtron.__module__, "sklearn_predtron.families._cost_classifier"}
    tree = ast.parse(path.read_text())
    private = {name for kind in (BasePredtron, *ESTIMATORS) for name in vars(kind) if name.startswith("_") and name[1] != "_"}
    named = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    own = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    assert not (named & private) - own - set(dir(Part))  # parts check their parameters as estimators do
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} | {
        argument.arg for node in ast.walk(tree) if isinstance(node, ast.arguments) for argument in node.args
    }
    assert "estimator" not in names
