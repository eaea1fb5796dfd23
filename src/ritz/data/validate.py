"""Checks of what is handed to an estimator, before any number is looked at.

    anything with rows and columns  →  ndarray (n, d) or CSR (n, d), the same memory wherever that is possible

scikit-learn's own checks run underneath, so ``n_features_in_``, ``feature_names_in_`` and its phrases are
what its users and its estimator checks expect. On top of that: nothing is copied or cast when it is already
a plain array (any float or integer dtype, C or Fortran order, read-only, memory-mapped), and finiteness is
not tested here: the solvers see a NaN in their first pass for free and call ``require_finite`` for the words.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

from ritz._core.errors import InputError
from ritz._core.memory import limit
from ritz.data.blocks import are_blocks
from ritz.data.checked import checked_data
from ritz.data.finite import require_finite
from ritz.data.frames import NO_NUMBERS, copied_bytes, frame_source, frame_to_rows, is_frame, is_missing, narwhal
from ritz.data.objects import is_anndata
from ritz.data.read import read
from ritz.data.stream import StreamBlocks
from ritz.data.table import Table
from ritz.data.weights import validate_weights
from ritz.data.words import cut, describe

__all__ = [
    "InputTypeError", "charge", "compare_columns", "engaged_cluster", "is_query", "on_cluster", "require_finite",
    "require_repeatable", "room_for", "validate_rows", "validate_weights",
]  # fmt: skip


#: Share of the memory limit up to which the columns of a frame or table in memory are laid side by side in one array;
#: beyond it they are used as they lie, some rows at a time.
COPY_SHARE = 0.5


class InputTypeError(InputError, TypeError):
    """Data of a type that cannot be used: a TypeError as well, which scikit-learn raises in these places."""


def validate_rows(estimator: Any, X: Any, *, reset: bool, accept_sparse: bool = True) -> Any:
    """Check ``X`` and record, or compare with, the columns that the estimator knows.

    Parameters
    ----------
    estimator : object
        Gets ``n_features_in_`` and ``feature_names_in_`` when ``reset``; is compared with otherwise.
    X : array-like, sparse, data frame or Table of shape (n, d)
    reset : bool
        True in ``fit``, False in ``transform``.
    accept_sparse : bool
        Whether a sparse ``X`` may pass.

    Returns
    -------
    ndarray (n, d) of a real dtype in any memory order, CSR (n, d) without duplicate entries, or row blocks for what
    stays outside memory. The numbers may be NaN or infinite.
    """
    from sklearn.utils.validation import check_array

    options = {
        "accept_sparse": ["csr"] if accept_sparse else False,
        "accept_large_sparse": True,
        "ensure_all_finite": False,
        "copy": False,
    }
    if reset:
        charge(estimator, 0)
    try:
        X = _from_dask(X)
        if isinstance(X, np.memmap):
            X = _unmapped(X, limit(getattr(estimator, "memory", None)))
        if are_blocks(X):
            return compare_columns(estimator, X, reset)
        if is_query(X) or isinstance(X, Iterator):
            X = read(X, memory=getattr(estimator, "memory", None))
        if isinstance(X, Table):
            rows = _from_table(estimator, X, reset)
            return rows if are_blocks(rows) else _native(check_array(rows, estimator=estimator, **options))
        if is_frame(X):
            # Names from the frame, numbers from our own conversion: scikit-learn's uses object arrays.
            narwhal(X)
            checked_data(estimator, X, reset=reset, skip_check_array=True)
            size, room = copied_bytes(X), limit(getattr(estimator, "memory", None))
            if size > COPY_SHARE * room:
                return StreamBlocks(frame_source(X), budget=room)
            if reset:
                charge(estimator, size)
            rows = _real(frame_to_rows(X), accept_sparse)
            return _native(check_array(rows, input_name="X", estimator=estimator, **options))
        return _native(checked_data(estimator, _real(_plain(X), accept_sparse), reset=reset, **options))
    except InputError:
        raise
    except (ValueError, TypeError) as error:
        raise _translated(error, X) from error


def _from_table(estimator: Any, table: Table, reset: bool) -> Any:
    """Choose the numeric columns in ``fit``, and the same columns by name afterwards; rows, or row blocks."""
    if not reset and hasattr(estimator, "feature_names_in_"):
        names = list(estimator.feature_names_in_)
    else:
        names = table.numeric_names()
    if reset:
        estimator.n_features_in_, estimator.feature_names_in_ = len(names), np.asarray(names, dtype=object)
    elif len(names) != estimator.n_features_in_:
        raise InputError(
            f"X has {len(names)} features, but {type(estimator).__name__} is expecting "
            f"{estimator.n_features_in_} features as input",
            received=repr(table),
            hint="fit on a table or a frame, so that columns can be found by name",
        )
    client, room = engaged_cluster(), limit(getattr(estimator, "memory", None))
    if client is None:
        table.settle(room)
    source, columns = table.source_for(names)
    if not table.lazy and client is None:
        copied = 0 if hasattr(source, "values") and columns is None else source.decoded if source.sparse else (
            len(table) * len(names) * source.dtype.itemsize
        )  # fmt: skip
        if copied <= COPY_SHARE * (room - table.loaded):
            if reset:
                charge(estimator, table.loaded + copied)
            return table.select(names)
        room = max(0.0, room - table.loaded)
        return StreamBlocks(source, columns, budget=room)
    require_repeatable(table)
    if client is not None:
        return on_cluster(source, columns, client, table)
    return StreamBlocks(source, columns, budget=room)


def charge(estimator: Any, added: float) -> None:
    """Remember what was put in memory for a fit: the plan has so much less."""
    estimator.__dict__["_added_bytes"] = int(added)


def room_for(estimator: Any) -> float:
    """Bytes that a fit may take beside the rows that were put in memory for it."""
    return max(0.0, limit(estimator.memory) - estimator.__dict__.get("_added_bytes", 0))


def on_cluster(source: Any, columns: Any, client: Any, table: Table) -> Any:
    """Rows that the workers of a cluster read themselves: they need files."""
    if not source.files:
        raise InputError(
            "expected a table in files, which the workers of a cluster can read",
            received=repr(table),
            hint="write it to Parquet on a file system that the workers share",
        )
    from ritz.data.dask.blocks import DaskBlocks

    return DaskBlocks.from_source(source, client, columns)


def _from_dask(X: Any) -> Any:
    """Row blocks of a Dask collection; everything else as it is. Without Dask nothing of it is loaded."""
    if "dask" not in sys.modules:
        return X
    from ritz.data.dask.blocks import DaskBlocks
    from ritz.data.dask.rows import is_dask

    return DaskBlocks(X) if is_dask(X) else X


def engaged_cluster() -> Any | None:
    """The client of the cluster that reads files, if one was asked for."""
    if "ritz.data.dask.cluster" not in sys.modules:
        return None
    from ritz.data.dask.cluster import engaged_client

    return engaged_client()


def require_repeatable(table: Table) -> None:
    """Refuse rows that can be read only once."""
    if not table.repeatable:
        raise InputError(
            "expected rows that can be read again",
            received=repr(table),
            hint="PCA.fit takes an iterator once; for all else give a list, a file, or an object that starts anew",
        )


def _unmapped(X: Any, budget: float) -> Any:
    """A mapped file that the memory limit does not hold, as rows read from it: mapped pages count as memory."""
    if X.ndim != 2 or X.nbytes <= budget / 2:
        return X
    from ritz.data.sources.npy import NpySource

    source = NpySource.of_map(X)
    return X if source is None else StreamBlocks(source, budget=budget)


def is_query(X: Any) -> bool:
    """Whether ``X`` is a query, a dataset or an AnnData that ``read`` turns into a table."""
    if isinstance(X, np.ndarray):
        return False
    import narwhals as nw

    if nw.dependencies.is_polars_lazyframe(X) or nw.dependencies.is_duckdb_relation(X) or is_anndata(X):
        return True
    return type(X).__module__.startswith("pyarrow") and type(X).__name__.endswith(("Dataset", "Scanner"))


def compare_columns(estimator: Any, blocks: Any, reset: bool = False) -> Any:
    """Row blocks as they are; their names and number of columns are recorded or compared."""
    names = getattr(blocks, "names", None)
    known = getattr(estimator, "feature_names_in_", None)
    if reset:
        estimator.n_features_in_ = int(blocks.shape[1])
        if names is not None:
            estimator.feature_names_in_ = np.asarray(names, dtype=object)
        elif known is not None:
            del estimator.feature_names_in_
    elif blocks.shape[1] != estimator.n_features_in_ or (known is not None and names and list(known) != list(names)):
        raise InputError(
            f"X has {blocks.shape[1]} features, but {type(estimator).__name__} is expecting "
            f"{estimator.n_features_in_} features as input, with the names of the fit",
            received=describe(blocks),
            hint="give the columns of the fit, in the same order",
        )
    return blocks


def _plain(X: Any) -> Any:
    """Bring what is neither a frame nor sparse to an ndarray that scikit-learn's checks leave alone."""
    if isinstance(X, np.ma.MaskedArray) and np.ma.is_masked(X):
        raise InputError(
            "an array without masked entries",
            received=f"{np.ma.count_masked(X)} masked entries",
            hint="drop those rows, or fill them first, e.g. X.filled(X.mean(axis=0))",
        )
    if isinstance(X, (str, bytes, os.PathLike)):
        raise InputError(
            "rows and columns of numbers",
            received=f"the text {cut(str(X))!r}",
            hint="read the file first: ritz.read(path)",
        )
    if _is_sparse(X) or isinstance(X, np.matrix) or _is_series(X):
        return X  # scikit-learn has its own words for these
    array = np.asarray(X)
    if array.dtype == object and array.ndim == 2:
        return _object_rows(array)
    return array


