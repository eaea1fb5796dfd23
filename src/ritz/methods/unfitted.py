"""What is said of a fitted name that a model does not have: that it is not fitted, or that there is no such name."""

from __future__ import annotations

from typing import Any

from sklearn.exceptions import NotFittedError

__all__ = ["absent", "tell_unfitted"]


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
        return NotFittedError(f"this {kind} is not fitted yet, so it has no {name}\nhint: call fit(X) first")
    return AttributeError(f"{kind!r} object has no attribute {name!r}")
