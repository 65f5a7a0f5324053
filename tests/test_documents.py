"""What the documents look like: code that fits a narrow column, and a glossary that stays short."""

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[1]
WIDTH = 88
DOCUMENTS = sorted([*(ROOT / "doc").glob("*.rst"), *(ROOT / "doc").glob("[!_g]*/**/*.rst"), *ROOT.glob("*.md")])
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


@pytest.mark.always
@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_code_fits_a_narrow_column(path):
    lines = path.read_text().splitlines()
    code = (code_of_rst if path.suffix == ".rst" else code_of_markdown)(lines)
    wide = [f"{path.name}:{number}: {len(line)} characters" for number, line in code if len(line) > WIDTH]
    assert not wide, "\n".join(wide)


def split_rows(lines: list[str]) -> Iterator[tuple[int, str]]:
    """Rows of simple tables that end within a phrase: a line with a first cell begins a new row."""
    row = None  # the number and the cells of the row so far
    columns: list[re.Match] = []
    for number, line in enumerate(lines, 1):
        ruler = re.fullmatch(r" *=+( +=+)+", line)
        begins = bool(columns) and line[columns[0].start() : columns[0].end()].strip() != ""
        if row and (ruler or begins):
            for cell in row[1]:
                if re.search(r"(,|\b(and|or|of|the|a))$", cell):
                    yield row[0], cell
        if ruler or not line.strip():
            columns = list(re.finditer("=+", line))
            row = None
        elif columns:
            ends = [column.start() for column in columns[1:]] + [None]
            cells = [line[column.start() : end].strip() for column, end in zip(columns, ends, strict=True)]
            before = row[1] if row and not begins else [""] * len(columns)
            row = number, [cell or old for cell, old in zip(cells, before, strict=True)]


def test_split_rows_are_found():
    table = ["====  ====", "a,    and", "      b", "c     one,", "d     two", "====  ====", "", "e     of"]
    assert list(split_rows(table)) == [(3, "a,"), (4, "one,")]


def test_the_cells_of_tables_end_in_their_row():
    rows = ((path, row) for path in DOCUMENTS for row in split_rows(path.read_text().splitlines()))
    found = [f"{path.name}:{number}: {cell}" for path, (number, cell) in rows]
    assert not found, "\n".join(found)


def test_the_glossary_is_short_and_linked():
    text = (ROOT / "doc" / "glossary.rst").read_text()
    assert 0 < len(re.findall(r"^   \w.*$", text, re.M)) <= 30
    for document in ["index.rst", "user_guide/index.rst"]:
        assert "glossary" in (ROOT / "doc" / document).read_text()
    assert "doc/glossary.rst" in (ROOT / "README.md").read_text()


def test_the_snippets_of_the_first_page_run():
    """Each line after a comment is one estimator, taught data of the kind that the names say."""
    from sklearn.datasets import make_multilabel_classification

    import sklearn_predtron
    from sklearn_predtron import decisions, losses
    from sklearn_predtron.datasets import make_ranking_queries, make_sequences

    X, tags = make_multilabel_classification(60, 5, n_classes=3, random_state=0)
    documents, relevance, query = make_ranking_queries(10, 4, random_state=0)
    tokens, parts_of_speech, sentence = make_sequences(10, 3, random_state=0)
    given = {"state": np.array(["well", "ill"])[tags[:, 0]], "classes": tags[:, 0] + tags[:, 1], "stars": tags.sum(axis=1)}
    given |= {
        "payments": np.array(["good", "fraud"])[tags[:, 0]],
        "X_new": X[:9],
        "amounts": np.arange(9.0),
        "costs": 1 - np.eye(3),
        "preferences": tags,
        "table": X,
        "row": X[:1],
        "label": [0],
        "labels": range(3),
    }
    block = re.search(r"<!-- snippets -->\n```python\n(.*?)```", (ROOT / "README.md").read_text(), re.S)[1]
    public = {name: getattr(module, name) for module in (sklearn_predtron, losses, decisions) for name in module.__all__}
    names = {**public, **given, **locals()}
    found = []
    for line in block.splitlines():
        if line.startswith("Predtron"):
            found.append(eval(line, names))
        else:
            exec(line, names)
    predicted, learned = [x for x in found if isinstance(x, np.ndarray)], [x for x in found if hasattr(x, "t_")]
    assert len(predicted) + len(learned) == len(found) == block.count("\n#") + 1
    assert all(model.t_ for model in learned) and [len(labels) for labels in predicted] == [9]
