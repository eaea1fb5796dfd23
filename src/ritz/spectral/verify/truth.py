"""What a certificate claims, held against what the data say.

residuals   ‖Mv − θv‖ anew is no longer than certified, and no longer than the fit promises: tol·θ₁, or rounding
values      θᵢ = ‖Zvᵢ‖², and the i-th singular value of Z, or the inertia of M − tI, lies where the label says
ceiling     no eigenvalue that was not returned is larger
sines       the true vectors lie within them
rounding    no larger than the arithmetic that is named explains
total, orthogonality
"""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.tolerance import defect_rounding, rounding
from ritz.spectral.verify.anew import Anew, U
from ritz.spectral.verify.fields import scaled

__all__ = ["allowance", "confirm"]

Vector = NDArray[np.float64]

#: Multiples of the rounding model that a measured allowance may reach.
MEASURED = 10.0
#: Multiples of u that a total may be off, in units of itself.
TOTAL = 1000.0
#: What a state without its data promises, in units of λ₁, and how many times that a sketch of one allows for.
STATE, SKETCHED = 1e-12, 10.0
#: The same of frequent directions, whose blocks round one by one.
DIRECTED = 1e3
#: The same where the image of a correction is known but for the rounding of a Gram matrix in float32 times its length.
REFINED = 1e-11
#: What ``subtract`` notes, and multiples of it that the rounding of both states may reach.
LOST = re.compile(
    "subtracted: (?:eigenvalues are exact to ([0-9.e+-]+) of the remaining total"
    "|what is left cannot be told from the rounding of what was taken off)"
)
SUBTRACTED = 1e5


#: Round-offs in units of a table of shares (rows of norm 1), and of √(n + d), that forming its entries may cost.
FORMED = 1000.0


def allowance(c: Any, a: Anew) -> float:
    """The largest rounding that the named arithmetic explains, in solver units."""
    drawn = (c.frame.get("grounds") or {}).get("drawn")
    state = STATE * (1.0 if c.kind != "estimate" else DIRECTED if drawn is None else SKETCHED)
    state = REFINED if "float32 Gram matrix" in c.precision else state
    most = max(MEASURED * rounding(a.d, c.unit_roundoff) * (a.top + a.A.fitted_inflation()), state * a.top)
    most += _inexact(c, a)
    lost = next((match for match in map(LOST.fullmatch, c.notes) if match is not None), None)
    if lost is None:
        return most
    # scales that a subtraction left uncertain may be off by any share; otherwise the note tells what was taken off
    if c.frame["scale"] is not None or a.A.trace() == 0 or lost[1] is None:
        return math.inf
    return most + SUBTRACTED * float(c.unit_roundoff / U) * float(lost[1]) * a.A.trace()


def _more_than_formed(c: Any, a: Anew) -> bool:
    """Whether what is said to have been rounded in entries is no rounding."""
    return not 0 <= float(c.frame.get("inexact", 0.0)) <= FORMED * U * math.sqrt(a.n + a.d)


def _inexact(c: Any, a: Anew) -> float:
    """What entries that were rounded when they were formed explain: 2‖A‖ε + ε², if ε is a bound of rounding at all."""
    error = float(c.frame.get("inexact", 0.0))
    if _more_than_formed(c, a):
        return 0.0
    shift = (2 * math.sqrt(max(a.top, 0.0)) * error + error * error) * (1 + 1e-6)
    # profiles of a sparse table are multiplied as they are, and the matrix of their mean, of norm 1, is taken off
    profiles = bool(c.frame.get("metric")) and "total_slack" in c.frame
    return shift + (MEASURED * rounding(a.d, c.unit_roundoff) if profiles else 0.0)


def confirm(c: Any, a: Anew, words: list[str]) -> bool:
    """Whether everything that needs no count holds; what does not is added to ``words``."""
    s = scaled(c)
    slack = a.rho + min(s.rounding, allowance(c, a))
    differences = [
        *_rounding(s, allowance(c, a)),
        *(
            ["the stated rounding of the entries is larger than rounding can be, or negative"]
            if _more_than_formed(c, a)
            else []
        ),
        *_residuals(c, s, a, slack, words),
        *_values(c, s, a, slack),
        *_orthogonality(c, a),
        *_total(c, s, a),
        *_spectrum(c, s, a),
    ]
    words.extend(differences)
    return not differences


