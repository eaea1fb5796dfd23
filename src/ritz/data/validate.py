"""Checks of what is handed to an estimator, before any number is looked at.

    anything with rows and columns  →  ndarray (n, d) or CSR (n, d), the same memory wherever that is possible

scikit-learn's own checks run underneath, so ``n_features_in_``, ``feature_names_in_`` and its phrases are
what its users and its estimator checks expect. On top of that: nothing is copied or cast when it is already
a plain array (any float or integer dtype, C or Fortran order, read-only, memory-mapped), and finiteness is
not tested here: the solvers see a NaN in their first pass for free and call ``require_finite`` for the words.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from ritz.data.engines import adopt, registered
from ritz.data.engines.memory.structure import check_structure
from ritz.data.engines.refused import InputTypeError
from ritz.data.engines.request import compare_columns, room_for
from ritz.data.passes.finite import require_finite
from ritz.data.passes.weights import validate_weights

__all__ = [
    "InputTypeError", "compare_columns", "require_device", "require_finite", "room_for", "validate_rows",
    "validate_weights", "where_asked",
]  # fmt: skip


def validate_rows(estimator: Any, X: Any, *, reset: bool, accept_sparse: bool = True, ordered: bool = True) -> Any:
    """Check ``X`` and record, or compare with, the columns that the estimator knows.

    Parameters
    ----------
    estimator : object
        Gets ``n_features_in_`` and ``feature_names_in_`` when ``reset``; is compared with otherwise.
    X : array-like, sparse, data frame, Table or collection of an engine, of shape (n, d)
    reset : bool
        True in ``fit``, False in ``transform``.
    accept_sparse : bool
        Whether a sparse ``X`` may pass.
    ordered : bool
        Whether sparse rows are brought to their canonical form. A product asks for none: without it, floats in CSR and
        CSC pass as they are, with entries in any order, or twice.

    Returns
    -------
    ndarray (n, d) of a real dtype in any memory order, CSR (n, d) without duplicate entries, or row blocks for what
    stays outside memory or lies on a device. The numbers may be NaN or infinite.
    """
    if not reset and (first := getattr(estimator, "_first_table", None)) is not None:
        X = first(X)  # of two tables in one
    here = getattr(estimator, "device", "cpu") == "cpu"
    if type(X) is list and not registered:
        X = _listed(X)
    # No engine but memory takes them.
    if here and not registered and (_plain(X) or (accept_sparse and _plain_rows(X, ordered))):
        named = hasattr(estimator, "feature_names_in_")
        if reset:
            if named:
                del estimator.feature_names_in_
            estimator.n_features_in_, estimator._added_bytes = X.shape[1], 0
            return X
        if not named and getattr(estimator, "n_features_in_", None) == X.shape[1]:
            return X
    rows = adopt(X, estimator, reset=reset, accept_sparse=accept_sparse)
    if here and not hasattr(rows, "place"):
        return rows
    from ritz.data.engines.device.place import placed_for  # loaded where there is a device

    return placed_for(estimator, rows, reset=reset)


def where_asked(estimator: Any, rows: Any) -> Any:
    """Rows that an estimator has made where it computes: as they are, or on the device that it was told."""
    if estimator.device == "cpu" or hasattr(rows, "place"):
        return rows
    from ritz.data.engines.device.place import placed

    return placed(rows, estimator.device)


def require_device(device: Any) -> None:
    """Refuse what names no device; whether it is there is asked when rows are put there."""
    from ritz._core.device import check_device

    check_device(device)


def _plain(X: Any) -> bool:
    """Whether scikit-learn's checks and ours would give an array back untouched: rows and columns of numbers."""
    return type(X) is np.ndarray and X.ndim == 2 and X.size > 0 and _number(X.dtype)


def _listed(X: list[Any]) -> Any:
    """Lists of numbers as an array; as they are where that is not what NumPy makes of them."""
    try:
        rows = np.asarray(X) if X and type(X[0]) in (list, tuple) else None
    except (ValueError, TypeError, OverflowError):
        return X
    return rows if _plain(rows) else X


def _plain_rows(X: Any, ordered: bool) -> bool:
    """The same of CSR rows, whose places are looked at; of CSC too where entries need no order."""
    sparse = sys.modules.get("scipy.sparse")
    if sparse is None or type(X) not in (sparse.csr_array, sparse.csr_matrix, sparse.csc_array, sparse.csc_matrix):
        return False
    loose = not ordered and X.dtype.kind == "f"
    if X.ndim != 2 or not X.shape[0] or not X.shape[1] or not (loose or X.format == "csr"):
        return False
    if not _number(X.dtype) or X.dtype.itemsize < 4:
        return False
    check_structure(X)
    if X.data.size != X.indices.size or X.data.size != X.nnz:  # room behind the last entry
        return False
    return loose or bool(X.has_canonical_format)


def _number(dtype: np.dtype[Any]) -> bool:
    return dtype.kind in "fiub" and dtype.itemsize <= 8 and dtype.isnative
