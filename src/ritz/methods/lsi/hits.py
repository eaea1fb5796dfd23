"""What a search finds: rows of documents, best first, with their scores, names and texts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.tabular import Tabular
from ritz._core.visible import visible
from ritz.data.words import cut

__all__ = ["Hits"]

#: Characters of a text, and of a name, in the printed table.
TEXT, NAME = 72, 28


@dataclass(frozen=True, repr=False)
class Hits(Tabular):
    """Documents that were found, best first.

    Attributes
    ----------
    rows : (m,) numbers of the documents, from 0, in the order of the fit and its updates
    scores : (m,) cosines with the query; with ``hybrid`` the weighted sum of standard scores
    names : names of the documents (paths in a folder, the index of a frame), or None
    texts : the documents themselves, read again from their source; None where the model cannot reach them
    query : what was asked
    note : why nothing was found; empty otherwise
    found : how many documents have a cosine above 0, or with ``hybrid`` a word of the query, of which these are the
        best; None where an index has not looked at all

    Examples
    --------
    >>> import ritz
    >>> lsi = ritz.LSI(2).fit(["red wine", "white wine", "thin wings", "wings in flutter"])
    >>> hits = lsi.search("flutter", top=2)
    >>> hits.rows, hits.texts
    (array([3, 2]), ['wings in flutter', 'thin wings'])
    >>> len(lsi.search("zebra")), lsi.search("zebra").note
    (0, 'no word of the query is known: zebra')
    """

    rows: NDArray[np.int64]
    scores: NDArray[np.float64]
    names: list[Any] | None = None
    query: str = ""
    note: str = ""
    found: int | None = None
    _texts: Callable[[list[int]], list[str] | None] | None = field(default=None, compare=False)

    @property
    def texts(self) -> list[str] | None:
        """The documents themselves; None where the model cannot reach them (``model.attach`` gives them back)."""
        return None if self._texts is None else self._texts([int(row) for row in self.rows])

    @property
    def many(self) -> str:
        """``3``, or ``3 of 17`` where more were found than these."""
        n = len(self.rows)
        return f"{n:,}" if self.found is None or self.found <= n else f"{n:,} of {self.found:,}"

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[tuple[int, float]]:
        return iter([(int(row), float(score)) for row, score in zip(self.rows, self.scores, strict=True)])

    def __repr__(self) -> str:
        head = f"{self.many} hit{'' if self.many == '1' else 's'}"
        head += f" for {cut(visible(self.query), 60)!r}" if self.query else ""
        lines = [head]
        texts = self.texts if len(self.rows) else None
        for i, (row, score) in enumerate(self):
            name = "" if self.names is None else f"  {cut(visible(str(self.names[i])), NAME):<{NAME}}"
            text = "" if texts is None else f"  {cut(' '.join(visible(texts[i][: 8 * TEXT]).split()), TEXT)}"
            lines.append(f"{i + 1:>3}  row {row:<6} {round(score, 4) + 0.0:>7.4f}{name}{text}".rstrip())
        if self.note:
            lines.append(self.note)
        return "\n".join(lines)

    def _table(self) -> dict[str, Any]:
        table: dict[str, Any] = {"row": self.rows, "score": self.scores}
        table |= {} if self.names is None else {"name": self.names}
        texts = self.texts if len(self.rows) else None
        return table if texts is None else table | {"text": texts}
