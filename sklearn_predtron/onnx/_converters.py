"""Converters of this package for skl2onnx, one per estimator."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sklearn_predtron.families.bipartite import PredtronBipartiteClassifier
from sklearn_predtron.families.classification import PredtronBinaryClassifier, PredtronClassifier
from sklearn_predtron.families.label_ranking import PredtronLabelRanker
from sklearn_predtron.families.multilabel import PredtronMultilabelClassifier
from sklearn_predtron.families.ordinal import PredtronOrdinalClassifier
from sklearn_predtron.families.ranking import PredtronRanker
from sklearn_predtron.families.sequences import PredtronSequenceTagger
from sklearn_predtron.families.structured import Predtron
from sklearn_predtron.features import Auto, PiecewiseLinear, RandomFourier
from sklearn_predtron.onnx._classes import class_outputs, draw_classes
from sklearn_predtron.onnx._graph import Graph
from sklearn_predtron.onnx._maps import column_nodes, draw_features
from sklearn_predtron.onnx._rankings import document_outputs, draw_documents, draw_labels, label_outputs
from sklearn_predtron.onnx._scores import check_linear, draw_terms
from sklearn_predtron.onnx._sets import batch_outputs, draw_batch, draw_sets, set_outputs


class Converter(NamedTuple):
    """Outputs of an estimator, and the nodes that make them."""

    outputs: Callable[[Any, Any], dict[str, Any]]
    draw: Callable[[Graph, Any, str], list[str]]


OF_CLASSES = Converter(class_outputs, draw_classes)
CONVERTERS = {
    PredtronBinaryClassifier: OF_CLASSES,
    PredtronClassifier: OF_CLASSES,
    PredtronOrdinalClassifier: OF_CLASSES,
    PredtronBipartiteClassifier: Converter(batch_outputs, draw_batch),
    PredtronMultilabelClassifier: Converter(set_outputs, draw_sets),
    PredtronRanker: Converter(document_outputs, draw_documents),
    PredtronLabelRanker: Converter(label_outputs, draw_labels),
}
MAPS = (PiecewiseLinear, Auto, RandomFourier)
REFUSED = {
    PredtronSequenceTagger: "the best sequence is searched for, and an ONNX graph could not say that there is none",
    Predtron: "its predictions are decoded by a problem that is written in Python",
}


def register_converters() -> None:
    """Register this package's converters with skl2onnx.

    Then ``skl2onnx.to_onnx`` and ``skl2onnx.convert_sklearn`` take them, alone and as the last step of a pipeline, and the
    feature maps of `sklearn_predtron.features` as any step.  The graph's outputs equal the results of the estimator's methods.
    For classifiers, ``label`` is `predict`, ``scores`` is `decision_function` and ``probabilities`` is `predict_proba`, left
    out where that is an error (after `fit` under ``decision="learned"`` or several epochs with ``cv=0``).  For
    `PredtronRanker`, ``scores`` is `predict` and ``positions`` is `rank` of the rows as one query.  For
    `PredtronLabelRanker`, ``positions`` is `predict` and ``scores`` is `decision_function`.  A graph for float32 inputs
    computes in float32 and differs in the seventh digit, one for float64 (``DoubleTensorType``) or integers in the fifteenth.

    With `features` the input is a table of numbers; categories are numbers, too, and NaN is a missing value.

    A graph cannot raise an error for other NaN and for infinity, as `predict` does.  Its scores are then NaN, and its label is
    the first class, or the label of `reject`.  Inside ``CalibratedClassifierCV`` the probabilities
    are those of Python.  skl2onnx alone converts other estimators that hold one of these, from labels and, if known,
    probabilities, as for classifiers of scikit-learn: compare the predictions.

    Raises
    ------
    ImportError
        If skl2onnx is not installed.
    ValueError
        When an estimator is converted, not here: if it has a kernel; if its `features` have categories that are not numbers or
        are hashed, or are not yet made from the first rows of a stream; if its labels have no type in ONNX; if its weights are
        beyond float32 and the input is not float64; and for `PredtronSequenceTagger` and `Predtron`.

    See Also
    --------
    skl2onnx.to_onnx : Converts a fitted estimator, given some rows of its input.

    Examples
    --------
    >>> import numpy as np
    >>> from onnxruntime import InferenceSession
    >>> from skl2onnx import to_onnx
    >>> from sklearn.datasets import load_iris
    >>> from sklearn_predtron import PredtronClassifier
    >>> from sklearn_predtron.onnx import register_converters
    >>> register_converters()
    >>> X, y = load_iris(return_X_y=True)
    >>> model = PredtronClassifier(random_state=0).fit(X, y)
    >>> graph = to_onnx(model, X[:1].astype(np.float32))
    >>> session = InferenceSession(graph.SerializeToString())
    >>> label, scores = session.run(["label", "scores"], {"X": X.astype(np.float32)})
    >>> bool((label == model.predict(X)).all()), scores.shape
    (True, (150, 3))
    """
    try:
        from skl2onnx import update_registered_converter
    except ImportError as error:
        raise ImportError("register_converters needs skl2onnx: pip install skl2onnx onnxruntime") from error
    for family in [*CONVERTERS, *REFUSED]:
        alias, options = f"SklearnPredtron{family.__name__}", {"raw_scores": [True, False], "zipmap": [False]}
        update_registered_converter(family, alias, check_shapes, convert, parser=parse, options=options)
    for kind in MAPS:  # skl2onnx reads the attribute alias, where there is one
        update_registered_converter(kind, kind.alias, check_shapes, convert_map, parser=parse_map)


def parse(scope: Any, model: Any, inputs: list[Any], custom_parsers: Any = None) -> list[Any]:
    """Declare the outputs of an estimator that can be converted."""
    from skl2onnx import get_model_alias
    from skl2onnx.common.data_types import _guess_numpy_type

    if type(model) in REFUSED:
        raise ValueError(f"{type(model).__name__} is not converted to ONNX: {REFUSED[type(model)]}.")
    check_is_fitted(model)
    check_linear(model)
    real = real_type(model, inputs)
    check_width(model, inputs)
    check_predicts(model)
    operator = scope.declare_local_operator(get_model_alias(type(model)), model)
    operator.inputs = inputs
    declared = CONVERTERS[type(model)].outputs(model, real)
    if has_two_columns(model, declared, scope):
        declared["scores"] = (real, [None, 2])
    for name, (dtype, shape) in declared.items():
        operator.outputs.append(scope.declare_local_variable(name, _guess_numpy_type(np.dtype(dtype), shape)))
    return list(operator.outputs)


def check_predicts(model: Any) -> None:
    """Raise the error of `predict` under the present parameters."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of names that the features have elsewhere
        model.predict(np.zeros((1, model.n_features_in_)))


