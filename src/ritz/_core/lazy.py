"""Values that are computed when they are first read, and kept: ``functools.cached_property`` without its lock.

Python 3.11 holds one lock for all objects of a class while it computes (3.12 has none). A pass over the rows takes
long and calls functions of the user, so whoever fits another table meanwhile, in another thread, in a function that
watches the progress, in a task of Dask, or in a process forked from this one, would wait for it: at best for long, at
worst for ever. Here nobody waits. Two threads that read the same value of the same object at once may both compute it;
the first to finish decides, and both get that one object.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, Self, TypeVar, overload

__all__ = ["cached_property"]

T = TypeVar("T")
_ABSENT = object()


class cached_property(Generic[T]):
    """A method without arguments, as an attribute that is computed once and kept in the object's ``__dict__``."""

    def __init__(self, function: Callable[[Any], T]) -> None:
        self.function = function
        self.name = function.__name__
        self.__doc__ = function.__doc__
        self.__module__ = function.__module__

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, instance: None, owner: type | None = None) -> Self: ...
    @overload
    def __get__(self, instance: object, owner: type | None = None) -> T: ...
    def __get__(self, instance: object | None, owner: type | None = None) -> Self | T:
        if instance is None:
            return self
        attributes = instance.__dict__
        value = attributes.get(self.name, _ABSENT)
        if value is _ABSENT:
            value = attributes.setdefault(self.name, self.function(instance))
        return value  # type: ignore[no-any-return]
