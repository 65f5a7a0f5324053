"""Tables 1 and 2 of Cumulative Sum Ranking (paper 003): python -m benchmarks.paper.cusum_tables --data DIR [--write]."""

import argparse
import os
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    for library in ("OMP", "OPENBLAS", "MKL"):
        os.environ[f"{library}_NUM_THREADS"] = "1"

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.neural_network import MLPRegressor

from benchmarks.read import ordinal
from benchmarks.report import Table, mean_error, replace, versions
from benchmarks.suites.ordinal import SPLITS, mean_absolute
from benchmarks.suites.quality import standard_error
from sklearn_predtron import PredtronOrdinalClassifier

README = Path(__file__).with_name("README.md")
UNITS = 1000
FEATURES = 1000
PATIENCE = 100
MOST_EPOCHS = 5000
LEARNERS = ("hidden, CuSum", "hidden, margin", "raw", "RBFSampler", "Nystroem")
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
    parser.add_argument("--splits", type=int, default=SPLITS, help=f"the first N of {SPLITS}")
    parser.add_argument("--write", action="store_true", help="replace the tables of the README beside this file")
    return parser.parse_args(argv)


def table(title: str, binning: str, arguments: argparse.Namespace) -> Table:
    """The paper's columns and ours in one binning."""
    ours = Table(
        title,
        ["data", "rows", "Benchmark (paper)", "CuSum (paper)", *LEARNERS],
        note=f"MAE in ranks: mean ± standard error of {arguments.splits} splits, **whose partitions are not the paper's**.",
    )
    for data, (name, rows, *printed) in PRINTED.items():
        errors = set_errors(arguments.data, data, binning, arguments.splits)
        cells = [mean_error(found.mean(), standard_error(found)) for found in errors.T]
        ours.rows.append([name, rows, *printed[binning == "len10"], *cells])
        print(title, *ours.rows[-1], sep=" | ", flush=True)
    return ours


def set_errors(folder: Path, data: str, binning: str, splits: int) -> NDArray:
    """Rows: splits; columns: learners."""
    found = ordinal(folder, data, binning, splits)
    return np.array([split_errors(seed, *split) for seed, split in enumerate(found)])


def split_errors(seed: int, X: NDArray, y: NDArray, X_test: NDArray, y_test: NDArray) -> list[float]:
    """Of each learner, in the order of LEARNERS."""
    network = fit_network(seed, X, y)
    figure_1 = PredtronOrdinalClassifier(update="perceptron", average="uniform", random_state=seed)
    default = PredtronOrdinalClassifier(random_state=seed)
    hidden, hidden_test = hidden_output(network, X), hidden_output(network, X_test)
    gamma = 1 / X.shape[1]
    fourier = RBFSampler(gamma=gamma, n_components=FEATURES, random_state=seed).fit(X)
    nystroem = Nystroem(gamma=gamma, n_components=min(FEATURES, len(X)), random_state=seed).fit(X)
    parts = [
        (figure_1, hidden, hidden_test),
        (default, hidden, hidden_test),
        (default, X, X_test),
        *((default, features.transform(X), features.transform(X_test)) for features in (fourier, nystroem)),
    ]
    return [mean_absolute(model.fit(train, y).predict(test), y_test) for model, train, test in parts]


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
