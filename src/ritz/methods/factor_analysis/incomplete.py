"""Factor analysis of rows with gaps: what the estimator does around EM (``fiml.py``).

any Σ → how many factors → the factor model → its expected covariance, which names loadings, scores and certificate
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import InputError
from ritz.data.passes.blocks import are_blocks
from ritz.methods.factor_analysis.fiml import Expected, Gaps, fill_rows, maximise, state_of
from ritz.methods.factor_analysis.fit import fit_uniquenesses, principal_axes_loadings
from ritz.methods.rank.linear import state_material
from ritz.methods.record import keep
from ritz.methods.scaling import spread_of

__all__ = ["filling_map", "has_gaps", "name_incomplete", "observed_likelihood", "solve_incomplete"]

Floats = NDArray[np.float64]

#: Gain of the likelihood, a row, at which EM ends, and steps at most beside ``max_iter``.
STILL = 1e-13


def has_gaps(rows: Any) -> bool:
    """Whether rows in memory have gaps; rows outside memory are refused, sparse ones have none."""
    if are_blocks(rows):
        raise InputError(
            "missing='fiml' looks at the rows many times, so it needs them in memory",
            received=f"{rows.shape[0]:,} × {rows.shape[1]:,} that stay outside",
            hint="give more memory, or let PCA(missing='regularized') fill the gaps first",
        )
    return isinstance(rows, np.ndarray) and rows.dtype.kind == "f" and bool(np.isnan(rows).any())


@dataclass(frozen=True)
class Incomplete:
    """A factor model of rows with gaps."""

    estimated: Any
    state: Any
    last: tuple[Floats, Floats]  # μ and Σ of the last E step, in the units of the data
    chi2: float
    words: str


def solve_incomplete(model: Any, posed: Any) -> Incomplete:
    """EM for any covariance, then for that of the factors."""
    from ritz.methods.factor_analysis.factor_analysis import Standardised

    X = np.asarray(posed.rows, np.float64)
    gaps = Gaps.of(X, posed.weights, getattr(model, "feature_names_in_", None))
    rows = int(np.count_nonzero(~np.isnan(X).all(axis=1)))
    begin = np.zeros(gaps.d), np.eye(gaps.d)
    whole, expected, first = maximise(gaps, _definite, begin, model.max_iter, STILL)
    state = state_of(gaps, expected, rows)
    spread = spread_of(state, model)
    k, _ = model._number(state, spread, partial(state_material, Standardised(model), state))

    def factors(S: Floats) -> Floats:
        root = np.sqrt(np.diag(S))
        R = S / np.outer(root, root)
        options = (model.method, model.min_uniqueness, model.max_iter, model.tol)
        psi = fit_uniquenesses(R, min(k, len(R)), *options).uniquenesses
        half = np.sqrt(psi)
        if model.method == "ml":
            e, V = np.linalg.eigh(R / np.outer(half, half))
            L = half[:, None] * V[:, ::-1][:, :k] * np.sqrt(np.maximum(e[::-1][:k] - 1, 0.0))
        else:
            L = principal_axes_loadings(R, psi, k)
        return np.asarray((L @ L.T + np.diag(psi)) * np.outer(root, root))

    last, settled, second = maximise(gaps, factors, (whole[0], factors(expected.covariance)), model.max_iter, STILL)
    state = state_of(gaps, settled, rows)
    spread = spread_of(state, model)
    estimated = model._estimated(state, spread, k, None)
    chi2 = 2 * max(expected.likelihood - settled.likelihood, 0.0)
    share = float(np.isnan(X).mean())
    words = (
        f"{100 * share:.1f} % of the entries are missing: full information maximum likelihood, {first} and {second} "
        "steps "
        "of EM; the certificate is about the covariance that the model expects of complete rows"
    )
    mean = gaps.center + last[0] * gaps.unit
    sigma = last[1] * np.outer(gaps.unit, gaps.unit)
    return Incomplete(estimated, state, (mean, sigma), chi2, words)


def _definite(S: Floats) -> Floats:
    """S, with a little on its diagonal where rows leave it singular."""
    low = float(np.linalg.eigvalsh(S)[0])
    return S if low > 1e-10 else S + (1e-10 - low) * np.eye(len(S))


def name_incomplete(model: Any, found: Incomplete) -> None:
    """Name the results."""
    from scipy.special import chdtrc

    estimated, state = found.estimated, found.state
    model._name(estimated, state, np.dtype(np.float64))
    certificate = estimated.solution.certificate
    model.n_iter_ = estimated.iterations
    model.certificate_ = replace(certificate, notes=(*certificate.notes, *estimated.told, found.words))
    model.plan_ = estimated.solution.plan
    if model.dof_ > 0:
        model.chi2_, model.p_value_ = found.chi2, float(chdtrc(model.dof_, found.chi2))
    keep(model, em_mean=found.last[0], em_sigma=found.last[1])
    model._record.rest_variance = model._off(state, None)


def expected_state(model: Any, X: Any, weights: Any) -> Any:
    """The state of the certificate, made anew of the rows of the fit."""
    X = np.asarray(X, np.float64)
    gaps = Gaps.of(X, weights, getattr(model, "feature_names_in_", None))
    mean = (model._record.em_mean - gaps.center) / gaps.unit
    sigma = model._record.em_sigma / np.outer(gaps.unit, gaps.unit)
    found: Expected = gaps.step(mean, sigma)
    return state_of(gaps, found, int(np.count_nonzero(~np.isnan(X).all(axis=1))))


def observed_likelihood(X: Floats, mean: Floats, sigma: Floats) -> Floats:
    """log p of what is observed of every row, (n,); 0 of a row of which nothing is."""
    there, out = ~np.isnan(X), np.zeros(len(X))
    for pattern in np.unique(there, axis=0):
        rows, o = np.flatnonzero((there == pattern).all(axis=1)), np.flatnonzero(pattern)
        L = np.linalg.cholesky(sigma[np.ix_(o, o)])
        u = np.linalg.solve(L, (X[np.ix_(rows, o)] - mean[o]).T)
        logdet = 2 * float(np.sum(np.log(np.diag(L))))
        out[rows] = -0.5 * (np.square(u).sum(axis=0) + logdet + len(o) * np.log(2 * np.pi))
    return out


def filling_map(model: Any, kind: Any) -> Any:
    """The map from rows to scores; of a model of rows with gaps, one that fills them by what the model expects."""
    if model.missing != "fiml":
        return kind
    sigma, mean = model.get_covariance(), np.asarray(model._record.mean64, np.float64)

    class Filling(kind):
        """Gaps hold what the factors expect of them given the rest of the row."""

        def forward(self, X: Any, *given: Any, **named: Any) -> Any:
            gapped = isinstance(X, np.ndarray) and X.dtype.kind == "f" and bool(np.isnan(X).any())
            return super().forward(fill_rows(X, mean, sigma) if gapped else X, *given, **named)

    return Filling
