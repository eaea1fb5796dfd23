"""What an estimator that fills gaps offers: ``impute``, errors of scores and of filled entries.

fit          X → completed blocks → the ordinary route → results, and the filler beside them
transform    fill, then project as any row is (project/incomplete.py)
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ritz._core.errors import InputError, MergeError, ParameterError
from ritz._core.progress import using
from ritz._core.random import seed_of
from ritz.data.passes.blocks import are_blocks, blocks_of
from ritz.data.passes.statistics import ColumnStatistics
from ritz.data.validate import validate_rows
from ritz.project.linear import LinearMap
from ritz.spectral.solution import Solution

if TYPE_CHECKING:
    from ritz.methods.missing.missing import Completed
    from ritz.project.incomplete import IncompleteMap, Uncertainty

__all__ = ["GAP_RESULTS", "FillsGaps"]

#: Names that a fit with gaps leaves behind.
GAP_RESULTS = ("_filler", "n_missing_", "n_iter_")


class FillsGaps:
    """Mixin of estimators with ``missing``; needs ``_map``, ``certificate_`` and the parameters of PCA."""

    missing: str
    n_components: Any
    center: bool
    scale: bool
    tol: float
    random_state: Any
    progress: Any
    certificate_: Any
    _map: Any
    _check_parameters: Any

    # in fit

    def _completed(self, X: Any, weights: np.ndarray | None) -> Completed | None:
        """What fills the gaps of the rows; None with ``missing="error"``."""
        if self.missing == "error":
            return None
        from ritz.methods.missing.missing import complete  # loaded only where gaps are filled

        with using(self.progress, type(self).__name__):
            return complete(
                blocks_of(X), weights, self.missing, self.n_components, center=self.center, scale=self.scale,
                tol=self.tol, seed=seed_of(self.random_state), names=getattr(self, "feature_names_in_", None),
            )  # fmt: skip

    def _keep_filler(
        self, done: Completed | None, spectrum: Solution, column: ColumnStatistics, scale: Any, rows: int
    ) -> None:
        """Remember what fills gaps, never the rows; the certificate says how much was filled."""
        if done is None:
            return
        from ritz.methods.missing.missing import filler_of

        self.n_missing_, self.n_iter_ = done.observed.missing, done.passes
        names = getattr(self, "feature_names_in_", None)
        self.__dict__["_filler"] = done.filler or filler_of(
            self.missing, spectrum, column, rows=rows, center=self.center, scale=scale, names=names
        )
        self.certificate_ = replace(self.certificate_, notes=(*self.certificate_.notes, *done.notes))

    def _solved_rows(self, rows: Any) -> Any:
        """The rows with their gaps filled, as the fit filled them."""
        if not self.__dict__.get("n_missing_"):
            return rows
        from ritz.data.passes.completed import CompletedBlocks
        from ritz.project.linear import result_dtype

        filler, dtype = self.__dict__["_filler"], result_dtype(rows.dtype)
        done = CompletedBlocks(blocks_of(rows), filler.fill, dtype)
        return done if are_blocks(rows) else np.vstack([block.values for block in done.each()]).astype(dtype)

    # what states cannot do

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None, check_input: bool = True) -> Any:
        """Add complete rows; nothing is solved until a fitted name is read.

        Examples
        --------
        >>> import numpy as np, ritz
        >>> rows = np.random.default_rng(0).standard_normal((1000, 3)) * [3, 2, 1]
        >>> pca = ritz.PCA(2)
        >>> for part in np.array_split(rows, 7):
        ...     pca = pca.partial_fit(part)
        >>> bool(np.allclose(pca.explained_variance_, ritz.PCA(2).fit(rows).explained_variance_, rtol=1e-12))
        True
        """
        self._check_parameters()
        if self.missing != "error":
            raise ParameterError(
                "partial_fit adds complete rows, but what fills gaps depends on all rows",
                received=f"missing={self.missing!r}",
                hint="fit all rows at once; fit reads files and streams",
            )
        return super().partial_fit(X, y, sample_weight, check_input)  # type: ignore[misc]

    def _need_state(self, verb: str = "merge") -> Any:
        if self.__dict__.get("n_missing_"):
            raise MergeError(
                f"{verb} needs models of complete rows: what fills gaps depends on all rows",
                received=f"a model of rows with {self.n_missing_:,} missing entries",
                hint="fit all rows at once",
            )
        return super()._need_state(verb)  # type: ignore[misc]

    def _fit_once(self, X: Any, sample_weight: Any) -> Any:
        if self.missing != "error":
            raise InputError(
                f"rows that can be read again: missing={self.missing!r} reads them in several passes",
                received="rows that can be read once",
                hint="write them to a file and fit that, or collect them: numpy.concatenate(list(batches))",
            )
        return super()._fit_once(X, sample_weight)  # type: ignore[misc]

    def _forget(self) -> None:
        for name in GAP_RESULTS:
            self.__dict__.pop(name, None)
        super()._forget()  # type: ignore[misc]

    # for new rows

    def _filling(self, linear: LinearMap) -> LinearMap | IncompleteMap:
        """The map of an estimator that may have learned to fill gaps."""
        filler = self.__dict__.get("_filler")
        if filler is None:
            return linear
        from ritz.project.incomplete import IncompleteMap

        return IncompleteMap(filler, linear)

    def _incomplete(self) -> IncompleteMap:
        check_is_fitted(self)
        found = self._map()
        if isinstance(found, LinearMap):
            raise ParameterError(
                "gaps can be filled by a model that was fitted with missing='mean', 'em' or 'regularized'",
                received=f"missing={self.missing!r}" + ("" if self.missing == "error" else " and merged"),
                hint="PCA(n_components, missing='regularized').fit(X)",
            )
        return found

    def impute(self, X: Any) -> np.ndarray:
        """The rows with their missing values filled, (n, d); what is observed is not touched.

        Parameters
        ----------
        X : array-like, frame or Table of shape (n, d)
            NaN is missing; a row needs at least one value.

        Examples
        --------
        >>> import numpy as np, ritz
        >>> X = np.array([[1, 2, 3], [2, 4, 6], [3, 6, 9], [4, 8, 12], [5, 10, np.nan]])  # columns 1:2:3
        >>> ritz.PCA(1, missing="mean").fit(X).impute(X)[-1]
        array([ 5. , 10. ,  7.5])
        >>> ritz.PCA(1, missing="em").fit(X).impute(X)[-1].round(2)
        array([ 5., 10., 15.])
        """
        return self._incomplete().impute(validate_rows(self, X, reset=False))

    def impute_errors(self, X: Any) -> np.ndarray:
        """Standard errors of the filled values under the model, (n, d); 0 where a value is observed.

        Parameters
        ----------
        X : array-like, frame or Table of shape (n, d)

        Examples
        --------
        >>> import numpy as np, ritz
        >>> from sklearn.datasets import load_iris
        >>> X = load_iris().data
        >>> pca = ritz.PCA(2, missing="regularized").fit(X)
        >>> gap = X[:1].copy()
        >>> gap[0, 2] = np.nan                        # the length of a petal, 1.4 cm
        >>> pca.impute(gap).round(2)
        array([[5.1 , 3.5 , 1.57, 0.2 ]])
        >>> pca.impute_errors(gap).round(2)
        array([[0.  , 0.  , 0.48, 0.  ]])
        """
        return self._incomplete().impute_errors(validate_rows(self, X, reset=False))

    def uncertainty(self, X: Any, covariance: bool = False) -> Uncertainty:
        """What the scores of rows owe to their gaps.

        Parameters
        ----------
        X : array-like, frame or Table of shape (n, d)
        covariance : bool
            Also the (n, k, k) covariances of the scores.

        Returns
        -------
        Uncertainty
            ``observed`` (n,) entries of each row, ``errors`` (n, k) standard errors of its scores under the model: how
            far they lie from those of the complete row. 0 for a complete row.

        Examples
        --------
        >>> import numpy as np, ritz
        >>> from sklearn.datasets import load_iris
        >>> X = load_iris().data
        >>> pca = ritz.PCA(2, missing="regularized").fit(X)
        >>> rows = np.array([X[0], X[0]])
        >>> rows[1, 2:] = np.nan                      # the same flower without its petals
        >>> told = pca.uncertainty(rows)
        >>> told.observed
        array([4, 2])
        >>> told.errors.round(2)                      # petals are what the first axis measures
        array([[0.  , 0.  ],
               [0.64, 0.13]])
        """
        return self._incomplete().uncertainty(validate_rows(self, X, reset=False), covariance)
