"""What cannot be used as rows, in the words of scikit-learn and NumPy, with what came and what to do; lost clusters."""

from __future__ import annotations

import re
from typing import Any

from ritz._core.errors import InputError, RitzError
from ritz.data.words import describe

__all__ = ["ClusterError", "InputTypeError", "translated", "uneven"]


class InputTypeError(InputError, TypeError):
    """Data of a type that cannot be used: a TypeError as well, which scikit-learn raises in these places."""


class ClusterError(RitzError, ConnectionError):
    """A cluster that is not there, or that lost what it was given."""


def translated(error: ValueError | TypeError, X: Any) -> InputError:
    """Keep the sentences of scikit-learn and NumPy, and add what came and what to do."""
    text = str(error).strip()
    cls = InputTypeError if isinstance(error, TypeError) else InputError
    if isinstance(X, (list, tuple)) and X and all(len(getattr(part, "shape", ())) == 2 for part in X):
        return cls("expected rows and columns of numbers", received=f"{describe(X)} whose entries are tables",
                   hint="if they are batches of rows, ritz.read(X) makes one table of them")  # fmt: skip
    if "inhomogeneous" in text:
        return cls("expected rows of one length", received=uneven(X), hint="pad or cut the rows first")
    if "array element with a sequence" in text:  # an array or a Series whose entries are lists
        if _lengths(X)[1] is not None:
            return cls("expected rows of one length", received=uneven(X), hint="pad or cut the rows first")
        return cls("expected rows and columns of numbers", received=f"{describe(X)} whose entries are lists",
                   hint="make rows of them: numpy.array(list(X))")  # fmt: skip
    if "Reshape your data" in text:
        first, _, advice = text.partition("Reshape your data")
        if hasattr(X, "to_frame"):  # a column of polars, which scikit-learn takes for an array
            return cls(first.split(":\n")[0].strip(), received=describe(X), hint="pass a frame: X.to_frame()")
        return cls(first.split(":\n")[0].strip(), received=describe(X), hint="Reshape your data" + advice)
    hint = next((h for pattern, h in HINTS if re.search(pattern, text)), None)
    return cls(text.rstrip("."), received=describe(X), hint=hint)


HINTS = (
    (r"Expected a 2-dim", "pass a frame: X.to_frame() of one column, X.iloc[[0]] for one row"),
    (r"0 sample\(s\)", "the data has no rows: look at the filter or the path that made it"),
    (r"0 feature\(s\)", "the data has no columns: look at the selection that made it"),
    (r"features, but .* is expecting", "give the columns of the fit, in the same order"),
    (r"yet now missing", "add or rename columns: model.feature_names_in_ has the names of the fit, in order"),
    (r"feature names should match", "select them by name: X[model.feature_names_in_]"),
    (r"arrays of bytes/strings", "convert them first, e.g. numpy.asarray(X, float), or read the file with ritz.read"),
    (r"dim <= 2", "reshape to (n_rows, n_columns), e.g. X.reshape(len(X), -1)"),
    (r"[Ss]parse", "this step needs dense data: X.toarray(), if it fits in memory"),
    (r"unique column names", "rename the repeated columns"),
    (r"^float\(\) argument", "pass rows and columns of numbers: an array, a frame, a list of rows"),
    (r"np\.matrix", "use numpy.asarray(X)"),
    (r"Feature names are only supported", "name every column by a string: X.columns = X.columns.astype(str)"),
)


def uneven(X: Any) -> str:
    """Which row of a list has another length than the first, from 0."""
    lengths, odd = _lengths(X)
    if odd is None:
        return f"{describe(X)} with lists of different lengths inside its rows" if lengths else describe(X)
    both = lengths[0] is not None and lengths[odd] is not None
    return f"{_entries(lengths[0])} in row 0 but {lengths[odd] if both else _entries(lengths[odd])} in row {odd}"


def _lengths(X: Any) -> tuple[list[int | None], int | None]:
    """Lengths of the rows, None of what is no list, and the first row that differs from row 0."""
    rows = list(X) if hasattr(X, "__iter__") else []
    lengths = [len(row) if hasattr(row, "__len__") and not isinstance(row, (str, bytes)) else None for row in rows]
    return lengths, next((i for i, length in enumerate(lengths) if length != lengths[0]), None)


def _entries(length: int | None) -> str:
    return "no list" if length is None else f"{length} {'entry' if length == 1 else 'entries'}"
