"""What one pass over row blocks leaves behind: sums, moments, units, rounding, keys."""
