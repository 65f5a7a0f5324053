"""Without the packages of an extra its module is there, and says how to get them."""

import importlib
import sys

import pytest

from sklearn_predtron import PredtronClassifier


@pytest.mark.parametrize(
    ("package", "module", "packages", "call"),
    [
        ("skl2onnx", "onnx", "skl2onnx onnxruntime", lambda found: found.register_converters()),
        ("river", "river", "river", lambda found: found.to_river(PredtronClassifier())),
    ],
)
def test_the_packages_are_named(package, module, packages, call, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.delitem(sys.modules, "sklearn_predtron.river._wrappers", raising=False)
    found = importlib.import_module(f"sklearn_predtron.{module}")
    with pytest.raises(ImportError, match=rf"needs {package}: pip install {packages}$"):
        call(found)
