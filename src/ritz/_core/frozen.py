"""Frozen records made and changed quickly: their fields are written into ``__dict__``.

``dataclass(frozen=True)`` sets every field through ``object.__setattr__``, 5 µs for a record of twenty fields, and
``replace`` reads all of them besides, 12 µs; writing them into the dictionary takes 1 µs, and so does copying it. A fit
of a small table makes a dozen such records. All fields are parameters of ``__init__``, none has slots.

A record may leave some of its fields to be derived from what it holds until one of them is first read (``Deriving``).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, fields
from typing import TYPE_CHECKING, Any, TypeVar

__all__ = ["Deriving", "changed", "later", "quick"]

T = TypeVar("T")


class _Made:
    """What stands for a default that is made anew for every record."""

    def __repr__(self) -> str:
        return "<factory>"


MADE = _Made()


def changed(record: T, **fields: Any) -> T:
    """A copy of a frozen record with other values of some fields, without running ``__init__`` again."""
    other = object.__new__(type(record))
    other.__dict__.update(record.__dict__, **fields)
    return other


def quick(cls: type[T]) -> type[T]:
    """A frozen data class with an ``__init__`` of the same parameters that writes them into ``__dict__``."""
    known: dict[str, Any] = {"MADE": MADE}
    given, lines = [], ["_written = self.__dict__"]
    for one in fields(cls):  # type: ignore[arg-type]
        name, value = one.name, one.name
        if one.default is not MISSING:
            known[f"of_{name}"] = one.default
            given.append(f"{name}=of_{name}")
        elif one.default_factory is not MISSING:
            known[f"of_{name}"] = one.default_factory
            given.append(f"{name}=MADE")
            value = f"of_{name}() if {name} is MADE else {name}"
        else:
            given.append(name)
        lines.append(f"_written[{name!r}] = {value}")
    if hasattr(cls, "__post_init__"):
        lines.append("self.__post_init__()")
    exec(f"def __init__(self, {', '.join(given)}):\n    " + "\n    ".join(lines), known)
    made, before = known["__init__"], cls.__init__
    made.__qualname__, made.__module__ = before.__qualname__, cls.__module__
    made.__annotations__ = before.__annotations__
    cls.__init__ = made  # type: ignore[method-assign]
    return cls


class Deriving:
    """Base of records made by ``later``: fields that they lack are derived, all at once, when one is first read.

    Nobody else sees a difference: copies, pickles and ``replace`` derive them first. Two threads that read at once may
    both derive them; the first to finish decides.
    """

    if not TYPE_CHECKING:  # which is told of the fields themselves

        def __getattr__(self, name: str) -> Any:
            held = self.__dict__
            names, derive = held.get("_later", ((), None))
            if name in names:
                for each, value in derive().items():
                    held.setdefault(each, value)  # ``changed`` may have written some
                held.pop("_later", None)
            if name in held:
                return held[name]
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self)

    def derive(self) -> None:
        """Derive now what is still lacking."""
        for name in self.__dict__.get("_later", ((), None))[0]:
            getattr(self, name)

    def __getstate__(self) -> dict[str, Any]:
        self.derive()
        return dict(self.__dict__)


def later(cls: type[T], fields: dict[str, Any], names: tuple[str, ...], derive: Callable[[], dict[str, Any]]) -> T:
    """A record of a ``Deriving`` class with ``fields``; those of ``names`` ``derive`` gives when one is asked for."""
    record = object.__new__(cls)
    record.__dict__.update(fields, _later=(names, derive))
    return record
