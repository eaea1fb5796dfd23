"""The heavy, independent check of a certificate against data.

    frame       means and scales anew, in two passes, against those that the fit took off and divided by
    residuals   ‖Mvᵢ − θᵢvᵢ‖ anew in float64: one pass
    inertia     M − τI = LDLᵀ has as many positive pivots as M has eigenvalues above τ (Sylvester); d ≤ 5,000
    deflated    otherwise Lanczos on (I − VVᵀ)M(I − VVᵀ) from a fresh Gaussian start bounds what was missed  [KW92]

The check shares no code with the fit: not the solvers, not the operators, not the statistics (see ``reread.py``).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from ritz._core.errors import InputError
from ritz._core.random import gaussian_rows
from ritz._core.tolerance import rounding, unit_roundoff
from ritz.spectral.reread import Reread

if TYPE_CHECKING:
    from ritz.spectral.certificate import Certificate

__all__ = ["Verification", "verify"]

#: Columns up to which eigenvalues are counted by an LDLᵀ factorisation.
INERTIA_LIMIT = 5000
#: Steps of the deflated Lanczos check and the probability with which it may fail.
STEPS, FAILURE = 60, 1e-9
#: Columns up to which every labelled enclosure is counted, and how far the Lanczos bound may overshoot what it bounds.
SMALL, SHARP = 600, 1.5
#: Multiples of u that a mean may be off in units of the spread, a scale and a total in units of themselves.
FRAME = 1000.0


@dataclass(frozen=True)
class Verification:
    """Outcome of ``certificate_.verify(X)``."""

    ok: bool
    residuals: NDArray[np.float64]
    count: int | None
    expected: int
    missed_bound: float | None
    words: tuple[str, ...]

    def __bool__(self) -> bool:
        return self.ok

    def __str__(self) -> str:
        return "\n".join([f"verification: {'passed' if self.ok else 'FAILED'}", *self.words])


def verify(certificate: Certificate, X: Any, sample_weight: Any = None) -> Verification:
    """Check a certificate against the data it speaks about."""
    frame = certificate.frame
    if "mean" not in frame:  # an operator that is not a table: J K J
        raise InputError(
            "verify reads tables again; the certificate of a kernel model speaks of its kernel matrix",
            hint="fit again with solver='svd', whose decomposition is dense, and compare the eigenvalues",
        )
    V = np.asarray(frame["vectors"], np.float64)
    if not hasattr(X, "shape"):
        raise InputError(
            "verify of a certificate takes rows: an array or a sparse matrix", received=type(X).__name__,
            hint="model.verify(table) takes what fit takes",
        )  # fmt: skip
    if X.shape[1] != V.shape[0]:
        raise InputError(
            f"verify takes the data that was fitted, with {V.shape[0]} columns",
            received=f"{X.shape[1]} columns",
        )
    A = Reread(
        X, sample_weight, center=frame["mean"] is not None, unit=frame["unit"], scale=frame["scale"],
        metric=frame.get("metric", False),
    )  # fmt: skip
    unit2 = _square_of_unit(certificate)
    theta = certificate.values / unit2
    true = np.linalg.norm(A.normal(V) - V * theta, axis=0)
    top = float(theta[0]) if len(theta) else 0.0
    slack = rounding(V.shape[0], 2.0**-53) * (top + A.inflation()) + certificate.rounding / unit2
    words: list[str] = []
    checks = [
        _frame(certificate, A, words),
        _residuals(certificate, true, slack, unit2, words),
        _shape(certificate, V, slack / unit2 if top == 0 else slack, unit2, words),
        _trace(certificate, A, words),
    ]
    count, missed, complete = _count(certificate, A, V, theta, slack, words)
    return Verification(all(checks) and complete, true * unit2, count, len(theta), missed, tuple(words))


def _square_of_unit(certificate: Certificate) -> float:
    """What turns eigenvalues of the table in its unit into those that the certificate shows."""
    return float((certificate.frame["unit"] / certificate.frame.get("shown", 1.0)) ** 2)


def _frame(certificate: Certificate, A: Reread, words: list[str]) -> bool:
    """The means that the fit took off and the scales that it divided by are those of the data.

    Both are as good as the arithmetic of the fit. Where a state has lost more (``subtract``), ρ bounds the error of
    every column's square: a mean off by δ moves it by Wδ², a scale off by a share ε by 2ε(W − 1).
    """
    u, fitted = certificate.unit_roundoff, certificate.frame["mean"]
    usual = 2 * rounding(A.X.shape[1], u) * float(np.max(certificate.values, initial=0.0))
    extra, right = max(certificate.rounding - usual, 0.0) / A.weight, True
    # Rounding is in units of the scales that the fit divided by: a column of which nothing was left may have any.
    larger = None if A.scale is None or A.fitted is None else np.maximum(A.scale, A.fitted)
    if fitted is not None:
        stored = 4 * unit_roundoff(np.asarray(fitted).dtype) * np.abs(A.mean) + _least(fitted)
        allowed = stored + FRAME * u * A.spread + np.sqrt(extra) * (1.0 if larger is None else larger)
        lost = certificate.frame.get("mean_slack")
        allowed = allowed if lost is None else allowed + lost
        right = _same("mean", np.asarray(fitted, np.float64), A.mean, allowed, words)
    if larger is not None:
        share = FRAME * u + extra + 4 * unit_roundoff(np.asarray(certificate.frame["scale"]).dtype)
        least = _least(certificate.frame["scale"])
        right = _same("scale", A.fitted, A.scale, share * larger + least, words) and right
    return right


def _least(values: Any) -> float:
    """What rounding to the smallest numbers of a type may take from them."""
    kind = np.asarray(values).dtype
    return float(np.finfo(kind).smallest_subnormal) if kind.kind == "f" else 0.0


def _same(what: str, fitted: Any, anew: Any, allowed: Any, words: list[str]) -> bool:
    off = np.flatnonzero(~(np.abs(fitted - anew) <= allowed))
    if len(off):
        j = int(off[0])
        words.append(f"the {what} of column {j} is {anew[j]:.17g}, the fit used {fitted[j]:.17g}")
    return len(off) == 0


def _residuals(certificate: Certificate, true: Any, slack: float, unit2: float, words: list[str]) -> bool:
    """Residuals computed anew are no larger than the certified ones and rounding allow."""
    allowed = certificate.residuals / unit2 * (1 + 1e-6) + 2 * slack
    words.append(
        f"largest residual {float(np.max(true, initial=0.0)) * unit2:.2e}; "
        f"certified, rounding included, {float(np.max(allowed, initial=0.0)) * unit2:.2e}"
    )
    return bool(np.all(true <= allowed))


def _shape(certificate: Certificate, V: Any, slack: float, unit2: float, words: list[str]) -> bool:
    """The vectors are orthonormal and every value lies in its enclosure."""
    defect = float(np.max(np.abs(V.T @ V - np.eye(V.shape[1])), initial=0.0))
    inside = (certificate.lower <= certificate.values + slack * unit2) & (
        certificate.values <= certificate.upper + slack * unit2
    )
    if defect > 1e-10:
        words.append(f"the vectors are not orthonormal: |VᵀV − I| = {defect:.1e}")
    if not bool(np.all(inside)):
        words.append("a value lies outside its own enclosure")
    return defect <= 1e-10 and bool(np.all(inside))


def _trace(certificate: Certificate, A: Reread, words: list[str]) -> bool:
    """The total is the sum of squares of the data."""
    total = A.trace() * _square_of_unit(certificate)
    u = max(certificate.unit_roundoff, 2.0**-53)
    allowed = FRAME * u * max(total, certificate.total) + A.X.shape[1] * certificate.rounding + 1e-300
    allowed += 2.0**-53 * FRAME * A.inflation() * _square_of_unit(certificate)  # sums that a mean was taken off
    allowed += certificate.frame.get("total_slack", 0.0)
    right = abs(total - certificate.total) <= allowed
    if not right:
        words.append(f"the total is {total:.6g}, certified {certificate.total:.6g}")
    return bool(right)


def _count(
    certificate: Certificate, A: Reread, V: Any, theta: Any, slack: float, words: list[str]
) -> tuple[int | None, float | None, bool]:
    """Eigenvalues above the last enclosure: exactly by inertia, or bounded by deflated Lanczos."""
    d = V.shape[0]
    if len(theta) == 0:
        return 0, None, True
    unit2 = _square_of_unit(certificate)
    if d <= INERTIA_LIMIT:
        return _by_inertia(certificate, A.gram(), slack, unit2, words)
    missed = _deflated(A, V)
    words.append(f"no eigenvalue above {missed:.6g} was missed, with probability 1 − {FAILURE:.0e}")
    ceiling = certificate.ceiling / unit2
    bound = max(ceiling, float(theta[-1])) if math.isfinite(ceiling) else math.inf
    return None, missed, bool(missed <= bound * SHARP) or not bool(np.all(certificate.labelled))


def _by_inertia(
    certificate: Certificate, M: Any, slack: float, unit2: float, words: list[str]
) -> tuple[int | None, float | None, bool]:
    """The last labelled enclosure holds its eigenvalue: fewer than k lie above it, at least k above its foot."""
    labelled = np.flatnonzero(certificate.labelled)
    if not len(labelled):
        words.append("no enclosure is labelled by index, nothing to count")
        return None, None, True
    few = labelled if M.shape[0] <= SMALL else labelled[np.linspace(0, len(labelled) - 1, 4).astype(int)]
    right, above = True, 0
    for i in np.unique(few).tolist():
        above = _inertia(M, float(certificate.upper[i]) / unit2 + 2 * slack)
        foot = float(certificate.lower[i]) / unit2 - 2 * slack
        within = _inertia(M, foot) if foot > 0 else int(M.shape[0])  # M is positive semidefinite
        if not above <= i < within:
            right = False
            words.append(f"component {i + 1}: {above} eigenvalues above its enclosure, {within} above its lower end")
    if right:
        words.append(
            f"inertia: as many eigenvalues above and below {len(np.unique(few))} enclosures as their places say"
        )
    return above, None, right


def _inertia(M: Any, level: float) -> int:
    """Eigenvalues of M above ``level``: positive pivots of LDLᵀ(M − level·I)."""
    _, D, _ = scipy.linalg.ldl(M - level * np.eye(M.shape[0]), check_finite=False)
    return _signs(D)


def _signs(D: Any) -> int:
    """Positive eigenvalues of a block diagonal matrix with 1×1 and 2×2 blocks."""
    count, i, d = 0, 0, D.shape[0]
    while i < d:
        if i + 1 < d and D[i + 1, i] != 0:
            count += int(np.count_nonzero(np.linalg.eigvalsh(D[i : i + 2, i : i + 2]) > 0))
            i += 2
        else:
            count += int(D[i, i] > 0)
            i += 1
    return count


def _deflated(A: Reread, V: Any) -> float:
    """Upper bound on the largest eigenvalue of M outside span V, failing with probability FAILURE."""
    d = V.shape[0]
    width = 4
    Q, _ = np.linalg.qr(_off(gaussian_rows(99, 7, 0, d, width), V))
    basis, image = Q, np.empty((d, 0))
    steps = max(2, min(STEPS // width, (d - V.shape[1]) // width))
    largest = 0.0
    for _ in range(steps):
        image = np.hstack([image, _off(A.normal(basis[:, image.shape[1] :]), V)])
        largest = float(np.linalg.eigvalsh(basis.T @ image)[-1])
        fresh = _off(image[:, -width:], np.hstack([V, basis]))
        Q, _ = np.linalg.qr(fresh)
        basis = np.hstack([basis, Q])
    need = (math.log(1 / FAILURE) / width + math.log(1.648 * math.sqrt(d))) / (2 * steps - 1)
    return float(largest / (1 - min(need, 0.99) ** 2))


def _off(W: Any, V: Any) -> Any:
    W = W - V @ (V.T @ W)
    return W - V @ (V.T @ W)
