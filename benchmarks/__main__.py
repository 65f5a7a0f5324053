"""python -m benchmarks: one thread for everybody, set before NumPy is imported."""

import os

for library in ("OMP", "OPENBLAS", "MKL"):
    os.environ[f"{library}_NUM_THREADS"] = "1"

from benchmarks.run import main

if __name__ == "__main__":
    main()
