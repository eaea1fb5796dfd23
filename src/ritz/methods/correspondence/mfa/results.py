"""The named results of groups in MFA.

contribution of g on axis k   Σ v² over its columns                   coordinate  that times λ = Lg(g, axis k)
cos²                          coordinate²/Lg(g, g)                    RV(g, h)    Lg(g, h)/√(Lg(g, g) Lg(h, h))
partial points                F_g = G A_g v_g / √w, whose mean over the G groups is F
inertia ratio                 λ / (G Σ_g ‖A_g v_g‖²): 1 where all groups say the same
partial axes                  r = √(λ₁(g) λ_k/λ_a(g)) v_aᵀ v_k: axes of a group against those of the whole
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.data.tables.labelled import labelled
from ritz.methods.correspondence.mfa.table import GroupedColumns
from ritz.methods.correspondence.results import NO_ROWS, Result

__all__ = ["GroupResults"]

Floats = NDArray[np.float64]

NO_LG = "Lg and RV of this many columns need the moment state, or few rows in memory\nhint: fit with mergeable=True"
NO_PARTS = (
    "partial points are kept for tables in memory only, and not after partial_fit or merge\n"
    "hint: partial_transform(X) gives them"
)
NO_BESIDE = (
    "this model has no supplementary groups, or its rows were outside memory\nhint: supplementary=[…] on rows in memory"
)


class OfGroups(Result):
    """A fitted name with one row a group."""

    def __set_name__(self, owner: type, name: str) -> None:
        super().__set_name__(owner, name)
        self.side = "beside" if name.startswith("supplementary") else "group"


class GroupResults(GroupedColumns):
    """What MFA says of its groups."""

    group_coordinates_ = OfGroups("(G, k) coordinates of the active groups: Lg with each axis, between 0 and 1")
    group_contributions_ = OfGroups("(G, k) shares of the groups in each axis; columns sum to 1")
    group_cos2_ = OfGroups("(G, k) quality of the groups in their map")
    group_correlations_ = OfGroups("(G, k) correlations of the partial points of a group with the axes")
    supplementary_group_coordinates_ = OfGroups("(S, k) coordinates of the supplementary groups")
    supplementary_group_cos2_ = OfGroups("(S, k) quality of the supplementary groups")

    def _held(self, name: str, message: str) -> Any:
        len(self.components_)  # solves a pending state
        held = self.__dict__.get(name)
        if held is None:
            raise _Absent(message)
        return held

    # groups and axes

    def _group_contributions(self) -> Floats:
        squares = self._column_contributions()
        return np.array([squares[places].sum(axis=0) for places in self._group_places().values()])

    def _group_coordinates(self) -> Floats:
        return self._group_contributions() * self.eigenvalues_

    def _group_cos2(self) -> Floats:
        own = np.diag(self._held("_lg", NO_LG))[: len(self._group_places())]
        return np.square(self._group_coordinates()) / own[:, None]

    def _group_correlations(self) -> Floats:
        within = self._held("_within", NO_PARTS)
        with np.errstate(invalid="ignore", divide="ignore"):
            return self._group_contributions() * np.sqrt(self.eigenvalues_) / np.sqrt(within)

    def _supplementary_group_coordinates(self) -> Floats:
        return np.asarray(self._held("_beside", NO_BESIDE)["groups"])

    def _supplementary_group_cos2(self) -> Floats:
        S = len(self._supplementary_group_coordinates())
        return np.square(self._supplementary_group_coordinates()) / np.diag(self._held("_lg", NO_LG))[-S:, None]

    @property
    def inertia_ratio_(self) -> Floats:
        """(k,) inertia between rows over that of all partial points: 1 where the groups agree on the axis."""
        within = self._held("_within", NO_PARTS)
        return self.eigenvalues_ / (len(within) * within.sum(axis=0))

    # groups and groups

    @property
    def lg_(self) -> Any:
        """Lg of all groups, active ones first, and of the whole (``MFA``)."""
        lg = np.asarray(self._held("_lg", NO_LG))
        active, top = len(self._group_places()), float(self.eigenvalues_[0])
        side = lg[:active].sum(axis=0) / top
        whole = lg[:active, :active].sum() / top**2
        return self._square(np.block([[lg, side[:, None]], [side[None, :], np.array([[whole]])]]))

    @property
    def rv_(self) -> Any:
        """RV coefficients of all groups and of the whole: 1 for configurations of the same shape."""
        lg = self._held("_lg", NO_LG)
        active = len(self._group_places())
        whole = np.concatenate([lg, lg[:active].sum(axis=0, keepdims=True)])
        whole = np.concatenate([whole, whole[:, :active].sum(axis=1, keepdims=True)], axis=1)
        root = np.sqrt(np.diag(whole))
        return self._square(whole / np.outer(root, root))

    def _square(self, values: Floats) -> Any:
        names = [*self._group_places(), *self._supplementary_names(), "MFA"]
        if len(values) != len(names):
            names = [*self._group_places(), "MFA"]
        return labelled(values, names, names, self.__dict__.get("_library"), "group")

    def _supplementary_names(self) -> list[str]:
        return list(self.__dict__.get("_beside", {}).get("names", []))

    # partial points and axes

    @property
    def partial_coordinates_(self) -> dict[str, Any]:
        """Coordinates of the rows as each group alone sees them, a table (n, k) a group."""
        parts = self._held("_partial", NO_PARTS)
        return {name: self._labelled(parts[:, g], "row") for g, name in enumerate(self._group_places())}

    @property
    def group_eigenvalues_(self) -> dict[str, Floats]:
        """Eigenvalues of each group's own analysis: PCA, MCA, FAMD or, for counts, CA."""
        len(self.components_)  # solves a pending state
        return {name: held["values"] / held["variables"] for name, held in self._all_separate().items()}

    @property
    def partial_axes_(self) -> Any:
        """Correlations of the axes of every group's own analysis with those of the whole."""
        len(self.components_)  # solves a pending state
        tables = {name: self._partial_axes(name) for name in self._group_places()}
        tables |= dict(self.__dict__.get("_beside", {}).get("axes", {}))
        labels = [f"{name}:{self.about.axis}{a + 1}" for name, table in tables.items() for a in range(len(table))]
        return labelled(
            np.concatenate(list(tables.values())), labels, self._axis_names(), self.__dict__.get("_library"), "axis"
        )

    def _partial_axes(self, name: str) -> Floats:
        held = self.__dict__["_separate"][name]
        cross = held["vectors"].T @ self.components_[:, self._group_places()[name]].T
        return cross * np.sqrt(held["values"][0] / held["values"])[:, None] * np.sqrt(self.eigenvalues_)

    def _all_separate(self) -> dict[str, Any]:
        return {**self.__dict__["_separate"], **self.__dict__.get("_beside", {}).get("separate", {})}

    # names

    def _labelled(self, values: Floats, side: str) -> Any:
        if side not in ("group", "beside"):
            return super()._labelled(values, side)
        names = list(self._group_places()) if side == "group" else self._supplementary_names()
        return labelled(values, names, self._axis_names(), self.__dict__.get("_library"), "group")

    def __getattr__(self, name: str) -> Any:
        message = _MESSAGES.get(name)
        if message is not None and self.__sklearn_is_fitted__():
            raise AttributeError(message)
        return super().__getattr__(name)


class _Absent(AttributeError):
    """A result that this model does not hold."""


_MESSAGES = {
    "lg_": NO_LG,
    "rv_": NO_LG,
    "group_cos2_": NO_LG,
    "group_correlations_": NO_PARTS,
    "inertia_ratio_": NO_PARTS,
    "partial_coordinates_": NO_PARTS,
    "supplementary_group_coordinates_": NO_BESIDE,
    "supplementary_group_cos2_": NO_BESIDE,
    "row_coordinates_": NO_ROWS,
}