def _rounding(s: Any, most: float) -> list[str]:
    if s.rounding <= most:
        return []
    return [f"an allowance for rounding of {s.rounding:.2e}, beyond what the arithmetic explains ({most:.2e})"]


def _residuals(c: Any, s: Any, a: Anew, slack: float, words: list[str]) -> list[str]:
    """Residuals computed anew are no larger than the certified ones and than what the fit promises."""
    allowed = s.residuals * (1 + 1e-6) + 2 * slack
    worst, most = (float(np.max(x, initial=0.0)) * a.unit2 for x in (a.residuals, allowed))
    words.append(f"largest residual {worst:.2e}; certified, rounding included, {most:.2e}")
    differences = []
    if not bool(np.all(a.residuals <= allowed)):
        differences.append("a residual is larger than certified")
    top = float(np.max(a.theta, initial=0.0))
    if c.kind == "estimate" or not c.converged:
        words.append("the certificate promises no tolerance: it is judged by its enclosures")
        if (
            not c.converged
            and c.tol is not None
            and float(np.max(s.residuals, initial=0.0)) <= c.tol * top * (1 - 1e-6) - 2 * slack
        ):
            differences.append("stated as not converged, although the residuals are below the tolerance")
    else:
        promised = 2 * slack + (0.0 if c.tol is None else 2 * max(c.tol, 20 * rounding(a.d, 2.0**-53)) * top)
        if not bool(np.all(a.residuals <= promised)):
            differences.append(f"a residual is larger than the fit promises, {promised * a.unit2:.2e}")
    if c.frame.get("grounds") is not None and c.frame["grounds"]["turned"] and a.n >= a.d:
        differences.append("stated as solved on the side of the rows, although that side is the longer one")
    if c.kind != "estimate" and (c.tol is None or not _turned(c)):
        # certified residuals are those of the vectors, within rounding; turned from rows, they may be longer
        long = U * a.n * top if c.tol is None else 0.0  # a dense decomposition adds up all rows in one go
        longer = s.residuals > a.residuals * (1 + 1e-3) + 4 * slack + long
        if not _turned(c) and bool(np.any(longer)):
            differences.append("a residual is certified as larger than it is")
    return differences


def _turned(c: Any) -> bool:
    grounds = c.frame.get("grounds")
    return True if grounds is None else bool(grounds["turned"])


def _values(c: Any, s: Any, a: Anew, slack: float) -> list[str]:
    """θᵢ is the Rayleigh quotient of its vector; a sketch has less, never more."""
    sigma = np.sqrt(np.maximum(a.theta, 0.0))
    off = sigma - a.lengths
    # a Rayleigh quotient is as good as the square of the residual; rounding of a Gram matrix moves σ by ρ/2σ
    own = 2 * a.sigma_error + np.minimum(slack / np.maximum(sigma, 1e-300), math.sqrt(slack))
    if _turned(c) and c.tol is not None:  # of v = Aᵀu/σ the quotient exceeds θ by ‖r‖²/θ, and mixes with its neighbours
        spread = 2 * float(np.sum(np.square(s.residuals)))
        own = own + np.divide(spread, sigma**3, out=np.zeros_like(sigma), where=sigma > 0)
    low = -np.inf if c.kind == "estimate" else -own
    wrong = np.flatnonzero(~((low <= off) & (off <= own)))
    return [f"the value of component {i + 1} does not agree with the length of A v, v its vector" for i in wrong[:1]]


def _orthogonality(c: Any, a: Anew) -> list[str]:
    """The defect of the vectors, in extended precision; its own product may have rounded as much again."""
    V = a.V.astype(np.longdouble) if a.V.size * a.V.shape[1] <= 50_000_000 else a.V
    defect = float(np.max(np.abs(V.T @ V - np.eye(V.shape[1])), initial=0.0))
    rounded = defect_rounding(a.d)
    if defect > 1e-10:
        return [f"the vectors are not orthonormal: |VᵀV − I| = {defect:.1e}"]
    if not defect <= c.orthogonality + 2.0**-53 or not c.orthogonality <= defect + 4 * rounded:
        return [f"|VᵀV − I| is {defect:.1e}, certified {c.orthogonality:.1e}"]
    return []


