"""What the correspondence family hands to a rule for ``n_components``: its own noise, and tables without structure.

    CA           n·Λ of independent rows and columns ~ Wishart_{J−1}(I − 1, I) for large counts  [O'Neill 1978]
                 permutation: tables with the same margins;  bootstrap: counts ~ multinomial(n, P)
    MCA, FAMD    independent variables: Gaussian blocks, whitened within each variable, as for canonical correlations
                 permutation: every variable by itself, its levels together;  bootstrap: rows drawn again
    MFA          permutation: the rows of every group by themselves, so that groups keep what is their own

The scale of a resampled table is its own, as the method would have it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.lazy import cached_property
from ritz._core.random import seed_of
from ritz._core.subset import sure_pairs
from ritz.data.encode import Encoder
from ritz.data.passes.sampled import chosen_rows, take_dense
from ritz.data.passes.statistics import ColumnStatistics
from ritz.rank.material import Material
from ritz.rank.sample import rows_for, rows_words, smaller_spectrum
from ritz.rank.wishart import bartlett, white_spectra
from ritz.spectral.problem import Seen

__all__ = ["CA_RULES", "ENCODED_RULES", "GROUP_RULES", "count_material", "encoded_material", "variable_blocks"]

Floats = NDArray[np.float64]

#: Rules that make sense for counts, for variables of several levels, and for groups of them.
CA_RULES = ("broken-stick", "elbow", "gavish-donoho", "kaiser", "parallel", "permutation", "stability")
ENCODED_RULES = ("broken-stick", "elbow", "kaiser", "parallel", "permutation", "stability")
GROUP_RULES = ("broken-stick", "elbow", "kaiser", "permutation", "stability")

#: Cells of a table of counts that is drawn again, and dimensions of simulated blocks.
CELLS, MOST_DIMENSIONS = 2e6, 2_000

NO_ROWS = "a state that was merged or added up keeps none"
NOT_COUNTS = "the table holds numbers that are no counts, so nothing is known about their noise"


def axes_of(A: Floats, k: int) -> Floats:
    """The k leading right singular vectors (d, k)."""
    m, d = A.shape
    if d <= m:
        _, V = sure_pairs(A.T @ A, min(k, d))
        return np.asarray(V[:, ::-1])
    values, U = sure_pairs(A @ A.T, min(k, m))
    root = np.sqrt(np.maximum(values[::-1], 1e-300))
    return np.asarray(A.T @ U[:, ::-1] / root)


# counts


class CountSample:
    """Rows of a table of counts.

    Parameters
    ----------
    N : (m, J) counts
    of : int
        Rows of the whole table.
    """

    def __init__(self, N: Floats, of: int) -> None:
        N = N[:, N.sum(axis=0) > 0]
        self.N = N[N.sum(axis=1) > 0]
        rows, columns = self.N.shape
        self.shape = (int(rows), int(columns) - 1)
        self.whole, self.words = len(N) >= of, rows_words(len(N), of)
        self.drawn = "tables with the same margins"
        self.axes = min(rows, columns) - 1

    def _residuals(self, N: Floats) -> Floats:
        """D_r^-½ (P − rcᵀ) D_c^-½; rows and columns without counts are zero."""
        P = N / N.sum()
        r, c = P.sum(axis=1), P.sum(axis=0)
        expected = np.outer(r, c)
        return np.asarray((P - expected) / np.sqrt(np.where(expected > 0, expected, 1.0)))

    @cached_property
    def _A(self) -> Floats:
        return self._residuals(self.N)

    @cached_property
    def _total(self) -> float:
        return max(float(np.einsum("ij,ij->", self._A, self._A)), 1e-300)

    def cost(self) -> float:
        """Floating-point operations of one spectrum, the drawing of its table included."""
        rows, columns = self.N.shape
        return 2.0 * rows * columns * (min(rows, columns) + 200.0)

    def values(self) -> Floats:
        """Inertias as shares of their total, decreasing."""
        return smaller_spectrum(self._A)[: self.axes] / self._total

    def null(self, rng: np.random.Generator) -> Floats:
        """Inertias of a table with the same margins whose rows and columns are independent."""
        from scipy.stats import random_table

        rows, columns = (np.rint(self.N.sum(axis=axis)).astype(np.int64) for axis in (1, 0))
        drawn = np.asarray(random_table.rvs(rows, columns, random_state=rng), np.float64)
        return smaller_spectrum(self._residuals(drawn))[: self.axes] / self._total

    def turned(self, rng: np.random.Generator, k: int) -> Floats:
        """(k, k) VᵀV_b for counts drawn again."""
        k = min(k, self.axes)
        P = (self.N / self.N.sum()).ravel()
        drawn = rng.multinomial(round(float(self.N.sum())), P).reshape(self.N.shape).astype(np.float64)
        return np.asarray(axes_of(self._A, k).T @ axes_of(self._residuals(drawn), k))

    def table(self) -> Floats:
        """The residuals."""
        return self._A


def count_material(model: Any, R: Any, weights: Floats | None, total: float, shape: tuple[int, int]) -> Material:
    """What rules may ask of a table of counts; R are profiles, None where only a state is left."""
    seed, (rows, columns) = seed_of(model.random_state), shape
    counts = weights is None or bool(np.all(weights == np.round(weights)))

    def null(seen: Seen, draws: int, rng: np.random.Generator, top: int) -> Floats:
        small, large = sorted((rows - 1, columns - 1))
        return white_spectra(float(large), small, draws, rng, top) / (total * max(seen.total, 1e-300))

    def make(most: int) -> CountSample:
        few = min(rows_for(rows, columns, most), int(max(2.0, CELLS / columns)))
        chosen = chosen_rows(rows, None, few, seed)
        profiles = take_dense(R, chosen)
        return CountSample(np.rint(profiles * np.asarray(weights)[chosen][:, None]), rows)

    lacking = {} if counts else dict.fromkeys(("parallel", "permutation", "stability", "gavish-donoho"), NOT_COUNTS)
    return Material(
        method=type(model).__name__, seed=seed, null=null if counts else None,
        sample=None if R is None else _once(make), noise=1.0 / np.sqrt(total) if counts else None,
        sides=(rows - 1.0, columns - 1.0), why_not=NO_ROWS, lacking=lacking,
    )  # fmt: skip


# variables


class EncodedSample:
    """Encoded rows of MCA, FAMD or MFA.

    Parameters
    ----------
    R : (m, d) encoded rows
    owners : (d,) what is permuted together
    metric : means, mean squares about them → scale (d,)
    most : int
        Axes that the table can have.
    of : int
        Rows of the whole table.
    """

    def __init__(
        self, R: Floats, owners: NDArray[np.intp], metric: Callable[[Floats, Floats], Floats], most: int, of: int
    ) -> None:
        self.R, self.metric = R, metric
        self._leading: Floats | None = None
        self.parts = [np.flatnonzero(owners == owner) for owner in np.unique(owners)]
        self.shape = (len(R), min(most, R.shape[1]))
        self.whole, self.words, self.drawn = len(R) >= of, rows_words(len(R), of), "permutations"

    def _standard(self, counts: Floats | None = None) -> Floats:
        """D_w^½ (R − 1mᵀ) D_s⁻¹ of the rows, each so often."""
        m = len(self.R)
        w = np.full(m, 1.0 / m) if counts is None else counts / m
        mean = w @ self.R
        Z = self.R - mean
        squares = w @ np.square(Z)
        return np.asarray(Z * np.sqrt(w)[:, None] / self.metric(mean, squares))

    @cached_property
    def _A(self) -> Floats:
        return self._standard()

    @property
    def residuals(self) -> Floats:
        """D_w^½ (R − 1mᵀ) D_s⁻¹ of the rows, (m, d)."""
        return self._A

    @cached_property
    def _total(self) -> float:
        return max(float(np.einsum("ij,ij->", self._A, self._A)), 1e-300)

    def cost(self) -> float:
        """Floating-point operations of one spectrum."""
        m, d = self.R.shape
        return 2.0 * m * d * min(m, d) + 20.0 * m * d

    def values(self) -> Floats:
        """Inertias as shares of their total, decreasing."""
        return smaller_spectrum(self._A)[: min(self.shape[0] - 1, self.shape[1])] / self._total

    def null(self, rng: np.random.Generator) -> Floats:
        """Inertias of rows with every part permuted by itself: means and scales stay what they are."""
        drawn = np.empty_like(self._A)
        for columns in self.parts:
            drawn[:, columns] = self._A[np.ix_(rng.permutation(len(drawn)), columns)]
        return smaller_spectrum(drawn)[: min(self.shape[0] - 1, self.shape[1])] / self._total

    def turned(self, rng: np.random.Generator, k: int) -> Floats:
        """(k, k) VᵀV_b for rows drawn again."""
        m = len(self.R)
        counts = rng.multinomial(m, np.full(m, 1.0 / m)).astype(np.float64)
        return np.asarray(self._axes(k).T @ axes_of(self._standard(counts), k))

    def _axes(self, k: int) -> Floats:
        if self._leading is None or self._leading.shape[1] < k:
            self._leading = axes_of(self._A, k)
        return self._leading[:, :k]

    def table(self) -> Floats:
        """The rows under the metric, centred."""
        return self._A * np.sqrt(len(self.R))


def encoded_material(
    model: Any, R: Any, weights: Floats | None, owners: NDArray[np.intp], blocks: list[Floats] | None, most: int,
    factor: float = 1.0,
) -> Material:  # fmt: skip
    """What rules may ask of encoded rows; R is None where only a state is left.

    ``blocks`` are the eigenvalues of every variable alone, ``factor`` what the method multiplies them by.
    """
    seed = seed_of(model.random_state)

    def metric(mean: Floats, squares: Floats) -> Floats:
        zero = np.zeros(len(mean))
        return np.asarray(model._metric(ColumnStatistics(2, 1.0, zero, mean, squares, 1.0)))

    def make(rows: int) -> EncodedSample:
        n, d = R.shape
        w = _copies(weights)
        of = n if w is None else max(round(float(w.sum())), 1)
        chosen = chosen_rows(n, w, rows_for(of, d, rows), seed)
        return EncodedSample(take_dense(R, chosen), owners, metric, most, of)

    def null(seen: Seen, draws: int, rng: np.random.Generator, _: int) -> Floats:
        spectra = block_spectra(seen.n - 1.0, blocks or [], min(draws, 200), rng)
        return spectra * (factor / max(seen.total, 1e-300))

    few = blocks is not None and sum(map(len, blocks)) <= MOST_DIMENSIONS
    return Material(
        method=type(model).__name__, seed=seed, null=null if few else None, sample=None if R is None else _once(make),
        why_not=NO_ROWS,
        lacking={} if few else {"parallel": f"parallel takes at most {MOST_DIMENSIONS:,} levels"},
    )  # fmt: skip


def block_spectra(m: float, blocks: list[Floats], draws: int, rng: np.random.Generator) -> Floats:
    """Eigenvalues (draws, r) of independent Gaussian blocks, each with exactly the eigenvalues it has alone."""
    sizes = [len(block) for block in blocks]
    edges = np.cumsum([0, *sizes])
    spectra = []
    for _ in range(draws):
        T = bartlett(m, int(edges[-1]), 1, rng)[0]
        for i, block in enumerate(blocks):
            Q, _ = np.linalg.qr(T[:, edges[i] : edges[i + 1]])
            T[:, edges[i] : edges[i + 1]] = 0.0
            T[:, edges[i] : edges[i] + Q.shape[1]] = Q * np.sqrt(block[: Q.shape[1]])
        spectra.append(smaller_spectrum(T))
    return np.stack(spectra)


def variable_blocks(encoder: Encoder) -> list[Floats]:
    """Eigenvalues of every variable alone: 1 for a number, 1 for all but one level, the rest of an incomplete one."""
    blocks = [np.ones(1)] * encoder.p
    shares = np.asarray(encoder.active.counts, np.float64) / encoder.weight
    for j in range(encoder.vocabulary.J):
        levels = shares[encoder.active.owners == j]
        left = 1.0 - float(levels.sum())
        if len(levels):
            blocks.append(np.append(np.ones(len(levels) - 1), [left] if left > 1e-9 else []))
    return [block for block in blocks if len(block)]


def _copies(weights: Floats | None) -> Floats | None:
    """Weights as numbers of copies: equal ones are none, shares of one count as shares of the rows."""
    if weights is None or bool(np.all(weights == weights[0])):
        return None
    total = float(weights.sum())
    return weights if total > len(weights) / 2 else weights * (len(weights) / total)


def _once(make: Callable[[int], Any]) -> Callable[[int], Any]:
    """Samples by their size, taken once: several rules look at the same rows."""
    samples: dict[int, Any] = {}

    def sample(most: int) -> Any:
        if most not in samples:
            samples[most] = make(most)
        return samples[most]

    return sample
