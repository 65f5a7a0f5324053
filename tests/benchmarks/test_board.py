import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from benchmarks import record
from benchmarks.board import command, methods, sets
from benchmarks.board.task import Task

README = Path(command.__file__).with_name("README.md")


def tiny(data):
    """Two classes with costs by row, a column of strings and blanks."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.standard_normal((300, 3)), columns=["a", "b", "c"])
    y = (frame["a"] + rng.standard_normal(300) > 1).to_numpy(int)
    frame["kind"] = np.where(frame["b"] > 0, "up", "down")
    frame.loc[::7, "c"] = np.nan
    return Task("tiny", frame, y, sets.of_two(300, fn=rng.uniform(1, 9, 300), fp=1.0))


def priced(data):
    return sets.priced("tiny", (X := tiny(data).X), (X["a"] > 0).to_numpy(int) + (X["a"] > 1))


def missing(data):
    raise sets.Missing("it needs a network")


def test_the_board_has_a_row_a_set_and_a_column_a_method(monkeypatch, tmp_path):
    chosen = {"tiny": tiny, "priced": priced, "few": lambda data: sets.replace(tiny(data), capacity=0.1), "far": missing}
    chosen |= {"promise": lambda data: Task("promise", tiny(data).X, tiny(data).y, 1 - np.eye(2), risk=0.3)}
    monkeypatch.setattr(command, "SETS", chosen)
    monkeypatch.setattr(record, "RESULTS", tmp_path)
    command.main(["--splits", "2", "--write"])
    savings, promises, seconds = json.loads((tmp_path / "board.json").read_text())["tables"]
    assert savings["columns"] == seconds["columns"] == ["set", *methods.METHODS] and "'far' is left out" in savings["note"]
    assert [row[0] for row in savings["rows"]] == ["tiny", "tiny, abstention", "tiny", command.RANKS_OF_ALL, command.RANKS_OF_TWO]
    assert all(re.fullmatch(r"-?\d+\.\d{3} ± \d+\.\d{3}", cell) for cell in savings["rows"][0][1:])
    assert {row[0] for row in promises["rows"]} == {"promise"} and len(seconds["rows"]) == 4


def test_savings_and_capacity_by_hand():
    costs = sets.of_two(4, fn=np.array([9.0, 4, 2, 8]), fp=1.0, tp=1.0)
    task = Task("four", pd.DataFrame(np.zeros((4, 1))), np.array([1, 1, 0, 0]), costs)
    assert task.constant() == 1 and task.savings(np.array([1, 0, 0, 0])) == pytest.approx(1 - 5 / 4)
    P = np.array([[0.5, 0.5], [0.5, 0.5], [0.1, 0.9], [0.9, 0.1]])
    assert task.cheapest(P).tolist() == [1, 1, 1, 0]
    assert sets.replace(task, capacity=0.25).cheapest(P).tolist() == [1, 0, 0, 0]


def test_the_method_of_the_readme(monkeypatch):
    monkeypatch.setattr(methods, "ALL", {})
    exec(re.search(r"```python\n(.+?)```", README.read_text(), re.S)[1], {})
    (method, _), (train, test) = methods.ALL["calibrated forest"], tiny(None).split(0)
    assert test.savings(method(train)(test)) > 0
