"""The one problem: an operator's leading eigenpairs, found by a solver, carrying their proof."""
