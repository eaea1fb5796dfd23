"""What a pass ships to the workers of any cluster: two functions and the arrays they hold.

    (create, step)  →  pickled head  +  arrays of any size, beside it  +  arrays of n rows, cut by partition

Opening a parcel copies no array. An array of one entry a row (weights, offsets, a block of n×l) would go to every
worker whole; instead each partition gets its rows, and inside of a task they are indexed as if all were there.
"""

from __future__ import annotations

import io
import pickle
from collections.abc import Sequence
from typing import Any

import numpy as np

__all__ = ["CutArray", "Parcel"]

#: Arrays of n rows with fewer bytes travel whole.
CUT_BYTES = 1 << 16


class CutArray:
    """Rows of an array of n rows, indexed by where they stand in the whole table."""

    def __init__(self, values: Any, start: int, shape: tuple[int, ...], dtype: Any) -> None:
        self._values, self._start, self.shape, self.dtype = values, start, shape, np.dtype(dtype)

    def __getitem__(self, key: Any) -> Any:
        rows, *rest = key if isinstance(key, tuple) else (key,)
        return self._values[(slice(rows.start - self._start, rows.stop - self._start), *rest)]


class Parcel:
    """``(create, step)`` pickled, with its arrays beside it so that opening it copies nothing."""

    def __init__(
        self, pair: tuple[Any, Any], shape: tuple[int, int], name: str, allocated: float, pickling: Any = None
    ) -> None:
        self.name, self.held = name, allocated  # the name of the pass, and bytes that each of its tasks allocates
        stream, buffers = io.BytesIO(), []  # type: ignore[var-annotated]
        packer = _packer(stream, buffers, shape, pickling)
        packer.dump(pair)
        self.head = stream.getvalue()
        self.buffers = [np.frombuffer(buffer.raw(), np.uint8) for buffer in buffers]
        self._long: list[Any] = packer.long
        self.errors = np.geterr()

    def take_long(self) -> list[Any]:
        """The arrays that were taken out, in the order of the cuts that ``open`` wants."""
        long, self._long = self._long, []
        return long

    def open(self, cuts: Sequence[Any] | None = None, start: int = 0) -> tuple[Any, Any]:
        """``create`` and ``step``; without cuts they can create but not step."""
        create, step = _Opener(io.BytesIO(self.head), self.buffers, cuts, start).load()
        return create, step


def _packer(stream: Any, buffers: list[Any], shape: tuple[int, int], pickling: Any) -> Any:
    """A pickler of functions that lays arrays of n rows aside.

    ``pickling``: the cloudpickle that the workers have, where it is a library's own; else the package of that name.
    """
    from importlib import import_module

    library = import_module("cloudpickle") if pickling is None else pickling
    n, d = shape

    class Packer(library.Pickler):  # type: ignore[name-defined]
        long: list[Any]

        def persistent_id(self, thing: Any) -> Any:
            # n > d, so that nothing else that a pass holds can have n rows: vectors have d entries, blocks fewer.
            if type(thing) is not np.ndarray or thing.ndim == 0 or thing.shape[0] != n or n <= d:
                return None
            if thing.nbytes < CUT_BYTES:
                return None
            at = next((i for i, other in enumerate(self.long) if other is thing), len(self.long))
            if at == len(self.long):
                self.long.append(thing)
            return at, thing.shape, thing.dtype.str

    packer = Packer(stream, protocol=5, buffer_callback=buffers.append)
    packer.long = []
    return packer


class _Opener(pickle.Unpickler):
    def __init__(self, stream: Any, buffers: list[Any], cuts: Sequence[Any] | None, start: int) -> None:
        super().__init__(stream, buffers=buffers)
        self._cuts, self._start = cuts, start

    def persistent_load(self, pid: Any) -> CutArray:
        at, shape, dtype = pid
        return CutArray(None if self._cuts is None else self._cuts[at], self._start, shape, dtype)
