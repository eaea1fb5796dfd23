"""From what a user writes to a space: the name of a distance, a kernel, a function, or distances themselves."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ritz._core.errors import InputError, ParameterError
from ritz.data.passes.blocks import are_blocks
from ritz.data.passes.integers import as_float
from ritz.data.tables.frames import frame_names, is_frame
from ritz.data.tables.table import Table
from ritz.data.validate import require_finite, validate_rows
from ritz.data.words import describe, nearest
from ritz.graphs.spaces.base import Mapped, Space
from ritz.graphs.spaces.kernel import kernel_space
from ritz.graphs.spaces.objects import Edits, Objects
from ritz.graphs.spaces.precomputed import precomputed
from ritz.graphs.spaces.sparse import SparseRows
from ritz.graphs.spaces.vectors import EuclideanRows, Formula, Powers, cosine
from ritz.kernels.base import Kernel
from ritz.kernels.rows import is_sparse

__all__ = ["METRICS", "checked_rows", "space_of", "takes"]

#: Other names of distances, and ours.
ALIASES = {"l2": "euclidean", "l1": "manhattan", "cityblock": "manhattan", "linf": "chebyshev", "levenshtein": "edit"}
#: Distances of SciPy's cdist that need no more than rows.
FORMULAE = ("braycurtis", "canberra", "hamming", "jaccard", "jensenshannon")
METRICS = (
    "euclidean", "sqeuclidean", "manhattan", "chebyshev", "minkowski", "cosine", "correlation", *FORMULAE, "edit",
    "precomputed",
)  # fmt: skip


def takes(metric: Any) -> str:
    """What rows a metric compares: "vectors", "strings", "any" or "precomputed"; another metric is refused."""
    if isinstance(metric, Kernel):
        if metric.takes == "precomputed":
            raise ParameterError("a precomputed kernel is no distance", received=repr(metric),
                                 hint="metric='precomputed' with D = √(k_ii + k_jj − 2k_ij)")  # fmt: skip
        return metric.takes
    if callable(metric):
        return "any"
    if not isinstance(metric, str) or ALIASES.get(metric, metric) not in METRICS:
        raise ParameterError(
            f"metric must be one of {', '.join(METRICS)}, a kernel of ritz.kernels, or a function of two rows",
            received=repr(metric), hint=f"metric={nearest(metric, METRICS)!r}",
        )  # fmt: skip
    return {"edit": "strings", "levenshtein": "strings", "precomputed": "precomputed"}.get(metric, "vectors")


def space_of(metric: Any, rows: Any, params: dict[str, Any] | None, room: float) -> Space:
    """The space of checked rows under a metric."""
    params = dict(params or {})
    if isinstance(metric, Kernel):
        return kernel_space(metric.with_params(**params) if params else metric, rows, room)
    if callable(metric):
        return Objects(metric, rows, params)
    name = ALIASES.get(metric, metric)
    known = {"minkowski": {"p"}, "jaccard": set(), "hamming": {"w"}}.get(name, set())
    if extra := set(params) - known:
        raise ParameterError(f"metric {name!r} takes {', '.join(known) or 'no further parameters'}",
                             received=f"metric_params {sorted(extra)[0]!r}")  # fmt: skip
    if name == "precomputed":
        return precomputed(rows)
    if name == "edit":
        return Edits(rows)
    if name in ("cosine", "correlation"):
        return cosine(rows, room, name == "correlation")
    if name in ("euclidean", "sqeuclidean"):
        space: Space = SparseRows(rows) if is_sparse(rows) else EuclideanRows(rows, room)
        if name == "euclidean":
            return space
        return Mapped(space, np.square, math.sqrt, "squared Euclidean distance")
    if is_sparse(rows):
        raise InputError(
            f"metric {name!r} takes dense rows",
            received="sparse rows",
            hint="metric='euclidean' or 'cosine' take sparse rows; X.toarray() makes them dense",
        )
    if name in ("manhattan", "chebyshev", "minkowski"):
        p = {"manhattan": 1.0, "chebyshev": np.inf}.get(name, params.get("p", 2.0))
        if not isinstance(p, (int, float)) or not p >= 1:
            raise ParameterError("p of the Minkowski distance is a number ≥ 1", received=repr(p))
        return EuclideanRows(rows, room) if p == 2 else Powers(rows, float(p), room)
    return Formula(rows, name, params)


def checked_rows(estimator: Any, X: Any, kind: str, *, reset: bool) -> Any:
    """Rows as a space takes them: an array or CSR of numbers, or a list of objects."""
    if kind in ("strings", "any"):
        rows = _objects(X, kind)
        if reset:
            for name in ("n_features_in_", "feature_names_in_"):
                if hasattr(estimator, name):
                    delattr(estimator, name)
            if isinstance(rows, np.ndarray):
                estimator.n_features_in_ = rows.shape[1]
        return rows
    first = next(iter(X), None) if isinstance(X, (list, tuple)) else None
    if isinstance(first, str):
        raise InputError("expected rows of numbers", received=f"strings, such as {first[:30]!r}",
                         hint="metric='edit', or a string kernel: metric=ritz.kernels.Spectrum(3)")  # fmt: skip
    rows = validate_rows(estimator, X, reset=reset)
    if are_blocks(rows):
        raise InputError("rows in memory: neighbours compare each with each", received=describe(X),
                         hint="read the table into an array, or take a sample of rows")  # fmt: skip
    if kind == "precomputed":
        return rows  # whose entries are looked at as distances
    require_finite(rows, getattr(estimator, "feature_names_in_", None))
    return rows if rows.dtype.kind == "f" and rows.dtype.itemsize in (4, 8) else as_float(rows)


def _objects(X: Any, kind: str) -> Any:
    if isinstance(X, (str, bytes)):
        raise InputError("a list of objects", received=describe(X), hint="give a list with one entry a row")
    if isinstance(X, Table):
        raise InputError("a column of objects", received=describe(X), hint="give one column: table.labels(name)")
    if is_frame(X):
        names = frame_names(X)
        if kind == "strings":
            if len(names) != 1:
                raise InputError("one column of strings", received=f"a table of {len(names)} columns")
            return list(X[names[0]])
        return np.asarray(X)
    if kind == "any" and isinstance(X, np.ndarray) and X.ndim == 2:
        return X
    try:
        return list(X)
    except TypeError as error:
        raise InputError("a list of objects", received=describe(X)) from error
