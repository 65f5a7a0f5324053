"""Tokens as sparse rows, beside dicts as scripts for CRFsuite make them; and the files that tokens come from."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from sklearn_predtron import PredtronSequenceTagger
from sklearn_predtron.datasets import chunk_labels, read_conll, token_features
from sklearn_predtron.datasets._token_features import usual_template

MANY = 2**31 - 1
NUMBERS = [1351688948, 1786780224, 1947080033]  # of "Ada", and of the ends


def corpus(n=10_000, seed=0):
    rng = np.random.default_rng(seed)
    letters = [*"abcdefgABC0123-'é"]
    vocabulary = ["".join(rng.choice(letters, rng.integers(1, 9))) for _ in range(800)]
    words = np.array(vocabulary)[np.minimum(rng.geometric(0.01, n) - 1, 799)]
    return words, rng.choice(["N", "V", "DT"], n), np.cumsum(rng.random(n) < 0.1)


def shape(word):
    kinds = ["X" if c.isupper() else "x" if c.isalpha() else "d" if c.isdigit() else c for c in word]
    return "".join(c for i, c in enumerate(kinds) if i == 0 or kinds[i - 1] != c)


MADE = {"": str, "lower": str.lower, "shape": shape}
MADE |= {f"prefix{m}": lambda w, m=m: w[:m] for m in range(1, 10)} | {f"suffix{m}": lambda w, m=m: w[-m:] for m in range(1, 10)}


def by_dicts(table, sid, template):
    """The items of each token, as texts."""
    found = []
    for t in range(len(sid)):
        items = set()
        for used in template:
            parts = []
            for attribute, offset in used:
                column, _, function = attribute.partition(":")
                if not 0 <= t + offset < len(sid) or sid[t + offset] != sid[t]:
                    parts = None
                    break
                parts.append(f"{attribute}[{offset}]={MADE[function](table[t + offset, int(column)])}")
            if parts:
                items.add("|".join(parts))
        items |= {"first"} if t == 0 or sid[t - 1] != sid[t] else set()
        items |= {"last"} if t == len(sid) - 1 or sid[t + 1] != sid[t] else set()
        found.append(items)
    return found


def test_features_are_those_of_a_reference():
    """On 10,000 tokens each feature stands for one item, and each item has one feature."""
    words, tags, sid = corpus()
    table = np.column_stack([words, tags])
    template = [*usual_template(["0", "1"]), (("1", -2), ("1", -1), ("1", 0)), (("0:suffix4", 1), ("0:prefix9", -3))]
    X = token_features(table, sid, template=template, n_features=MANY)
    expected = by_dicts(table, sid, template)
    assert X.has_canonical_format and (X.data == 1).all()
    item_of, feature_of = {}, {}
    for used in [*template, None]:
        single = token_features(table, sid, template=[used] if used else [template[0]], n_features=MANY)
        items = by_dicts(table, sid, [used] if used else [template[0]])
        for t in range(len(sid)):
            columns = set(single.indices[single.indptr[t] : single.indptr[t + 1]].tolist())
            assert len(columns) == len(items[t])
            if len(columns) == 1:
                feature, item = columns.pop(), next(iter(items[t]))
                assert item_of.setdefault(feature, item) == item and feature_of.setdefault(item, feature) == feature
    for t in range(len(sid)):
        assert set(X.indices[X.indptr[t] : X.indptr[t + 1]].tolist()) >= {feature_of[i] for i in expected[t] if i in feature_of}
        assert X.indptr[t + 1] - X.indptr[t] == len(expected[t])


def test_same_features_anywhere():
    """In another call, and on other machines: the number of a feature is fixed."""
    words, tags, sid = corpus(300)
    table = np.column_stack([words, tags])
    X = token_features(table, sid)
    half = sid < sid[150]
    assert (token_features(table[half], sid[half]) != X[half]).nnz == 0
    one = token_features(["Ada"], template=[(("0", 0),)], n_features=MANY)
    assert one.indices.tolist() == NUMBERS


def test_sequences_among_each_other():
    words, _, sid = corpus(200)
    X = token_features(words, sid)
    turns = np.lexsort((sid, np.concatenate([np.arange(size) for size in np.bincount(sid)])))  # a token of each in turns
    assert (token_features(words[turns], sid[turns]) != X[turns]).nnz == 0


def test_frames_and_columns():
    words, tags, sid = corpus(100)
    X = token_features(np.column_stack([words, tags]), sid, template=[(("0", 0), ("1:lower", 1))])
    frame = pd.DataFrame({"word": words, "tag": tags, "sid": sid})
    found = token_features(frame, template=[(("word", 0), ("tag:lower", 1))])
    np.testing.assert_array_equal(np.diff(found.indptr), np.diff(X.indptr))
    assert token_features(list(words), sid).nnz == token_features(words[:, None], sid).nnz
    assert isinstance(X, sparse.csr_matrix) and X.indices.dtype == np.int32


def test_few_features_collide():
    words, _, sid = corpus(50)
    X = token_features(words, sid, n_features=3)
    assert X.shape == (50, 3) and (X.data == 1).all() and X.has_canonical_format


LINES = """-DOCSTART- -X- O

