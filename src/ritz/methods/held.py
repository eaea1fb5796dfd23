"""Whether a model holds what its certificate speaks of.

    components_ = ±Vᵀ,   mean_ and scale_ those of the frame,   variances · (n − 1) = σ² = θ

A certificate proves things about vectors and values of its own. A file whose components were changed, checksums and
all, still carries a true certificate; rows would be placed by the components.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ritz.methods.scaling import TINY, divisor_held
from ritz.spectral.verify import Verification

__all__ = ["differing", "with_held"]

#: Relative differences that rounding to the precision of the model may leave.
DOUBLE, SINGLE = 1e-9, 1e-5


def with_held(model: Any, checked: Verification) -> Verification:
    """A verification that fails as well where the model holds something else than what was verified."""
    words = differing(model)
    return replace(checked, ok=False, words=(*words, *checked.words)) if words else checked


def differing(model: Any) -> list[str]:
    """What differs, in words."""
    C, held, c = np.asarray(model.components_, np.float64), vars(model), model.certificate_
    k = len(C)
    close = SINGLE if model.components_.dtype == np.float32 or held.get("_dtype") == np.float32 else DOUBLE
    V = np.asarray(c.frame["vectors"], np.float64).T[:k]
    words = []
    if V.shape != C.shape or not np.all(np.abs(C - np.sign(np.sum(C * V, axis=1))[:, None] * V) <= close):
        words.append("the components of the model are not the vectors of its certificate")
    places = {"mean": ("mean_", "_mean64", "_mean"), "scale": ("scale_", "_scale64", "_scale")}
    for what, names in places.items():
        known = c.frame.get(what)
        words += [
            f"the {what}s of the model ({name}) are not those of its certificate"
            for name in names
            if known is not None and held.get(name) is not None and not _alike(held[name], known, close)
        ]
    for name, values in _values(model, k).items():
        if not _alike(values, c.values[:k], close):
            words.append(f"{name} of the model is not what its certificate says")
    return words


def _values(model: Any, k: int) -> dict[str, Any]:
    """Eigenvalues as the model holds them, in the units of the certificate."""
    held = vars(model)
    found, shown = {}, model.certificate_.frame.get("shown", 1.0)  # where it is not 1, variances may have underflown
    if "singular_values_" in held:
        found["singular_values_"] = np.square(np.asarray(held["singular_values_"][:k], np.float64) / shown)
    if "explained_variance_" in held and "mean_" in held:
        weight = divisor_held(model)
        if shown == 1 and float(np.max(held["explained_variance_"][:k], initial=0.0)) > TINY:
            found["explained_variance_"] = np.asarray(held["explained_variance_"][:k], np.float64) * weight
    if "eigenvalues_" in held and getattr(model, "method", "indicator") == "indicator":
        found["eigenvalues_"] = np.asarray(held["eigenvalues_"][:k], np.float64)
    return found


def _alike(a: Any, b: Any, close: float) -> bool:
    a, b = (np.asarray(x, np.float64).reshape(-1) for x in (a, b))
    return a.shape == b.shape and bool(np.all(np.abs(a - b) <= close * (np.abs(b) + np.max(np.abs(b), initial=0.0))))
