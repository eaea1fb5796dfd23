"""Kernel principal component analysis: its rows, its routes, its signs, its check."""
