"""What FAMD and MFA share in a fit: columns of numbers and categories, their scales, and which of them do not vary.

    own scale                   σ of a number, √p of a category: A's columns have norm 1 and √(1 − p)
    supplementary categories    barycentres b = Σ w z F / p,   d² = ‖Σ w z (R − 1mᵀ) D_s⁻¹ / p‖² in the whole space

Where the columns and their variables lie: ``variables.py``.
[Pages04], with the conventions of FactoMineR [HLP17]: the divisor is Σw.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import InputError, IntegersAsNumbers, ParameterError
from ritz._core.tolerance import CONSTANT
from ritz._core.warn import warn
from ritz.data.encode import Encoder
from ritz.data.passes.blocks import are_blocks
from ritz.data.passes.moments import Moments
from ritz.data.passes.statistics import ColumnStatistics
from ritz.data.passes.unit import require_spread
from ritz.data.words import shorten
from ritz.methods.correspondence.coded import Encoded
from ritz.methods.correspondence.encoded.encoded import warn_constant
from ritz.methods.correspondence.encoded.rebuilt import is_complete
from ritz.methods.correspondence.encoded.variables import carries_all
from ritz.methods.correspondence.mca.supplementary import Sums
from ritz.project.transition import cos2

if TYPE_CHECKING:
    from ritz.methods.correspondence.encoded.encoded import EncodedColumns

__all__ = [
    "constant_columns", "most_axes", "named_constant", "own_scale", "placed", "variances", "warn_integers",
]  # fmt: skip

Floats = NDArray[np.float64]


# columns


def warn_integers(encoder: Encoder, numeric: Any, names: Sequence[str]) -> Encoder:
    """The encoder; integers of few different values that nobody declared as numbers are named."""
    declared = _declared(encoder, numeric, names)
    few = [repr(name) for name in encoder.few if name not in declared]
    if few:
        plural = "s" if len(few) > 1 else ""
        warn(
            f"integer column{plural} {shorten(few)}: few different values, taken as numbers\n"
            f"hint: categorical=[{', '.join(few[:3])}] if they are categories, numeric=[…] if not",
            IntegersAsNumbers,
        )
    return encoder


def _declared(encoder: Encoder, numeric: Any, names: Sequence[str]) -> set[str]:
    """Columns that are declared as numbers."""
    if numeric is None:
        return set()
    if isinstance(numeric, str):
        if numeric == "all":
            return set(encoder.numeric)
        raise ParameterError(
            "numeric must be None, 'all' or a list of column names", received=repr(numeric),
            hint=f"numeric=[{numeric!r}]",
        )  # fmt: skip
    declared = {names[name] if isinstance(name, int) and not encoder.named else str(name) for name in numeric}
    other = sorted(declared - set(encoder.numeric))
    if other:
        what = "categories" if other[0] in names else f"columns {shorten(list(names))}"
        raise InputError(
            f"expected numbers in column {other[0]!r}, which numeric= names",
            received=what,
            hint="cast the column to numbers, or leave it out of numeric=",
        )
    return declared


def variances(column: ColumnStatistics | Moments) -> Floats:
    """(d,) variances with divisor Σw."""
    squares = np.diag(column.scatter) if isinstance(column, Moments) else column.squares
    return squares * (column.unit**2 / column.weight)


def own_scale(encoder: Encoder, column: ColumnStatistics | Moments, divided: Collection[str]) -> Floats:
    """(d,) σ of numbers, √p of categories; 1 for columns that do not vary."""
    p = encoder.p
    spread, share = np.sqrt(variances(column)), np.sqrt(np.maximum(column.mean, 0.0))
    scale = np.concatenate([spread[:p], share[p:]])
    constant = constant_columns(encoder, column)
    counted = [name in divided for name in encoder.numeric]
    require_spread(spread[:p], constant[:p] | ~np.asarray(counted, bool), column.unit, encoder.numeric)
    return np.where(constant, 1.0, scale)


def constant_columns(encoder: Encoder, column: ColumnStatistics | Moments) -> NDArray[np.bool_]:
    """(d,) columns that do not vary: numbers up to their own rounding, levels that everybody or nobody gives."""
    p = encoder.p
    spread = np.sqrt(variances(column))
    size = np.abs(column.mean)
    size[:p] = np.maximum(size[:p], np.abs(column.mean[:p] + encoder.shift))
    return spread <= CONSTANT * 2.0**-53 * size


def most_axes(encoder: Encoder, rows: int, d: int) -> int:
    """The largest number of axes: of a variable that every row answers, one column says nothing new."""
    complete = is_complete(encoder)
    if encoder.fill is not None and not encoder.exclude:  # the block of an answer that is filled in sums to 1 as well
        complete = complete | (np.bincount(encoder.active.owners, minlength=len(complete)) > 0)
    return max(0, min(rows - 1, d - int(np.sum(complete))))


def named_constant(encoder: Encoder, column: ColumnStatistics | Moments) -> NDArray[np.bool_]:
    """(d,) columns that do not vary, which are named; a table that has no other is refused."""
    constant, p = constant_columns(encoder, column), encoder.p
    if bool(np.all(constant)):
        raise InputError("expected a column that varies", received="constant columns only", hint="pass other rows")
    alone = np.bincount(encoder.active.owners[~constant[p:]], minlength=encoder.vocabulary.J) == 0
    names = [name for name, still in zip(encoder.numeric, constant[:p], strict=True) if still]
    names += [name for name, still in zip(encoder.vocabulary.names, alone, strict=True) if still]
    warn_constant(names)
    return constant


# supplementary columns


def placed(model: EncodedColumns, sums: Sums, result: str, rows: Any) -> tuple[Floats, list[str]]:
    """Supplementary categories lie at the barycentres of their rows, as active ones do."""
    weight = float(model._record.weight)
    if result not in ("coordinates", "cos2"):
        return sums.result(result, weight)
    values, labels = sums.result("coordinates", weight)
    values[sums.encoder.p :] *= np.sqrt(model.eigenvalues_)
    if result == "cos2":
        coded = rows if rows is None or isinstance(rows, Encoded) else model._new(rows)
        squares = np.ones(len(values))
        squares[sums.encoder.p :] = _distances(model, sums, None if coded is None else coded.rows)
        values = cos2(values, squares)
    return values, labels


def _distances(model: EncodedColumns, sums: Sums, R: Any) -> Floats:
    """(m,) squared distances of barycentres of categories from the centre, in the whole space."""
    p, encoder = sums.encoder.p, sums.encoder
    share = sums.mass[p:]
    if R is not None:
        if are_blocks(R) or are_blocks(sums.rows):
            raise ParameterError(
                "cos2 of supplementary categories needs rows in memory", received="rows outside memory",
                hint="fit with n_components=None: then the axes say it",
            )  # fmt: skip
        mean, scale = model._record.mean, model._record.scale
        levels = sums.rows[:, p:]
        cross = _dense(_weighted(levels, sums.w).T @ R) - np.outer(share, mean)
        return np.asarray(np.square(cross / scale / share[:, None]).sum(axis=1))
    if encoder.vocabulary.J and not carries_all(model):
        raise ParameterError(
            "cos2 of supplementary categories needs their distances in the whole space",
            received=f"{model.n_components_} axes and no rows",
            hint="pass the table of the fit as rows=, or fit with n_components=None",
        )
    return np.asarray(np.square(sums.first[p:] / share[:, None] * np.sqrt(model.eigenvalues_)).sum(axis=1))


def _weighted(levels: Any, w: Floats) -> Any:
    if isinstance(levels, np.ndarray):
        return levels * w[:, None]
    from scipy.sparse import diags_array

    return diags_array(w) @ levels


def _dense(values: Any) -> Floats:
    return np.asarray(values.toarray() if hasattr(values, "toarray") else values)
