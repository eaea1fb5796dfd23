"""Columns that took no part in the axes: other questions about the same rows, and measurements.

    standard coordinates of the rows  f = F Λ^-½,   weighted mean 0 and variance 1

    level k of a variable    g = Σ wᵢ zᵢₖ fᵢ / pₖ       cos² g²/(1/pₖ − 1)        v-test g √(nₖ(n − 1)/(n − nₖ))
    a variable               η² = Σ pₖ (gₖ − ḡ)² / var f,  over the rows that answered
    a measurement            correlation with f,  cos² its square,                over the rows that have it

n = Σw: weights are frequencies. Rows are read once, block by block.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.bases import check_is_fitted
from ritz._core.errors import InputError, ParameterError
from ritz.data.encode import Encoder
from ritz.data.encode.columns import opened
from ritz.data.passes.blocks import blocks_of
from ritz.data.tables.align import aligned
from ritz.data.tables.frames import library_of, row_labels
from ritz.data.tables.labelled import labelled
from ritz.data.validate import validate_weights
from ritz.methods.correspondence.results import inertias_of
from ritz.project.transition import inverse_root

__all__ = ["RESULTS", "Sums", "supplementary_columns", "v_tests"]

Floats = NDArray[np.float64]

RESULTS = ("coordinates", "cos2", "v_tests", "eta2")


def v_tests(G: Floats, p: Floats, n: float) -> Floats:
    """Test values of categories at G (m, k) with shares p (m,) of n observations."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(G * np.sqrt(p * (n - 1) / (1 - p))[:, None])


def supplementary_columns(
    model: Any, X: Any, result: str, categorical: Any, rows: Any, sample_weight: Any
) -> Any:  # fmt: skip
    """Other columns for the very rows of a fitted model of encoded columns."""
    check_is_fitted(model)
    if result not in RESULTS:
        raise ParameterError(f"result must be one of {', '.join(map(repr, RESULTS))}", received=repr(result))
    f, w = _standard_rows(model, rows, sample_weight)
    record = model._record
    X = aligned(X, row_labels(rows) if record.F is None else record.row_labels, len(f))
    table = opened(X)
    if table.n_rows != len(f):
        raise InputError(
            f"supplementary columns need a value for each of the {len(f)} rows of the fit",
            received=f"{table.n_rows} rows",
            hint="pass all rows, in the order of the fit",
        )
    encoder = Encoder.learn(table, categorical=categorical, numbers=True, missing="exclude", weights=w)
    sums = Sums(encoder, f, w, encoder.rows(table, unseen=None))
    values, labels = model._placed(sums, result, rows)
    return labelled(values, labels, model._axis_names(), library_of(X), "column")


def _standard_rows(model: Any, rows: Any, sample_weight: Any) -> tuple[Floats, Floats]:
    """Standard coordinates of the rows, and their shares of the weight."""
    if rows is None or model._record.F is not None:
        F, w = model._result("row_coordinates_"), model._result("row_masses_")
    else:
        F = np.asarray(model.transform(rows))
        w = np.ones(len(F)) if sample_weight is None else validate_weights(sample_weight, len(F), whole=False)
        w = w / np.sum(w)
    return np.where(w[:, None] > 0, F, 0.0) * inverse_root(inertias_of(model)), w


class Sums:
    """Weighted sums of columns against the coordinates of the rows."""

    def __init__(self, encoder: Encoder, f: Floats, w: Floats, rows: Any) -> None:
        self.encoder, self.rows, self.w = encoder, rows, w
        p, d, k = encoder.p, encoder.d, f.shape[1]
        self.mass, self.first, self.second = np.zeros(d), np.zeros((d, k)), np.zeros((d, k))
        self.numbers = np.zeros((p, 3)), np.zeros((p, 3, k))  # Σwx⁰, x, x²; Σwf, wf², wxf, where x is there
        for block in blocks_of(rows).each():
            z, g, v = block.values, f[block.rows], w[block.rows]
            z = z if isinstance(z, np.ndarray) else z.tocsr()
            numbers = np.asarray(z[:, :p] if isinstance(z, np.ndarray) else z[:, :p].toarray())
            self._add_numbers(numbers, g, v)
            levels = z[:, p:]
            weighted = v[:, None] * g
            self.mass[p:] += levels.T @ v
            self.first[p:] += levels.T @ weighted
            self.second[p:] += levels.T @ (weighted * g)

    def _add_numbers(self, x: Floats, f: Floats, w: Floats) -> None:
        for j in range(x.shape[1]):
            there = np.isfinite(x[:, j]) & (w > 0)
            y, g, v = x[there, j], f[there], w[there]
            self.numbers[0][j] += np.sum(v), v @ y, v @ np.square(y)
            self.numbers[1][j] += np.stack([v @ g, v @ np.square(g), (v * y) @ g])

    def result(self, which: str, n: float) -> tuple[Floats, list[str]]:
        """The values and their names."""
        encoder, p = self.encoder, self.encoder.p
        share = self.mass[p:]
        G = self.first[p:] / share[:, None]
        if which == "v_tests":
            return v_tests(G, share, n), encoder.active.labels
        if which == "eta2":
            return self._ratios(G), encoder.vocabulary.names
        r = self.correlations()
        if which == "cos2":
            with np.errstate(invalid="ignore", divide="ignore"):
                G = np.where(share[:, None] < 1, np.square(G) / (1 / share - 1)[:, None], np.nan)
            r = np.square(r)
        return np.concatenate([r, G]), encoder.labels

    def correlations(self) -> Floats:
        """(p, k) of the columns of numbers with the axes."""
        (mass, sx, sxx), (sf, sff, sxf) = self.numbers[0].T[:, :, None], self.numbers[1].transpose(1, 0, 2)
        with np.errstate(invalid="ignore", divide="ignore"):
            cov = sxf - sx * sf / mass
            return np.asarray(cov / np.sqrt(sxx - sx**2 / mass) / np.sqrt(sff - sf**2 / mass))

    def _ratios(self, G: Floats) -> Floats:
        p, owners, J = self.encoder.p, self.encoder.active.owners, self.encoder.vocabulary.J
        answered = np.bincount(owners, self.mass[p:], J)[:, None]
        mean, square, between = np.zeros((3, J, G.shape[1]))
        np.add.at(mean, owners, self.first[p:])
        np.add.at(square, owners, self.second[p:])
        np.add.at(between, owners, self.mass[p:, None] * np.square(G))
        with np.errstate(invalid="ignore", divide="ignore"):
            mean /= answered
            return np.asarray((between - answered * np.square(mean)) / (square - answered * np.square(mean)))
