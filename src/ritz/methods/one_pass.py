"""PCA of rows that can be read once and have too many columns for a d×d state: a sketch of one pass.

    M = Σ w(x − μ)(x − μ)ᵀ,   Y = MΩ on the way, Ω (d×l)  →  M̂ ⪯ M with its certificate       spectral/solvers/sketch.py

d×l numbers are held and nothing of the rows. What one pass cannot give is refused: standard deviations have to be known
before the products (``scale``), a rule that reads the whole spectrum, a state to merge.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ritz._core import memory as memory_limit
from ritz._core.errors import InputError, ParameterError
from ritz._core.progress import using
from ritz._core.random import seed_of
from ritz.data.passes.blocks import block_rows
from ritz.data.passes.center import mean_parts
from ritz.data.passes.finite import require_finite
from ritz.methods.rest import left_over
from ritz.operators.once import Once
from ritz.spectral.plan import Shape
from ritz.spectral.problem import SpectralProblem
from ritz.spectral.solve import solve

if TYPE_CHECKING:
    from ritz.methods.method import Method

__all__ = ["check_bounded", "fit_sketch", "takes_sketch"]

#: Components that are sought where a share of the variance decides how many are kept.
FIRST_GUESS = 100
#: Numbers of a d×d state while it is added up.
STATE_COPIES = 4


def takes_sketch(model: Method, d: int, largest: int) -> bool:
    """Whether rows read once are sketched: it was asked for, and a d×d state would be too large."""
    if model.solver != "sketch" or model.mergeable:
        return False
    return d > largest or STATE_COPIES * 8.0 * d * d > memory_limit.limit(model.memory)


def fit_sketch(model: Method, source: Any, columns: Any, d: int, weights: Any) -> None:
    """Fit ``model`` to the batches of a source, read once."""
    check_bounded(model)
    rows = Once(_batches(model, source, columns, d, weights), d, center=bool(model.center))
    # n is not known yet: more rows than columns are assumed, and the answer is held against n afterwards
    wanted = model._wanted(1 << 62, d, centered=bool(model.center))
    guess = wanted if isinstance(wanted, int) else min(FIRST_GUESS, d)
    plan = model._plan_for(Shape(d, d, 8, None, symmetric=True), guess)
    rule = None if isinstance(wanted, int) else wanted
    problem = SpectralProblem(
        rows, k=guess, rule=rule, kind="eigh", tol=model.tol, seed=seed_of(model.random_state), d=d,
        centered=bool(model.center), repeatable=False,
    )  # fmt: skip
    with using(model.progress, type(model).__name__):
        spectrum = solve(problem, plan, frame={})
    model._enough_rows(rows.rows)
    if rows.weight <= 1 and model.center:
        raise InputError(
            "the weights of all rows must sum to more than 1", received=f"{rows.weight:g}", hint="add more rows"
        )
    model._wanted(rows.rows, d, centered=bool(model.center))  # more components than rows are refused as ever
    seen = SpectralProblem(
        rows, k=guess, kind="eigh", n=rows.weight, d=d, rows=rows.rows, centered=bool(model.center)
    )  # fmt: skip
    model._remember(seen, spectrum, 1.0)
    rest, spectrum = left_over(spectrum, seen.rank, None)
    model._record.state = None
    model._name(spectrum, mean_parts(rows), None, rows.weight, rows.rows, model._record.dtype, rest)


def check_bounded(model: Any) -> None:
    """Refuse what rows that are gone, and whose scatter matrix is not held, cannot give."""
    if getattr(model, "scale", False):
        raise ParameterError(
            "what is kept of rows that are read once cannot divide columns by their standard deviations: these are "
            "known when the rows are gone",
            received="scale=True",
            hint="divide the columns of every batch by known scales, or pass rows that can be read again",
        )
    asked = model.n_components
    if asked is None or (isinstance(asked, str) and asked):
        raise ParameterError(
            "a state of bounded size takes a number of components, or a fraction of the variance",
            received=f"n_components={asked!r}",
            hint="n_components=50, or n_components=0.9",
        )


def _batches(model: Any, source: Any, columns: Any, d: int, weights: Any) -> Iterator[tuple[Any, Any]]:
    """Validated batches with their weights, in pieces of a block."""
    row, first = 0, True
    for span in source.spans:
        for batch in source.batches(span, columns, block_rows(d)):
            count = batch.shape[0]
            given = None if weights is None else weights[row : row + count]
            rows, w = model._rows(batch, given, reset=first, whole=False)
            require_finite(rows, getattr(model, "feature_names_in_", None), partial(_numbered, row))
            dtype = model._float(rows)
            model._record.dtype = dtype if first else np.promote_types(model._record.dtype, dtype)
            first, row = False, row + count
            yield rows, w
    if weights is not None and len(weights) != row:
        raise InputError(f"sample_weight needs one entry for each of the {row} rows", received=f"{len(weights)}")


def _numbered(start: int, row: int) -> str:
    return f"row {start + row}"
