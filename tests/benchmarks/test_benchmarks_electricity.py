"""The suite of a market in order of time, on a made-up one."""

from pathlib import Path

import numpy as np
import pytest

from benchmarks.suites import electricity
from benchmarks.tasks import Options


@pytest.fixture
def market(monkeypatch):
    """Two columns; the label follows the first, and half-way the other way round."""
    random = np.random.default_rng(0)
    X = random.standard_normal((400, 2))
    y = ((X[:, 0] > 0) ^ (np.arange(400) >= 200)).astype(int)
    monkeypatch.setattr(electricity, "elec2", lambda options: (X, y))
    monkeypatch.setattr(electricity, "LEARNERS", electricity.LEARNERS[:2])
    return X, y


def test_errors_of_all_learners(market):
    _, y = market
    (table,) = electricity.run(Options(data=Path()))
    assert [row[:2] for row in table.rows[1:]] == [
        [columns, learner.name] for columns in ("raw", "standardised") for learner in electricity.LEARNERS
    ]
    assert table.rows[0][2] == np.mean(y[1:] != y[:-1])
    for row in table.rows[1:]:
        assert row[2] == pytest.approx(np.mean(row[3:]), abs=0.01)  # of quarters that are about as long
        assert row[4] < row[5]  # the truth has turned


def test_standardised_by_the_rows_so_far(market):
    X = market[0]
    found = electricity.standardised_on_the_way(X)
    for i in (1, 5, 399):
        assert found[i] == pytest.approx((X[i] - X[: i + 1].mean(axis=0)) / X[: i + 1].std(axis=0))


def test_without_data():
    (table,) = electricity.run(Options())
    assert table.rows == [] and "skipped" in table.note
