"""Labels that are missing: every call says so, whatever holds them."""

import numpy as np
import pandas as pd
import pytest

from sklearn_predtron import (
    PredtronBinaryClassifier,
    PredtronBipartiteClassifier,
    PredtronClassifier,
    PredtronMultilabelClassifier,
    PredtronOrdinalClassifier,
    PredtronSequenceTagger,
)

X = np.random.default_rng(0).standard_normal((12, 3))
TEXTS = ["a", "b"] * 6
MAKERS = {
    "binary": PredtronBinaryClassifier,
    "several": PredtronClassifier,
    "ranks": lambda: PredtronOrdinalClassifier(categories=["a", "b"]),
    "one of a set": PredtronMultilabelClassifier,
    "bipartite": PredtronBipartiteClassifier,
    "tokens": PredtronSequenceTagger,
}
HOLDERS = {
    "list": list,
    "objects": lambda y: np.array(y, dtype=object),
    "series": lambda y: pd.Series(y, dtype=object),
    "strings": lambda y: pd.Series([None if pd.isna(label) else label for label in y], dtype="string"),
    "categories": lambda y: pd.Series(y, dtype="category"),
}


@pytest.mark.parametrize("missing", [None, np.nan, pd.NaT, pd.NA], ids=str)
@pytest.mark.parametrize("holder", HOLDERS.values(), ids=HOLDERS)
@pytest.mark.parametrize("family", MAKERS)
def test_a_missing_label_is_named(family, holder, missing):
    make = MAKERS[family]
    more = {"sid": np.repeat([0, 1, 2, 3], 3)} if family == "tokens" else {}
    y, fitted = holder([*TEXTS[:9], missing, *TEXTS[:2]]), make().fit(X, TEXTS, **more)
    calls = [
        lambda: make().fit(X, y, **more),
        lambda: make().partial_fit(X, y, classes=["a", "b"], **more),
        lambda: fitted.partial_fit(X, y, **more),
        lambda: fitted.score(X, y, **more),
    ]
    calls += [lambda: fitted.certify(X, y)] if hasattr(fitted, "certify") else []
    for call in calls:
        with pytest.raises(ValueError, match=r"y contains NaN: .* at place 9 is a missing label; accepted are"):
            call()
    with pytest.raises(ValueError, match=r"classes contains NaN: .* at place 2"):
        make().partial_fit(X, TEXTS, classes=["a", "b", missing], **more)
