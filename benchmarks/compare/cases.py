"""What is timed in both revisions, each some milliseconds, by the public interface alone."""

from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from benchmarks.measure import Case
from benchmarks.tasks import gaussian_classes, gaussian_ranks, graded_queries, label_sets, text

RANKS, LABELS = 10, 20
Data = dict[str, Any]
Makers = dict[str, Callable[[], Case]]


def part(module: str, name: str, **params: Any) -> Any:
    """A norm or an update, by its name."""
    return getattr(import_module(f"sklearn_predtron.{module}"), name)(**params)


def learner(family: str, **params: Any) -> Any:
    """A new estimator, by its name, and its parts made now: an older revision may lack them, and has its other cases."""
    return getattr(import_module("sklearn_predtron"), family)(
        **{name: made() if callable(made) else made for name, made in params.items()}
    )


def rejecting(cost: float, label: Any) -> dict[str, Any]:
    """Return the parameter of a reject option."""
    return {"reject": part("losses", "Reject", cost=cost, label=label)}


def classifier(k: int) -> str:
    """The classifier's name for so many classes."""
    return "PredtronBinaryClassifier" if k == 2 else "PredtronClassifier"


# ----------------------------------------------------------------------------------------------------------------------- data


def classes(n: int, p: int, k: int) -> Data:
    """Dense rows of so many classes."""
    X, y = gaussian_classes(n, p, k)
    return {"X": X, "y": y, "classes": np.arange(k)}


def words(n: int, k: int) -> Data:
    """CSR rows of so many classes."""
    X, y = text(n, k)
    return {"X": X, "y": y, "classes": np.arange(k)}


def ranks(n: int, p: int) -> Data:
    """Dense rows with ranks."""
    X, y = gaussian_ranks(n, p, RANKS)
    return {"X": X, "y": y, "classes": np.arange(RANKS)}


def sets(n: int, p: int) -> Data:
    """Dense rows with sets of labels."""
    X, Y = label_sets(n, p, LABELS)
    return {"X": X, "y": Y}


def queries(n: int, documents: int, p: int) -> Data:
    """Documents in five grades."""
    X, y, qid = graded_queries(n, documents, p, 5)
    return {"X": X, "y": y, "qid": qid}


def orders(n: int, p: int, m: int) -> Data:
    """Rows with a relevance of each of m labels."""
    rng = np.random.default_rng(0)
    X, W = rng.standard_normal((n, p)), rng.standard_normal((p, m))
    scores = X @ W + np.sqrt(p) * rng.standard_normal((n, m))
    return {"X": X, "y": scores.argsort(axis=1).argsort(axis=1).astype(float)}


# ---------------------------------------------------------------------------------------------------------------------- kinds


def epoch(family: str, data: Callable[[], Data], **params: Any) -> Case:
    """The first pass of a new learner over a set, in its order."""
    given, model = data(), learner(family, **params)
    return Case(family, lambda new: new.partial_fit(**given), lambda: clone(model))


def fit(family: str, data: Callable[[], Data], **params: Any) -> Case:
    """A whole fit, with all its epochs."""
    given, model = data(), learner(family, random_state=0, **params)
    return Case(family, lambda new: new.fit(given["X"], given["y"]), lambda: clone(model))


def one_by_one(family: str, data: Callable[[], Data], size: int = 1, **params: Any) -> Case:
    """Learn row by row, or query by query, after a block of rows."""
    given, model = data(), learner(family, **params)
    rows = [(given["X"][part].copy(), given["y"][part].copy()) for part in parts(given["X"], size)]
    return Case(family, partial(learn, rows), lambda: clone(model).partial_fit(**given))


def guesses(family: str, data: Callable[[], Data], size: int = 1, **params: Any) -> Case:
    """Predict row by row, or query by query."""
    given = data()
    model = learner(family, **params).partial_fit(**given)
    return Case(family, partial(predict, model, [given["X"][part].copy() for part in parts(given["X"], size)]))


def batch(family: str, data: Callable[[], Data], times: int = 1, **params: Any) -> Case:
    """Predict all rows in one call, so many times."""
    given = data()
    model = learner(family, **params).partial_fit(**given)
    return Case(family, partial(predict, model, [given["X"]] * times))


def parts(X: NDArray, size: int) -> list[slice]:
    """Slices of so many rows."""
    return [slice(*ends) for ends in pairwise(range(0, len(X) + 1, size))]


def learn(rows: Sequence[tuple[NDArray, NDArray]], model: Any) -> None:
    """Learn from the parts of a stream, one after the other."""
    for X, y in rows:
        model.partial_fit(X, y)


def predict(model: Any, rows: Sequence[Any], _: None) -> None:
    """Predict the parts of a stream, one after the other."""
    for X in rows:
        model.predict(X)


