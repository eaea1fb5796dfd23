"""Groups that take no part in the axes, placed against them.

    own analysis       B (n×m) the group's columns under their own scale, Λ, V;    A = B/√λ₁
    group on axis k    Lg = Σⱼ (Σ w aⱼ f_k)²,   f the standard coordinates of the rows
    Lg with group h    ‖AᵀD_w A_h‖²,   partial axes   Σ w B v_a f_k / √λ_a
    counts             bᵢⱼ = (fᵢⱼ − cⱼ fᵢ.)/(wᵢ √cⱼ),   fᵢⱼ shares of the table's total, cⱼ and fᵢ. their sums

Rows must be in memory: their coordinates are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ritz.methods.correspondence.mca.supplementary import RESULTS, Sums
from ritz.methods.correspondence.mfa.rows import count_totals
from ritz.methods.correspondence.mfa.separate import from_rows, own_axes
from ritz.methods.correspondence.mfa.table import look
from ritz.project.transition import cos2, inverse_root

if TYPE_CHECKING:
    from ritz.methods.correspondence.encoded.encoded import EncodedTable
    from ritz.methods.correspondence.mfa.mfa import MFA

__all__ = ["beside", "keep_beside", "lg_with"]

Floats = NDArray[np.float64]


class _Group:
    """A supplementary group: its columns, its own analysis, where it lies."""

    def __init__(self, model: MFA, name: str, columns: list[str], coded: EncodedTable) -> None:
        table, w = coded.table, np.asarray(model._record.row_weights)
        self.name, self.w, self.weighs = name, w, w > 0
        counts = name in model.frequencies
        self.encoder = look(model, table, w, columns, columns if counts else [])
        rows = self.encoder.rows(table, unseen=None, memory=model.memory)
        self.rows = rows if isinstance(rows, np.ndarray) else rows.toarray()
        B, self.scale = self._counts(columns) if counts else self._scaled(model, name)
        spectrum = from_rows(model, B[self.weighs], w[self.weighs], np.ones(B.shape[1]), self.encoder.labels)
        self.values, self.vectors = own_axes(spectrum, name)
        self.B = np.where(self.weighs[:, None], B, 0.0)
        self.variables = self.encoder.vocabulary.J if self.encoder.p == 0 else 1
        self.counts = counts

    def _scaled(self, model: MFA, name: str) -> tuple[Floats, Floats]:
        p, w = self.encoder.p, self.w
        centred = self.rows - w @ self.rows
        share = w @ self.rows
        spread = np.sqrt(w @ np.square(centred))
        own = np.concatenate(
            [spread[:p] if model._grouping.scales(name) else np.ones(p), np.sqrt(np.maximum(share[p:], 0.0))]
        )
        still = spread <= 1e-14 * np.maximum(np.abs(share), 1e-300)
        own = np.where(still | (own == 0), 1.0, own)
        return np.where(still, 0.0, centred) / own, own

    def _counts(self, columns: list[str]) -> tuple[Floats, Floats]:
        count_totals(self.rows, columns)
        f = np.where(self.weighs[:, None], self.rows, 0.0)
        f = f / max(float(f.sum()), 1e-300)
        c = f.sum(axis=0)
        root = np.sqrt(np.where(c > 0, c, 1.0))
        w = np.where(self.weighs, self.w, 1.0)[:, None]
        return (f - np.outer(f.sum(axis=1), c)) / (w * root), root

    @property
    def A(self) -> Floats:
        """Columns (n, m) as they would enter the whole."""
        return self.B / np.sqrt(self.values[0])

    def placed(self, model: MFA, f: Floats, coded: EncodedTable) -> dict[str, tuple[Floats, list[str]]]:
        """Every result of its columns."""
        if not self.counts:
            sums = Sums(self.encoder, f, self.w, self.rows)
            return {result: model._placed(sums, result, coded) for result in RESULTS}
        G = self.B.T @ (self.w[:, None] * f) / self.scale[:, None]
        squares = (self.w @ np.square(self.B)) / np.square(self.scale)
        empty = np.zeros((0, f.shape[1]))
        labels = self.encoder.labels
        return {
            "coordinates": (G, labels),
            "cos2": (cos2(G, squares), labels),
            "v_tests": (empty, []),
            "eta2": (empty, []),
        }


def beside(model: MFA, coded: EncodedTable) -> dict[str, Any]:
    """All that is known of the supplementary groups."""
    F, w = np.asarray(model._record.F), np.asarray(model._record.row_weights)
    f = np.where((w > 0)[:, None], F, 0.0) * inverse_root(model.eigenvalues_)
    groups = [_Group(model, name, columns, coded) for name, columns in model._grouping.beside.items()]
    weighted = w[:, None] * f
    placed = [group.placed(model, f, coded) for group in groups]
    results = {
        result: {
            "values": np.concatenate([np.zeros((0, F.shape[1])), *(one[result][0] for one in placed)]),
            "labels": [label for one in placed for label in one[result][1]],
        }
        for result in RESULTS
    }
    return {
        "names": [group.name for group in groups],
        "groups": np.array([np.square(group.A.T @ weighted).sum(axis=0) for group in groups]),
        "axes": {g.name: (g.B @ (g.vectors / np.sqrt(g.values))).T @ weighted for g in groups},
        "separate": {g.name: {"values": g.values, "vectors": g.vectors, "variables": g.variables} for g in groups},
        "results": results,
        "lg": lg_with(model, groups, coded.rows, w),
    }


def lg_with(model: MFA, groups: list[_Group], R: Any, w: Floats) -> Floats:
    """(S, G + S) Lg of supplementary groups with active ones, then with each other."""
    mean, scale = model._record.mean, model._record.scale
    out = []
    for group in groups:
        left = group.A * w[:, None]
        there = group.weighs
        cross = (np.asarray(R[there].T @ left[there]) - np.outer(mean, left.sum(axis=0))) / scale[:, None]
        active = [np.sum(np.square(cross[places])) for places in model._group_places().values()]
        out.append([*active, *(np.sum(np.square(left.T @ other.A)) for other in groups)])
    return np.array(out)


def keep_beside(model: Any, coded: Any) -> None:
    """Keep what is known of the supplementary groups, and their Lg with the others."""
    groups, lg = beside(model, coded), model._record.lg
    cross = groups.pop("lg")
    if lg is not None:
        G = len(lg)
        model._record.lg = np.block([[lg, cross[:, :G].T], [cross[:, :G], cross[:, G:]]])
    model._record.beside = groups