def _real(rows: Any, accept_sparse: bool) -> Any:
    """Refuse dtypes that are no real numbers; bring sparse rows to their canonical form."""
    dtype, sparse = getattr(rows, "dtype", np.dtype(float)), _is_sparse(rows)
    if dtype.kind == "c":
        raise InputError(
            "Complex data not supported",
            received=f"dtype {dtype}",
            hint="pass real and imaginary parts as columns of their own: numpy.hstack([X.real, X.imag])",
        )
    if dtype.kind in "mM" or (sparse and dtype.kind not in "biuf"):
        raise InputTypeError(
            "numbers in X",
            received=f"{'sparse data' if sparse else 'an array'} of dtype {dtype}",
            hint="turn dates and durations into numbers first, e.g. (X - X.min()) / numpy.timedelta64(1, 'D')"
            if dtype.kind in "mM"
            else "convert them first, e.g. X.astype(float)",
        )
    return _canonical_csr(rows) if sparse and accept_sparse else rows


def _native(rows: Any) -> Any:
    """Cast what BLAS knows in no form: the other byte order, extended precision. All else passes."""
    if rows.dtype.itemsize > 8:
        return rows.astype(np.float64)
    return rows if rows.dtype.isnative else rows.astype(rows.dtype.newbyteorder("="))


