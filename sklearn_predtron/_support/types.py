"""Types for results of `fit` and names of parameters; editors complete the names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar

from numpy.typing import NDArray

if TYPE_CHECKING:
    from typing import Self as Self

Method = TypeVar("Method", bound=Callable[..., Any])


class HoldsArray(Protocol):
    """A data frame, or any object convertible to an array."""

    def __array__(self) -> Any:
        """Return the array."""


# NumPy's ArrayLike takes strings, and so any misspelt name.
Numbers = NDArray | HoldsArray | Sequence[Sequence[float] | NDArray]
Costs = Numbers | dict[Any, Any]
OfCounts = Callable[[Any, Any, Any, Any], Any]  # true positives, false positives, false negatives and true negatives
OfPositions = Callable[[NDArray], Any]

# ------------------------------------------------------------------------------------------------------- of all estimators

AutoName = Literal["auto"]
FeaturesName = Literal["piecewise", "auto", "fourier"]
AverageName = Literal["linear", "uniform", "auto"]
ClassWeightName = Literal["balanced"]
NormName = Literal["auto", "l2", "l1", "group", "trace", "scaled", "rkhs"]
TaggerNormName = Literal["auto", "l2", "scaled"]
TaggerScalingName = Literal["auto", "length"]

UpdateName = Literal["adaptive", "predtron", "loss_driven", "perceptron", "passive_aggressive", "subgradient"]
OrdinalUpdateName = UpdateName | Literal["prank"]
RankingUpdateName = UpdateName | Literal["slam", "max_pair", "listnet"]
LabelRankingUpdateName = RankingUpdateName | Literal["mmp"]

# ------------------------------------------------------------------------------------------------------------ of a family

TableLossName = Literal["zero_one", "absolute", "squared"]
SetLossName = Literal[
    "hamming",
    "subset_zero_one",
    "error_set_size",
    "f1",
    "jaccard",
    "balanced",
    "g_mean",
    "precision_at_k",
    "recall_at_k",
]
BatchLossName = SetLossName | Literal["break_even", "auc", "ap"]
RankingLossName = Literal["ndcg", "ap", "swapped_pairs", "ranking_zero_one", "kendall_tau"]
SequenceLossName = Literal["auto", "hamming", "zero_one"]

CodeName = Literal["onehot", "simplex", "thermometer", "shared"]
OrdinalCodeName = CodeName | AutoName
BinaryCodeName = CodeName | Literal["sign"]
SetRepresentationName = Literal["sign_vector"]
PositionsName = Literal["log", "linear", "power", "reciprocal"]
LabelPositionsName = PositionsName | Literal["auto", "pairwise"]

DecisionName = Literal["learned", "expected_cost"]
BinaryDecisionName = DecisionName | Literal["f1", "balanced"]
SetDecisionName = DecisionName | Literal["macro_f1", "micro_f1"]
BatchDecisionName = Literal["fitted", "learned"]
ConstraintName = Literal["bio", "observed"]


# ------------------------------------------------------------------------------------------------------------- of parts

TheoryName = Literal["theory"]
StepOfRankingName = Literal["theory", "invsqrt"]
FadingStepName = Literal["invsqrt"]
PegasosName = Literal["pegasos"]
VariantName = Literal["pa", "pa1", "pa2"]
CompetitorName = Literal["augmented", "predicted"]
TargetName = Literal["loss", "constant"]
LabelCostName = Literal["is_error", "error_set", "normalised"]
PairWeightsName = Literal["uniform", "max", "random"]
KernelName = Literal[
    "additive_chi2",
    "chi2",
    "cosine",
    "laplacian",
    "linear",
    "poly",
    "polynomial",
    "precomputed",
    "rbf",
    "sigmoid",
]
GainName = Literal["exponential", "linear"]
DiscountName = Literal["log"]
AtLeastName = Literal["exactly", "at_least"]
AtMostName = Literal["exactly", "at_most"]
CutName = Literal["f1", "balanced", "macro_f1", "micro_f1", "fitted"]

# ------------------------------------------------------------------------------------------------------- of functions

SchemeName = Literal["bio", "iob", "bioes", "bilou", "bmes"]
DrawnRowsName = Literal["gaussian", "uniform"]
LengthName = Literal["l2", "l1"]
MarginNormName = Literal["l2", "l1", "max"]
AgainstName = Literal["threshold", "ratio"]
CostAxisName = AgainstName | Literal["share"]
LossCurveName = Literal["cumulative", "mean", "rolling"]


def keeping_type(decorator: Any) -> Callable[[Method], Method]:
    """Return a decorator that keeps its methods' types."""
    return decorator
