"""Independent component analysis: the estimator, rotations of whitened rows, and how steady components are."""
