"""A kernel model against its rows: every number that it stores, from a kernel matrix that is formed anew.

    M = J K J,  K by definition (values.py);    M = W D Wᵀ dense, n ≤ 5,000
    pairs       ‖M uᵢ − λᵢ uᵢ‖, |UᵀU − I|;   a Nyström model: scores of the rows, whose Gram matrix is diag λ̂
    enclosures  the i-th eigenvalue, or some eigenvalue, lies in [lowerᵢ, upperᵢ]; none beyond them above the ceiling
    angles      between uᵢ and the eigenvectors of M, one by one and cluster by cluster
    shares      λᵢ/T, T = tr M, or Σ|λ| of an indefinite kernel
    map         coordinates of the rows are U Λ^½, so that new rows are placed by the same numbers

Nothing of the fit is called but ``transform``, which is what is being checked there; in the end a second fit tells
whether what the map to coordinates keeps for itself was changed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import InputError
from ritz._core.linalg import norms
from ritz._core.tolerance import unit_roundoff
from ritz.methods.kernel_pca.input import len_of, new_rows
from ritz.methods.kernel_pca.values import kernel_matrix, rounding_scale
from ritz.methods.verify.again import refound
from ritz.spectral.verify import Verification

__all__ = ["verify_kernel"]

Floats = NDArray[np.float64]

#: Rows up to which a dense matrix is formed.
MOST_ROWS = 5000
#: Multiples of u of the sums of a row that the matrix formed here may be off by.
OWN = 16.0
#: Standard errors that an estimated total may be off by.
SURE = 6.0
#: Share of the largest score that coordinates of the rows may differ from those of the fit, beside rounding.
PLACED = 1e-9


def verify_kernel(model: Any, X: Any, given: Any = None) -> Verification:
    """Check a fitted ``KernelPCA`` against the rows that it was fitted to; ``given``: with their gaps."""
    rows = new_rows(model, X)
    n = len_of(rows)
    if n > MOST_ROWS:
        raise InputError(
            f"verify forms the kernel matrix of at most {MOST_ROWS:,} rows", received=f"{n:,} rows",
            hint="fit a sample of the rows to check the route",
        )  # fmt: skip
    if n != model.n_samples_:
        raise InputError(
            f"verify takes the rows that were fitted, {model.n_samples_:,} of them", received=f"{n:,} rows"
        )
    check = _Check(model, rows, X)
    for step in (check.fields, check.pairs, check.enclosures, check.angles, check.shares, check.map):
        step()
    rows_given = X if given is None else given
    check.wrong += refound(model, lambda other: other.fit(rows_given), place=("eigenvectors_",), vectors=True)
    return Verification(
        ok=not check.wrong, residuals=check.residuals, count=check.above, expected=len(check.values),
        missed_bound=None, words=tuple(check.wrong or check.said),
    )  # fmt: skip


class _Check:
    """What is known of the rows, and what was found wrong."""

    def __init__(self, model: Any, rows: Any, X: Any) -> None:
        self.model, self.rows, self.X, self.certificate = model, rows, X, model.certificate_
        self.wrong: list[str] = []
        self.said: list[str] = []
        K = kernel_matrix(model.kernel_, rows)
        columns = rows.shape[1] if hasattr(rows, "shape") and model.kernel_.takes == "vectors" else 1
        own = OWN * 2.0**-53 * rounding_scale(model.kernel_, K, columns)
        M = K - K.mean(axis=0)
        M -= M.mean(axis=1)[:, None]
        self.M = (M + M.T) / 2
        self.true, self.W = np.linalg.eigh(self.M)
        self.true, self.W = self.true[::-1], self.W[:, ::-1]
        self.n, self.values = len(K), np.asarray(model.eigenvalues_, np.float64)
        self.top = float(np.max(np.abs(self.true), initial=0.0))
        self.own = own + 64 * 2.0**-53 * float(np.sqrt(self.n)) * self.top
        self.cast = 2 * unit_roundoff(np.asarray(model.eigenvalues_).dtype)
        self.slack = self.own + float(self.certificate.rounding)
        self.residuals, self.above = np.zeros(len(self.values)), 0
        self.U = None if getattr(model, "eigenvectors_", None) is None else np.asarray(model.eigenvectors_, np.float64)

    def need(self, right: Any, words: str) -> bool:
        """Note what is not so."""
        if not bool(np.all(right)):
            self.wrong.append(words)
        return bool(np.all(right))

    def fields(self) -> None:
        """Numbers that repeat each other, rows that are those given, and what a certificate may say at all."""
        m, c, k = self.model, self.certificate, len(self.values)
        self.need(np.all(np.isfinite(self.values)), "an eigenvalue is not a finite number")
        same = {len(x) for x in (c.values, c.lower, c.upper, c.residuals, c.angles, c.labelled)}
        self.need(m.n_components_ == k and same == {k}, "the model and its certificate hold different numbers of pairs")
        self.need(m.gamma_ == getattr(m.kernel_, "gamma", None), "gamma_ is not the gamma of the kernel")
        if self.U is not None:
            self.need(self.U.shape == (self.n, k), "eigenvectors_ has another shape than rows and components")
            self.need(_same_rows(m.X_fit_, self.rows), "X_fit_ are not the rows given")
        sizes = (c.rounding, c.total, c.orthogonality, *np.ravel(c.residuals))
        self.need(
            np.isfinite(sizes) & (np.asarray(sizes) >= 0),
            "the rounding, the total, the orthogonality or a residual of the certificate is negative or not finite",
        )
        self.need(0 <= c.probability <= 1, "the probability of the certificate does not lie between 0 and 1")
        self.need(
            c.unit_roundoff in (2.0**-53, 2.0**-24),
            "the unit round-off of the certificate is neither that of float64 nor that of float32",
        )
        if self.wrong or not k:
            return
        # rounding may hide an eigenvalue: 0 stands for what cannot be told from it
        floor = 2 * self.slack + 8 * max(self.cast, c.unit_roundoff) * (
            np.sqrt(self.n) * self.top + self.own / 2.0**-53
        )
        told = np.abs(self.values - c.values) <= self.cast * np.abs(c.values)
        zero = (self.values == 0) & (np.abs(c.values) <= floor)
        self.need(told | zero, "eigenvalues_ are not those of the certificate")
        inside = (c.lower <= c.values + self.own) & (c.values <= c.upper + self.own)
        self.need(inside, "a value lies outside its own enclosure")
        reached = float(np.max(c.residuals)) <= max((c.tol or 0.0) * self.top, 0.0) + 2 * self.slack + 1e-8 * self.top
        exact = self.U is not None and c.kind == "certified" and c.tol is not None
        self.need(not (exact and c.converged) or reached, "the certificate says that tol was reached, which it was not")

    def pairs(self) -> None:
        """Residuals and orthonormality of the eigenvectors."""
        if self.wrong or self.U is None or not len(self.values):
            return
        c, there = self.certificate, self.values != 0
        U = np.where(there, self.U, 0.0)
        self.residuals = norms(self.M @ U - U * self.values)
        allowed = self._residual_allowed()
        self.need(self.residuals <= allowed, f"a residual is {np.max(self.residuals):.3g}, more than certified")
        defect = float(np.max(np.abs(U.T @ U - np.diag(there.astype(float))), initial=0.0))
        loose = c.orthogonality + 8 * self.cast + self._unit_loss()
        self.need(defect <= loose, f"the eigenvectors are not orthonormal: |UᵀU − I| = {defect:.1e}")
        self.said.append(f"largest residual {np.max(self.residuals, initial=0.0):.3g}, certified {np.max(allowed):.3g}")
        if c.kind == "certified" and c.frame.get("matrix") == "J K J" and self._direct():
            off = np.abs(self.residuals - c.residuals)[there] > (2 * self.slack + 4 * self.cast * self.top)
            self.need(~off, "a certified residual is not that of its pair")

    def _direct(self) -> bool:
        """Whether the certificate speaks of the eigenvectors themselves, not of axes of features."""
        certified = self.certificate.frame.get("vectors")
        return certified is not None and self.U is not None and np.shape(certified) == self.U.shape

    def _residual_allowed(self) -> Floats:
        c = self.certificate
        size = np.sqrt(self.top / np.maximum(np.abs(self.values), 1e-300))  # of features: u = Zv/σ
        grown = c.residuals if self._direct() else c.residuals * np.minimum(size, 1e8)
        return np.asarray(grown * (1 + 1e-6) + 2 * self.slack + 4 * self.cast * self.top)

    def _unit_loss(self) -> float:
        """What residuals leave of the orthogonality of vectors that are found through features."""
        if self._direct():
            return 0.0
        least = float(np.min(np.abs(self.values[self.values != 0]), initial=np.inf))
        return min(4 * (self.slack + float(np.max(self.certificate.residuals, initial=0.0))) / least, 1e-3)

    def enclosures(self) -> None:
        """Every eigenvalue is where its enclosure says."""
        if self.wrong or not len(self.values):
            return
        c, k = self.certificate, len(self.values)
        signed = bool(np.any(self.values < 0))
        order = np.argsort(-np.abs(self.true), kind="stable") if signed else np.arange(self.n)
        low, high = c.lower - self.own, c.upper + self.own
        lead = self.true[order][:k]
        some = np.any((low[:, None] <= self.true) & (self.true <= high[:, None]), axis=1)
        self.need(some, "an enclosure holds no eigenvalue")
        label = np.asarray(c.labelled, bool) & (not signed)
        self.need(~label | ((low <= lead) & (lead <= high)), "an enclosure does not hold the eigenvalue of its place")
        self.above = int(np.sum(self.true > high[-1]))
        if label.all() and k < self.n:
            beyond = float(self.true[order][k])
            self.need(beyond <= c.ceiling + self.own, f"an eigenvalue {beyond:.6g} lies above the ceiling")
        if not self.wrong:
            self.said.append(f"{k} enclosures hold the eigenvalues of the {self.n:,}×{self.n:,} matrix formed anew")

    def angles(self) -> None:
        """Angles to the eigenvectors of M are no larger than certified."""
        if self.wrong or self.U is None or bool(np.any(self.values < 0)):
            return
        c = self.certificate
        spans = [(i, i, float(c.angles[i])) for i in range(len(self.values)) if np.isfinite(c.angles[i])]
        for first, last, sine in [*spans, *(each for each in c.clusters if np.isfinite(each[2]))]:
            if not 0 <= first <= last < len(self.values) or not np.all(c.labelled[first : last + 1]):
                continue
            W, U = self.W[:, first : last + 1], self.U[:, first : last + 1]
            above = self.true[first - 1] - self.true[first] if first else np.inf
            below = self.true[last] - self.true[last + 1] if last + 1 < self.n else np.inf
            gap = min(above, below)
            actual = float(np.linalg.norm(U - W @ (W.T @ U), 2))
            more = self.own / gap if gap > 0 else np.inf
            self.need(
                actual <= sine * (1 + 1e-6) + 2 * more + 4 * self.cast, "an eigenvector is further off than certified"
            )

    def shares(self) -> None:
        """Total and shares."""
        m, c = self.model, self.certificate
        indefinite = not m.kernel_.positive
        total = float(np.sum(np.abs(self.true))) if indefinite else float(np.trace(self.M))
        error = float(getattr(m, "total_variance_error_", 0.0))
        allowed = (
            self.n * self.own
            + SURE * error
            + self.cast * total
            + (self.n * c.rounding if self.U is None else c.rounding)
        )
        if indefinite:
            allowed += self.n * c.rounding
        self.need(error >= 0 and abs(m.total_variance_ - total) <= allowed, f"the total variance is {total:.6g}")
        ratio = np.asarray(m.explained_variance_ratio_, np.float64)
        wanted = np.abs(self.values) / m.total_variance_ if m.total_variance_ > 0 else np.zeros(len(self.values))
        fits = ratio.shape == wanted.shape and np.all(np.abs(ratio - wanted) <= 4 * self.cast * wanted + 1e-300)
        self.need(fits, "explained_variance_ratio_ are not the shares of the eigenvalues in the total variance")
        if not indefinite:
            self.need(
                abs(c.total - m.total_variance_) <= allowed,
                "the total of the certificate is not the total variance of the model",
            )
        else:
            share = float(np.sum(np.abs(self.true[self.true < 0]))) / max(total, 1e-300)
            near = 0.5 * share if error else 1e-6
            self.need(abs(m.negative_share_ - share) <= near + self.n * self.slack / max(total, 1e-300),
                      f"negative eigenvalues make up {share:.3g} of Σ|λ|")  # fmt: skip

    def map(self) -> None:
        """Coordinates of the rows are those of the fit."""
        if self.wrong or not len(self.values):
            return
        try:
            Z = np.asarray(self.model.transform(self.X), np.float64)  # X as it was given: its columns have their names
        except (AttributeError, IndexError, KeyError, TypeError):  # a part of the map is not what the others need
            self.wrong.append("transform cannot place the rows of the fit")
            return
        root = np.sqrt(np.abs(self.values))
        there = root > 0
        size = float(np.max(root)) or 1.0
        if self.U is not None:
            away = np.linalg.norm(Z - self.U * root, axis=0)[there]
            tiles = self.own * self.cast / 2.0**-52  # new rows are compared in the precision that they come in
            loss = (self.residuals + 2 * self.slack + tiles)[there] / root[there] + (PLACED + 64 * self.cast) * size
            self.need(away <= loss + self._features_loss(), "transform places the rows elsewhere than the fit")
            return
        gram = Z.T @ Z
        loose = (1e-3 if self.cast > 1e-12 else 1e-6) * size**2 + self.slack
        self.need(
            np.abs(gram - np.diag(self.values)) <= loose, "scores of the rows do not have the eigenvalues as squares"
        )
        self.need(np.abs(Z.sum(axis=0)) <= np.sqrt(self.n) * loose / size, "scores of the rows are not centred")

    def _features_loss(self) -> float:
        return 0.0 if self._direct() else float(np.sqrt(self.n)) * 64 * self.cast * float(np.sqrt(self.top))


def _same_rows(fitted: Any, rows: Any) -> bool:
    if hasattr(fitted, "toarray") or hasattr(rows, "toarray"):
        if not (hasattr(fitted, "toarray") and hasattr(rows, "toarray")) or fitted.shape != rows.shape:
            return bool(np.array_equal(_dense(fitted), _dense(rows)))
        return bool(abs(fitted - rows).max() == 0)
    if hasattr(fitted, "shape") and hasattr(rows, "shape"):
        return bool(np.array_equal(fitted, rows))
    return len(fitted) == len(rows) and all(bool(np.all(a == b)) for a, b in zip(fitted, rows, strict=True))


def _dense(rows: Any) -> Any:
    return rows.toarray() if hasattr(rows, "toarray") else np.asarray(rows)
