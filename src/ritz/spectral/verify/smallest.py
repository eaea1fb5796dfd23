"""The check of a certificate of smallest eigenvalues, against an operator that was made from the data anew.

    fields      words, order, shapes; every interval, label and sine derived a second time from what they rest on
    products    residuals, null vectors, right angles, the trace
    p ≤ 2,000   B or M is written out and decomposed by LAPACK: intervals, floor and sines against the truth
    otherwise   negative pivots at a shift that the operating system draws between the last interval and the floor, in
                an order of its own; where the factor would be too large, Lanczos on cI − M looks for what was missed

Nothing of the solvers is used: a count that was wrong in one order of elimination is made in another.
"""

from __future__ import annotations

import math
import os
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import splu

from ritz._core.linalg import norms, to_numpy
from ritz._core.tolerance import defect_rounding, rounding
from ritz.operators.base import Operator
from ritz.spectral.verify.outcome import Verification
from ritz.spectral.verify.smallest_fields import agree_smallest

__all__ = ["DENSE", "negative_pivots", "verify_smallest"]

Vector = NDArray[np.float64]

#: Size up to which M is written out, and entries of M up to which pivots are counted.
DENSE, ENTRIES = 2_000, 30_000_000
#: Steps and columns of the search for missed eigenvalues elsewhere; multiples of u that a total may be off.
STEPS, WIDTH, TOTAL = 24, 4, 1000.0
#: Multiples of the rounding model that certified rounding may reach.
MEASURED = 100.0
U = 2.0**-53


def verify_smallest(certificate: Any, operator: Operator, null: Any = None) -> Verification:
    """Check a certificate of smallest eigenvalues against ``operator``."""
    c, k, words = certificate, len(certificate.values), agree_smallest(certificate)
    V = np.asarray(c.frame["vectors"], np.float64)
    if words or V.shape != (operator.shape[1], k) or not bool(np.all(np.isfinite(V))):
        words = words or [f"vectors of shape {V.shape} for {k} values of an operator of shape {operator.shape}"]
        return Verification(False, np.full(k, np.nan), None, k, None, tuple(words))
    check = _Check(c, operator, V, operator.null() if null is None else null)
    wrong = [*check.residuals(), *check.angles_right(), *check.total(), *check.allowance()]
    count, counted = (None, check.decomposed()) if len(V) <= DENSE else check.missed()
    wrong += counted
    said = [f"largest residual {check.worst:.2e}; certified, rounding included, {check.allowed:.2e}", *check.words]
    return Verification(not wrong, check.found, count, k, None, tuple(wrong or said))


