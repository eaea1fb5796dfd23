"""Fields of a certificate that must agree with each other, whatever the data are.

words        completeness and precision come from a fixed list, and each fixes other fields: a probability, a ceiling,
             a unit round-off
shapes       k entries everywhere, values in decreasing order, every value in its interval, nothing negative or NaN
derivation   intervals, labels, sines and clusters follow from residuals, rounding and ceiling (``bounds.py``)
widths       no interval is wider than its residual and the rounding make it, so wrong vectors cannot hide in wide ones
"""

from __future__ import annotations

import math
import re
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.spectral.certificate.completeness import FAILURE
from ritz.spectral.verify.bounds import derive

__all__ = ["agree", "scaled", "square_of_unit"]

Vector = NDArray[np.float64]

#: What may stand under ``completeness``: whether it speaks of the trace or a count, of chance, or of nothing.
DIRECT = (
    "the dense decomposition returns every eigenvalue",
    "a factorisation of the Gram matrix counts every larger eigenvalue",
    "a Cholesky factorisation leaves no room for a larger eigenvalue",
)
PROVED = (
    *DIRECT,
    "the subspace is the whole space",
    "the trace leaves no room for a larger eigenvalue",
    "a Gram matrix in float32, whose rounding is measured, leaves no room for a larger eigenvalue",
)
SKETCHED = ("M̂ ⪯ M and the trace", "the trace is zero", "frequent directions bound what was left out")
CHANCE = (
    f"a Gaussian start misses a larger eigenvalue with probability below {FAILURE:.0e}",
    f"fresh Gaussian columns miss a larger eigenvalue with probability below {FAILURE:.0e}",
    "a Cholesky factorisation of the Gram matrix in float32 leaves no room for a larger eigenvalue",
)
NOTHING = (
    "",
    "one start vector cannot see repeated eigenvalues",
    "a narrow start cannot see how often an eigenvalue is repeated",
    "a filtered block proves completeness only through the trace",
)

#: What may stand under ``precision``.
PRECISION = re.compile(
    "(float32 products summed in float64(, solved in )?)?"
    "(float64|float64, one (pass|product)|float32 (iterations|Gram matrix), float64 finish)?"
    "(, repaired by ([0-9]+ scaled-Gram pass(es)?( of the smallest)?|a dense decomposition))?"
)

#: Relative difference by which two ways to write a bound may disagree.
SAME = 1e-6


def square_of_unit(frame: dict[str, Any]) -> float:
    """What turns eigenvalues of the table in its unit into those that the certificate shows."""
    return float((frame["unit"] / frame.get("shown", 1.0)) ** 2)


def scaled(c: Any) -> SimpleNamespace:
    """A certificate in the units in which its problem was solved: squares of its bounds stay in range."""
    unit2 = square_of_unit(c.frame)
    parts = {name: np.asarray(getattr(c, name), np.float64) / unit2 for name in ("values", "lower", "upper")}
    return SimpleNamespace(
        **parts, residuals=np.asarray(c.residuals, np.float64) / unit2, ceiling=float(c.ceiling) / unit2,
        rounding=float(c.rounding) / unit2, total=float(c.total) / unit2,
        labelled=c.labelled, angles=np.asarray(c.angles, np.float64), clusters=c.clusters,
    )  # fmt: skip


def agree(c: Any, *, positive: bool = True) -> list[str]:
    """What does not agree, in words; ``positive``: whether M has no negative eigenvalue, as AᵀA has none."""
    words = [*_shapes(c)]
    if words:  # nothing can be derived from these
        return words
    return [*_words(c), *_widths(c), *_derived(c, positive)]


