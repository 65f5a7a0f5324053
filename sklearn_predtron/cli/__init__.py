"""The command line, ``predtron`` or ``python -m sklearn_predtron``."""

from sklearn_predtron.cli._app import main as main
