"""The check of a certificate against an operator that is no table: a graph, a matrix, anything known by its products.

    R = MV − VΘ,  |VᵀV − I|,  tr M      by products of an operator that is posed again from the data, in float64
    p ≤ 2,000     M is written out and decomposed by LAPACK: every enclosure, ceiling and sine against the truth
    otherwise     Lanczos outside span V, from a start of the operating system, looks for what was missed       [KW92]
    ‖M‖           from either: rounding is measured by it, and so is tol where no returned eigenvalue is positive

For ``kind="svd"`` M = AᵀA. Fields that must agree with each other are compared first (``fields.py``), so a number that
was changed shows even where the products are right.
"""

from __future__ import annotations

import math
import os
from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from ritz._core.linalg import norms, to_numpy
from ritz._core.random import gaussian_rows
from ritz._core.tolerance import defect_rounding, rounding
from ritz.operators.base import Operator
from ritz.spectral.verify.fields import agree
from ritz.spectral.verify.outcome import Verification

__all__ = ["verify_operator"]

Vector = NDArray[np.float64]

#: Size up to which M is written out and decomposed.
DENSE = 2_000
#: Steps of the search for missed eigenvalues, columns of its block, and the probability with which it may fail.
STEPS, WIDTH, FAILURE = 24, 4, 1e-9
#: Multiples of the rounding model that certified rounding may reach, and multiples of u that a total may be off.
MEASURED, TOTAL = 100.0, 1000.0
U = 2.0**-53


def verify_operator(certificate: Any, operator: Operator, kind: str = "eigh") -> Verification:
    """Check a certificate against ``operator``, which was made from the data anew."""
    positive = kind == "svd" or (bool(operator.positive) and not operator.below)
    c, words = certificate, agree(certificate, positive=positive)
    V, k = np.asarray(c.frame["vectors"], np.float64), len(c.values)
    if words or V.shape != (operator.shape[1], k) or not bool(np.all(np.isfinite(V))):
        if not words:
            words = [f"vectors of shape {V.shape} for {k} values of an operator of shape {operator.shape}"]
        return Verification(False, np.full(k, np.nan), None, k, None, tuple(words))
    check = _Check(c, operator, kind, V)
    wrong = [*check.rounding(), *check.residuals(), *check.orthogonality(), *check.total()]
    wrong += [*check.spectrum(), *check.ceiling()]
    said = [f"largest residual {check.worst:.2e}; certified, rounding included, {check.allowed:.2e}"]
    if check.whole is not None:
        said.append(f"decomposition: all {len(V)} eigenvalues computed anew")
    return Verification(not wrong, check.found, None, k, None, tuple(wrong or [*said, *check.words]))


