"""The axes of a fitted model: what loadings, contributions and rotations are made of.

    loadings L = V Λ^½   (d, k)        V directions, Λ variances of the scores along them, both in the frame of the fit

PCA and its relatives: variances about the mean, as the model reports them. SVD: mean squares σ²/Σw, since it is about
zero. FactorAnalysis: the loadings of the model itself, with Φ the correlations of its factors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import InputError, ParameterError
from ritz.data.blocks import blocks_of
from ritz.data.frames import is_frame
from ritz.data.labelled import labelled, library_of, row_labels
from ritz.data.statistics import Statistics
from ritz.data.validate import validate_weights
from ritz.insight.asked import require_fitted
from ritz.insight.plane import rows_of
from ritz.methods.base import LinearEstimator
from ritz.methods.correspondence import Correspondence
from ritz.methods.factor_analysis import FactorAnalysis
from ritz.methods.kernel_pca import KernelPCA
from ritz.methods.pca import PCA
from ritz.methods.robust_pca import RobustPCA
from ritz.methods.scaling import divisor_of, require_told
from ritz.methods.sparse_pca import SparsePCA
from ritz.methods.svd import SVD

__all__ = [
    "Axes",
    "axes_of",
    "axis_names",
    "column_labels",
    "columns_named",
    "independent",
    "rows_named",
    "rows_valued",
    "scores_of",
    "spread",
    "weights_of",
]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Axes:
    """Loadings of a linear model and the variances behind them."""

    model: Any
    loadings: Floats  # (d, k)
    variances: Floats  # (k,)
    total: float  # the variance of all columns in the frame of the fit
    correlations: Floats | None = None  # (k, k) Φ where factors are correlated

    @property
    def structure(self) -> Floats:
        """Covariances of the columns with the standardised scores, (d, k): LΦ."""
        return self.loadings if self.correlations is None else self.loadings @ self.correlations


def axes_of(model: Any) -> Axes:
    """The axes of a fitted model whose components are made of columns."""
    require_fitted(model)
    if isinstance(model, FactorAnalysis):
        phi = np.asarray(model.factor_correlations_, np.float64)
        L = np.asarray(model.components_, np.float64).T
        oblique = bool(np.any(phi - np.eye(len(phi))))
        return Axes(model, L, np.asarray(model.explained_variance_, np.float64), model.total_variance_,
                    phi if oblique else None)  # fmt: skip
    if isinstance(model, Correspondence):
        raise ParameterError(
            "loadings belong to models of columns of numbers", received=type(model).__name__,
            hint="column_coordinates_, column_contributions_ and column_cos2_ say the same of its columns",
        )  # fmt: skip
    if isinstance(model, KernelPCA):
        raise ParameterError(
            "expected a model whose components are made of columns",
            received="KernelPCA, whose components lie in a feature space",
            hint="describe(model, X) says which columns go with its axes",
        )
    if not isinstance(model, LinearEstimator):
        raise ParameterError(
            "expected a fitted PCA, SVD, RobustPCA, SparsePCA or FactorAnalysis of Ritz",
            received=f"{type(model).__module__.split('.')[0]}'s {type(model).__name__}", hint="ritz.PCA(3).fit(X)",
        )  # fmt: skip
    V = np.asarray(model.components_, np.float64).T  # read first: it solves a pending state
    require_told(model, "what columns and components have in common")
    if isinstance(model, SVD):
        weight = float(vars(model)["_weight"])
        values = np.square(np.asarray(model.singular_values_, np.float64)) / weight
        return Axes(model, V * np.sqrt(values), values, float(model.total_) / weight)
    values = np.asarray(model.explained_variance_, np.float64)
    return Axes(model, V * np.sqrt(values), values, float(model.total_variance_))


def independent(model: Any, what: str) -> None:
    """Refuse models whose components overlap where sums over components are asked for."""
    if isinstance(model, SparsePCA):
        raise ParameterError(
            f"{what} sum over components that do not overlap", received="SparsePCA, whose components are correlated",
            hint="explained_variance_ holds what each component adds to those before it",
        )  # fmt: skip


def spread(model: Any, X: Any = None, sample_weight: Any = None) -> Floats:
    """Standard deviation of every column in the frame of the fit, (d,); about zero for an SVD."""
    if isinstance(model, FactorAnalysis):
        return np.sqrt(np.asarray(model.communalities_ + model.uniquenesses_, np.float64)) * _unscaled(model)
    if isinstance(model, RobustPCA):  # of the good rows: V(Λ − σ²)Vᵀ + σ²I
        V, noise = np.asarray(model.components_, np.float64), float(model.noise_variance_)
        gains = np.maximum(np.asarray(model.explained_variance_, np.float64) - noise, 0.0)
        return np.asarray(np.sqrt(np.square(V).T @ gains + noise))
    if X is not None:
        return _measured(model, X, sample_weight)
    scaled = getattr(model, "scale_", None) is not None
    if isinstance(model, PCA) and scaled:
        return np.ones(model.n_features_in_)
    state = vars(model).get("_state")
    if isinstance(model, PCA) and model.center and state is not None:
        return np.asarray(np.sqrt(np.diag(state.scatter) / divisor_of(state)) * state.unit)
    raise InputError(
        f"{type(model).__name__} did not keep how much its columns vary", received="no rows",
        hint="pass the rows of the fit: structure(model, X)",
    )  # fmt: skip


def _unscaled(model: Any) -> Any:
    return 1.0 if model.scale_ is not None else vars(model)["_spread"]


def _measured(model: Any, X: Any, sample_weight: Any) -> Floats:
    rows = rows_of(model, X)
    weights = None if sample_weight is None else validate_weights(sample_weight, rows.shape[0])
    column = Statistics(blocks_of(rows), weights, np.float64, getattr(model, "feature_names_in_", None)).column
    squares = np.asarray(column.squares, np.float64) * column.unit**2
    if isinstance(model, SVD):
        return np.asarray(np.sqrt(squares / column.weight + np.square(column.mean)))
    scale = getattr(model, "scale_", None)
    found = np.sqrt(squares / divisor_of(column))
    return np.asarray(found if scale is None else found / np.asarray(scale, np.float64))


# names


def axis_names(model: Any, k: int) -> list[str]:
    """PC1, PC2, … as files and reports say."""
    return [f"{getattr(type(model), '_axis', 'PC')}{i + 1}" for i in range(k)]


def column_labels(model: Any) -> list[str] | None:
    """Names of the columns of the fit; None where it had none."""
    names = getattr(model, "feature_names_in_", None)
    return None if names is None else [str(name) for name in names]


def columns_named(model: Any, values: Floats, names: Sequence[str] | None) -> Any:
    """Results of the columns: a frame of the library of the fit (pandas where it is not known), or an array."""
    labels = column_labels(model)
    if labels is None:
        return values
    library = vars(model).get("_library") or ("pandas" if find_spec("pandas") else None)
    return labelled(values, labels, names, library, "column")


def rows_named(X: Any, values: Floats, names: Sequence[str] | None) -> Any:
    """Results of the rows, as the library of X holds them."""
    return labelled(values, row_labels(X), names, library_of(X), "row")


def rows_valued(X: Any, values: Floats) -> Any:
    """One number a row: a Series where X is a frame of pandas, whose rows have names; an array otherwise."""
    return rows_named(X, values, None) if library_of(X) == "pandas" and is_frame(X) else values


# rows


def scores_of(model: Any, X: Any) -> Floats:
    """Coordinates of rows as variances count them: those of a whitening model get their spread back."""
    require_fitted(model)
    F = model.transform(X)
    F = np.asarray(F.to_numpy() if hasattr(F, "to_numpy") else F, np.float64)  # set_output may give a frame
    if getattr(model, "whiten", False):
        F = F * np.sqrt(np.asarray(model.explained_variance_, np.float64))
    return F


def weights_of(model: Any, X: Any, n: int, sample_weight: Any) -> Floats:
    """(n,) weights of the rows; the rows of a CA weigh what they count."""
    if isinstance(model, Correspondence):
        return np.asarray(model._new(X, sample_weight).weights, np.float64)
    return np.ones(n) if sample_weight is None else validate_weights(sample_weight, n)
