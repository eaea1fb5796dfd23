"""One number for how far out a row is, and its p-value where a distribution is assumed.

t2, spe      T² and Q
combined     φ = T²/τ² + Q/δ²          τ², δ² fixed by the model: its limits at 5 %, or χ² ones

gaussian     P(F > T²/a),   Jackson and Mudholkar's normal of Q^h₀,   the same for φ        (limits_gauss.py)
robust       P(χ²_k > T²),  Q^⅓ ~ N(μ̂, σ̂²),  gχ²_h for φ                                    RobustPCA
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import InputError, ParameterError
from ritz.insight.rows.limits_gauss import Rest, Thetas, box, new_rest, t2_scale, tail, training
from ritz.insight.rows.limits_rest import rest_of
from ritz.insight.rows.plane import Plane, plane_of
from ritz.methods.fitted import fitted_of

__all__ = ["Score", "gaussian_p", "score_of"]

Floats = NDArray[np.float64]

KINDS = ("t2", "spe", "combined")
#: Level of the limits that weigh the two parts of φ.
LEVEL = 0.05


@dataclass(frozen=True)
class Score:
    """How T² and Q become one number: ``inside``·T² + ``off``·Q."""

    of: str
    inside: float
    off: float

    def __call__(self, inside: Floats, off: Floats) -> Floats:
        total = np.zeros(len(inside))
        for weight, values in ((self.inside, inside), (self.off, off)):
            total = total + weight * values if weight else total
        return total


def score_of(model: Any, of: str | None) -> Score:
    """The score of a model; None: ``"combined"``, for kernel models ``"spe"``, Hoffmann's error."""
    fitted = fitted_of(model)
    kind = of or fitted.oddity
    if kind not in KINDS:
        raise ParameterError(f"of must be one of {', '.join(KINDS)} or None", received=repr(of), hint="of='combined'")
    if kind != "combined":
        return Score(kind, float(kind == "t2"), float(kind == "spe"))
    from scipy.stats import chi2

    scale = fitted.scale_off()
    if scale is not None:
        return Score(kind, 1 / float(chi2.isf(LEVEL, max(fitted.k, 1))), 1 / scale if scale > 0 else 0.0)
    robust = fitted.robust_limits(LEVEL)
    if robust is not None:
        inside, off, _ = robust
        return Score(kind, 1 / inside if inside > 0 else 0.0, 1 / off if off > 0 else 0.0)
    plane = plane_of(model)
    t = _thetas(plane)
    off = box(t, LEVEL)
    return Score(kind, 1 / float(chi2.isf(LEVEL, plane.k)) if plane.k else 0.0, 1 / off if off > 0 else 0.0)


def _thetas(plane: Plane) -> Thetas:
    """θ's off the plane; of even variances where the model does not know them."""
    try:
        return rest_of(plane).thetas
    except InputError:
        many = max(min(plane.d, int(plane.degrees)) - plane.k, 1)
        return Thetas.even(many, plane.rest / many)


def gaussian_p(model: Any, score: Score, inside: Floats, off: Floats, rows: str) -> Floats:
    """P-values of rows if the model's rows are Gaussian."""
    if fitted_of(model).robust_limits(LEVEL) is not None:
        return _robust_p(model, score, inside, off)
    plane = plane_of(model)
    rest = rest_of(plane)
    if score.of == "t2":
        return _t2_p(plane, rest, inside, rows)
    if rows == "training":
        t = training(rest.thetas, plane.rows, plane.divisor, centered=plane.centered)
        one = training(Thetas.even(plane.k), plane.rows, plane.divisor, centered=plane.centered)
    else:
        t = new_rest(
            rest, plane.variances, plane.rows, plane.d - plane.k, centered=plane.centered, chosen=plane.chosen
        )[0]
        factor, left = t2_scale(
            plane.variances, rest if plane.chosen else None, plane.rows, plane.divisor, centered=plane.centered
        )
        mean = factor * left / (left - 2) if left > 2 else factor
        one = Thetas.even(plane.k).times(mean / max(plane.k, 1))
    joint = one.times(score.inside).plus(t.times(score.off)) if score.of == "combined" else t
    return tail(joint, score(inside, off))


def _t2_p(plane: Plane, rest: Rest, inside: Floats, rows: str) -> Floats:
    from scipy.stats import beta, f

    if rows == "training":
        most = plane.divisor * (plane.degrees / plane.rows if plane.centered else 1.0)
        return np.asarray(beta.sf(inside / most, plane.k / 2, max(plane.degrees - plane.k, 1e-9) / 2), np.float64)
    factor, left = t2_scale(
        plane.variances, rest if plane.chosen else None, plane.rows, plane.divisor, centered=plane.centered
    )
    return np.asarray(f.sf(inside / factor, plane.k, max(left, 1e-9)), np.float64)


def _robust_p(model: Any, score: Score, inside: Floats, off: Floats) -> Floats:
    from scipy.stats import f

    fitted = fitted_of(model)
    k, sure = fitted.plane().k, max(fitted.robust_degrees() or 0.0, 3.0)
    if score.of == "t2":
        return np.asarray(f.sf(inside / max(k, 1), k, sure), np.float64)
    t = Thetas(*fitted.robust_limits(LEVEL)[2])
    if score.of == "spe":
        return tail(t, off)
    return tail(Thetas.even(k).times(score.inside * sure / (sure - 2)).plus(t.times(score.off)), score(inside, off))
