"""One file per estimator: its parameters, its problem, its named results."""
