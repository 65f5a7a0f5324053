"""Arguments that are refused: the message names the parameter, its value and what is accepted, before anything is read."""

import re

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from sklearn_predtron.datasets import (
    ParquetReader,
    SvmlightReader,
    chunk_labels,
    make_ranking_queries,
    make_sequences,
    read_conll,
    stack_sequences,
    token_features,
    unstack,
    window,
)

NAN, INF = float("nan"), float("inf")
SENTENCE = [{"word": "the"}, {"word": "dog"}]
LISTS = {"indices": "i", "values": "v"}


def reader(**parameters):
    return SvmlightReader("no such file", **parameters)


def parquet(paths="rows.parquet", **parameters):
    pytest.importorskip("pyarrow")
    return ParquetReader(paths, label="y", **parameters)


# For each function its cases: the arguments, and a part of the message.
REFUSED = {
    reader: [
        ({"n_features": 0}, "n_features=0 must be an integer of at least 1"),
        ({"chunk_rows": 2.5}, "chunk_rows=2.5 must be an integer"),
        ({"chunk_bytes": 0}, "chunk_bytes=0 must be"),
        ({"chunk_bytes": 2**63}, "chunk_bytes=9223372036854775808 must be at most"),
        ({"n_features": 2**31}, "n_features=2147483648 must be at most 2147483647"),
        ({"zero_based": "yes"}, "zero_based='yes' is not known; accepted are True, False and 'auto'"),
        ({"multilabel": "no"}, "multilabel='no' is not known; accepted are True and False"),
        ({"query_id": "yes"}, "query_id='yes' is not known; accepted are True and False"),
        ({"sequence_id": 1.5}, "sequence_id=1.5 is not known; accepted are True and False"),
        ({"query_id": True, "multilabel": True}, "query_id=True is not accepted with multilabel=True"),
        ({"sequence_id": True, "multilabel": True}, "sequence_id=True is not accepted with multilabel=True"),
        ({"sequence_id": True, "query_id": True}, "sequence_id=True is not accepted with query_id=True"),
        ({"classes": ["", "1"]}, "classes=['', '1'] is not accepted; accepted are None and finite numbers"),
        ({"classes": [0.0, NAN]}, "classes=[0.0, nan] is not accepted"),
        ({"classes": [[0], [1, 2]]}, "classes=[[0], [1, 2]] is not accepted"),
        ({"dtype": int}, "accepted are float64 and float32"),
        *(({"n_jobs": n}, f"n_jobs={n!r} is not known; accepted are None and integers other than 0") for n in (0, 1.5, "all")),
        *(({"cache": x}, "is not known; accepted are None, True, False and the path") for x in (3, ["rows.svm"], b"rows")),
        *(
            ({"part": part}, f"part={part!r} is not known; accepted are None and")
            for part in (1, (0,), (1, 1), (-1, 2), (0.0, 2), "ab", [0, 1])
        ),
    ],
    parquet: [
        ({"indices": "i"}, "features=None, indices='i', values=None: accepted are features, or indices with values"),
        ({"features": ["a"], **LISTS}, "accepted are features, or indices with values"),
        ({"n_features": 3}, "n_features=3 is accepted with indices and values only"),
        ({"n_features": 2**31, **LISTS}, "n_features=2147483648 must be at most"),
        ({"chunk_rows": 0}, "chunk_rows=0 must be an integer of at least 1"),
        ({"dtype": None, **LISTS}, "dtype=None is for columns as they are"),
        ({"dtype": int}, "accepted are float64, float32 and None"),
        ({"paths": []}, "paths=[] holds no file"),
        ({"features": "a"}, "features='a' is not accepted; accepted are columns in a list"),
        ({"features": ["a", "y"]}, "features=['a', 'y'] is not accepted"),
        ({"features": ["q"], "qid": "q"}, "features=['q'] is not accepted"),
        ({"n_jobs": 0}, "n_jobs=0 is not known"),
    ],
    make_sequences: [
        ({"n_sequences": 0}, "n_sequences=0 must be an integer of at least 1"),
        ({"n_labels": 2.5}, "n_labels=2.5 must be an integer"),
        ({"n_features": 0}, "n_features=0 must be"),
        ({"n_tokens": 0}, "n_tokens=0 must be at least 1"),
        ({"n_tokens": (3, 2)}, "n_tokens=(3, 2) must be at least 1, and the largest at least the least"),
        ({"n_tokens": (1, 2, 3)}, "n_tokens=(1, 2, 3) must be an integer of at least 1 or two of them"),
        ({"n_tokens": 1.5}, "n_tokens=1.5 must be an integer"),
        ({"n_active": 21}, "n_active=21 must be None or an integer from 1 to n_features=20"),
        ({"n_active": 0}, "n_active=0 must be"),
        ({"noise": 0}, "noise=0 must be None or a finite number above 0 for dense rows"),
        ({"noise": "much"}, "noise='much' must be None or a finite number"),
        ({"noise": 1.5, "n_active": 2}, "noise=1.5 must be None or from 0 to 1 for sparse rows"),
        ({"concentration": 0}, "concentration=0 must be a finite number above 0"),
        ({"bio": "yes", "n_labels": 3}, "bio='yes' is not known; accepted are True and False"),
        ({"bio": True, "n_labels": 4}, "n_labels=4 must be odd with bio=True"),
        *(
            ({"outside": share, "bio": True, "n_labels": 3}, f"outside={share!r} must be None or, with bio=True")
            for share in (0, 1, 1.5, True, "much", NAN)
        ),
        ({"outside": 0.5, "n_labels": 3}, "outside=0.5 must be None or, with bio=True"),
    ],
    make_ranking_queries: [
        ({"n_queries": 0}, "n_queries=0 must be an integer of at least 1"),
        ({"n_documents": 1.5}, "n_documents=1.5 must be an integer"),
        ({"n_features": None}, "n_features=None must be an integer"),
        ({"n_informative": 21}, "n_informative=21 must be None or an integer from 1 to n_features=20"),
        ({"n_informative": 0}, "n_informative=0 must be None or"),
        ({"rows": "cauchy"}, "rows='cauchy' is not known; accepted are 'gaussian' and 'uniform'"),
        *(({"std": std}, f"std={std!r} must be a finite number above 0") for std in (0, INF, "wide", True)),
        ({"std": 2.0, "rows": "uniform"}, "std=2.0 is not accepted with rows='uniform'"),
        ({"norm": 2}, "norm=2 is not known; accepted are 'l1', 'l2' and None"),
    ],
    chunk_labels: [
        ({"y": ["X-x"]}, "The label 'X-x' is none of chunks"),
        ({"y": [["O"]]}, "y="),
        ({"y": ["O"], "scheme": "biluo"}, "scheme='biluo' is not known; accepted are 'bio', 'iob', 'bioes'"),
        ({"y": ["O"], "sid": [1, 2]}, "sid"),
    ],
    token_features: [
        ({"tokens": []}, "tokens=[] are no words"),
        ({"tokens": [["a"], ["b", "c"]]}, " in column '0'; accepted is text"),
        ({"tokens": [1, 2]}, "tokens have 1 in column '0'; accepted is text"),
        ({"tokens": [None, "a"]}, "in column '0'; accepted is text"),
        ({"tokens": ["a"], "n_features": 0}, "n_features=0 must be a whole number from 1 to"),
        ({"tokens": ["a"], "n_features": True}, "n_features=True"),
        ({"tokens": ["a"], "sid": [1, 2]}, "sid"),
        ({"tokens": ["a"], "template": "0"}, "template='0' is no list"),
        ({"tokens": ["a"], "template": []}, "template=[] has no items"),
        *(({"tokens": ["a"], "template": [item]}, "accepted are tuples of pairs") for item in (("0", 0), (), (("0", 1.5),))),
        ({"tokens": ["a"], "template": [(("1", 0),)]}, "the attribute '1'; accepted are the columns '0'"),
        *(({"tokens": ["a"], "template": [((name, 0),)]}, f"the attribute '{name}'") for name in ("0:upper", "0:", "0:suffix0")),
    ],
    read_conll: [
        ({"source": ["a b", "c"]}, "line 2 has 1 columns, and the first token has 2: 'c'"),
        ({"source": ["", "-DOCSTART- x"]}, "has no tokens"),
        ({"source": ["a b"], "label": 2}, "label=2 is no column beside others: there are 2"),
        ({"source": ["a"]}, "label=-1 is no column beside others: there are 1"),
        *(({"source": ["a b"], "sep": sep}, "sep") for sep in ("", 3)),
        *(({"source": ["a b"], "comment": comment}, "comment") for comment in ("", 1)),
    ],
    stack_sequences: [
        ({"sequences": [["a"], [], ["b"]]}, "sequences[1] has no tokens; leave it out"),
        ({"sequences": [np.ones((2, 3)), np.ones((0, 3))]}, "sequences[1] has no tokens; leave it out"),
        ({"sequences": [["a"], ["b", "c"]], "labels": [[1], [1]]}, "labels[1] has 1 labels and sequences[1] has 2 tokens"),
        ({"sequences": [["a"], ["b"]], "labels": [[1]]}, "labels are of 1 sequences, and there are 2 sequences"),
        ({"sequences": [["a", "b"]], "labels": [[[1], [1, 2]]]}, "must be one a token"),
        ({"sequences": [["a", "b"]], "labels": [[[1], [2]]]}, "must be one a token"),
        ({"sequences": SENTENCE}, "sequences[0]={'word': 'the'} is no sequence of tokens"),
        ({"sequences": SENTENCE}, "stacked as [sequence]"),
        ({"sequences": [1, 2]}, "sequences[0]=1 is no sequence of tokens"),
        ({"sequences": "word"}, "sequences='word' is one str; accepted are lists of sequences: [sequence] of a single one"),
        ({"sequences": {"a": 1}}, "is one dict"),
        ({"sequences": np.ones((3, 2))}, "is one ndarray"),
        ({"sequences": sparse.csr_matrix(np.eye(3))}, "is one csr_matrix"),
        ({"sequences": pd.DataFrame({"a": [1]})}, "is one DataFrame"),
        ({"sequences": [np.ones((2, 3)), np.ones((2, 4))]}, "sequences[1] has 4 features and sequences[0] has 3"),
        ({"sequences": [np.ones((2, 3)), [1, 2]]}, "sequences[1] is of type list and sequences[0] of type ndarray"),
    ],
    window: [
        ({"X": np.ones((2, 2)), "sid": None, "before": -1}, "before=-1 must be an integer of at least 0"),
        ({"X": np.ones((2, 2)), "sid": None, "after": 1.5}, "after=1.5 must be an integer of at least 0"),
        ({"X": np.ones((2, 2)), "sid": None, "after": True}, "after=True must be an integer of at least 0"),
        ({"X": [1, 2, 3], "sid": None}, "Expected 2D array"),
    ],
}


@pytest.mark.always
@pytest.mark.parametrize(
    ("call", "parameters", "message"),
    [(call, *case) for call, cases in REFUSED.items() for case in cases],
    ids=lambda value: value.__name__ if callable(value) else str(value)[:40],
)
def test_arguments_that_are_refused(call, parameters, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        call(**parameters)


BAD_IDS = [
    ([0, 0], "sid has 2 entries and (values|X) has 3"),
    ([0, np.nan, 1], r"sid\[1\]=nan; accepted are ids without missing values"),
    (["a", None, "b"], r"sid\[1\]=None; accepted are ids without missing values"),
    ([[0, 0, 1]], r"sid has shape \(1, 3\); it must have the sequence id of each row"),
]


@pytest.mark.parametrize("take_apart", [lambda sid: unstack([1, 2, 3], sid), lambda sid: window(np.ones((3, 1)), sid)])
@pytest.mark.parametrize(("sid", "message"), BAD_IDS)
def test_bad_ids(take_apart, sid, message):
    with pytest.raises(ValueError, match=message):
        take_apart(sid)
