"""What holds for every public method of an estimator, wherever it is written.

one call of the user says each warning once (``_core/warn.py``)
``partial_fit`` on one estimator from several threads: one after the other (``_core/turns.py``)
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from types import FunctionType
from typing import Any

from ritz._core.turns import in_turn
from ritz._core.warn import one_call

__all__ = ["PublicCalls"]


class PublicCalls:
    """Base of estimators: public methods of every subclass are wrapped as they are defined, with those it mixes in."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        mixed = (base for base in cls.__mro__[1:] if not issubclass(base, PublicCalls) and _ours(base))
        for holder in (cls, *mixed):
            for name, method in list(vars(holder).items()):
                known = isinstance(method, FunctionType) and not name.startswith(("_", "get_", "set_"))
                if known and inspect.getattr_static(cls, name) is method:
                    setattr(cls, name, _public(_turned(method) if name == "partial_fit" else method))


def _ours(base: type) -> bool:
    """Whether a class is Ritz's, or gives an estimator the ``fit_transform`` that calls two methods of it."""
    return base.__module__.startswith("ritz.") or "fit_transform" in vars(base)


def _public(method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def called(*arguments: Any, **named: Any) -> Any:
        with one_call():
            return method(*arguments, **named)

    return called


def _turned(method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def called(self: Any, *arguments: Any, **named: Any) -> Any:
        with in_turn(self, "partial_fit"):
            return method(self, *arguments, **named)

    return called
