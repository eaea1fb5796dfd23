"""Array types and namespaces: the one place that knows which array library is in use.

Solvers are written against the array API standard: NumPy, array-api-strict and, later, torch arrays behave alike.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["Array", "Floats", "namespace", "to_numpy", "working_dtype"]

#: Any array of the array API standard.
Array: TypeAlias = Any
#: A NumPy array of floats.
Floats: TypeAlias = NDArray[np.floating[Any]]


def namespace(x: Array) -> Any:
    """The module whose functions work on ``x``."""
    return np if isinstance(x, np.ndarray) else x.__array_namespace__()


def to_numpy(x: Array) -> NDArray[Any]:
    """``x`` as a NumPy array, without a copy where its library allows it."""
    return x if isinstance(x, np.ndarray) else np.asarray(x)


def working_dtype(dtype: Any) -> np.dtype[Any]:
    """The precision that numbers of a dtype are computed and given back in.

    float32 for float32 and float16; float64 for everything else: integers of any width have more digits than float32.
    """
    kind = np.dtype(dtype)
    return np.dtype(np.float32 if kind.kind == "f" and kind.itemsize <= 4 else np.float64)
