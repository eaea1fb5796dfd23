"""The second table of a fitted model: its columns in the order of the fit, as many rows as the first, and its scores.

Names tell columns apart where both tables have them; columns without names are taken by their places. Scores come in
the form that ``set_output`` asks for, as those of the first table do.
"""

from __future__ import annotations

import sys
from typing import Any

from ritz._core.errors import InputError
from ritz.data.words import shorten
from ritz.methods.two_tables.second import Second

__all__ = ["in_order", "in_output", "paired"]


def in_order(second: Second, names: list[str], name: str) -> Second:
    """The columns of a second table in the order of the fit, where both have names; others are taken by place."""
    alone = len(set(names)) < max(2, len(names))  # nothing to be mixed up, or nothing that names tell apart
    if alone or second.names == names:
        return second
    if sorted(second.names) != sorted(names):
        if _numbered(second.names) or _numbered(names):
            return second
        raise InputError(
            f"the second table of this {name} has the columns {shorten(names)}", received=shorten(second.names),
            hint="pass the columns of the fit, in any order",
        )  # fmt: skip
    places = [second.names.index(one) for one in names]
    return Second(second.values[:, places], names, second.flat, second.dtype)


def in_output(model: Any, scores: Any, Y: Any) -> Any:
    """Scores of a second table in the form that ``set_output`` asks for: scikit-learn looks at those of X alone."""
    if "sklearn" not in sys.modules:  # the program, whose estimators have no such setting
        return scores
    from sklearn.utils._set_output import _wrap_data_with_container as in_container

    return in_container("transform", scores, Y, model)


def paired(first: Any, second: Any, Y: Any) -> tuple[Any, Any]:
    """Scores of both tables, which are of the same rows; where only the first has names of rows, they are of both."""
    if len(first) != len(second):
        raise InputError(
            "both tables have the same rows", received=f"{len(first):,} of the first and {len(second):,} of the second",
            hint="pass the second table of the same rows, or call transform and transform_y by themselves",
        )  # fmt: skip
    if hasattr(first, "set_axis") and hasattr(second, "set_axis") and not hasattr(Y, "iloc"):  # frames of pandas
        second = second.set_axis(first.index, axis=0)
    return first, second


def _numbered(names: list[str]) -> bool:
    """Whether these are the names of columns that have none."""
    return names == [f"y{j}" for j in range(len(names))]
