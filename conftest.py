"""What pytest collects, and how matplotlib draws there."""

import os
from importlib.util import find_spec

os.environ.setdefault("MPLBACKEND", "Agg")
collect_ignore = (
    [] if find_spec("matplotlib") else ["sklearn_predtron/inspection", "doc/user_guide/inspection.rst", "doc/make_pictures.py"]
)
