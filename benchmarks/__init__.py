"""Speed, memory and quality of sklearn_predtron beside its peers; see README.md."""
