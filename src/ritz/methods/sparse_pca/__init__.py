"""Sparse principal component analysis: loadings of few columns."""