class _Check:
    """M and its products with the vectors of a certificate."""

    def __init__(self, c: Any, operator: Operator, V: Vector, null: Any) -> None:
        self.c, self.V, self.operator, self.g, self.p = c, V, operator, c.frame["grounds"], len(V)
        Q = np.zeros((self.p, 0)) if null is None else np.asarray(null, np.float64).reshape(self.p, -1)
        self.Q = scipy.linalg.orth(Q) if Q.shape[1] else Q
        self.theta = np.asarray(c.values, np.float64)
        self.block = self.product(V) - V * self.theta
        self.found = norms(self.block)
        self.norm = max(float(self.g["norm"]), 1e-300)
        self.own = rounding(self.p, U) * self.norm
        self.slack = 2 * (float(c.rounding) + self.own)
        self.worst = float(np.max(self.found, initial=0.0))
        self.allowed = float(np.max(c.residuals, initial=0.0)) + self.slack
        self.words: list[str] = []

    def product(self, V: Any) -> Vector:
        """``M V``."""
        return np.asarray(to_numpy(self.operator.matmat(V)), np.float64)

    def residuals(self) -> list[str]:
        """Residuals as certified, and within the tolerance where it was reached."""
        stated = np.asarray(self.c.residuals)
        wrong = []
        if not bool(np.all(self.found <= stated * (1 + 1e-6) + self.slack)):
            wrong.append("a residual is larger than certified")
        if bool(np.any(stated > self.found * (1 + 1e-3) + self.slack)):
            wrong.append("a residual is certified as larger than it is")
        if self.c.converged and self.worst > self.c.tol * self.norm + 2 * self.slack:
            wrong.append(f"a residual is larger than the fit promises, {self.c.tol * self.norm:.2e}")
        if not self.c.converged and float(np.max(stated)) <= self.c.tol * self.norm * (1 - 1e-6) - self.slack:
            wrong.append("said not to have converged, with residuals below the tolerance")
        whole = math.hypot(*self.found)
        if whole > float(self.g["residual"]) * (1 + 1e-6) + self.slack:
            wrong.append("the residuals together are larger than the grounds of the certificate say")
        return wrong

    def angles_right(self) -> list[str]:
        """Vectors at right angles to each other and to the null vectors; these null."""
        m, wrong = self.Q.shape[1], []
        if m != self.g["null"]:
            return [f"{m} null vectors are known, and the certificate leaves out {self.g['null']}"]
        Z = np.hstack([self.Q, self.V])
        defect = float(np.max(np.abs(Z.T @ Z - np.eye(Z.shape[1])), initial=0.0))
        if not (defect <= float(self.c.orthogonality) + float(self.g["defect"]) + 4 * defect_rounding(self.p)):
            wrong.append(f"|VᵀV − I| is {defect:.1e}, certified {self.c.orthogonality:.1e}")
        if self.c.orthogonality > 1e-10:
            wrong.append(f"|VᵀV − I| is certified as {self.c.orthogonality:.1e}")
        leak = float(np.max(np.linalg.norm(self.product(self.Q), axis=0), initial=0.0)) if m else 0.0
        if leak > 1e-7 * self.norm + self.slack:
            wrong.append(f"a null vector is mapped to one of length {leak:.1e}")
        return wrong

    def total(self) -> list[str]:
        """The trace, where the operator tells it."""
        trace = self.operator.trace()
        if trace is None or abs(float(trace) - self.c.total) <= TOTAL * U * max(abs(float(trace)), self.norm):
            return []
        return [f"the total is {trace:.6g}, certified {self.c.total:.6g}"]

    def allowance(self) -> list[str]:
        """Errors and norms no larger than arithmetic explains: wide bounds could hide wrong values."""
        trace, g = self.operator.trace(), self.g
        rows = 1 + math.sqrt(self.p)  # ‖|B|‖² may exceed ‖M‖ by the length of a row
        most = MEASURED * rows * rounding(self.p, U)
        wide = g["norm"] > max(float(trace), 0.0) * (1 + 1e-9) * rows + (trace == 0) if trace is not None else False
        wide = (
            wide
            or g["rounding"] > most * self.norm
            or g["error"] > most * math.sqrt(len(g["theta"])) * (math.sqrt(self.norm) if g["root"] else self.norm)
        )
        return ["an allowance for rounding beyond what the arithmetic explains"] if wide else []

    def decomposed(self) -> list[str]:
        """Every eigenvalue off the null vectors, by LAPACK."""
        c, k = self.c, len(self.theta)
        true, W, e = _truth(self.operator, self.Q)
        self.words.append(f"decomposition: all {len(true)} eigenvalues computed anew")
        wrong = []
        for i in range(k):
            off = e(max(float(true[i]), float(c.upper[i])))
            holds = (c.lower[i] - off <= true) & (true <= c.upper[i] + off)
            if not (holds[i] if c.labelled[i] else bool(np.any(holds))):
                wrong.append(f"eigenvalue {i + 1} is {true[i]:.17g}, outside its enclosure")
        if k < len(true) and true[k] + e(float(true[k])) < c.ceiling:
            wrong.append(f"an eigenvalue of {true[k]:.6g} was not returned and lies below the floor")
        return wrong[:3] + self._sines(true, W, e)

    def _sines(self, true: Vector, W: Vector, e: Any) -> list[str]:
        spans = [(i, i, float(sine)) for i, sine in enumerate(self.c.angles)]
        for first, last, sine in [*spans, *(tuple(each) for each in self.c.clusters)]:
            if not sine < 1:
                continue
            up = float(true[last + 1] - true[last]) if last + 1 < len(true) else math.inf
            down = float(true[first] - true[first - 1]) if first else float(true[0]) if self.Q.shape[1] else math.inf
            gap = min(up, down)
            mine, theirs = self.V[:, first : last + 1], W[:, first : last + 1]
            away = float(np.linalg.norm(mine - theirs @ (theirs.T @ mine), 2))
            if away > sine * (1 + 1e-6) + (4 * self.own / gap if gap > 4 * self.own else math.inf) + 1e-13:
                return [f"components {first + 1}–{last + 1} are off by a sine of {away:.2e}, certified {sine:.2e}"]
        return []

    def missed(self) -> tuple[int | None, list[str]]:
        """What a count in another order, or a search, finds below the floor."""
        given, k, m = self.operator.assembled(), len(self.theta), self.Q.shape[1]
        top, floor = float(np.max(self.c.upper)), float(self.c.ceiling)
        if not bool(np.all(self.c.labelled)):
            self.words.append("completeness is not claimed, and was not looked for")
            return None, []
        if not floor > top:  # the k-th lies in a cluster: counted below it
            k = int(self.g["counted"])
            top, floor = float(self.c.upper[k - 1]) if k else 0.0, float(self.g["floor"])
            if not floor > top:
                return None, []
        M = None if given is None else given.matrix if given.root is None else given.root.T.tocsr() @ given.root
        if M is None or M.nnz > ENTRIES or self.c.probability < 1:
            return None, self._searched(floor)
        share = 0.25 + 0.5 * int.from_bytes(os.urandom(4), "little") / 2**32
        shift = top + share * (min(floor, max(2 * top, top + 1e-6 * self.norm)) - top)
        below = negative_pivots(sp.csc_array(M), shift)
        if below is None:
            return None, self._searched(floor)
        self.words.append(f"inertia: {below} eigenvalues below {shift:.6g}, {m} of them of null vectors")
        if below != k + m:
            return below - m, [f"{below - m} eigenvalues lie below {shift:.6g}, and {k} were returned"]
        return below - m, []

    def _searched(self, floor: float) -> list[str]:
        """Lanczos on cI − M off the vectors, from a start of the operating system."""
        rng = np.random.default_rng(int.from_bytes(os.urandom(8), "little"))
        Z = np.hstack([self.Q, self.V])
        Q = np.linalg.qr(_off(rng.standard_normal((self.p, WIDTH)), Z))[0]
        basis, image, last = Q, np.empty((self.p, 0)), Q
        for step in range(STEPS):
            if step:
                Q = np.linalg.qr(_off(self.norm * Q - last, np.hstack([Z, basis])))[0]
                basis = np.hstack([basis, Q])
            last = _off(self.product(Q), Z)
            image = np.hstack([image, last])
        least = float(np.linalg.eigvalsh(basis.T @ image)[0])
        self.words.append(f"search: nothing below {least:.6g} outside the components")
        slack = math.hypot(*self.found) + self.slack
        return [f"an eigenvalue of at most {least:.6g} was missed, below the floor"] if least < floor - slack else []


