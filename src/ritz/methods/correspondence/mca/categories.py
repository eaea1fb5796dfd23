"""Results of multiple correspondence analysis: categories, corrected inertias, and what pairs of variables hold.

    M = AᵀA (K×K)      Burt table: inertia of column j  Σᵢ M²ᵢⱼ,   total Σλ²
                       without a variable's table with itself: the same sum over i of other variables

    category     coordinates Γ D, inertias by the method;   v-test of its place among the standard coordinates of rows
    variable     η² = J Σ λ v² over its levels: its share of an axis
    Benzécri     λ* = (J/(J−1))² (λ − 1/J)²   for λ > 1/J;   per cent of Σλ*
    Greenacre    the same λ*;   per cent of J/(J−1)·(Σλ² − (K−J)/J²), the mean inertia of the tables of pairs

[Greenacre17], chapter 19.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.data.tables.labelled import labelled
from ritz.methods.correspondence.encoded.encoded import constant_variables
from ritz.methods.correspondence.encoded.excluded import excluded_of
from ritz.methods.correspondence.mca.supplementary import v_tests
from ritz.methods.correspondence.results import Columns, inertias_of

__all__ = ["Categories", "above", "adjusted", "correction", "eta2"]

Floats = NDArray[np.float64]

#: Columns of a table of corrected inertias.
CORRECTED = ("inertia", "percent", "cumulative")
#: Inertias that exceed 1/J by rounding only are 1/J.
SLACK = 1e-12


def above(values: Floats, J: int) -> NDArray[np.bool_]:
    """Which inertias of the indicator exceed that of a single variable, 1/J."""
    return np.asarray(values > (1 + SLACK) / J)


def adjusted(values: Floats, J: int) -> Floats:
    """Corrected inertias λ* of inertias above 1/J; of a single variable there are none."""
    return np.square(J / (J - 1) * (values - 1 / J)) if J > 1 else np.zeros_like(values)


class Categories(Columns):
    """The levels in use."""

    def masses(self) -> Floats:
        """p/J; those of a variable that does not vary have none."""
        encoder = self.record.columns
        still = constant_variables(encoder)[encoder.active.owners]
        return np.where(still, 0.0, self.record.mean / self.model._J)

    def inertias(self) -> Floats:
        """Of the indicator, of the Burt table, or of the tables of pairs."""
        J = self.model._J
        if self.model.method == "indicator":
            return super().inertias()
        burt, between = self.record.pairs
        return np.asarray(burt if self.model.method == "burt" else between * J / (J - 1))

    def v_tests(self) -> Floats:
        """(K, k) of the coordinates of the indicator: means of the rows' standard coordinates."""
        places = self.standard_coordinates() * np.sqrt(inertias_of(self.model))
        return v_tests(places, self.masses() * self.model._J, float(self.record.weight))


def eta2(model: Any) -> Any:
    """(J, k) correlation ratios of the variables, with their names."""
    V = np.square(model.components_.T)  # read first: it solves a pending state
    encoder = model._encoder
    J, shares = encoder.vocabulary.J, np.zeros((encoder.vocabulary.J, V.shape[1]))
    np.add.at(shares, encoder.active.owners, V)
    values = model._J * inertias_of(model) * shares
    if (outside := excluded_of(model)) is not None:
        values += outside[0].ratios(outside[1], J)
    return labelled(values, encoder.vocabulary.names, model._axis_names(), model._record.library, "variable")


# corrected inertias


def correction(model: Any, by_pairs: bool) -> Any:
    """(m, 3) corrected inertias, per cent of their sum, or of what pairs of variables hold, cumulative per cent."""
    len(model.components_)  # solves a pending state
    J, pairs = model._J, model._record.pairs
    if J < 2:
        raise AttributeError(ALONE)
    values = _all_above(model)
    if by_pairs and pairs is None:
        raise AttributeError(FEW)
    inertias = adjusted(values, J)
    total = float(np.sum(pairs[1])) * J / (J - 1) if by_pairs else float(np.sum(inertias))
    shares = 100 * inertias / total if total > 0 else np.zeros_like(inertias)
    table = np.column_stack([inertias, shares, np.cumsum(shares)])
    names = [f"{model.about.axis}{i + 1}" for i in range(len(table))]
    return labelled(table, names, list(CORRECTED), model._record.library, "axis")


def _all_above(model: Any) -> Floats:
    """Every inertia of the indicator above 1/J, whether its axis is kept or not."""
    values, J, record = inertias_of(model), model._J, model._record
    most = model._most(model.n_samples_, 0)
    if model.method == "adjusted" and model.n_components is None:
        return values
    lowest = float(values[-1]) if len(values) else np.inf  # a rule may keep no axis
    if len(values) == most or lowest <= 1 / J or model.n_components is None:
        return values[above(values, J)]
    if record.state is None:
        raise AttributeError(FEW)
    state, scale = model._solvable(record.state), record.scale
    M = state.scatter * (state.unit**2 / state.weight) / np.outer(scale, scale)
    every: Floats = np.asarray(np.linalg.eigvalsh(M)[::-1], np.float64)
    return every[above(every, J)]


ALONE = (
    "the correction takes off what a variable has in common with itself, and there is no other\n"
    "hint: fit two variables or more; eigenvalues_ are the inertias of one"
)
FEW = (
    "the correction needs all inertias above 1/J, and only some were computed\n"
    "hint: fit with n_components=None, or with mergeable=True"
)
