"""Losses: tables over a list of predictions, functions of hits and misses for sets of labels, and losses of rankings."""

from sklearn_predtron.losses.ranking import NDCG, AveragePrecision, KendallTau, RankingLoss, SwappedPairs, ranking_loss
from sklearn_predtron.losses.subset import (
    AtK,
    CountLoss,
    ErrorSetSize,
    FBeta,
    Hamming,
    Jaccard,
    PrecisionAtK,
    RecallAtK,
    SubsetLoss,
    SubsetZeroOne,
    subset_loss,
)
from sklearn_predtron.losses.table import Absolute, CostMatrix, Squared, TableLoss, ZeroOne, table_loss

__all__ = [
    "NDCG",
    "Absolute",
    "AveragePrecision",
    "CostMatrix",
    "CountLoss",
    "ErrorSetSize",
    "FBeta",
    "Hamming",
    "Jaccard",
    "KendallTau",
    "PrecisionAtK",
    "RankingLoss",
    "RecallAtK",
    "Squared",
    "SubsetLoss",
    "SubsetZeroOne",
    "SwappedPairs",
    "TableLoss",
    "ZeroOne",
]
