"""Rows that are pictures: the mean, the components as pictures, and some rows rebuilt from more and more components."""

from __future__ import annotations

from typing import Any

import numpy as np

from ritz._core.errors import ParameterError
from ritz.report.context import Context
from ritz.report.html import figure, join, percent, tag
from ritz.report.pack import shade
from ritz.report.part import Content, Part

__all__ = ["PART"]

#: Components shown, rows rebuilt, and pixels of a picture at most.
COMPONENTS, ROWS, PIXELS = 16, 6, 256 * 256


def _applies(about: Context) -> bool:
    return about.image_shape is not None and about.linear and about.k > 0


def _build(about: Context) -> Content:
    high, wide = (int(side) for side in about.image_shape or (0, 0))
    V = np.asarray(about.model.components_, np.float64)
    if high * wide != V.shape[1]:
        raise ParameterError(
            f"image_shape holds {V.shape[1]:,} pixels", received=f"{high}×{wide} = {high * wide:,}",
            hint="(height, width) of one row",
        )  # fmt: skip
    step = max(1, int(np.ceil(np.sqrt(high * wide / PIXELS))))
    scale = getattr(about.model, "scale_", None)
    back = V if scale is None else V * np.asarray(scale, np.float64)
    mean = getattr(about.model, "mean_", None)
    rebuilt = _rebuilt(about)
    drawn: dict[str, Any] = {
        "shape": [len(range(0, high, step)), len(range(0, wide, step))],
        "mean": None if mean is None else _picture(mean, high, wide, step),
        "components": [
            {"name": f"{about.axes[i]}, {percent(about.shares[i])}", **_picture(back[i], high, wide, step)}
            for i in range(min(about.k, COMPONENTS))
        ],
        "rebuilt": [
            {"name": name, "steps": [{"k": k, **_picture(values, high, wide, step)} for k, values in steps]}
            for name, steps in rebuilt
        ],
    }
    smaller = f" Every {step}th pixel is shown." if step > 1 else ""
    lead = tag("p", f"Each component is a picture of {high}×{wide} pixels: one colour where it adds, the other where "
               f"it takes away.{smaller}")  # fmt: skip
    label = f"The mean and the first {len(drawn['components'])} components as pictures, and rows rebuilt from them"
    return Content(join(lead, figure("pictures", label)), drawn)


def _picture(values: Any, high: int, wide: int, step: int) -> dict[str, Any]:
    return {"values": shade(np.asarray(values, np.float64).reshape(high, wide)[::step, ::step])}


def _rebuilt(about: Context) -> list[tuple[str, list[tuple[int, Any]]]]:
    """Some rows from 1, 2, 4 … components, and as they are (k = 0)."""
    if about.rows is None:
        return []
    m = len(about.index)
    chosen = np.unique(np.linspace(0, m - 1, min(ROWS, m)).astype(np.intp))
    rows = about.rows.take(about.index[chosen])
    T = np.asarray(about.model.transform(rows), np.float64)
    counts = [k for k in (1, 2, 4, 8, 16, 32, 64) if k < about.k] + [about.k]
    frames = []
    for k in counts:
        leading = np.zeros_like(T)
        leading[:, :k] = T[:, :k]
        back = about.model.preimages(leading).rows if about.kernel else about.model.inverse_transform(leading)
        frames.append((k, np.asarray(back)))
    plain = (
        rows
        if isinstance(rows, np.ndarray)
        else np.asarray(rows.toarray() if hasattr(rows, "toarray") else _dense(about, rows))
    )
    return [
        (about.row_name(int(place)), [*[(k, frame[i]) for k, frame in frames], (0, plain[i])])
        for i, place in enumerate(chosen)
    ]


def _dense(about: Context, rows: Any) -> Any:
    from ritz.insight.rows.plane import rows_of

    return rows_of(about.model, rows)


PART = Part("pictures", "Components as pictures", _applies, _build)
