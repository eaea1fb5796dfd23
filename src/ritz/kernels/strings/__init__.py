"""Kernels between strings, their features and their dynamic programs."""
