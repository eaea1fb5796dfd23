"""Kernels in files: names and numbers; a Python function only by its name.

    RBF(0.5) + Callable(f)   →   {"name": "Sum", "left": {"name": "RBF", "gamma": 0.5}, "right": {"name": "Callable",
                                  "function": "package.module.f", "batched": false, "definite": true}}

Nothing is imported to find a function again: whoever loads the file hands it in, ``load(path, kernel=f)``, or a dict of
names and functions where a kernel has several. It is compared with the file on a few rows before it is believed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import numpy as np

from ritz._core.errors import ParameterError
from ritz.kernels.base import Kernel
from ritz.kernels.callables import Callable

__all__ = ["Functions", "check_function", "describe_kernel", "name_of"]

#: The largest whole number that a kernel in a file may have: lengths of substrings, degrees.
LARGEST = 10_000
#: Kernels inside kernels at most.
DEPTH = 20


def name_of(function: Any) -> str:
    """What a function is called in a file."""
    inner = getattr(function, "__qualname__", type(function).__qualname__)
    return f"{getattr(function, '__module__', None) or '?'}.{inner}"


def describe_kernel(kernel: Kernel) -> dict[str, Any]:
    """Name and parameters, ready for JSON."""
    if isinstance(kernel, Callable):
        return {
            "name": "Callable", "function": name_of(kernel.function), "batched": bool(kernel.batched),
            "definite": bool(kernel.definite),
        }  # fmt: skip
    inner = {f.name: getattr(kernel, f.name) for f in fields(kernel)}  # type: ignore[arg-type]
    inner = {name: value for name, value in inner.items() if isinstance(value, Kernel)}
    if not inner:
        return kernel.to_dict()
    plain = {f.name: getattr(kernel, f.name) for f in fields(kernel) if f.name not in inner}  # type: ignore[arg-type]
    return {"name": type(kernel).__name__, **plain} | {name: describe_kernel(one) for name, one in inner.items()}


class Functions:
    """What was handed to ``load`` as ``kernel``: a function, a kernel around one, or a dict of names and functions."""

    def __init__(self, given: Any, source: str) -> None:
        self.given, self.source = given, source
        self.used: list[str] = []

    def kernel(self, state: Any, depth: int = 0) -> Kernel:
        """The kernel of a description."""
        if not isinstance(state, dict) or depth > DEPTH:
            raise TypeError("a kernel without a description")
        if state.get("name") == "Callable":
            return self._callable(state)
        plain = {name: value for name, value in state.items() if not isinstance(value, dict)}
        for name, value in plain.items():
            if not (value is None or isinstance(value, (str, bool, int, float))):
                raise TypeError(f"a kernel with {name} that is no number")
            if type(value) is int and abs(value) > LARGEST:
                raise ValueError(f"a kernel with {name}={str(value)[:20]}, more than {LARGEST:,}")
        inner = {name: self.kernel(value, depth + 1) for name, value in state.items() if isinstance(value, dict)}
        if not inner:
            return Kernel.from_dict(state)
        from ritz import kernels

        cls = getattr(kernels, plain.pop("name", ""), None) if plain.get("name") in kernels.__all__ else None
        if not (isinstance(cls, type) and issubclass(cls, Kernel)):
            raise ValueError("a kernel that is none of ritz.kernels")
        return cls(**plain, **inner)

    def function(self, name: Any) -> Any:
        """The function that a file knows by name."""
        function = self.given
        if isinstance(function, Mapping):
            function = function.get(name, function.get(str(name).rpartition(".")[2]))
        if isinstance(function, Callable):
            function = function.function
        if function is None or not callable(function) or isinstance(function, Kernel):
            raise ParameterError(
                f"the kernel of {self.source} is a Python function, which a file holds by name: {str(name)[:80]!r}",
                received="no function" if self.given is None else repr(self.given)[:80],
                hint=f"ritz.load(path, kernel={str(name).rpartition('.')[2][:40]})",
            )
        self.used.append(str(name))
        return function

    def _callable(self, state: dict[str, Any]) -> Callable:
        batched, definite = state.get("batched", False), state.get("definite", False)
        if type(batched) is not bool or type(definite) is not bool:
            raise TypeError("a kernel function whose batched or definite is neither true nor false")
        return Callable(self.function(state.get("function")), batched, definite)


def check_function(kernel: Kernel, rows: Any, means: Any, weights: Any, source: str) -> None:
    """Refuse a function whose values on a few rows are not those of the fit; ``means`` are k(z, ·) averaged."""
    n = len(means)
    some = sorted({0, n // 2, n - 1})
    prepared = kernel.prepare(rows, dtype=np.float64)
    few = prepared.take(np.asarray(some))
    K = np.asarray(kernel.tile(few, prepared, slice(0, few.n), slice(0, n)), np.float64)
    share = np.full(n, 1.0 / n) if weights is None else weights
    far = np.abs(K @ share - np.asarray(means)[some])
    if not bool(np.all(far <= 1e-5 * np.maximum(np.abs(K) @ np.abs(share), 1e-300))):
        raise ParameterError(
            f"expected the function that the model in {source} was fitted with",
            received=f"one whose values on the rows of the fit are others, by {float(np.max(far)):.2g}",
            hint="hand in the same function, with the same parameters",
        )
