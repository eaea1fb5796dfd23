"""What people hand to the functions of this layer, checked in one place.

a model       fitted, and before the rows: f(model, X)
components    numbers from 0, or names as files and reports have them, "PC1", or as get_feature_names_out, "pca0"
variables     a table; one column alone, or a dict of columns, is a table too
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from ritz._core.errors import ParameterError
from ritz.data.tables.frames import is_frame
from ritz.methods import names_of_methods

__all__ = ["component_numbers", "table_of_variables"]

#: A name with a number at its end, and what scikit-learn puts before that number: the class in small letters.
_NUMBERED = re.compile(r"([A-Za-z]+?)_?(\d+)")
_PREFIXES = frozenset(name.lower() for name in names_of_methods())


def component_numbers(components: Any, names: Sequence[str]) -> list[int]:
    """Components as numbers from 0; ``names`` are those of all components."""
    given = [components] if isinstance(components, (str, int, np.integer)) else list(components)
    places = [_place(i, names) if isinstance(i, str) else i for i in given]
    valid = all(isinstance(i, (int, np.integer)) and not isinstance(i, bool) and 0 <= i < len(names) for i in places)
    if not valid:
        last = len(names) - 1
        raise ParameterError(
            f"components are numbers from 0 to {last}, or names from {names[0]!r} to {names[-1]!r}"
            if names else "the model has no components",
            received=repr(components), hint=f"0 is the first, {names[0]!r}" if names else None,
        )  # fmt: skip
    return [int(i) for i in places]


def _place(name: str, names: Sequence[str]) -> int | str:
    """The number of a component by its name; both schemes: PC1 counts from 1, pca0 from 0, as scikit-learn does."""
    if name in names:
        return names.index(name)
    found = _NUMBERED.fullmatch(name)
    if found is None:
        return name
    letters, number = found.group(1).lower(), int(found.group(2))
    if letters in {_letters(one) for one in names}:
        return number - 1 if number else name
    return number if letters in _PREFIXES else name


def _letters(name: str) -> str:
    found = _NUMBERED.fullmatch(str(name))
    return found.group(1).lower() if found else str(name)


def table_of_variables(variables: Any) -> Any:
    """Variables as a table: a named column by itself, or columns in a dict, become a frame of their library."""
    if hasattr(variables, "to_frame") and not is_frame(variables):  # a column of pandas or polars
        return variables.to_frame(variables.name if variables.name not in (None, "") else "variable")
    if isinstance(variables, dict):
        import pyarrow as pa

        return pa.table({str(name): pa.array(list(values)) for name, values in variables.items()})
    return variables
