"""Arrays, sparse matrices and lists as rows: what scikit-learn's checks and BLAS leave alone.

    array, list, CSR, CSC, object array   →   ndarray (n, d) of a real dtype, or canonical CSR (n, d)

Nothing is copied or cast that is a plain array already: any float or integer dtype, C or Fortran order, read-only,
memory-mapped. Index arrays of sparse matrices are looked at, since compiled code trusts them.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from ritz._core.device import is_tensor
from ritz._core.errors import InputError
from ritz.data.engines.memory.structure import check_structure
from ritz.data.engines.refused import InputTypeError
from ritz.data.tables.frames import NO_NUMBERS, is_missing
from ritz.data.words import cut, describe

__all__ = ["native", "plain", "real", "refuse_masked", "untouched"]


def plain(X: Any) -> Any:
    """Bring what is neither a frame nor sparse to an ndarray that scikit-learn's checks leave alone."""
    refuse_masked(X)
    if isinstance(X, (str, bytes, os.PathLike)):
        raise InputError(
            "expected rows and columns of numbers",
            received=f"the text {cut(str(X))!r}",
            hint="read the file first: ritz.read(path)",
        )
    if _is_sparse(X) or isinstance(X, np.matrix) or _is_series(X):
        return X  # scikit-learn has its own words for these
    if isinstance(X, Mapping):
        raise InputTypeError(
            "expected rows and columns of numbers", received=describe(X), hint="make a frame first: pandas.DataFrame(X)"
        )
    if is_tensor(X):
        return _of_tensor(X)
    array = np.asarray(X)
    if array.dtype == object and array.ndim == 2:
        return _object_rows(array)
    return array


def refuse_masked(
    X: Any, where: str = "", hint: str = "drop those rows, or fill them first, e.g. X.filled(X.mean(axis=0))"
) -> None:
    """Refuse entries that a mask hides: the numbers behind it mean nothing."""
    if isinstance(X, np.ma.MaskedArray) and np.ma.is_masked(X):
        raise InputError(
            "expected an array without masked entries",
            received=f"{np.ma.count_masked(X)} masked entries{where}",
            hint=hint,
        )


def _of_tensor(X: Any) -> Any:
    """A torch tensor in the memory of the host: the same memory, unless NumPy has no such numbers."""
    from ritz.data.engines.device import WIDER
    from ritz.data.engines.device.blocks import host_csr

    X = X.detach()
    if X.ndim == 2 and str(X.layout) != "torch.strided":
        return host_csr(X if str(X.layout) == "torch.sparse_csr" else X.to_sparse_csr())
    return X.float().numpy() if str(X.dtype).rpartition(".")[2] in WIDER else np.asarray(X.resolve_conj().resolve_neg())


def real(rows: Any, accept_sparse: bool) -> Any:
    """Refuse dtypes that are no real numbers; bring sparse rows to their canonical form."""
    dtype, sparse = getattr(rows, "dtype", np.dtype(float)), _is_sparse(rows)
    if not hasattr(dtype, "kind"):  # a column of polars, which is refused by its shape
        return rows
    if dtype.kind == "c":
        raise InputError(
            "Complex data not supported",
            received=f"dtype {dtype}",
            hint="pass real and imaginary parts as columns of their own: numpy.hstack([X.real, X.imag])",
        )
    if dtype.kind in "mM" or (sparse and dtype.kind not in "biuf"):
        raise InputTypeError(
            "expected numbers in X",
            received=f"{'sparse data' if sparse else 'an array'} of dtype {dtype}",
            hint="turn dates and durations into numbers first, e.g. (X - X.min()) / numpy.timedelta64(1, 'D')"
            if dtype.kind in "mM"
            else "convert them first, e.g. X.astype(float)",
        )
    return _canonical_csr(rows) if sparse and accept_sparse else rows


def native(rows: Any) -> Any:
    """Cast what BLAS knows in no form: the other byte order, extended precision. All else passes."""
    if rows.dtype.itemsize > 8:
        return rows.astype(np.float64)
    return rows if rows.dtype.isnative else rows.astype(rows.dtype.newbyteorder("="))


def untouched(rows: Any) -> bool:
    """Whether scikit-learn's ``check_array`` would give the rows back as they are."""
    known = type(rows) is np.ndarray and rows.ndim == 2 and rows.size > 0
    return known and rows.dtype.kind in "fiu" and rows.dtype.itemsize <= 8 and rows.dtype.isnative


def _canonical_csr(X: Any) -> Any:
    """Give ``X`` as CSR with sorted, distinct columns in each row; the user's object is never changed."""
    if X.format in {"csr", "csc"} and X.ndim == 2:
        check_structure(X)
    csr = X.tocsr()
    if csr.ndim == 2 and not csr.has_canonical_format:
        csr = csr.copy() if X.format == "csr" else csr
        csr.sum_duplicates()
    if csr.ndim == 2 and max(csr.data.size, csr.indices.size) > csr.nnz:  # room behind the last entry
        used = int(csr.nnz)
        csr = type(csr)((csr.data[:used], csr.indices[:used], csr.indptr), shape=csr.shape)
    return csr


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
                "expected numbers in X",
                received=f"{cut(repr(value))} at row {i}, column {j}",
                hint="turn dates and durations into numbers first, e.g. (t - t.min()) / numpy.timedelta64(1, 'D')",
            )
        try:
            rows[i, j] = np.nan if is_missing(value) else float(value)
        except (TypeError, ValueError, OverflowError) as error:
            # Python's own sentence stays in front: scikit-learn's checks look for it.
            raise (InputTypeError if isinstance(error, TypeError) else InputError)(
                f"expected numbers in X, but {error}",
                received=f"{cut(repr(value))} at row {i}, column {j}",
                hint="drop or encode columns that hold no numbers; rows and columns count from 0",
            ) from error
    return rows


def _is_sparse(X: Any) -> bool:
    import scipy.sparse

    return bool(scipy.sparse.issparse(X))


def _is_series(X: Any) -> bool:
    if isinstance(X, np.ndarray):
        return False
    import narwhals as nw

    return bool(nw.dependencies.is_into_series(X))
