"""Documents as a report looks at them: coordinates, names, the beginnings of their texts, and what chance reaches.

Documents of the fit have their coordinates in the model; others are read and placed. Nothing is read twice: a text is
asked for where it is shown, and not at all where it cannot be read again.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import EmptyDocuments, RitzError
from ritz._core.lazy import cached_property
from ritz._core.warn import unsaid
from ritz.methods.lsi.chance import Chance, chance_of
from ritz.methods.lsi.counted import is_counts
from ritz.methods.lsi.keeps import Keeps
from ritz.methods.lsi.weighed import counts_of
from ritz.report.rows import Rows
from ritz.text.adopt import documents

__all__ = ["TextRows", "text_rows"]

#: Characters of a text that are shown.
BEGINNING = 240
#: Relative difference up to which coordinates are those of the fit.
SAME = 1e-6


class TextRows(Rows):
    """Documents; X is None where they are those of the fit and cannot be read."""

    coordinates: NDArray[np.float64]  # (n, k)
    of_fit: bool

    def take(self, index: NDArray[np.intp]) -> Any:
        return index

    def columns(self, rows: Any) -> Iterator[tuple[str, Any]]:
        yield from ()

    def labels(self, rows: Any) -> list[str] | None:
        names = self.names
        return None if names is None else [str(names[i]) for i in rows.tolist()]

    @property
    def names(self) -> list[Any] | None:
        """Names of all documents."""
        kept = Keeps(self.model).names if self.of_fit else None
        return getattr(self.X, "names", None) if kept is None else kept

    def beginnings(self, index: Any) -> list[str] | None:
        """The first words of some documents; None where they cannot be read."""
        wanted = [int(i) for i in index]
        try:
            keeps = Keeps(self.model)
            texts = keeps.texts(wanted) if self.of_fit and keeps.readable else self._read(wanted)
        except RitzError:
            return None
        return None if texts is None else [" ".join(text[: 4 * BEGINNING].split())[:BEGINNING] for text in texts]

    def _read(self, wanted: list[int]) -> list[str] | None:
        found: list[str] | None = None if self.X is None or is_counts(self.X) else self.X.texts_of(wanted)
        return found

    @cached_property
    def chance(self) -> Chance | None:
        """How many topics are more than chance; None where the counts of the fit are not known."""
        counts = Keeps(self.model).counts
        if counts is not None:
            return chance_of(self.model, counts)
        if not self.of_fit or self.X is None:
            return None
        return chance_of(self.model, counts_of(self.model, self.X).counts)


def text_rows(model: Any, X: Any) -> TextRows | None:
    """Documents of the fit, or others."""
    source = Keeps(model).source
    if X is None or X is source:
        rows = TextRows(source if X is None and not isinstance(source, list) else X, int(model.n_samples_), model)
        place(rows, np.asarray(model.embedding_, np.float64), True)
        return rows
    docs = X if is_counts(X) else documents(X, memory=model.memory)
    if not is_counts(docs) and not docs.reiterable:
        return None
    with unsaid(EmptyDocuments):
        placed = np.asarray(model.transform(docs), np.float64)
    rows = TextRows(docs, len(placed), model)
    E = np.asarray(model.embedding_, np.float64)
    same = E.shape == placed.shape and bool(np.all(np.abs(E - placed) <= SAME * np.max(np.abs(E), initial=1.0)))
    place(rows, placed, same)
    return rows


def place(rows: TextRows, coordinates: NDArray[np.float64], of_fit: bool) -> None:
    """Give documents their coordinates."""
    object.__setattr__(rows, "coordinates", coordinates)
    object.__setattr__(rows, "of_fit", of_fit)
