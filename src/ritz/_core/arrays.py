"""Array types and namespaces: the one place that knows which array library is in use.

Solvers are written against the array API standard: NumPy, array-api-strict and, later, torch arrays behave alike.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["Array", "Floats", "namespace", "to_numpy"]

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
