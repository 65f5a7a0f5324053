"""The public names of the package."""

from sklearn_predtron.families.bipartite import PredtronBipartiteClassifier
from sklearn_predtron.families.classification import PredtronBinaryClassifier, PredtronClassifier
from sklearn_predtron.families.estimator.model_file import load
from sklearn_predtron.families.label_ranking import PredtronLabelRanker
from sklearn_predtron.families.multilabel import PredtronMultilabelClassifier
from sklearn_predtron.families.ordinal import PredtronOrdinalClassifier
from sklearn_predtron.families.ranking import PredtronRanker
from sklearn_predtron.families.sequences import PredtronSequenceTagger
from sklearn_predtron.families.structured import JointProblem, Predtron, Problem
from sklearn_predtron.families.training.patience import Patience

__all__ = [
    "JointProblem",
    "Patience",
    "Predtron",
    "PredtronBinaryClassifier",
    "PredtronBipartiteClassifier",
    "PredtronClassifier",
    "PredtronLabelRanker",
    "PredtronMultilabelClassifier",
    "PredtronOrdinalClassifier",
    "PredtronRanker",
    "PredtronSequenceTagger",
    "Problem",
    "load",
]

# Saved models name their classes by the path of the package, whatever module defines them.
for name in __all__:
    globals()[name].__module__ = __name__.partition(".")[0]
del name
