"""Work that a thread begins before somebody asks for it: the eigenpairs of a matrix whose rounding is being measured.

    begin(S)    S = YΘYᵀ in a thread of its own
    taken(S)    Θ and Y, once; None where nothing was begun with this very array

A result is found by the array that it was made of, and forgotten with it.
"""

from __future__ import annotations

import threading
import weakref
from concurrent.futures import Future
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["BEGUN", "begin", "taken"]

#: What is begun and not taken, by the number of its matrix.
BEGUN: dict[int, tuple[weakref.ref[NDArray[Any]], Future[Any]]] = {}


#: Columns of a matrix from which a thread takes less than its eigenpairs, and up to which all of them are asked for.
LEAST, MOST = 32, 200


def begin(S: NDArray[np.float64]) -> None:
    """Let a thread find the eigenpairs of a small matrix; nothing may change it until they are taken."""
    if not LEAST <= len(S) < MOST:
        return
    done, key = Future[Any](), id(S)

    def run(matrix: NDArray[np.float64]) -> None:
        from ritz._core.linalg import all_pairs  # which asks for what was begun

        try:
            done.set_result(all_pairs(matrix))
        except Exception:  # noqa: BLE001 — whoever asks finds out, of want of memory as well
            done.set_result(None)

    BEGUN[key] = weakref.ref(S, lambda _: BEGUN.pop(key, None)), done
    threading.Thread(target=run, args=(S,), name="ritz-ahead").start()


def taken(S: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """What was begun with this array, waited for; None where there is nothing."""
    found = BEGUN.pop(id(S), None) if isinstance(S, np.ndarray) else None
    return None if found is None or found[0]() is not S else found[1].result()
