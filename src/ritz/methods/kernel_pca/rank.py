"""What kernel PCA hands to a rule for ``n_components``: some rows, and the same rows without structure.

    sample        K of m ≤ 1,000 rows, M = JKJ = UΛUᵀ, coordinates Z = UΛ^½: linear PCA of Z is kernel PCA of the rows
    permutation   every column of the rows by itself, with the same kernel
    bootstrap     rows of Z drawn again

A kernel of strings, or a matrix alone, has no columns to permute.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.lazy import cached_property
from ritz._core.random import seed_of
from ritz.data.passes.sampled import chosen_rows
from ritz.kernels.base import Kernel, take_rows
from ritz.methods.kernel_pca.input import len_of
from ritz.methods.rank.linear import handed
from ritz.rank.material import Material
from ritz.rank.rule import resolve
from ritz.rank.sample import COORDINATES, Draws, rows_words

__all__ = ["KERNEL_RULES", "KernelSample", "kernel_material", "wanted_of"]

Floats = NDArray[np.float64]

#: Rules that make sense for the spectrum of a kernel.
KERNEL_RULES = ("broken-stick", "elbow", "gavish-donoho", "kaiser", "permutation", "stability")

#: Rows of a kernel matrix that is decomposed again and again.
MOST_ROWS = 1_000


class KernelSample:
    """Some rows of a kernel method.

    Parameters
    ----------
    kernel : Kernel
        With a number for every parameter.
    rows : vectors, strings, or a kernel matrix of the sampled rows
    of : int
        Rows of the whole table.
    """

    def __init__(self, kernel: Kernel, rows: Any, of: int) -> None:
        self.kernel, self.rows = kernel, rows
        m = self.m = len_of(rows)
        self.whole, self.words, self.drawn = m >= of, rows_words(m, of), "permutations"
        self._draws: Draws | None = None

    def _centered(self, rows: Any) -> Floats:
        given = self.kernel.takes == "precomputed"
        K = np.asarray(_dense(rows) if given else self.kernel(rows), np.float64)
        mean = K.mean(axis=0)
        M = K - mean - mean[:, None] + mean.mean()
        return np.asarray(0.5 * (M + M.T))

    @cached_property
    def _decomposed(self) -> tuple[Floats, Floats]:
        values, U = np.linalg.eigh(self._centered(self.rows))
        return np.maximum(values[::-1], 0.0), U[:, ::-1]

    @cached_property
    def shape(self) -> tuple[int, int]:
        """Rows, and directions that these rows have in the feature space."""
        values = self._decomposed[0]
        return self.m, int(np.count_nonzero(values > 1e-10 * max(float(values[0]), 1e-300)))

    @property
    def _total(self) -> float:
        return max(float(self._decomposed[0].sum()), 1e-300)

    def cost(self) -> float:
        """Floating-point operations of one spectrum, about."""
        return 10.0 * float(self.m) ** 3

    def values(self) -> Floats:
        """Eigenvalues as shares of their total, decreasing."""
        return self._decomposed[0][:-1] / self._total

    def null(self, rng: np.random.Generator) -> Floats:
        """Eigenvalues of rows with every column permuted by itself."""
        drawn = rng.permuted(np.asarray(_dense(self.rows)), axis=0)
        values = np.linalg.eigvalsh(self._centered(drawn))[::-1]
        return np.maximum(values, 0.0)[:-1] / self._total

    def turned(self, rng: np.random.Generator, k: int) -> Floats:
        """(k, k) VᵀV_b for rows drawn again."""
        if self._draws is None or self._draws.Z.shape[1] < k:
            values, U = self._decomposed
            top = min(COORDINATES, max(self.shape[1], k))
            self._draws = Draws(U[:, :top] * np.sqrt(values[:top]), center=True)
        return self._draws.turned(rng, k)

    def table(self) -> Floats:
        """Coordinates of the rows in the feature space."""
        values, U = self._decomposed
        return np.asarray(U * np.sqrt(values))


def wanted_of(estimator: Any, kernel: Kernel, rows: Any) -> int | Any:
    """``n_components`` as a number or a rule with its material."""
    n = len_of(rows)
    wanted = resolve(
        estimator.n_components, n=n, d=n, centered=True, names=KERNEL_RULES, method="KernelPCA", square=True
    )
    return handed(wanted, lambda: kernel_material(estimator, kernel, rows), KERNEL_RULES)


def kernel_material(estimator: Any, kernel: Kernel, rows: Any) -> Material:
    """What rules may ask of a kernel and its rows."""
    seed, n = seed_of(estimator.random_state), len_of(rows)
    samples: dict[int, KernelSample] = {}

    def sample(most: int) -> KernelSample:
        few = min(most, MOST_ROWS)
        if few not in samples:
            chosen = chosen_rows(n, None, few, seed)
            some = rows if len(chosen) == n else take_rows(rows, chosen)
            if kernel.takes == "precomputed":
                some = np.asarray(_dense(some))[:, chosen]
            samples[few] = KernelSample(kernel, some, n)
        return samples[few]

    lacking: dict[str, str] = {}
    if not kernel.positive and kernel.takes != "precomputed":
        why = "needs a positive kernel: negative eigenvalues have no axes to compare"
        lacking = {name: f"{name} {why}" for name in ("permutation", "stability")}
    elif kernel.takes != "vectors":
        lacking = {"permutation": "permutation needs rows with columns to permute"}
    return Material(method="KernelPCA", seed=seed, sample=sample, lacking=lacking)


def _dense(rows: Any) -> Any:
    return rows.toarray() if hasattr(rows, "toarray") else rows
