"""What a fit keeps for itself beside the names that end in ``_``: one typed record a model.

    model._record.mean               a field; None where the fit kept no such thing
    values_of(model)["_mean"]        the same by the key of model files: "_" and the field, or what its metadata say

A record is replaced by a fit, and by rows that are added, never emptied in place: a copy of a model keeps its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Self

__all__ = ["ABSENT", "Record", "keep", "record_of", "set_values", "value_of", "values_of"]


#: The default of every field: a fit that keeps no such thing leaves it.
ABSENT: Any = None


@dataclass(eq=False)
class Record:
    """Base of the records of all methods."""

    added_bytes: int | None = ABSENT  # what was put in memory for the fit
    rows_key: str | None = ABSENT  # by which a model that places no other rows knows those of its fit

    #: fields that outlive the fit: what is known of the columns, of which rows that are added are
    LASTING: ClassVar[tuple[str, ...]] = ()

    @classmethod
    def keys(cls) -> dict[str, str]:
        """The fields by their keys."""
        saved = [one for one in fields(cls) if one.metadata.get("saved", True)]
        return {one.metadata.get("key", f"_{one.name}"): one.name for one in saved}

    def stored(self) -> dict[str, Any]:
        """What is kept, by its keys."""
        values = {key: getattr(self, name) for key, name in self.keys().items()}
        return {key: value for key, value in values.items() if value is not None}

    @classmethod
    def restored(cls, values: Mapping[str, Any]) -> Self:
        """The record of which these are the values; keys of something else are passed over."""
        return cls(**{name: values[key] for key, name in cls.keys().items() if key in values})

    def lasting(self, **values: Any) -> Self:
        """A record of the same columns, with nothing else but ``values``."""
        return type(self)(**{name: getattr(self, name) for name in self.LASTING} | values)


def record_of(model: Any) -> Any:
    """The record of a model whose method keeps one; an empty one before the first fit."""
    record: Record | None = vars(model).get("_record")
    if record is None:
        record = model._record = type(model)._records()
    return record


def values_of(model: Any) -> dict[str, Any]:
    """Whatever a model holds, parameters included, by the names that files use."""
    plain = {name: value for name, value in vars(model).items() if name != "_record"}
    return plain | record_of(model).stored() if "_record" in vars(model) else plain


def value_of(model: Any, name: str, otherwise: Any = None) -> Any:
    """One of ``values_of``."""
    return values_of(model).get(name, otherwise)


def set_values(model: Any, values: Mapping[str, Any]) -> None:
    """Give a model what ``values_of`` has told of another one."""
    if "_record" in values:
        raise ValueError("a fitted name '_record'")
    kind = type(model)._records
    keys = kind.keys()
    for name, value in values.items():
        if name not in keys:
            setattr(model, name, value)
    model._record = kind.restored(values)


def keep(model: Any, **values: Any) -> None:
    """Keep values in the record of a model, by its fields."""
    record = record_of(model)
    for name, value in values.items():
        setattr(record, name, value)
