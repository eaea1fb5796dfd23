"""Rows drawn again, and the decomposition of each draw in the smaller space.

    A (n×d) the rows in the frame of the fit,   c ~ multinomial(N, w/N) counts of a draw,   m = Aᵀc/N its mean

    tall    G = Aᵀ D_c A − N m mᵀ                        (d×d)     G V_b = V_b Λ_b
    wide    K = A Aᵀ once, of the different rows of a draw  D_c^½ J K Jᵀ D_c^½ y = λ y,   V_b = Aᵀ W_b,
            W_b = Jᵀ D_c^½ y λ^-½                        (n×k)     no column is touched

A draw of n rows holds about 0.63 n different ones, so both are cheaper than a refit; V_b is never formed where there
are many columns. Where columns are standardised anew in each draw (scale=True), G becomes D_s⁻¹ G D_s⁻¹; in the
wide case the product of the different rows is formed for each draw. The same as refits with the same counts
[FCSZ16].
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ritz._core.lazy import cached_property
from ritz._core.linalg import eigh
from ritz._core.threads import go_on, lane_count, run_lanes, single_threaded_blas

__all__ = ["Drawn", "Sample", "counts_of", "drawn"]

Floats = NDArray[np.float64]

#: Rows that are gathered at a time: a block of them stays in the cache.
GATHER = 512
#: Numbers of a table up to which many draws are decomposed together, and numbers of all of them: 150×4, 0.22 ms a draw
#: one by one and 0.08 together.
SMALL, TOGETHER = 20_000, 1 << 18
#: A column whose deviation is this small beside its root mean square does not vary in a draw.
CONSTANT = 1e-12


@dataclass
class Sample:
    """The rows that are drawn from."""

    A: Floats  # (n, d) in the frame of the fit
    weights: Floats | None  # (n,) frequencies
    center: bool
    rescale: bool  # columns are standardised anew in each draw
    less: int  # 1: divisor N − 1, 0: N
    seed: int
    least: int  # different rows that a draw must have
    given: NDArray[np.float64] | None = None  # (B, n) counts that were handed in

    @property
    def n(self) -> int:
        """Rows."""
        return int(self.A.shape[0])

    @cached_property
    def total(self) -> float:
        """N, the rows of a draw."""
        return float(self.n if self.weights is None else np.sum(self.weights))

    @cached_property
    def wide(self) -> bool:
        """Whether draws are decomposed among the rows: by what both ways cost."""
        n, d = 0.63 * self.n, float(self.A.shape[1])
        among_rows = 8.0 * n**3 + (2.0 * n * n * d if self.rescale else 0.0)
        return among_rows < n * d * d + 8.0 * d**3

    @cached_property
    def lengths(self) -> Floats:
        """(n,) squared lengths of the rows."""
        return np.asarray(np.einsum("ij,ij->i", self.A, self.A))

    @cached_property
    def squares(self) -> Floats:
        """(n, d) A∘A."""
        return np.square(self.A)

    @cached_property
    def K(self) -> Floats:
        """(n, n) A Aᵀ."""
        with single_threaded_blas():  # a symmetric product in several threads of BLAS may fail
            return self.A @ self.A.T


def counts_of(sample: Sample, b: int) -> Floats:
    """(n,) how often each row is in draw b."""
    if sample.given is not None:
        return sample.given[b]
    n = sample.n
    for again in range(100):
        rng = np.random.default_rng([sample.seed, 29, b, again])
        if sample.weights is None:
            counts = np.asarray(np.bincount(rng.integers(0, n, n), minlength=n), np.float64)
        else:
            size = max(round(sample.total), 2)
            drawn_rows = rng.multinomial(size, sample.weights / sample.total)
            counts = np.asarray(drawn_rows * (sample.total / size), np.float64)
        if np.count_nonzero(counts) >= sample.least:
            break
    return counts


@dataclass
class Drawn:
    """What came out of the draws, before it is compared with the fit."""

    sample: Sample
    values: Floats  # (B, k) eigenvalues over the divisor
    totals: Floats  # (B,) total variance
    W: Floats  # (B, p, k) V_b (p = d), or what the rows are combined by (p = n)
    turned: Floats  # (B, k, k) components of the model by those of the draws
    errors: Floats  # (B, 2, k) standard errors of the logarithms of eigenvalues and of shares
    means: Floats | None = None  # (B, d), tall only
    scales: Floats | None = field(default=None)  # (B, d), tall only

    @property
    def B(self) -> int:
        """How many."""
        return len(self.values)

    @property
    def k(self) -> int:
        """Components."""
        return int(self.values.shape[1])


Step = Callable[[Drawn, int], None]


def drawn(sample: Sample, components: Floats, n_boot: int) -> Drawn:
    """Decompose ``n_boot`` draws; components (k, d) are those of the model."""
    k, d = components.shape
    wide = sample.wide
    p = sample.n if wide else d
    out = Drawn(
        sample, np.empty((n_boot, k)), np.empty(n_boot), np.empty((n_boot, p, k)), np.empty((n_boot, k, k)),
        np.empty((n_boot, 2, k)),
        None if wide or not sample.center else np.empty((n_boot, d)),
        None if wide or not sample.rescale else np.empty((n_boot, d)),
    )  # fmt: skip
    if wide and not sample.rescale:
        shadow = components @ sample.A.T  # (k, n)
        step = _among_rows(sample, sample.K, shadow)
    else:
        step = _rescaled_rows(sample, components) if wide else _among_columns(sample, components)
    if not wide and not sample.rescale and sample.n * d <= SMALL:
        with single_threaded_blas():
            _together(sample, components, out)
        return out
    lanes = max(1, min(lane_count(), n_boot))

    def work(lane: int) -> None:
        for b in range(lane, n_boot, lanes):
            go_on()
            step(out, b)

    with single_threaded_blas():
        run_lanes(work, list(range(lanes)))
    return out


def _together(sample: Sample, components: Floats, out: Drawn) -> None:
    """Tall and small: the scatters of many draws by one product, and decomposed by one call."""
    A, N, k = sample.A, sample.total, len(components)
    n, d = A.shape
    divisor = max(N - sample.less, 1.0)
    for first in range(0, out.B, max(1, TOGETHER // (n * d))):
        go_on()
        some = slice(first, min(first + max(1, TOGETHER // (n * d)), out.B))
        counts = np.stack([counts_of(sample, b) for b in range(some.start, some.stop)])
        G, mean = (counts[:, None, :] * A.T) @ A, counts @ A / N
        if sample.center:
            G -= N * mean[:, :, None] * mean[:, None, :]
            out.means[some] = mean  # type: ignore[index]
        else:
            mean = np.zeros_like(mean)
        values, V = np.linalg.eigh(G)
        out.values[some] = np.maximum(values[:, : -k - 1 : -1], 0.0) / divisor
        out.totals[some] = np.trace(G, axis1=1, axis2=2) / divisor
        out.W[some] = V[:, :, : -k - 1 : -1]
        out.turned[some] = components @ out.W[some]
        scores = A @ out.W[some] - (mean[:, None, :] @ out.W[some])
        t2 = np.square(scores) / np.maximum(out.values[some], 1e-300)[:, None, :]
        lengths = sample.lengths - 2 * mean @ A.T + np.einsum("ij,ij->i", mean, mean)[:, None]
        shares = (lengths / np.maximum(out.totals[some], 1e-300)[:, None])[:, :, None]
        for which, off in enumerate((t2 - 1.0, t2 - shares)):
            out.errors[some, which] = np.sqrt((counts[:, None, :] @ np.square(off))[:, 0]) / N


def _among_columns(sample: Sample, components: Floats) -> Step:
    """Tall: the d×d scatter of a draw from its different rows."""
    from scipy.linalg.blas import dsyrk

    A, N, k, d = sample.A, sample.total, len(components), sample.A.shape[1]
    divisor = max(N - sample.less, 1.0)

    def step(out: Drawn, b: int) -> None:
        counts = counts_of(sample, b)
        rows = np.flatnonzero(counts)
        root = np.sqrt(counts[rows])
        G, mean = np.zeros((d, d), order="F"), np.zeros(d)
        for i in range(0, len(rows), GATHER):
            piece, r = A[rows[i : i + GATHER]], root[i : i + GATHER]
            piece *= r[:, None]
            G = dsyrk(1.0, piece.T, beta=1.0, c=G, lower=1, overwrite_c=1)
            mean += r @ piece
        mean /= N
        if sample.rescale:
            spread = _spread(np.diag(G).copy(), mean, N)
        if sample.center:
            G -= N * np.outer(mean, mean)
            out.means[b] = mean  # type: ignore[index]
        if sample.rescale:
            out.scales[b] = spread  # type: ignore[index]
            G = G / spread / spread[:, None]
        values, V = eigh(G, top=k)
        out.values[b], out.totals[b] = np.maximum(values[:k], 0.0) / divisor, float(np.trace(G)) / divisor
        out.W[b] = V[:, :k]
        out.turned[b] = components @ out.W[b]
        out.errors[b] = _errors_of(out, b, counts, mean)

    return step


def _errors_of(out: Drawn, b: int, counts: Floats, mean: Floats) -> Floats:
    """Tall: standard errors of log λ and log share in a draw, from what each of its rows adds.

    t²/λ − 1, or t²/λ − Σv²z² where columns are standardised anew; for shares t²/λ − ‖z‖²/tr.
    """
    s, V, N = out.sample, out.W[b], out.sample.total
    values, k = np.maximum(out.values[b], 1e-300), out.k
    mean = mean if s.center or s.rescale else np.zeros_like(mean)
    W = V / out.scales[b][:, None] if out.scales is not None else V
    if out.scales is None:
        product = s.A @ np.column_stack([W, mean])
        lengths = s.lengths - 2 * product[:, k] + mean @ mean
    else:
        square = np.square(W)
        product = s.A @ np.column_stack([W, mean[:, None] * square])
        lengths = s.squares @ square - 2 * product[:, k:] + np.square(mean) @ square
    t2 = np.square(product[:, :k] - (mean @ W if s.center else 0.0)) / values
    return _log_errors(t2, lengths, float(out.totals[b]), counts, N, rescaled=out.scales is not None)


def _log_errors(t2: Floats, lengths: Floats, total: float, counts: Floats, N: float, *, rescaled: bool) -> Floats:
    """(2, k) from t²/λ of the rows (n, k) and ‖z‖² (n,), or Σv²z² (n, k)."""
    eigen = np.sqrt(counts @ np.square(t2 - (lengths if rescaled else 1.0))) / N
    if rescaled:
        return np.stack([eigen, eigen])
    return np.stack([eigen, np.sqrt(counts @ np.square(t2 - (lengths / max(total, 1e-300))[:, None])) / N])


def _spread(squares: Floats, mean: Floats, N: float) -> Floats:
    """Standard deviations in the frame of the fit; infinite where a column does not vary, which then counts nothing."""
    about = squares - N * np.square(mean)
    flat = about <= CONSTANT**2 * np.maximum(squares, 1e-300)
    return np.asarray(np.where(flat, np.inf, np.sqrt(np.where(flat, 1.0, about) / max(N - 1, 1.0))))


def _among_rows(sample: Sample, K: Floats, shadow: Floats) -> Step:
    """Wide: from inner products of the rows alone."""
    N, k = sample.total, len(shadow)
    divisor = max(N - sample.less, 1.0)

    def step(out: Drawn, b: int) -> None:
        counts = counts_of(sample, b)
        rows = np.flatnonzero(counts)
        share = counts[rows] / N
        root = np.sqrt(counts[rows])
        inner = K[np.ix_(rows, rows)]
        if sample.center:
            across = inner @ share
            inner -= across
            inner -= (across - share @ across)[:, None]
        inner *= root
        inner *= root[:, None]
        lengths = np.diag(inner) / counts[rows]
        Y = _set(out, b, inner, root, share, rows, k, divisor)
        out.turned[b] = shadow[:, rows] @ out.W[b, rows]
        t2 = np.square(Y / root[:, None]) * divisor
        out.errors[b] = _log_errors(t2, lengths, float(out.totals[b]), counts[rows], N, rescaled=False)

    return step


def _set(
    out: Drawn, b: int, inner: Floats, root: Floats, share: Floats, rows: NDArray[np.intp], k: int, divisor: float
) -> Floats:
    """Eigenvalues of a draw and what its rows are combined by; directions without variance are zero."""
    top, total = min(k, len(rows)), float(np.trace(inner))
    values, Y = eigh(inner, top=top)
    values = np.maximum(values[:top], 0.0)
    positive = values > 1e-13 * float(np.max(values, initial=0.0))
    combined = root[:, None] * Y[:, :top] * np.where(positive, 1 / np.sqrt(np.where(positive, values, 1.0)), 0.0)
    if out.sample.center:
        combined -= np.outer(share, combined.sum(axis=0))
    out.W[b] = 0.0
    out.W[b][np.ix_(rows, np.arange(top))] = combined
    out.values[b] = 0.0
    out.values[b, :top], out.totals[b] = values / divisor, total / divisor
    padded = np.zeros((len(rows), k))
    padded[:, :top] = Y[:, :top]
    return padded


def _rescaled_rows(sample: Sample, components: Floats) -> Step:
    """Wide, with columns standardised anew: the product of the different rows of each draw."""
    A, N, k = sample.A, sample.total, len(components)
    divisor = max(N - sample.less, 1.0)

    def step(out: Drawn, b: int) -> None:
        counts = counts_of(sample, b)
        rows = np.flatnonzero(counts)
        share, root = counts[rows] / N, np.sqrt(counts[rows])
        Z = A[rows]
        mean = share @ Z
        spread = _spread(counts[rows] @ np.square(Z), mean, N)
        if sample.center:
            Z -= mean
        Z /= spread
        Z *= root[:, None]
        inner = Z @ Z.T
        Y = _set(out, b, inner, root, share, rows, k, divisor)
        V = (A[rows].T @ out.W[b, rows]) / spread[:, None]
        out.turned[b] = components @ V
        Z /= root[:, None]
        if not sample.center:
            Z -= mean / spread  # deviations are about the mean in any case
        t2 = np.square(Y / root[:, None]) * divisor
        out.errors[b] = _log_errors(t2, np.square(Z) @ np.square(V), 1.0, counts[rows], N, rescaled=True)

    return step
