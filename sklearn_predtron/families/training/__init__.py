"""Training: plans, runs, and the calls that train. A plan of a fit has runs that it evaluates."""
