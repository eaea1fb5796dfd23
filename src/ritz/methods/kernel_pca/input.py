"""Rows of a kernel method: vectors, a kernel matrix, strings, or anything that the kernel takes.

vectors       (n, d) dense or CSR, checked as for PCA        precomputed   (n, n) symmetric; (m, n) for new rows
strings, any  a list of n objects
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ritz._core.errors import InputError, NonFiniteError
from ritz._core.tolerance import unit_roundoff
from ritz.data.passes.blocks import are_blocks
from ritz.data.passes.integers import as_float
from ritz.data.tables.frames import frame_names, is_frame
from ritz.data.tables.table import Table
from ritz.data.validate import require_finite, validate_rows
from ritz.data.words import describe
from ritz.kernels.base import Kernel
from ritz.kernels.callables import Precomputed, asymmetry
from ritz.kernels.rows import is_sparse

__all__ = ["check_symmetry", "fit_rows", "len_of", "new_rows"]

#: Asymmetry of a kernel matrix, in units of round-off of its largest entry, that counts as rounding.
ASYMMETRY = 1e4
#: Rows on which a function is asked whether it is symmetric.
SHOWN = 5


def fit_rows(estimator: Any, X: Any, kernel: Kernel) -> Any:
    """Checked training rows."""
    if kernel.takes in ("strings", "any"):
        rows = _objects(X, kernel)
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(estimator, name):
                delattr(estimator, name)
    else:
        rows = _numbers(estimator, X, reset=True)
    if len_of(rows) < 2:
        raise InputError(
            "kernel PCA needs at least 2 rows to have a variance",
            received=f"n_samples={len_of(rows)}",
            hint="pass more rows",
        )
    if kernel.takes == "precomputed":
        _check_matrix(rows)
        return rows
    return _owned(rows, X)


def _owned(rows: Any, X: Any) -> Any:
    """Rows that the caller cannot change: the model compares new rows with them. (A kernel matrix is not copied.)"""
    if isinstance(rows, np.ndarray):
        return rows.copy() if rows is X or rows.base is not None else rows
    given = getattr(X, "data", None)
    shared = is_sparse(rows) and isinstance(given, np.ndarray) and np.may_share_memory(rows.data, given)
    return rows.copy() if shared else rows


def new_rows(estimator: Any, X: Any) -> Any:
    """Checked new rows."""
    kernel, filler = estimator.kernel_, getattr(estimator._record, "filler", None)
    if filler is not None:
        from ritz.methods.kernel_pca.gaps import filled_by

        X = filled_by(estimator, X)
    return _objects(X, kernel) if kernel.takes in ("strings", "any") else _numbers(estimator, X, reset=False)


def len_of(rows: Any) -> int:
    """Number of rows."""
    return int(rows.shape[0]) if hasattr(rows, "shape") else len(rows)


def _numbers(estimator: Any, X: Any, *, reset: bool) -> Any:
    first = next(iter(X), None) if isinstance(X, (list, tuple)) else None
    if isinstance(first, str):
        raise InputError(
            "expected rows of numbers: this kernel compares vectors",
            received=f"strings, such as {first[:30]!r}",
            hint="strings need a string kernel: KernelPCA(kernel=ritz.kernels.Spectrum(3))",
        )
    rows = validate_rows(estimator, X, reset=reset)
    if are_blocks(rows):
        raise InputError(
            "expected rows in memory: a kernel compares each with each",
            received=describe(X),
            hint="take a sample of rows, or use ritz.PCA, which reads any size",
        )
    names = getattr(estimator, "feature_names_in_", None)
    try:
        require_finite(rows, names)
    except NonFiniteError as error:
        if estimator.kernel != "precomputed" and not isinstance(estimator.kernel, Precomputed):
            raise
        hint = "compute these kernel values, or leave out what has none, as a row and as a column; both count from 0"
        raise NonFiniteError(error.expected, received=error.received, hint=hint) from error
    return rows if rows.dtype.kind == "f" and rows.dtype.itemsize >= 4 else as_float(rows)


def _objects(X: Any, kernel: Kernel) -> Any:
    if isinstance(X, (str, bytes)):
        raise InputError("a list of objects", received=describe(X), hint="give a list with one entry a row")
    if isinstance(X, Table) or is_frame(X):
        return _one_column(X) if kernel.takes == "strings" else _records(X)
    if kernel.takes == "any" and isinstance(X, np.ndarray) and X.ndim == 2:
        return X
    try:
        return list(X)
    except TypeError as error:
        raise InputError("a list of objects", received=describe(X)) from error


def _one_column(X: Any) -> list[Any]:
    """The strings of a table with one column of them; iterating over a frame would give the names of its columns."""
    names = list(X.names) if isinstance(X, Table) else [str(name) for name in frame_names(X)]
    words = names
    if isinstance(X, Table):
        words = [name for name, kind in X.kinds.items() if kind not in ("numeric", "date")]
    if len(words) != 1:
        shown = ", ".join(repr(name) for name in names[:5]) + (" …" if len(names) > 5 else "")
        raise InputError(
            "expected one column of strings",
            received=f"a table with the columns {shown}",
            hint=f"give the column itself: fit(table[{names[0]!r}])" if not isinstance(X, Table)
            else f"give the column itself: fit(table.labels({names[0]!r}))",
        )  # fmt: skip
    return list(X.labels(words[0])) if isinstance(X, Table) else list(X[frame_names(X)[0]])


def _records(X: Any) -> Any:
    """The rows of a frame, for a kernel that takes anything."""
    if isinstance(X, Table):
        return X.numeric()[0]
    return np.asarray(X)


def check_symmetry(kernel: Kernel, rows: Any) -> None:
    """Refuse a function that is no kernel because k(x, y) ≠ k(y, x), as far as a few rows show."""
    if kernel.takes != "any":
        return
    some = rows[:SHOWN]
    K = np.asarray(kernel(some), np.float64)
    mirrored = np.asarray(kernel(some[::-1]), np.float64)[::-1, ::-1]
    far = float(np.max(np.abs(mirrored - mirrored.T), initial=0.0))
    far = max(far, float(np.max(np.abs(K - K.T), initial=0.0)), float(np.max(np.abs(K - mirrored), initial=0.0)))
    if far > 1e-6 * float(np.max(np.abs(K), initial=0.0)):
        raise InputError(
            "a kernel is symmetric: k(x, y) = k(y, x)",
            received=f"a function whose values differ by {far:.2g} when its arguments change places",
            hint="symmetrise it: lambda x, y: (k(x, y) + k(y, x)) / 2",
        )


def _check_matrix(K: Any) -> None:
    n, m = K.shape
    if n != m:
        raise InputError(
            "Precomputed kernel matrix must be square",
            received=f"shape {K.shape}",
            hint="fit takes k(x, y) of the training rows with each other, transform that of new rows with them",
        )
    dense = np.asarray(K.toarray() if hasattr(K, "toarray") else K)
    if not np.any(np.diagonal(dense)) and np.any(dense) and np.all(dense >= 0):
        raise InputError(
            "expected a kernel matrix, whose diagonal holds k(x, x) > 0",
            received="zeros on the diagonal and nothing negative elsewhere, as distances have",
            hint="of distances D make a kernel first: -D**2 / 2, or exp(-gamma * D**2)",
        )
    far, largest = asymmetry(dense)
    if far > ASYMMETRY * unit_roundoff(dense.dtype) * largest:
        raise InputError(
            "expected a symmetric kernel matrix",
            received=f"one whose entries differ by {far:.2g} from their mirror images",
            hint="symmetrise it first: (K + K.T) / 2",
        )
