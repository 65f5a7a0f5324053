"""Losses of classes, label sets, rankings and sequences; rejection."""

from sklearn_predtron.losses.multiclass import Absolute, CostMatrix, CostTableLoss, Squared, ZeroOne
from sklearn_predtron.losses.multiclass import costs_of as costs_of
from sklearn_predtron.losses.multiclass import names_label as names_label
from sklearn_predtron.losses.multiclass import table_loss as table_loss
from sklearn_predtron.losses.ranking import NDCG, AveragePrecision, KendallTau, RankingLoss, RankingZeroOne, SwappedPairs
from sklearn_predtron.losses.ranking import list_of as list_of
from sklearn_predtron.losses.ranking import ranking_loss as ranking_loss
from sklearn_predtron.losses.reject import Reject
from sklearn_predtron.losses.sequence import SequenceHamming, SequenceLoss, SequenceZeroOne
from sklearn_predtron.losses.sequence import sequence_loss as sequence_loss
from sklearn_predtron.losses.subset import AtK as AtK
from sklearn_predtron.losses.subset import (
    BalancedError,
    BreakEven,
    CountLoss,
    ErrorSetSize,
    FBeta,
    GMean,
    Hamming,
    Jaccard,
    PrecisionAtK,
    RecallAtK,
    SubsetLoss,
    SubsetZeroOne,
)
from sklearn_predtron.losses.subset import subset_loss as subset_loss

__all__ = [
    "NDCG",
    "Absolute",
    "AveragePrecision",
    "BalancedError",
    "BreakEven",
    "CostMatrix",
    "CostTableLoss",
    "CountLoss",
    "ErrorSetSize",
    "FBeta",
    "GMean",
    "Hamming",
    "Jaccard",
    "KendallTau",
    "PrecisionAtK",
    "RankingLoss",
    "RankingZeroOne",
    "RecallAtK",
    "Reject",
    "SequenceHamming",
    "SequenceLoss",
    "SequenceZeroOne",
    "Squared",
    "SubsetLoss",
    "SubsetZeroOne",
    "SwappedPairs",
    "ZeroOne",
]

# Saved models name their classes by these paths, whatever module defines them.
for name in __all__:
    globals()[name].__module__ = __name__
del name
