"""Whether a model holds what its certificate and its data say."""
