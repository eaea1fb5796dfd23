"""The smallest eigenvalues of a symmetric operator without negative ones: by inverting it, densely, or from afar."""
