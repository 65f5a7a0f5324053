"""Tables 1 and 2 of Cumulative Sum Ranking (Milidiu and Rocha): python -m benchmarks.paper.cusum_tables --data DIR [--write]."""

import argparse
import os
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    for library in ("OMP", "OPENBLAS", "MKL"):
        os.environ[f"{library}_NUM_THREADS"] = "1"

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit, log_expit
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPRegressor

from benchmarks.read import ordinal
from benchmarks.report import Table, mean_error, replace, versions
from benchmarks.suites.ordinal import SPLITS, mean_absolute
from benchmarks.suites.quality import standard_error
from sklearn_predtron import PredtronBinaryClassifier, PredtronOrdinalClassifier

README = Path(__file__).with_name("README.md")
UNITS = 1000
PATIENCE = 100
MOST_EPOCHS = 5000
EPOCHS = (1, 3, 10, 30, 100, 300, 1000)
RAW = "raw"
# The paper's name and number of rows; Benchmark and CuSum in 5 bins, then in 10.
PRINTED = {
    "abalone": ("abalone", 4177, ("0.229", "0.228"), ("0.5160", "0.5169")),
    "diabetes": ("diabetes", 43, ("0.746", "0.680"), ("2.4577", "1.076")),
    "auto_mpg": ("auto-mpg", 392, ("0.259", "0.251"), ("0.5081", "0.5765")),
    "pyrimidines": ("pyrimidines", 74, ("0.45", "0.522"), ("0.9187", "0.9729")),
    "machine_cpu": ("machine", 209, ("0.1915", "0.1872"), ("0.4398", "0.4906")),
    "wisconsin_breast": ("wisconsin", 194, ("1.003", "0.979"), ("2.1250", "2.1171")),
    "stocks_domain": ("stocks", 950, ("0.1081", "0.160"), ("0.1804", "0.1778")),
    "triazines": ("triazines", 186, ("0.6977", "0.720"), ("1.2308", "1.2058")),
    "boston_housing": ("housing", 506, ("0.2672", "0.2766"), ("0.4971", "0.6075")),
}


def main(argv: Sequence[str] | None = None) -> None:
    """Print both tables, and write them where that is asked for."""
    arguments = parse(argv)
    tables = [table(title, binning, arguments) for title, binning in (("Table 1: 5 bins", "len5"), ("Table 2: 10 bins", "len10"))]
    body = "\n".join([versions() + "\n", *(found.markdown() for found in tables)])
    print(body)
    if arguments.write:
        README.write_text(replace(README.read_text(), "cusum_tables", body))


