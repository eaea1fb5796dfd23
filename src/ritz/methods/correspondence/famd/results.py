"""What FAMD and MFA share: columns of numbers and categories, their scales, and where they lie.

    own scale    σ of a number, √p of a category: A's columns have norm 1 and √(1 − p)
    factor       s/σ of a number, s/p of a category, s the scale in the problem
    numbers      correlations r = v √λ · factor
    categories   barycentres b = v λ · factor,   v-test b √((Σw − 1) p/(1 − p)) / √λ,   cos² b²/(‖(AᵀA)ⱼ.‖ factor)²
    variables    r² and η² = Σ p b²/λ over all levels, excluded ones too

[Pages04], with the conventions of FactoMineR [HLP17]: the divisor is Σw.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import ConstantColumnWarning, InputError, IntegersAsNumbers, ParameterError
from ritz._core.tolerance import CONSTANT
from ritz._core.warn import warn
from ritz.data.encode import Encoder
from ritz.data.encode.openings import Opened
from ritz.data.passes.moments import Moments
from ritz.data.passes.statistics import ColumnStatistics
from ritz.data.passes.unit import require_spread
from ritz.data.tables.labelled import labelled
from ritz.data.words import shorten
from ritz.methods.correspondence.encoded.encoded import EncodedColumns
from ritz.methods.correspondence.encoded.excluded import NO_EXCLUDED, excluded_of
from ritz.methods.correspondence.famd.columns import decoded, distances, is_complete, probabilities
from ritz.methods.correspondence.mca.supplementary import Sums, Supplementary
from ritz.methods.correspondence.rank import encoded_material, variable_blocks
from ritz.methods.correspondence.results import Result
from ritz.methods.correspondence.table import Encoded
from ritz.project.transition import cos2
from ritz.rank.material import Material

__all__ = ["MixedColumns", "OfVariables", "variances"]

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


class MixedColumns(Supplementary, EncodedColumns):
    """Base of analyses whose columns are numbers and categories."""

    numeric: Any

    column_v_tests_ = Result(
        "(d, k) test values of the categories, about N(0, 1) where an axis has nothing to do with them"
    )
    variable_coordinates_ = OfVariables(
        "(p + J, k) r² of numbers, η² of categorical variables over all levels; columns sum to λ where none is excluded"
    )
    variable_contributions_ = OfVariables("(p + J, k) shares of the variables in each axis; columns sum to 1")
    variable_cos2_ = OfVariables("(p + J, k) r⁴, η⁴/(categories − 1): quality in the map of variables")

    # columns

    def _learned(self, table: Opened, weights: Floats, **options: Any) -> Encoder:
        encoder = super()._learned(table, weights, **options)
        declared = self._declared(table.names, encoder)
        few = [repr(name) for name in encoder.few if name not in declared]
        if few:
            plural = "s" if len(few) > 1 else ""
            warn(
                f"integer column{plural} {shorten(few)}: few different values, taken as numbers\n"
                f"hint: categorical=[{', '.join(few[:3])}] if they are categories, numeric=[…] if not",
                IntegersAsNumbers,
            )
        return encoder

    def _declared(self, names: list[str], encoder: Encoder) -> set[str]:
        """Columns that are declared as numbers."""
        if self.numeric is None:
            return set()
        if isinstance(self.numeric, str):
            if self.numeric == "all":
                return set(encoder.numeric)
            raise ParameterError(
                "numeric must be None, 'all' or a list of column names", received=repr(self.numeric),
                hint=f"numeric=[{self.numeric!r}]",
            )  # fmt: skip
        held = {names[name] if isinstance(name, int) and not encoder.named else str(name) for name in self.numeric}
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
        return self._own_scale(column)

    def _own_scale(self, column: ColumnStatistics | Moments) -> Floats:
        """σ of numbers, √p of categories; 1 for columns that do not vary."""
        p = self._encoder.p
        spread, share = np.sqrt(variances(column)), np.sqrt(np.maximum(column.mean, 0.0))
        scale = np.concatenate([spread[:p], share[p:]])
        constant = self._constant(column)
        divided = [name in self._divided() for name in self._encoder.numeric]
        require_spread(spread[:p], constant[:p] | ~np.asarray(divided, bool), column.unit, self._encoder.numeric)
        return np.where(constant, 1.0, scale)

    def _constant(self, column: ColumnStatistics | Moments) -> NDArray[np.bool_]:
        """Columns that do not vary: numbers up to their own rounding, levels that everybody or nobody gives."""
        encoder, p = self._encoder, self._encoder.p
        spread = np.sqrt(variances(column))
        size = np.abs(column.mean)
        size[:p] = np.maximum(size[:p], np.abs(column.mean[:p] + encoder.shift))
        return spread <= CONSTANT * 2.0**-53 * size

    def _most(self, rows: int, d: int) -> int:
        return max(0, min(rows - 1, d - int(np.sum(is_complete(self._encoder)))))

    def _material(self, R: Any, weights: Floats | None, rows: int, d: int, whole: float) -> Material:
        blocks = variable_blocks(self._encoder)
        return encoded_material(self, R, weights, self._owners(), blocks, self._most(rows, d))

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
            warn(
                f"constant column{plural} {shorten([repr(name) for name in names])}: set aside, no variance to analyse",
                ConstantColumnWarning,
            )

    # results

    @property
    def _shares(self) -> Floats:
        """(d,) 1 for numbers, p for categories."""
        len(self.components_)  # solves a pending state
        share = np.array(self.__dict__["_mean"])
        share[: self._encoder.p] = 1.0
        return share

    def _factors(self) -> Floats:
        """(d, 1) 1 for numbers, 1/√p for categories; NaN for columns that are set aside."""
        share, still = self._shares, self.__dict__["_still"]
        return np.where(still, np.nan, 1 / np.sqrt(np.where(still, 1.0, share)))[:, None]

    def _column_masses(self) -> Floats:
        share = self._shares
        return share / (self._encoder.p + self._encoder.vocabulary.J)

    def _column_standard_coordinates(self) -> Floats:
        return self.components_.T * self._factors()

    def _column_coordinates(self) -> Floats:
        values, p = self._column_standard_coordinates(), self._encoder.p
        values[:p] *= np.sqrt(self.eigenvalues_)
        values[p:] *= self.eigenvalues_
        return values

    def _column_squares(self) -> Floats:
        """1 for numbers; for categories the squared distance of their barycentre, ‖(AᵀA)ⱼ.‖²/pⱼ."""
        squares, p = np.ones(len(self._shares)), self._encoder.p
        squares[p:] = self._norms()[p:] * np.square(self._factors()[p:, 0])
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
        if name in ("variable_coordinates_", "variable_cos2_") and self.__sklearn_is_fitted__():
            raise AttributeError(NO_EXCLUDED)
        return super().__getattr__(name)

    def _all_axes(self) -> bool:
        """Whether the axes kept carry all of the inertia."""
        return bool(self.total_inertia_ - float(np.sum(self.eigenvalues_)) <= 1e-10 * self.total_inertia_)

    def _column_v_tests(self) -> Floats:
        share, p = self._shares, self._encoder.p
        with np.errstate(invalid="ignore", divide="ignore"):
            spread = np.sqrt((self.__dict__["_weight"] - 1) * share / (1 - share))
        values = self._column_standard_coordinates() * np.sqrt(self.eigenvalues_) * spread[:, None]
        values[:p] = np.nan
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
        weight, p = self._shares * np.nan_to_num(np.square(self._factors()[:, 0])), self._encoder.p
        values = self._of_owners(self._column_contributions() * weight[:, None]) * self.eigenvalues_
        if (outside := excluded_of(self)) is not None:
            values[p:] += outside[0].ratios(outside[1], len(values) - p)
        return values

    def _variable_cos2(self) -> Floats:
        share, p = self._shares, self._encoder.p
        live = np.where(self.__dict__["_still"], 0.0, 1.0)
        # ‖I − √p√pᵀ‖² over the levels of a variable: categories − 1 where every row has one
        levels, sums = self._of_owners(live), self._of_owners(share * live)
        if (outside := excluded_of(self)) is not None:
            np.add.at(levels, p + outside[0].owners, 1.0)
            np.add.at(sums, p + outside[0].owners, outside[0].shares)
        size = np.concatenate([live[:p], (levels - 2 * sums + sums**2)[p:]])
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(size[:, None] > 0, np.square(self._variable_coordinates()) / size[:, None], np.nan)

    def _labelled(self, values: Floats, side: str) -> Any:
        if side != "variable":
            return super()._labelled(values, side)
        names = [*self._encoder.numeric, *self._encoder.vocabulary.names]
        return labelled(values, names, self._axis_names(), self.__dict__.get("_library"), side)

    def _placed(self, found: Sums, result: str, rows: Any) -> tuple[Floats, list[str]]:
        """Supplementary categories lie at the barycentres of their rows, as active ones do."""
        if result not in ("coordinates", "cos2"):
            return super()._placed(found, result, rows)
        values, labels = found.result("coordinates", float(self.__dict__["_weight"]))
        values[found.encoder.p :] *= np.sqrt(self.eigenvalues_)
        if result == "cos2":
            coded = rows if rows is None or isinstance(rows, Encoded) else self._new(rows)
            squares = np.ones(len(values))
            squares[found.encoder.p :] = distances(self, found, None if coded is None else coded.rows)
            values = cos2(values, squares)
        return values, labels

    # the way back

    def inverse_transform(self, X: Any) -> Any:
        """Rows from coordinates: numbers, and for every categorical variable its most probable level.

        Parameters
        ----------
        X : array-like of shape (n, k)
            Coordinates as ``transform`` gives them.

        Returns
        -------
        A frame of the library that was fitted, or an array; columns in the order of the fit.

        Examples
        --------
        >>> import pandas as pd, ritz
        >>> wines = pd.DataFrame({"region": ["Loire"] * 3 + ["Rhône"] * 3, "acid": [7.1, 6.8, 7.3, 5.2, 5.0, 5.6],
        ...     "alcohol": [11.5, 12.0, 11.8, 13.9, 14.2, 13.5], "price": [9.5, 12.0, 30.0, 11.0, 8.5, 28.0]})
        >>> famd = ritz.FAMD(2).fit(wines)
        >>> famd.inverse_transform(famd.transform(wines[:1])).round(1)  # two axes remember the first wine well
          region  acid  alcohol  price
        0  Loire   7.1     11.7    9.7
        """
        return decoded(self, self._rebuilt(X))

    def probabilities(self, X: Any) -> Any:
        """Probabilities of the levels from coordinates, (n, K): the least-squares estimate, none below zero.

        Parameters
        ----------
        X : array-like of shape (n, k)
            Coordinates as ``transform`` gives them.

        Examples
        --------
        >>> import pandas as pd, ritz
        >>> wines = pd.DataFrame({"region": ["Loire"] * 3 + ["Rhône"] * 3, "acid": [7.1, 6.8, 7.3, 5.2, 5.0, 5.6],
        ...     "alcohol": [11.5, 12.0, 11.8, 13.9, 14.2, 13.5], "price": [9.5, 12.0, 30.0, 11.0, 8.5, 28.0]})
        >>> famd = ritz.FAMD(2).fit(wines)
        >>> famd.probabilities(famd.transform(wines[:1])).round(2)
           region=Loire  region=Rhône
        0           1.0           0.0
        """
        return probabilities(self, self._rebuilt(X))

    def _rebuilt(self, X: Any) -> Floats:
        """Encoded rows (n, d) from coordinates."""
        return super().inverse_transform(np.asarray(X))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.transformer_tags.preserves_dtype = ["float64"]
        return tags


def variances(column: ColumnStatistics | Moments) -> Floats:
    """(d,) variances with divisor Σw."""
    squares = np.diag(column.scatter) if isinstance(column, Moments) else column.squares
    return squares * (column.unit**2 / column.weight)