def _shapes(c: Any) -> list[str]:
    k = len(c.values)
    words = []
    unit = float(c.frame["unit"])
    if not (0 < unit < math.inf and math.frexp(unit)[0] == 0.5):
        words.append(f"the unit of the problem is {unit!r}, no power of two")
    lines = {name: np.asarray(getattr(c, name)) for name in ("lower", "upper", "residuals", "angles", "labelled")}
    for name, entries in lines.items():
        if entries.shape != (k,):
            words.append(f"{name} has {entries.size} entries for {k} values")
    if words:
        return words
    if lines["labelled"].dtype != np.bool_:
        words.append("labelled holds something else than truth values")
    finite = {name: bool(np.all(np.isfinite(lines[name]))) for name in ("lower", "upper", "residuals")}
    words += [f"{name} is not finite" for name, fine in finite.items() if not fine]
    if not bool(np.all(np.isfinite(c.values))) or bool(np.any(np.diff(c.values) > 0)):
        words.append("the values are not finite and decreasing")
    elif not bool(np.all((c.lower <= c.values) & (c.values <= c.upper))):
        words.append("a value lies outside its own enclosure")
    if bool(np.any(lines["residuals"] < 0)) or bool(np.any(lines["angles"] < 0)) or not 0 <= c.rounding < math.inf:
        words.append("a residual, an angle or the rounding is negative or infinite, so it bounds nothing")
    if math.isnan(c.ceiling) or not math.isfinite(c.total) or not 0 <= c.orthogonality < math.inf:
        words.append("ceiling, total or orthogonality is not a number")
    return words


def _words(c: Any) -> list[str]:
    """Completeness, probability, kind, precision, tolerance: each fixes others."""
    words = []
    sure = SKETCHED if c.kind == "estimate" else PROVED
    probabilities = {**dict.fromkeys(sure, 1.0), **dict.fromkeys(CHANCE, 1.0 - FAILURE), **dict.fromkeys(NOTHING, 1.0)}
    if c.completeness not in probabilities:
        words.append(f"completeness is {c.completeness!r}, which is not a reason that a solver gives")
    elif c.probability != probabilities[c.completeness]:
        words.append(f"the probability is {c.probability!r}; its reason gives {probabilities[c.completeness]!r}")
    if c.completeness in NOTHING and c.ceiling != math.inf:
        words.append("a ceiling without a reason")
    if c.completeness not in NOTHING and c.ceiling == math.inf:
        words.append("a reason for a ceiling, but no ceiling")
    if c.kind not in ("certified", "estimate") or (c.kind == "estimate") != (c.estimate is not None):
        words.append(f"kind is {c.kind!r} with an estimate of {c.estimate!r}")
    narrow = "float32 products summed in float64" in c.precision
    if c.unit_roundoff != (2.0**-24 if narrow else 2.0**-53):
        words.append(f"unit round-off {c.unit_roundoff!r} does not belong to {c.precision!r}")
    once = c.precision.endswith(("one pass", "one product"))
    if PRECISION.fullmatch(c.precision) is None or (c.kind == "estimate") != once:
        words.append(f"precision is {c.precision!r}")
    if c.tol is None:
        if not c.converged or c.kind != "certified" or c.completeness not in DIRECT:
            words.append("a direct solver has no tolerance, converges, and returns every eigenvalue")
    elif not 0 <= c.tol < 1 or c.completeness in DIRECT[:2]:  # a factor proves answers of iterations as well
        words.append(f"tol={c.tol!r} with completeness {c.completeness!r}")
    return words


def _widths(c: Any) -> list[str]:
    """Intervals that are wider than anything could have made them."""
    s = scaled(c)
    most = (3 * s.residuals + 3 * s.rounding) * (1 + SAME) + 16 * 2.0**-53 * np.abs(s.values)
    wide = np.flatnonzero(np.maximum(s.upper - s.values, s.values - s.lower) > most)
    return [f"the enclosure of component {i + 1} is wider than its residual and the rounding make it" for i in wide[:3]]


