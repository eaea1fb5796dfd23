"""Columns of a mixed analysis: supplementary ones, and those rebuilt from coordinates.

supplementary numbers      r = Σ w x̃ F / √λ             x̃ standardised
supplementary categories   b = Σ w z F / p,   v-test b √((Σw − 1) p/(1 − p)) / √λ,   η² = Σ p b²/λ
rebuilt                    R̂ = F Vᵀ D_s + m: numbers, and for every variable the level of the largest p̂
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import InputError, ParameterError
from ritz.data.categories import MISSING
from ritz.data.encode import Encoder
from ritz.data.encode.opened import opened
from ritz.data.labelled import labelled, library_of
from ritz.project.transition import cos2, inverse_root

if TYPE_CHECKING:
    from ritz.methods.famd import FAMD

__all__ = ["decoded", "is_complete", "probabilities", "supplementary"]

Floats = NDArray[np.float64]

RESULTS = ("coordinates", "cos2", "v_tests", "eta2")

#: Shares of a variable's levels that sum to 1 up to this leave nobody out.
COMPLETE = 1e-9


def is_complete(encoder: Encoder) -> NDArray[np.bool_]:
    """(J,) variables of which every row has one of the levels in use, so that one column says nothing new."""
    sums = np.bincount(encoder.active.owners, encoder.active.counts, minlength=encoder.vocabulary.J)
    return np.abs(sums - encoder.weight) <= COMPLETE * encoder.weight


# supplementary columns


def supplementary(model: FAMD, X: Any, result: str, rows: Any) -> Any:
    """One of ``RESULTS`` of new columns."""
    if result not in RESULTS:
        raise ParameterError(f"result must be one of {', '.join(map(repr, RESULTS))}", received=repr(result))
    F, w = model._row_coordinates(), model._row_masses()
    table = opened(X, model.memory)
    if table.n_rows != len(F):
        raise InputError(
            f"supplementary columns need the {len(F)} rows of the fit",
            received=f"{table.n_rows} rows",
            hint="pass the columns for all rows, in the order of the fit",
        )
    encoder = Encoder.learn(table, numbers=True, missing=model.missing, weights=w)
    place = Placed.of(encoder.rows(table, unseen=None), encoder, F, w, model.eigenvalues_, model.__dict__["_weight"])
    names = model._axis_names()
    if result == "eta2":
        labels, corner = [*encoder.numeric, *encoder.vocabulary.names], "variable"
        return labelled(place.eta2(), labels, names, library_of(X), corner)
    values = place.v_tests() if result == "v_tests" else place.coordinates
    if result == "cos2":
        values = cos2(values, _squares(model, place, rows, w))
    return labelled(values, encoder.labels, names, library_of(X), "column")


def _squares(model: FAMD, place: Placed, rows: Any, w: Floats) -> Floats:
    """Squared distances: 1 for numbers, those of barycentres in the whole space for categories."""
    p = place.encoder.p
    squares = np.ones(len(place.coordinates))
    if rows is not None:
        coded = model._new(rows)
        mean, scale = model.__dict__["_mean"], model.__dict__["_scale"]
        cross = (place.R[:, p:].T * w) @ coded.rows - np.outer(place.share[p:], mean)
        squares[p:] = np.square(np.asarray(cross) / scale / place.share[p:, None]).sum(axis=1)
    elif place.encoder.vocabulary.J and not model._all_axes():
        raise ParameterError(
            "cos2 of supplementary categories needs their distances in the whole space",
            received=f"{model.n_components_} axes and no rows",
            hint="pass the table of the fit as rows=, or fit with n_components=None",
        )
    else:
        squares[p:] = np.square(place.coordinates[p:]).sum(axis=1)
    return squares


class Placed:
    """Encoded columns and where they lie."""

    def __init__(
        self, R: Any, encoder: Encoder, share: Floats, coordinates: Floats, values: Floats, whole: float
    ) -> None:
        self.R, self.encoder, self.share = R, encoder, share
        self.coordinates, self.values, self.whole = coordinates, values, whole

    @classmethod
    def of(cls, R: Any, encoder: Encoder, F: Floats, w: Floats, values: Floats, whole: float) -> Placed:
        """Correlations of numbers and barycentres of categories."""
        p = encoder.p
        known = w > 0
        R, F, w = R[known], F[known], w[known]
        mean = np.asarray(R.T @ w)
        cross = np.asarray(R.T @ (w[:, None] * F)) - np.outer(mean, w @ F)
        numbers = R[:, :p] if isinstance(R, np.ndarray) else R[:, :p].toarray()
        spread = np.sqrt(w @ np.square(numbers - mean[:p]))
        with np.errstate(invalid="ignore", divide="ignore"):
            cross[:p] = np.where(spread[:, None] > 0, cross[:p] * inverse_root(values) / spread[:, None], np.nan)
            cross[p:] /= mean[p:, None]
        return cls(R, encoder, mean, cross, values, whole)

    def v_tests(self) -> Floats:
        """Test values of categories; NaN for numbers."""
        p, share = self.encoder.p, self.share[:, None]
        with np.errstate(invalid="ignore", divide="ignore"):
            out = self.coordinates * inverse_root(self.values) * np.sqrt((self.whole - 1) * share / (1 - share))
        out[:p] = np.nan
        return out

    def eta2(self) -> Floats:
        """r² of numbers, η² of categorical variables."""
        p, J = self.encoder.p, self.encoder.vocabulary.J
        between = self.share[p:, None] * np.square(self.coordinates[p:] * inverse_root(self.values))
        sums = np.zeros((J, between.shape[1]))
        np.add.at(sums, self.encoder.active.owners, between)
        return np.concatenate([np.square(self.coordinates[:p]), sums])


# the way back


def probabilities(model: FAMD, R: Floats) -> Any:
    """Shares of the levels, none below zero and none summing to more than 1 in a variable."""
    encoder, p = model._encoder, model._encoder.p
    held = np.maximum(R[:, p:], 0.0)
    sums = np.zeros((len(R), encoder.vocabulary.J))
    np.add.at(sums.T, encoder.active.owners, held.T)
    full = is_complete(encoder)
    divisor = np.where(full, np.where(sums > 0, sums, 1.0), np.maximum(sums, 1.0))
    values = held / divisor[:, encoder.active.owners]
    library = model.__dict__.get("_library")
    if library is None:
        return values
    return labelled(values, None, encoder.active.labels, library, "row")


def decoded(model: FAMD, R: Floats) -> Any:
    """Columns of the table from encoded rows, in the order of the fit."""
    encoder, p = model._encoder, model._encoder.p
    columns: dict[str, Any] = {name: R[:, j] + encoder.shift[j] for j, name in enumerate(encoder.numeric)}
    for j, variable in enumerate(encoder.vocabulary.variables):
        at = np.flatnonzero(encoder.active.owners == j)
        levels = [encoder.active.labels[i][len(variable.name) + 1 :] for i in at]
        columns[variable.name] = _chosen(R[:, p + at], levels, variable.kind)
    ordered = {name: columns[name] for name in encoder.columns if name in columns}
    library = model.__dict__.get("_library")
    if library is None:
        if not encoder.vocabulary.J:
            return R + encoder.shift
        return np.stack([np.asarray(values, dtype=object) for values in ordered.values()], axis=1)
    return _frame(ordered, library)


def _chosen(shares: Floats, levels: list[str], kind: str) -> Any:
    """The level of the largest share, as what it stands for; None for missing answers and where no level is in use."""
    if not levels:
        return np.full(len(shares), None, dtype=object)
    values = [None if level == MISSING else _value(level, kind) for level in levels]
    return np.asarray([*values, None], dtype=object)[np.argmax(shares, axis=1)]


def _value(level: str, kind: str) -> Any:
    if kind == "truth" and level in ("True", "False"):
        return level == "True"
    if kind == "number":
        try:
            number = float(level)
        except ValueError:
            return level
        return int(number) if number.is_integer() and "." not in level else number
    return level


def _frame(columns: dict[str, Any], library: str) -> Any:
    if library == "pandas":
        import pandas as pd

        return pd.DataFrame({name: _inferred(values) for name, values in columns.items()})
    lists = {name: values.tolist() for name, values in columns.items()}
    if library == "polars":
        import polars as pl

        return pl.DataFrame(lists, strict=False)
    import pyarrow as pa

    return pa.table(lists)


def _inferred(values: Any) -> Any:
    import pandas as pd

    return values if values.dtype != object else pd.Series(values, dtype=object).infer_objects()
