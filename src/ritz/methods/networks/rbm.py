"""Restricted Boltzmann machine: rows of numbers in [0, 1] as chances of ones, explained by k hidden switches.   [Hin02]

    p(v, h) ∝ exp(b·v + c·h + vᵀWh)      P(h = 1 | v) = σ(c + vW)      P(v = 1 | h) = σ(b + hWᵀ)         W (d×k)
    F(v) = −b·v − Σ_j log(1 + exp(c_j + v·w_j))        free energy: −log p(v) up to the constant log Z

scikit-learn's BernoulliRBM trains by persistent contrastive divergence [Tie08]. That has no proof: it follows an
estimate of a gradient and has no loss to look at. What is told is computed by Ritz from the weights: free energies,
reconstructions, and for few hidden units log Z itself, by adding up all their states.
"""

from __future__ import annotations

import numbers
import time
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logsumexp

from ritz._core.bases import check_is_fitted
from ritz._core.errors import InputError, ParameterError
from ritz._core.progress import using
from ritz._core.random import seed_of
from ritz._core.warn import unsaid
from ritz.data.passes.blocks import are_blocks
from ritz.data.validate import require_finite, validate_rows
from ritz.methods.fitted.about import About
from ritz.methods.fitted.network import OfNetwork
from ritz.methods.linear_record import NetworkRecord
from ritz.methods.method import Method
from ritz.methods.pca import PCA
from ritz.methods.posed import Posed, rows_that_count
from ritz.methods.record import keep
from ritz.methods.verify.again import refound
from ritz.project.linear import LinearMap, result_dtype
from ritz.spectral.plan import Plan
from ritz.spectral.verify import Verification

__all__ = ["RBM"]

Floats = NDArray[np.float64]

#: Change of a chance below which turns of mean field rest.
RESTED = 1e-6
#: Hidden units up to which log Z is computed, by adding up 2^k states.
COUNTED = 16
HONEST = (
    "contrastive divergence has no proof and no loss: another start, or more passes, may give another machine. The "
    "eigenvalues are those of the ordinary components"
)


@dataclass(frozen=True)
class RBMMap(LinearMap):
    """From rows to the chances of hidden units, and back to the chances of ones."""

    bias: Any = None  # (k,)
    back: Any = None  # (d,)

    def forward(self, X: Any, dtype: Any = None, start: int = 0, lengths: Any = None, there: bool = False) -> Any:
        """P(h = 1 | v), (n, k)."""
        out = super().forward(X, np.float64, start)
        return np.asarray(expit(out + self.bias)).astype(result_dtype(X.dtype) if dtype is None else dtype)

    def backward(self, T: Any) -> Any:
        """P(v = 1 | h) at the chances of the hidden units, (n, d)."""
        T = np.asarray(T)
        V = expit(T.astype(np.float64) @ self.components + self.back)
        return np.asarray(V).astype(result_dtype(T.dtype), copy=False)


