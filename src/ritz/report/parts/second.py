"""Two tables: what the components of the first say of the second, by component and by column.

share of X, share of Y by component      coefficients b_jl of y_l = c_l + Σ_j b_jl x_j, in standard deviations of both
"""

from __future__ import annotations

import numpy as np

from ritz.report.context import Context
from ritz.report.html import bdi, details, join, number, percent, table, tag
from ritz.report.part import Content, Part

__all__ = ["PART"]

#: Columns of either table that are listed.
SHOWN = 12


def _applies(about: Context) -> bool:
    return hasattr(about.model, "target_names_") and hasattr(about.model, "coef_")


def _build(about: Context) -> Content:
    model = about.model
    names = [str(name) for name in model.target_names_]
    of_y = np.asarray(model.y_explained_variance_ratio_, np.float64)
    of_x = np.asarray(model.explained_variance_ratio_, np.float64)
    rho = getattr(model, "canonical_correlations_", None)
    whose = "its only column" if len(names) == 1 else f"its {len(names)} columns together"
    words = join(
        "The second table is ", bdi(names[0]) if len(names) == 1 else f"{len(names)} columns",
        f". {about.components(len(of_y)).capitalize()} of the first table explain {percent(of_x.sum())} of the first "
        f"table and {percent(of_y.sum())} of the variance of the second, of {whose}.",
    )  # fmt: skip
    head = ("component", "of the first table", "of the second table", *(() if rho is None else ("correlation",)))
    rows = [
        (name, percent(of_x[i]), percent(of_y[i]), *(() if rho is None else (number(rho[i], 4),)))
        for i, name in enumerate(about.known.axis_names())
    ]
    shares = table(head, rows, "What each component explains beside those before it")
    return Content(join(tag("p", words), shares, _tests(model), _coefficients(about, names)))


def _tests(model: object) -> object:
    """Bartlett's tests of canonical correlations."""
    p = getattr(model, "p_values_", None)
    if p is None or not np.isfinite(p).all():
        return ""
    rows = [(f"{j}", number(model.wilks_[j], 4), number(model.chi2_[j], 4), number(model.dof_[j]), f"{p[j]:.2g}")  # type: ignore[attr-defined]
            for j in range(len(p))]  # fmt: skip
    head = ("no more than", "Wilks' Λ", "χ²", "degrees of freedom", "p")
    return details("How many correlations differ from zero", table(head, rows, "Bartlett's tests", words=0))


def _coefficients(about: Context, names: list[str]) -> object:
    """In standard deviations, the columns that count most first."""
    model = about.model
    spread = np.ones(model.n_features_in_) if model.scale_ is None else np.asarray(model.scale_, np.float64)
    unit = np.ones(len(names)) if model.y_scale_ is None else np.asarray(model.y_scale_, np.float64)
    B = np.asarray(model.coef_, np.float64) * spread / unit[:, None]
    columns = [str(name) for name in getattr(model, "feature_names_in_", [f"x{j}" for j in range(B.shape[1])])]
    vip = getattr(model, "vip_", None)
    order = np.argsort(-np.max(np.abs(B), axis=0))[:SHOWN]
    head = ("column", *(bdi(name) for name in names[:SHOWN]), *(() if vip is None else ("VIP",)))
    rows = [
        (bdi(columns[j]), *(number(B[i, j]) for i in range(min(len(names), SHOWN))),
         *(() if vip is None else (number(vip[j]),)))
        for j in order
    ]  # fmt: skip
    more = f", {len(order)} of {len(columns)}" if len(order) < len(columns) else ""
    scaled = "in standard deviations" if model.scale_ is not None else "in the units of the columns"
    return details("Coefficients", table(head, rows, f"Coefficients {scaled}{more}"))


PART = Part("second", "What the first table says of the second", _applies, _build)
