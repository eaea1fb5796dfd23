"""Factor analysis of mixed data: numbers and categories in one map.

    A = D_w^½ ([X | Z] − 1[μ | p]ᵀ) D_s⁻¹,   s = [σ | √p],   Σw = 1,   AᵀA V = V Λ          X numbers, Z indicators

    rows         F = ([x | z] − [μ | p]) D_s⁻¹ V
    numbers      correlations r = v√λ
    categories   barycentres of their rows, vλ/√p;   v-test v√λ √((Σw − 1)/(1 − p))
    variables    r² and η² = λ Σ v² over its columns (the squared loadings), which sum to λ

A number brings the inertia 1 and a variable of K categories K − 1, but on one axis neither more than 1: so no kind of
column drowns the other. Only numbers: PCA(scale=True); only J categorical variables: MCA, eigenvalues times J.

[Pages04], with the conventions of FactoMineR [HLP17]: the divisor is Σw.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import ConstantColumnWarning, InputError, IntegersAsNumbers, ParameterError
from ritz._core.tolerance import CONSTANT
from ritz.data.encode import Encoder
from ritz.data.encode.opened import Opened
from ritz.data.moments import Moments
from ritz.data.statistics import ColumnStatistics
from ritz.data.words import shorten
from ritz.methods.correspondence_results import Result
from ritz.methods.encoded import EncodedColumns
from ritz.methods.famd_columns import decoded, distances, is_complete, probabilities
from ritz.methods.mca_supplementary import Sums, Supplementary
from ritz.project.transition import cos2

__all__ = ["FAMD"]

Floats = NDArray[np.float64]

NO_DISTANCES = (
    "the distances of categories from the centre need the moment state or all axes\n"
    "hint: fit with mergeable=True, or with n_components=None"
)


class OfVariables(Result):
    """A fitted name with one row a variable: numbers first, then categorical variables."""

    def __set_name__(self, owner: type, name: str) -> None:
        super().__set_name__(owner, name)
        self.side = "variable"


class FAMD(Supplementary, EncodedColumns):
    """Factor analysis of mixed data with a certificate.

    Parameters
    ----------
    n_components : None, int, float or str
        All axes, a number, a fraction of the inertia in (0, 1), or a rule.
    categorical : None, "all" or list of names
        Columns that are categories whatever they hold; texts, truth values and categorical columns are anyway.
    numeric : None, "all" or list of names
        Columns of integers with few different values that are meant as numbers: they are not asked about.
    missing : "error", "category" or "exclude"
        Missing categories: refused, a level of their own, or without a column. Missing numbers are refused.
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
    """

    _agreeing = ("n_components", "categorical", "missing", "rare", "exclude")

    column_v_tests_ = Result(
        "(d, k) test values of the categories, about N(0, 1) where an axis has nothing to do with them"
    )
    variable_coordinates_ = OfVariables("(p + J, k) r² of numbers, η² of categorical variables; columns sum to λ")
    variable_contributions_ = OfVariables("(p + J, k) shares of the variables in each axis; columns sum to 1")
    variable_cos2_ = OfVariables("(p + J, k) r⁴, η⁴/(categories − 1): quality in the map of variables")

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

    # columns

    def _learned(self, table: Opened, weights: Floats, **options: Any) -> Encoder:
        encoder = super()._learned(table, weights, **options)
        declared = self._declared(table.names, encoder)
        few = [repr(name) for name in encoder.few if name not in declared]
        if few:
            plural = "s" if len(few) > 1 else ""
            warnings.warn(
                f"integer column{plural} {shorten(few)}: few different values, taken as numbers\n"
                f"hint: categorical=[{', '.join(few[:3])}] if they are categories, numeric=[…] if not",
                IntegersAsNumbers,
                stacklevel=5,
            )
        return encoder

    def _declared(self, names: list[str], encoder: Encoder) -> set[str]:
        """Columns that are declared as numbers."""
        if self.numeric is None:
            return set()
        if isinstance(self.numeric, str) and self.numeric != "all":
            raise ParameterError(
                "numeric must be None, 'all' or a list of column names", received=repr(self.numeric),
                hint=f"numeric=[{self.numeric!r}]",
            )  # fmt: skip
        wanted = list(names) if isinstance(self.numeric, str) else list(self.numeric)
        held = {names[name] if isinstance(name, int) and not encoder.named else str(name) for name in wanted}
        other = sorted(held - set(encoder.numeric))
        if other:
            what = "categories" if other[0] in names else f"columns {shorten(names)}"
            raise InputError(
                f"expected numbers in column {other[0]!r}, which numeric= names",
                received=what,
                hint="cast the column to numbers, or leave it out of numeric=",
            )
        return held

    def _metric(self, column: ColumnStatistics | Moments) -> Floats:
        p = self._encoder.p
        spread, share = np.sqrt(_variances(column)), np.sqrt(np.maximum(column.mean, 0.0))
        scale = np.concatenate([spread[:p], share[p:]])
        return np.where(self._constant(column), 1.0, scale)

    def _constant(self, column: ColumnStatistics | Moments) -> NDArray[np.bool_]:
        """Columns that do not vary: numbers up to their own rounding, levels that everybody or nobody gives."""
        encoder, p = self._encoder, self._encoder.p
        spread = np.sqrt(_variances(column))
        size = np.abs(column.mean)
        size[:p] = np.maximum(size[:p], np.abs(column.mean[:p] + encoder.shift))
        return spread <= CONSTANT * 2.0**-53 * size

    def _most(self, rows: int, d: int) -> int:
        return max(0, min(rows - 1, d - int(np.sum(is_complete(self._encoder)))))

    def _name_columns(self, spectrum: Any, column: Any, scale: Any, whole: float, rows: int) -> None:
        constant = self._constant(column)
        if bool(np.all(constant)):
            raise InputError("expected a column that varies", received="constant columns only", hint="pass other rows")
        super()._name_columns(spectrum, column, scale, whole, rows)
        self.__dict__["_still"] = constant
        encoder, p = self._encoder, self._encoder.p
        alone = np.bincount(encoder.active.owners[~constant[p:]], minlength=encoder.vocabulary.J) == 0
        names = [name for name, still in zip(encoder.numeric, constant[:p], strict=True) if still]
        names += [name for name, still in zip(encoder.vocabulary.names, alone, strict=True) if still]
        if names:
            plural = "s" if len(names) > 1 else ""
            warnings.warn(
                f"constant column{plural} {shorten([repr(name) for name in names])}: set aside, no variance to analyse",
                ConstantColumnWarning,
                stacklevel=4,
            )

    # results

    @property
    def _shares(self) -> Floats:
        """(d,) 1 for numbers, p for categories."""
        len(self.components_)  # solves a pending state
        share = np.array(self.__dict__["_mean"])
        share[: self._encoder.p] = 1.0
        return share

    def _roots(self) -> Floats:
        """(d, 1) 1/√share; NaN for columns that are set aside."""
        share = self._shares
        still = self.__dict__["_still"]
        return np.where(still, np.nan, 1 / np.sqrt(np.where(still, 1.0, share)))[:, None]

    def _column_masses(self) -> Floats:
        share = self._shares
        return share / (self._encoder.p + self._encoder.vocabulary.J)

    def _column_standard_coordinates(self) -> Floats:
        return self.components_.T * self._roots()

    def _column_coordinates(self) -> Floats:
        values, p = self._column_standard_coordinates(), self._encoder.p
        values[:p] *= np.sqrt(self.eigenvalues_)
        values[p:] *= self.eigenvalues_
        return values

    def _column_squares(self) -> Floats:
        """1 for numbers; for categories the squared distance of their barycentre, ‖(AᵀA)ⱼ.‖²/pⱼ."""
        squares, p = np.ones(len(self._shares)), self._encoder.p
        squares[p:] = self._norms()[p:] / np.maximum(self._shares[p:], 1e-300)
        return np.where(self.__dict__["_still"], 0.0, squares)

    def _norms(self) -> Floats:
        """(d,) squared norms of the rows of AᵀA."""
        state = self.__dict__.get("_state")
        if state is not None:
            held = self._solvable(state)
            factor = held.unit / self.__dict__["_scale"]
            return np.square(held.scatter * (factor[:, None] * factor / held.weight)).sum(axis=1)
        if not self._all_axes():
            raise AttributeError(NO_DISTANCES)
        return np.square(self.components_.T * self.eigenvalues_).sum(axis=1)

    def __getattr__(self, name: str) -> Any:
        if name == "column_cos2_" and self.__sklearn_is_fitted__():
            raise AttributeError(NO_DISTANCES)
        return super().__getattr__(name)

    def _all_axes(self) -> bool:
        """Whether the axes kept carry all of the inertia."""
        return bool(self.total_inertia_ - float(np.sum(self.eigenvalues_)) <= 1e-10 * self.total_inertia_)

    def _column_v_tests(self) -> Floats:
        share, p = self._shares, self._encoder.p
        with np.errstate(invalid="ignore", divide="ignore"):
            factor = np.sqrt((self.__dict__["_weight"] - 1) / (1 - share))
        values = self.components_.T * np.sqrt(self.eigenvalues_) * factor[:, None]
        values[:p] = np.nan
        values[self.__dict__["_still"]] = np.nan
        return values

    # variables

    def _owners(self) -> NDArray[np.intp]:
        """(d,) the variable of every column: numbers first."""
        encoder = self._encoder
        return np.concatenate([np.arange(encoder.p), encoder.p + encoder.active.owners]).astype(np.intp)

    def _of_owners(self, values: Floats) -> Floats:
        """Sums over the columns of every variable."""
        sums = np.zeros((self._encoder.p + self._encoder.vocabulary.J, *values.shape[1:]))
        np.add.at(sums, self._owners(), values)
        return sums

    def _variable_contributions(self) -> Floats:
        return self._of_owners(self._column_contributions())

    def _variable_coordinates(self) -> Floats:
        return self._variable_contributions() * self.eigenvalues_

    def _variable_cos2(self) -> Floats:
        share, p = self._shares, self._encoder.p
        live = np.where(self.__dict__["_still"], 0.0, 1.0)
        # ‖I − √p√pᵀ‖² over the levels of a variable: categories − 1 where none is left out
        levels, sums = self._of_owners(live), self._of_owners(share * live)
        size = np.concatenate([live[:p], (levels - 2 * sums + sums**2)[p:]])
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(size[:, None] > 0, np.square(self._variable_coordinates()) / size[:, None], np.nan)

    def _labelled(self, values: Floats, side: str) -> Any:
        if side != "variable":
            return super()._labelled(values, side)
        from ritz.data.labelled import labelled

        names = [*self._encoder.numeric, *self._encoder.vocabulary.names]
        return labelled(values, names, self._axis_names(), self.__dict__.get("_library"), side)

    # supplementary columns, and the way back

    def _placed(self, found: Sums, result: str, rows: Any) -> tuple[Floats, list[str]]:
        """Supplementary categories lie at the barycentres of their rows, as active ones do."""
        if result not in ("coordinates", "cos2"):
            return super()._placed(found, result, rows)
        values, labels = found.result("coordinates", float(self.__dict__["_weight"]))
        values[found.encoder.p :] *= np.sqrt(self.eigenvalues_)
        if result == "cos2":
            squares = np.ones(len(values))
            squares[found.encoder.p :] = distances(self, found, rows)
            values = cos2(values, squares)
        return values, labels

    def inverse_transform(self, X: Any) -> Any:
        """Rows from coordinates: numbers, and for every categorical variable its most probable level.

        Parameters
        ----------
        X : array-like of shape (n, k)
            Coordinates as ``transform`` gives them.

        Returns
        -------
        A frame of the library that was fitted, or an array; columns in the order of the fit.
        """
        return decoded(self, super().inverse_transform(np.asarray(X)))

    def probabilities(self, X: Any) -> Any:
        """Probabilities of the levels from coordinates, (n, K): the least-squares estimate, none below zero.

        Parameters
        ----------
        X : array-like of shape (n, k)
            Coordinates as ``transform`` gives them.
        """
        return probabilities(self, super().inverse_transform(np.asarray(X)))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.transformer_tags.preserves_dtype = ["float64"]
        return tags


def _variances(column: ColumnStatistics | Moments) -> Floats:
    squares = np.diag(column.scatter) if isinstance(column, Moments) else column.squares
    return squares * (column.unit**2 / column.weight)
