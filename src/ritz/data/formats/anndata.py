"""AnnData (``.h5ad`` files, zarr folders) and plain zarr arrays, read in row chunks through h5py or zarr.

    X, or a layer   dense (n, d), or CSR as data, indices, indptr
    obs names       identifiers of the rows        var names   names of the columns

h5py and zarr offer the same groups, arrays and attributes, so one reader serves both; the anndata package itself is
not needed, and nothing is unpickled. ``store.py`` lets nothing in that lies outside the file, and sizes are weighed
before anything is made of them (``declared.py``). Columns-first sparse matrices (CSC) cannot be read by rows and are
refused.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np

from ritz._core.errors import FileError, MemoryLimitError
from ritz.data.formats.bands import UNPACKING, Bands, Layout
from ritz.data.formats.declared import require_columns, require_packed, require_rows
from ritz.data.formats.files import damaged, file_identity, require_shape
from ritz.data.formats.matrix import SPAN_BYTES, MatrixSource, even_spans, matrix_names
from ritz.data.formats.npy import require_numbers
from ritz.data.formats.source import HELD_BATCHES, Span
from ritz.data.formats.stamp import Stamp
from ritz.data.formats.store import Store, h5_store, is_group, texts, zarr_store
from ritz.data.words import shorten

__all__ = ["AnnDataSource", "open_h5ad", "open_zarr"]

ERRORS = (OSError, KeyError, ValueError, RuntimeError, TypeError, AttributeError, OverflowError)
ROOM = float(256 << 20)  # a lane may take, where nobody says otherwise
ENDS = 1 << 20  # row ends that are looked at in one go
CALL_BYTES = 8 << 20  # of a sparse matrix that are unpacked in one call


class AnnDataSource(MatrixSource):
    """Rows of X, or of a layer, of an AnnData store; or of a plain zarr array."""

    _room = ROOM

    def __init__(self, store: Store, layer: str | None = None) -> None:
        self._store, path = store, store.path
        self.stamp = Stamp.of_folder(path, _all_files) if path.is_dir() else Stamp([path])
        with store.open() as root:
            self._where = _place(store, root, layer)
            node = store.member(root, self._where) if self._where else store.member(root, "")
            sparse = is_group(node)
            shape = _sparse_shape(node, path) if sparse else tuple(int(v) for v in node.shape)
            values = store.member(node, "data") if sparse else node
            dtype = np.dtype(values.dtype)
            require_numbers(shape, dtype, path)
            n, d = shape
            require_shape(n, d, path)
            require_columns(d, path)
            require_rows(n, path)
            self._longest, self._index_bytes, self._chunk_bytes = 0, 0, 0.0
            stored = n * d
            if sparse:
                stored = self._measure(node, n, path)
            size = stored * (dtype.itemsize + self._index_bytes) + 8.0 * n * sparse
            require_packed(size, path, self._where or "the array")
            if sparse:
                self._longest = _longest_row(store.member(node, "indptr"), stored, path)
            names, self._index = _names(store, root, n, d) if self._where else (matrix_names(d), None)
            chunks = (1, d) if sparse else tuple(node.chunks or (1, d))
        self.shape, self.stored = (n, d), stored
        native = dtype.newbyteorder("=") if dtype.itemsize <= 8 else np.dtype(np.float64)
        self._layout = Layout(d, native.itemsize, dtype.itemsize, int(min(chunks[0], n)), int(min(chunks[1], d)))
        super().__init__(names, native, self._cut(n, max(1, stored // n) * native.itemsize), [path])
        self.sparse = sparse
        self.label_names = ["obs_names"] if self._index else []

    def _measure(self, node: Any, n: int, path: Path) -> int:
        """Stored entries of a CSR matrix; its three arrays must have lengths that agree."""
        data, indices, ends = (self._store.member(node, name) for name in ("data", "indices", "indptr"))
        if data.shape != indices.shape or len(data.shape) != 1 or ends.shape != (n + 1,):
            lengths = f"data {data.shape}, indices {indices.shape}, indptr {ends.shape} for {n} rows"
            raise damaged(path, self._store.what, lengths)
        if indices.dtype.kind not in "iu" or ends.dtype.kind not in "iu":
            raise damaged(path, self._store.what, f"indices of type {indices.dtype}, row ends of type {ends.dtype}")
        self._index_bytes = int(indices.dtype.itemsize)
        sizes = [float((array.chunks or (1,))[0]) * array.dtype.itemsize for array in (data, indices)]
        self._chunk_bytes = max(sizes)
        return int(data.shape[0])

    def _cut(self, n: int, row_bytes: int) -> list[Span]:
        """Spans of whole chunks, so that no chunk is unpacked twice."""
        chunk = self._layout.rows
        if chunk <= 1:
            return even_spans(n, row_bytes)
        step = max(1, SPAN_BYTES // row_bytes // chunk) * chunk
        return [Span(i, min(n, i + step)) for i in range(0, n, step)]

    @property
    def decoded(self) -> int:
        """How many bytes the rows take in memory."""
        index = (4 if max(self.stored, self.shape[1]) < 2**31 else 8) * self.stored + 8 * self.shape[0]
        return self.stored * self.dtype.itemsize + (index if self.sparse else 0)

    # within a limit

    def within(self, room: float) -> Self:
        """The same rows, read in a way that takes at most ``room`` bytes a lane where there is one."""
        other = copy.copy(self)
        other._room = room
        return other

    def held(self, columns: Sequence[int] | None, rows: int) -> float:
        """Bytes that one lane of reading takes."""
        width = len(self.names) if columns is None else len(columns)
        if not self.sparse:
            return Bands(self._layout, self._room).held(rows, width)
        entries, index = self._entries(rows), 4 if self.shape[1] < 2**31 else 8
        item, stored = self.dtype.itemsize, self._layout.stored
        ready = entries * (item + index) + 8.0 * rows
        # As stored, in the types that are handed out, and sorted; columns that are chosen are one more copy.
        making = entries * (stored + self._index_bytes + item + 2.0 * index) + 32.0 * rows
        making += 0.0 if columns is None else ready
        return HELD_BATCHES * ready + making + UNPACKING * max(2 * self._chunk_bytes, CALL_BYTES)

    def _entries(self, rows: int) -> int:
        """Entries of a batch at most: rows of average length, or the longest row."""
        n = self.shape[0]
        return int(min(self.stored, max(self._longest, rows * -(-self.stored // n))))

    # rows

    def read_rows(self, span: Span, rows: int) -> Iterator[Any]:
        """Row-major arrays or CSR matrices of at most ``rows`` rows."""
        return self._read(span, rows, len(self.names))

    def batches(self, span: Span, columns: Sequence[int] | None, rows: int) -> Iterator[Any]:
        """Rows of a span in batches of at most ``rows``; ``columns`` are positions in ``names``."""
        if columns is None:
            yield from self.read_rows(span, rows)
            return
        at = np.asarray(columns, dtype=np.intp)
        for block in self._read(span, rows, len(at)):
            yield block[:, at] if self.sparse else np.take(block, at, axis=1)

    def _read(self, span: Span, rows: int, width: int) -> Iterator[Any]:
        store = self._store
        try:
            with store.open() as root:
                node = store.member(root, self._where)
                if self.sparse:
                    yield from self._sparse_rows(node, span, rows)
                else:
                    yield from Bands(self._layout, self._room).batches(
                        lambda a, b, c, d: np.asarray(node[a:b, c:d]), span.start, span.stop, rows, self.dtype, width
                    )
        except ERRORS as error:
            if isinstance(error, FileError):
                raise
            raise damaged(store.path, "AnnData or zarr store", error) from error

    def _sparse_rows(self, node: Any, span: Span, rows: int) -> Iterator[Any]:
        """CSR matrices of at most ``rows`` rows and of no more entries than were counted with."""
        arrays = [self._store.member(node, name) for name in ("data", "indices", "indptr")]
        most = self._entries(rows)
        for first in range(span.start, span.stop, rows):
            last = min(span.stop, first + rows)
            ends = np.asarray(arrays[2][first : last + 1], dtype=np.int64)
            at = 0
            while at < last - first:
                until = int(np.searchsorted(ends, ends[at] + most, side="right")) - 1
                until = max(at + 1, min(until, last - first))
                yield self._csr(arrays[0], arrays[1], ends[at : until + 1])
                at = until

    def _csr(self, data: Any, indices: Any, ends: np.ndarray) -> Any:
        import scipy.sparse

        a, b = int(ends[0]), int(ends[-1])
        index = np.int32 if self.shape[1] < 2**31 and b - a < 2**31 else np.int64
        values, places = self._take(data, a, b, self.dtype), self._take(indices, a, b, index)
        shape = (len(ends) - 1, self.shape[1])
        matrix = scipy.sparse.csr_matrix((values, places, (ends - a).astype(index)), shape=shape, copy=False)
        matrix.check_format(full_check=True)  # indices outside the matrix would make compiled code read foreign memory
        matrix.sum_duplicates()
        return matrix

    def _take(self, array: Any, a: int, b: int, dtype: Any) -> np.ndarray:
        """Entries ``a : b``, some whole chunks at a time: a store may unpack all that one call asks for at once."""
        out = np.empty(b - a, dtype=dtype)
        chunk = int((array.chunks or (1,))[0])
        step = max(1, CALL_BYTES // array.dtype.itemsize // chunk) * chunk
        first = a
        while first < b:
            last = min(b, (first // step + 1) * step)
            entries = np.asarray(array[first:last])
            if entries.dtype.kind in "iu" and np.dtype(dtype).itemsize < entries.dtype.itemsize:
                _require_fit(entries, np.dtype(dtype))
            out[first - a : last - a] = entries
            first = last
        return out

    def read_labels(self, name: str, start: int, stop: int) -> Any:
        """Names of the rows."""
        import pyarrow as pa

        store = self._store
        with store.open() as root:
            return pa.array(texts(store.member(root, f"obs/{self._index}"), start, stop, store.path), pa.string())

    def fingerprint(self) -> str:
        """Changes with the store."""
        return file_identity(self.stamp, self._where, self.shape)


def _all_files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def open_h5ad(path: Path, layer: str | None = None) -> AnnDataSource:
    """An ``.h5ad`` file."""
    return _opened(lambda: h5_store(path), layer, path, ".h5ad file")


def open_zarr(path: Path, layer: str | None = None) -> AnnDataSource:
    """A folder that holds a zarr array or an AnnData store."""
    return _opened(lambda: zarr_store(path), layer, path, "zarr folder")


def _opened(store: Callable[[], Store], layer: str | None, path: Path, what: str) -> AnnDataSource:
    try:
        return AnnDataSource(store(), layer)
    except (FileError, MemoryLimitError):
        raise
    except ERRORS as error:
        raise damaged(path, what, error) from error


def _place(store: Store, root: Any, layer: str | None) -> str:
    """Where the matrix lies in the store; empty for a store that is one array."""
    if not is_group(root):
        return ""
    if layer is not None:
        names = store.names(store.member(root, "layers")) if store.has(root, "layers") else []
        if layer not in names:
            raise FileError(
                f"expected a layer {layer!r} in {store.path}",
                received=f"layers {shorten([repr(name) for name in names])}" if names else "no layers",
                hint="leave out layer= to read X",
            )
        return f"layers/{layer}"
    members = store.names(root)
    if "X" in members and "obs" in members:
        return "X"
    raise FileError(
        f"expected an AnnData store, with X and obs, or one zarr array, at {store.path}",
        received=f"a group that holds {shorten(members) or 'nothing'}",
        hint="give the path of the array inside it, or export the table as Parquet or .npy",
    )


def _sparse_shape(node: Any, path: Path) -> tuple[int, ...]:
    kind = str(node.attrs.get("encoding-type", node.attrs.get("h5sparse_format", "")))
    if not kind.startswith("csr"):
        raise FileError(
            f"expected rows-first (CSR) or dense numbers in {path}",
            received=kind or "a group of an unknown kind",
            hint="write it anew: adata.X = adata.X.tocsr(); adata.write_h5ad(path)",
        )
    return tuple(int(v) for v in node.attrs.get("shape", node.attrs.get("h5sparse_shape", ())))


def _longest_row(ends: Any, stored: int, path: Path) -> int:
    """Entries of the longest row, of row ends that rise from 0 to the number of entries."""
    longest, before = 0, 0
    for first in range(0, ends.shape[0], ENDS):
        chunk = np.asarray(ends[first : first + ENDS], dtype=np.int64)
        steps = np.diff(chunk, prepend=before)
        if (first == 0 and chunk[0] != 0) or steps.min() < 0 or chunk[-1] > stored:
            raise damaged(path, "AnnData or zarr store", "row ends (indptr) that do not rise from 0 to the entries")
        longest, before = max(longest, int(steps.max())), int(chunk[-1])
    return longest


def _require_fit(entries: np.ndarray, dtype: np.dtype[Any]) -> None:
    ends = np.iinfo(dtype)
    if entries.size and (int(entries.min()) < ends.min or int(entries.max()) > ends.max):
        raise ValueError(f"indices beyond {ends.max}")


def _names(store: Store, root: Any, n: int, d: int) -> tuple[list[str], str | None]:
    """Names of the columns, and where the names of the rows lie; plain numbers where the store has none."""
    from ritz.data.formats.text.header import unique_names

    index = _index_of(store, root, "var", d)
    labels = [] if index is None else texts(store.member(root, f"var/{index}"), 0, d, store.path)
    names = labels if len(labels) == d else matrix_names(d)
    return unique_names(tuple(names)), _index_of(store, root, "obs", n)


def _index_of(store: Store, root: Any, group: str, length: int) -> str | None:
    """The name of the array with ``length`` names in a group, if it has one."""
    if not store.has(root, group):
        return None
    node = store.member(root, group)
    if not is_group(node) or "_index" not in node.attrs:
        return None
    index = str(node.attrs["_index"])
    if "/" in index or not store.has(node, index):
        return None
    names = store.member(node, index)
    return index if not is_group(names) and names.shape == (length,) and names.dtype.kind in "OSUTiu" else None
