"""What a model of rows with gaps is asked for: filled rows, how sure the filled values are, and scores made of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ritz.data.validate import validate_rows
from ritz.methods.calls import public
from ritz.methods.missing.model import incomplete

if TYPE_CHECKING:
    from ritz.project.incomplete import Uncertainty

__all__ = ["Imputing"]


class Imputing:
    """Of estimators that fill gaps."""

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
        return incomplete(self).impute(validate_rows(self, X, reset=False))

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
        return incomplete(self).impute_errors(validate_rows(self, X, reset=False))

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
        return incomplete(self).uncertainty(validate_rows(self, X, reset=False), covariance)


public(Imputing)
