"""The input of a call; X, y, weights and ids become rounds, and tables become features."""
