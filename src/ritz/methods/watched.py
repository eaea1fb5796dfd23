"""Fits of arrays that are mapped from a file: the file must stay as it is until the fit is done.

    stamp of the file  →  fit  →  the same stamp, or DataChanged and the model as it was before

Rows that are read in pieces are looked after where they are read (``data/formats/stamp.py``). An array that another
program changes in memory cannot be found out; one that lies in a file can.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from ritz._core.errors import DataChanged
from ritz.data.formats.stamp import Stamp, unchanged
from ritz.data.tables.table import Table

__all__ = ["Watched"]


class Watched:
    """Base of estimators: ``fit`` and ``partial_fit`` look after the file of a mapped array."""

    def __init_subclass__(cls, **keywords: Any) -> None:
        for name in ("fit", "partial_fit"):
            if name in vars(cls):
                setattr(cls, name, _watching(vars(cls)[name]))
        super().__init_subclass__(**keywords)


def _watching(method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def fit(self: Any, X: Any, *more: Any, **keywords: Any) -> Any:
        files = {Path(one.filename) for one in _maps(X) if one.filename is not None}
        files = {file for file in files if file.is_file()}
        if not files:
            return method(self, X, *more, **keywords)
        before = dict(vars(self))
        try:
            with unchanged(Stamp(sorted(files))):
                return method(self, X, *more, **keywords)
        except DataChanged:
            vars(self).clear()
            vars(self).update(before)
            raise

    return fit


def _maps(X: Any) -> Iterator[np.memmap[Any, Any]]:
    """The mapped arrays behind rows."""
    if isinstance(X, Table):
        X = getattr(X._data, "values", None)
    for part in (X, *(getattr(X, name, None) for name in ("data", "indices", "indptr") if hasattr(X, "indptr"))):
        held = part
        while isinstance(held, np.ndarray):
            if isinstance(held, np.memmap):
                yield held
                break
            held = held.base
