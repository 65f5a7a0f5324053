"""Labels of chunks in several schemes: what is read of one is what was written in another."""

import itertools

import numpy as np
import pytest

from sklearn_predtron import PredtronSequenceTagger
from sklearn_predtron.datasets import chunk_labels, make_sequences
from sklearn_predtron.metrics import chunk_f1_score

LABELS = ["O", "B-x", "I-x", "B-y", "I-y"]


def chunks_of(labels):
    """By conlleval's definition, token by token."""
    found, begun = [], None
    for t, (before, label) in enumerate(itertools.pairwise(["O", *labels, "O"])):
        goes_on = before[0] in "BI" and label[0] in "IE" and before[2:] == label[2:]
        if begun is not None and not goes_on:
            found.append((begun, t, before[2:]))
        begun = begun if goes_on else (t if label != "O" else None)
    return found


@pytest.mark.parametrize("scheme", ["bio", "iob", "bioes"])
def test_all_labels_of_four_tokens(scheme):
    for labels in itertools.product(LABELS, repeat=4):
        written = chunk_labels(labels, scheme=scheme).tolist()
        assert chunks_of(written) == chunks_of(labels)
        assert chunk_labels(written).tolist() == chunk_labels(labels).tolist()
        for begin, end, kind in chunks_of(labels):
            tags = [label.split("-") for label in written[begin:end]]
            assert {name for _, name in tags} == {kind}
            inside = "".join(tag for tag, _ in tags)
            n = end - begin
            if scheme == "bioes":
                assert inside == ("S" if n == 1 else "B" + "I" * (n - 2) + "E")
            elif scheme == "bio":
                assert inside == "B" + "I" * (n - 1)
            else:
                touches = any(other[1:] == (begin, kind) for other in chunks_of(labels))
                assert inside == ("B" if touches else "I") + "I" * (n - 1)


@pytest.mark.parametrize(("scheme", "letters"), [("bilou", "BILU"), ("bmes", "BMES")])
def test_schemes_with_other_letters(scheme, letters):
    """They are BIOES by other letters, without a type, too."""
    for labels in itertools.product(LABELS, repeat=4):
        expected = [label.translate(str.maketrans("BIES", letters)) for label in chunk_labels(labels, scheme="bioes").tolist()]
        written = chunk_labels(labels, scheme=scheme)
        assert written.tolist() == expected and chunk_labels(written).tolist() == chunk_labels(labels).tolist()
        assert chunk_f1_score(labels, written) == 1 or set(labels) == {"O"}
    single, last = letters[3], letters[2]
    assert chunk_labels(["B", letters[1], last, "O", single]).tolist() == ["B", "I", "I", "O", "B"]


def test_no_chunk_crosses_sequences():
    y, sid = ["B-x", "I-x", "I-x", "O", "I-x"], [0, 1, 0, 1, 1]
    assert chunk_labels(y, sid).tolist() == ["B-x", "B-x", "I-x", "O", "B-x"]
    assert chunk_labels(y, sid, scheme="iob").tolist() == ["I-x", "I-x", "I-x", "O", "I-x"]
    assert chunk_labels(["B-x", "I-x"], [0, 1], scheme="iob").tolist() == ["I-x", "I-x"]


def test_chunks_without_a_type_and_nothing():
    assert chunk_labels(["I", "I", "O", "S"], scheme="bio").tolist() == ["B", "I", "O", "B"]
    assert chunk_labels(["O", "O"]).tolist() == ["O", "O"]
    assert chunk_labels([]).shape == (0,)


def test_what_the_constraint_refuses_is_mended():
    X, y, sid = make_sequences(60, n_labels=5, bio=True, random_state=0)
    stray = np.where(np.char.startswith(y, "B-") & (np.arange(len(y)) % 3 == 0), np.char.replace(y, "B-", "I-"), y)
    tagger = PredtronSequenceTagger(constraint="bio", random_state=0)
    with pytest.raises(ValueError, match=r"which constraint='bio' forbids; datasets\.chunk_labels begins each chunk with B-\.$"):
        tagger.fit(X, stray, sid=sid)
    mended = chunk_labels(stray, sid)
    assert chunk_f1_score(stray, mended, sid) == 1
    tagger.fit(X, mended, sid=sid)
    with pytest.raises(ValueError, match=r"datasets\.chunk_labels makes them of BIOES\.$"):
        tagger.fit(X, chunk_labels(y, sid, scheme="bioes"), sid=sid)
