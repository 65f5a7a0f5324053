"""The fitted model, its parts as saved, its explanation and its importances."""