def _canonical_csr(X: Any) -> Any:
    """Give ``X`` as CSR with sorted, distinct columns in each row; the user's object is never changed."""
    if X.format in {"csr", "csc"} and X.ndim == 2:
        _check_structure(X)
    csr = X.tocsr()
    if csr.ndim == 2 and not csr.has_canonical_format:
        csr = csr.copy() if X.format == "csr" else csr
        csr.sum_duplicates()
    return csr


def _check_structure(X: Any) -> None:
    """Refuse index arrays that point outside the matrix: compiled code would read foreign memory."""
    major, minor = X.shape if X.format == "csr" else X.shape[::-1]
    indptr, indices = X.indptr, X.indices
    sound = indptr.size == major + 1 and indptr[0] == 0 and indptr[-1] <= min(indices.size, X.data.size)
    sound = sound and bool((indptr[1:] >= indptr[:-1]).all())
    used = indices[: int(indptr[-1])] if sound else indices
    sound = sound and (used.size == 0 or bool(used.min() >= 0 and used.max() < minor))
    if not sound:
        raise InputError(
            f"a sparse X of shape {X.shape} whose indices lie inside it",
            received=f"damaged {X.format} index arrays",
            hint="build it anew with scipy.sparse.coo_array((data, (rows, columns)), shape=shape).tocsr()",
        )


