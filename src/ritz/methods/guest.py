"""What the pipeline sees to for a method of another package, which Ritz's own methods see to themselves.

    rows      finite                  a kernel may make a finite number of an infinite one, and nobody would notice
    weights   used, or refused        ``Posed(…, weights=weights)`` says that the operator makes use of them
    names     all of its family       ``Fitted.named`` (:func:`ritz.methods.fitted.base.require_named`)
    key       of the rows             a model that places the rows of its fit and no others knows these again

Own methods find rows that are not finite in the pass that they make anyway, and pay nothing for the question.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ritz._core.errors import ParameterError
from ritz._core.keys import key_of_rows
from ritz.data.passes.blocks import are_blocks
from ritz.data.validate import require_finite
from ritz.methods.fitted.base import fitted_of, require_named
from ritz.project.linear import LinearMap

if TYPE_CHECKING:
    from ritz.methods.posed import Posed
    from ritz.project.incomplete import IncompleteMap

__all__ = ["linear_map_of", "posed_by", "settled_by"]


def _poses_its_own(method: Any) -> bool:
    """Whether a method poses a problem of its own, and not that of one of Ritz's methods in another way."""
    return not any(hasattr(base, "about") and base.__module__.startswith("ritz.") for base in type(method).__mro__)


def posed_by(method: Any, *adopted: Any) -> Posed:
    """The problem that a method poses of rows of numbers that are finite, and of weights that it does not pass over."""
    if not _poses_its_own(method):
        posed: Posed = method.pose(*adopted)
        return posed
    rows, weights = adopted[:2]
    if isinstance(weights, np.ndarray) and bool(np.all(weights == 1)):  # rows that are left when others are left out
        weights, adopted = None, (rows, None, *adopted[2:])
    numbers = isinstance(rows, np.ndarray) or hasattr(rows, "nnz") or are_blocks(rows)
    if numbers:
        require_finite(rows, getattr(method, "feature_names_in_", None))
    posed = method.pose(*adopted)
    if weights is not None and posed.weights is None:
        raise ParameterError(
            f"{type(method).__name__} makes no use of weights: every row counts once", received="sample_weight",
            hint="leave out sample_weight",
        )  # fmt: skip
    if numbers and not method.fitted.places_new_rows:
        posed.key = key_of_rows(rows)
    return posed


def settled_by(method: Any, posed: Posed) -> None:
    """Refuse a method that has named too little, and keep the key of its rows."""
    require_named(method)
    method._record.rows_key = posed.key


def linear_map_of(method: Any) -> LinearMap | IncompleteMap:
    """From rows to coordinates, of a method that names directions in the columns; refused of any other."""
    if "_mean64" not in method.fitted.needs:
        fitted_of(method).refuse("coordinates of new rows", "it places the rows of its fit", "fit all rows at once")
    record = method._record
    names = getattr(method, "feature_names_in_", None)
    return LinearMap(method.components_, record.mean64, record.scale64, None, names)
