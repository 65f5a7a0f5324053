"""Builds the compiled parts; everything else about the package is in pyproject.toml.

SKLEARN_PREDTRON_BUILD names a variant: "bounds" checks every index and every memoryview, "sanitize" runs under AddressSanitizer
and UndefinedBehaviorSanitizer, "threads" under ThreadSanitizer, and "plain" has the C that compilers without vectors take,
Microsoft's for one.
"""

import os
import sys
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

PACKAGE = Path("sklearn_predtron")
C_SOURCES = {
    "_core/lock": "_core/shared_lock.c",
    "_core/rows": "_core/simd.c",
    "datasets/_svmlight": "datasets/svmlight.c",
    "features/_row_map": "features/row_map.c",
    "norms/_feature_statistics": "norms/scaling.c",
    "norms/_p_norms": "norms/dual_step.c",
    "norms/_rkhs": "norms/gaussian.c",
    "problems/inference/_chain_inference": "problems/inference/viterbi.c",
}
# What takes part in every round, or loops over numbers.  The others spend their time in Python, or in these, and to compile them
# without vectors and the like costs half as much.
LOOPS = {
    "_core/averages",
    "_core/intercept",
    "_core/learner",
    "_core/lock",
    "_core/predictors",
    "_core/replay",
    "_core/rows",
    "_core/score_map",
    "datasets/_blocks",
    "datasets/_first_words",
    "datasets/_svmlight",
    "datasets/_table",
    "decisions/_expected_values",
    "decisions/_calibration_curves",
    "families/labels/label_readers",
    "families/input/stream",
    "features/_grid",
    "features/_made_rows",
    "features/_row_map",
    "norms/_averaging",
    "norms/_block_scores",
    "norms/_budget",
    "norms/_dual",
    "norms/_feature_statistics",
    "norms/_l2",
    "norms/_monotone",
    "norms/_opposite",
    "norms/_p_norms",
    "norms/_rkhs",
    "norms/_scaled",
    "norms/_trace",
    "norms/_wrapped",
    "problems/_chain",
    "problems/_finite",
    "problems/_label_sets",
    "problems/_ranking",
    "problems/_ranking_losses",
    "problems/inference/_ranking_inference",
    "problems/inference/_residual",
    "problems/inference/_sorting",
    "problems/inference/_chain_inference",
    "updates/_rules",
}
SANITIZERS = {
    "sanitize": ["-fsanitize=address,undefined", "-fno-sanitize-recover=undefined", "-fno-omit-frame-pointer", "-g1"],
    "threads": ["-fsanitize=thread", "-fno-omit-frame-pointer", "-g1"],
}
FLAGS = {
    "": ["-O3", "-g0", "-fno-asynchronous-unwind-tables"],  # nothing unwinds the stack of C
    "plain": ["-O3", "-g0", "-fno-asynchronous-unwind-tables", "-DSKLEARN_PREDTRON_PLAIN"],
    "bounds": ["-O2", "-g0"],
    **{name: ["-O1", *flags] for name, flags in SANITIZERS.items()},
}
LINK = ["-Wl,--build-id=none", "-Wl,--strip-all"] if sys.platform == "linux" else []  # there is nothing for debuggers
MICROSOFT = ["/O2", "/std:c11"]  # of any variant: what is checked, Cython has written

if missing := [place for place in sorted({*LOOPS, *C_SOURCES}) if not (PACKAGE / f"{place}.pyx").exists()]:
    raise SystemExit(f"setup.py names modules that are not there: {', '.join(missing)}.")
variant = os.environ.get("SKLEARN_PREDTRON_BUILD", "")
if variant not in FLAGS:
    raise SystemExit(f"SKLEARN_PREDTRON_BUILD={variant!r} is not known; accepted are {', '.join(map(repr, FLAGS))}.")
SHARED, SMALL = ([level if flag == "-O3" else flag for flag in FLAGS[variant]] for level in ("-O2", "-O1"))
DIRECTIVES = {
    "language_level": 3,
    "boundscheck": variant == "bounds",
    "initializedcheck": variant == "bounds",
    "wraparound": False,
    "cdivision": True,
    "auto_pickle": False,  # a class says itself how it is saved, and checks what it is given
    "freethreading_compatible": True,  # the lock of a model orders its calls, with the interpreter's lock or without
}

# A file that is new whenever the variant is another: what was compiled before is then compiled again.
stamp = Path("build/variant")
if not stamp.exists() or stamp.read_text() != variant:
    stamp.parent.mkdir(exist_ok=True)
    stamp.write_text(variant)


def extension(module: str, *sources: str, flags: list[str] = FLAGS[variant]) -> Extension:
    headers = [str(path) for path in sorted(PACKAGE.rglob("*.h"))]
    return Extension(
        module,
        list(sources),
        include_dirs=[str(PACKAGE / folder) for folder in ("_core", "datasets", "features", "norms", "problems/inference")],
        depends=[*headers, str(stamp)],
        extra_compile_args=flags,
        extra_link_args=SANITIZERS.get(variant, LINK),
    )


def compiled(source: Path) -> Extension:
    place = source.relative_to(PACKAGE).with_suffix("").as_posix()
    by_hand = [str(PACKAGE / C_SOURCES[place])] if place in C_SOURCES else []
    flags = FLAGS[variant] if place in LOOPS else SMALL
    return extension(".".join(source.with_suffix("").parts), str(source), *by_hand, flags=flags)


class Build(build_ext):
    """Compiles on all cores, by the flags that the compiler knows."""

    def finalize_options(self):
        super().finalize_options()
        self.parallel = self.parallel or os.cpu_count()  # editable builds ask no configuration

    def build_extensions(self):
        if self.compiler.compiler_type == "msvc":
            for part in self.extensions:
                part.extra_compile_args = MICROSOFT
        super().build_extensions()


# What Cython's modules have in common, compiled once; it is listed in sys.modules without its package, too.
shared = "sklearn_predtron._core._cython_sklearn_predtron"
setup(
    cmdclass={"build_ext": Build},
    ext_modules=cythonize(
        [
            extension(shared, f"build/cython{variant}/_cython_sklearn_predtron.c", flags=SHARED),
            *map(compiled, sorted(PACKAGE.rglob("*.pyx"))),
        ],
        build_dir=f"build/cython{variant}",
        compiler_directives=DIRECTIVES,
        shared_utility_qualified_name=shared,
        nthreads=os.cpu_count() or 1,
        show_all_warnings=False,
    ),
)
