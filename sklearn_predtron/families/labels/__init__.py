"""How labels are read and written, a module for each kind of them; none knows an estimator."""