def _derived(c: Any, positive: bool) -> list[str]:
    """What does not follow from the grounds that the certificate keeps."""
    grounds, k = c.frame.get("grounds"), len(c.values)
    if (
        grounds is None or grounds["k"] != k or k == 0
    ):  # some components of a larger answer: their bounds were not made here
        return []
    s, words = scaled(c), _kinds(c, grounds, positive)
    allowed = max(grounds["rounding"], grounds["error"] or 0.0)
    if not _close(s.rounding, allowed):
        words.append("the rounding is not that of the grounds of the certificate")
    if grounds["cross"] is not None and not _stretched(
        s.residuals, np.sqrt(np.diag(grounds["cross"])), grounds["turned"]
    ):
        words.append("the residuals are not those of the grounds of the certificate")
    again = derive(s, grounds)
    for name, derived in (("lower", again.lower), ("upper", again.upper)):
        if derived is not None:
            stated, tiny = getattr(s, name), 8 * 2.0**-53 * float(np.max(np.abs(s.values)))
            off = np.flatnonzero(~(np.abs(stated - derived) <= SAME * np.abs(derived - s.values) + tiny))
            words += [f"the {name} end of component {i + 1} does not follow from its residual" for i in off[:1]]
    if not np.array_equal(s.labelled, again.labelled):
        words.append("the labels do not follow from residuals and ceiling")
    differ = np.flatnonzero(~_alike(s.angles, again.angles))
    words += [f"the angle of component {i + 1} does not follow from its residual and gap" for i in differ[:1]]
    return words + _clusters(s.clusters, again.clusters)


def _kinds(c: Any, g: dict[str, Any], positive: bool) -> list[str]:
    """Grounds that no solver leaves: they fix each other, the tolerance and the words on precision."""
    d, k = np.shape(c.frame["vectors"])
    route = {True: "sketch", False: "direct" if c.tol is None else "iterative"}[c.kind == "estimate"]
    directed = c.completeness == SKETCHED[2]  # with one rest for every component, and residuals of their own
    rest = float(np.max(g["rest"] if not directed else scaled(c).residuals, initial=0.0))
    repaired, full, top = "repaired" in c.precision, g["sigma"] is not None, scaled(c).values[0]
    # what is read again in part keeps the error of the Gram matrix, and a dense decomposition has one error for both
    whole = repaired and not c.precision.endswith(("of the smallest", "a dense decomposition"))
    right = (
        g["route"] == route
        and g["positive"] is positive
        and g["null"] == (0.0 if g["turned"] and d > k else -math.inf)
        and (route == "sketch" or rest == 0)
        and (route == "sketch" and c.completeness == SKETCHED[0]) == (g["drawn"] is not None)
        and (route == "direct") == (g["error"] is not None)
        and g["given"] == (repaired and not full)
        and (route != "direct" or (repaired and full) or g["rounding"] == g["error"])
        and (route != "sketch" or c.converged == (rest <= c.tol * top or top == 0))
        and (not full or whole == (g["rounding"] != g["error"]))
        and (full or whole == repaired)
    )
    return [] if right else ["the grounds of the certificate contradict each other"]


def _clusters(stated: Any, derived: list[tuple[int, int, float, float]]) -> list[str]:
    if [tuple(map(int, each[:2])) for each in stated] != [each[:2] for each in derived]:
        return ["the clusters do not follow from the gaps"]
    for (first, _, sine), (_, _, least, most) in zip(stated, derived, strict=True):
        inside = least * (1 - SAME) <= sine <= most * (1 + SAME)
        if not (inside or (math.isnan(sine) and math.isnan(most))):
            return [f"the sine of the cluster at component {first + 1} does not follow from its residuals"]
    return []


def _stretched(residuals: Vector, own: Vector, turned: bool) -> bool:
    """Residuals are those of the grounds; of vectors v = Aᵀu/σ they may be longer."""
    if turned:
        return bool(np.all(residuals >= own * (1 - SAME)))
    return bool(np.all(np.abs(residuals - own) <= SAME * own + 1e-300))


def _close(a: float, b: float) -> bool:
    return abs(a - b) <= SAME * abs(b)


def _alike(a: Vector, b: Vector) -> Any:
    return (np.isnan(a) & np.isnan(b)) | (np.abs(a - b) <= SAME * np.abs(b))
