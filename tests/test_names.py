"""Names are those of the field and the papers: words of our own, which they have replaced, do not come back."""

import ast
import re
import subprocess
from pathlib import Path

import pytest

import sklearn_predtron

PACKAGE = Path(sklearn_predtron.__file__).parent
ROOT = PACKAGE.parent

# Words that stand for nothing else: no function, class, attribute or parameter has such a name.
RETIRED = {
    *("rival", "suffer", "settle", "worth", "weigh", "stated_by", "unproven", "owed", "combined", "measured"),
    *("foresee", "conclude", "meet", "forget", "careful", "thorough", "fallible", "g2"),
    *("TableLoss", "TableRepresentation", "Table", "Subset", "Counts", "Shared", "Direction"),
    *("Linked", "Link", "Kernels", "Lanes", "sweep_lanes", "Margins", "History"),
    *("Entrant", "Peer", "Race", "Tally", "judge", "trouble"),
}
# Common words: no function, method or attribute of a compiled class has such a name, but a parameter or variable may.
TOO_COMMON = {
    *(
        "right",
        "least",
        "gap",
        "see",
        "rest",
        "place",
        "close",
        "begin",
        "leave",
        "admit",
        "direct",
        "pull",
        "measure",
        "observe",
    ),
    *("ready", "plain", "lost", "numbers", "form", "written", "predicted", "augmented", "direction"),
}
ALLOWED = {
    ("families/input/stream.pyx", "close"): "it closes a stream, as a file is closed",
    ("families/input/stream.pyi", "close"): "the same",
}


def names_of_python(text):
    """Yield (name, whether it is a function or method) of what is defined in Python."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name, isinstance(node, ast.FunctionDef)
        if isinstance(node, ast.FunctionDef | ast.Lambda):
            arguments = node.args
            named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
            yield from ((argument.arg, False) for argument in named if argument is not None)
        if isinstance(node, ast.ClassDef):
            yield from ((field.target.id, False) for field in node.body if isinstance(field, ast.AnnAssign))
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr, False


NAME = re.compile(r"[A-Za-z_]\w*")


def last_names(declaration):
    """The names that a declaration in C gives: the last word of each part between commas, without defaults and dimensions."""
    parts = re.sub(r"\[[^\]]*\]|\([^()]*\)", "", declaration).split(",")
    words = [NAME.findall(part.split("=")[0].replace(" not None", "")) for part in parts]
    return [word[-1] for word in words if word]


def names_of_cython(text):
    """Yield (name, whether it is a function, method or attribute) of what is defined in Cython."""
    text = re.sub(r'"""[\s\S]*?"""|#.*', "", text)
    for name in re.findall(r"^ *cdef class (\w+)|^ *(?:cdef|ctypedef) (?:struct|fused) (\w+)", text, re.M):
        yield "".join(name), False
    function = r"^ *(?:def|cdef|cpdef)\b[^(=\n]*?(\w+)\(((?:[^()]|\([^()]*\))*)\)[^\n]*"
    for name, arguments in re.findall(function, text, re.M):
        yield name, True
        yield from ((argument, False) for argument in last_names(arguments))
    for block in re.findall(r"^(?:cdef class|cdef struct|ctypedef struct)[^\n]*\n((?:(?: +[^\n]*)?\n)*)", text, re.M):
        block = re.sub(r"\[[^\]]*\]", "", block)
        for declaration in re.findall(r"^    (?:cdef (?:readonly |public )?)?((?:const )?[A-Za-z_][^(\n:]*)$", block, re.M):
            yield from ((name, True) for name in last_names(declaration) if " " in declaration)


def old_names(text, compiled):
    """The retired names that a file defines."""
    found = set()
    for name, is_function in (names_of_cython if compiled else names_of_python)(text):
        word = name.strip("_")
        if word in RETIRED or (is_function and word in TOO_COMMON):
            found.add(word)
    return found


FILES = sorted(path for path in PACKAGE.rglob("*") if path.suffix in {".py", ".pyi", ".pyx", ".pxd"})


PYTHON = """
class Race:
    trouble: int

    def __init__(self, rival):
        self.owed = rest = 1

    def see(self, gap): ...
"""
CYTHON = """
cdef struct Round:
    double score_gap    # gap
    double least

cdef class Table(Problem):
    cdef readonly bint thorough, gap
    cdef double[::1] rest    # right
    cdef Object worth

    cdef void pull(self, double* t, Py_ssize_t careful=1,
                   Py_ssize_t right) noexcept nogil:
        pass
"""


def test_old_names_are_found():
    assert old_names(PYTHON, compiled=False) == {"Race", "trouble", "rival", "owed", "see"}
    assert old_names(CYTHON, compiled=True) == {"least", "Table", "thorough", "gap", "rest", "worth", "pull", "careful"}


def test_no_old_name():
    found = set()
    for path in FILES:
        words = old_names(path.read_text(), compiled=path.suffix in {".pyx", ".pxd"})
        found |= {(path.relative_to(PACKAGE).as_posix(), word) for word in words}
    assert not found - set(ALLOWED)


def test_what_is_allowed_is_there():
    for name, word in ALLOWED:
        path = PACKAGE / name
        assert word in old_names(path.read_text(), compiled=path.suffix in {".pyx", ".pxd"}), f"{name} defines no {word}"


def test_papers_are_cited_by_author_and_year():
    tracked = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True)
    if tracked.returncode != 0:
        pytest.skip("the tests do not run from a checkout")
    numbered = re.compile(r"paper" + r" 0\d")
    found = []
    for name in filter(None, tracked.stdout.split("\0")):
        path = ROOT / name
        if path.is_file() and path.suffix in {".py", ".pyi", ".pyx", ".pxd", ".c", ".h", ".rst", ".md", ".diff", ".toml", ".txt"}:
            found += [f"{name}:{i}" for i, line in enumerate(path.read_text().splitlines(), 1) if numbered.search(line)]
    assert not found
