"""Which room imports which: `import` and `cimport` count, within functions too; those under TYPE_CHECKING do not."""

import re
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import sklearn_predtron

ROOT = Path(sklearn_predtron.__file__).parent
PACKAGE = ROOT.name
# From the ground up: a room imports rooms before it alone.
ROOMS = [
    "_core",
    "_support",
    "features",
    "norms",
    "problems",
    "updates",
    "representations",
    "losses",
    "decisions",
    "metrics",
    "datasets",
    "predictor",
    "families",
    "",
    "callbacks",
    "theory",
    "mixing",
    "inspection",
    "onnx",
    "river",
    "estimator_checks",
    "cli",
    "__main__",
]
MOST_ARROWS = 85
IMPORT = re.compile(rf"^\s*from ({PACKAGE}[\w.]*) c?import (\([^)]*\)|[^\n#]*)", re.MULTILINE)
WHOLE = re.compile(rf"^\s*c?import ({PACKAGE}[\w.]*)", re.MULTILINE)
FOR_TYPES = re.compile(r"if TYPE_CHECKING:\n(?:    .*\n|\n)+")

pytestmark = pytest.mark.skipif(
    not (ROOT / "_core" / "learner.pyx").exists(), reason="wheels have no sources of compiled modules"
)


def sources():
    """Return the texts of each module, by its name."""
    found = {}
    for path in sorted(path for kind in ("py", "pyx", "pxd") for path in ROOT.rglob(f"*.{kind}")):
        name = ".".join((PACKAGE, *path.relative_to(ROOT).with_suffix("").parts)).removesuffix(".__init__")
        found.setdefault(name, []).append(path.read_text())
    return found


def imports(texts, modules):
    """Return the modules, of those given, that some texts import."""
    found = set()
    for text in (FOR_TYPES.sub("", text) for text in texts):
        for source, names in IMPORT.findall(text):
            found |= {f"{source}.{name}" if f"{source}.{name}" in modules else source for name in re.findall(r"\w+", names)}
        found |= set(WHOLE.findall(text))
    return found & set(modules)


def graph(modules):
    return {name: imports(texts, modules) - {name} for name, texts in modules.items()}


def room(name):
    return ".".join(name.split(".")[1:2])


def arrows(modules):
    return {(room(name), room(other)) for name, others in modules.items() for other in others if room(name) != room(other)}


def upward(found):
    """Return the arrows that point to the same height or up."""
    return [(name, other) for name, other in sorted(found) if ROOMS.index(name) <= ROOMS.index(other)]


def test_every_room_has_its_place():
    assert {room(name) for name in sources()} == set(ROOMS)


def test_no_room_imports_one_above_it():
    assert upward(arrows(graph(sources()))) == []


def test_modules_have_no_circles():
    TopologicalSorter(graph(sources())).prepare()


def folder(name):
    """Return the folder of a module; a module of the root, and one of the public names of a folder, is its own."""
    parts = name.split(".")
    if ROOT.joinpath(*parts[1:]).is_dir():
        return f"{name}.__init__"
    return name if len(parts) == 2 or parts[-1] == "_public" else ".".join(parts[:-1])


def test_folders_have_no_circles():
    found = {}
    for name, others in graph(sources()).items():
        found.setdefault(folder(name), set()).update(folder(other) for other in others if folder(other) != folder(name))
    TopologicalSorter(found).prepare()


def test_few_arrows():
    assert len(arrows(graph(sources()))) <= MOST_ARROWS


def test_what_would_break_it_is_seen():
    texts = {
        f"{PACKAGE}._core.learner": [f"from {PACKAGE}.norms._l2 cimport (\n    L2Weights,\n)\n"],
        f"{PACKAGE}.norms._l2": [f"    from {PACKAGE}._core import learner\n", f"if TYPE_CHECKING:\n    import {PACKAGE}.cli\n"],
        f"{PACKAGE}.cli": [f"import {PACKAGE}.norms._l2 as l2\n"],
    }
    found = arrows(graph(texts))
    assert found == {("_core", "norms"), ("norms", "_core"), ("cli", "norms")}
    assert upward(found) == [("_core", "norms")]