def parse(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.paper.cusum_tables", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="a folder of data sets with a load.py")
    parser.add_argument("--splits", type=int, default=SPLITS, help=f"the first N of {SPLITS}, one of them for choosing")
    parser.add_argument("--sets", nargs="+", choices=PRINTED, help="some of the sets only")
    parser.add_argument("--write", action="store_true", help="replace the tables of the README beside this file")
    return parser.parse_args(argv)


# ------------------------------------------------------------------------------------------------------------------- learners


def cusum(epochs: int, X: NDArray, y: NDArray) -> Any:
    """The paper's figure 1, averaged."""
    return PredtronOrdinalClassifier(norm="l2", update="perceptron", average="uniform", max_iter=epochs, random_state=0).fit(X, y)


def margin(epochs: int, X: NDArray, y: NDArray) -> Any:
    """The default, in so many epochs."""
    return PredtronOrdinalClassifier(norm="l2", max_iter=epochs, random_state=0).fit(X, y)


class Counting:
    """The paper's (2): one independent binary learner of y >= k for each rank k, and the rank is how many of them say yes."""

    def __init__(self, epochs: int, X: NDArray, y: NDArray):
        self.ranks = np.unique(y)
        self.models = [
            PredtronBinaryClassifier(norm="l2", max_iter=epochs, random_state=0).fit(X, y >= k) for k in self.ranks[1:]
        ]

    def predict(self, X: NDArray) -> NDArray:
        return self.ranks[np.sum([model.predict(X) for model in self.models], axis=0)]


class OrderedCounting:
    """The paper's (3): the rank is how many of the ordered thresholds one direction exceeds.

    They minimise a surrogate of Pedregosa et al. (2017), the logistic loss of all thresholds plus half the squared length of the
    direction; thresholds that minimise it are in order.  It is a minimum, so there are no epochs.
    """

    def __init__(self, _: int, X: NDArray, y: NDArray):
        self.ranks = np.unique(y)
        signs = np.where(y[:, np.newaxis] >= self.ranks[1:], 1.0, -1.0)
        p = X.shape[1]

        def objective(parameters: NDArray) -> tuple[float, NDArray]:
            direction, thresholds = parameters[:p], parameters[p:]
            margins = signs * ((X @ direction)[:, np.newaxis] - thresholds)
            slopes = -signs * expit(-margins)
            gradient = np.append(direction + X.T @ slopes.sum(axis=1), -slopes.sum(axis=0))
            return direction @ direction / 2 - log_expit(margins).sum(), gradient

        found = minimize(objective, np.zeros(p + len(self.ranks) - 1), jac=True, method="L-BFGS-B", options={"maxiter": 1000}).x
        self.direction, self.thresholds = found[:p], found[p:]

    def predict(self, X: NDArray) -> NDArray:
        return self.ranks[((X @ self.direction)[:, np.newaxis] >= self.thresholds).sum(axis=1)]


LEARNERS: dict[str, Callable[[int, NDArray, NDArray], Any]] = {
    "CuSum": cusum,
    "margin": margin,
    "counting (2)": Counting,
    "counting (3)": OrderedCounting,
    RAW: margin,
}


# ----------------------------------------------------------------------------------------------------------------------- runs


def table(title: str, binning: str, arguments: argparse.Namespace) -> Table:
    """The paper's columns and ours in one binning."""
    ours = Table(
        title,
        ["data", "rows", "Benchmark (paper)", "CuSum (paper)", *LEARNERS],
        note=f"MAE in ranks: mean ± standard error of {arguments.splits - 1} splits, **whose partitions are not the paper's**; "
        "in brackets the epochs, chosen on one more split.",
    )
    for data, (name, rows, *printed) in PRINTED.items():
        if arguments.sets is None or data in arguments.sets:
            splits = ordinal(arguments.data, data, binning, arguments.splits)
            ours.rows.append([name, rows, *printed[binning == "len10"], *cells(splits)])
            print(title, *ours.rows[-1], sep=" | ", flush=True)
    return ours


def cells(splits: Iterator[tuple]) -> list[str]:
    """Each learner's errors on the splits after the first, which chooses its epochs."""
    choosing, *others = (learned_features(seed, *split) for seed, split in enumerate(splits))
    return [cell(name, choosing, others) for name in LEARNERS]


def learned_features(seed: int, X: NDArray, y: NDArray, X_test: NDArray, y_test: NDArray) -> dict[bool, tuple]:
    """A split with the features as they are (True), and with the hidden output of a network that learns from it (False)."""
    network = fit_network(seed, X, y)
    return {True: (X, y, X_test, y_test), False: (hidden_output(network, X), y, hidden_output(network, X_test), y_test)}


def cell(name: str, choosing: dict[bool, tuple], others: Sequence[dict[bool, tuple]]) -> str:
    """The mean error, and the epochs with the least error on the split for choosing."""
    learn = LEARNERS[name]
    choice = EPOCHS[:1] if learn is OrderedCounting else EPOCHS
    epochs = min(choice, key=lambda n: error(learn, n, *choosing[name == RAW]))
    found = np.array([error(learn, epochs, *split[name == RAW]) for split in others])
    chosen = f" ({epochs})" if len(choice) > 1 else ""
    return mean_error(found.mean(), standard_error(found)) + chosen


def error(learn: Callable, epochs: int, X: NDArray, y: NDArray, X_test: NDArray, y_test: NDArray) -> float:
    return mean_absolute(learn(epochs, X, y).predict(X_test), y_test)


def fit_network(seed: int, X: NDArray, y: NDArray) -> MLPRegressor:
    """Least squares on the numbers of the ranks, until a validation part gains nothing for PATIENCE epochs."""
    network = MLPRegressor(
        hidden_layer_sizes=(UNITS,),
        learning_rate_init=0.001,
        early_stopping=True,
        validation_fraction=0.2,
        n_iter_no_change=PATIENCE,
        tol=0.0,
        max_iter=MOST_EPOCHS,
        random_state=seed,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return network.fit(X, y)


def hidden_output(network: Any, X: NDArray) -> NDArray:
    """Of the hidden layer's rectified linear units."""
    return np.maximum(X @ network.coefs_[0] + network.intercepts_[0], 0)


if __name__ == "__main__":
    main()
