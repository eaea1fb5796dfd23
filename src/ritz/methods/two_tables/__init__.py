"""Two tables of the same rows: what one says of the other. PLS, CCA and principal component regression."""
