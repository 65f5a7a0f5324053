"""python -m sklearn_predtron: learn online from bundled data, or from svmlight files of any size."""

import sys

from sklearn_predtron.cli import main

if __name__ == "__main__":
    sys.exit(main())
