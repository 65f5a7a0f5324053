"""The public names of the package."""

import sklearn_predtron
from sklearn_predtron._support.lazy import give_public_paths
from sklearn_predtron._support.show_versions import show_versions as show_versions
from sklearn_predtron.families.bipartite import PredtronBipartiteClassifier as PredtronBipartiteClassifier
from sklearn_predtron.families.classification import (
    PredtronBinaryClassifier as PredtronBinaryClassifier,
)
from sklearn_predtron.families.classification import (
    PredtronClassifier as PredtronClassifier,
)
from sklearn_predtron.families.estimator.model_file import load as load
from sklearn_predtron.families.label_ranking import PredtronLabelRanker as PredtronLabelRanker
from sklearn_predtron.families.multilabel import PredtronMultilabelClassifier as PredtronMultilabelClassifier
from sklearn_predtron.families.ordinal import PredtronOrdinalClassifier as PredtronOrdinalClassifier
from sklearn_predtron.families.ranking import PredtronRanker as PredtronRanker
from sklearn_predtron.families.sequences import PredtronSequenceTagger as PredtronSequenceTagger
from sklearn_predtron.families.structured import JointProblem as JointProblem
from sklearn_predtron.families.structured import Predtron as Predtron
from sklearn_predtron.families.structured import Problem as Problem
from sklearn_predtron.families.training.patience import Patience as Patience

give_public_paths(sklearn_predtron, globals())
