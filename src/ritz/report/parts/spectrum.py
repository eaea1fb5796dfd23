"""Eigenvalues of a graph, a walk or an alignment: no shares of anything, but values with gaps between them."""

from __future__ import annotations

import numpy as np

from ritz.data.words import percent
from ritz.report.context import Context
from ritz.report.html import details, figure, join, number, table, tag
from ritz.report.pack import few
from ritz.report.part import Content, Part

__all__ = ["PART"]

#: Eigenvalues that are drawn.
SHOWN = 30
#: Gap, as a share of the eigenvalue, below which an axis is said to turn into the next.
NARROW = 0.05


def _applies(about: Context) -> bool:
    return about.maps and about.k > 0 and not about.known.tells_shares and bool(about.known.about.tells)


def _build(about: Context) -> Content:
    known = about.known
    values, gaps = known.values[:SHOWN], known.gaps[:SHOWN]
    words = f"An eigenvalue {known.about.tells}. It is no share of a variance."
    close = _close(about, values, gaps)
    ceiling = about.model.certificate_.ceiling
    beyond = float(ceiling) if np.isfinite(ceiling) and np.isfinite(gaps[-1]) else None
    drawn = {"values": few(values), "axes": about.axes[: len(values)], "next": beyond, "gaps": few(gaps),
             "what": known.about.measure, "smallest": about.model.certificate_.which == "smallest"}  # fmt: skip
    rows = [(about.axes[i], number(values[i], 5), number(gaps[i], 2)) for i in range(len(values))]
    below = details("Eigenvalues as a table", table((about.component, "eigenvalue", "gap to the next"), rows,
                    "Eigenvalues; the last gap is at least as large"))  # fmt: skip
    lead = [tag("p", word) for word in (words, close) if word]
    return Content(join(lead, figure("spectrum", words), below), drawn)


def _close(about: Context, values: np.ndarray, gaps: np.ndarray) -> str:
    """Axes that turn into the next one."""
    with np.errstate(divide="ignore", invalid="ignore"):
        near = gaps / np.maximum(np.abs(values), 1e-300) < NARROW
    names = [about.axes[i] for i in np.flatnonzero(near & np.isfinite(gaps))]
    if not names:
        return ""
    which = names[0] if len(names) == 1 else ", ".join(names[:-1]) + " and " + names[-1]
    verb = "lies" if len(names) == 1 else "lie"
    return (
        f"{which} {verb} within {percent(NARROW)} of the next eigenvalue: small changes of the rows may turn these "
        "axes into each other."
    )


PART = Part("spectrum", "Eigenvalues and gaps", _applies, _build)
