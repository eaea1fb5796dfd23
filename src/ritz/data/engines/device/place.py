"""Rows put where ``device`` asks for: those of the host are copied to the device, or stream there in every pass.

rows on a device            as they lie; an explicit other device is refused
rows in memory              one copy on the device, where it fits into SHARE of the free memory there
all else, row blocks        host blocks, copied block by block in every pass (``streamed.py``)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ritz._core.device import device_memory, place_for, places_for, require_same, within_memory
from ritz._core.errors import MissingDependency, ParameterError
from ritz._core.linalg import HOST, Place
from ritz.data.engines.device.blocks import DeviceBlocks, csr_tensor, hosted
from ritz.data.passes.blocks import are_blocks
from ritz.data.passes.integers import EXACT

__all__ = ["SHARE", "placed", "placed_for"]

#: Share of the free memory of a device that rows may take: solvers hold bases and products beside them.
SHARE = 0.6
#: Unsigned integers that torch does not compute with, by those that hold them.
SIGNED = {"uint16": np.int32, "uint32": np.int64, "uint64": np.int64, "bool": np.uint8}


def placed_for(estimator: Any, rows: Any, *, reset: bool) -> Any:
    """Adopted rows where an estimator computes: on its device, or on the host if its passes are those of the host.

    A model that was fitted on a device serves where there is none: ``reset`` is False then.
    """
    device = getattr(estimator, "device", "cpu")
    if not getattr(estimator, "_on_device", False):
        if reset:
            place_for(device)  # which refuses one that is not there
        return hosted(rows)
    try:
        return placed(rows, device)
    except (ParameterError, MissingDependency):
        if reset:
            raise
        return rows


def placed(rows: Any, device: str) -> Any:
    """Rows, or row blocks, where ``device`` is; as they are where that is the host."""
    if isinstance(rows, DeviceBlocks) or hasattr(rows, "place"):
        if device not in ("cpu", "auto", "cuda", "cuda:all"):
            require_same(place_for(device), _first(rows))
        return rows
    if device == "cpu":
        return rows
    places = places_for(device)
    if places[0] == HOST:
        return rows
    if are_blocks(rows):
        return _streamed(rows, places[0])
    from ritz.data.engines.device.shards import shared_out

    return shared_out(rows, places, _array if isinstance(rows, np.ndarray) else _csr)


def _first(rows: Any) -> Any:
    return rows.parts()[0][1].tensor if hasattr(rows, "parts") else rows.tensor


def _streamed(rows: Any, place: Place) -> Any:
    from ritz.data.engines.device.streamed import StreamedBlocks

    return StreamedBlocks(rows, place)


def _fits(size: float, place: Place) -> bool:
    return size <= SHARE * device_memory(place)[0]


def _array(rows: Any, place: Place) -> Any:
    if rows.dtype == np.uint64 and rows.size and int(rows.max()) > EXACT:
        return rows  # which no dtype of the device holds: the host takes them apart
    kind = SIGNED.get(rows.dtype.name)
    rows = rows if kind is None else rows.astype(kind)
    if not _fits(rows.nbytes, place):
        from ritz.data.passes.blocks import MemoryBlocks

        return _streamed(MemoryBlocks(rows), place)
    from ritz.data.engines.device.upload import Arriving, uploaded

    with within_memory(place, "a copy of the rows"):
        if place.device.type == "cpu":
            return DeviceBlocks(uploaded(rows, place))
        arriving = Arriving(rows, place)
        return DeviceBlocks(arriving.out, arriving=arriving)


def _csr(rows: Any, place: Place) -> Any:
    kind = rows.dtype if rows.dtype in (np.float32, np.float64) else np.float32 if rows.dtype == np.float16 else None
    entries = rows.data.astype(np.float64 if kind is None else kind, copy=False)
    if not _fits(entries.nbytes + rows.indices.nbytes + rows.indptr.nbytes, place):
        from ritz.data.passes.blocks import MemoryBlocks

        return _streamed(MemoryBlocks(rows), place)
    from ritz.data.engines.device.upload import uploaded

    with within_memory(place, "a copy of the sparse rows"):
        wide = np.int32 if max(rows.shape[1], rows.nnz) < 2**31 else np.int64
        parts = [uploaded(part, place) for part in (rows.indptr.astype(wide), rows.indices.astype(wide), entries)]
        ends, columns, values = parts
        return DeviceBlocks(csr_tensor(ends, columns, values, rows.shape))
