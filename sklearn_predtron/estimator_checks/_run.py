"""All checks of an estimator."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from sklearn_predtron.estimator_checks import _failures, _input_forms, _predictions, _reproducibility, _streams


def all_checks() -> Iterator[Callable[[str, Any], None]]:
    """Yield every check of an estimator.

    Yields
    ------
    callable
        A check, called with a name and an estimator, which is cloned.

    See Also
    --------
    check_predtron_estimator : Runs them.
    sklearn.utils.estimator_checks.check_estimator : Runs those of scikit-learn.

    Examples
    --------
    >>> from sklearn_predtron.estimator_checks import all_checks
    >>> next(all_checks()).__name__
    'check_partial_fit_in_any_split'
    """
    for module in (_streams, _reproducibility, _failures, _input_forms, _predictions):
        for name, check in vars(module).items():
            if name.startswith("check_"):
                yield check


def check_predtron_estimator(estimator: Any) -> None:
    """Run every check of an estimator.

    Parameters
    ----------
    estimator : estimator object
        An instance; it is cloned.

    See Also
    --------
    all_checks : Yields the checks, one by one.
    sklearn.utils.estimator_checks.check_estimator : Runs those of scikit-learn.

    Examples
    --------
    >>> from sklearn_predtron import PredtronBinaryClassifier
    >>> from sklearn_predtron.estimator_checks import check_predtron_estimator
    >>> check_predtron_estimator(PredtronBinaryClassifier(update="perceptron"))
    """
    for check in all_checks():
        check(type(estimator).__name__, estimator)
