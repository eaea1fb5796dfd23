"""Missing values: gaps filled in by the components themselves."""
