"""Maximum variance unfolding as a semidefinite program: its pairs, its solvers, its proof.

pairs.py       which rows are held together, and how far apart they are
interior.py    an interior-point method, to the last digits, for some thousand pairs
lowrank.py     points instead of their Gram matrix, for more
conic.py       Clarabel, a solver of any conic program
proof.py       points that are feasible, a bound that no points exceed
"""
