"""The contract of a fitted model: what ``insight``, ``persist``, ``plot``, ``report`` and ``cli`` may ask of it.

    fitted_of(model) → Fitted       one object for every method; a capability is a method of it

    words       about, shares, whole, measure, axis names                what results are called
    rows        rows(X), row_weights(X, w), scores(X)                    rows as the model sees them
    axes        axes(), spread(X)                                        loadings L = V Λ^½ and what they are made of
    plane       plane(), distances(X), sums()                            T² and Q of rows

A method that has no such thing does not define the capability, and asking for it is refused in one wording
(:meth:`Fitted.refuse`). Nothing to the right of ``methods`` asks for a class.
"""

from __future__ import annotations

from ritz.methods.fitted.about import About
from ritz.methods.fitted.axes import Axes
from ritz.methods.fitted.base import Fitted, fitted_of, require_fitted
from ritz.methods.fitted.plane import Plane

__all__ = ["About", "Axes", "Fitted", "Plane", "fitted_of", "require_fitted"]
