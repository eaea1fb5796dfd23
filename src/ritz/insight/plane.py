"""A fitted model as a plane with a spread: what every distance of a row is made of.

    z = (x − μ) D_σ⁻¹          the row in the frame of the fit, (d)
    y = B z                    coordinates in an orthonormal basis B (k×d) of the plane
    T² = ‖y W‖²                W (k×k) whitens: Λ^-½ for principal axes, R L^-ᵀ where scores are correlated
    Q  = ‖z − Bᵀy‖²            what the plane leaves of the row

Components without variance are no part of the plane: a row that has something along them is a row off the plane. A
kernel model has the same two numbers in its feature space, f(x) and Hoffmann's error, from its own map.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import ParameterError
from ritz._core.tolerance import NOISE_FLOOR, unit_roundoff
from ritz.data.blocks import blocks_of
from ritz.data.validate import require_finite, validate_rows
from ritz.insight.asked import require_fitted
from ritz.methods.correspondence import Correspondence
from ritz.methods.kernel_input import len_of, new_rows
from ritz.methods.kernel_pca import KernelPCA
from ritz.methods.pca import PCA
from ritz.methods.rest import rest_of, wide_axes
from ritz.methods.scaling import divisor_held, require_told
from ritz.methods.svd import SVD
from ritz.project.incomplete import IncompleteMap
from ritz.project.linear import LinearMap
from ritz.project.residual import Frame, Parts

__all__ = ["Plane", "distances", "fit_sums", "mapped", "plane_of", "rows_of"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Plane:
    """The plane of a linear model."""

    basis: Floats  # (k, d) orthonormal rows B
    white: Floats  # (k, k) W
    mean: Floats | None  # (d,)
    scale: Floats | None  # (d,)
    variances: Floats  # (k,) of the scores along the basis where W is diagonal
    rows: float  # Σw of the fit
    divisor: float  # of the variances
    centered: bool
    rest: float  # θ₁: the variance off the plane
    model: Any
    low: Floats | None = None  # (d,) what rounding took from the mean
    chosen: bool = True  # the plane of the largest variances: it overfits the rows it was chosen from

    @property
    def k(self) -> int:
        """Dimensions of the plane."""
        return int(self.basis.shape[0])

    @property
    def d(self) -> int:
        """Columns."""
        return int(self.basis.shape[1])

    @property
    def frame(self) -> Frame:
        """What rows are compared with."""
        return Frame(self.basis, self.white, self.mean, self.scale, self.low)

    @property
    def degrees(self) -> float:
        """Degrees of freedom of the variances: Σw, one less where a mean was estimated."""
        return self.rows - 1 if self.centered else self.rows


def plane_of(model: Any) -> Plane:
    """The plane of a fitted linear model, with the variances that the model itself reports."""
    require_fitted(model)
    if isinstance(model, KernelPCA):
        raise ParameterError(
            "expected a model whose components are directions in the columns",
            received="KernelPCA, whose components lie in a feature space",
            hint="t2, spe and outliers take kernel models; blame and ellipses of columns do not",
        )
    if isinstance(model, (PCA, Correspondence, SVD)):
        require_told(model, "the plane of a model")
        return _principal(model)
    if hasattr(model, "_plane"):  # estimators that are not spectral problems of their table say it themselves
        return Plane(model=model, **model._plane())
    raise ParameterError(
        "expected a fitted PCA, SVD, KernelPCA, RobustPCA, SparsePCA, CA, MCA, FAMD or MFA",
        received=type(model).__name__,
        hint="ritz.insight.t2(ritz.PCA(3).fit(X), X)",
    )


def _principal(model: Any) -> Plane:
    """Of models whose components are eigenvectors: the basis is the components, W = Λ^-½."""
    components = np.asarray(model.components_, np.float64)  # read first: it solves a pending state
    held = model._map()
    linear = held.linear if isinstance(held, IncompleteMap) else held
    if isinstance(model, Correspondence):
        values, divisor, rows = vars(model).get("_lambda", model.eigenvalues_), 1.0, float(model.n_samples_)
    else:
        weight = float(vars(model).get("_weight", model.n_samples_))
        divisor, rows = (weight if isinstance(model, SVD) else divisor_held(model)), weight
        values = np.square(np.asarray(model.singular_values_, np.float64)) / divisor
    keep = _with_variance(np.asarray(values, np.float64), len(components[0]), components, model)
    variances, low = np.asarray(values, np.float64)[keep], None
    if isinstance(model, Correspondence):
        wide, rest = components, max(float(model.certificate_.total) - float(np.sum(variances)), 0.0)
    else:
        wide, low = wide_axes(model), _wide(linear.low)
        rest = rest_of(model) / divisor + float(np.sum(np.asarray(values, np.float64)[~keep]))
    basis = wide[keep] / np.linalg.norm(wide[keep], axis=1, keepdims=True)
    return Plane(
        basis, np.diag(1 / np.sqrt(variances)), _wide(linear.mean), _wide(linear.scale), variances, rows, divisor,
        linear.mean is not None, rest, model, low,
    )  # fmt: skip


def _with_variance(values: Floats, d: int, components: Floats, model: Any) -> NDArray[np.bool_]:
    """Components whose variance is more than rounding of the largest."""
    dtype = vars(model).get("_dtype", np.asarray(model.components_).dtype)
    floor = (NOISE_FLOOR * unit_roundoff(dtype) * np.sqrt(d)) ** 2 * float(np.max(values, initial=0.0))
    return (values > floor) & (np.linalg.norm(components, axis=1) > 0)


def _wide(values: Any) -> Floats | None:
    return None if values is None else np.asarray(values, np.float64)


def rows_of(model: Any, X: Any) -> Any:
    """Rows as the model encodes them: an array, CSR or row blocks; gaps filled where the model knows how."""
    if isinstance(model, Correspondence):
        return model._new(X).rows
    rows = validate_rows(model, X, reset=False)
    held: LinearMap | IncompleteMap = model._map()
    if isinstance(held, IncompleteMap) and not blocks_of(rows).sparse:
        return held.completed(rows)
    return rows


def mapped(plane: Plane, rows: Any, width: int, step: Callable[[Parts], Floats], *, whole: bool = False) -> Floats:
    """``step`` of the parts of every row, (n, width), in one pass; ``whole``: also the parts of sparse rows."""
    out = plane.frame.map(rows, width, step, whole=whole)
    if not bool(np.isfinite(out).all()) and not isinstance(plane.model, Correspondence):
        require_finite(rows, getattr(plane.model, "feature_names_in_", None))
    return out


def distances(model: Any, X: Any, *, diagonal: Any = None) -> tuple[Floats, Floats]:
    """T² and Q of rows, (n,) each, in one pass.

    ``diagonal``: k(x, x) of the rows for a precomputed kernel, which cannot know it.
    """
    require_fitted(model)
    if isinstance(model, KernelPCA):
        return _kernel_distances(model, X, diagonal)
    plane, rows = plane_of(model), rows_of(model, X)
    both = mapped(plane, rows, 2, lambda part: part.distances)
    return both[:, 0], both[:, 1]


def _kernel_distances(model: KernelPCA, X: Any, diagonal: Any) -> tuple[Floats, Floats]:
    """The same in feature space: variances λ/(n − 1) of the coordinates, and Hoffmann's error."""
    rows = new_rows(model, X)
    if len_of(rows) == 0:
        return np.zeros(0), np.zeros(0)
    found = vars(model)["_solved_map"].scores(rows, diagonal=diagonal)
    values = np.abs(np.asarray(model.eigenvalues_, np.float64)) / max(model.n_samples_ - 1, 1)
    keep = values > unit_roundoff(vars(model)["_dtype"]) * float(np.max(values, initial=0.0))
    F = np.asarray(found.coordinates, np.float64)[:, keep]
    return np.square(F / np.sqrt(values[keep])).sum(axis=1), np.asarray(found.reconstruction_error, np.float64)


def fit_sums(model: Any) -> tuple[float, float, float]:
    """Σw, Σw·T² and Σw·Q of the rows of the fit, which the model knows without them; NaN where it does not."""
    known = vars(model).get("_sums")  # of models whose variances are not those of all rows
    if known is not None:
        return tuple(known)
    if isinstance(model, KernelPCA):
        n, values = model.n_samples_, np.abs(np.asarray(model.eigenvalues_, np.float64))
        k = np.count_nonzero(values > unit_roundoff(vars(model)["_dtype"]) * float(np.max(values, initial=0.0)))
        exact = "eigenvectors_" in vars(model)  # Nyström's trace is that of its features, Q counts what they miss
        return (
            float(n),
            float(k * (n - 1)),
            max(model.total_variance_ - float(np.sum(values)), 0.0) if exact else np.nan,
        )
    plane = plane_of(model)
    weight = 1.0 if isinstance(model, Correspondence) else plane.rows
    return weight, plane.k * plane.divisor, plane.rest * plane.divisor
