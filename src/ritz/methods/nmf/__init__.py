"""Non-negative matrix factorisation: the estimator, its start, its solvers, and how many parts are steady."""
