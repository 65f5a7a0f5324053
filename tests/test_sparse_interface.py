"""Sparse results have the type that scikit-learn's setting names; label sets that of the labels."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn import config_context, get_config

from sklearn_predtron import PredtronClassifier, PredtronMultilabelClassifier, PredtronRanker
from sklearn_predtron.datasets import ParquetReader, SvmlightReader, make_sequences, read_svmlight, token_features
from sklearn_predtron.features import PiecewiseLinear

pytestmark = pytest.mark.skipif("sparse_interface" not in get_config(), reason="scikit-learn before 1.9 has no such setting")
RANDOM = np.random.default_rng(0)
X, Y = RANDOM.standard_normal((40, 5)), np.arange(40) % 3
ROWS = sparse.csr_matrix(X)


def lines(folder):
    path = folder / "rows.svm"
    path.write_text("0,1 1:1 3:2\n1 2:0.5\n")
    return path


def parquet(folder):
    pa = pytest.importorskip("pyarrow", reason="pyarrow is of the extra `test`")
    from pyarrow import parquet

    path = folder / "rows.parquet"
    lists = {"index": [[0, 2], [1]], "value": [[1.0, 2.0], [3.0]], "y": [0, 1]}
    parquet.write_table(pa.table(lists), path)
    return ParquetReader(path, label="y", indices="index", values="value", n_features=3)


RESULTS = {
    "PiecewiseLinear.transform": lambda folder: PiecewiseLinear().fit(X).transform(X),
    "sparsify": lambda folder: PredtronClassifier(norm="l2", random_state=0).fit(X, Y).sparsify().coef_,
    "sparsify, last": lambda folder: PredtronClassifier(norm="l2", random_state=0).fit(X, Y).sparsify().last_coef_,
    "sparsify, ranker": lambda folder: PredtronRanker(norm="l2", random_state=0).fit(X, Y, qid="one").sparsify().coef_,
    "explain": lambda folder: PredtronClassifier(norm="l2", random_state=0).fit(ROWS, Y).explain(ROWS).values[0],
    "read_svmlight": lambda folder: read_svmlight(lines(folder), multilabel=True)[0],
    "read_svmlight, y": lambda folder: read_svmlight(lines(folder), multilabel=True)[1],
    "SvmlightReader": lambda folder: next(iter(SvmlightReader(lines(folder), multilabel=True)))[0],
    "SvmlightReader, y": lambda folder: next(iter(SvmlightReader(lines(folder), multilabel=True)))[1],
    "ParquetReader": lambda folder: next(iter(parquet(folder)))[0],
    "token_features": lambda folder: token_features(["a", "b"]),
    "make_sequences": lambda folder: make_sequences(3, n_active=2, random_state=0)[0],
}


@pytest.mark.parametrize("name", RESULTS)
def test_results_have_the_type_of_the_setting(name, tmp_path):
    found = {}
    for kind in ("sparray", "spmatrix"):
        with config_context(sparse_interface=kind):
            found[kind] = RESULTS[name](tmp_path)
    assert isinstance(found["sparray"], sparse.sparray) and sparse.isspmatrix(found["spmatrix"])
    assert_array_equal(found["sparray"].toarray().ravel(), found["spmatrix"].toarray().ravel())


@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csr_matrix], ids=lambda kind: kind.__name__)
def test_label_sets_keep_the_type_of_the_labels(kind):
    labels = kind((X[:, :3] > 0).astype(int))
    for setting in ("sparray", "spmatrix"):
        with config_context(sparse_interface=setting):
            assert type(PredtronMultilabelClassifier().fit(X, labels).predict(X)) is kind
