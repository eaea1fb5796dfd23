"""Kernel PCA of rows that come in batches, a score that models of different kernels can be compared by, and gaps.

    partial_fit   rows so far ← rows so far, X;   the model is that of all of them        exact: J K J of all rows
    score         1 − Σ‖x − x̂‖²/Σ‖x − x̄‖²         x̂ the ridge pre-image of the scores of x, x̄ the mean of the fit
    missing       gaps are filled by a PCA of the rows of the fit (``missing=`` of ``ritz.PCA``), new rows likewise

A kernel model keeps its rows anyway, to compare new ones with, so that adding rows needs no other state. Distances in
feature spaces of different kernels have no common unit; those of the rows themselves do.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from ritz._core.bases import check_is_fitted
from ritz._core.errors import ParameterError
from ritz.data.validate import validate_rows
from ritz.kernels.rows import is_sparse
from ritz.methods.calls import public
from ritz.methods.kernel_pca.input import len_of, new_rows
from ritz.project.preimage.preimage import are_vectors

__all__ = ["AddsKernelRows"]


class AddsKernelRows:
    """Rows in batches, and the score of a model."""

    kernel: Any
    solver: str
    fit: Any

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Add rows: the model becomes that of all rows so far, exactly as one ``fit`` of them.

        Each call solves anew, on all rows. A Nyström model keeps landmarks instead of rows, and takes no more.

        Parameters
        ----------
        X : rows as ``fit`` takes them
        y : ignored

        Examples
        --------
        >>> import numpy as np, ritz
        >>> X = np.random.default_rng(0).standard_normal((90, 3))
        >>> kpca = ritz.KernelPCA(2, kernel="rbf", gamma=0.5)
        >>> for part in np.array_split(X, 3):
        ...     kpca = kpca.partial_fit(part)
        >>> np.array_equal(kpca.eigenvalues_, ritz.KernelPCA(2, kernel="rbf", gamma=0.5).fit(X).eigenvalues_)
        True
        """
        model: Any = self
        if not model.__sklearn_is_fitted__():
            self.fit(X)
            return self
        if model.kernel_.takes == "precomputed":
            raise ParameterError(
                "partial_fit needs rows: a kernel matrix of new rows alone does not tell how they compare with the old",
                received="kernel='precomputed'", hint="fit the kernel matrix of all rows",
            )  # fmt: skip
        if len_of(model.X_fit_) != model.n_samples_:
            raise ParameterError(
                "partial_fit needs the rows of the fit, of which a Nyström model keeps landmarks alone",
                received=f"{len_of(model.X_fit_):,} landmarks of {model.n_samples_:,} rows",
                hint="solver='auto' keeps all rows; or fit all rows at once",
            )
        names = getattr(model, "feature_names_in_", None)
        before, new = _raw(model), _new(model, X)
        self.fit(_stacked(before, new))
        if names is not None:
            model.feature_names_in_ = names
        return self

    def score(self, X: Any, y: Any = None) -> float:
        """Share of the squared distances of rows from the mean of the fit that their pre-images give back; 1 is all.

        It is comparable across kernels and their parameters, so that GridSearchCV can choose them. Kernels of other
        objects than vectors have no pre-images: the share is that of the squared distances in feature space.

        Parameters
        ----------
        X : rows
        y : ignored

        Examples
        --------
        >>> import numpy as np, ritz
        >>> from sklearn.model_selection import GridSearchCV
        >>> angle = np.random.default_rng(0).uniform(0, 1.6 * np.pi, 120)
        >>> arc = np.c_[np.cos(angle), np.sin(angle)]
        >>> search = GridSearchCV(ritz.KernelPCA(1, kernel="rbf"), {"gamma": [0.001, 0.5, 5.0, 500.0]}, cv=3).fit(arc)
        >>> search.best_params_
        {'gamma': 0.5}
        """
        check_is_fitted(self)
        model: Any = self
        rows = new_rows(model, X)
        if not model.fit_inverse_transform or not are_vectors(model.X_fit_) or model.kernel_.takes == "precomputed":
            return float(1 - np.sum(model.novelty(rows)) / max(float(np.sum(model.potential(rows))), 1e-300))
        kept = model.X_fit_
        mean = np.asarray(kept.mean(axis=0), np.float64).reshape(-1)
        dense = np.asarray(rows.toarray() if is_sparse(rows) else rows, np.float64)
        linear = getattr(model.kernel_, "name", "") == "linear" or type(model.kernel_).__name__ == "Linear"
        found = model.preimages(model.transform(X), "auto" if linear else "ridge").rows
        away = float(np.sum(np.square(dense - mean)))
        return float(1 - np.sum(np.square(dense - found)) / max(away, 1e-300))


def _raw(model: Any) -> Any:
    """The rows of the fit as they were handed in, gaps included."""
    gaps = getattr(model._record, "gaps", None)
    if gaps is None:
        return model.X_fit_
    rows = np.array(model.X_fit_)
    rows[gaps] = np.nan
    return rows


def _new(model: Any, X: Any) -> Any:
    if model.missing != "error" and model.kernel_.takes == "vectors":
        return validate_rows(model, X, reset=False)
    return new_rows(model, X)


def _stacked(before: Any, new: Any) -> Any:
    if isinstance(before, list):
        return [*before, *new]
    if is_sparse(before) or is_sparse(new):
        from scipy.sparse import vstack

        return vstack([before, new]).tocsr()
    return np.concatenate([before, new])


public(AddsKernelRows)
