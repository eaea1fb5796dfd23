"""Work that a thread begins before somebody asks for it: the eigenpairs of a matrix whose rounding is being measured.

    begin(S)         S = YΘYᵀ in a thread of its own; ``linalg.eigh`` of this very array gives its result, once
    begin_there      the same of S − mmᵀ/w on a graphics processor, before its numbers are on the host: ``there`` gives
                     its result for the array that was made of them

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
from ritz._core.imports import module_of
from ritz._core.linalg import BEGUN

__all__ = ["BEGUN", "Begun", "begin", "begin_there", "forget", "known_of", "there"]

#: Columns of a matrix from which a thread takes less than its eigenpairs, and up to which all of them are asked for.
LEAST, MOST = 32, 200
#: The same of a graphics processor: fewer columns are decomposed by the host, of more the leading pairs alone are often
#: all that is asked for.
LEAST_THERE, MOST_THERE = 256, 1024

#: The stream of every device on which eigenpairs are found: memory of one that is new would have to be asked for.
_streams: dict[str, Any] = {}
#: Eigenpairs on a device by the number of the array of the host that they belong to.
_there: dict[int, tuple[Any, Begun]] = {}


def begin(S: NDArray[np.float64], of: NDArray[np.float64] | None = None) -> None:
    """Let a thread find the eigenpairs of a small matrix; nothing may change it until they are taken.

    ``of``: the sums that it was made of; where a device was asked for its eigenpairs, these are now those of S.
    """
    begun = None if of is None else _taken(of)
    if begun is not None:
        known_of(S, begun)
        return
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


class Begun:
    """Eigenpairs of S − mmᵀ/w that a thread asks a device for."""

    def __init__(self, S: Any, m: Any, w: float) -> None:
        torch: Any = module_of("torch")
        self._future, self._S, self._m, self._w = Future[Any](), S, m, w
        self._stream = _stream_of(S.device) if S.is_cuda else None
        self._made: Any = torch.cuda.Event() if S.is_cuda else None
        if self._stream is not None:
            self._stream.wait_stream(torch.cuda.current_stream(S.device))
        self._asked = threading.Event()
        threading.Thread(target=self._run, name="ritz-ahead", daemon=True).start()
        self._asked.wait()  # the interpreter would let a thread that computes go on for 5 ms before the new one begins

    def _run(self) -> None:
        torch: Any = module_of("torch")
        try:
            if self._stream is None:
                self._future.set_result(self._pairs())
                return
            with torch.cuda.stream(self._stream):
                found = self._pairs()
                self._made.record(self._stream)
            self._future.set_result(found)
        except Exception:  # noqa: BLE001 — whoever asks finds them himself, and finds out
            self._future.set_result(None)
        finally:
            self._asked.set()

    def _pairs(self) -> tuple[Any, Any, Any]:
        torch: Any = module_of("torch")
        r = self._m / np.sqrt(self._w)
        scatter = self._S - r[:, None] * r  # by the steps of the host, to the last bit
        scatter.diagonal().clamp_(min=0.0)
        self._asked.set()
        return (scatter, *torch.linalg.eigh(scatter))

    def result(self) -> tuple[Any, Any, Any] | None:
        """The matrix, its eigenvalues, decreasing, and their vectors; None where something went wrong."""
        torch: Any = module_of("torch")
        found, self._S, self._m = self._future.result(), None, None
        if found is None:
            return None
        if self._made is not None:
            current = torch.cuda.current_stream(found[0].device)
            current.wait_event(self._made)
            for each in found:
                each.record_stream(current)
        scatter, theta, Y = found
        order = theta.argsort(descending=True)  # a device may leave equal values in any order
        return scatter, theta[order], Y[:, order]


def _stream_of(device: Any) -> Any:
    key, torch = str(device), module_of("torch")
    if key not in _streams:
        _streams[key] = torch.cuda.Stream(device=device)
    return _streams[key]


def begin_there(S: Any, m: Any, w: float) -> Begun | None:
    """Let a thread ask the device of S for the eigenpairs of S − mmᵀ/w, where that pays."""
    return Begun(S, m, w) if _pays(S) else None


def _pays(S: Any) -> bool:
    return bool(S.is_cuda) and LEAST_THERE <= len(S) <= MOST_THERE


def known_of(S: NDArray[np.float64], begun: Begun) -> None:
    """Say that these are, or lead to, the eigenpairs of an array of the host."""
    key = id(S)
    _there[key] = weakref.ref(S, lambda _: _there.pop(key, None)), begun


def _taken(S: NDArray[np.float64]) -> Begun | None:
    known, begun = _there.pop(id(S), (None, None))
    return begun if known is not None and known() is S else None


def there(S: NDArray[np.float64]) -> tuple[Any, Any, Any] | None:
    """What a device was asked for ahead, once: the matrix there, eigenvalues, decreasing, and vectors."""
    begun = _taken(S)
    return None if begun is None else begun.result()


def forget() -> None:
    """Let go of what nobody took: it lies in the memory of a device as long as the array that it was made of lives."""
    _there.clear()
