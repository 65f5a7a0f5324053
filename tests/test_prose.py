"""Docstrings, comments, names and pages are in plain English, in the words of the field (see CONTRIBUTING)."""

import ast
import re
import subprocess
from collections import defaultdict
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

import sklearn_predtron

PACKAGE = Path(sklearn_predtron.__file__).parent
ROOT = PACKAGE.parent

# Rooms of the package, and pages, that are not rewritten yet.
TO_DO = ()
# Public classes that their own package names: `features.Auto` and `norms.Auto`.  `Problem` is the public base of problems in
# Python; the compiled base of problems has the same name.
SAME_NAME = {"Auto", "Problem"}

WRONG_BEGIN = re.compile(r"(Return what|Let)\b")
# Words of our own, which the field's words have replaced.
PRIVATE = re.compile(
    r"\b(anew|contenders?|dear(er)?|lest|mend(s|ed)?|of no weight|of one kind|pupils?|what is paid)\b",
    re.IGNORECASE,
)
COMPILED = re.compile(r'^[ \t]*[rR]?"""([\s\S]*?)"""', re.MULTILINE)
CLASS = re.compile(r"^(?:cdef )?class (\w+)", re.MULTILINE)
COMMENT = re.compile(r"(?:^|(?<=\s))#:? .*$", re.MULTILINE)
DEFINES = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


class Text(NamedTuple):
    """A docstring, a comment or a page, and its place."""

    room: str
    place: str
    text: str

    def line(self, start):
        """Return the place of a character of the text."""
        path, first = self.place.rsplit(":", 1)
        return f"{path}:{int(first) + self.text.count(chr(10), 0, start)}"


def docstrings_of(text, compiled):
    """Yield the line and the text of each docstring of a module."""
    if compiled:
        yield from ((text.count("\n", 0, found.start()) + 1, found[1]) for found in COMPILED.finditer(text))
    else:
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, DEFINES) and (found := ast.get_docstring(node, clean=False)):
                yield node.body[0].lineno, found


def room_of(path):
    """Return the folder or the module of the package in which a file is, or the folder or file of the checkout."""
    base = PACKAGE if path.is_relative_to(PACKAGE) else ROOT
    first = path.relative_to(base).parts[0]
    return first.removesuffix(".py") if base is PACKAGE else first


@cache
def sources():
    """Return the path and the text of each file of the package."""
    paths = sorted(path for path in PACKAGE.rglob("*") if path.suffix in {".py", ".pyx", ".pxd"})
    return [(path, path.read_text()) for path in paths]


@cache
def docstrings():
    """Return all docstrings of the package."""
    return [
        Text(room_of(path), f"{path.relative_to(ROOT)}:{line}", found)
        for path, text in sources()
        for line, found in docstrings_of(text, path.suffix in {".pyx", ".pxd"})
    ]


@cache
def comments():
    """Return all comments of the package."""
    return [
        Text(room_of(path), f"{path.relative_to(ROOT)}:{text.count(chr(10), 0, found.start()) + 1}", found[0])
        for path, text in sources()
        for found in COMMENT.finditer(text)
    ]


@cache
def pages():
    """Return the pages of the documentation, which a checkout has."""
    paths = [path for path in sorted((ROOT / "doc").rglob("*.rst")) if "generated" not in path.parts]
    paths += sorted(ROOT.glob("*.md"))
    return [Text(room_of(path), f"{path.relative_to(ROOT)}:1", path.read_text()) for path in paths]


def without_to_do(texts):
    """Return the texts of rooms that are rewritten."""
    return [text for text in texts if text.room not in TO_DO]


def wrong_begins(texts):
    """Return the places of docstrings that begin with an indirect clause."""
    return [text.place for text in texts if WRONG_BEGIN.match(text.text.strip())]


def private_words(texts):
    """Return the places of words of our own."""
    return [f"{text.line(found.start())}: {found[0]}" for text in texts for found in PRIVATE.finditer(text.text)]


def test_offences_are_found():
    code = '''
"""Let the world be."""
def f():
    """Return what was set aside, dear reader, of this function which does so many things at once."""
'''
    found = [Text("room", f"a.py:{line}", text) for line, text in docstrings_of(code, compiled=False)]
    assert found == [Text("room", f"a.py:{line}", text) for line, text in docstrings_of(code, compiled=True)]
    assert [text.place for text in found] == ["a.py:2", "a.py:4"]
    assert wrong_begins(found) == ["a.py:2", "a.py:4"] and private_words(found) == ["a.py:4: dear"]
    assert COMMENT.findall('x = 1  # dear\n# lest\ny = "#1"\n') == ["# dear", "# lest"]


def test_docstrings_say_it_directly():
    assert wrong_begins(without_to_do(docstrings())) == []


def test_words_are_those_of_the_field():
    assert private_words(without_to_do([*docstrings(), *comments(), *pages()])) == []


def test_no_class_name_is_defined_twice():
    places = defaultdict(list)
    for path, text in sources():
        if path.suffix in {".py", ".pyx"}:
            for found in CLASS.finditer(text):
                places[found[1]].append((room_of(path), f"{path.relative_to(ROOT)}:{text.count(chr(10), 0, found.start()) + 1}"))
    twice = {name: found for name, found in places.items() if len(found) > 1 and name not in SAME_NAME}
    assert {name: found for name, found in twice.items() if any(room not in TO_DO for room, _ in found)} == {}


def test_papers_are_cited_by_author_and_year():
    tracked = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True)
    if tracked.returncode != 0:
        pytest.skip("the tests do not run from a checkout")
    numbered = re.compile(r"paper" + r" 0\d")
    found = []
    for name in filter(None, tracked.stdout.split("\0")):
        path = ROOT / name
        if path.is_file() and path.suffix in {".py", ".pyx", ".pxd", ".c", ".h", ".rst", ".md", ".diff", ".toml", ".txt"}:
            found += [f"{name}:{i}" for i, line in enumerate(path.read_text().splitlines(), 1) if numbered.search(line)]
    assert not found
