"""The named results of groups in MFA.

contribution of g on axis k   Σ v² over its columns                   coordinate  that times λ = Lg(g, axis k)
cos²                          coordinate²/Lg(g, g)                    RV(g, h)    Lg(g, h)/√(Lg(g, g) Lg(h, h))
partial points                F_g = G A_g v_g / √w, whose mean over the G groups is F
inertia ratio                 λ / (G Σ_g ‖A_g v_g‖²): 1 where all groups say the same
partial axes                  r = √(λ₁(g) λ_k/λ_a(g)) v_aᵀ v_k: axes of a group against those of the whole
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.data.tables.labelled import labelled
from ritz.methods.correspondence.encoded.variables import MixedColumns, Variables
from ritz.methods.correspondence.results import Side

__all__ = [
    "GroupedColumns", "GroupedVariables", "Groups", "SupplementaryGroups", "group_eigenvalues",
    "inertia_ratio", "lg_table", "partial_axes", "partial_coordinates", "rv_table",
    "supplementary_results",
]  # fmt: skip

Floats = NDArray[np.float64]

NO_LG = "Lg and RV of this many columns need the moment state, or few rows in memory\nhint: fit with mergeable=True"
NO_PARTS = (
    "partial points are kept for tables in memory only, and not after partial_fit or merge\n"
    "hint: partial_transform(X) gives them"
)
NO_BESIDE = (
    "this model has no supplementary groups, or its rows were outside memory\nhint: supplementary=[…] on rows in memory"
)


def _needed(value: Any, message: str) -> Any:
    """What a fit kept; where it kept no such thing, an error that says why."""
    if value is None:
        raise AttributeError(message)
    return value


# columns and variables


class GroupedColumns(MixedColumns):
    """Columns of groups: numbers, categories, and counts, which are parts of a profile."""

    def __init__(self, model: Any) -> None:
        super().__init__(model)
        self.counts = np.zeros(self.encoder.d, bool)
        self.counts[model._tables().all] = True

    def shares(self) -> Floats:
        """(d,) 1 for numbers, p for categories, f for counts."""
        return np.where(self.counts, self.record.means, super().shares())

    def factors(self) -> Floats:
        """(d, 1) scale over spread of numbers, over share of categories and counts; NaN for those set aside."""
        share, still = self.shares(), self.still
        by = np.where(np.arange(len(share)) < self.p, self.record.spread, share)
        by = np.where(self.counts, share, by)
        return np.where(still, np.nan, self.record.scale / np.where(still, 1.0, by))[:, None]

    def masses(self) -> Floats:
        """Shares over the first eigenvalue of their group."""
        weight = self.shares() / np.square(self.record.first)
        return np.asarray(weight / weight.sum())

    def squares(self) -> Floats:
        """As in an FAMD; of counts as in a CA."""
        squares, at = super().squares(), self.counts
        squares[at] = self.inertias()[at] * np.square(self.factors()[at, 0])
        return squares

    def norms(self) -> Floats:
        """(d,) squared norms of the rows of AᵀA, which the fit knew."""
        return super().norms() if self.record.row_norms is None else np.asarray(self.record.row_norms)


class GroupedVariables(Variables):
    """Variables of groups."""

    def coordinates(self) -> Floats:
        """(p + J, k) r² and η²; a count is part of a profile and has none."""
        values = super().coordinates()
        values[: self.p][self.columns.counts[: self.p]] = np.nan  # type: ignore[attr-defined]
        return values


# groups and axes


class Groups(Side):
    """The active groups."""

    corner = "group"

    def __init__(self, model: Any) -> None:
        super().__init__(model)
        self.places = model._group_places()

    def labels(self) -> Sequence[Any] | None:
        """Names of the groups."""
        return list(self.places)

    def contributions(self) -> Floats:
        """(G, k) Σ v² over the columns of each."""
        squares = self.model._side("column").contributions()
        return np.array([squares[places].sum(axis=0) for places in self.places.values()])

    def coordinates(self) -> Floats:
        """Those times λ."""
        return np.asarray(self.contributions() * self.model.eigenvalues_)

    def cos2(self) -> Floats:
        """Coordinates² over Lg(g, g)."""
        own = np.diag(_needed(self.record.lg, NO_LG))[: len(self.places)]
        return np.asarray(np.square(self.coordinates()) / own[:, None])

    def correlations(self) -> Floats:
        """Of partial points with the axes."""
        within = _needed(self.record.within, NO_PARTS)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(self.contributions() * np.sqrt(self.model.eigenvalues_) / np.sqrt(within))


class SupplementaryGroups(Side):
    """Groups that took no part in the axes."""

    corner = "group"

    def labels(self) -> Sequence[Any] | None:
        """Names of the groups."""
        return _beside_names(self.model)

    def coordinates(self) -> Floats:
        """(S, k)."""
        return np.asarray(_needed(self.record.beside, NO_BESIDE)["groups"])

    def cos2(self) -> Floats:
        """Coordinates² over Lg(g, g)."""
        points = self.coordinates()
        return np.asarray(np.square(points) / np.diag(_needed(self.record.lg, NO_LG))[-len(points) :, None])


def supplementary_results(model: Any, result: str) -> Any:
    """A result of the columns of the supplementary groups."""
    len(model.components_)  # solves a pending state
    told = _needed(model._record.beside, NO_BESIDE)["results"][result]
    return labelled(told["values"], told["labels"], model._axis_names(), model._record.library, "column")


def _beside_names(model: Any) -> list[str]:
    return list((model._record.beside or {}).get("names", []))


def inertia_ratio(model: Any) -> Floats:
    """(k,) inertia between rows over that of all partial points."""
    within = _needed(model._record.within, NO_PARTS)
    return np.asarray(model.eigenvalues_ / (len(within) * within.sum(axis=0)))


# groups and groups


def lg_table(model: Any) -> Any:
    """Lg of all groups and of the whole."""
    lg = np.asarray(_needed(model._record.lg, NO_LG))
    active, top = len(model._group_places()), float(model.eigenvalues_[0])
    side = lg[:active].sum(axis=0) / top
    every = lg[:active, :active].sum() / top**2
    return _square(model, np.block([[lg, side[:, None]], [side[None, :], np.array([[every]])]]))


def rv_table(model: Any) -> Any:
    """RV coefficients of all groups and of the whole."""
    lg = _needed(model._record.lg, NO_LG)
    active = len(model._group_places())
    every = np.concatenate([lg, lg[:active].sum(axis=0, keepdims=True)])
    every = np.concatenate([every, every[:, :active].sum(axis=1, keepdims=True)], axis=1)
    root = np.sqrt(np.diag(every))
    return _square(model, every / np.outer(root, root))


def _square(model: Any, values: Floats) -> Any:
    names = [*model._group_places(), *_beside_names(model), "MFA"]
    if len(values) != len(names):
        names = [*model._group_places(), "MFA"]
    return labelled(values, names, names, model._record.library, "group")


# partial points and axes


def partial_coordinates(model: Any) -> dict[str, Any]:
    """Coordinates of the rows as each group alone sees them."""
    points, rows = _needed(model._record.partial, NO_PARTS), model._side("row")
    return {name: rows.labelled(points[:, g]) for g, name in enumerate(model._group_places())}


def group_eigenvalues(model: Any) -> dict[str, Floats]:
    """Eigenvalues of each group's own analysis."""
    separate = {**model._record.separate, **(model._record.beside or {}).get("separate", {})}
    return {name: own["values"] / own["variables"] for name, own in separate.items()}


def partial_axes(model: Any) -> Any:
    """Correlations of the axes of every group's own analysis with those of the whole."""
    tables = {name: _partial_axes(model, name, places) for name, places in model._group_places().items()}
    tables |= dict((model._record.beside or {}).get("axes", {}))
    labels = [f"{name}:{model.about.axis}{a + 1}" for name, table in tables.items() for a in range(len(table))]
    return labelled(np.concatenate(list(tables.values())), labels, model._axis_names(), model._record.library, "axis")


def _partial_axes(model: Any, name: str, places: NDArray[np.intp]) -> Floats:
    own = model._record.separate[name]
    cross = own["vectors"].T @ model.components_[:, places].T
    return np.asarray(cross * np.sqrt(own["values"][0] / own["values"])[:, None] * np.sqrt(model.eigenvalues_))
