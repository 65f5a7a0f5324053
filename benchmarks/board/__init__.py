"""A board of methods that decide at costs, on public sets: python -m benchmarks.board."""
