"""Sphinx configuration."""

from importlib.metadata import version as installed

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
