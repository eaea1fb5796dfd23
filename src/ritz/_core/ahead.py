"""Work that a thread begins before somebody asks for it: the eigenpairs of a matrix whose rounding is being measured.

    begin(S)    S = YΘYᵀ in a thread of its own; ``linalg.eigh`` of this very array gives its result, once

A result is found by the array that it was made of, and forgotten with it.
"""

from __future__ import annotations

import threading
import weakref
from concurrent.futures import Future
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core import linalg
from ritz._core.linalg import BEGUN

__all__ = ["BEGUN", "begin"]

#: Columns of a matrix from which a thread takes less than its eigenpairs, and up to which all of them are asked for.
LEAST, MOST = 32, 200


def begin(S: NDArray[np.float64]) -> None:
    """Let a thread find the eigenpairs of a small matrix; nothing may change it until they are taken."""
    if not LEAST <= len(S) < MOST:
        return
    done, key = Future[Any](), id(S)

    def run(matrix: NDArray[np.float64]) -> None:
        try:
            done.set_result(linalg.all_pairs(matrix))
        except Exception:  # noqa: BLE001 — whoever asks finds out, of want of memory as well
            done.set_result(None)

    known = weakref.ref(S, lambda _: BEGUN.pop(key, None))
    BEGUN[key] = lambda matrix: done.result() if known() is matrix else None
    threading.Thread(target=run, args=(S,), name="ritz-ahead").start()
