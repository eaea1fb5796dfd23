"""Factor analysis of mixed data: numbers and categories in one map.

    A = D_w^½ ([X | Z] − 1[μ | p]ᵀ) D_s⁻¹,   s = [σ | √p],   Σw = 1,   AᵀA V = V Λ          X numbers, Z indicators

    rows         F = ([x | z] − [μ | p]) D_s⁻¹ V
    numbers      correlations r = v√λ
    categories   barycentres of their rows, vλ/√p
    variables    r² and η² = λ Σ v² over its columns (the squared loadings), which sum to λ

A number brings the inertia 1 and a variable of K categories K − 1, but on one axis neither more than 1: so no kind of
column drowns the other. Only numbers: PCA(scale=True); only J categorical variables: MCA, eigenvalues times J.

[Pages04], with the conventions of FactoMineR [HLP17]: the divisor is Σw.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ritz.data.encode import Encoder
from ritz.data.encode.openings import Opened
from ritz.data.passes.moments import Moments
from ritz.data.passes.statistics import ColumnStatistics
from ritz.methods.correspondence.encoded.filled import FilledColumns
from ritz.methods.correspondence.encoded.mixed import most_axes, named_constant, own_scale, placed, warn_integers
from ritz.methods.correspondence.encoded.variables import MixedColumns, Variables, variable_of
from ritz.methods.correspondence.mca.supplementary import Sums
from ritz.methods.correspondence.rank import ENCODED_RULES, encoded_material, variable_blocks
from ritz.methods.correspondence.record import MixedRecord
from ritz.methods.correspondence.results import Result, Rows, Side
from ritz.methods.fitted.about import INERTIA, About
from ritz.methods.fitted.base import Fitted
from ritz.methods.fitted.table import OfColumns
from ritz.rank.material import Material

__all__ = ["FAMD"]

Floats = NDArray[np.float64]


class FAMD(FilledColumns):
    """Factor analysis of mixed data with a certificate.

    Parameters
    ----------
    n_components : None, int, float or str
        All axes, a number, a fraction of the inertia in (0, 1), or a rule.
    categorical : None, "all" or list of names
        Columns that are categories whatever they hold; texts, truth values and categorical columns are anyway.
    numeric : None, "all" or list of names
        Columns of integers with few different values that are meant as numbers, or all: they are not asked about.
    missing : "error", "category", "exclude" or "regularized"
        Missing categories: refused, a level of their own, or without a column; missing numbers are refused. Or both are
        filled in by regularised iterative FAMD, with as many axes as ``n_components`` says.
    unseen : "error", "ignore", "missing" or "supplementary"
        Levels in new rows that the fit has not seen.
    rare : float or None
        Levels of a smaller share become one level ``(other)`` of their variable.
    exclude : list of "variable=level"
        Levels that get no column.
    solver, tol, mergeable, random_state, memory, device, progress
        As for :class:`ritz.PCA`.

    Attributes
    ----------
    eigenvalues_, explained_inertia_ratio_ : (k,) inertias of the axes and their shares
    total_inertia_ : number of numeric columns + Σ (categories − 1)
    row_coordinates_, row_contributions_, row_cos2_, row_masses_, row_inertias_
    column_coordinates_ : (d, k) correlations of numbers, barycentres of categories
    column_contributions_, column_cos2_, column_v_tests_, column_masses_, column_inertias_
    variable_coordinates_ : squared correlations r² and correlation ratios η²
    variable_contributions_, variable_cos2_
    certificate_, plan_, n_components_, n_samples_, n_features_in_

    Examples
    --------
    >>> import pandas as pd, ritz
    >>> wines = pd.DataFrame({"region": ["Loire"] * 3 + ["Rhône"] * 3, "acid": [7.1, 6.8, 7.3, 5.2, 5.0, 5.6],
    ...     "alcohol": [11.5, 12.0, 11.8, 13.9, 14.2, 13.5], "price": [9.5, 12.0, 30.0, 11.0, 8.5, 28.0]})
    >>> famd = ritz.FAMD(2).fit(wines)
    >>> famd.explained_inertia_ratio_.round(2), round(famd.total_inertia_)  # three numbers and two categories − 1
    (array([0.75, 0.24]), 4)
    >>> famd.variable_coordinates_.round(2)       # r² of numbers beside η² of categories
             Dim1  Dim2
    acid     1.00  0.00
    alcohol  0.98  0.01
    price    0.07  0.93
    region   0.95  0.04
    """

    about: ClassVar[About] = About(
        "Factor analysis of mixed data",
        "famd",
        takes="mixed",
        pieces="categories and numbers",
        **INERTIA,
        paper="J. Pagès, Analyse factorielle de données mixtes, Revue de statistique appliquée 52 (2004), 93–111.",
    )
    fitted: ClassVar[type[Fitted]] = OfColumns
    _agreeing = ("n_components", "categorical", "missing", "rare", "exclude")
    _rules = ENCODED_RULES
    _record: MixedRecord
    _records: ClassVar[type[MixedRecord]] = MixedRecord
    _sides: ClassVar[dict[str, type[Side]]] = {"row": Rows, "column": MixedColumns, "variable": Variables}

    column_v_tests_ = Result(
        "(d, k) test values of the categories, about N(0, 1) where an axis has nothing to do with them"
    )
    variable_coordinates_ = Result(
        "(p + J, k) r² of numbers, η² of categorical variables over all levels; columns sum to λ where none is excluded"
    )
    variable_contributions_ = Result("(p + J, k) shares of the variables in each axis; columns sum to 1")
    variable_cos2_ = Result("(p + J, k) r⁴, η⁴/(categories − 1): quality in the map of variables")

    def __init__(
        self, n_components: Any = None, *, categorical: Any = None, numeric: Any = None, missing: str = "error",
        unseen: str = "error", rare: float | None = None, exclude: Any = (), solver: str = "auto", tol: float = 1e-6,
        mergeable: bool | None = None, random_state: Any = 0, memory: Any = None, device: str = "cpu",
        progress: Any = None,
    ) -> None:  # fmt: skip
        self.n_components = n_components
        self.categorical = categorical
        self.numeric = numeric
        self.missing = missing
        self.unseen = unseen
        self.rare = rare
        self.exclude = exclude
        self.solver = solver
        self.tol = tol
        self.mergeable = mergeable
        self.random_state = random_state
        self.memory = memory
        self.device = device
        self.progress = progress

    # the problem

    def _learned(self, table: Opened, weights: Floats, **options: Any) -> Encoder:
        return warn_integers(super()._learned(table, weights, **options), self.numeric, table.names)

    def _metric(self, column: ColumnStatistics | Moments) -> Floats:
        return own_scale(self._encoder, column, self._divided())

    def _most(self, rows: int, d: int) -> int:
        return most_axes(self._encoder, rows, d)

    def _material(self, R: Any, weights: Floats | None, rows: int, d: int, weight: float) -> Material:
        owners, blocks = variable_of(self._encoder), variable_blocks(self._encoder)
        return encoded_material(self, R, weights, owners, blocks, self._most(rows, d))

    # results

    def _name_columns(self, spectrum: Any, column: Any, scale: Any, weight: float, rows: int) -> None:
        constant = named_constant(self._encoder, column)
        super()._name_columns(spectrum, column, scale, weight, rows)
        self._record.still = constant

    def _placed(self, sums: Sums, result: str, rows: Any) -> tuple[Floats, list[str]]:
        return placed(self, sums, result, rows)
