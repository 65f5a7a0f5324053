"""What an installation consists of, for reports of errors."""

from __future__ import annotations

import os
import platform
import sys
from importlib import metadata

from sklearn_predtron._support.version import __version__

NEEDED = ("numpy", "scipy", "scikit-learn", "joblib")
OPTIONAL = ("pandas", "polars", "pyarrow", "matplotlib", "rich", "dask", "river", "skl2onnx", "onnx")


def show_versions() -> None:
    """Print the versions of the package, of what it uses and of the system, for reports of errors.

    See Also
    --------
    sklearn.show_versions : The versions and threads of scikit-learn.

    Examples
    --------
    >>> import sklearn_predtron
    >>> sklearn_predtron.show_versions()  # doctest: +ELLIPSIS
    sklearn_predtron: ...
    Python: ...
    """
    found = {"sklearn_predtron": __version__, "Python": sys.version.replace("\n", " "), "platform": platform.platform()}
    found |= {"CPUs": f"{os.cpu_count()}, {platform.machine()}", "OMP_NUM_THREADS": os.environ.get("OMP_NUM_THREADS", "not set")}
    for name in (*NEEDED, *OPTIONAL):
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            found[name] = "not installed"
    print("\n".join(f"{name}: {value}" for name, value in found.items()))
