"""What holds for every public method of an estimator, wherever it is written.

coordinates, and rows from them, come as tensors where tensors were handed in (``_core/device.py``)
coordinates behind a mask are refused wherever rows are made from them
one call of the user says each warning once (``_core/warn.py``)
a small fit takes one thread of BLAS (``_core/blas.py``)
``partial_fit`` on one estimator from several threads: one after the other (``_core/turns.py``)
``fit`` and ``partial_fit`` of an array that is mapped from a file:

    stamp of the file  →  fit  →  the same stamp, or DataChanged and the model as it was before

Rows that are read in pieces are looked after where they are read (``data/formats/stamp.py``). An array that another
program changes in memory cannot be found out; one that lies in a file can.
"""

from __future__ import annotations

import functools
import math
import sys
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np

from ritz._core.blas import ALONE, THREADED, held_blas
from ritz._core.errors import DataChanged
from ritz._core.turns import in_turn
from ritz._core.warn import Call, current
from ritz.data.engines.memory.arrays import refuse_masked
from ritz.data.formats.stamp import Stamp, unchanged
from ritz.data.tables.table import Table

__all__ = ["forget", "public", "restore", "threads_for"]


#: Steps of the pipeline, which are called by it alone.
STEPS = ("pose", "read")
#: No limit.
FREE = nullcontext()
#: Methods whose results are tensors, or CuPy arrays, where the rows are.
IN_KIND = ("transform", "fit_transform", "inverse_transform", "impute")
#: Methods that make rows from coordinates.
BACK = ("inverse_transform", "preimages", "probabilities")


def public(cls: type) -> type:
    """Wrap the public methods that a class defines."""
    for name, method in list(vars(cls).items()):
        if name in STEPS or name.startswith(("_", "get_", "set_")) or not isinstance(method, FunctionType):
            continue
        if name in ("fit", "partial_fit"):
            method = _watching(method)
        if name in IN_KIND:
            method = _in_kind(method)
        if name in BACK:
            method = _unmasked(method)
        setattr(cls, name, _once(_in_turn(method) if name == "partial_fit" else method))
    return cls


#: What scikit-learn keeps in an estimator that no fit has made.
SETTINGS = ("_sklearn", "_metadata")


def forget(model: Any) -> None:
    """Drop whatever fits have named: a model whose fit has failed must not answer for other rows."""
    for name in list(vars(model)):
        if name.endswith("_") or (name.startswith("_") and not name.startswith(SETTINGS)):
            delattr(model, name)


def restore(model: Any, before: dict[str, Any]) -> None:
    """Give a model back the attributes that it had."""
    for name in set(vars(model)) - set(before):
        delattr(model, name)
    for name, value in before.items():
        setattr(model, name, value)


def _once(method: Callable[..., Any]) -> Callable[..., Any]:
    """Each warning once a call of the user."""

    @functools.wraps(method)
    def called(*arguments: Any, **named: Any) -> Any:
        if current.get() is not None:
            return method(*arguments, **named)
        token = current.set(Call(sys._getframe(1)))
        try:
            return method(*arguments, **named)
        finally:
            current.reset(token)

    return called


def _in_kind(method: Callable[..., Any]) -> Callable[..., Any]:
    """Results in the kind of the rows: tensors for tensors, on their device."""

    @functools.wraps(method)
    def called(self: Any, X: Any, *more: Any, **named: Any) -> Any:
        result = method(self, X, *more, **named)
        if type(X) is np.ndarray:
            return result
        from ritz._core.device import in_kind, is_tensor, on_device  # which plain arrays do without

        return in_kind(result, X) if is_tensor(X) or on_device(X) else result

    return called


def _unmasked(method: Callable[..., Any]) -> Callable[..., Any]:
    """No coordinates whose numbers a mask hides: NumPy would hand these on as if there were no mask."""

    @functools.wraps(method)
    def called(self: Any, X: Any, *more: Any, **named: Any) -> Any:
        if isinstance(X, np.ma.MaskedArray):
            refuse_masked(X)
        return method(self, X, *more, **named)

    return called


def _in_turn(method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def called(self: Any, *arguments: Any, **named: Any) -> Any:
        with in_turn(self, "partial_fit"):
            return method(self, *arguments, **named)

    return called


def _watching(method: Callable[..., Any]) -> Callable[..., Any]:
    """Look after the file of a mapped array."""

    @functools.wraps(method)
    def called(self: Any, X: Any, *more: Any, **named: Any) -> Any:
        if type(X) is np.ndarray and X.base is None:  # neither mapped nor a view of what is
            return method(self, X, *more, **named)
        files = {Path(one.filename) for one in _maps(X) if one.filename is not None}
        files = {file for file in files if file.is_file()}
        if not files:
            return method(self, X, *more, **named)
        before = dict(vars(self))
        try:
            with unchanged(Stamp(sorted(files))):
                return method(self, X, *more, **named)
        except DataChanged:
            restore(self, before)
            raise

    return called


def _maps(X: Any) -> Iterator[np.memmap[Any, Any]]:
    """The mapped arrays behind rows."""
    if isinstance(X, Table):
        X = getattr(X._data, "values", None)
    for array in (X, *(getattr(X, name, None) for name in ("data", "indices", "indptr") if hasattr(X, "indptr"))):
        base = array
        while isinstance(base, np.ndarray):
            if isinstance(base, np.memmap):
                yield base
                break
            base = base.base


def threads_for(model: Any, rows: Any) -> Any:
    """Limit BLAS to one thread while a fit runs to which more would bring little, and cost much on a busy machine."""
    return held_blas(1) if THREADED < _work(model, rows) <= ALONE else FREE


def _work(model: Any, rows: Any) -> float:
    """Multiplications of a decomposition, about; infinite where nobody can tell."""
    shape = getattr(rows, "shape", None) or getattr(getattr(rows, "rows", None), "shape", ())  # as they are encoded
    if getattr(model, "_rows_by_rows", False):  # a matrix with a column for every row
        return float(shape[0] if shape else len(rows) if hasattr(rows, "__len__") else math.inf) ** 3
    return float(math.prod(shape)) * min(shape) if shape else math.inf