def _truth(operator: Operator, Q: Vector) -> tuple[Vector, Vector, Any]:
    """Eigenvalues off Q, increasing, their vectors, and what each may be off."""
    p, given = operator.shape[0], operator.assembled()
    P = scipy.linalg.qr(Q)[0][:, Q.shape[1] :] if Q.shape[1] else np.eye(p)
    if given is not None and given.root is not None:
        _, s, Wt = scipy.linalg.svd(scipy.linalg.qr(given.root @ P, mode="r")[0][:p], full_matrices=True)
        s = np.append(s, np.zeros(P.shape[1] - len(s)))[::-1]
        error = 2 * rounding(p, U) * float(s[-1]) + given.noise
        return s * s, P @ Wt[::-1].T, lambda value: 2 * math.sqrt(max(value, 0.0)) * error + error * error
    M = np.hstack([to_numpy(operator.matmat(some)) for some in np.array_split(np.eye(p), max(1, p // 256), axis=1)])
    true, W = scipy.linalg.eigh(P.T @ ((M + M.T) / 2) @ P)
    error = 2 * rounding(p, U) * float(np.max(np.abs(true), initial=0.0)) + (operator.measured() or 0.0)
    return true, P @ W, lambda _: error


def negative_pivots(M: Any, shift: float) -> int | None:
    """Negative pivots of M − shift·I with its rows in an order of chance; None where the factor is not sound."""
    p = M.shape[0]
    rng = np.random.default_rng(int.from_bytes(os.urandom(8), "little"))
    order = rng.permutation(p)
    A = sp.csc_array((M - shift * sp.eye_array(p, format="csc"))[order][:, order])
    A = sp.csc_array((A.data, A.indices.astype(np.int32), A.indptr.astype(np.int32)), shape=A.shape)
    try:
        lu = splu(A, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
    except (RuntimeError, MemoryError):
        return None
    pivots = lu.U.diagonal()
    sound = np.array_equal(lu.perm_r, lu.perm_c) and bool(np.all(np.isfinite(pivots)))
    return int(np.count_nonzero(pivots < 0)) if sound else None


def _off(W: Any, V: Any) -> Any:
    W = W - V @ (V.T @ W)
    return W - V @ (V.T @ W)
