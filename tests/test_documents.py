"""What the documents look like: code that fits a narrow column, and a glossary that stays short."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
WIDTH = 88
DOCUMENTS = sorted([*(ROOT / "doc").glob("*.rst"), *(ROOT / "doc").glob("[!_g]*/*.rst"), *ROOT.glob("*.md")])
pytestmark = pytest.mark.skipif(not (ROOT / "doc").exists(), reason="the tests do not run from a checkout")


def code_of_rst(lines: list[str]) -> Iterator[tuple[int, str]]:
    """Lines of code with their numbers: statements of doctests, code blocks and literal blocks."""
    block = None  # the indentation of the line that opens a block of code
    for number, line in enumerate(lines, 1):
        indentation = len(line) - len(line.lstrip())
        if line.strip() and block is not None and indentation <= block:
            block = None
        if re.match(r" *(>>>|\.\.\.) ", line) or (block is not None and line.strip()):
            yield number, line
        elif re.match(r" *\.\. code-block::", line) or (line.endswith("::") and not line.lstrip().startswith("..")):
            block = indentation


def code_of_markdown(lines: list[str]) -> Iterator[tuple[int, str]]:
    """Lines between fences, with their numbers; the output of doctests is no code, shell commands have one line each."""
    language = None
    for number, line in enumerate(lines, 1):
        if line.startswith("```"):
            language = line[3:] if language is None else None
        elif (language == "pycon" and re.match(r"(>>>|\.\.\.) ", line)) or language == "python":
            yield number, line


def test_code_is_found():
    rst = ["A block::", "", "    a = 1", "", "Text.", ".. code-block:: python", "", "   b = 2", ".. math::", "", "   c", ">>> d"]
    assert list(code_of_rst(rst)) == [(3, "    a = 1"), (8, "   b = 2"), (12, ">>> d")]
    assert list(code_of_markdown(["```pycon", ">>> 1", "1", "```", "2", "```sh", "3", "```"])) == [(2, ">>> 1")]


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_code_fits_a_narrow_column(path):
    lines = path.read_text().splitlines()
    code = (code_of_rst if path.suffix == ".rst" else code_of_markdown)(lines)
    wide = [f"{path.name}:{number}: {len(line)} characters" for number, line in code if len(line) > WIDTH]
    assert not wide, "\n".join(wide)


def test_the_glossary_is_short_and_linked():
    text = (ROOT / "doc" / "glossary.rst").read_text()
    assert 0 < len(re.findall(r"^   \w.*$", text, re.M)) <= 30
    for document in ["index.rst", "user_guide/index.rst"]:
        assert "glossary" in (ROOT / "doc" / document).read_text()
    assert "doc/glossary.rst" in (ROOT / "README.md").read_text()
