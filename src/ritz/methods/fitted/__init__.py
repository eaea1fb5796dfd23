"""The contract of a fitted model: what ``insight``, ``persist``, ``plot``, ``report`` and ``cli`` may ask of it.

    fitted_of(model) → Fitted       one object for every method; a capability is a method of it

    words       about, rules, axis names, shares                         what results are called
    rows        rows(X), encoded(X), row_weights(X, w), scores(X)        rows as the model sees them
    kept        state, weight, mean, scale, seen, kernel_map, …          what the fit recorded (:mod:`.kept`)
    axes        axes(), spread(X), linear_map(), result(name)            loadings L = V Λ^½ and what they are made of
    plane       plane(), distances(X), sums()                            T² and Q of rows
    others      restated(…), require_alike(other)                        models of the same rows, models to merge
    files       stored(), restored(cls, parameters, values)              what a file holds of a model, and back

A method that has no such thing does not define the capability, and asking for it is refused in one wording
(:meth:`Fitted.refuse`). Nothing to the right of ``methods`` asks for a class.
"""

from __future__ import annotations

from ritz.methods.fitted.about import About
from ritz.methods.fitted.axes import Axes
from ritz.methods.fitted.base import Fitted, capabilities_of, fitted_of, require_fitted
from ritz.methods.fitted.embedding import Embedded
from ritz.methods.fitted.plane import Plane
from ritz.methods.fitted.restored import checked_parameters, restored

__all__ = [
    "About", "Axes", "Embedded", "Fitted", "Plane", "capabilities_of", "checked_parameters", "fitted_of",
    "require_fitted", "restored",
]  # fmt: skip
