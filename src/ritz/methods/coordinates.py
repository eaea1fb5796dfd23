"""Coordinates of rows on their way out: into files, out of lazy collections, and back to rows.

T = f(X) (n, k),   written some rows at a time;   X̂ = f⁻¹(T) (n, d)
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ritz._core.bases import check_is_fitted
from ritz._core.errors import InputError, NonFiniteError
from ritz._core.linalg import is_foreign
from ritz._core.progress import using
from ritz.data.engines import Engine
from ritz.data.engines.refused import InputTypeError, translated
from ritz.data.passes.blocks import are_blocks
from ritz.data.passes.read_ahead import ahead
from ritz.data.tables.apart import require_apart
from ritz.data.tables.identifiers import Labels, identifiers_of
from ritz.data.tables.write import RowWriter, row_writer
from ritz.data.validate import compare_columns, validate_rows
from ritz.data.words import counted, describe
from ritz.methods.unfitted import require_mean
from ritz.project.linear import LinearMap, result_dtype
from ritz.spectral.streamed import require_room

__all__ = [
    "checked_coordinates", "keep_apart", "listed_names", "rows_from", "scores_into", "scores_lazily", "scores_of",
    "scores_to",
]  # fmt: skip


def scores_lazily(model: Any, engine: Engine, X: Any) -> Any:
    """Coordinates of a collection of a lazy engine, as a collection of this engine."""
    X = engine.among(X, listed_names(model))
    columns, step = compare_columns(model, engine.columns(X)), model._map()
    names = getattr(step, "names", None)
    scores = engine.map_rows(X, step.forward, model._n_features_out, result_dtype(columns.dtype), names)
    return engine.named(scores, list(model.get_feature_names_out()))


def scores_of(model: Any, X: Any) -> Any:
    """Coordinates of rows by a fitted model; on their device where ``X``, of which the rows were made, lies there."""
    step = model._map()
    rows = validate_rows(model, X, reset=False, ordered=getattr(step, "ordered", True))
    stays = getattr(rows, "computes", False) and type(X) is not np.ndarray and isinstance(step, LinearMap)
    return step.forward(rows, there=True) if stays and is_foreign(X) else step.forward(rows)


def listed_names(model: Any) -> list[str] | None:
    """Names of the columns of the fit, or None."""
    names = getattr(model, "feature_names_in_", None)
    return None if names is None else [str(name) for name in names]


def scores_to(model: Any, X: Any, path: Any) -> Path:
    """Write the coordinates of rows to a file that appears when it is complete."""
    check_is_fitted(model)
    require_mean(model)
    rows = validate_rows(model, X, reset=False)
    target = Path(path)
    keep_apart(target, X)
    names = [f"{model.about.axis}{i + 1}" for i in range(model._n_features_out)]
    with row_writer(target, names, result_dtype(rows.dtype)) as write:
        model._scores_into(rows, identifiers_of(X), write)
    return target


def scores_into(model: Any, rows: Any, step: Any, labels: Labels, write: RowWriter) -> None:
    """Hand coordinates, with labels, to a writer; reading, computing and writing overlap."""
    require_mean(model)
    nbytes = int(rows.nbytes) if are_blocks(rows) else 0
    require_room(model.memory, rows, model._n_features_out)
    with using(model.progress, type(model).__name__, expected=nbytes):
        for scores in ahead(step.batches(rows)):
            write(scores, labels.take(scores.shape[0]))


def rows_from(model: Any, X: Any) -> Any:
    """Rows from coordinates."""
    check_is_fitted(model)
    require_mean(model)
    T = checked_coordinates(X, model._n_features_out, gaps=bool(getattr(model, "_empty_rows", False)))
    return model._map().backward(T)


def checked_coordinates(X: Any, k: int, *, gaps: bool = False, what: str = "coordinates of {k} components") -> Any:
    """Coordinates (n, k) as floats, finite unless ``gaps`` are taken; a tensor that lies on a device stays there."""
    T = coordinates_of(X)
    if T.ndim != 2 or T.shape[1] != k:
        raise InputError(
            f"inverse_transform takes {what.format(k=k)}, shape (n, {k})",
            received=f"shape {tuple(T.shape)}",
            hint="pass what transform returned",
        )
    if is_foreign(T):
        return T
    if T.dtype.kind not in "fiub":
        raise InputError(
            "inverse_transform takes real numbers", received=f"dtype {T.dtype}", hint="pass what transform returned"
        )
    if not gaps and not np.isfinite(T).all():
        bad, kind = np.flatnonzero(~np.isfinite(T).all(axis=1)), "NaN" if np.isnan(T).any() else "infinity"
        raise NonFiniteError(
            f"inverse_transform takes finite coordinates; Input X contains {kind}",
            received=f"{counted(len(bad), 'row')} with such values, the first is row {bad[0]}",
            hint="pass what transform returned, without those rows; rows count from 0",
        )
    return T if T.dtype.kind == "f" else T.astype(np.float64)


def coordinates_of(X: Any) -> Any:
    """Coordinates as an array, or where they lie on a device as a tensor there."""
    if type(X) is np.ndarray and X.dtype != object:
        return X
    from ritz._core.device import on_device
    from ritz.data.engines.memory.arrays import plain

    if on_device(X):
        from ritz.data.engines.device import adopted_tensor

        return adopted_tensor(X)
    try:
        T = plain(X)
    except InputError:
        raise
    except (ValueError, TypeError) as error:  # rows of different lengths
        raise translated(error, X) from error
    if hasattr(T, "tocsr"):
        raise InputTypeError(
            "inverse_transform takes dense coordinates", received=describe(X), hint="make them dense: X.toarray()"
        )
    return np.asarray(T)


def keep_apart(target: Path, X: Any) -> None:
    """Refuse to write over the table that is read."""
    file = getattr(X, "filename", None)  # of an array that is mapped from it
    files = getattr(getattr(X, "_data", None), "files", [] if file is None else [file])
    require_apart(target, files, scores=True)
