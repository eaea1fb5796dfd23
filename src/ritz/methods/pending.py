"""Fitted names that are solved for when they are first read: nothing is solved while rows are still being added.

partial_fit … partial_fit      the moment state grows
model.components_              the state is solved once, and every name is there
"""

from __future__ import annotations

from typing import Any

from ritz._core.turns import being_changed, in_turn
from ritz._core.warn import one_call

__all__ = ["Pending"]


class Pending:
    """A fitted name; a value that the model holds comes before it, as with any attribute that is only read."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, model: Any, owner: type | None = None) -> Any:
        if model is None:
            return self
        if not being_changed(model):
            with one_call(), in_turn(model, self.name):
                if model._is_pending:
                    model._solve_state()
                if self.name in vars(model):
                    return vars(model)[self.name]
        raise model._absent(self.name)
