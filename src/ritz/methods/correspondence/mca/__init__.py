"""Multiple correspondence analysis."""
