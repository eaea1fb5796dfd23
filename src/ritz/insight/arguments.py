"""What people hand to the functions of this layer, checked in one place.

a model       fitted, and before the rows: f(model, X)
components    numbers from 0, or names as results have them: 0 or "PC1"
variables     a table; one column alone, or a dict of columns, is a table too
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ritz._core.errors import ParameterError
from ritz.data.tables.frames import is_frame

__all__ = ["component_numbers", "table_of_variables"]


def component_numbers(components: Any, names: Sequence[str]) -> list[int]:
    """Components as numbers from 0; ``names`` are those of all components."""
    given = [components] if isinstance(components, (str, int, np.integer)) else list(components)
    places = [names.index(i) if isinstance(i, str) and i in names else i for i in given]
    valid = all(isinstance(i, (int, np.integer)) and not isinstance(i, bool) and 0 <= i < len(names) for i in places)
    if not valid:
        last = len(names) - 1
        raise ParameterError(
            f"components are numbers from 0 to {last}, or names from {names[0]!r} to {names[-1]!r}"
            if names else "the model has no components",
            received=repr(components), hint=f"0 is the first, {names[0]!r}" if names else None,
        )  # fmt: skip
    return [int(i) for i in places]


def table_of_variables(variables: Any) -> Any:
    """Variables as a table: a named column by itself, or columns in a dict, become a frame of their library."""
    if hasattr(variables, "to_frame") and not is_frame(variables):  # a column of pandas or polars
        return variables.to_frame(variables.name if variables.name not in (None, "") else "variable")
    if isinstance(variables, dict):
        import pyarrow as pa

        return pa.table({str(name): pa.array(list(values)) for name, values in variables.items()})
    return variables
