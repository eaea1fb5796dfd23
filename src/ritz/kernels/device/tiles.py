"""Tiles of kernels by torch, in any precision: what fused products are checked against, and what serves other kernels.

[k(aᵢ, bⱼ)]  (r, c)      distances from one product:  −½‖z − z'‖² = z·z' − s − s',  clamped at 0
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ritz._core.imports import module_of
from ritz.kernels.combine import Normalized, Product, Scaled, Sum
from ritz.kernels.device.rows import Part
from ritz.kernels.distances import DistanceKernel
from ritz.kernels.laplacian import Laplacian
from ritz.kernels.matern import Matern
from ritz.kernels.vectors import Polynomial, Sigmoid

__all__ = ["diagonal", "tile"]


def tile(A: Part, B: Part) -> Any:
    """``[k(aᵢ, bⱼ)]``."""
    kernel = A.kernel
    if isinstance(kernel, (Sum, Product)):
        left, right = (tile(a, b) for a, b in zip(A.inner, B.inner, strict=True))
        return left.add_(right) if isinstance(kernel, Sum) else left.mul_(right)
    if isinstance(kernel, Scaled):
        return tile(A.inner[0], B.inner[0]).mul_(kernel.factor)
    if isinstance(kernel, Normalized):
        a, b = (diagonal(part.inner[0]) for part in (A, B))
        T = tile(A.inner[0], B.inner[0])
        return T.mul_(_inverse_root(a, T)[:, None]).mul_(_inverse_root(b, T)[None, :])
    if isinstance(kernel, Laplacian):
        return module_of("torch").cdist(A.Z, B.Z, p=1.0).neg_().exp_()
    if isinstance(kernel, Matern) and kernel.nu < 1:  # a cusp: squares that are off by u move k by √u
        return module_of("torch").cdist(A.Z, B.Z, compute_mode="donot_use_mm_for_euclid_dist").neg_().exp_()
    G = A.Z @ B.Z.T
    if isinstance(kernel, DistanceKernel):
        G = G.sub_(A.half.to(G.dtype)[:, None]).sub_(B.half.to(G.dtype)).clamp_(max=0.0)
        return _of_distance(kernel, G)
    if isinstance(kernel, Polynomial):
        return G.add_(kernel.coef0).pow_(kernel.degree)
    return G.add_(kernel.coef0).tanh_() if isinstance(kernel, Sigmoid) else G


def diagonal(A: Part) -> Any:
    """``[k(aᵢ, aᵢ)]`` in float64."""
    kernel, torch = A.kernel, module_of("torch")
    if isinstance(kernel, (Sum, Product)):
        left, right = (diagonal(part) for part in A.inner)
        return left + right if isinstance(kernel, Sum) else left * right
    if isinstance(kernel, Scaled):
        return diagonal(A.inner[0]) * kernel.factor
    if isinstance(kernel, Normalized):
        return (diagonal(A.inner[0]) > 0).to(torch.float64)
    if isinstance(kernel, (DistanceKernel, Laplacian)):
        return torch.ones(A.Z.shape[0], dtype=torch.float64, device=A.Z.device)
    squares = A.Z.to(torch.float64).square().sum(dim=1)
    if isinstance(kernel, Polynomial):
        return (squares + kernel.coef0) ** kernel.degree
    return (squares + kernel.coef0).tanh() if isinstance(kernel, Sigmoid) else squares


def _of_distance(kernel: DistanceKernel, E: Any) -> Any:
    """f of −½‖z − z'‖²."""
    if not isinstance(kernel, Matern) or np.isinf(kernel.nu):
        return E.exp_()
    r = E.mul_(-2.0).sqrt_()
    if kernel.nu == 0.5:
        return r.neg_().exp_()
    poly = 1 + r if kernel.nu == 1.5 else 1 + r * (1 + r / 3)
    return r.neg_().exp_().mul_(poly)


def _inverse_root(own: Any, like: Any) -> Any:
    good = own > 0
    return good.to(own.dtype).div(own.where(good, own.new_ones(())).sqrt()).to(like.dtype)
