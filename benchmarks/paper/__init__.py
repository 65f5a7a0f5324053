"""The papers' experiments, as far as they can be repeated."""
