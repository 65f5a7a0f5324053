"""The sets of the board.  Each is a function that returns a `Task`; one that needs what is missing raises `Missing`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.error import URLError

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.datasets import fetch_openml, load_breast_cancer, load_digits, load_wine

from benchmarks.board.task import Task
from benchmarks.read import reader
from benchmarks.suites.tables_sets import as_frame

PRICE, CAPACITY, RISK = 0.1, 0.02, 0.05
LOST, INTEREST, CONTACT = 0.75, 0.25 * 0.02463333, 1.0  # empulse's defaults: loss given default, deposit times interest, a call


class Missing(Exception):
    """A package, a folder or a network is missing."""


# -------------------------------------------------------------------------------------------------------------- costs by row


def of_two(n: int, *, fn: Any, fp: Any, tp: Any = 0.0) -> NDArray:
    """Costs of each of n rows; a true 0 that is decided as 0 costs nothing."""
    costs = np.zeros((n, 2, 2))
    costs[:, 1, 0], costs[:, 0, 1], costs[:, 1, 1] = fn, fp, tp
    return costs


@cache
def bundled(name: str) -> Any:
    """Return a data set that empulse bundles."""
    if find_spec("empulse") is None:
        raise Missing("empulse is not installed")
    from empulse import datasets

    return getattr(datasets, f"load_{name}")(backend=pd)


def churn(data: Path | None) -> Task:
    """Customers of a TV provider: an offer costs something, a lost customer much more."""
    given = bundled("churn_tv_subscriptions")
    costs = {name: given.instance_costs[f"{name}_cost"] for name in ("fn", "fp", "tp")}
    return Task("churn, TV", given.data, np.asarray(given.target), of_two(len(given.target), **costs))


def credit(name: str, title: str, data: Path | None) -> Task:
    """Loans: a default costs three quarters of the credit line, a refusal the profit."""
    given = bundled(name)
    costs = {"fn": LOST * given.instance_costs["cl"], "fp": given.instance_costs["fp_cost"]}
    return Task(title, given.data, np.asarray(given.target), of_two(len(given.target), **costs))


def bank(data: Path | None) -> Task:
    """Offers of a deposit: a call costs 1, a missed customer the interest on a quarter of the balance, at least a call."""
    given = bundled("upsell_bank_telemarketing")
    missed = np.maximum(CONTACT, INTEREST * given.instance_costs["balance"])
    costs = of_two(len(given.target), fn=missed, fp=CONTACT, tp=CONTACT)
    return Task("bank calls", given.data, np.asarray(given.target), costs)


def few_calls(data: Path | None) -> Task:
    """The same, with calls to at most 2 % of the customers."""
    return replace(bank(data), name=f"bank calls, at most {CAPACITY:.0%}", capacity=CAPACITY)


# ------------------------------------------------------------------------------------------------------------ costs by class


def kept(family: str, name: str, data: Path | None) -> tuple[Any, NDArray]:
    """Return a table of the folder of data, with its categories, and its classes."""
    if data is None:
        raise Missing("it needs --data")
    read = reader(data)
    X, y = read.table(family, name)
    return as_frame(X, read.categorical(name) if family == "table" else np.zeros(X.shape[1], dtype=bool)), y


def heart(data: Path | None) -> Task:
    """Missing an illness costs 5, as in Statlog."""
    X, y = kept("small", "heart_c", data)
    return Task("heart", X, y, np.array([[0.0, 1], [5, 0]]))


def breast(data: Path | None) -> Task:
    """Missing a tumour costs 10."""
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    return Task("breast cancer", X, 1 - np.asarray(y), np.array([[0.0, 1], [10, 0]]))


def german(data: Path | None) -> Task:
    """A bad credit costs 5, as published."""
    try:
        X, y = fetch_openml(data_id=31, return_X_y=True, as_frame=True)
    except (URLError, OSError) as error:
        raise Missing("it needs a network") from error
    return Task("credit-g", X, (y == "bad").to_numpy(int), np.array([[0.0, 1], [5, 0]]))


def car(data: Path | None) -> Task:
    """Grades of cars: a grade too high costs 3, a grade too low 1."""
    X, y = kept("small", "car", data)
    grade = np.array([1, 2, 0, 3])[y]  # classes are in alphabetical order: acceptable, good, unacceptable, very good
    above = np.arange(4) - np.arange(4)[:, None]
    return Task("car", X, grade, np.where(above > 0, 3.0, -1.0) * above)


def cmc(data: Path | None) -> Task:
    """Contraception (none, long-term, short-term): taking a user for a non-user costs 3, any other mistake 1."""
    X, y = kept("small", "cmc", data)
    return Task("cmc", X, y, np.array([[0.0, 1, 1], [3, 0, 1], [3, 1, 0]]))


# ---------------------------------------------------------------------------------------------------- abstention and promises


def priced(name: str, X: Any, y: NDArray) -> Task:
    """A mistake costs 1, an abstention .1."""
    k = len(np.unique(y))
    return Task(f"{name}, abstention", X, y, np.column_stack([1 - np.eye(k), np.full(k, PRICE)]))


def digits(data: Path | None) -> Task:
    """Ten digits."""
    X, y = load_digits(return_X_y=True, as_frame=True)
    return priced("digits", X, np.asarray(y))


def wine(data: Path | None) -> Task:
    """Three wines."""
    X, y = load_wine(return_X_y=True, as_frame=True)
    return priced("wine", X, np.asarray(y))


def saheart(data: Path | None) -> Task:
    """Two classes that overlap."""
    return priced("saheart", *kept("small", "saheart", data))


def adult(data: Path | None) -> Task:
    """Incomes, with at most 5 % wrong answers."""
    X, y = kept("table", "adult", data)
    return Task("adult", X, y, 1 - np.eye(2), risk=RISK)


SETS: dict[str, Callable[[Path | None], Task]] = {
    "churn": churn,
    "pakdd": partial(credit, "credit_scoring_pakdd", "credit, PAKDD"),
    "vub": partial(credit, "vub_credit_scoring", "credit, VUB"),
    "bank": bank,
    "few_calls": few_calls,
    "heart": heart,
    "breast": breast,
    "german": german,
    "car": car,
    "cmc": cmc,
    "digits": digits,
    "wine": wine,
    "saheart": saheart,
    "adult": adult,
}