class RBM(Method):
    """A restricted Boltzmann machine, trained by scikit-learn's BernoulliRBM.

    Parameters
    ----------
    n_components : int
        Hidden units.
    learning_rate, batch_size : float, int
        Of the training.
    max_epochs : int
        Passes over the rows.
    solver, tol, random_state, memory, device, progress
        As for :class:`ritz.PCA`; ``random_state`` draws the start and the samples.

    Attributes
    ----------
    components_ : (k, d) weights Wᵀ
    intercept_hidden_, intercept_visible_ : (k,), (d,) c and b
    embedding_ : (n, k) chances of the hidden units of the rows of the fit
    explained_variance_ : (k,) their variances
    reconstruction_error_, pca_error_ : mean squared error of an entry, by the machine and by as many components
    log_partition_ : log Z, for at most 16 hidden units; NaN otherwise
    log_likelihood_ : mean log-likelihood of the rows of the fit, where log Z is known; of rows of zeros and ones
    mean_ : (d,) of the rows
    certificate_ : of the ordinary components; the machine itself is not certified
    n_iter_, plan_, n_components_, n_samples_, n_features_in_

    Examples
    --------
    >>> import numpy as np, ritz
    >>> rng = np.random.default_rng(0)
    >>> left = rng.random(300) < 0.5                                # six pixels: the left three are on, or the right
    >>> X = np.column_stack([np.repeat(left[:, None], 3, 1), np.repeat(~left[:, None], 3, 1)]).astype(float)
    >>> rbm = ritz.RBM(2, max_epochs=100).fit(X)
    >>> usual, odd = rbm.free_energy([[1, 1, 1, 0, 0, 0], [1, 0, 1, 0, 1, 0]])
    >>> bool(usual < odd)                                           # what was never seen has a higher energy
    True
    """

    about: ClassVar[About] = About(
        "Restricted Boltzmann machine", "rbm", "H", measure="variance", whole="variance of the coordinates",
        component="unit", behind="the ordinary components of the same rows", cites=("[Hin02]", "[Tie08]"),
        paper="G. E. Hinton, Training products of experts by minimizing contrastive divergence, Neural Computation 14 "
        "(2002), 1771–1800.",
    )  # fmt: skip
    fitted: ClassVar[type[OfNetwork]] = OfNetwork
    _records: ClassVar[type[NetworkRecord]] = NetworkRecord
    _record: NetworkRecord

    def __init__(
        self, n_components: Any = 64, *, learning_rate: float = 0.05, batch_size: int = 10, max_epochs: int = 20,
        solver: str = "auto", tol: float = 1e-6, random_state: Any = 0, memory: Any = None, device: str = "cpu",
        progress: Any = None,
    ) -> None:  # fmt: skip
        self.n_components = n_components
        self.learning_rate = learning_rate
        self.batch_size = batch_size
        self.max_epochs = max_epochs
        self.solver = solver
        self.tol = tol
        self.random_state = random_state
        self.memory = memory
        self.device = device
        self.progress = progress

    def pose(self, rows: Any, weights: Floats | None) -> Posed:
        """Rows of numbers in [0, 1], in memory."""
        if are_blocks(rows):
            raise InputError("a Boltzmann machine goes over its rows many times, and needs them in memory",
                             received="rows that are read in pieces", hint="fit a sample of the rows")  # fmt: skip
        rows_that_count(self, rows, weights)
        if weights is not None and len(np.unique(weights)) > 1:
            raise ParameterError("weights of a Boltzmann machine say which rows take part",
                                 received="weights of several sizes",
                                 hint="np.repeat(X, weights, axis=0) repeats rows")  # fmt: skip
        _require_shares(rows, getattr(self, "feature_names_in_", None))
        k = min(int(self.n_components), *(side - i for i, side in enumerate(rows.shape[::-1])))
        options = {"solver": self.solver, "tol": self.tol, "random_state": self.random_state, "memory": self.memory}
        return Posed(rows=rows, kept=PCA(max(k, 1), mergeable=False, **options))

    def _plan(self, posed: Posed) -> Plan:
        n, d = posed.rows.shape
        size, epochs = d * int(self.n_components), int(self.max_epochs)
        reasons = (f"scikit-learn's BernoulliRBM: {epochs:,} passes over the rows, {size:,} weights",)
        return Plan("contrastive divergence", "rows", "float64", epochs, 2e-9 * size * n * epochs, 16.0 * size, reasons)

    def _solved(self, posed: Posed, plan: Any) -> Any:
        from sklearn.neural_network import BernoulliRBM

        began = time.perf_counter()
        with using(self.progress, type(self).__name__), unsaid():
            pca = posed.kept.fit(posed.rows)
            machine = BernoulliRBM(
                int(self.n_components), learning_rate=float(self.learning_rate), batch_size=int(self.batch_size),
                n_iter=int(self.max_epochs), random_state=seed_of(self.random_state) % 2**32,
            ).fit(posed.rows)  # fmt: skip
        return pca, machine, plan.done(int(self.max_epochs), time.perf_counter() - began)

    def read(self, solution: Any, posed: Posed) -> None:
        """Weights, chances of the hidden units, and what can be computed exactly."""
        pca, machine, plan = solution
        dtype, n = result_dtype(posed.rows.dtype), int(posed.rows.shape[0])
        W = np.asarray(machine.components_, np.float64)
        b, c = np.asarray(machine.intercept_visible_, np.float64), np.asarray(machine.intercept_hidden_, np.float64)
        keep(self, loadings=W.T, hidden=c, visible=b, mean64=np.zeros(len(b)), dtype=np.dtype(dtype), weight=float(n))
        self.components_ = W.astype(dtype)
        self.intercept_hidden_, self.intercept_visible_ = c.astype(dtype), b.astype(dtype)
        self.mean_, self.n_iter_, self.n_components_, self.n_samples_ = pca.mean_, int(self.max_epochs), len(W), n
        self.certificate_, self.plan_ = pca.certificate_, plan
        self.log_partition_ = _log_partition(W, b, c) if len(W) <= COUNTED else float("nan")
        H = np.asarray(self._map().forward(posed.rows, np.float64))
        self.embedding_, self.explained_variance_ = H.astype(dtype), np.var(H, axis=0, ddof=1).astype(dtype)
        rows = _dense(posed.rows)
        self.reconstruction_error_ = float(np.mean(np.square(rows - self._map().backward(H))))
        self.pca_error_ = float(np.mean(np.square(rows - pca.inverse_transform(pca.transform(rows)))))
        self.log_likelihood_ = -float(np.mean(self._energies(rows))) - self.log_partition_
        shown = (f"mean squared error of an entry {self.reconstruction_error_:.4g}, by {pca.n_components_} components "
                 f"{self.pca_error_:.4g}")  # fmt: skip
        self.certificate_ = replace(pca.certificate_, notes=(*pca.certificate_.notes, HONEST, shown))

    # rows

    def _map(self) -> RBMMap:
        check_is_fitted(self)
        r, names = self._record, getattr(self, "feature_names_in_", None)
        return RBMMap(r.loadings.T, None, None, None, names, None, bias=r.hidden, back=r.visible)

    def _energies(self, rows: Any) -> Floats:
        r = self._record
        V = _dense(rows)
        return np.asarray(-V @ r.visible - np.logaddexp(0.0, V @ r.loadings + r.hidden).sum(axis=1))

    def free_energy(self, X: Any) -> Floats:
        """F of every row, (n,): the higher, the odder; differences are those of −log p.

        Parameters
        ----------
        X : array-like, sparse matrix, frame or Table of shape (n, d), numbers in [0, 1]
        """
        check_is_fitted(self)
        rows = validate_rows(self, X, reset=False)
        _require_shares(rows, getattr(self, "feature_names_in_", None))
        return self._energies(rows)

    def score_samples(self, X: Any) -> Floats:
        """Minus the free energy: higher is more normal. Less ``log_partition_`` it is the log-likelihood of a row.

        Examples
        --------
        >>> import numpy as np, ritz
        >>> X = np.repeat([[1, 1, 0, 0], [0, 0, 1, 1]], 30, axis=0)
        >>> model = ritz.RBM(2).fit(X)
        >>> bool(np.allclose(model.score_samples(X), -model.free_energy(X)))
        True
        """
        return -self.free_energy(X)

    def score(self, X: Any, y: Any = None) -> float:
        """Mean of ``score_samples``."""
        return float(np.mean(self.score_samples(X)))

    def reconstruction_error(self, X: Any) -> Floats:
        """Mean squared error of an entry of each row, rebuilt from the chances of its hidden units, (n,).

        Examples
        --------
        >>> import numpy as np, ritz
        >>> X = np.repeat([[1, 1, 0, 0], [0, 0, 1, 1]], 30, axis=0)
        >>> model = ritz.RBM(2).fit(X)
        >>> rebuilt = model.inverse_transform(model.transform(X))
        >>> bool(np.allclose(model.reconstruction_error(X), np.mean((X - rebuilt) ** 2, axis=1)))
        True
        """
        check_is_fitted(self)
        rows, step = validate_rows(self, X, reset=False), self._map()
        return np.asarray(np.mean(np.square(_dense(rows) - step.backward(step.forward(rows, np.float64))), axis=1))

    def denoise(self, X: Any, noise: float, steps: int = 100) -> Floats:
        """Chances of ones behind rows that normal noise was added to, (n, d).

        P(v = 1 | y, h) = σ(b + hWᵀ + (2y − 1)/2s²) and P(h = 1 | v) in turns until both rest (mean field): the row and
        the machine are weighed against each other. ``inverse_transform(transform(X))`` takes every noisy number at its
        word instead, and takes little noise off.

        Parameters
        ----------
        X : array-like or frame of shape (n, d), any finite numbers
        noise : float
            Standard deviation s of the noise, in units in which rows of the fit lie between 0 and 1. Where these are
            shades rather than zeros and ones, a larger one, chosen on rows set aside, leaves less.
        steps : int
            Turns at most.

        Examples
        --------
        >>> import numpy as np, ritz
        >>> rng = np.random.default_rng(0)
        >>> X = np.repeat([[1.0, 1, 1, 0, 0, 0], [0, 0, 0, 1, 1, 1]], 100, axis=0)
        >>> rbm = ritz.RBM(2, max_epochs=100).fit(X)
        >>> noisy = X + 0.5 * rng.standard_normal(X.shape)
        >>> bool(np.mean((rbm.denoise(noisy, 0.5) - X) ** 2) < 0.1 * np.mean((noisy - X) ** 2))
        True
        """
        check_is_fitted(self)
        if not isinstance(noise, numbers.Real) or isinstance(noise, bool) or not 0 < float(noise) < float("inf"):
            raise ParameterError("noise must be a positive number", received=repr(noise), hint="noise=0.25")
        rows = validate_rows(self, X, reset=False)
        Y, r = _dense(rows), self._record
        if not np.isfinite(Y).all():
            require_finite(rows, getattr(self, "feature_names_in_", None))
        pull = r.visible + (2 * Y - 1) / (2 * float(noise) ** 2)
        V = np.clip(Y, 0.0, 1.0)
        for _ in range(int(steps)):
            before, V = V, np.asarray(expit(pull + expit(V @ r.loadings + r.hidden) @ r.loadings.T))
            if float(np.max(np.abs(V - before), initial=0.0)) <= RESTED:
                break
        return V.astype(result_dtype(rows.dtype), copy=False)

    def verify(self, X: Any, sample_weight: Any = None) -> Verification:
        """Check the certificate of the ordinary components, and what is told of the machine, from the rows.

        Whether another machine would be better is not checked: nobody knows.

        Parameters
        ----------
        X : what fit took
        sample_weight : None

        Examples
        --------
        >>> import numpy as np, ritz
        >>> X = (np.random.default_rng(0).random((60, 5)) < 0.3).astype(float)
        >>> rbm = ritz.RBM(3).fit(X)
        >>> bool(rbm.verify(X)), bool(rbm.verify(1 - X))
        (True, False)
        """
        check_is_fitted(self)
        rows, _ = self._rows(X, sample_weight, reset=False)
        checked: Verification = self.certificate_.verify(rows)
        wrong = [] if checked.ok else list(checked.words)
        own, close = float(np.mean(self.reconstruction_error(X))), 1e-5 if self._record.dtype == np.float32 else 1e-9
        if not abs(own - self.reconstruction_error_) <= close * max(own, 1e-12):
            wrong.append(f"rows are rebuilt with an error of {own:.6g}, told {self.reconstruction_error_:.6g}")
        H = np.asarray(self._map().forward(rows, np.float64))
        if H.shape != self.embedding_.shape or not float(np.max(np.abs(H - self.embedding_))) <= close:
            wrong.append("embedding_ is not what the machine makes of the rows")
        r, loose = self._record, close * (1 + float(np.abs(H).max()))
        for a, b in ((self.components_, r.loadings.T), (self.intercept_hidden_, r.hidden),
                     (self.intercept_visible_, r.visible)):  # fmt: skip
            if np.shape(a) != np.shape(b) or not float(np.max(np.abs(a - b))) <= loose:
                wrong.append("components_ or intercepts are not the weights of the machine")
        wrong += self._likelihood_wrong(rows, H, close)
        wrong += refound(self, lambda other: other.fit(X), place=("embedding_",))
        said = (*checked.words, f"rows are rebuilt with a mean squared error of {own:.6g}; nothing is known of others")
        return replace(checked, ok=not wrong, words=tuple(wrong or said))

    def _likelihood_wrong(self, rows: Any, H: Floats, close: float) -> list[str]:
        """Numbers that do not follow from the weights and the rows, in words."""
        r = self._record
        counted = len(r.hidden) <= COUNTED
        whole = _log_partition(r.loadings.T, r.visible, r.hidden) if counted else float("nan")
        expected = {
            "log_partition_": whole, "log_likelihood_": -float(np.mean(self._energies(rows))) - whole,
            "explained_variance_": np.var(H, axis=0, ddof=1),
        }  # fmt: skip
        return [
            f"{name} does not follow from the weights of the machine"
            for name, value in expected.items()
            if not np.allclose(getattr(self, name), value, rtol=10 * close, atol=close, equal_nan=True)
        ]

    def _check_parameters(self) -> None:
        super()._check_parameters()
        for name in ("n_components", "batch_size", "max_epochs"):
            value = getattr(self, name)
            if not isinstance(value, numbers.Integral) or isinstance(value, bool) or value < 1:
                raise ParameterError(f"{name} must be a whole number ≥ 1", received=repr(value), hint=f"{name}=10")
        rate = self.learning_rate
        if not isinstance(rate, numbers.Real) or isinstance(rate, bool) or not 0 < float(rate) < float("inf"):
            raise ParameterError("learning_rate must be a positive number", received=repr(rate), hint="0.05")


