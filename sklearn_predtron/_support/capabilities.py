"""Names of the attributes that updates need, for messages."""

# Attributes that an update needs, by their names in messages.  Problems, losses or representations have them.
RANKINGS = "rankings by one score an item (PredtronRanker, PredtronLabelRanker)"
RANKED_LABELS = "rankings by one score a label (PredtronLabelRanker)"
ITEM_WEIGHTS = "a loss with weights of the items"
ORDERED_THRESHOLDS = "ordered thresholds on one direction (PredtronOrdinalClassifier with representation='shared')"
