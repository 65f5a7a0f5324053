"""Sphinx configuration."""

import re
import sys
from importlib.metadata import version as installed
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from docutils import nodes
from draw_choice import draw_choice
from make_pictures import make_pictures

SOURCE = Path(__file__).parent
project = "sklearn_predtron"
author = "The sklearn_predtron developers"
copyright = "2026, The sklearn_predtron developers"
version = release = installed("sklearn_predtron")

extensions = [
    "sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx.ext.mathjax", "numpydoc", "sphinx_gallery.gen_gallery",
    "sphinx_copybutton", "sphinx_design", "myst_parser", "sphinx-mathjax-offline",
]  # fmt: skip
default_role = "code"
templates_path = ["templates"]
exclude_patterns = ["_build", "examples"]  # the gallery has the pages of the examples
html_theme = "pydata_sphinx_theme"
html_title = f"sklearn_predtron {version}"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_sidebars = {page: [] for page in ["install", "theory", "board", "glossary", "changelog", "contributing"]}
html_context = {"default_mode": "auto"}
html_show_sourcelink = False
html_theme_options = {
    "logo": {"text": "sklearn_predtron"},
    "navbar_align": "left",
    "navbar_end": ["theme-switcher"],
    "header_links_before_dropdown": 5,
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "back_to_top_button": False,
    "footer_start": ["copyright"],
    "footer_end": [],
    "external_links": [{"name": "scikit-learn", "url": "https://scikit-learn.org/stable/"}],
}

numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
autodoc_typehints = "none"
autodoc_member_order = "groupwise"  # methods before attributes
autodoc_member_order = "groupwise"  # methods before attributes
toc_object_entries_show_parents = "hide"
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
myst_heading_anchors = 3
THEMES = [
    "costs_and_rejects", "classes", "ordinal", "multilabel", "ranking", "sequences", "streams", "norms", "theory", "problems"
]  # fmt: skip
sphinx_gallery_conf = {
    "examples_dirs": "examples",
    "subsection_order": [f"examples/{theme}" for theme in THEMES],
    "gallery_dirs": "generated/gallery",
    "backreferences_dir": "generated/backreferences",
    "doc_module": ("sklearn_predtron",),
    "reference_url": {"sklearn_predtron": None},
    "thumbnail_size": (640, 448),
    "abort_on_example_error": True,
    "min_reported_time": 600,
    "show_memory": False,
    "show_signature": False,
    "download_all_examples": False,
    "write_computation_times": False,
}


def guides(source):
    """Return, for each public name, the pages of the guide that link to it."""
    pages = {}
    chapters = sorted(path for path in (source / "user_guide").glob("*.rst") if path.stem != "index")
    for path in [*chapters, source / "theory.rst"]:
        page = "/" + path.relative_to(source).with_suffix("").as_posix()
        for name in re.findall(r":(?:class|func):`~(sklearn_predtron[\w.]*)`", path.read_text()):
            pages.setdefault(name, {})[page] = None
    return pages


autosummary_generate = True
autosummary_context = {"guides": guides(SOURCE)}
DOCUMENTS = {"changelog": "CHANGELOG.md", "contributing": "CONTRIBUTING.md"}


def read_document(app, docname, content):
    """Show a document of the checkout as a page, its links those of pages."""
    if docname in DOCUMENTS:
        text = (SOURCE.parent / DOCUMENTS[docname]).read_text()
        for page, document in DOCUMENTS.items():
            text = text.replace(f"]({document}", f"]({page}.md")
        content[0] = re.sub(r"\]\(doc/([\w/]+\.rst)(?:#[\w-]+)?\)", r"](\1)", text)


def escape(app, what, name, obj, options, lines):
    """Docstrings are plain text first: |W| is a length, and coef_ a name; scikit-learn's own refer to its pages."""
    for i, line in enumerate(lines):
        if name.endswith(".set_output"):
            line = lines[i] = re.sub(r":ref:`([^<`]*?)(\s*<[^`]*>)?`", r"\1", line)
        if not line.lstrip().startswith((">>>", "...")):
            lines[i] = re.sub(r"(?<=[( ])(\w+)_(?=[,)])", r"\1\_", line.replace("|", r"\|"))


def describe_thumbnails(app, doctree, docname):
    """Give the pictures of the gallery, which have no words, the titles that stand below them."""
    for image in doctree.findall(nodes.image):
        if not image.get("alt"):
            image["alt"] = image.next_node(nodes.reference, ascend=True).astext()


def keep_percentages(app, doctree):
    """A number and its percent sign stay on one line."""
    for text in list(doctree.findall(nodes.Text)):
        if not isinstance(text.parent, (nodes.literal, nodes.math, nodes.FixedTextElement)):
            text.parent.replace(text, nodes.Text(re.sub(r"(?<=\d) %", "\N{NO-BREAK SPACE}%", text)))


def draw(app):
    """Draw the pictures of the guide."""
    pictures = Path(app.srcdir) / "pictures"
    make_pictures(pictures)
    (pictures / "choosing.svg").write_text(draw_choice())


def setup(app):
    app.connect("builder-inited", draw, priority=100)  # before the gallery
    app.connect("source-read", read_document, priority=100)
    app.connect("doctree-read", keep_percentages)
    app.connect("doctree-resolved", describe_thumbnails)
    app.connect("autodoc-process-docstring", escape, priority=100)
