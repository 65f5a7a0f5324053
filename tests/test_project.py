"""What the project says of itself holds: hooks, links, typed package, changes."""

import re
import subprocess
from pathlib import Path

import pytest

import sklearn_predtron

ROOT = Path(__file__).parents[1]
PACKAGE = Path(sklearn_predtron.__file__).parent
checkout = pytest.mark.skipif(not (ROOT / ".ci" / "run").exists(), reason="the tests do not run from a checkout")


@checkout
def test_hooks_are_the_linters_of_ci():
    hooks = re.findall(r"^ +entry: (.+)$", (ROOT / ".pre-commit-config.yaml").read_text(), re.M)
    linters = re.findall(r"^\.venv/bin/((?:ruff|cython-lint|mypy)\b.*)$", (ROOT / ".ci" / "run").read_text(), re.M)
    assert hooks == linters and len(hooks) == 4


# Files that pip, setuptools, pytest or GitHub look for at the top level.
FOR_TOOLS = {
    "CHANGELOG.md", "CITATION.cff", "CODE_OF_CONDUCT.md", "CONTRIBUTING.md", "LICENSE", "MANIFEST.in", "SECURITY.md",
    "conftest.py", "setup.py",
}  # fmt: skip


@checkout
def test_the_top_level():
    """The package, its tests, benchmarks and pages, and what tools look for."""
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True)
    if tracked.returncode:
        pytest.skip("the checkout is not one of git")
    found = {path.partition("/")[0] for path in tracked.stdout.splitlines() if not path.startswith(".")}
    own = {"README.md", "benchmarks", "doc", "pyproject.toml", "setup.cfg", "sklearn_predtron", "tests"}
    assert found - FOR_TOOLS == own


@checkout
@pytest.mark.parametrize("document", ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"])
def test_links_lead_to_files(document):
    """Links within the repository name files that exist, and anchors name headings."""
    for target in re.findall(r"\]\((?!https?:)([^)]+)\)", (ROOT / document).read_text()):
        path, _, anchor = target.partition("#")
        text = (ROOT / (path or document)).read_text()
        headings = re.findall(r"^#+ (.+)$|^(\w.*)\n[=~-]{3,}$|^\.\. _([\w-]+):$", text, re.M)
        anchors = {re.sub(r"[^\w -]", "", "".join(heading).lower()).replace(" ", "-") for heading in headings}
        assert not anchor or anchor in anchors, f"{document}: {target}"


@checkout
def test_paths_in_contributing_exist():
    text = (ROOT / "CONTRIBUTING.md").read_text()
    for path in re.findall(r"`((?:tests|doc|benchmarks|sklearn_predtron|\.ci)/[\w./-]*)`", text):
        assert (ROOT / path).exists(), path
    for folder in (path for path in PACKAGE.iterdir() if path.is_dir() and not path.name.startswith("__")):
        assert f"`{folder.name}/`" in text, f"CONTRIBUTING.md does not say which tests are those of {folder.name}/"


@checkout
def test_changelog_has_this_version():
    version = re.sub(r"\.dev\d+$", "", sklearn_predtron.__version__)
    assert re.search(rf"^## {re.escape(version)}\b", (ROOT / "CHANGELOG.md").read_text(), re.M)


def test_the_package_is_typed():
    assert (PACKAGE / "py.typed").exists()
