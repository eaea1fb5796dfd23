"""Documents: texts in a fixed order, read in batches from wherever they lie.

    batches(n_bytes)   →  lists of str, one after the other, each of about so many characters
    text_of(row)       →  one text again, where the source can be read again
    names              →  labels of the rows: paths in a folder, the index of a frame; None without any

A missing text (None, NaN) is an empty one, and counted. What is no text is an error that names the row.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ritz._core.errors import InputError
from ritz.data.words import counted, describe

__all__ = ["BATCH", "Documents", "InMemory", "Once", "of_rows"]

#: Characters of a batch: words are joined once for each, and what is made of it stays below 50 MB (1 to 16 MB are
#: equally fast, and several threads have one batch each).
BATCH = 1 << 22
#: Rows that are taken from memory at a time.
TOGETHER = 1 << 12


class Documents:
    """Texts in a fixed order; made by ``ritz.text.documents``.

    Attributes
    ----------
    names : list of str or None
        Labels of the documents.
    reiterable : bool
        Whether the texts can be read more than once.
    missing : int
        Texts that were missing (None, NaN) when they were last read to the end; they count as empty.
    notes : tuple of str
        What had to be decided, in words.

    Examples
    --------
    >>> import ritz
    >>> docs = ritz.text.documents(["red cat", None, "thin wings"])
    >>> len(docs), docs.text_of(2), list(docs)
    (3, 'thin wings', ['red cat', '', 'thin wings'])
    >>> [batch for batch in docs.batches(8)]
    [['red cat', ''], ['thin wings']]
    """

    names: list[str] | None = None
    reiterable: bool = True
    notes: tuple[str, ...] = ()
    origin: Any = None  # how a report says where they came from

    def __init__(self, where: str = "texts", *, batch: int = BATCH) -> None:
        self.where = where
        self.missing = 0
        self._batch = batch

    @property
    def n_documents(self) -> int | None:
        """How many documents there are; None where only reading would tell."""
        return None

    def items(self) -> Iterator[Any]:
        """What stands in each row, from the first on: a text, or something that is missing, or no text."""
        raise NotImplementedError

    def batches(self, n_bytes: int | None = None) -> Iterator[list[str]]:
        """Lists of texts, one after the other.

        Parameters
        ----------
        n_bytes : int, optional
            Characters of a batch, about; a longer document is a batch of its own.
        """
        most = self._batch if n_bytes is None else max(1, int(n_bytes))
        batch: list[str] = []
        size = missing = row = 0
        for items in self.pieces():
            texts = items
            if not set(map(type, items)) <= {str}:
                texts = [self._text(row + i, item) for i, item in enumerate(items)]
                missing += sum(map(_is_missing, items))
            row += len(items)
            total = sum(map(len, texts))
            if size + total <= most:
                batch.extend(texts)
                size += total
                continue
            for text in texts:
                if batch and size + len(text) > most:
                    yield batch
                    batch, size = [], 0
                batch.append(text)
                size += len(text)
        if batch:
            yield batch
        self.missing = missing

    def pieces(self) -> Iterator[Sequence[Any]]:
        """The items, several at a time where they are in memory anyway."""
        for item in self.items():
            yield [item]

    def text_of(self, row: int) -> str:
        """One text again.

        Parameters
        ----------
        row : int
            Its number from 0.
        """
        return self.texts_of([row])[0]

    def texts_of(self, rows: Sequence[int]) -> list[str]:
        """Several texts again, in the order of ``rows``; files are read once for all of them.

        Parameters
        ----------
        rows : sequence of int
            Their numbers from 0.
        """
        if not self.reiterable:
            raise InputError(
                "expected documents that can be read again",
                received=repr(self),
                hint="give a list, a table, or a path; an iterator is gone once it was read",
            )
        wanted = [int(row) for row in rows]
        chosen, last, found = set(wanted), max(wanted, default=-1), dict[int, str]()
        for row, item in enumerate(self.items() if wanted else ()):
            if row in chosen:
                found[row] = self._text(row, item)
            if row >= last:
                break
        lost = [row for row in wanted if row not in found]
        if lost:
            raise self._no_row(lost[0])
        return [found[row] for row in wanted]

    def check_unchanged(self) -> None:
        """Raise ``DataChanged`` where files are not what they were when they were first looked at."""

    def __iter__(self) -> Iterator[str]:
        for batch in self.batches():
            yield from batch

    def __len__(self) -> int:
        n = self.n_documents
        if n is None:  # what list() and its kin expect of things without a length
            raise TypeError(f"{self!r} has no length until it is read")
        return n

    def __bool__(self) -> bool:
        return True

    def __repr__(self) -> str:
        n = self.n_documents
        size = "not counted yet" if n is None else counted(n, "document")
        return f"Documents({self.where}: {size})"

    def _text(self, row: int, item: Any) -> str:
        if isinstance(item, str):
            return item
        if _is_missing(item):
            return ""
        raise self._no_text(row, item)

    def _no_text(self, row: int, item: Any) -> InputError:
        binary = isinstance(item, (bytes, bytearray))
        return InputError(
            f"expected a text in row {row} of {self.where}",
            received=describe(item),
            hint="decode bytes first: item.decode('utf-8')" if binary else "texts are str; None and NaN count as empty",
        )

    def _no_row(self, row: int) -> InputError:
        return InputError(f"expected a row of {self!r}", received=f"row {row}", hint="rows are counted from 0")


class InMemory(Documents):
    """Texts of a list, an array, a Series."""

    def __init__(self, items: Any, names: list[str] | None = None, where: str = "texts", *, batch: int = BATCH) -> None:
        super().__init__(where, batch=batch)
        self._items = items
        self.names = names

    @property
    def n_documents(self) -> int | None:
        """How many documents there are."""
        return len(self._items)

    def items(self) -> Iterator[Any]:
        """What stands in each row."""
        for piece in self.pieces():
            yield from piece

    def pieces(self) -> Iterator[Sequence[Any]]:
        """The items, several at a time: of Arrow arrays not all are Python objects at once."""
        for start in range(0, len(self._items), TOGETHER):
            piece = self._items[start : start + TOGETHER]
            yield piece.to_pylist() if hasattr(piece, "to_pylist") else piece

    def texts_of(self, rows: Sequence[int]) -> list[str]:
        """Several texts again, in the order of ``rows``."""
        found = []
        for row in rows:
            if not 0 <= row < len(self._items):
                raise self._no_row(row)
            item = self._items[int(row)]
            found.append(self._text(row, item.as_py() if hasattr(item, "as_py") else item))
        return found


class Once(Documents):
    """Texts of an iterable; an iterator is gone once it was read."""

    def __init__(self, source: Iterable[Any], *, batch: int = BATCH) -> None:
        super().__init__("an iterable", batch=batch)
        self._source = source
        self.reiterable = iter(source) is not source if not isinstance(source, Iterator) else False
        self._begun = False

    def items(self) -> Iterator[Any]:
        """What the iterable gives."""
        if self._begun and not self.reiterable:
            raise InputError(
                "expected documents that can be read again",
                received="an iterator that was read already",
                hint="give a list or a path, or make the iterator again",
            )
        self._begun = True
        yield from self._source


class OfTable(Documents):
    """Texts of one column of a ``ritz.Table``."""

    def __init__(self, table: Any, column: str, *, batch: int = BATCH) -> None:
        super().__init__(f"column {column!r} of {table.source or 'the table'}", batch=batch)
        self._table, self._column = table, column
        self.reiterable = table.repeatable

    @property
    def n_documents(self) -> int | None:
        """How many rows the table has; None where only reading would tell."""
        n: int | None = self._table.n_rows
        return n

    def items(self) -> Iterator[Any]:
        """The entries of the column."""
        for piece in self.pieces():
            yield from piece

    def pieces(self) -> Iterator[Sequence[Any]]:
        """The entries of the column, several at a time."""
        for piece in self._table.batches([self._column]):
            yield piece.column(0).to_pylist()


def of_rows(table: Any, column: str | None, *, batch: int = BATCH) -> Documents:
    """Documents of a column of a ``ritz.Table``, which may be left out where there is one column only."""
    if column is None:
        texts = [name for name, kind in table.kinds.items() if kind != "numeric"]
        if len(table.names) != 1:
            raise InputError(
                f"expected text= with the name of the column of texts of {table.source or 'the table'}",
                received=f"{counted(len(table.names), 'column')} and no name",
                hint=f"text={(texts or table.names)[-1]!r}",
            )
        column = table.names[0]
    if column not in table.names:
        table.labels(column)  # raises, with the name that was meant
    return OfTable(table, column, batch=batch)


def _is_missing(item: Any) -> bool:
    """None, NaN, NaT or pandas' NA."""
    if item is None:
        return True
    if isinstance(item, (str, bytes, list, tuple, dict)) or getattr(item, "shape", ()) != ():
        return False
    if type(item).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(item, float) and item != item
