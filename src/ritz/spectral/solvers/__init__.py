"""Solvers by name. Each finds leading pairs of a symmetric operator M, or of AᵀA, and says how wrong they may be."""
