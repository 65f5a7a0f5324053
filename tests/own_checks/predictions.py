"""Checks of predictions."""

from inspect import signature
from typing import Any

from numpy.testing import assert_array_equal
from sklearn.base import clone

from tests.own_checks.comparisons import assert_fails, assert_same_scores, scores_of
from tests.own_checks.data import forms_of, make_data


def check_one_row_predicts_as_in_a_batch(name: str, estimator: Any) -> None:
    """Check that predictions of a row ignore other rows."""
    data = make_data(estimator)
    for form, X in forms_of(data.X).items():
        model = data.fit(estimator, X=X)
        scores, predicted = scores_of(model, X), data.predict(model, X=X)
        for i in range(0, data.n, 5):
            rows, what = data.rows(slice(i, i + 1)), f"{name}: one {form} row, or the same in a batch"
            row = X[rows][:1]
            assert_same_scores(model, scores_of(model, row)[0], scores[rows][0], what)
            assert_array_equal(data.predict(model, slice(i, i + 1), X=X), predicted[rows], err_msg=what)
            if form == "float64":
                assert_same_scores(model, scores_of(model, row.tolist())[0], scores[rows][0], what)


def check_unfitted(name: str, estimator: Any) -> None:
    """Check that unfitted models raise NotFittedError."""
    data = make_data(estimator)
    unlabelled = ["predict", "decision_function", "rank"]
    for method in [*unlabelled, "score", "sample_loss", "margin"]:
        if hasattr(estimator, method):
            call, labels = getattr(clone(estimator), method), [] if method in unlabelled else [data.y]
            id_kwargs = {key: value for key, value in data.id_kwargs().items() if key in signature(call).parameters}
            assert_fails(f"{name}: {method}", "not fitted", call, data.X, *labels, **id_kwargs)
