"""Training: the plan of a fit, the runs that it evaluates, and the calls that train."""
