"""Array types and namespaces: the one place that knows which array library is in use, and on which device.

Solvers are written against the array API standard: NumPy, array-api-strict and, later, torch arrays behave alike. What
they make beside their input is made where the input lies (``Place``); what a certificate says are numbers of the host.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["HOST", "Array", "Floats", "Place", "is_foreign", "namespace", "place_of", "to_numpy", "working_dtype"]

#: Any array of the array API standard.
Array: TypeAlias = Any
#: A NumPy array of floats.
Floats: TypeAlias = NDArray[np.floating[Any]]


def namespace(x: Array) -> Any:
    """The module whose functions work on ``x``."""
    return np if isinstance(x, np.ndarray) else x.__array_namespace__()


def is_foreign(x: Any) -> bool:
    """Whether ``x`` is an array of the standard that is not NumPy's."""
    return hasattr(x, "__array_namespace__") and not isinstance(x, (np.ndarray, np.generic))


def to_numpy(x: Array) -> NDArray[Any]:
    """``x`` as a NumPy array on the host, without a copy where its library allows it."""
    if isinstance(x, np.ndarray) or not is_foreign(x):
        return np.asarray(x)
    try:
        return np.asarray(x)
    except (TypeError, RuntimeError):  # it lies on a device of its own
        return np.asarray(x.cpu()) if hasattr(x, "cpu") else np.array(np.from_dlpack(x))


@dataclass(frozen=True)
class Place:
    """Where arrays are made: in which library, and on which device of it; None is the library's own choice."""

    xp: Any = np
    device: Any = None

    def array(self, x: Any, dtype: Any = None) -> Array:
        """Numbers of the host, or of this place, as an array here."""
        if self.xp is np:
            return np.asarray(to_numpy(x), dtype)
        if is_foreign(x) and place_of(x) == self:
            return x if dtype is None else self.xp.astype(x, self.dtype(dtype), copy=False)
        return self.xp.asarray(np.asarray(to_numpy(x), dtype), device=self.device)

    def dtype(self, dtype: Any) -> Any:
        """A floating dtype by its name here."""
        return np.dtype(dtype) if self.xp is np else getattr(self.xp, np.dtype(dtype).name)

    def zeros(self, shape: Any, dtype: Any = np.float64) -> Array:
        """Zeros."""
        return self.xp.zeros(shape, dtype=self.dtype(dtype), device=self.device)

    def empty(self, shape: Any, dtype: Any = np.float64) -> Array:
        """Memory for numbers to come."""
        return self.xp.empty(shape, dtype=self.dtype(dtype), device=self.device)

    def full(self, shape: Any, value: float, dtype: Any = np.float64) -> Array:
        """One number everywhere."""
        return self.xp.full(shape, value, dtype=self.dtype(dtype), device=self.device)

    def eye(self, n: int, dtype: Any = np.float64) -> Array:
        """The identity."""
        return self.xp.eye(n, dtype=self.dtype(dtype), device=self.device)


#: NumPy arrays.
HOST = Place()


def place_of(x: Array) -> Place:
    """Where ``x`` lies."""
    return HOST if isinstance(x, np.ndarray) else Place(namespace(x), x.device)


def working_dtype(dtype: Any) -> np.dtype[Any]:
    """The precision that numbers of a dtype are computed and given back in.

    float32 for float32 and float16; float64 for everything else: integers of any width have more digits than float32.
    """
    kind = np.dtype(dtype)
    return np.dtype(np.float32 if kind.kind == "f" and kind.itemsize <= 4 else np.float64)
