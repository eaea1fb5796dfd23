"""How a fitted model shows itself in a notebook.

    fitted      the card of the report layer
    not fitted  scikit-learn's diagram of parameters

The layer lies above all estimators, so it is named here and loaded when a notebook asks: the one place below the top
of the package that names it.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__all__ = ["HOME", "html_of"]

#: Where the cards are made.
HOME = "ritz.report.card"


def html_of(model: Any, fallback: Any) -> str:
    """HTML of a model: its card, or what ``fallback`` gives for one that is not fitted."""
    if (
        not model.__sklearn_is_fitted__()
        if hasattr(model, "__sklearn_is_fitted__")
        else not hasattr(model, "certificate_")
    ):
        return str(fallback())
    return str(import_module(HOME).card(model))
