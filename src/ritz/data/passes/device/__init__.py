"""Passes whose blocks are tensors: sums and products are formed where the rows lie, and come to the host when done."""