def _object_rows(array: np.ndarray) -> np.ndarray:
    """Convert an object array of numbers to float64, or name the first entry that is none."""
    # NumPy would turn its own dates into the nanoseconds since 1970.
    if not any(issubclass(kind, (np.datetime64, np.timedelta64)) for kind in set(map(type, array.flat))):
        try:
            return array.astype(np.float64)
        except (TypeError, ValueError, OverflowError):
            pass
    rows = np.empty(array.shape, dtype=np.float64)
    for (i, j), value in np.ndenumerate(array):
        if isinstance(value, (complex, np.complexfloating)):
            raise InputError(
                "Complex data not supported",
                received=f"{value!r} at row {i}, column {j}",
                hint="pass real and imaginary parts as columns of their own",
            )
        if isinstance(value, NO_NUMBERS[-2:]):
            raise InputTypeError(
                "numbers in X",
                received=f"{cut(repr(value))} at row {i}, column {j}",
                hint="turn dates and durations into numbers first, e.g. (t - t.min()) / numpy.timedelta64(1, 'D')",
            )
        try:
            rows[i, j] = np.nan if is_missing(value) else float(value)
        except (TypeError, ValueError, OverflowError) as error:
            # Python's own sentence stays in front: scikit-learn's checks look for it.
            raise (InputTypeError if isinstance(error, TypeError) else InputError)(
                f"numbers in X, but {error}",
                received=f"{cut(repr(value))} at row {i}, column {j}",
                hint="drop or encode columns that hold no numbers; rows and columns count from 0",
            ) from error
    return rows


def _translated(error: ValueError | TypeError, X: Any) -> InputError:
    """Keep the sentences of scikit-learn and NumPy, and add what came and what to do."""
    text = str(error).strip()
    cls = InputTypeError if isinstance(error, TypeError) else InputError
    if "inhomogeneous" in text:
        return cls("rows of one length", received=_ragged(X), hint=f"pad or cut the rows first ({text})")
    if "Reshape your data" in text:
        first, _, advice = text.partition("Reshape your data")
        return cls(first.split(":\n")[0].strip(), received=describe(X), hint="Reshape your data" + advice)
    hint = next((h for pattern, h in HINTS if re.search(pattern, text)), None)
    return cls(text.rstrip("."), received=describe(X), hint=hint)


HINTS = (
    (r"Expected a 2-dim", "pass a frame: X.to_frame() of one column, X.iloc[[0]] for one row"),
    (r"0 sample\(s\)", "the data has no rows: look at the filter or the path that made it"),
    (r"0 feature\(s\)", "the data has no columns: look at the selection that made it"),
    (r"features, but .* is expecting", "give the columns of the fit, in the same order"),
    (r"feature names should match", "select them by name: X[model.feature_names_in_]"),
    (r"arrays of bytes/strings", "convert them first, e.g. X.astype(float), or read the file with ritz.read"),
    (r"dim <= 2", "reshape to (n_rows, n_columns), e.g. X.reshape(len(X), -1)"),
    (r"[Ss]parse", "this step needs dense data: X.toarray(), if it fits in memory"),
    (r"unique column names", "rename the repeated columns"),
    (r"np\.matrix", "use numpy.asarray(X)"),
    (r"Feature names are only supported", "name every column by a string: X.columns = X.columns.astype(str)"),
)


def _ragged(X: Any) -> str:
    try:
        lengths = [len(row) for row in X]
    except TypeError:
        return describe(X)
    i = next((i for i, length in enumerate(lengths) if length != lengths[0]), 0)
    return f"{lengths[0]} entries in row 0 but {lengths[i]} in row {i}"


def _is_sparse(X: Any) -> bool:
    import scipy.sparse

    return bool(scipy.sparse.issparse(X))


def _is_series(X: Any) -> bool:
    if isinstance(X, np.ndarray):
        return False
    import narwhals as nw

    return bool(nw.dependencies.is_into_series(X))
