"""Fields of a certificate of smallest eigenvalues that must agree with each other, and its bounds derived once more.

    λᵢ(H) from σ ± ε and δ;   c = f − ‖R‖²/(f − λ_K(H));   λᵢ ≥ λᵢ(H) − ‖R‖²/(c − λᵢ(H));   sines from gaps

The theorems are those of ``certificate/smallest.py``, written down again: a field that was changed no longer follows
from the others. Whether the grounds are true is for the operator to say (``smallest.py``).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.spectral.certificate.completeness import FAILURE

__all__ = ["agree_smallest"]

Vector = NDArray[np.float64]

#: What may stand under ``completeness``.
WHOLE = ("the dense decomposition returns every eigenvalue", "the subspace is the whole space")
POSITIVE = "no eigenvalue is negative"
COUNTED = "the negative pivots of a sparse factorisation count every smaller eigenvalue"
CHANCE = (
    f"a Gaussian start misses a smaller eigenvalue with probability below {FAILURE:.0e}",
    f"filtered Gaussian columns miss a smaller eigenvalue with probability below {FAILURE:.0e}",
    f"fresh Gaussian columns miss a smaller eigenvalue with probability below {FAILURE:.0e}",
)
TRACE = "the trace leaves no room for a smaller eigenvalue"
NOTHING = (
    "the factorisation rounds by more than the gap",
    "a narrow start cannot see how often an eigenvalue is repeated",
)
#: Relative difference by which two ways to write a bound may disagree, and the sine of a direction.
SAME, DIRECTION = 1e-6, 0.5
U = 2.0**-53


def agree_smallest(c: Any) -> list[str]:
    """What does not agree, in words."""
    return _shapes(c) or _words(c) or _derived(c)  # each looks at what those before it have found in order


def _shapes(c: Any) -> list[str]:
    k, names = len(c.values), ("lower", "upper", "residuals", "angles", "labelled")
    words = [f"{name} has not {k} entries" for name in names if np.shape(getattr(c, name)) != (k,)]
    if words:
        return words
    lines = {name: np.asarray(getattr(c, name)) for name in ("values", "lower", "upper", "residuals")}
    words += [f"{name} is not finite" for name, line in lines.items() if not bool(np.all(np.isfinite(line)))]
    if np.asarray(c.labelled).dtype != np.bool_:
        words.append("labelled holds something else than truth values")
    if words:
        return words
    if bool(np.any(np.diff(c.values) < 0)) or not bool(np.all((c.lower <= c.values) & (c.values <= c.upper))):
        words.append("the values do not increase, or one lies outside its own enclosure")
    if bool(np.any(lines["residuals"] < 0)) or bool(np.any(np.asarray(c.angles) < 0)) or not 0 <= c.rounding < math.inf:
        words.append("a residual, an angle or the rounding is negative or infinite, so it bounds nothing")
    if math.isnan(c.ceiling) or not math.isfinite(c.total) or not 0 <= c.orthogonality < math.inf:
        words.append("ceiling, total or orthogonality is not a number")
    g = c.frame.get("grounds")
    if not isinstance(g, dict) or g.get("route") != "smallest" or g.get("k") != k or len(g["theta"]) < k:
        words.append("the certificate does not hold the grounds of its bounds")
    return words


def _words(c: Any) -> list[str]:
    g, words = c.frame["grounds"], []
    sure = g["floor"] == math.inf  # nothing else is left
    known = {**dict.fromkeys((*WHOLE, COUNTED, POSITIVE, TRACE, *NOTHING), 1.0), **dict.fromkeys(CHANCE, 1.0 - FAILURE)}
    if c.completeness not in known:
        words.append(f"completeness is {c.completeness!r}, which is not a reason that a solver gives")
    elif c.probability != known[c.completeness]:
        words.append(f"the probability is {c.probability!r}; its reason gives {known[c.completeness]!r}")
    if (
        (sure and c.completeness not in WHOLE)
        or (c.completeness == WHOLE[0] and not sure)
        or (g["floor"] == -math.inf) != (c.completeness in NOTHING)
    ):
        words.append("the floor does not fit the reason for it")
    if not 0 <= g["counted"] <= len(g["theta"]) or (c.completeness == POSITIVE) != (g["floor"] == 0 == g["counted"]):
        words.append("what was counted does not fit the reason for the floor")
    if sure and len(g["theta"]) + g["null"] != np.shape(c.frame["vectors"])[0]:
        words.append("said to be all eigenvalues, and is not")
    if c.kind != "certified" or c.estimate is not None or c.precision != "float64" or c.unit_roundoff != U:
        words.append(f"kind {c.kind!r} with precision {c.precision!r}")
    if c.tol is None or not 0 <= c.tol < 1 or not isinstance(c.converged, bool):
        words.append(f"tol={c.tol!r}")
    if not _close(c.rounding, g["rounding"]) or not bool(np.all(_near(c.values, g["theta"][: len(c.values)]))):
        words.append("values or rounding are not those of the grounds of the certificate")
    own = np.sqrt(np.maximum(np.diag(g["cross"]), 0.0))
    if not bool(np.all(_near(c.residuals, own))) or not bool(np.all(_near(c.residuals, g["residuals"][: len(own)]))):
        words.append("the residuals are not those of the grounds of the certificate")
    if g["residual"] < np.linalg.norm(g["residuals"]) * (1 - SAME):
        words.append("the residuals together are larger than the grounds of the certificate say")
    return words


def _derived(c: Any) -> list[str]:
    """What does not follow from the grounds."""
    g, k, words = c.frame["grounds"], len(c.values), []
    theta, grow = np.asarray(g["theta"], np.float64), 1 + 2 * g["defect"]
    low, high = _of_space(theta, g, grow)
    f, R, J = g["floor"], g["residual"], g["counted"]
    top = max(g["highest"], float(high[J - 1])) if J else -math.inf
    inside = f - (R * R / (f - top) if J and math.isfinite(f) else 0.0) if f > top else -math.inf
    lower, upper = np.empty(len(theta)), np.empty(len(theta))
    labelled = np.array([inside > high[i] if i < J else math.isfinite(f) for i in range(len(theta))], bool)
    for i in range(len(theta)):
        own = (g["residuals"][i] + g["rounding"]) * grow
        reach = R * R / (inside - high[i]) if labelled[i] and i < J and math.isfinite(inside) else 0.0
        proved = low[i] - reach if i < J else f
        lower[i] = min(max(proved if labelled[i] else theta[i] - own, 0.0), theta[i])
        upper[i] = max(high[i] if labelled[i] else theta[i] + own, theta[i])
    below = np.append(g["leak"] if g["null"] else -math.inf, np.maximum.accumulate(high)[:-1])
    above = np.append(np.where(labelled, lower, -math.inf)[1:], f)
    if not np.array_equal(np.asarray(c.labelled), labelled[:k]):
        words.append("the labels do not follow from residuals and floor")
    tiny = 16 * U * float(np.max(theta, initial=0.0))
    for name, derived in (("lower", lower[:k]), ("upper", upper[:k])):
        stated = getattr(c, name)
        wrong = np.flatnonzero(~(np.abs(stated - derived) <= SAME * np.abs(derived - theta[:k]) + tiny))
        words += [f"the {name} end of component {i + 1} does not follow from its residual" for i in wrong[:1]]
    if not (c.ceiling == above[k - 1] or abs(c.ceiling - above[k - 1]) <= SAME * abs(above[k - 1])):
        words.append("the floor is not that of the grounds of the certificate")
    return words + _sines(c, g, grow, below[:k], above[:k])


def _of_space(theta: Vector, g: dict[str, Any], grow: float) -> tuple[Vector, Vector]:
    """Eigenvalues of H, from below and from above."""
    if not g["root"]:
        low, high = theta - g["error"], theta + g["error"]
        return np.minimum(low * grow, low / grow), np.maximum(high * grow, high / grow)
    s = np.sqrt(np.maximum(theta, 0.0))
    return (
        np.square(np.maximum(s * (1 - 4 * U) - g["error"], 0.0) / grow),
        np.square((s * (1 + 4 * U) + g["error"]) * grow) * (1 + 4 * U),
    )


def _sines(c: Any, g: dict[str, Any], grow: float, below: Vector, above: Vector) -> list[str]:
    theta, k = np.asarray(c.values, np.float64), len(c.values)

    def sine(i: int, j: int) -> float:
        cross = g["cross"][i : j + 1, i : j + 1]
        size = math.sqrt(max(float(np.linalg.eigvalsh((cross + cross.T) / 2)[-1]), 0.0))
        gap = min(theta[i] - below[i], above[j] - theta[j])
        value = (size + g["rounding"] * math.sqrt(j - i + 1)) * grow / gap if gap > 0 else math.nan
        return value if value < 1 else math.nan

    ends, i = list(range(k)), 0  # last member of every run
    while i < len(ends):
        first, last = ends[i - 1] + 1 if i else 0, ends[i]
        lower = theta[first] - below[first] <= above[last] - theta[last]
        if sine(first, last) <= DIRECTION or (lower and i == 0) or (not lower and i == len(ends) - 1):
            i += 1
        elif lower:
            i -= 1
            del ends[i]
        else:
            del ends[i]
    runs = [(a + 1, b, sine(a + 1, b)) for a, b in zip([-1, *ends[:-1]], ends, strict=True)]
    angles = np.full(k, np.nan)
    for first, last, value in runs:
        if first == last and value <= DIRECTION:
            angles[first] = value
    runs = [each for each in runs if each[0] < each[1] or math.isnan(angles[each[0]])]
    if not bool(np.all(_alike(np.asarray(c.angles), angles))):
        return ["an angle does not follow from its residual and gap"]
    if [tuple(map(int, each[:2])) for each in c.clusters] != [each[:2] for each in runs]:
        return ["the clusters do not follow from the gaps"]
    same = [bool(_alike(np.array([a[2]]), np.array([b[2]]))[0]) for a, b in zip(c.clusters, runs, strict=True)]
    return [] if all(same) else ["the sine of a cluster does not follow from its residuals"]


def _close(a: float, b: float) -> bool:
    return abs(a - b) <= SAME * abs(b)


def _near(a: Any, b: Any) -> Any:
    return np.abs(np.asarray(a) - np.asarray(b)) <= SAME * np.abs(b) + 1e-300


def _alike(a: Vector, b: Vector) -> Any:
    return (np.isnan(a) & np.isnan(b)) | (np.abs(a - b) <= 1e-4 * np.abs(b))
