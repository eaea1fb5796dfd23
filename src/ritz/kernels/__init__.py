"""``k(x, y)`` for vectors, strings and anything else.

    vectors      Linear Polynomial RBF Sigmoid Laplacian Cosine Matern
    strings      Spectrum BoundedSpectrum Mismatch Subsequence EditDistance
    the rest     Callable (any Python function), Precomputed (a kernel matrix)
    algebra      k1 + k2, k1 * k2, 2 * k, k.normalized()

Names load on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ritz._core.imports import module_of

if TYPE_CHECKING:
    from ritz.kernels.base import Kernel as Kernel

_NAMES = {
    "BoundedSpectrum": "strings.kernels",
    "Callable": "callables",
    "Cosine": "vectors",
    "EditDistance": "strings.kernels",
    "Kernel": "base",
    "Laplacian": "laplacian",
    "Linear": "vectors",
    "Matern": "matern",
    "Mismatch": "strings.kernels",
    "Normalized": "combine",
    "Polynomial": "vectors",
    "Precomputed": "callables",
    "Product": "combine",
    "RBF": "distances",
    "Scaled": "combine",
    "Sigmoid": "vectors",
    "Spectrum": "strings.kernels",
    "Subsequence": "strings.kernels",
    "Sum": "combine",
    "resolve": "resolve",
}

__all__ = sorted(_NAMES)


def __getattr__(name: str) -> Any:
    if name in _NAMES:
        module_of("ritz.kernels.combine")  # kernels learn to add and multiply
        return getattr(module_of(f"ritz.kernels.{_NAMES[name]}"), name)
    raise AttributeError(f"module 'ritz.kernels' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
