"""A fitted PCA or SVD as what rows are drawn from.

A = (X − 1μᵀ) D_σ⁻¹ (n×d) in the frame of the fit,   t = A V,   u_j = t_j² − λ_j      what a row adds to λ_j
columns standardised anew   u_j = t_j² − λ_j Σₘ v²ₘⱼa²ₘ
shares λ_j/tr               u_j = t_j² − (λ_j/tr)‖a‖²
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import InputError, MemoryLimitError, ParameterError
from ritz._core.memory import limit
from ritz._core.random import seed_of
from ritz.data.passes.blocks import are_blocks
from ritz.data.passes.sampled import take_dense
from ritz.data.validate import require_finite, validate_rows, validate_weights
from ritz.insight.axes.of_model import axis_names
from ritz.insight.bootstrap.draws import Sample, drawn
from ritz.insight.bootstrap.groups import aligned, cross, group_of, grouped, neighbour_p
from ritz.insight.bootstrap.intervals import Intervals, acceleration, interval, log_error, studentized
from ritz.insight.bootstrap.words import group_notes
from ritz.methods.fitted import fitted_of
from ritz.spectral.plan import size_words

__all__ = ["Fit", "fitted", "new_rows", "weighted_squares"]

Floats = NDArray[np.float64]

#: Components that are looked at unless more are asked for.
MOST = 50
#: Relative difference of sums up to which rows are taken to be those of the fit; float32 rows leave 1e-6.
SAME_ROWS = 1e-3


@dataclass
class Fit:
    """A model, its rows, and what the rows say about its own eigenvalues."""

    model: Any
    sample: Sample
    components: Floats  # (k, d)
    values: Floats  # (k,)
    total: float
    notes: list[str]

    @property
    def scores(self) -> Floats:
        """(n, k) of the rows."""
        return self.sample.A @ self.components.T

    @property
    def k(self) -> int:
        """Components."""
        return len(self.components)

    # what rows add

    def own(self) -> tuple[Floats, Floats]:
        """Values and components of the rows themselves, one more than the model is asked for: (k + 1,), (k + 1, d)."""
        s = self.sample
        more = int(min(self.k + 1, s.A.shape[1], s.n - s.center))
        weights = np.ones(s.n) if s.weights is None else s.weights
        alone = Sample(s.A, s.weights, s.center, s.rescale, s.less, s.seed, 0, weights[None])
        padded = np.zeros((more, s.A.shape[1]))
        padded[: min(more, self.k)] = self.components[:more]
        draw = drawn(alone, padded, 1)
        W = draw.W[0]
        V = s.A.T @ W if alone.wide else W
        return draw.values[0], V.T

    def influences(self) -> tuple[Floats, Floats]:
        """What every row adds to the logarithms of eigenvalues and of shares, (n, k) each."""
        squares = np.square(self.scores) / np.maximum(self.values, 1e-300)
        if self.sample.rescale:
            u = squares - weighted_squares(self.sample.A, np.square(self.components).T)
            return u, u
        lengths = np.einsum("ij,ij->i", self.sample.A, self.sample.A)
        return squares - 1.0, squares - lengths[:, None] / max(self.total, 1e-300)

    def neighbours(self) -> Floats:
        """p-values of equal eigenvalues of components 1 and 2, …, k and k + 1 where there is one."""
        values, V = self.own()
        scores, pairs = self.sample.A @ V.T, range(len(values) - 1)
        p = []
        for j in pairs:
            e = []
            for a, b in ((j, j), (j + 1, j + 1), (j, j + 1)):
                columns = None
                if self.sample.rescale:
                    columns = weighted_squares(self.sample.A, (V[a] * V[b])[:, None])[:, 0]
                e.append(cross(scores, a, b, values, columns))
            p.append(neighbour_p((e[0], e[1], e[2]), float(values[j] - values[j + 1]), self.sample.weights))
        return np.asarray(p)

    # draws

    def draw(self, result: Any, n_boot: int, level: float, align: str, method: str | None) -> Any:
        """Draw, align, and form the intervals."""
        p = self.neighbours()
        runs = grouped(p, self.k)
        draws = drawn(self.sample, self.components, n_boot)
        together = [run for run, _ in runs]
        if align != "groups":
            together = [[j] for j in range(self.k)] if align == "signs" else [list(range(self.k))]
        T = aligned(draws.turned, together)
        ratio = self.values / max(self.total, 1e-300)
        drawn_shares = draws.values / np.maximum(draws.totals, 1e-300)[:, None]
        pairs = zip((self.values, ratio), (draws.values, drawn_shares), self.influences(), range(2), strict=True)
        eigenvalues, shares = (self._interval(*pair, draws.errors, level, method) for pair in pairs)
        names = axis_names(self.model, self.k)
        groups = tuple(
            group_of(names, self.values, draws.values, draws.turned, run, more, p, level) for run, more in runs
        )
        return result(
            eigenvalues, shares, groups, level, n_boot, self.sample.total, (*self.notes, *group_notes(groups)), self,
            draws, T, method,
        )  # fmt: skip

    def _interval(
        self, estimate: Floats, draws: Floats, u: Floats, which: int, errors: Floats, level: float, method: str | None
    ) -> Intervals:
        """Of eigenvalues or shares; u (n, k) what each row adds to their logarithms."""
        if method in (None, "studentized"):
            own = log_error(u, self.sample.weights)
            bounds = studentized(draws.T, estimate, level, own, errors[:, which].T)
            return replace(bounds, high=np.minimum(bounds.high, 1.0)) if which else bounds
        return interval(draws.T.copy(), estimate, level, str(method), acceleration(u, self.sample.weights))


def weighted_squares(A: Floats, Q: Floats) -> Floats:
    """A² Q, (n, k), some rows at a time."""
    height = max(1, 2_000_000 // max(A.shape[1], 1))
    return np.concatenate([np.square(A[i : i + height]) @ Q for i in range(0, len(A), height)])


# from a model and its rows


def fitted(
    model: Any, X: Any, sample_weight: Any, n_components: int | None, rescale: bool, counts: Any, memory: Any,
    random_state: Any, n_boot: int,
) -> Fit:  # fmt: skip
    """The fit, with its rows in memory."""
    method = fitted_of(model)
    if method.resamples is None or not method.stands_on_rows:
        method.refuse("bootstrap", hint="refit clones on rows drawn with replacement, and compare(a, b) them")
    components = np.asarray(model.components_, np.float64)  # read first: it solves a pending state
    rows = validate_rows(model, X, reset=False)
    n, d = (int(size) for size in rows.shape)
    weights = None if sample_weight is None else validate_weights(sample_weight, n)
    k, notes = _how_many(n_components, len(components), n)
    _room(n, d, k, n_boot, limit(memory if memory is not None else model.memory), are_blocks(rows))
    A = _framed(model, _dense(model, rows, n, weights))
    center, scaled = method.centered, getattr(model, "scale_", None) is not None
    less = method.estimated
    given = None if counts is None else _given(counts, n_boot, n, float(n if weights is None else np.sum(weights)))
    sample = Sample(A, weights, center, scaled and rescale, less, seed_of(random_state), k + 1 + center, given)
    if scaled and not rescale:
        notes.append("the scales of the columns are those of the fit in every draw")
    N = sample.total
    values = np.square(np.asarray(model.singular_values_, np.float64)) / max(N - less, 1.0)
    fit = Fit(model, sample, components[:k], values[:k], float(model.certificate_.total) / max(N - less, 1.0), notes)
    _same_rows(fit, n, weights)
    return fit


def _how_many(asked: int | None, k: int, n: int) -> tuple[int, list[str]]:
    most = max(1, int(0.45 * n) - 2)  # a draw holds about 0.63 n different rows
    if asked is not None:
        if not (isinstance(asked, (int, np.integer)) and 1 <= asked <= k):
            raise ParameterError(f"n_components must be from 1 to {k}", received=repr(asked))
        if asked > most:
            raise ParameterError(
                f"draws of {n} rows hold too few different ones for so many components",
                received=f"n_components={asked}", hint=f"n_components={most}",
            )  # fmt: skip
        return int(asked), []
    if k < 1:
        raise ParameterError("expected a model with components", received="n_components_=0")
    kept = min(k, MOST, most)
    return kept, [f"the first {kept} of {k} components"] * (kept < k)


def _room(n: int, d: int, k: int, n_boot: int, allowed: float, outside: bool) -> None:
    """Refuse what does not fit: the rows, and what is kept of the draws."""
    small = min(n, d)
    need = 8.0 * (2.0 * n * d + 2.0 * n_boot * small * k + 3.0 * small * small)
    if need > allowed:
        where = "are outside memory, and " if outside else ""
        raise MemoryLimitError(
            f"bootstrap draws from rows in memory: {n:,}×{d:,} and {n_boot:,} draws of {k} components need "
            f"{size_words(need)}",
            received=f"rows that {where}a limit of {size_words(allowed)}",
            hint="fit and draw from a sample of the rows, or pass fewer n_components, fewer n_boot, or memory=…",
        )


def _dense(model: Any, rows: Any, n: int, weights: Floats | None = None) -> Floats:
    if not isinstance(rows, np.ndarray):
        rows = take_dense(rows, np.arange(n))
    A = np.array(rows, np.float64, order="C")
    if weights is not None:
        absent = np.flatnonzero(weights == 0)
        A[absent[~np.isfinite(A[absent]).all(axis=1)]] = 0.0  # rows of weight zero may hold anything
    require_finite(A, getattr(model, "feature_names_in_", None))
    return A


def _framed(model: Any, A: Floats) -> Floats:
    """Rows in the frame of the fit, in place."""
    fitted = fitted_of(model)
    if fitted.mean is not None:
        A -= np.asarray(fitted.mean, np.float64)
        A -= 0.0 if fitted.mean_low is None else np.asarray(fitted.mean_low, np.float64)
    if fitted.scale is not None:
        A /= np.asarray(fitted.scale, np.float64)
    return A


def new_rows(model: Any, X: Any) -> Floats:
    """Other rows in the frame of the fit, (m, d)."""
    rows = validate_rows(model, X, reset=False)
    return _framed(model, _dense(model, rows, int(rows.shape[0])))


def _given(counts: Any, n_boot: int, n: int, total: float) -> Floats:
    given = np.asarray(counts, np.float64)
    if given.shape == (n_boot, n) and not np.allclose(given.sum(axis=1), total):
        raise InputError(
            f"every draw holds as many rows as the fit, {total:g}",
            received=f"a first draw of {given.sum(axis=1)[0]:g}",
            hint="draw counts from a multinomial distribution",
        )
    if given.shape != (n_boot, n) or not bool(np.all(given >= 0)):
        raise InputError(
            f"counts needs how often each of {n} rows is in each of {n_boot} draws, shape ({n_boot}, {n})",
            received=f"shape {given.shape}",
        )
    return given


def _same_rows(fit: Fit, n: int, weights: Floats | None) -> None:
    """Refuse rows that the model was not fitted to: intervals would be about another question."""
    w = np.ones(n) if weights is None else weights
    N, A = fit.sample.total, fit.sample.A
    total = float(np.einsum("i,ij,ij->", w, A, A)) / max(N - fit.sample.less, 1.0)
    spread = w @ np.square(fit.scores) / max(N - fit.sample.less, 1.0)
    top = float(np.max(fit.values, initial=0.0))
    same = abs(total - fit.total) <= SAME_ROWS * fit.total
    if not (same and bool(np.all(np.abs(spread - fit.values) <= SAME_ROWS * top))):
        raise InputError(
            "bootstrap draws from the rows of the fit",
            received=f"rows with a variance of {total:.4g} where the fit has {fit.total:.4g}",
            hint="pass the same X and sample_weight as to fit",
        )
