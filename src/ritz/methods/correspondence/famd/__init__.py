"""Factor analysis of mixed data."""
