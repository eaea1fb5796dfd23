"""Sums of squares of rows on a device against a plane, formed where the rows lie.

Σ w‖z − QQᵀz‖²          Σ w(zV)² of every column          z = (x − μ) D_σ⁻¹ in float64
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.data.engines.device.room import with_room
from ritz.data.passes.device.exact import exact

__all__ = ["along_there", "off_there", "stays"]

Floats = NDArray[np.float64]


def stays(rows: Any) -> bool:
    """Whether these are dense rows on a device, whose sums are formed there."""
    return bool(getattr(rows, "computes", False)) and not rows.sparse


def off_there(rows: Any, weights: Floats | None, Q: Floats, frame: dict[str, Any]) -> float:
    """Σ w‖z − QQᵀz‖² over rows."""

    def run() -> float:
        total = 0.0
        for z, w in _framed(rows, weights, frame):
            basis = _at(Q, z)
            left = z - (z @ basis) @ basis.T
            squares = (left * left).sum(dim=1)
            total += float(squares.sum() if w is None else (w * squares).sum())
        return total

    return with_room(rows, "what the plane leaves of the rows", run)


def along_there(rows: Any, weights: Floats | None, V: Floats, frame: dict[str, Any]) -> Floats:
    """(k,) Σ w(zV)² over rows."""

    def run() -> Floats:
        total = np.zeros(V.shape[1])
        for z, w in _framed(rows, weights, frame):
            y = z @ _at(V, z)
            y = y * y
            total += np.asarray((y if w is None else y * w[:, None]).sum(dim=0).cpu().numpy())
        return total

    return with_room(rows, "coordinates of the rows", run)


def _framed(rows: Any, weights: Floats | None, frame: dict[str, Any]) -> Iterator[tuple[Any, Any]]:
    """Blocks z in float64, with the weights of their rows; rows of weight zero are zeros, and count nothing."""
    import torch

    with exact(rows.place.device):
        for first, part in rows.parts():
            for block in part.each_there():
                z = block.values.to(torch.float64)
                for name in ("mean", "low"):
                    z = z if frame.get(name) is None else z - _at(frame[name], z)
                z = z if frame.get("scale") is None else z / _at(frame["scale"], z)
                at = slice(first + block.start, first + block.start + len(z))
                yield z, None if weights is None else _at(weights[at], z)


def _at(x: Any, like: Any) -> Any:
    import torch

    return torch.as_tensor(np.ascontiguousarray(x, np.float64), device=like.device)
