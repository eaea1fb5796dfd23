"""Rows of a tall table that are looked at before a route is taken (``spectral/sampled_plan.py``).

Z = (X_S − 1 x̄ᵀ) D_s⁻¹        S some rows, drawn with a seed of their number; x̄, s their own means and deviations
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ritz.data.engines.request import room_for
from ritz.spectral.constants import SAMPLED_SECONDS
from ritz.spectral.plan import Plan

if TYPE_CHECKING:
    from ritz.methods.posed import Posed

__all__ = ["looked"]


def looked(model: Any, posed: Posed, plan: Plan) -> Plan:
    """The plan of PCA or SVD, or another where a sample of the rows says that it is shorter."""
    asked = model.solver != "auto" or posed.forms_state or not isinstance(posed.wanted, int)
    if asked or plan.seconds < SAMPLED_SECONDS or type(posed.rows) is not np.ndarray or posed.weights is not None:
        return plan
    from ritz.spectral.sampled_plan import by_sample, sampled  # which small tables do without

    X, k = posed.rows, posed.wanted
    count = sampled(posed.shape, k, plan)
    if not count:
        return plan
    n = len(X)
    S = np.sort(np.random.default_rng([n, 83]).choice(n, count, replace=False))
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        Z = np.asarray(X[S], np.float64)
        Z = Z - Z.mean(axis=0) if posed.centered else Z
        if getattr(model, "scale", False):
            spread = Z.std(axis=0)
            Z /= np.where(spread > 0, spread, 1.0)
        top = float(np.max(np.abs(Z), initial=0.0))
        Z = Z / top if 0 < top < np.inf else Z
    return by_sample(plan, posed.shape, k, Z, model.tol, room_for(model))
