"""Estimators as ONNX graphs: converters for skl2onnx."""

from sklearn_predtron.onnx._converters import register_converters

__all__ = ["register_converters"]

register_converters.__module__ = __name__
