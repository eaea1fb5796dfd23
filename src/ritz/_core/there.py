"""Work on a graphics processor that waits for it once: every number that the host asks for is such a wait.

    orthonormal   C = D⁻¹ WᵀW D⁻¹ = L Lᵀ,   Q = W D⁻¹ L⁻ᵀ            D the column norms; twice where L is not near one
    copied        tensor  → (copy engine)  pinned buffer 0, 1, 0, …  → (all cores)  array of the host
    Brought       several tensors in one copy, asked for now and waited for when somebody needs them
    expected      memory of the host for a copy to come, touched while the device computes: pages cost more than bytes

What cannot be told from squares, columns that are nearly dependent or lie in the basis already, is left to the ways of
``linalg.py``, which look at it closely. Pageable memory would be written through a buffer of the driver by one core.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.imports import module_of

__all__ = ["Brought", "copied", "copying", "expected", "filling", "orthonormal"]

#: Least part of a column outside of the basis after one projection; half of it where a block is said to be projected.
OUTSIDE = 1e-2
#: Largest ‖L⁻¹‖_F² of squares in float64, in units of its least: directions are stretched by its root at most, and with
#: them what rounding left; beyond twice the least a second round makes up for that.
STRETCH = 1e6
#: Bytes of a pinned buffer, and of a tensor that is copied as it is: of 4.7 MB that takes 3 ms, through a buffer 1.
PINNED_BYTES, SMALL_BYTES = 16 << 20, 1 << 20

_lock = threading.Lock()
_buffers: dict[str, Any] = {}
_expected: dict[tuple[tuple[int, ...], str], Future[NDArray[Any]]] = {}


def orthonormal(W: Any, against: Any, projected: bool) -> Any:
    """An orthonormal basis of the columns of a tensor, orthogonal to ``against``; None where it takes a closer look."""
    torch: Any = module_of("torch")

    if W.shape[1] == 0 or W.shape[0] < W.shape[1]:
        return None
    W, figures = W / torch.linalg.vector_norm(W, dim=0), []
    bound = against is not None and against.shape[1] > 0
    if bound:
        W = W - against @ (against.mT @ W)
        length = torch.linalg.vector_norm(W, dim=0)
        figures.append(length.min() / (0.5 if projected else OUTSIDE))
        if not projected:
            W = W / length
            W = W - against @ (against.mT @ W)
    Q, size, info = _round(W)
    figures += [1 - info.to(W.dtype), STRETCH * W.shape[1] / size]
    least = torch.stack([each.to(torch.float64) for each in [*figures, size]]).tolist()
    if not all(each >= 1 for each in least[:-1]):  # NaN is not
        return None
    if least[-1] > 2 * W.shape[1]:
        Q = _round(Q - against @ (against.mT @ Q) if bound else Q)[0]
    return Q


def _round(W: Any) -> tuple[Any, Any, Any]:
    """W D⁻¹L⁻ᵀ, ‖L⁻¹‖_F² and whether L exists (0)."""
    torch: Any = module_of("torch")

    kind, W = W.dtype, W.to(torch.float64)
    G = W.mT @ W
    length = G.diagonal().sqrt()
    L, info = torch.linalg.cholesky_ex(G / length / length[:, None])
    one = torch.eye(len(G), dtype=G.dtype, device=G.device)
    inverse = torch.linalg.solve_triangular(L, one, upper=False)
    return (W @ (inverse.mT / length[:, None])).to(kind), inverse.square().sum(), info


class Brought:
    """Tensors on their way to the host as float64 numbers, in one copy; the device is waited for by ``arrays``."""

    def __init__(self, tensors: Sequence[Any]) -> None:
        torch: Any = module_of("torch")

        self._shapes = [tuple(x.shape) for x in tensors]
        flat = torch.cat([x.reshape(-1).to(torch.float64) for x in tensors])
        self._done: Any = None
        self._held = flat
        if flat.is_cuda:
            self._held = torch.empty(flat.shape, dtype=flat.dtype, pin_memory=True)
            self._held.copy_(flat, non_blocking=True)
            self._done = torch.cuda.Event()
            self._done.record(torch.cuda.current_stream(flat.device))

    def arrays(self) -> list[NDArray[np.float64]]:
        """The numbers of each tensor, in its shape; memory of the host like any other."""
        if self._done is not None:
            self._done.synchronize()
        numbers = np.array(self._held.numpy())
        ends = np.cumsum([int(np.prod(shape)) for shape in self._shapes])
        return [part.reshape(shape) for part, shape in zip(np.split(numbers, ends[:-1]), self._shapes, strict=True)]


def copied(x: Any) -> NDArray[Any]:
    """A tensor of a graphics processor on the host, in large pages, which NumPy asks for and torch does not."""
    out = _memory(x)
    _copy(out, x.detach())
    return out


def _memory(x: Any) -> NDArray[Any]:
    """Memory of the host for a copy of a tensor: what was made for it, or new."""
    shape, name = tuple(x.shape), str(x.dtype).rpartition(".")[2]
    ready = _expected.pop((shape, name), None)
    return np.empty(shape, name) if ready is None else ready.result()


def copying(x: Any) -> tuple[NDArray[Any], Future[None]]:
    """An array of the host, and what is done when a thread has copied the tensor there."""
    out = _memory(x)
    return out, filling(out, x)


def filling(out: NDArray[Any], x: Any) -> Future[None]:
    """Copy a tensor to an array of the host in a thread of its own, as it is now."""
    torch: Any = module_of("torch")

    done, ready = Future[None](), torch.cuda.Event() if x.is_cuda else None
    if ready is not None:
        ready.record()

    def work() -> None:
        try:
            if ready is None:
                _copy(out, x.detach())
            else:
                with torch.cuda.stream(torch.cuda.Stream(device=x.device)):
                    ready.wait()
                    _copy(out, x.detach())
        except BaseException as error:  # noqa: BLE001  whoever waits for the copy hears of it
            done.set_exception(error)
        else:
            done.set_result(None)

    threading.Thread(target=work, daemon=True).start()
    return done


def _copy(out: NDArray[Any], x: Any) -> None:
    torch: Any = module_of("torch")

    here = torch.from_numpy(out)
    if out.nbytes <= SMALL_BYTES or not x.is_cuda:
        here.copy_(x)
        return
    x = x.contiguous()  # there, where that takes no time
    with _lock:
        _staged(x.view(-1).view(torch.uint8), here.view(-1).view(torch.uint8))


@contextmanager
def expected(shape: tuple[int, ...], dtype: Any) -> Iterator[None]:
    """Within, a thread makes memory for one copy of a tensor of this shape."""
    key, ready = (shape, np.dtype(dtype).name), Future[NDArray[Any]]()

    def touch() -> None:
        out = np.empty(shape, dtype)
        out.fill(0)
        ready.set_result(out)

    if int(np.prod(shape)) * np.dtype(dtype).itemsize > PINNED_BYTES and key not in _expected:
        _expected[key] = ready
        threading.Thread(target=touch, daemon=True).start()
    try:
        yield
    finally:
        if _expected.get(key) is ready:
            del _expected[key]


def _staged(source: Any, out: Any) -> None:
    """Copy bytes through two pinned buffers: one is filled while the other is emptied."""
    torch: Any = module_of("torch")

    where = str(source.device)
    if where not in _buffers:
        _buffers[where] = [torch.empty(PINNED_BYTES, dtype=torch.uint8, pin_memory=True) for _ in range(2)]
    waiting: list[tuple[Any, Any, Any]] = []
    for turn, first in enumerate(range(0, len(source), PINNED_BYTES)):
        some, target = source[first : first + PINNED_BYTES], out[first : first + PINNED_BYTES]
        held, done = _buffers[where][turn % 2][: len(some)], torch.cuda.Event()
        held.copy_(some, non_blocking=True)
        done.record()
        waiting.append((held, target, done))
        if len(waiting) == 2:
            _emptied(*waiting.pop(0))
    for each in waiting:
        _emptied(*each)


def _emptied(held: Any, target: Any, done: Any) -> None:
    done.synchronize()
    target.copy_(held)