def real_type(model: Any, inputs: list[Any]) -> Any:
    """Return the type in which a graph computes."""
    from skl2onnx.common.data_types import BooleanTensorType, DoubleTensorType, FloatTensorType, Int32TensorType, Int64TensorType

    kinds = (DoubleTensorType, FloatTensorType, Int32TensorType, Int64TensorType, BooleanTensorType)
    if len(inputs) != 1 or not isinstance(inputs[0].type, kinds):
        raise ValueError(
            f"{type(model).__name__} has the inputs {[value.type for value in inputs]}; accepted is one matrix of numbers, as "
            "sklearn.compose.ColumnTransformer makes of several columns."
        )
    return np.float32 if isinstance(inputs[0].type, FloatTensorType | BooleanTensorType) else np.float64


def check_width(model: Any, inputs: list[Any]) -> None:
    """Raise an error unless a matrix has the model's features."""
    shape = inputs[0].type.shape
    if len(shape) == 2 and shape[1] not in (None, model.n_features_in_):
        raise ValueError(f"The input has {shape[1]} features; accepted are the {model.n_features_in_} of {type(model).__name__}.")


def has_two_columns(model: Any, declared: dict[str, Any], settings: Any) -> bool:
    """Return whether scores of two classes get two columns."""
    if "label" not in declared or len(declared["scores"][1]) > 1:
        return False
    return puts_out_scores(model, settings)


def puts_out_scores(model: Any, settings: Any) -> bool:
    """Return the option raw_scores; the option zipmap, which skl2onnx gives to classifiers in pipelines, is accepted too."""
    given = settings.options or {}
    return any(given.get(key, {}).get("raw_scores", False) for key in (type(model), id(model)))


def check_shapes(operator: Any) -> None:
    """Keep the declared output shapes."""


def convert(scope: Any, operator: Any, container: Any) -> None:
    """Add the nodes of an estimator."""
    model, X = operator.raw_operator, operator.inputs[0]
    check_linear(model)  # here, too: a converter of another estimator that holds this one does not parse it
    graph = Graph(scope, container, real_type(model, operator.inputs))
    check_width(model, operator.inputs)
    outputs, draw = CONVERTERS[type(model)]
    terms = draw_terms(graph, model, graph.cast(X.full_name, graph.real))
    names, values = outputs(model, graph.real), draw(graph, model, terms)
    if has_two_columns(model, names, container):
        values[1] = graph.of_both(values[1])
    found = dict(zip(names, values[: len(names)], strict=True))  # probabilities by which a graph decides may be no output
    for value, output in zip(wanted(found, operator, container), operator.outputs, strict=True):
        container.add_node("Identity", [value], [output.full_name], name=scope.get_unique_operator_name("Identity"))


def parse_map(scope: Any, fitted: Any, inputs: list[Any], custom_parsers: Any = None) -> list[Any]:
    """Declare the outputs of a feature map that can be converted."""
    from skl2onnx import get_model_alias
    from skl2onnx.common.data_types import _guess_numpy_type

    check_is_fitted(fitted)
    column_nodes(fitted)
    kind = _guess_numpy_type(np.dtype(real_type(fitted, inputs)), [None, fitted.n_features_out_])
    operator = scope.declare_local_operator(get_model_alias(type(fitted)), fitted)
    operator.inputs = inputs
    operator.outputs.append(scope.declare_local_variable("features", kind))
    return list(operator.outputs)


def convert_map(scope: Any, operator: Any, container: Any) -> None:
    """Add the nodes of a feature map."""
    fitted, X = operator.raw_operator, operator.inputs[0]
    graph = Graph(scope, container, real_type(fitted, operator.inputs))
    check_width(fitted, operator.inputs)  # not known yet as it is parsed, of some columns of a table
    made = draw_features(graph, fitted, graph.cast(X.full_name, graph.real))
    container.add_node("Identity", [made], [operator.outputs[0].full_name], name=scope.get_unique_operator_name("Identity"))


def wanted(found: dict[str, str], operator: Any, settings: Any) -> list[str]:
    """Return the requested outputs: all, or label and scores."""
    if len(operator.outputs) == len(found):
        return list(found.values())
    scores = puts_out_scores(operator.raw_operator, settings)
    return [found["label"], found["scores"] if scores else found.get("probabilities", found["scores"])]