def _dense(rows: Any) -> Floats:
    return np.asarray(rows.toarray() if hasattr(rows, "toarray") else rows, np.float64)


def _require_shares(rows: Any, names: Any) -> None:
    """Refuse numbers that are no chances."""
    values = rows.data if hasattr(rows, "toarray") else rows
    if not np.isfinite(values).all():
        require_finite(rows, names)
    low, high = float(np.min(values, initial=0.0)), float(np.max(values, initial=0.0))
    if low < 0 or high > 1:
        raise InputError(
            "a Boltzmann machine takes numbers in [0, 1], the chances of ones",
            received=f"numbers from {low:g} to {high:g}",
            hint="sklearn.preprocessing.minmax_scale(X), or X > threshold",
        )  # fmt: skip


def _log_partition(W: Floats, b: Floats, c: Floats) -> float:
    """log Z = log Σ_h exp(c·h + Σ_i log(1 + exp(b_i + (hW)_i))) over all 2^k states of the hidden units."""
    k = len(W)
    parts = []
    for start in range(0, 1 << k, 1 << 10):
        states = np.arange(start, min(start + (1 << 10), 1 << k))
        h = ((states[:, None] >> np.arange(k)) & 1).astype(np.float64)
        parts.append(logsumexp(h @ c + np.logaddexp(0.0, b + h @ W).sum(axis=1)))
    return float(logsumexp(parts))
