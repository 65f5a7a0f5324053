"""Fuzz the package: `python -m tests.fuzz --seconds 60` from the checkout's root.

Each part is a module with a function ``run(seed)`` that draws one case from its seed and raises what breaks a promise; the
cases run in child processes, which may crash.
"""
