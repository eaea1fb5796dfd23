"""What is said of a fitted name that a model does not have: that it is not fitted, or that there is no such name."""

from __future__ import annotations

import inspect
from functools import lru_cache
from typing import Any

from ritz._core.errors import InputError
from ritz._core.imports import module_of

__all__ = ["KnowsOtherNames", "absent", "refuse_other_names", "require_mean", "tell_unfitted"]


class Unfitted:
    """A fitted name before the fit; what the model holds comes before it."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, model: Any, owner: type | None = None) -> Any:
        if model is None:
            return self
        raise absent(model, self.name)


def tell_unfitted(cls: Any) -> None:
    """Let every name that a fit of this method gives say so, unless something else stands there."""
    for name in (*getattr(getattr(cls, "fitted", None), "named", ()), *vars(cls).get("_told", ())):
        if not hasattr(cls, name):
            setattr(cls, name, Unfitted(name))


def absent(model: Any, name: str) -> AttributeError:
    """The error for a fitted name that is not there."""
    kind = type(model).__name__
    if "certificate_" not in vars(model):
        from sklearn.exceptions import NotFittedError

        return NotFittedError(f"this {kind} is not fitted yet, so it has no {name}\nhint: call fit(X) first")
    return AttributeError(f"{kind!r} object has no attribute {name!r}")


def refuse_other_names(cls: Any, *_given: Any, **named: Any) -> Any:
    """The ``__new__`` of estimators: a parameter that is not there is refused by saying what is (``spoken.py``)."""
    if named and not named.keys() <= _parameters(cls):
        module_of("ritz.methods.spoken").refuse(cls, named)
    return object.__new__(cls)


class KnowsOtherNames:
    """Base of transformers that know what others call their parameters."""

    __new__ = refuse_other_names


@lru_cache(maxsize=256)
def _parameters(cls: Any) -> frozenset[str]:
    owner = next(one for one in cls.__mro__ if "__init__" in vars(one))
    found = inspect.signature(vars(owner)["__init__"]).parameters
    return frozenset(name for name in found if name != "self")


def require_mean(model: Any) -> None:
    """Refuse to place rows by a model whose mean nobody told."""
    if getattr(model._record, "meanless", None):
        raise InputError(
            "rows are placed about the mean of the rows of the fit, which a covariance matrix does not tell",
            received=f"a {type(model).__name__} of a covariance matrix alone",
            hint=f"{type(model).__name__}.from_covariance(S, n, mean=...), of standardised rows mean=np.zeros(d)",
        )