def _total(c: Any, s: Any, a: Anew) -> list[str]:
    total = a.A.trace()
    if max(total, s.total) <= s.rounding:  # neither can be told from zero
        return []
    loose = a.d * s.rounding if any(map(LOST.fullmatch, c.notes)) else 0.0
    # sums less their means, which the fit formed of sparse rows even where this table was filled
    loose += 2.0**-53 * TOTAL * a.A.fitted_inflation() + c.frame.get("total_slack", 0.0) / a.unit2
    if abs(total - s.total) <= TOTAL * max(c.unit_roundoff, 2.0**-53) * max(total, s.total) + loose + 1e-300:
        return []
    return [f"the total is {total * a.unit2:.6g}, certified {c.total:.6g}"]


def _spectrum(c: Any, s: Any, a: Anew) -> list[str]:
    """Intervals, ceiling and sines against all singular values and vectors of a small table."""
    if a.sigma is None or len(s.values) == 0:
        return []
    sigma = np.concatenate([a.sigma, np.zeros(max(a.d - len(a.sigma), 0))])
    e = a.sigma_error
    least, most = np.square(np.maximum(sigma - e, 0.0)), np.square(sigma + e)
    differences = []
    for i in range(len(s.values)):
        holds = (s.lower[i] <= most) & (least <= s.upper[i])
        if c.labelled[i]:
            if not holds[i]:
                differences.append(f"eigenvalue {i + 1} is {sigma[i] ** 2 * a.unit2:.17g}, outside its enclosure")
        elif not bool(np.any(holds)):
            differences.append(f"no eigenvalue lies in the enclosure of component {i + 1}")
    beyond = float(np.max(least[len(s.values) :], initial=0.0))  # no more eigenvalues than were returned are larger
    if beyond > max(s.ceiling, 0.0):  # where all of AAᵀ was returned, M has only zeros left
        differences.append(
            f"an eigenvalue of {beyond * a.unit2:.6g} was not returned and exceeds the ceiling {c.ceiling:.6g}"
        )
    exact = c.completeness.startswith(("the dense decomposition", "the subspace is the whole"))
    turned = _turned(c) and c.frame.get("grounds") is not None
    # rows of weight zero are left out in memory, and are zeros that a device still counts
    side, most_rows = (a.rows, len(a.A.w)) if turned else (a.d, a.d)
    zeros = (turned or len(s.values) < most_rows) and s.ceiling <= 2 * s.rounding
    if exact and len(s.values) in (side, most_rows) and s.ceiling != -math.inf and not zeros:
        differences.append("a ceiling, although every eigenvalue was returned")
    if exact and len(s.values) < len(a.sigma):
        following = float(most[len(s.values)]) + 2 * s.rounding + a.rho
        if s.ceiling > following * (1 + 1e-9):
            differences.append(f"the ceiling {c.ceiling:.6g} is higher than the eigenvalue that follows")
    return differences[:3] + _sines(s, a, e)


def _sines(s: Any, a: Anew, e: float) -> list[str]:
    """True vectors lie within the stated sines, as far as rounding lets them be told."""
    W, sigma = a.vectors, a.sigma
    if W is None or sigma is None:
        return []
    spans = [(i, i, float(sine)) for i, sine in enumerate(s.angles)] + [tuple(each) for each in s.clusters]
    for first, last, sine in spans:
        if not sine < 1 or last >= len(sigma):
            continue
        gap = min(
            sigma[first - 1] - sigma[first] if first else np.inf,
            sigma[last] - (sigma[last + 1] if last + 1 < len(sigma) else 0.0),
        )
        own = 4 * e / gap if gap > 4 * e else np.inf
        true = W[:, first : last + 1]
        vectors = a.V[:, first : last + 1]
        off = float(np.linalg.norm(vectors - true @ (true.T @ vectors), 2))
        if off > sine * (1 + 1e-6) + own + 1e-14:
            which = f"component {first + 1} is" if first == last else f"components {first + 1}–{last + 1} are"
            return [f"{which} off by a sine of {off:.2e}, certified {sine:.2e}"]
    return []
