"""Speed, memory and quality of sklearn_predtron beside its baselines; see README.md."""
