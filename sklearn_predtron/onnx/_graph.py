"""The nodes of a converted model, with named values."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

OLDEST = 13  # the first opset in which all nodes have the form that they are given here


class Graph:
    """The part of an ONNX graph that stands for one estimator.

    Parameters
    ----------
    scope, container : object
        Those of skl2onnx, which find names and keep the nodes.
    real : type
        The type of computation, numpy.float32 or numpy.float64.
    """

    def __init__(self, scope: Any, container: Any, real: Any):
        if container.target_opset < OLDEST:
            raise ValueError(f"target_opset={container.target_opset} is too old; accepted are {OLDEST} and later ones.")
        self.scope = scope
        self.container = container
        self.real = real

    def node(self, kind: str, *inputs: str, n_outputs: int = 1, **attributes: Any) -> Any:
        """Add a node; return the names of its outputs."""
        outputs = [self.scope.get_unique_variable_name(kind.lower()) for _ in range(n_outputs)]
        name = self.scope.get_unique_operator_name(kind)
        self.container.add_node(kind, list(inputs), outputs, name=name, **attributes)
        return outputs[0] if n_outputs == 1 else outputs

    def constant(self, values: Any, dtype: Any) -> str:
        """Add a constant; return its name. Numbers that the type cannot hold raise an error."""
        from onnx.helper import np_dtype_to_tensor_dtype

        values = np.asarray(values)
        with np.errstate(over="ignore", under="ignore"):
            held = values.astype(dtype)
        if held.dtype.kind == "f" and not np.isfinite(held).all():
            raise ValueError(
                f"The weights reach {np.abs(values).max():.3g}, which {np.dtype(dtype)} does not hold; convert for an input of "
                "DoubleTensorType."
            )
        name = self.scope.get_unique_variable_name("constant")
        content = [text.encode() for text in held.tolist()] if held.dtype == object else held.ravel()
        self.container.add_initializer(name, np_dtype_to_tensor_dtype(held.dtype), list(held.shape), content)
        return name

    def cast(self, value: str, dtype: Any) -> str:
        """Return a value in another type."""
        from onnx.helper import np_dtype_to_tensor_dtype

        return self.node("Cast", value, to=int(np_dtype_to_tensor_dtype(np.dtype(dtype))))

    def flat(self, value: str) -> str:
        """Return a column as a value of one dimension."""
        return self.node("Reshape", value, self.constant([-1], np.int64))

    def times(self, X: str, weights: NDArray) -> str:
        """Return X weights."""
        return self.node("MatMul", X, self.constant(weights, self.real))

    def plus(self, value: str, offset: NDArray) -> str:
        """Return value + offset."""
        return self.node("Add", value, self.constant(offset, self.real))

    def minus(self, value: str, offset: NDArray) -> str:
        """Return value - offset; digits of the offset beyond the type's precision matter where both are near."""
        with np.errstate(over="ignore", invalid="ignore"):
            rest = offset - offset.astype(self.real).astype(np.float64)
        found = self.node("Sub", value, self.constant(offset, self.real))
        return self.node("Sub", found, self.constant(rest, self.real)) if rest.any() else found

    def clip(self, value: str, least: float, most: float) -> str:
        """Return a value clipped to the range from `least` to `most`."""
        return self.node("Clip", value, self.constant(least, self.real), self.constant(most, self.real))

    def linear(self, X: str, weights: NDArray, offset: NDArray) -> str:
        """Return X weights + offset."""
        return self.plus(self.times(X, weights), offset)

    def sigmoid(self, log_odds: str) -> str:
        """Return 1 / (1 + e^-z) of log-odds z."""
        return self.node("Sigmoid", log_odds)

    def column(self, value: str, j: int) -> str:
        """Return a column, in one dimension."""
        return self.node("Gather", value, self.constant(j, np.int64), axis=1)

    def columns(self, value: str, which: NDArray) -> str:
        """Return some columns, in the given order."""
        return self.node("Gather", value, self.constant(which, np.int64), axis=1)

    def reshaped(self, value: str, *shape: int) -> str:
        """Return the rows of a value in another shape, without zeros."""
        return self.node("Reshape", value, self.constant([0, *shape], np.int64))

    def as_column(self, value: str) -> str:
        """Return a value of one dimension as a column."""
        return self.node("Reshape", value, self.constant([-1, 1], np.int64))

    def of_both(self, scores: str) -> str:
        """Return both classes' scores, given those of the second."""
        column = self.as_column(scores)
        return self.node("Concat", self.node("Neg", column), column, axis=1)

    def positive(self, scores: str) -> str:
        """Return the mask of the scores above 0."""
        return self.node("Greater", scores, self.constant(0, self.real))

    def positions(self, scores: str, n: str, axis: int) -> str:
        """Return the ranks of n scores from 0, stable in ties."""
        order = self.node("TopK", scores, n, n_outputs=2, axis=axis)[1]
        return self.node("TopK", order, n, n_outputs=2, axis=axis, largest=0)[1]

    def n_rows(self, value: str) -> str:
        """Return the number of rows, in one dimension."""
        return self.node("Gather", self.node("Shape", value), self.constant([0], np.int64))
