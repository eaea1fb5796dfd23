"""Multiple factor analysis of groups of columns."""
