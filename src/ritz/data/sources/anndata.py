"""AnnData (``.h5ad`` files, zarr folders) and plain zarr arrays, read in row chunks through h5py or zarr.

    X, or a layer   dense (n, d), or CSR as data, indices, indptr
    obs names       identifiers of the rows        var names   names of the columns

h5py and zarr offer the same groups, arrays and attributes, so one reader serves both; the anndata package itself is
not needed, and nothing is unpickled. Columns-first sparse matrices (CSC) cannot be read by rows and are refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from ritz._core.errors import FileError
from ritz.data.source import Span
from ritz.data.sources.files import damaged, file_identity, needs, require_shape
from ritz.data.sources.matrix import SPAN_BYTES, MatrixSource, even_spans, matrix_names
from ritz.data.sources.npy import require_numbers
from ritz.data.stamp import Stamp
from ritz.data.words import shorten

__all__ = ["AnnDataSource", "open_h5ad", "open_zarr"]

Opener = Callable[[], AbstractContextManager[Any]]
ERRORS = (OSError, KeyError, ValueError, RuntimeError, TypeError)


class AnnDataSource(MatrixSource):
    """Rows of X, or of a layer, of an AnnData store; or of a plain zarr array."""

    def __init__(self, path: Path, opener: Opener, layer: str | None = None) -> None:
        self._opener = opener
        self.stamp = Stamp.of_folder(path, _all_files) if path.is_dir() else Stamp([path])
        with opener() as root:
            self._where = _place(root, layer, path)
            node = root[self._where] if self._where else root
            sparse = _is_group(node)
            shape = _sparse_shape(node, path) if sparse else tuple(node.shape)
            dtype = np.dtype((node["data"] if sparse else node).dtype)
            require_numbers(shape, dtype, path)
            n, d = int(shape[0]), int(shape[1])
            require_shape(n, d, path)
            chunk = int((getattr(node, "chunks", None) or (1,))[0])
            stored = int(node["data"].shape[0]) if sparse else n * d
            names, self._index = _names(root, d) if self._where else (matrix_names(d), None)
        self.shape, self.stored, self._chunk = (n, d), stored, chunk
        native = dtype.newbyteorder("=") if dtype.itemsize <= 8 else np.dtype(np.float64)
        super().__init__(names, native, self._cut(n, max(1, stored // n) * native.itemsize), [path])
        self.sparse = sparse
        self.label_names = ["obs_names"] if self._index else []

    def _cut(self, n: int, row_bytes: int) -> list[Span]:
        """Spans of whole chunks, so that no chunk is unpacked twice."""
        if self._chunk <= 1:
            return even_spans(n, row_bytes)
        step = max(1, SPAN_BYTES // row_bytes // self._chunk) * self._chunk
        return [Span(i, min(n, i + step)) for i in range(0, n, step)]

    @property
    def decoded(self) -> int:
        """How many bytes the rows take in memory."""
        index = 4 * self.stored + 8 * self.shape[0] if self.sparse else 0
        return self.stored * self.dtype.itemsize + index

    def read_rows(self, span: Span, rows: int) -> Iterator[Any]:
        """Row-major arrays or CSR matrices of at most ``rows`` rows."""
        path = self.files[0]
        try:
            with self._opener() as root:
                node = root[self._where] if self._where else root
                # Whole chunks at a time: a chunk is unpacked as one.
                step = rows if self.sparse else max(1, rows // self._chunk) * self._chunk
                for start in range(span.start, span.stop, step):
                    stop = min(span.stop, start + step)
                    block = self._csr(node, start, stop) if self.sparse else self._dense(node, start, stop)
                    for i in range(0, block.shape[0], rows):
                        yield block[i : i + rows]
        except ERRORS as error:
            if isinstance(error, FileError):
                raise
            raise damaged(path, "AnnData or zarr store", error) from error

    def _dense(self, node: Any, start: int, stop: int) -> np.ndarray:
        return np.ascontiguousarray(node[start:stop], dtype=self.dtype)

    def _csr(self, node: Any, start: int, stop: int) -> Any:
        import scipy.sparse

        ends = np.asarray(node["indptr"][start : stop + 1], dtype=np.int64)
        a, b = int(ends[0]), int(ends[-1])
        data = np.asarray(node["data"][a:b], dtype=self.dtype)
        indices = np.asarray(node["indices"][a:b])
        part = scipy.sparse.csr_matrix((data, indices, ends - a), shape=(stop - start, self.shape[1]))
        part.check_format(full_check=True)  # indices outside the matrix would make compiled code read foreign memory
        part.sum_duplicates()
        return part

    def read_labels(self, name: str, start: int, stop: int) -> Any:
        """Names of the rows."""
        import pyarrow as pa

        with self._opener() as root:
            return pa.array(_texts(root["obs"][self._index][start:stop]))

    def fingerprint(self) -> str:
        """Changes with the store."""
        return file_identity(self.stamp, self._where, self.shape)


def _all_files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def open_h5ad(path: Path, layer: str | None = None) -> AnnDataSource:
    """An ``.h5ad`` file."""
    try:
        h5py = import_module("h5py")
    except ImportError as error:
        raise needs(path, ".h5ad files", "h5py", error) from error
    return _opened(path, lambda: h5py.File(path, "r"), layer, ".h5ad file")


def open_zarr(path: Path, layer: str | None = None) -> AnnDataSource:
    """A folder that holds a zarr array or an AnnData store."""
    try:
        zarr = import_module("zarr")
    except ImportError as error:
        raise needs(path, "zarr folders", "zarr", error) from error
    return _opened(path, lambda: nullcontext(zarr.open(str(path), mode="r")), layer, "zarr folder")


def _opened(path: Path, opener: Opener, layer: str | None, what: str) -> AnnDataSource:
    try:
        return AnnDataSource(path, opener, layer)
    except FileError:
        raise
    except ERRORS as error:
        raise damaged(path, what, error) from error


def _is_group(node: Any) -> bool:
    return not hasattr(node, "dtype")


def _place(root: Any, layer: str | None, path: Path) -> str:
    """Where the matrix lies in the store; empty for a store that is one array."""
    if not _is_group(root):
        return ""
    held = [f"layers/{name}" for name in root["layers"]] if "layers" in root else []
    if layer is not None:
        names = [name.partition("/")[2] for name in held]
        if layer not in names:
            raise FileError(
                f"expected a layer {layer!r} in {path}",
                received=f"layers {shorten([repr(name) for name in names])}" if names else "no layers",
                hint="leave out layer= to read X",
            )
        return f"layers/{layer}"
    if "X" in root and "obs" in root:
        return "X"
    raise FileError(
        f"expected an AnnData store, with X and obs, or one zarr array, at {path}",
        received=f"a group that holds {shorten(sorted(root)) or 'nothing'}",
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


def _names(root: Any, d: int) -> tuple[list[str], str | None]:
    """Names of the columns, and where the names of the rows lie; plain numbers where the store has none."""
    names, index = matrix_names(d), None
    if "var" in root and _is_group(root["var"]) and "_index" in root["var"].attrs:
        found = _texts(root["var"][str(root["var"].attrs["_index"])][:])
        names = found if len(found) == d else names
    if "obs" in root and _is_group(root["obs"]) and "_index" in root["obs"].attrs:
        index = str(root["obs"].attrs["_index"])
    from ritz.data.text.header import unique_names

    return unique_names(tuple(names)), index


def _texts(values: Any) -> list[str]:
    return [v.decode("utf-8", "replace") if isinstance(v, bytes) else str(v) for v in np.asarray(values).tolist()]
