"""Two revisions of the package timed in turns."""
