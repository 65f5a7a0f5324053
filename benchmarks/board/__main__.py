"""python -m benchmarks.board: one thread for everybody, set before NumPy is imported."""

import os

if __name__ == "__main__":
    for library in ("OMP", "OPENBLAS", "MKL"):
        os.environ[f"{library}_NUM_THREADS"] = "1"
    from benchmarks.board.command import main

    main()
