"""The bare loops of bare.c, compiled in the way of the package's own C when they are first asked for."""

from ctypes import CDLL, c_double, c_ssize_t
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from numpy.ctypeslib import ndpointer
from numpy.typing import NDArray
from scipy import sparse
from setuptools import Distribution, Extension
from setuptools.command.build_ext import build_ext
from setuptools.errors import CCompilerError, ExecError, PlatformError

HERE = Path(__file__).parent
FLAGS = ["-O3", "-g0", "-fno-asynchronous-unwind-tables"]  # those of setup.py
DOUBLES, INTEGERS = (ndpointer(dtype, ndim=1, flags="C_CONTIGUOUS") for dtype in (np.float64, np.int32))
FUNCTIONS = {
    "sum": [c_ssize_t, DOUBLES],
    "dense": [c_ssize_t, c_ssize_t, DOUBLES, DOUBLES],
    "csr": [c_ssize_t, INTEGERS, INTEGERS, DOUBLES, DOUBLES],
}


@cache
def library() -> CDLL | None:
    """The functions of bare.c; None where no compiler makes them."""
    extension = Extension(
        "bare",
        [str(HERE / "bare.c")],
        include_dirs=[str(HERE.parent / "sklearn_predtron" / "_core")],
        extra_compile_args=FLAGS,
    )
    command = build_ext(Distribution({"name": "bare", "ext_modules": [extension]}))
    with TemporaryDirectory(ignore_cleanup_errors=True) as directory:
        command.build_lib = command.build_temp = directory
        command.ensure_finalized()
        try:
            command.run()
        except (CCompilerError, ExecError, PlatformError):
            return None
        functions = CDLL(command.get_ext_fullpath("bare"))
    for name, types in FUNCTIONS.items():
        function = getattr(functions, name)
        function.argtypes, function.restype = types, c_double
    return functions


def read(X: NDArray) -> float:
    """The sum of all values: what reading them takes."""
    return library().sum(X.size, X.ravel())


def scores(X: NDArray | sparse.csr_matrix, w: NDArray) -> float:
    """The sum of the scores of all rows."""
    if sparse.issparse(X):
        return library().csr(X.shape[0], X.indptr, X.indices, X.data, w)
    return library().dense(*X.shape, X.ravel(), w)
