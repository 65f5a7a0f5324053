"""Docstrings, constructors and imports of everything public."""

import importlib
import inspect
import pkgutil
import subprocess
import sys

import pytest
from sklearn.base import BaseEstimator

import sklearn_predtron

numpydoc_validate = pytest.importorskip("numpydoc.validate")

INTERNAL = {"cli", "decisions", "families", "problems"}  # folders whose public names are imported elsewhere, if there are any
MODULES = ["sklearn_predtron"] + [
    f"sklearn_predtron.{module.name}"
    for module in pkgutil.iter_modules(sklearn_predtron.__path__)
    if not module.name.startswith("_") and module.name not in INTERNAL
]

# What the project's style has otherwise: a docstring begins on the line of its quotes (GL01), a summary may begin with a noun in
# the plural (SS05) and a description with a formula (PR08, RT04), and extended summaries stand where they help (ES01).
NOT_OUR_STYLE = {"GL01", "SS05", "PR08", "RT04", "ES01"}
# So do See Also and the examples of a method or a property; classes and functions have both.
WHERE_THEY_HELP = {"SA01", "EX01"}
# A method that overrides another says what is different; the parameters are documented by the other.
DOCUMENTED_BY_THE_BASE = {"GL08", "PR01", "RT01"}


def public_objects():
    """Every public class and function of the public modules, and the classes' own methods and properties, by dotted name."""
    found = {}
    for name in MODULES:
        module = importlib.import_module(name)
        for member in getattr(module, "__all__", []):
            item = getattr(module, member)
            if not (inspect.isclass(item) or inspect.isfunction(item)):
                continue
            home = f"{item.__module__}.{item.__qualname__}"
            found[home] = item
            if inspect.isclass(item):
                for attribute, value in inspect.getmembers(item, lambda v: inspect.isfunction(v) or isinstance(v, property)):
                    function = value.fget if isinstance(value, property) else value
                    if not attribute.startswith("_") and function.__module__.startswith("sklearn_predtron"):
                        found[f"{home}.{attribute}"] = value
    return found


OBJECTS = public_objects()
CLASSES = {name: item for name, item in OBJECTS.items() if inspect.isclass(item)}


def test_discovery():
    assert "sklearn_predtron.PredtronClassifier.predict" in OBJECTS
    assert "sklearn_predtron.PredtronClassifier.coef_" in OBJECTS
    assert "sklearn_predtron.estimator_checks.check_problem" in OBJECTS
    assert {"sklearn_predtron.updates", "sklearn_predtron.losses", "sklearn_predtron.norms"} <= set(MODULES)
    for name in MODULES:
        assert importlib.import_module(name).__all__, f"{name} has no __all__"


@pytest.mark.parametrize("module", MODULES)
def test_public_path(module):
    """Pickles and messages name what is public by the path from which it is imported, whatever file defines it."""
    for name in (found := importlib.import_module(module)).__all__:
        item = getattr(found, name)
        if inspect.isclass(item) or inspect.isfunction(item):
            assert getattr(importlib.import_module(item.__module__), name) is item
            assert "._" not in item.__module__, f"{module}.{name} is named {item.__module__}.{name}"


def overrides(name):
    """Whether a base of the class has a public method of this name, with a docstring."""
    home, _, method = name.rpartition(".")
    return any(getattr(base, method, None) is not None and getattr(base, method).__doc__ for base in bases(CLASSES.get(home)))


def bases(kind):
    return [base for base in inspect.getmro(kind)[1:] if base.__module__.startswith("sklearn_predtron")] if kind else []


def errors_of_docstring(name):
    ignored = NOT_OUR_STYLE | (WHERE_THEY_HELP if name.rpartition(".")[0] in CLASSES else set())
    ignored |= DOCUMENTED_BY_THE_BASE if overrides(name) else set()
    return [f"{name}: {code}: {text}" for code, text in numpydoc_validate.validate(name)["errors"] if code not in ignored]


def untyped(name):
    """Parameters of a public function that are not typed, and what it returns if that is not."""
    item = OBJECTS[name]
    function = item.fget if isinstance(item, property) else item.__init__ if inspect.isclass(item) else item
    if not inspect.isfunction(function) or not function.__module__.startswith("sklearn_predtron"):
        return []
    wanted = [p for p in inspect.signature(function).parameters if p != "self"] + ["return"] * (not inspect.isclass(item))
    return [f"{name}: {p} is not typed" for p in wanted if p not in function.__annotations__]


@pytest.mark.parametrize("home", [name for name in OBJECTS if name in CLASSES or name.rpartition(".")[0] not in CLASSES])
def test_docstrings_and_types(home):
    """Of a function, or of a class and all that is its own."""
    names = [name for name in OBJECTS if name == home or name.rpartition(".")[0] == home]
    errors = [error for name in names for error in errors_of_docstring(name) + untyped(name)]
    assert not errors, "\n".join(errors)


def test_classes_have_examples():
    without = [name for name, kind in CLASSES.items() if "Examples\n--------" not in (inspect.cleandoc(kind.__doc__ or ""))]
    assert not [name for name in without if not is_base(CLASSES[name])]


def is_base(kind):
    """A base of parts: nothing to be made of by itself."""
    return "Base of" in (kind.__doc__ or "") and bool(kind.__subclasses__()) and not issubclass(kind, sklearn_predtron.Problem)


@pytest.mark.parametrize("name", [name for name, kind in CLASSES.items() if issubclass(kind, BaseEstimator)])
def test_constructor(name):
    """At most 15 parameters, each stored as it is, each documented in the order of the signature."""
    parameters = [p for p in inspect.signature(CLASSES[name].__init__).parameters.values() if p.name != "self"]
    parameters = [p for p in parameters if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    assert len(parameters) <= 18, f"{name} has {len(parameters)} parameters"
    if hasattr(CLASSES[name], "fit"):
        assert all(p.kind == p.KEYWORD_ONLY or p.default is p.empty for p in parameters), f"{name}: optional ones by keyword only"


SCRIPT = """
import importlib.util, os, sys
for name in ["matplotlib", "pandas", "rich", "pytest", "numpydoc"]:
    sys.modules[name] = None  # importing it fails
import numpy, scipy.sparse, joblib, sklearn.base, sklearn.model_selection
if importlib.util.find_spec("sklearn.callback"):  # from scikit-learn 1.9 on
    import sklearn.callback
before = set(sys.modules)
import {modules}
place = os.path.dirname(sklearn.__file__)  # whose extensions, before 1.7, are listed without their package, too
new = {{name for name in set(sys.modules) - before if not str(getattr(sys.modules[name], "__file__", "")).startswith(place)}}
new = {{name.partition(".")[0] for name in new}} - set(sys.stdlib_module_names)
print(*sorted(new))
"""


def test_imports():
    """Nothing but numpy, scipy, scikit-learn, joblib and the standard library, and without what scikit-learn may import."""
    script = SCRIPT.format(modules=", ".join(MODULES))
    run = subprocess.run([sys.executable, "-W", "ignore", "-c", script], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    new = {name for name in run.stdout.split() if not name.startswith("_cython_")}  # what extension modules share
    assert "sklearn_predtron" in new
    assert new <= {"sklearn_predtron", "numpy", "scipy", "sklearn", "joblib"}, sorted(new)
