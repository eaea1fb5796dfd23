"""The nearest documents of any document, by the cosine of their topics, with the beginnings of their texts."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.methods.lsi.keeps import Keeps
from ritz.methods.lsi.search import exact as nearest
from ritz.report.context import Context
from ritz.report.html import KEPT, Html, bdi, clip, details, figure, join, number, table, tag
from ritz.report.pack import exact, wide
from ritz.report.part import Content, Part
from ritz.report.text_rows import TextRows

__all__ = ["PART"]

#: Documents that can be chosen, neighbours of each, documents whose beginnings are shown, and lines of the table.
MOST, NEAR, TEXTS, LINES = 4_000, 8, 3_000, 12


def _applies(about: Context) -> bool:
    return about.texts and about.k > 0 and isinstance(about.rows, TextRows) and about.rows.n > 1


def _build(about: Context) -> Content:
    rows = about.rows
    if not isinstance(rows, TextRows):  # applies() has looked
        return Content(Html(""))
    E, norms = rows.coordinates, _norms(about, rows)
    offered = about.index[norms[about.index] > 0]
    if len(offered) > MOST:
        offered = np.sort(np.random.default_rng(0).choice(offered, MOST, replace=False))
    near, cosines = _nearest(E, norms, offered)
    there = np.unique(np.concatenate([offered, near[near >= 0]]))
    names = rows.names
    texts = rows.beginnings(there) if len(there) <= TEXTS else None
    drawn: dict[str, Any] = {
        "documents": wide(there),
        "names": [f"row {i + 1:,}" if names is None else clip(names[i], KEPT) for i in there.tolist()],
        "texts": texts,
        "offered": wide(np.searchsorted(there, offered)),
        "near": wide(np.where(near >= 0, np.searchsorted(there, np.maximum(near, 0)), 2**32 - 1).ravel()),
        "cosines": exact(cosines.ravel()),
        "each": near.shape[1],
    }
    some = "" if len(offered) == about.n else f" {len(offered):,} of {about.n:,} documents can be chosen."
    lead = tag("p", f"The documents whose topics are most like those of one that you choose here, or by a click in the "
               f"map above; 1 is the same direction, 0 nothing in common.{some}")  # fmt: skip
    named = dict(zip(there.tolist(), drawn["names"], strict=True))
    shown = [_line(named, int(offered[i]), int(near[i, 0]), cosines[i, 0]) for i in range(min(LINES, len(offered)))]
    below = details(
        "Nearest documents as a table", table(("document", "nearest", "cosine"), shown, "Neighbours", words=2)
    )
    return Content(join(lead, figure("neighbours", "Nearest documents of one that can be chosen"), below), drawn)


def _norms(about: Context, rows: TextRows) -> NDArray[np.float64]:
    return Keeps(about.model).sizes if rows.of_fit else np.asarray(np.linalg.norm(rows.coordinates, axis=1))


def _nearest(E: NDArray[np.float64], norms: NDArray[np.float64], offered: NDArray[np.intp]) -> tuple[
    NDArray[np.int64], NDArray[np.float64]
]:  # fmt: skip
    """Rows (m, NEAR) and cosines of the neighbours of each; −1 where there are fewer."""
    near, cosines = np.full((len(offered), NEAR), -1, np.int64), np.full((len(offered), NEAR), np.nan)
    for i, (found, scores) in enumerate(nearest(E, norms, E[offered], NEAR + 1) if len(offered) else ()):
        other = found != offered[i]
        m = min(NEAR, int(np.count_nonzero(other)))
        near[i, :m], cosines[i, :m] = found[other][:m], scores[other][:m]
    return near, cosines


def _line(names: dict[int, str], row: int, near: int, cosine: float) -> tuple[Html, Html, str]:
    return bdi(names[row], 40), bdi(names[near], 40) if near >= 0 else Html("–"), number(cosine, 3)


PART = Part("neighbours", "Nearest documents", _applies, _build)
