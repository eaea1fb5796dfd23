"""Correlations of ordered categories."""