# ---------------------------------------------------------------------------------------------------------------------- cases


MANY, FEW = partial(classes, 20_000, 100, 10), partial(classes, 3000, 100, 10)
QUERIES = partial(queries, 500, 50, 50)
FAMILIES: dict[str, tuple[str, Callable[[], Data]]] = {
    "binary": ("PredtronBinaryClassifier", partial(classes, 2000, 100, 2)),
    "k10": ("PredtronClassifier", partial(classes, 2000, 100, 10)),
    "multilabel": ("PredtronMultilabelClassifier", partial(sets, 1500, 100)),
    "ordinal": ("PredtronOrdinalClassifier", partial(ranks, 2000, 50)),
    "label-ranker": ("PredtronLabelRanker", partial(orders, 1000, 20, 5)),
}
GROUPS: dict[str, Makers] = {
    "throughput": {
        **{
            f"dense-k{k}-p{p}": partial(epoch, classifier(k), partial(classes, n, p, k))
            for k, p, n in ((2, 100, 50_000), (2, 1000, 10_000), (10, 100, 20_000), (100, 100, 4000))
        },
        **{f"csr-k{k}": partial(epoch, classifier(k), partial(words, n, k)) for k, n in ((2, 20_000), (10, 5000))},
        "multilabel": partial(epoch, "PredtronMultilabelClassifier", partial(sets, 5000, 100)),
        "ordinal": partial(epoch, "PredtronOrdinalClassifier", partial(ranks, 20_000, 50)),
        "ranker": partial(epoch, "PredtronRanker", QUERIES),
        "label-ranker": partial(epoch, "PredtronLabelRanker", partial(orders, 5000, 20, 5)),
        "fit-k10": partial(fit, "PredtronClassifier", FEW),
        "reject": partial(epoch, "PredtronClassifier", MANY, **rejecting(0.2, -1)),
    },
    "stream": {
        **{f"learn-{name}": partial(one_by_one, *about) for name, about in FAMILIES.items()},
        "learn-query": partial(one_by_one, "PredtronRanker", partial(queries, 500, 10, 20), 10),
        **{f"predict-{name}": partial(guesses, *about) for name, about in FAMILIES.items()},
        "predict-query": partial(guesses, "PredtronRanker", partial(queries, 1000, 10, 20), 10),
    },
    "inference": {
        **{
            f"query-of-{m}": partial(one_by_one, "PredtronRanker", partial(queries, n, m, 20), m)
            for m, n in ((100, 100), (1000, 20))
        },
        **{
            f"batch-k{k}": partial(batch, classifier(k), partial(classes, 20_000, 100, k), times)
            for k, times in ((2, 3), (10, 1))
        },
        "batch-csr": partial(batch, "PredtronClassifier", partial(words, 5000, 10)),
        "batch-multilabel": partial(batch, "PredtronMultilabelClassifier", partial(sets, 10_000, 100), 2),
        "batch-queries": partial(batch, "PredtronRanker", QUERIES, 5),
    },
    "norms": {
        **{
            f"{norm}-k10": partial(epoch, "PredtronClassifier", partial(classes, n, 100, 10), norm=norm)
            for norm, n in (("l1", 5000), ("group", 5000), ("trace", 500), ("scaled", 10_000))
        },
        "p-k10": partial(
            epoch, "PredtronClassifier", partial(classes, 5000, 100, 10), norm=partial(part, "norms", "PNorm", q=4.0)
        ),
        "l1-binary": partial(epoch, "PredtronBinaryClassifier", partial(classes, 20_000, 100, 2), norm="l1"),
        "l1-csr": partial(epoch, "PredtronClassifier", partial(words, 1000, 10), norm="l1"),
        "scaled-csr": partial(epoch, "PredtronClassifier", partial(words, 2000, 10), norm="scaled"),
        "rkhs": partial(epoch, "PredtronClassifier", partial(classes, 1000, 20, 10), norm="rkhs"),
        "rkhs-budget": partial(
            epoch, "PredtronClassifier", partial(classes, 1000, 20, 10), norm=partial(part, "norms", "RKHS", budget=100)
        ),
    },
    "updates": {
        **{
            f"{update}-k10": partial(epoch, "PredtronClassifier", MANY, update=update)
            for update in ("predtron", "loss_driven", "perceptron", "passive_aggressive", "subgradient")
        },
        **{
            f"average-{average}-k10".lower(): partial(epoch, "PredtronClassifier", MANY, average=average)
            for average in (False, "uniform", 1000.0)
        },
        **{
            f"{update}-ranker": partial(epoch, "PredtronRanker", QUERIES, update=update)
            for update in ("slam", "max_pair", "listnet")
        },
    },
}
CASES: Makers = {f"{group}/{name}": maker for group, makers in GROUPS.items() for name, maker in makers.items()}
