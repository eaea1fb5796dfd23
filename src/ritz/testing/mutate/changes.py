"""Ways to change a stored value."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

__all__ = ["changes"]

WORDS = {
    "certificate_.completeness": [
        "the dense decomposition returns every eigenvalue",
        "the subspace is the whole space",
        "a Gaussian start misses a larger eigenvalue with probability below 1e-09",
        "trust us",
    ],
    "certificate_.kind": ["certified", "estimate"],
    "certificate_.precision": ["float64", "float32 products summed in float64", "quadruple"],
}


def changes(path: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Names of changes and the values that they make; none equals the old value."""
    if isinstance(value, str):
        yield from ((f"to {word!r}", word) for word in WORDS.get(path, []) if word != value)
        return
    if isinstance(value, (bool, np.bool_)):
        yield "flipped", not value
        return
    array = np.asarray(value)
    for name, made in _numbers(array) if array.dtype.kind != "b" else _flags(array):
        if not _equal(made, array):
            yield name, made if isinstance(value, np.ndarray) else type(value)(made.item())


def _equal(a: Any, b: Any) -> bool:
    return bool(np.array_equal(a, b, equal_nan=b.dtype.kind == "f"))


def _flags(x: Any) -> Iterator[tuple[str, Any]]:
    yield "all flipped", ~x
    one = x.copy()
    one.flat[0] = not one.flat[0]
    yield "one flipped", one


def _numbers(x: Any) -> Iterator[tuple[str, Any]]:
    integral = x.dtype.kind in "iu"
    if integral:
        yield "+ 1", x + 1
        yield "× 2", x * 2
        yield "zero", x * 0
    else:
        yield "× (1 + 1e-3)", (x * (1 + 1e-3)).astype(x.dtype)
        yield "× 2", (x * 2).astype(x.dtype)
        yield "/ 2", (x / 2).astype(x.dtype)
        yield "× 1e6", (x * 1e6).astype(x.dtype)
        yield "− x", -x
        yield "zero", np.zeros_like(x)
        yield "NaN", np.full_like(x, np.nan)
    if x.size > 1:
        flat = x.reshape(-1)
        finite = np.flatnonzero(np.isfinite(flat.astype(float)))
        if len(finite):
            at = finite[int(np.argmax(np.abs(flat[finite].astype(float))))]
            if not integral:
                yield "largest entry × (1 + 1e-3)", _with(x, at, flat[at] * (1 + 1e-3))
                yield "one NaN", _with(x, at, np.nan)
            yield "largest entry of other sign", _with(x, at, -flat[at])
        yield "two exchanged", _exchanged(x)
        yield "in another order", np.random.default_rng(0).permutation(flat).reshape(x.shape)


def _with(x: Any, at: int, value: Any) -> Any:
    made = x.copy()
    made.flat[at] = value
    return made


def _exchanged(x: Any) -> Any:
    made = x.copy()
    made.flat[0], made.flat[-1] = x.flat[-1], x.flat[0]
    return made
