"""Passes over CSR rows: sums of columns, products with vectors and Gram matrices, in short chains."""
