"""Sphinx configuration."""

import re
import sys
from importlib.metadata import version as installed
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from make_pictures import make_pictures

project = "sklearn_predtron"
author = "The sklearn_predtron developers"
copyright = "2026, The sklearn_predtron developers"
version = release = installed("sklearn_predtron")

extensions = ["sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx.ext.mathjax", "numpydoc"]
templates_path = ["templates"]
exclude_patterns = ["_build"]
html_theme = "alabaster"
html_theme_options = {"description": "Mistake-driven online learning", "page_width": "1100px"}

autosummary_generate = True
autodoc_typehints = "none"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False


def escape(app, what, name, obj, options, lines):
    """Docstrings are plain text first: |W| is a length, and coef_ a name."""
    for i, line in enumerate(lines):
        if not line.lstrip().startswith((">>>", "...")):
            lines[i] = re.sub(r"(?<=\()(\w+)_(?=[,)])", r"\1\_", line.replace("|", r"\|"))


def setup(app):
    app.connect("builder-inited", lambda app: make_pictures(Path(app.srcdir) / "pictures"))
    app.connect("autodoc-process-docstring", escape, priority=100)
