"""Rows in memory: arrays, sparse matrices, frames, lists. This engine takes whatever no other does.

    array, CSR, list   →   the same memory, checked          frame   →   one array, or row blocks of its columns

What the memory limit does not hold is used as it lies, some rows at a time: the columns of a frame, the file behind a
map, whose pages count as memory.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ritz._core.memory import LITTLE
from ritz.data.engines import Asked, Columns, Engine

__all__ = ["COPY_SHARE", "ENGINE"]

#: Share of the memory limit up to which the columns of a frame or table in memory are laid side by side in one array;
#: beyond it they are used as they lie, some rows at a time.
COPY_SHARE = 0.5


class Memory(Engine):
    """Rows in memory."""

    name = "memory"
    foreign = False

    def takes(self, X: Any) -> bool:
        """Everything; what has no rows and columns is refused by ``adopt``."""
        return True

    def adopt(self, X: Any, asked: Asked) -> Any:
        """The rows, checked; row blocks where the limit does not hold them."""
        from ritz.data.column_checks import checked_data
        from ritz.data.engines.memory.arrays import native, plain, real
        from ritz.data.tables.frames import is_frame

        if isinstance(X, np.memmap) and (rows := _unmapped(X, asked.room)) is not None:
            return asked.recorded(rows)
        if is_frame(X):
            return _from_frame(X, asked)
        rows = real(plain(X), asked.accept_sparse)
        return native(checked_data(asked.estimator, rows, reset=asked.reset, **asked.options))

    def columns(self, X: Any) -> Columns:
        """Shape, dtype and names."""
        from ritz.data.tables.frames import frame_names, is_frame

        rows = self.adopt(X, Asked())
        return Columns(rows.shape, rows.dtype, [str(name) for name in frame_names(X)] if is_frame(X) else None)

    def opened(self, X: Any, memory: Any = None) -> Any:
        """Columns in memory."""
        from ritz.data.encode.columns import memory_columns

        return memory_columns(X, memory=memory)

    def labels(self, X: Any) -> list[Any] | None:
        """A pandas index that names rows."""
        from ritz.data.tables.frames import index_labels

        return index_labels(X)

    def outside(self, X: Any) -> bool:
        """No: it is here."""
        return False


def _from_frame(X: Any, asked: Asked) -> Any:
    """Names from the frame, numbers from our own conversion: scikit-learn's uses object arrays."""
    from ritz.data.column_checks import checked_data
    from ritz.data.engines.memory.arrays import native, real, untouched
    from ritz.data.engines.stream.blocks import StreamBlocks
    from ritz.data.tables.frames import copied_bytes, frame_source, frame_to_rows, require_names

    require_names(X)
    checked_data(asked.estimator, X, reset=asked.reset, skip_check_array=True)
    size = copied_bytes(X)
    little = asked.memory is None and size <= LITTLE  # not weighed against what is available
    if not little and size > COPY_SHARE * (room := asked.room):
        return StreamBlocks(frame_source(X), budget=room)
    asked.charge(size)
    rows = real(frame_to_rows(X), asked.accept_sparse)
    if untouched(rows):
        return rows
    from sklearn.utils.validation import check_array

    return native(check_array(rows, input_name="X", estimator=asked.estimator, **asked.options))


def _unmapped(X: Any, budget: float) -> Any | None:
    """Rows read from a mapped file that the memory limit does not hold: mapped pages count as memory; else None."""
    from ritz.data.engines.stream.blocks import StreamBlocks
    from ritz.data.formats.npy import NpySource

    if X.ndim != 2 or X.nbytes <= budget / 2:
        return None
    source = NpySource.of_map(X)
    return None if source is None else StreamBlocks(source, budget=budget)


ENGINE = Memory()
