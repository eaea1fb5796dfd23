"""Where columns of numbers and categories lie, and the variables that they belong to.

    factor       s/σ of a number, s/p of a category, s the scale in the problem
    numbers      correlations r = v √λ · factor
    categories   barycentres b = v λ · factor,   v-test b √((Σw − 1) p/(1 − p)) / √λ,   cos² b²/(‖(AᵀA)ⱼ.‖ factor)²
    variables    r² and η² = Σ p b²/λ over all levels, excluded ones too

[Pages04], with the conventions of FactoMineR [HLP17]: the divisor is Σw.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.data.encode import Encoder
from ritz.methods.correspondence.encoded.excluded import excluded_of
from ritz.methods.correspondence.results import Columns, Side

__all__ = ["MixedColumns", "Variables", "carries_all", "variable_of"]

Floats = NDArray[np.float64]

NO_DISTANCES = (
    "the distances of categories from the centre need the moment state or all axes\n"
    "hint: fit with mergeable=True, or with n_components=None"
)


def carries_all(model: Any) -> bool:
    """Whether the axes of a fitted model carry all of the inertia."""
    return bool(model.total_inertia_ - float(np.sum(model.eigenvalues_)) <= 1e-10 * model.total_inertia_)


def variable_of(encoder: Encoder) -> NDArray[np.intp]:
    """(d,) the variable of every column: numbers first."""
    return np.concatenate([np.arange(encoder.p), encoder.p + encoder.active.owners]).astype(np.intp)


class MixedColumns(Columns):
    """Columns of numbers and categories."""

    def __init__(self, model: Any) -> None:
        super().__init__(model)
        self.encoder: Encoder = self.record.columns
        self.p, self.still = self.encoder.p, self.record.still

    def shares(self) -> Floats:
        """(d,) 1 for numbers, p for categories."""
        share = np.array(self.record.mean)
        share[: self.p] = 1.0
        return share

    def factors(self) -> Floats:
        """(d, 1) 1 for numbers, 1/√p for categories; NaN for columns that are set aside."""
        share, still = self.shares(), self.still
        return np.where(still, np.nan, 1 / np.sqrt(np.where(still, 1.0, share)))[:, None]

    def masses(self) -> Floats:
        """Shares of the variables in the weight, divided among their levels."""
        return self.shares() / (self.p + self.encoder.vocabulary.J)

    def standard_coordinates(self) -> Floats:
        """V times the factors."""
        return self.V * self.factors()

    def coordinates(self) -> Floats:
        """Correlations of numbers, barycentres of categories."""
        values = self.standard_coordinates()
        values[: self.p] *= np.sqrt(self.model.eigenvalues_)
        values[self.p :] *= self.model.eigenvalues_
        return values

    def squares(self) -> Floats:
        """1 for numbers; for categories the squared distance of their barycentre, ‖(AᵀA)ⱼ.‖²/pⱼ."""
        squares, p = np.ones(len(self.still)), self.p
        squares[p:] = self.norms()[p:] * np.square(self.factors()[p:, 0])
        return np.where(self.still, 0.0, squares)

    def norms(self) -> Floats:
        """(d,) squared norms of the rows of AᵀA."""
        if self.record.state is not None:
            state = self.model._solvable(self.record.state)
            factor = state.unit / self.record.scale
            return np.asarray(np.square(state.scatter * (factor[:, None] * factor / state.weight)).sum(axis=1))
        if not carries_all(self.model):
            raise AttributeError(NO_DISTANCES)
        return np.asarray(np.square(self.V * self.model.eigenvalues_).sum(axis=1))

    def v_tests(self) -> Floats:
        """(d, k) of the categories; numbers have none."""
        share = self.shares()
        with np.errstate(invalid="ignore", divide="ignore"):
            spread = np.sqrt((self.record.weight - 1) * share / (1 - share))
        values = self.standard_coordinates() * np.sqrt(self.model.eigenvalues_) * spread[:, None]
        values[: self.p] = np.nan
        return np.asarray(values)


class Variables(Side):
    """Numbers first, then categorical variables with all of their levels."""

    corner = "variable"

    def __init__(self, model: Any) -> None:
        super().__init__(model)
        self.columns: MixedColumns = model._side("column")
        self.encoder, self.p = self.columns.encoder, self.columns.p

    def labels(self) -> Sequence[Any] | None:
        """Names of the variables."""
        return [*self.encoder.numeric, *self.encoder.vocabulary.names]

    def _sums(self, values: Floats) -> Floats:
        """Sums over the columns of every variable."""
        sums = np.zeros((self.p + self.encoder.vocabulary.J, *values.shape[1:]))
        np.add.at(sums, variable_of(self.encoder), values)
        return sums

    def contributions(self) -> Floats:
        """Sums of those of the columns."""
        return self._sums(self.columns.contributions())

    def coordinates(self) -> Floats:
        """(p + J, k) r² and η²."""
        columns, p = self.columns, self.p
        weight = columns.shares() * np.nan_to_num(np.square(columns.factors()[:, 0]))
        values = self._sums(columns.contributions() * weight[:, None]) * self.model.eigenvalues_
        if (outside := excluded_of(self.model)) is not None:
            values[p:] += outside[0].ratios(outside[1], len(values) - p)
        return np.asarray(values)

    def cos2(self) -> Floats:
        """r⁴ and η⁴/(categories − 1)."""
        share, p = self.columns.shares(), self.p
        live = np.where(self.columns.still, 0.0, 1.0)
        # ‖I − √p√pᵀ‖² over the levels of a variable: categories − 1 where every row has one
        levels, sums = self._sums(live), self._sums(share * live)
        if (outside := excluded_of(self.model)) is not None:
            np.add.at(levels, p + outside[0].owners, 1.0)
            np.add.at(sums, p + outside[0].owners, outside[0].shares)
        size = np.concatenate([live[:p], (levels - 2 * sums + sums**2)[p:]])
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(size[:, None] > 0, np.square(self.coordinates()) / size[:, None], np.nan)
