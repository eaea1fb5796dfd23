"""Tensors of two and more modes: a method is a file, and so is each idea that they share.

source.py        what a tensor may be, and pieces of it that fit in memory
modes.py         the spectral problem of one unfolding: leading vectors, and what the others hold
steps.py         one unfolding after the other, each of what the one before has left
parts.py         the tensor from its parts: whole, slices, elements, and how far it is from the data
certificate.py   what is proved about the error, and how far from the best possible it can be
base.py          what all methods have in common; rows are the slices of the first mode
"""
