"""Keys of data: 64 bits by which random starts are drawn.

    exact      key = BLAKE2b(bytes)                          numbers that are the same in every run, such as weights
    rounded    key = BLAKE2b(⌊10⁵·x/max|x|⌉)                 numbers whose last digits depend on the order of a sum

A start that depends on the seed alone is known before the data are: a table can be made whose first axis it misses. A
key is no signature: whoever builds a table against the key itself can succeed. ``verify`` asks the operating system for
its random numbers.
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

__all__ = ["key_of_bytes", "key_of_numbers", "key_of_rows", "keyed"]

#: Digits of a number that every order of summation agrees on.
DIGITS = 1e5


def _number(digest: Any) -> int:
    return int.from_bytes(digest.digest(), "little")


def key_of_bytes(*parts: Any) -> int:
    """A key of arrays as they are stored, and of texts."""
    digest = hashlib.blake2b(digest_size=8)
    for item in parts:
        digest.update(item.encode() if isinstance(item, str) else np.ascontiguousarray(item).tobytes())
    return _number(digest)


def key_of_numbers(*arrays: Any) -> int:
    """A key of computed numbers, of each array to five digits of its largest."""
    digest = hashlib.blake2b(digest_size=8)
    for array in arrays:
        x = np.asarray(array, np.float64)
        top = float(np.max(np.abs(x), initial=0.0))
        steps = np.rint(x / top * DIGITS) if 0 < top < np.inf else np.isnan(x)
        digest.update(np.ascontiguousarray(steps, np.int64).tobytes())
        digest.update(np.float64(np.round(np.log2(top), 3) if 0 < top < np.inf else 0.0).tobytes())
    return _number(digest)


def key_of_rows(rows: Any) -> str | None:
    """A key of rows (n, d) of numbers in memory, whatever holds them; None of rows that are outside memory."""
    if hasattr(rows, "map_reduce"):
        return None
    if isinstance(rows, np.ndarray):
        parts = [np.asarray(rows, np.float64)]
    else:
        csr = rows.tocsr()
        parts = [np.asarray(csr.indptr, np.int64), np.asarray(csr.indices, np.int64), np.asarray(csr.data, np.float64)]
    return f"{key_of_bytes(repr(rows.shape), *parts):016x}"


def keyed(seed: int, key: int) -> int:
    """The seed of a start: the user's, together with the key of the data."""
    return key_of_bytes(str(seed), str(key))
