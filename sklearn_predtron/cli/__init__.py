"""The command line, ``python -m sklearn_predtron``."""

from sklearn_predtron.cli._arguments import main as main
