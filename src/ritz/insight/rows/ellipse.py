"""Confidence ellipses: where rows lie, where their mean lies, where a point of a correspondence map lies.

    {x : (x − m)ᵀ C⁻¹ (x − m) ≤ c²}      centre m, half axes c√(eigenvalues of C), along its eigenvectors

    rows of a group    C = S, c² = 2(n² − 1)/(n(n − 2)) F(2, n − 2)       where a further row of the group would lie
    mean of a group    C = S/n, c² = 2(n − 1)/(n − 2) F(2, n − 2)         where the mean would lie in other data
    row i of a CA      C = Vᵀ D_c^-½ (D_p − ppᵀ) D_c^-½ V/nᵢ, c² = χ²_2   p its profile, nᵢ its counts: multinomial
    column j           the same with the rows' side of the transition formulae

``limit="chi2"`` takes χ²_2 in place of F, as FactoMineR does [HLP17]. The axes themselves are taken as known; the
ellipses of a correspondence map are the exact covariance of what FactoMineR's ellipseCA draws by simulation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import InputError, ParameterError
from ritz._core.tabular import Tabular
from ritz.data.tables.frames import is_missing
from ritz.data.validate import validate_weights
from ritz.data.words import nearest
from ritz.insight.arguments import component_numbers
from ritz.insight.axes.of_model import axis_names
from ritz.insight.calls import asked
from ritz.methods.fitted import fitted_of, require_fitted
from ritz.project.transition import inverse_root

__all__ = ["Ellipse", "Ellipses", "ellipse", "point_covariances"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Ellipse(Tabular):
    """One ellipse in the plane of two components.

    Attributes
    ----------
    name : of the group, row or column; None for all rows
    center : (2,)
    covariance : (2, 2)
    radius : c: the ellipse is at this distance in units of the covariance
    n : rows, or counts, that it rests on
    """

    name: Any
    center: Floats
    covariance: Floats
    radius: float
    n: float

    @property
    def axes(self) -> Floats:
        """(2,) half axes, the longer first."""
        if not np.isfinite(self.covariance).all():  # too few rows for one
            return np.full(2, np.nan)
        values = np.linalg.eigvalsh(self.covariance)[::-1]
        return np.asarray(self.radius * np.sqrt(np.maximum(values, 0.0)), np.float64)

    @property
    def angle(self) -> float:
        """Direction of the longer half axis, in degrees from the first component, in (−90, 90]."""
        if not np.isfinite(self.covariance).all():
            return float("nan")
        _, vectors = np.linalg.eigh(self.covariance)
        x, y = vectors[:, 1]
        degrees = float(np.degrees(np.arctan2(y, x)))
        return degrees - 180 if degrees > 90 else degrees + 180 if degrees <= -90 else degrees

    @property
    def area(self) -> float:
        """π times the half axes."""
        return float(np.pi * np.prod(self.axes))

    def contains(self, points: Any) -> NDArray[np.bool_]:
        """Whether points (m, 2) lie inside."""
        if not np.isfinite(self.covariance).all():
            return np.zeros(len(np.atleast_2d(np.asarray(points))), bool)
        gap = np.atleast_2d(np.asarray(points, np.float64)) - self.center
        inverse = np.linalg.pinv(self.covariance, hermitian=True)
        inside = np.einsum("ij,jk,ik->i", gap, inverse, gap) <= self.radius**2
        off = gap - gap @ (self.covariance @ inverse)  # a flat ellipse has points beside it
        return inside & (np.abs(off).max(axis=1) <= 1e-9 * (1 + np.abs(gap).max(axis=1)))

    def __repr__(self) -> str:
        (x, y), (long, short) = self.center, self.axes
        name = "" if self.name is None else f"{self.name!r}, "
        shape = f"half axes {long:.4g} and {short:.4g}, {self.angle:.0f}°"
        return f"Ellipse({name}center ({x:.4g}, {y:.4g}), {shape}, n={self.n:g})"

    def path(self, points: int = 100) -> Floats:
        """(points, 2) along the ellipse, closed."""
        if not np.isfinite(self.covariance).all():
            return np.full((points, 2), np.nan)
        values, vectors = np.linalg.eigh(self.covariance)
        turn = np.linspace(0, 2 * np.pi, points)
        circle = np.column_stack([np.cos(turn), np.sin(turn)])
        return self.center + self.radius * (circle * np.sqrt(np.maximum(values, 0.0))) @ vectors.T

    def _table(self) -> dict[str, Any]:
        return Ellipses({self.name: self})._table()


class Ellipses(Tabular, dict[Any, Ellipse]):
    """Ellipses by name, in order of appearance."""

    def __repr__(self) -> str:
        return "\n".join(map(repr, self.values()))

    def _table(self) -> dict[str, Any]:
        every = list(self.values())
        centers, axes = np.array([e.center for e in every]).reshape(-1, 2), [e.axes for e in every]
        return {
            "name": [e.name for e in every], "x": centers[:, 0], "y": centers[:, 1],
            "major": [float(np.max(one)) for one in axes], "minor": [float(np.min(one)) for one in axes],
            "angle": [e.angle for e in every], "area": [e.area for e in every], "n": [e.n for e in every],
        }  # fmt: skip


@asked
def ellipse(
    model: Any, X: Any, groups: Any = None, *, of: str = "rows", level: float = 0.95,
    components: tuple[int | str, int | str] = (0, 1), limit: str = "hotelling", sample_weight: Any = None,
) -> Ellipses:  # fmt: skip
    """Confidence ellipses in the plane of two components, by name.

    Parameters
    ----------
    model : fitted model with ``transform``
        PCA and its relatives, kernel PCA, the correspondence family.
    X : rows, as ``transform`` takes them
        For the points of a CA the table of counts that was fitted.
    groups : (n,) labels, or None
        One ellipse a group, rows without a label in none; None: one for all rows.
    of : "rows", "means", "row-points" or "column-points"
        Where rows of a group lie, where its mean lies, or, for a CA, where each row or column of the table lies
        given how many counts it has.
    level : float
        Probability.
    components : pair of int or str
        Which two components, from 0 or by name, 0 or "PC1".
    limit : "hotelling" or "chi2"
        Allow for the covariance being an estimate, or not.
    sample_weight : (n,) frequencies of the rows, or None

    Examples
    --------
    >>> import ritz
    >>> from ritz import insight
    >>> from sklearn.datasets import load_iris
    >>> iris = load_iris()
    >>> pca = ritz.PCA(2).fit(iris.data)
    >>> found = insight.ellipse(pca, iris.data, iris.target_names[iris.target], of="means")
    >>> found["setosa"].center.round(2), found["setosa"].axes.round(2)
    (array([-2.64,  0.19]), array([0.17, 0.06]))
    """
    require_fitted(model)
    if not (isinstance(level, (int, float)) and 0 < level < 1):
        raise ParameterError("level must be a number between 0 and 1", received=repr(level), hint="level=0.95")
    if limit not in ("hotelling", "chi2"):
        raise ParameterError("limit must be 'hotelling' or 'chi2'", received=repr(limit), hint="limit='hotelling'")
    pair = _pair(model, components)
    if of in ("row-points", "column-points"):
        return _points(model, X, of, level, pair)
    if of not in ("rows", "means"):
        raise ParameterError(
            "of must be 'rows', 'means', 'row-points' or 'column-points'",
            received=repr(of),
            hint=f"of={nearest(of, ('rows', 'means', 'row-points', 'column-points'))!r}",
        )
    T = np.asarray(model.transform(X), np.float64)[:, pair]
    weights = np.ones(len(T)) if sample_weight is None else validate_weights(sample_weight, len(T))
    labels = np.zeros(len(T), int) if groups is None else np.asarray(groups)
    if labels.shape != (len(T),):
        raise InputError(
            f"groups needs one label for each of the {len(T)} rows", received=f"shape {labels.shape}",
            hint="groups=table['name'], the column itself",
        )  # fmt: skip
    ellipses = Ellipses()
    for label in dict.fromkeys(labels.tolist()):
        if groups is not None and (is_missing(label) or label != label):
            continue  # rows without a group are in no ellipse
        name = None if groups is None else label
        ellipses[name] = _group(name, T[labels == label], weights[labels == label], of == "means", level, limit)
    return ellipses


def _pair(model: Any, components: Any) -> list[int]:
    pair = component_numbers(components, axis_names(model, int(model.n_components_)))
    if len(pair) != 2 or pair[0] == pair[1]:
        raise ParameterError("a plane has two different components", received=repr(components),
                             hint="components=(0, 1)")  # fmt: skip
    return pair


def _group(name: Any, T: Floats, weights: Floats, mean: bool, level: float, limit: str) -> Ellipse:
    n = float(np.sum(weights))
    if n <= 2:
        return Ellipse(name, np.average(T, axis=0, weights=weights), np.full((2, 2), np.nan), np.nan, n)
    center = np.average(T, axis=0, weights=weights)
    gap = (T - center) * np.sqrt(weights)[:, None]
    S = gap.T @ gap / (n - 1)
    return Ellipse(name, center, S / n if mean else S, _radius(n, mean, level, limit), n)


def _radius(n: float, mean: bool, level: float, limit: str) -> float:
    from scipy.stats import chi2, f

    if limit == "chi2":
        return float(np.sqrt(chi2.ppf(level, 2)))
    factor = 2 * (n - 1) / (n - 2) if mean else 2 * (n * n - 1) / (n * (n - 2))
    return float(np.sqrt(factor * f.ppf(level, 2, n - 2)))


def _points(model: Any, X: Any, of: str, level: float, pair: list[int]) -> Ellipses:
    """Of the rows or columns of a contingency table."""
    from scipy.stats import chi2

    radius = float(np.sqrt(chi2.ppf(level, 2)))
    names, centers, C, totals = point_covariances(model, X, of, pair)
    each = zip(names, centers, C, totals, strict=True)
    return Ellipses({name: Ellipse(name, center, spread, radius, float(n)) for name, center, spread, n in each})


def point_covariances(model: Any, X: Any, of: str, axes: list[int]) -> tuple[list[Any], Floats, Floats, Floats]:
    """Names, places (m, a), covariances (m, a, a) and counts (m,) of the points of a correspondence map."""
    fitted = fitted_of(model)
    if fitted.about.takes != "counts":
        fitted.refuse(f"ellipses of={of!r}", "they are about the counts of a table, which CA analyses",
                     "of='means' with groups=… for the categories of other methods")  # fmt: skip
    coded = fitted.encoded(X)
    profiles = coded.rows if isinstance(coded.rows, np.ndarray) else coded.rows.toarray()
    totals = np.asarray(coded.weights, np.float64)
    if of == "row-points":
        masses = fitted.result("column_masses_")
        plane = _wide(model.components_[axes].T, masses)
        names = coded.labels if coded.labels is not None else list(range(len(totals)))
        return list(names), *_multinomial(profiles, totals, plane, masses @ plane), totals
    counts = profiles * totals[:, None]
    sums = counts.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        shares = np.where(sums > 0, counts / sums, 0.0).T
    F = fitted.result("row_coordinates_")
    if len(F) != len(totals):
        raise InputError(
            f"expected the table of the fit, with {len(F)} rows", received=f"{len(totals)} rows",
            hint="ellipse(model, table, of='column-points')",
        )  # fmt: skip
    plane = np.nan_to_num(F * inverse_root(model.eigenvalues_))[:, axes]
    names = fitted.column_labels() or list(range(len(sums)))
    return list(names), *_multinomial(shares, sums, plane, np.zeros(len(axes))), sums


def _wide(V: Floats, masses: Any) -> Floats:
    """D_c^-½ V: what a profile is multiplied with; columns without counts have no place."""
    c = np.asarray(masses, np.float64)
    return np.where(c[:, None] > 0, V / np.sqrt(np.where(c > 0, c, 1.0))[:, None], 0.0)


def _multinomial(profiles: Floats, totals: Floats, plane: Floats, shift: Floats) -> tuple[Floats, Floats]:
    """Places and covariances of pᵀA for multinomial p with n counts: Aᵀ(D_p − ppᵀ)A/n."""
    a = plane.shape[1]
    centers, C = profiles @ plane, np.full((len(totals), a, a), np.nan)
    for i in np.flatnonzero(totals > 0):
        C[i] = ((plane.T * profiles[i]) @ plane - np.outer(centers[i], centers[i])) / totals[i]
    return centers - shift, C