class _Check:
    """M, its products with the vectors of a certificate, and what was found wrong."""

    def __init__(self, c: Any, operator: Operator, kind: str, V: Vector) -> None:
        self.c, self.V, self.kind, self.operator, self.p = c, V, kind, operator, len(V)
        self.unit2 = float((c.frame["unit"] / c.frame.get("shown", 1.0)) ** 2)
        self.theta = np.asarray(c.values, np.float64) / self.unit2
        self.block = self.product(V) - V * self.theta
        self.found = norms(self.block) * self.unit2
        self.top = float(np.max(np.abs(self.theta), initial=0.0))
        self.words: list[str] = []
        self.whole = self._decomposed() if self.p <= DENSE else None
        self.outside = self._outside()  # eigenvalues of M off span V: all, the largest, or Ritz values
        seen = self.outside if self.whole is None else self.whole[1]
        self.norm = max(self.top, float(np.max(np.abs(seen), initial=0.0)))  # the largest |λ| may not be among them
        self.own = rounding(self.p, U) * (self.norm + operator.inflation())
        self.rho = float(c.rounding) / self.unit2
        self.worst = float(np.max(self.found, initial=0.0))
        self.allowed = float(np.max(self._allowed(), initial=0.0))

    def product(self, V: Any) -> Vector:
        """``M V``."""
        image = to_numpy(self.operator.matmat(V))
        if self.kind == "svd":
            image = to_numpy(self.operator.rmatmat(image))
        return np.asarray(image, np.float64)

    def _allowed(self) -> Any:
        return np.asarray(self.c.residuals) * (1 + 1e-6) + 2 * (self.rho + self.own) * self.unit2

    def rounding(self) -> list[str]:
        """Rounding no larger than the arithmetic that is named explains."""
        u, measured = float(self.c.unit_roundoff), self.operator.perturbation()
        size = self.norm + self.operator.inflation() + float(np.max(np.abs(self.c.upper), initial=0.0)) / self.unit2
        most = MEASURED * (rounding(self.p, u) * size + (0.0 if measured is None else measured))
        return [] if self.rho <= most else ["an allowance for rounding beyond what the arithmetic explains"]

    def residuals(self) -> list[str]:
        """Residuals as certified, neither longer nor much shorter."""
        wrong = [] if bool(np.all(self.found <= self._allowed())) else ["a residual is larger than certified"]
        certified = np.asarray(self.c.residuals)
        slack = 4 * (self.rho + self.own) * self.unit2
        turned = (self.c.frame.get("grounds") or {}).get("turned", True)
        if self.c.kind != "estimate" and not turned and bool(np.any(certified > self.found * (1 + 1e-3) + slack)):
            wrong.append("a residual is certified as larger than it is")
        positive, tol = bool(np.any(self.theta > 0)), self.c.tol or 0.0
        reached = tol * (float(self.theta[0]) if positive else self.top) * (1 - 1e-6) * self.unit2 - slack
        if not self.c.converged and self.c.kind != "estimate" and float(np.max(certified, initial=0.0)) <= reached:
            wrong.append("said not to have converged, with residuals below the tolerance")
        # without a positive eigenvalue, iterations stop by the largest |θ| that they have met
        taken = 0.0 if self.whole is None or not self.operator.positive else max(0.0, -float(self.whole[1][-1]))
        slack += taken * self.unit2  # of values that are taken for 0
        promised = slack + 2 * max(tol, 20 * rounding(self.p, U)) * (self.top if positive else self.norm) * self.unit2
        if self.c.converged and self.c.kind != "estimate" and bool(np.any(self.found > promised)):
            wrong.append(f"a residual is larger than the fit promises, {promised:.2e}")
        return wrong

    def orthogonality(self) -> list[str]:
        """|VᵀV − I| as certified."""
        V = self.V.astype(np.longdouble) if self.V.size * self.V.shape[1] <= 50_000_000 else self.V
        defect = float(np.max(np.abs(V.T @ V - np.eye(V.shape[1])), initial=0.0))
        close = defect <= self.c.orthogonality + U and self.c.orthogonality <= defect + 4 * defect_rounding(self.p)
        return [] if close and defect <= 1e-10 else [f"|VᵀV − I| is {defect:.1e}, certified {self.c.orthogonality:.1e}"]

    def total(self) -> list[str]:
        """The trace, where the operator tells it."""
        trace = self.operator.trace() if self.kind == "eigh" else self.operator.frobenius2()
        if trace is None:
            return []
        shown = float(trace) * self.unit2
        loose = TOTAL * float(self.c.unit_roundoff) * max(abs(shown), self.top * self.unit2)
        return [] if abs(shown - self.c.total) <= loose else [f"the total is {shown:.6g}, certified {self.c.total:.6g}"]

    def _decomposed(self) -> tuple[Vector, Vector, Vector]:
        """M written out, its eigenvalues, decreasing, and its eigenvectors."""
        M = np.hstack([self.product(some) for some in np.array_split(np.eye(self.p), max(1, self.p // 256), axis=1)])
        M = (M + M.T) / 2
        true, W = scipy.linalg.eigh(M, check_finite=False)
        return M, true[::-1], W[:, ::-1]

    def spectrum(self) -> list[str]:
        """Every eigenvalue and the sines, from M written out."""
        if self.whole is None:
            return []
        _, true, W = self.whole
        true = np.maximum(true, 0.0) if self.operator.positive else true  # a matrix that was rounded: as its note says
        e = self.own + rounding(self.p, U) * self.norm
        low, high = (np.asarray(bound) / self.unit2 for bound in (self.c.lower, self.c.upper))
        k, wrong = len(low), []
        for i in range(k):
            holds = (low[i] - e <= true) & (true <= high[i] + e)
            if not (holds[i] if self.c.labelled[i] else bool(np.any(holds))):
                wrong.append(f"eigenvalue {i + 1} is {true[i] * self.unit2:.17g}, outside its enclosure")
        if k < self.p and true[k] - e > self.c.ceiling / self.unit2:
            wrong.append(f"an eigenvalue of {true[k] * self.unit2:.6g} was not returned and exceeds the ceiling")
        return wrong[:3] + self._sines(true, W, e)

    def _sines(self, true: Vector, W: Vector, e: float) -> list[str]:
        spans = [(i, i, float(sine)) for i, sine in enumerate(self.c.angles)] + [
            tuple(each) for each in self.c.clusters
        ]
        for first, last, sine in spans:
            if not sine < 1 or last >= self.p:
                continue
            above = true[first - 1] - true[first] if first else np.inf
            gap = min(above, true[last] - true[last + 1] if last + 1 < self.p else np.inf)
            mine, theirs = self.V[:, first : last + 1], W[:, first : last + 1]
            off = float(np.linalg.norm(mine - theirs @ (theirs.T @ mine), 2))
            if off > sine * (1 + 1e-6) + (4 * e / gap if gap > 4 * e else np.inf) + 1e-14:
                which = f"components {first + 1}–{last + 1} are" if last > first else f"component {first + 1} is"
                return [f"{which} off by a sine of {off:.2e}, certified {sine:.2e}"]
        return []

    def _outside(self) -> Vector:
        """Eigenvalues of M outside the vectors: the largest of all, or those that Lanczos finds."""
        V, left = self.V, self.p - self.V.shape[1]
        if left == 0:
            return np.empty(0)
        if self.whole is not None:
            Q = scipy.linalg.qr(V, check_finite=False)[0][:, V.shape[1] :]
            H = Q.T @ self.whole[0] @ Q
            return np.linalg.eigvalsh(H)[-1:]  # all of them: LAPACK fails to find one of a crowd by its place
        seed, width = int.from_bytes(os.urandom(8), "little"), min(WIDTH, left)
        Q, _ = np.linalg.qr(_off(gaussian_rows(seed, 7, 0, self.p, width), V))
        basis, image = Q, np.empty((self.p, 0))
        for step in range(max(1, min(STEPS, left // width))):
            if step:
                beside = np.hstack([V, basis])
                Q, _ = np.linalg.qr(_off(image[:, -width:], beside))
                Q, _ = np.linalg.qr(_off(Q, beside))  # of an operator of low rank nothing but rounding is left by then
                basis = np.hstack([basis, Q])
            image = np.hstack([image, _off(self.product(basis[:, image.shape[1] :]), V)])
        return np.asarray(np.linalg.eigvalsh(basis.T @ image), np.float64)

    def ceiling(self) -> list[str]:
        """What lies outside the vectors must not exceed the ceiling, whichever pair was left out."""
        seen = float(np.max(self.outside, initial=-math.inf))
        if self.whole is None:
            self.words.append(f"search: nothing above {seen * self.unit2:.6g} outside the components")
        slack = math.hypot(*self.found) / self.unit2 + 2 * (self.rho + self.own)
        if seen > self.c.ceiling / self.unit2 + slack:
            return [f"an eigenvalue of at least {seen * self.unit2:.6g} was missed, above the ceiling"]
        return []


def _off(W: Any, V: Any) -> Any:
    W = W - V @ (V.T @ W)
    return W - V @ (V.T @ W)
