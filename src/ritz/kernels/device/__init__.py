"""Kernels on a graphics processor: rows as tensors, tiles by torch, products by fused Triton kernels."""