U.N. NNP I-ORG
official NN O

Ekeus  NNP\tI-PER


heads VBZ O
""".splitlines(keepends=True)


def test_files(tmp_path):
    path = tmp_path / "text.conll"
    path.write_text("".join(LINES), encoding="utf-8")
    for source in (path, str(path), LINES, iter(LINES)):
        tokens, y, sid = read_conll(source)
        assert tokens.tolist() == [["U.N.", "NNP"], ["official", "NN"], ["Ekeus", "NNP"], ["heads", "VBZ"]]
        assert y.tolist() == ["I-ORG", "O", "I-PER", "O"] and sid.tolist() == [0, 0, 1, 2]
    tokens, y, sid = read_conll(LINES, label=0)
    assert y[0] == "U.N." and tokens[0].tolist() == ["NNP", "I-ORG"]
    tokens, y, _ = read_conll(["a b", "c d"], label=None)
    assert y is None and tokens.shape == (2, 2)
    assert read_conll(["é B"])[0].tolist() == [["é"]]


def test_a_byte_order_mark_is_no_part_of_a_token(tmp_path):
    path = tmp_path / "text.conll"
    for lines in (["U.N. NNP I-ORG\n"], ["-DOCSTART- -X- O\n", "\n", "U.N. NNP I-ORG\n"]):
        path.write_text("".join(lines), encoding="utf-8-sig")
        tokens, y, sid = read_conll(path)
        assert tokens.tolist() == [["U.N.", "NNP"]] and y.tolist() == ["I-ORG"] and sid.tolist() == [0]


def test_spaces_that_are_not_ascii_are_parts_of_tokens():
    """Tokens of corpora that were made of web pages have some."""
    for space in "\u00a0\u2009\u3000\u2028\x85":
        tokens, y, sid = read_conll([f"10{space}km CD\tO\n", f"{space} NN O\r\n", f"{space}\n", "a DT O"])
        assert tokens.tolist() == [[f"10{space}km", "CD"], [space, "NN"], ["a", "DT"]]
        assert y.tolist() == ["O"] * 3 and sid.tolist() == [0, 0, 1]


def test_from_a_file_to_labels():
    rng = np.random.default_rng(0)
    lines = []
    for _ in range(120):
        who, where = rng.choice(["Ada", "Alan Turing", "Florence Price"]), rng.choice(["Paris", "New York"])
        lines += [f"{w} I-PER\n" for w in who.split()] + ["sees O\n"] + [f"{w} I-LOC\n" for w in where.split()] + ["\n"]
    tokens, y, sid = read_conll(lines)
    X, y = token_features(tokens, sid, n_features=2**14), chunk_labels(y, sid)
    learned = sid < 80
    tagger = PredtronSequenceTagger(constraint="bio", random_state=0).fit(X[learned], y[learned], sid=sid[learned])
    assert tagger.score(X[~learned], y[~learned], sid=sid[~learned]) > 0.99


COMMENTED = ["# sent_id = 1", "# text = Ada sleeps", "Ada _ B-PER", "sleeps _ O", "", "# sent_id = 2", "# NN O", "Run _ O"]


def test_comments_before_sequences():
    """As without them; a # that is a token stays one, in the middle and where its columns are those of a token."""
    bare = ["Ada _ B-PER", "sleeps _ O", "", "Run _ O"]
    for how in ({}, {"comment": "# "}, {"comment": "#"}):
        lines = iter(COMMENTED)
        if how:
            tokens, y, sid = read_conll(lines, **how)
        else:
            with pytest.warns(UserWarning, match="line 1 begins with '# ' before the tokens .* comment=None"):
                tokens, y, sid = read_conll(lines)
        for found, expected in zip((tokens, y, sid), read_conll(bare), strict=True):
            assert found.tolist() == expected.tolist()
    for first in (["# NN O"], ["a DT O", "# NN O"]):
        assert "#" in read_conll([*first, "Run VB O", "", "# NN O", "a DT O"])[0][:, 0].tolist()
    assert read_conll(["#\tNN\tO", "a\tDT\tO"], comment="# ")[0][0, 0] == "#"
    with pytest.raises(ValueError, match=r"line 4 has 4 columns.*comment='#' reads lines"):
        read_conll(["a DT O", "b DT O", "", "# id = 1", "c DT O"])
    with pytest.warns(UserWarning, match="line 1 begins"):
        tokens, _, sid = read_conll(["# global.columns = FORM TAG", "", "# sent_id = 1", "a B", "", "# sent_id = 2", "b C"])
    assert tokens.tolist() == [["a"], ["b"]] and sid.tolist() == [0, 1]


def test_the_text_between_columns():
    tokens, y, _ = read_conll(["New York\tNNP\tB-LOC\n", "# 1\tNN\tO\n", "\n", " \t\tO\r\n"], sep="\t")
    assert tokens.tolist() == [["New York", "NNP"], ["# 1", "NN"], [" ", ""]] and y.tolist() == ["B-LOC", "O", "O"]
