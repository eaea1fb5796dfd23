"""``k(x, y)`` for vectors, strings and anything else.

    vectors      Linear Polynomial RBF Sigmoid Laplacian Cosine Matern
    strings      Spectrum BoundedSpectrum Mismatch Subsequence EditDistance
    the rest     Callable (any Python function), Precomputed (a kernel matrix)
    algebra      k1 + k2, k1 * k2, 2 * k, k.normalized()

Names load on first use.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

from ritz._core.imports import module_of

if TYPE_CHECKING:
    from ritz.kernels.base import Kernel as Kernel
    from ritz.kernels.callables import Callable as Callable
    from ritz.kernels.callables import Precomputed as Precomputed
    from ritz.kernels.combine import Normalized as Normalized
    from ritz.kernels.combine import Product as Product
    from ritz.kernels.combine import Scaled as Scaled
    from ritz.kernels.combine import Sum as Sum
    from ritz.kernels.distances import RBF as RBF
    from ritz.kernels.laplacian import Laplacian as Laplacian
    from ritz.kernels.matern import Matern as Matern
    from ritz.kernels.resolve import resolve as resolve
    from ritz.kernels.strings.kernels import BoundedSpectrum as BoundedSpectrum
    from ritz.kernels.strings.kernels import EditDistance as EditDistance
    from ritz.kernels.strings.kernels import Mismatch as Mismatch
    from ritz.kernels.strings.kernels import Spectrum as Spectrum
    from ritz.kernels.strings.kernels import Subsequence as Subsequence
    from ritz.kernels.vectors import Cosine as Cosine
    from ritz.kernels.vectors import Linear as Linear
    from ritz.kernels.vectors import Polynomial as Polynomial
    from ritz.kernels.vectors import Sigmoid as Sigmoid

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


class _Names(ModuleType):
    """Keeps ``resolve`` for the function: Python would set the loaded module ``kernels.resolve`` in its place."""

    def __setattr__(self, name: str, value: Any) -> None:
        if not (name in _NAMES and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Names
