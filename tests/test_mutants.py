"""The mutants go with the code: each has one place, and tests that exist."""

from pathlib import Path

import pytest
from mutants.__main__ import mutated, parse
from mutants.mutants import MUTANTS, Mutant

ROOT = Path(__file__).parents[1]


def test_mutants_have_one_place_and_tests():
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS) >= 30
    for mutant in MUTANTS:
        mutated((ROOT / mutant.file).read_text(), mutant)
        assert mutant.tests
        assert all((ROOT / test).exists() for test in mutant.tests), mutant.name


@pytest.mark.parametrize(("text", "new"), [("a b", "d"), ("c c", "d"), ("a c", "c")])
def test_a_mutant_without_one_place_is_refused(text, new):
    with pytest.raises(ValueError, match=r"must occur once in x\.py"):
        mutated(text, Mutant("any", "x.py", "c", new, ()))


def test_names(capsys):
    assert parse([]) == (MUTANTS, None)
    assert parse([MUTANTS[3].name, "--record", "found.json"]) == ([MUTANTS[3]], Path("found.json"))
    with pytest.raises(SystemExit):
        parse(["unheard-of"])
    assert "unheard-of: not known" in capsys.readouterr().err
