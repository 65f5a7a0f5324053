"""Labels that only TEST has: they count as wrong, in all formats and tasks, and the report says how many."""

import json

import numpy as np
import pandas as pd
import pytest

from sklearn_predtron import PredtronBipartiteClassifier, PredtronOrdinalClassifier
from tests.cli_cases import run
from tests.cli_worlds import WORLDS


@pytest.mark.always(each="name")
@pytest.mark.parametrize("name", [name for name, world in WORLDS.items() if name not in ("sets", "queries")] + ["batches"])
def test_they_count_as_wrong(capsys, tmp_path, name):
    world = WORLDS["two classes" if name == "batches" else name]
    world = world._replace(options=("--task", "bipartite")) if name == "batches" else world
    test, k = world.draw(50, 1), len(world.labels)
    new = {"tokens": "B-zz"}.get(name, "zz" if isinstance(world.labels[0], str) else 97)
    other = test._replace(codes=np.where(np.arange(len(test.codes)) % 10 == 3, k, test.codes % k))
    how = [world.write(tmp_path / "a", world.draw(100, 0)), "--save", tmp_path / "m", *world.options, "--predictions"]
    paths = {"p": world.write(tmp_path / "known", test), "q": tmp_path / f"other.{world.ending}"}
    paths["q"].write_text(world._replace(labels=[*world.labels, new]).text(other), encoding="utf-8")
    found = {}
    for name_, path in paths.items():
        code, out, err = run(capsys, *how, tmp_path / name_, "--test", path, "--json")
        assert (code, err) == (0, "")
        found[name_] = json.loads(out)
    n, unknown = len(test.codes), int(np.sum(other.codes == k))
    assert "unknown_labels_of_test" not in found["p"] and found["q"]["unknown_labels_of_test"] == unknown > 0
    assert (tmp_path / "p").read_text() == (tmp_path / "q").read_text()
    (before,), (after,) = found["p"]["results"], found["q"]["results"]
    assert after["tested"] == before["tested"] == n
    if name == "batches":
        assert after["held_out_score"] < before["held_out_score"]
    elif name == "ranks":  # whose distances are as large as they may be
        assert before["held_out_score"] - unknown / n <= after["held_out_score"] <= 1 - unknown / n
    else:
        predicted = [line for line in (tmp_path / "q").read_text(encoding="utf-8").split("\n") if line]
        right = np.mean(
            [str(label) == line for label, line in zip(world.target(test), predicted, strict=True)] & (other.codes < k)
        )
        assert after["held_out_score"] == pytest.approx(right)
    _, out, _ = run(capsys, *how, tmp_path / "q", "--test", paths["q"])
    assert f"TEST: {unknown} rows with labels that training did not have, [{new}], count as wrong" in out


N = 200
X = np.random.default_rng(0).standard_normal((N, 2)).round(3)


@pytest.mark.parametrize("model", [PredtronOrdinalClassifier(), PredtronBipartiteClassifier()], ids=lambda m: type(m).__name__)
def test_scores_of_estimators_count_them_as_wrong(model):
    y = (X[:, 0] > 0).astype(int)
    other = np.where(np.arange(N) % 10 == 3, 5, y)
    right = model.fit(X, y).predict(X) == other
    with pytest.warns(UserWarning, match=r"y has 20 labels that are not in classes_, \[5\]; such rows count as wrong"):
        assert model.score(X, other) == pytest.approx(right.mean())
    with pytest.raises(ValueError, match="not in classes_"):
        model.score(X, pd.Series(["a"] * N))
