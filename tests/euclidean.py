"""The estimators under `norm="l2"`, which theorems, bounds, margins and steps by hand mean; another norm may be given."""

from functools import partial

import sklearn_predtron

Predtron = partial(sklearn_predtron.Predtron, norm="l2")
PredtronBinaryClassifier = partial(sklearn_predtron.PredtronBinaryClassifier, norm="l2")
PredtronBipartiteClassifier = partial(sklearn_predtron.PredtronBipartiteClassifier, norm="l2")
PredtronClassifier = partial(sklearn_predtron.PredtronClassifier, norm="l2")
PredtronLabelRanker = partial(sklearn_predtron.PredtronLabelRanker, norm="l2")
PredtronMultilabelClassifier = partial(sklearn_predtron.PredtronMultilabelClassifier, norm="l2")
PredtronOrdinalClassifier = partial(sklearn_predtron.PredtronOrdinalClassifier, norm="l2")
PredtronRanker = partial(sklearn_predtron.PredtronRanker, norm="l2")
PredtronSequenceTagger = partial(sklearn_predtron.PredtronSequenceTagger, norm="l2")
