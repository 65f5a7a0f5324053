"""The number of threads of a computation."""

import sys


def count_threads(*, is_long: bool) -> int:
    """Return the number of threads of a computation.

    A configuration of joblib says it.  By default a long computation has as many threads as the parallel loops of scikit-learn:
    ``OMP_NUM_THREADS`` and limits of threadpoolctl are respected, and a job of joblib has one thread.
    """
    if "joblib" not in sys.modules:  # as in a program with a predictor alone, which does without these imports
        return 1
    from joblib import effective_n_jobs
    from joblib.parallel import get_active_backend
    from sklearn.utils._openmp_helpers import _openmp_effective_n_threads

    backend, n_jobs = get_active_backend()
    if n_jobs is None and backend.nesting_level == 0:
        return _openmp_effective_n_threads() if is_long else 1
    return effective_n_jobs(None)
