"""Counts as residuals that a PCA can take: Pearson residuals of a negative binomial model, by formula.

    x_ij ~ NB(mean μ_ij = r_i p_j, variance μ_ij + μ_ij²/θ),  z_ij = (x_ij − μ_ij)/√(μ_ij + μ_ij²/θ),  |z| ≤ √n  [LBK21]

PCA of z, or of deviance residuals, is a closed-form stand-in for GLM-PCA [THW19]: no link, no iteration. θ = ∞ is the
Poisson model; then z is √N times the table that correspondence analysis decomposes. θ from moments:
Σ[(x − μ)² − μ] = Σμ²/θ.
"""

from __future__ import annotations

import numbers
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ritz._core.errors import InputError, MemoryLimitError, ParameterError
from ritz._core.memory import LITTLE
from ritz.data.passes.blocks import blocks_of
from ritz.data.passes.residuals import CountSums, ResidualBlocks
from ritz.data.validate import room_for, validate_rows
from ritz.methods.calls import public
from ritz.methods.unfitted import KnowsOtherNames

__all__ = ["PearsonResiduals"]

Floats = NDArray[np.float64]


KINDS = ("pearson", "deviance")


class PearsonResiduals(KnowsOtherNames, TransformerMixin, BaseEstimator):
    """Pearson residuals of counts, for PCA of single cells, words or species; or deviance residuals.

    Parameters
    ----------
    theta : float or "moments"
        Overdispersion: variance μ + μ²/θ. 100 suits counts of molecules; ``inf`` is Poisson; "moments": one number
        from the counts themselves.
    clip : float or None
        Residuals are cut to ±clip, so that no single count owns a component; None: √n.
    n_columns : int or None
        Keep the columns whose residuals vary most; None: all.
    kind : "pearson" or "deviance"
        Distance from the mean in standard deviations, or the signed root of what a count adds to the deviance.
    memory : str, int or None
        Limit on what ``transform`` may add to memory.

    Attributes
    ----------
    shares_ : (d,) share of each column in all counts
    theta_, clip_ : the numbers that were used
    residual_variances_ : (d,) mean squares of the residuals, with ``n_columns``
    columns_ : (n_columns,) the columns that are kept, or None
    total_, n_samples_, n_features_in_

    Examples
    --------
    >>> import numpy as np, ritz
    >>> from sklearn.pipeline import make_pipeline
    >>> rng = np.random.default_rng(0)
    >>> depth = rng.uniform(1, 20, (200, 1))      # how much was read of each cell says nothing of its kind
    >>> kind = np.repeat([0, 1], 100)[:, None]
    >>> rates = np.where(kind == 0, [3.0, 1, 1, 1, 1], [1.0, 3, 1, 1, 1]) / 10
    >>> counts = rng.poisson(depth * rates)
    >>> scores = make_pipeline(ritz.PearsonResiduals(), ritz.PCA(1)).fit_transform(counts)[:, 0]
    >>> abs(np.corrcoef(scores, kind[:, 0])[0, 1]) > abs(np.corrcoef(scores, depth[:, 0])[0, 1])
    np.True_
    """

    def __init__(
        self, theta: float | str = 100.0, *, clip: float | None = None, n_columns: int | None = None,
        kind: str = "pearson", memory: Any = None,
    ) -> None:  # fmt: skip
        self.theta, self.clip, self.n_columns, self.kind, self.memory = theta, clip, n_columns, kind, memory

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the shares of the columns, in one pass; with ``n_columns`` in two.

        Parameters
        ----------
        X : array-like, sparse matrix, frame or Table of shape (n, d), of counts
        y : ignored
        """
        self._check()
        blocks = blocks_of(validate_rows(self, X, reset=True))
        n, d = blocks.shape
        sums = blocks.map_reduce(lambda: CountSums(d), CountSums.feed)
        total = float(sums.columns.sum())
        if not total > 0:
            raise InputError("expected counts", received="zeros only")
        self.shares_, self.total_, self.n_samples_ = sums.columns / total, total, int(n)
        self.clip_ = float(np.sqrt(n)) if self.clip is None else float(self.clip)
        self.theta_ = self._dispersion(blocks, sums) if self.theta == "moments" else float(self.theta)
        self.columns_ = None
        if self.n_columns is not None:
            self.residual_variances_ = self.variances(X)
            most = np.argsort(-self.residual_variances_, kind="stable")[: self.n_columns]
            self.columns_ = np.sort(most)
        return self

    def _dispersion(self, blocks: Any, sums: CountSums) -> float:
        """θ from Σ[(x − μ)² − μ] = Σμ²/θ; ∞ where counts vary no more than Poisson."""
        crossed = blocks.map_rows(
            lambda _, block: (_totals(block.values) * np.asarray(block.values @ self.shares_).reshape(-1))[:, None],
            np.empty((blocks.shape[0], 1)),
        )
        expected = sums.row_squares * float(np.sum(np.square(self.shares_)))  # Σμ²
        excess = sums.squares - 2 * float(crossed.sum()) + expected - self.total_
        return float(expected / excess) if excess > 0 else float("inf")

    def variances(self, X: Any) -> Floats:
        """Mean squares of the residuals of every column, (d,): large where a column varies more than chance.

        Parameters
        ----------
        X : counts (n, d)
        """
        check_is_fitted(self)
        blocks = self._blocks(X, every=True)

        def step(sums: _Squares, block: Any) -> None:
            sums.squares += np.square(block.values).sum(axis=0)

        squares = blocks.map_reduce(lambda: _Squares(blocks.shape[1]), step).squares
        return np.asarray(squares / blocks.shape[0])

    def transform(self, X: Any) -> Floats:
        """Residuals, (n, d) or (n, n_columns), dense; ``lazy`` makes them while they are read.

        Parameters
        ----------
        X : counts (n, d)
            New rows have their own totals and the shares of the fit.
        """
        check_is_fitted(self)
        blocks = self._blocks(X)
        size = 8.0 * blocks.shape[0] * blocks.shape[1]
        if size > LITTLE and size > (room := room_for(self)):
            raise MemoryLimitError(
                f"residuals are dense: {size / 1e9:.3g} GB for {blocks.shape[0]:,} × {blocks.shape[1]:,}",
                received=f"a limit of {room / 1e9:.3g} GB",
                hint="PCA().fit(residuals.lazy(X)) never forms them at once; n_columns=2000 keeps some columns",
            )
        out = np.empty(blocks.shape)
        return np.asarray(blocks.map_rows(lambda _, block: block.values, out))

    def lazy(self, X: Any) -> Any:
        """Residuals as row blocks, which ``fit`` and ``transform`` of PCA and SVD take: dense rows, some at a time.

        Parameters
        ----------
        X : counts (n, d), in memory or outside it

        Examples
        --------
        >>> import numpy as np, ritz
        >>> import scipy.sparse as sp
        >>> counts = sp.csr_array(np.random.default_rng(0).poisson(0.3, (300, 40)))
        >>> residuals = ritz.PearsonResiduals().fit(counts)
        >>> lazy, whole = (ritz.PCA(2).fit(Z) for Z in (residuals.lazy(counts), residuals.transform(counts)))
        >>> np.allclose(lazy.explained_variance_, whole.explained_variance_)
        True
        """
        check_is_fitted(self)
        return self._blocks(X)

    def _blocks(self, X: Any, *, every: bool = False) -> ResidualBlocks:
        blocks = blocks_of(validate_rows(self, X, reset=False))
        keep = None if every else self.columns_
        return ResidualBlocks(blocks, self.shares_, self.theta_, self.clip_, keep, self.kind)

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Names of the columns that are kept."""
        check_is_fitted(self)
        from sklearn.utils.validation import _check_feature_names_in

        names = _check_feature_names_in(self, input_features)
        return names if self.columns_ is None else names[self.columns_]

    def _check(self) -> None:
        theta = self.theta
        if theta != "moments" and not (isinstance(theta, numbers.Real) and not isinstance(theta, bool) and theta > 0):
            raise ParameterError(
                "theta must be a number > 0, inf, or 'moments'", received=repr(theta), hint="theta=100"
            )
        if self.clip is not None and not (isinstance(self.clip, numbers.Real) and self.clip > 0):
            raise ParameterError("clip must be None or a number > 0", received=repr(self.clip), hint="clip=None is √n")
        if self.kind not in KINDS:
            raise ParameterError("kind must be 'pearson' or 'deviance'", received=repr(self.kind), hint="'pearson'")
        n = self.n_columns
        if n is not None and (not isinstance(n, numbers.Integral) or isinstance(n, bool) or n < 1):
            raise ParameterError(
                "n_columns must be None or a whole number ≥ 1", received=repr(n), hint="n_columns=2000"
            )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = tags.input_tags.positive_only = True
        tags.transformer_tags.preserves_dtype = ["float64"]
        return tags


class _Squares:
    """Sums of squares of columns."""

    def __init__(self, d: int) -> None:
        self.squares = np.zeros(d)

    def merge(self, other: _Squares) -> None:
        self.squares += other.squares

    def state(self) -> dict[str, Any]:
        return {"squares": self.squares}

    def restore(self, state: dict[str, Any]) -> None:
        self.squares[...] = state["squares"]


def _totals(values: Any) -> Floats:
    return np.asarray(values.sum(axis=1, dtype=np.float64), np.float64).reshape(-1)


public(PearsonResiduals)
