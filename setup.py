"""Builds the compiled core; everything else about the package is in pyproject.toml.

SKLEARN_PREDTRON_BUILD names a variant: "bounds" checks every index and every memoryview, "sanitize" runs under AddressSanitizer
and UndefinedBehaviorSanitizer.
"""

import os
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup

CORE = Path("sklearn_predtron/_core")
BY_HAND = {
    "rows": ["kernels.c"],
    "link": ["kernels.c"],
    "p_norms": ["kernels.c"],
    "scaled": ["scaling.c"],
    "rkhs": ["gaussian.c"],
}
SANITIZE = ["-fsanitize=address,undefined", "-fno-sanitize-recover=undefined", "-fno-omit-frame-pointer", "-g1"]
VARIANTS = {"": ["-O3", "-g0"], "bounds": ["-O2", "-g0"], "sanitize": ["-O1", *SANITIZE]}

variant = os.environ.get("SKLEARN_PREDTRON_BUILD", "")
if variant not in VARIANTS:
    raise SystemExit(f"SKLEARN_PREDTRON_BUILD={variant!r} is not known; accepted are {', '.join(map(repr, VARIANTS))}.")

# A file that is new whenever the variant is another: what was compiled before is then compiled again.
stamp = Path("build/variant")
if not stamp.exists() or stamp.read_text() != variant:
    stamp.parent.mkdir(exist_ok=True)
    stamp.write_text(variant)

# What Cython's modules have in common, compiled once; it is listed in sys.modules without its package, too.
shared = "sklearn_predtron._core._cython_sklearn_predtron"
by_hand = [str(path) for path in sorted(CORE.glob("*.h"))]
extensions = [
    Extension(
        f"sklearn_predtron._core.{source.stem}",
        [str(source), *(str(CORE / name) for name in BY_HAND.get(source.stem, []))],
        include_dirs=[str(CORE)],
        depends=[*by_hand, str(stamp)],
        extra_compile_args=VARIANTS[variant],
        extra_link_args=SANITIZE if variant == "sanitize" else [],
    )
    for source in sorted(CORE.glob("*.pyx"))
]
directives = {
    "language_level": 3,
    "boundscheck": variant == "bounds",
    "initializedcheck": variant == "bounds",
    "wraparound": False,
    "cdivision": True,
    "auto_pickle": False,  # a class says itself how it is saved, and checks what it is given
}
setup(
    ext_modules=cythonize(
        [
            Extension(
                shared,
                [f"build/cython{variant}/_cython_sklearn_predtron.c"],
                depends=[str(stamp)],
                extra_compile_args=VARIANTS[variant],
            ),
            *extensions,
        ],
        build_dir=f"build/cython{variant}",
        compiler_directives=directives,
        shared_utility_qualified_name=shared,
        nthreads=os.cpu_count() or 1,
        show_all_warnings=False,
    )
)
