"""What pytest collects, and how matplotlib draws there."""

import os
from importlib.util import find_spec

os.environ.setdefault("MPLBACKEND", "Agg")
NEEDED = {
    "matplotlib": ["sklearn_predtron/inspection", "doc/user_guide/inspection.rst", "doc/make_pictures.py"],
    "onnxruntime": ["sklearn_predtron/onnx"],
    "river": ["sklearn_predtron/river", "doc/user_guide/river.rst"],
}
collect_ignore = [path for package, paths in NEEDED.items() if not find_spec(package) for path in paths]
