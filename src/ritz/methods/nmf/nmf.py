"""Non-negative matrix factorisation: rows as sums of parts.                                  [LS99, BG08, Lin07]

    X (n×d) ≥ 0      X ≈ W H,   W (n×k) ≥ 0,  H (k×d) ≥ 0         components_ = H, rows of length 1;  transform → W

Begins at the non-negative parts of the singular vectors (NNDSVD), which Ritz's SVD finds with its certificate, and goes
on with scikit-learn's solvers until the optimality conditions hold to ``tol``. No one knows the least error of k
non-negative parts; that of k parts of any sign is known, √Σ_{i>k}σᵢ², and nothing non-negative comes nearer.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from ritz._core.bases import check_is_fitted
from ritz._core.errors import AccuracyWarning, InputError, MemoryLimitError, ParameterError
from ritz._core.progress import using
from ritz._core.random import seed_of
from ritz._core.warn import unsaid, warn
from ritz.data.passes.blocks import blocks_of, mapped
from ritz.data.validate import require_finite, room_for
from ritz.methods.fitted.about import About
from ritz.methods.fitted.parts import NonNegative
from ritz.methods.linear_record import LinearRecord
from ritz.methods.method import Method
from ritz.methods.nmf.solve import Factors, coordinates, divergence, factored, kkt, squares_of
from ritz.methods.nmf.start import left_vectors, nndsvd, random_start
from ritz.methods.nmf.steady import Consensus, consensus
from ritz.methods.posed import Posed
from ritz.methods.record import ABSENT, keep
from ritz.methods.svd import SVD
from ritz.methods.verify.again import refound
from ritz.project.linear import result_dtype
from ritz.spectral.plan import Plan
from ritz.spectral.verify import Verification

__all__ = ["NMF"]

Floats = NDArray[np.float64]

LOSSES = ("frobenius", "kullback-leibler")
INITS = ("nndsvd", "random")
#: Share of ‖X‖ by which errors may differ: weights found anew are the best ones, and squares lose half their digits.
LOST = 1e-6
#: What zeros of the start become for multiplicative steps, in units of √m, m² the mean square of X, as WH is like X.
FILL = 3.0


@dataclass(eq=False)
class PartsRecord(LinearRecord):
    """Of non-negative parts."""

    weights_norm: Floats = ABSENT  # (k,) lengths of the columns of W
    parts: Floats = ABSENT  # (k, d) H in float64


@dataclass(frozen=True)
class NonNegativeMap:
    """From rows to weights of parts, and back."""

    parts: Floats  # (k, d)
    loss: str
    dtype: Any
    names: Any = None

    def forward(self, X: Any, dtype: Any = None, start: int = 0) -> NDArray[Any]:
        """Weights of rows, (n, k)."""
        return np.concatenate([part for _, part in self._pieces(blocks_of(X), start)]).astype(
            dtype or result_dtype(X.dtype)
        )

    def batches(self, X: Any) -> Iterator[NDArray[Any]]:
        """Weights of the rows, some at a time."""
        for _, part in self._pieces(blocks_of(X)):
            yield part.astype(result_dtype(X.dtype))

    def _pieces(self, blocks: Any, start: int = 0) -> Iterator[tuple[int, NDArray[Any]]]:
        def step(_scratch: dict[str, Any], block: Any) -> NDArray[Any]:
            self._require(block.values, start + block.start)
            return coordinates(block.values, self.parts, self.loss)

        return mapped(blocks, step)

    def _require(self, X: Any, start: int) -> None:
        """Refuse rows with an entry that is negative or no number."""
        values = X.data if hasattr(X, "tocsr") else X
        if not np.isfinite(values).all():
            require_finite(X, self.names, lambda i: f"row {start + i}")
        _require_positive(X, self.names, start)

    def backward(self, T: Any) -> NDArray[Any]:
        """Rows from weights."""
        return np.asarray(np.asarray(T, np.float64) @ self.parts, self.dtype)


class NMF(Method):
    """Non-negative matrix factorisation.

    Parameters
    ----------
    n_components : None, int, float or str
        Parts: a number, or as many as a fraction of ‖X‖² or a rule asks of the singular values; None: all.
    loss : "frobenius" or "kullback-leibler"
        ‖X − WH‖², or the divergence of counts.
    init : "nndsvd" or "random"
        Parts of the singular vectors, or drawn at random.
    max_iter : int
        Sweeps at most.
    tol : float
        Sweeps end when the optimality conditions hold to this, relative to ‖X‖² (to ΣX for Kullback–Leibler).
    solver, random_state, memory, device, progress
        As for :class:`ritz.SVD`, which finds the singular vectors.

    Attributes
    ----------
    components_ : (k, d) parts, rows of length 1, by decreasing share
    explained_variance_ratio_ : (k,) share of each part in ‖X‖², ⟨wⱼhⱼ, WH⟩/‖X‖²
    relative_error_ : ‖X − WH‖/‖X‖
    least_error_ : what no k parts, of any sign, come nearer than, relative to ‖X‖
    divergence_ : of Kullback and Leibler; None for the other loss
    kkt_residual_ : how far the optimality conditions are from holding
    singular_values_ : (k,) of X
    total_ : ‖X‖²
    n_iter_, n_components_, n_samples_, n_features_in_ : int
    certificate_, plan_ : of the singular values, with error, bound and optimality

    Examples
    --------
    >>> import numpy as np, ritz
    >>> rng = np.random.default_rng(0)
    >>> X = rng.random((100, 2)) @ [[1, 1, 0, 0, 0.2], [0, 0.3, 1, 1, 0]]
    >>> nmf = ritz.NMF(2).fit(X)
    >>> bool(nmf.relative_error_ < 1e-3), bool((nmf.components_ >= 0).all())
    (True, True)
    >>> nmf.transform(X).shape
    (100, 2)
    """

    about: ClassVar[About] = About(
        "Non-negative matrix factorisation",
        "nmf",
        "NM",
        whole="sum of squares",
        measure="sum of squares",
        component="part",
        cites=("[LS99]", "[BG08]"),
        behind="the singular values",
        paper="D. D. Lee and H. S. Seung, Learning the parts of objects by non-negative matrix factorization, Nature "
        "401 (1999), 788–791.",
    )
    fitted: ClassVar[type[NonNegative]] = NonNegative
    _records: ClassVar[type[PartsRecord]] = PartsRecord
    _record: PartsRecord
    _rules = SVD._rules

    def __init__(
        self, n_components: Any = None, *, loss: str = "frobenius", init: str = "nndsvd", max_iter: int = 2000,
        solver: str = "auto", tol: float = 1e-5, random_state: Any = 0, memory: Any = None, device: str = "cpu",
        progress: Any = None,
    ) -> None:  # fmt: skip
        self.n_components, self.loss, self.init, self.max_iter = n_components, loss, init, max_iter
        self.solver, self.tol, self.random_state = solver, tol, random_state
        self.memory, self.device, self.progress = memory, device, progress

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit to rows.

        Parameters
        ----------
        X : array-like, sparse matrix, frame or Table of shape (n, d), no entry negative
            What stays outside memory is read once for each sweep.
        y : ignored
        sample_weight : None
        """
        _require_no_weights(sample_weight)
        return self._fit(X, y, None)

    def pose(self, rows: Any, weights: Any) -> Posed:
        """The singular value decomposition that factors begin with."""
        _require_positive(rows, getattr(self, "feature_names_in_", None))
        n, d = (int(side) for side in rows.shape)
        k = self.n_components if isinstance(self.n_components, numbers.Integral) else min(n, d, 20)
        if 4 * 8.0 * n * int(k) > room_for(self):
            raise MemoryLimitError("NMF holds the weights of all rows", received=f"{n:,} rows and {k} parts",
                                   hint="allow more memory, or ask for fewer parts")  # fmt: skip
        begin = self._begin()
        begin.n_features_in_ = d
        begin._record = begin._records()
        posed = begin._posed(rows, None)
        return Posed(rows=rows, shape=posed.shape, wanted=posed.wanted, kept=(begin, posed))

    def _begin(self) -> SVD:
        return SVD(
            self.n_components, solver=self.solver, tol=min(self.tol, 1e-6), memory=self.memory, device=self.device,
            random_state=self.random_state, mergeable=False,
        )  # fmt: skip

    def _plan(self, posed: Posed) -> Plan:
        begin, inner = posed.kept
        return _of_start(begin._plan(inner))

    def _solved(self, posed: Posed, plan: Plan) -> tuple[SVD, Factors]:
        begin, inner = posed.kept
        with using(self.progress, type(self).__name__):
            begin.read(begin._solved(inner, plan), inner)
            W, H = self._started(begin, posed.rows)
            found = factored(
                posed.rows, W, H, self.loss, int(self.max_iter), float(self.tol), self._whole(begin, posed)
            )
        if found.residual > self.tol:
            words = f"NMF stopped after {found.sweeps} sweeps; the optimality conditions hold to {found.residual:.1e}"
            warn(f"{words} (tol={self.tol:g}); raise max_iter", AccuracyWarning)
        return begin, found

    def _whole(self, begin: SVD, posed: Posed) -> float:
        """What optimality is told relative to."""
        if self.loss == "frobenius":
            return float(begin.total_)
        return math.fsum(float(block.values.sum()) for block in blocks_of(posed.rows).each())

    def _started(self, begin: SVD, rows: Any) -> tuple[Floats, Floats]:
        V, s = np.asarray(begin.components_, np.float64).T, np.asarray(begin.singular_values_, np.float64)
        n, d, k = int(rows.shape[0]), len(V), V.shape[1]
        mean = math.sqrt(float(begin.total_) / max(n * d, 1))
        if self.init == "random":
            return random_start(n, d, k, mean, seed_of(self.random_state))
        W, H = nndsvd(left_vectors(rows, V, s), s, V)
        if self.loss != "frobenius":  # multiplication leaves zeros as they are
            size = FILL * math.sqrt(mean)
            W, H = np.where(W > 0, W, size), np.where(H > 0, H, size)
        return W, H

    def read(self, solution: tuple[SVD, Factors], posed: Posed) -> None:
        """Parts of length 1, by decreasing share."""
        begin, found = solution
        size = np.linalg.norm(found.H, axis=1)
        H = found.H / np.where(size > 0, size, 1.0)[:, None]
        W = found.W * size
        total = float(begin.total_)
        shares = np.sum((W.T @ W) * (H @ H.T), axis=1) / (total or 1.0)
        order = np.argsort(-shares, kind="stable")
        H, W, dtype = H[order], W[:, order], result_dtype(posed.rows.dtype)
        c, squares = begin.certificate_, squares_of(posed.rows, W, H)
        least = max(0.0, float(c.total) - float(np.sum(c.upper)) - posed.rows.shape[1] * c.rounding - 1e-14 * c.total)
        self.components_ = np.ascontiguousarray(H, dtype)
        self.explained_variance_ratio_ = shares[order].astype(dtype)
        self.relative_error_ = math.sqrt(squares / total) if total > 0 else 0.0
        self.least_error_ = math.sqrt(least / total) if total > 0 else 0.0
        self.divergence_ = None if self.loss == "frobenius" else divergence(posed.rows, W, H)
        self.kkt_residual_, self.n_iter_ = found.residual, found.sweeps
        self.singular_values_, self.total_ = begin.singular_values_, total
        self.explained_variance_ = np.asarray(self.explained_variance_ratio_ * total)
        self.n_components_, self.n_samples_ = len(H), int(posed.rows.shape[0])
        keep(self, dtype=dtype, weight=float(self.n_samples_), weights_norm=np.linalg.norm(W, axis=0), parts=H)
        notes = self._notes()
        self.certificate_, self.plan_ = replace(c, notes=(*c.notes, *notes)), begin.plan_

    def _notes(self) -> tuple[str, ...]:
        nearer = f"no {self.n_components_} parts, of any sign, come nearer than {self.least_error_:.6g}"
        times = self.relative_error_ / self.least_error_ if self.least_error_ > 0 else math.inf
        near = "" if f"{times:.6g}" == "1" else f"at most {times:.6g} times "
        gap = f", so the error is {near}the least possible{'' if near else ', to six digits'}"
        told = [f"error ‖X − WH‖ = {self.relative_error_:.6g} of ‖X‖; {nearer}{gap if self.least_error_ > 0 else ''}"]
        if self.divergence_ is not None:
            told = [f"divergence of Kullback and Leibler {self.divergence_:.6g}", *told]
        whole = "‖X‖²" if self.loss == "frobenius" else "ΣX"
        return (*told, f"optimality conditions (projected gradient) hold to {self.kkt_residual_:.1e} of {whole}")

    def _route(self, X: Any, y: Any = None, sample_weight: Any = None) -> Plan:
        _require_no_weights(sample_weight)
        return _of_start(self._begin()._route(X, None, None))

    def _map(self) -> NonNegativeMap:  # type: ignore[override]
        check_is_fitted(self)
        names = getattr(self, "feature_names_in_", None)
        return NonNegativeMap(self._record.parts, self.loss, self._record.dtype, names)

    def verify(self, X: Any, sample_weight: Any = None) -> Verification:
        """Check the singular values, the error and the optimality conditions, with weights found anew.

        Parameters
        ----------
        X : what fit took
        sample_weight : None

        Examples
        --------
        >>> import numpy as np, ritz
        >>> X = np.random.default_rng(0).random((60, 5))
        >>> model = ritz.NMF(2).fit(X)
        >>> bool(model.verify(X)), bool(model.verify(X + 0.1))
        (True, False)
        """
        check_is_fitted(self)
        rows, _ = self._rows(X, sample_weight, reset=False)
        checked = self.certificate_.verify(rows)
        H = self._record.parts
        W = np.concatenate([np.asarray(part, np.float64) for part in self._map().batches(rows)])
        size = np.sqrt(np.linalg.norm(W, axis=0))
        size = np.where(size > 0, size, 1.0)
        whole = self.total_ if self.loss == "frobenius" else float(sum(b.values.sum() for b in blocks_of(rows).each()))
        residual = kkt(rows, W / size, H * size[:, None], self.loss, whole)
        error = math.sqrt(squares_of(rows, W, H) / self.total_) if self.total_ > 0 else 0.0
        wrong = []
        if bool(np.any(H < 0)) or not np.allclose(H, self.components_, rtol=1e-5, atol=1e-12):
            wrong.append("parts are negative, or not those that rows are placed by")
        if not abs(error - self.relative_error_) <= 1e-2 * self.relative_error_ + LOST:
            wrong.append(f"the error is {error:.6g}, told {self.relative_error_:.6g}")
        if not residual <= 10 * self.kkt_residual_ + 1e-6:
            wrong.append(f"the optimality conditions hold to {residual:.1e}, told {self.kkt_residual_:.1e}")
        c, near = self.certificate_, 1e-6 if self._record.dtype == np.float64 else 1e-3
        unit = c.frame.get("shown", 1.0)
        known = ((self.total_, float(c.total) * unit * unit), (self.singular_values_, np.sqrt(c.values) * unit),
                 (self.explained_variance_, self.explained_variance_ratio_ * self.total_))  # fmt: skip
        if not all(np.shape(a) == np.shape(b) and np.allclose(a, b, rtol=near, atol=1e-300) for a, b in known):
            wrong.append("the sum of squares, singular values or shares are not those of the rows")
        if not self.relative_error_ >= self.least_error_ * (1 - 1e-9):
            wrong.append("the error is below the least possible")
        wrong += refound(self, lambda other: other.fit(X), place=("components_",), always=("least_error_",))
        words = f"error {error:.6g} and optimality {residual:.1e} with weights found anew"
        return replace(checked, ok=bool(checked) and not wrong, words=(*wrong, *checked.words, words))

    def choose_k(self, X: Any, candidates: Sequence[int] = (2, 3, 4, 5, 6), runs: int = 10) -> list[Consensus]:
        """How many parts are found again from random starts, by the consensus of the rows' strongest parts.

        Parameters
        ----------
        X : what fit takes, in memory
        candidates : sequence of int
        runs : int
            Random starts for each.

        Returns
        -------
        list of Consensus : ``k``, ``cophenetic`` (1 where rows always go together), ``dispersion``, ``relative_error``

        Examples
        --------
        >>> import numpy as np, ritz
        >>> rng = np.random.default_rng(0)
        >>> X = np.kron(np.eye(3), np.ones((20, 4))) + 0.1 * rng.random((60, 12))
        >>> told = ritz.NMF().choose_k(X, (2, 3, 4))
        >>> max(told, key=lambda one: one.cophenetic).k
        3
        """
        made = []
        with unsaid():
            for k in candidates:
                fits = []
                for run in range(runs):
                    seed = int(seed_of(self.random_state)) * 1000 + run
                    given = {**self.get_params(deep=False), "n_components": int(k), "init": "random",
                             "random_state": seed, "max_iter": min(self.max_iter, 300)}  # fmt: skip
                    model = type(self)(**given).fit(X)
                    fits.append((np.asarray(model.transform(X)), model.relative_error_))
                made.append(consensus(int(k), fits))
        return made

    def _check_parameters(self) -> None:
        super()._check_parameters()
        for name, allowed in (("loss", LOSSES), ("init", INITS)):
            if getattr(self, name) not in allowed:
                raise ParameterError(f"{name} must be one of {', '.join(map(repr, allowed))}",
                                     received=repr(getattr(self, name)), hint=f"{name}={allowed[0]!r}")  # fmt: skip
        value = self.max_iter
        if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < 1:
            raise ParameterError(
                "max_iter must be a whole number from 1 on", received=repr(value), hint="max_iter=2000"
            )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags


def _require_no_weights(sample_weight: Any) -> None:
    if sample_weight is not None:
        raise ParameterError("NMF takes every row once", received="sample_weight", hint="leave it out")


def _require_positive(rows: Any, names: Any, start: int = 0) -> None:
    """Refuse negative numbers, and say where the first one is."""
    for block in blocks_of(rows).each():
        X = block.values
        low = X.data if hasattr(X, "tocsr") else X
        if low.size == 0 or not float(np.min(low)) < 0:
            continue
        dense = X.toarray() if hasattr(X, "tocsr") else np.asarray(X)
        i, j = (int(place) for place in np.argwhere(dense < 0)[0])
        column = j if names is None else repr(str(names[j]))
        raise InputError(
            "Negative values in data passed to NMF, which takes numbers from 0 on",
            received=f"{dense[i, j]:.6g} in row {start + block.start + i}, column {column}",
            hint="leave out such columns, or use ritz.PCA",
        )  # fmt: skip


def _of_start(plan: Plan) -> Plan:
    """The plan of the singular pairs that sweeps begin with; how many of those follow, the data say."""
    return replace(plan, reasons=(*plan.reasons, "of the singular pairs that sweeps over the rows start from"))
