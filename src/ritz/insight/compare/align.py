"""A new model turned to an old one: the same subspace, components that carry the old numbers and signs.

    C = V_newᵀ V_old (k×k')          from components on the same columns, or correlations of the scores of the same rows
    signs      T = diag(sign C_ii)
    order      T a permutation with signs that makes Σ|C T| largest
    rotation   T = UWᵀ, C = UΣWᵀ: V_new T is closest to V_old                                        [Sch66]

Aligned components V_new T, scores F T, covariances of scores TᵀΛT. With signs and order they are still the principal
components of the new data, and what the new certificate proves holds for them. After a rotation they are a basis of the
same subspace: its certificate holds for the subspace, and scores are correlated.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import InputError, ParameterError
from ritz._core.tabular import Tabular
from ritz.data.words import nearest
from ritz.insight.axes.of_model import axis_names, rows_named, scores_of
from ritz.insight.calls import asked
from ritz.insight.compare.compare import basis_of, common_bases, cosines, matching
from ritz.methods.fitted import fitted_of, require_fitted

__all__ = ["Aligned", "align"]

Floats = NDArray[np.float64]

METHODS = ("signs", "order", "rotation")


@dataclass(frozen=True, repr=False)
class Aligned(Tabular):
    """A model in the terms of an older one.

    Attributes
    ----------
    method : "signs", "order" or "rotation"
    matrix : (k, k) orthogonal T
    components : (k, d) aligned components; None for models that have none
    variances : (k,) variances of the aligned scores
    covariance : (k, k) of the aligned scores: diagonal unless they were rotated
    cosines : (k',) with the components of the old model
    certificate : of the new model, about ``new.components_``
    """

    method: str
    matrix: Floats
    components: Floats | None
    variances: Floats
    covariance: Floats
    cosines: Floats
    certificate: Any
    _new: Any

    def transform(self, X: Any) -> Any:
        """Aligned scores of rows, (n, k)."""
        F = scores_of(self._new, X) @ self.matrix
        return rows_named(X, F, axis_names(self._new, F.shape[1]))

    @property
    def model(self) -> Any:
        """The new model with the signs of the old one: fitted, with a certificate that ``verify`` confirms."""
        if self.method != "signs" or not fitted_of(self._new).turns:
            raise ParameterError(
                "only signs can be changed in a model itself: its components are in order of variance",
                received=f"{self.method} of {type(self._new).__name__}",
                hint="components, variances and transform(X) of this object are aligned",
            )
        turn, model = np.diag(self.matrix), copy(self._new)
        components = np.asarray(self._new.components_)
        model.components_ = np.ascontiguousarray(components * turn[:, None].astype(components.dtype))
        frame = dict(self.certificate.frame)
        frame["vectors"] = np.asarray(frame["vectors"]) * turn
        model.certificate_ = replace(self.certificate, frame=frame)
        return model

    def __repr__(self) -> str:
        k = len(self.matrix)
        names = axis_names(self._new, k)
        shown = [f"{name} {cosine:+.3f}" for name, cosine in zip(names, self.cosines, strict=False)]
        words = {
            "signs": f"{int(np.sum(np.diag(self.matrix) < 0))} of {k} signs changed",
            "order": f"{int(np.sum(np.abs(np.diag(self.matrix)) < 0.5))} of {k} components in another place",
            "rotation": "components turned inside their subspace",
        }[self.method]
        return f"Aligned by {self.method}: {words}; cosines with the old ones {', '.join(shown)}"

    def _table(self) -> dict[str, Any]:
        k = len(self.variances)
        cosines = [*map(float, self.cosines), *[float("nan")] * (k - len(self.cosines))]
        return {"component": axis_names(self._new, k), "variance": self.variances, "cosine": cosines[:k]}


@asked
def align(new: Any, old: Any, X: Any = None, *, method: str = "signs") -> Aligned:
    """Turn a new model to an old one, without changing its subspace.

    Parameters
    ----------
    new, old : fitted models
        With components on the same columns; otherwise the scores of X are compared.
    X : rows, optional
        For models without common components, such as kernel PCA.
    method : "signs", "order" or "rotation"
        Change signs only; also the order of components, by their likeness; or turn them inside their subspace.

    Examples
    --------
    >>> import ritz
    >>> from ritz import insight
    >>> from sklearn.datasets import load_iris
    >>> X = load_iris(as_frame=True).data.rename(columns=lambda name: name.removesuffix(" (cm)"))
    >>> pca = ritz.PCA(2, scale=True).fit(X)
    >>> half = ritz.PCA(2, scale=True).fit(X[::2])
    >>> turned = insight.align(half, pca)
    >>> turned.cosines.round(2)                   # half of the flowers show the same axes
    array([1., 1.])
    """
    if method not in METHODS:
        raise ParameterError(
            f"method must be one of {', '.join(METHODS)}",
            received=repr(method),
            hint=f"method={nearest(method, METHODS)!r}",
        )
    for model in (new, old):
        require_fitted(model)
    bases = common_bases(new, old)
    if bases is None and X is None:
        raise InputError(
            "models without common components are aligned by the scores of the same rows", received="no rows",
            hint="align(new, old, X)",
        )  # fmt: skip
    if bases is None:
        F, G = (scores_of(model, X) for model in (new, old))
        C = cosines(F - F.mean(axis=0), G - G.mean(axis=0))
        spread = np.linalg.norm(F - F.mean(axis=0), axis=0)
        C = C * np.where(spread > 0, 1.0, 0.0)[:, None]
    else:
        C = cosines(*bases)
    T = _turn(C, method)
    values = _variances(new)
    covariance = (T.T * values) @ T
    V = basis_of(new)
    return Aligned(
        method, T, None if V is None else (V @ T).T, np.diag(covariance).copy(), covariance, np.diag(T.T @ C).copy(),
        getattr(new, "certificate_", None), new,
    )  # fmt: skip


def _turn(C: Floats, method: str) -> Floats:
    k, old = C.shape
    if method == "signs":
        signs = np.ones(k)
        same = min(k, old)
        signs[:same] = np.where(np.diag(C) < 0, -1.0, 1.0)
        return np.diag(signs)
    if method == "order":
        T, pairs = np.zeros((k, k)), matching(C)
        placed = [(match.a, match.b, match.sign) for match in pairs if match.b < k]
        free_rows = [i for i in range(k) if i not in {a for a, _, _ in placed}]
        free_places = [j for j in range(k) if j not in {b for _, b, _ in placed}]
        for a, b, sign in [*placed, *((i, j, 1) for i, j in zip(free_rows, free_places, strict=True))]:
            T[a, b] = sign
        return T
    padded = np.zeros((k, max(k, old)))
    padded[:, :old] = C
    U, _, Wt = np.linalg.svd(padded[:, :k])
    return np.asarray(U @ Wt)


def _variances(model: Any) -> Floats:
    for name in ("explained_variance_", "eigenvalues_"):
        if hasattr(model, name):
            return np.asarray(getattr(model, name), np.float64)
    raise ParameterError("expected a model with variances of its components", received=type(model).__name__)
