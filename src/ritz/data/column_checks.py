"""scikit-learn's checks of columns, with its warnings given as Ritz gives its own: once a call, at the user's line.

names in fit, none now     →  warning          names now, none in fit     →  warning          other names  →  error
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ritz._core.errors import RitzError
from ritz._core.warn import warn
from ritz.data.engines.refused import translated
from ritz.data.tables.frames import is_frame

__all__ = ["checked_data", "checked_names"]


def checked_names(estimator: Any, X: Any, *, reset: bool) -> None:
    """The checks of names and of how many columns there are alone; what they refuse comes with what to do."""
    try:
        checked_data(estimator, X, reset=reset, skip_check_array=True)
    except RitzError:
        raise
    except (TypeError, ValueError) as error:
        raise translated(error, X) from error


def checked_data(estimator: Any, X: Any, *, reset: bool, **options: Any) -> Any:
    """``sklearn.utils.validation.validate_data``."""
    if reset and options.get("skip_check_array") and (names := _names(X)):
        estimator.feature_names_in_, estimator.n_features_in_ = np.asarray(names, object), len(names)
        return X
    fitted = getattr(estimator, "feature_names_in_", None)
    if not reset and fitted is not None and options.get("skip_check_array") and _as_fitted(X, fitted):
        return X
    from sklearn.utils.validation import _check_n_features, _get_feature_names, check_array, validate_data

    if reset or (fitted is None) == (_get_feature_names(X) is None):
        return validate_data(estimator, X, reset=reset, **options)
    name = type(estimator).__name__
    warn(  # word for word what scikit-learn says, whose users filter by it
        f"X has feature names, but {name} was fitted without feature names"
        if fitted is None
        else f"X does not have valid feature names, but {name} was fitted with feature names",
        UserWarning,
    )
    skip = options.pop("skip_check_array", False)
    rows = X if skip else check_array(X, input_name="X", estimator=estimator, **options)
    _check_n_features(estimator, rows, reset=False)
    return rows


def _as_fitted(X: Any, names: Any) -> bool:
    """Whether a frame has the names of the fit in their order; asked of the frame itself, as that is quick."""
    columns = _columns(X)
    return columns is not None and columns == list(names)


def _names(X: Any) -> list[str] | None:
    """Names of a frame's columns, where they are strings and there is a row; scikit-learn decides what others are."""
    columns = _columns(X)
    known = columns is not None and all(type(name) is str for name in columns)
    return columns if known and is_frame(X) and len(X) else None


def _columns(X: Any) -> list[Any] | None:
    columns: Any = getattr(X, "columns", None)
    columns = columns.tolist() if hasattr(columns, "tolist") else columns
    return columns if isinstance(columns, list) else None
