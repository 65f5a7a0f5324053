import json

import numpy as np
import pytest
from scipy import sparse

from benchmarks import read, tasks
from benchmarks.contestants import TAGGING_CONTESTANTS
from benchmarks.contestants.base import Contestant
from benchmarks.contestants.crfsuite import names
from benchmarks.contestants.taggers import TaggingContestant
from benchmarks.measure import Measured
from benchmarks.suites import sequences
from benchmarks.tasks import Options
from sklearn_predtron.datasets import make_sequences

INSTALLED = [contestant for contestant in TAGGING_CONTESTANTS if contestant.installed]
LOAD = """
import numpy as np
from scipy import sparse


def letters():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 240)
    return sparse.csr_matrix(np.eye(3)[y]), y, 1 + np.arange(240) // 4, np.arange(60) % 10
"""


@pytest.fixture
def tiny(monkeypatch):
    monkeypatch.setattr(tasks, "FEWEST_ROWS", 40)
    monkeypatch.setattr(tasks, "MORE", 1)
    monkeypatch.setattr(sequences, "FEATURES", 300)
    monkeypatch.setattr(sequences, "python", child)


@pytest.fixture
def data(tmp_path):
    (tmp_path / "load.py").write_text(LOAD)
    return Options(repeats=1, seeds=2, scale=0.001, data=tmp_path)


def child(*words):
    """What `python -c` prints, without a process of its own."""
    name, scale = words[1].split("growth(")[1].split(")")[0].split(", ")[-2:]
    return json.dumps({"growth": 2000 if "CRF" in name else 1000, "X": int(1000 * float(scale))})


def check(tables):
    for table in tables:
        assert table.rows
        assert {len(row) for row in table.rows} == {len(table.columns)}
        assert table.markdown()


@pytest.mark.parametrize("contestant", INSTALLED, ids=lambda contestant: contestant.name)
def test_tagger_adapter_learns(contestant):
    X, y, sid = make_sequences(120, 3, 200, n_active=10, noise=0.3, bio=True, random_state=0)
    given = contestant.convert(X, sid)
    for loaded in (contestant.load(given, y), contestant.load_one_by_one(X, y, sid)):
        tags = contestant.tag(contestant.learn(loaded, 5), given)
        assert tags.shape == y.shape and (tags == y).mean() > 0.9


def test_names_of_features():
    X = sparse.csr_matrix(np.array([[0, 1, 1], [1, 0, 0], [0, 0, 0], [0, 0, 1]]))
    assert names(X, 0, 4) == [["bias", "1", "2"], ["bias", "0"], ["bias"], ["bias", "2"]]
    assert names(X, 1, 3) == [["bias", "0"], ["bias"]]


def test_suite_without_data(tiny):
    tables = sequences.run(Options(repeats=1, seeds=1, scale=0.001))
    check(tables)
    assert len(tables) == 6 and "skipped" in tables[1].note


def test_suite_on_given_words(tiny, data):
    tables = sequences.run(data)
    check(tables)
    words, defaults, fits = tables[:3]
    assert [row[0] for row in defaults.rows[:: len(sequences.BY_DEFAULT)]] == ["words, small", "words, large", "text", "names"]
    assert [row[0] for row in words.rows[:: len(TAGGING_CONTESTANTS)]] == ["small", "large"]
    assert words.rows[0][2] == "0.0000 ± 0.0000" and words.rows[0][4] is True
    assert [row[0] for row in fits.rows[:: len(TAGGING_CONTESTANTS)]] == ["words", "text"] and "skipped" not in fits.note


def test_suite_without_the_optional_peer(tiny, data, monkeypatch):
    monkeypatch.setattr(Contestant, "installed", property(lambda contestant: contestant.module == "sklearn_predtron"))
    tables = sequences.run(data)
    check(tables)
    assert all("not installed" in table.markdown() for table in tables[:5])


def test_a_fold_of_words_is_learned_or_left_out(data):
    X, y, sid, fold = words = read.letters(data.data)
    assert y.tolist() == ["abc"[i] for i in X.toarray().argmax(axis=1)] and sid.max() == 59 and fold.tolist()[:5] == [0] * 4 + [1]
    learned = []

    class Constant(TaggingContestant):
        def convert(self, X, sid):
            learned.append(len(sid))
            return sid

        def load(self, given, y):
            return None

        def learn(self, loaded, epochs):
            return "a"

        def tag(self, model, given):
            return np.full(len(given), model)

    found = [sequences.error_of_fold(Constant(), words, 0, size) for size in ("small", "large")]
    wrong, inside = y != "a", fold == 0
    assert found[0][0] == wrong[~inside].mean() and found[1][0] == wrong[inside].mean()
    assert found[0][1] == wrong[~inside].reshape(-1, 4).any(axis=1).mean()
    assert learned == [24, 216, 216, 24]


def test_what_is_done_once_is_left_out_of_an_epoch():
    X, y, sid = np.zeros((10, 1)), np.zeros(10), np.zeros(10)
    work = sequences.Work("some", (X, y, sid), (X, y, sid), (20, 4), {}, 1.0)
    learned = {
        "ours, default, 20 epochs": Measured([100.0 + 20 * 10 * 3]),
        "ours, default, 4 epochs": Measured([100.0 + 4 * 10 * 3]),
    }
    assert sequences.per_token(work, learned, TAGGING_CONTESTANTS[0]).times == [3.0]


def test_sentences_have_their_tokens():
    sentences = sequences.sentences_alone(7)
    assert len(sentences) == 7 and {X.shape for X, _ in sentences} == {(25, 2**18)}
    assert {len(y) for _, y in sentences} == {25}


def test_growth_of_a_small_text(monkeypatch):
    monkeypatch.setattr(sequences, "FEATURES", 3000)
    found = sequences.growth("ours, default", 0.001)
    assert found["X"] > 0 and found["growth"] >= 0
