"""What a PCA that fills gaps does: in ``fit``, for new rows, and what its states cannot do.

fit          X → completed blocks → the ordinary route → results, and the filler beside them
transform    fill, then project as any row is (project/incomplete.py)
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ritz._core.bases import check_is_fitted
from ritz._core.errors import InputError, MergeError, ParameterError
from ritz._core.frozen import changed
from ritz._core.progress import using
from ritz._core.random import seed_of
from ritz.data.passes.blocks import are_blocks, blocks_of
from ritz.data.passes.statistics import ColumnStatistics
from ritz.project.linear import LinearMap
from ritz.spectral.constants import GAP_ENTRY, GAP_PASSES
from ritz.spectral.plan import Plan, Shape
from ritz.spectral.solution import Solution

if TYPE_CHECKING:
    from ritz.methods.missing.missing import Completed
    from ritz.project.incomplete import IncompleteMap

__all__ = [
    "GAP_RESULTS", "completed", "filled_rows", "filling", "incomplete", "keep_filler", "refuse_gaps_in_states",
    "refuse_gaps_read_once", "refuse_models_of_gaps", "unfilled", "with_gaps",
]  # fmt: skip

#: Names that a fit with gaps leaves behind.
GAP_RESULTS = ("n_missing_", "n_iter_")


def completed(model: Any, X: Any, weights: np.ndarray | None) -> Completed:
    """What fills the gaps of the rows."""
    from ritz.methods.missing.missing import complete  # loaded only where gaps are filled

    with using(model.progress, type(model).__name__):
        return complete(
            blocks_of(X), weights, model.missing, model.n_components, center=model.center, scale=model.scale,
            tol=model.tol, seed=seed_of(model.random_state), names=getattr(model, "feature_names_in_", None),
        )  # fmt: skip


def with_gaps(model: Any, plan: Plan, shape: Shape, gaps: bool) -> Plan:
    """The plan with the passes that look for gaps and, where there are some, fill them."""
    seconds, entries = plan.seconds, GAP_ENTRY * shape.n * shape.d
    if model.missing == "mean" or not gaps:
        return changed(plan, passes=plan.passes + 1, seconds=seconds + entries)
    words = f"about {GAP_PASSES} passes over the rows fill what is missing"
    return changed(
        plan, passes=plan.passes + 1 + GAP_PASSES, seconds=seconds + (1 + GAP_PASSES) * entries,
        reasons=(*plan.reasons, words),
    )  # fmt: skip


def unfilled(rows: Any) -> Any:
    """Rows as a fit will read them once their gaps are filled, and the rows themselves where they have none.

    What lies outside memory is taken to have some.
    """
    from ritz.data.passes.completed import CompletedBlocks
    from ritz.project.linear import result_dtype

    if not are_blocks(rows):
        stored = rows.data if hasattr(rows, "tocsr") else rows
        if stored.dtype.kind != "f" or not bool(np.isnan(stored).any()):
            return rows
    return CompletedBlocks(blocks_of(rows), lambda values, _: values, result_dtype(rows.dtype))


def keep_filler(
    model: Any, done: Completed, solution: Solution, column: ColumnStatistics, scale: Any, rows: int
) -> None:  # fmt: skip
    """Remember what fills gaps, never the rows; the certificate says how much was filled."""
    from ritz.methods.missing.missing import filler_of

    model.n_missing_, model.n_iter_ = done.observed.missing, done.passes
    names = getattr(model, "feature_names_in_", None)
    model._record.filler = done.filler or filler_of(
        model.missing, solution, column, rows=rows, center=model.center, scale=scale, names=names
    )
    model.certificate_ = replace(model.certificate_, notes=(*model.certificate_.notes, *done.notes))


def filled_rows(model: Any, rows: Any) -> Any:
    """The rows with their gaps filled, as the fit filled them; rows as they are of a model without gaps."""
    if not getattr(model, "n_missing_", 0):
        return rows
    from ritz.data.passes.completed import CompletedBlocks
    from ritz.project.linear import result_dtype

    filler, dtype = model._record.filler, result_dtype(rows.dtype)
    done = CompletedBlocks(blocks_of(rows), filler.fill, dtype)
    return done if are_blocks(rows) else np.vstack([block.values for block in done.each()]).astype(dtype)


def filling(model: Any, linear: LinearMap) -> LinearMap | IncompleteMap:
    """The map of an estimator that may have learned to fill gaps."""
    filler = model._record.filler
    if filler is None:
        return linear
    from ritz.project.incomplete import IncompleteMap

    return IncompleteMap(filler, linear)


def incomplete(model: Any) -> IncompleteMap:
    """The map of a model that fills gaps; any other is refused."""
    check_is_fitted(model)
    step = model._map()
    if isinstance(step, LinearMap):
        raise ParameterError(
            "gaps can be filled by a model that was fitted with missing='mean', 'em' or 'regularized'",
            received=f"missing={model.missing!r}" + ("" if model.missing == "error" else " and merged"),
            hint="PCA(n_components, missing='regularized').fit(X)",
        )
    incomplete_map: IncompleteMap = step
    return incomplete_map


def refuse_gaps_in_states(missing: str) -> None:
    """Refuse to add rows whose gaps would have to be filled."""
    if missing != "error":
        raise ParameterError(
            "partial_fit adds complete rows, but what fills gaps depends on all rows",
            received=f"missing={missing!r}",
            hint="fit all rows at once; fit reads files and streams",
        )


def refuse_models_of_gaps(model: Any, verb: str) -> None:
    """Refuse to merge a model of rows that had gaps."""
    if getattr(model, "n_missing_", 0):
        raise MergeError(
            f"{verb} needs models of complete rows: what fills gaps depends on all rows",
            received=f"a model of rows with {model.n_missing_:,} missing entries",
            hint="fit all rows at once",
        )


def refuse_gaps_read_once(missing: str) -> None:
    """Refuse to fill gaps of rows that are gone after one pass."""
    if missing != "error":
        raise InputError(
            f"rows that can be read again: missing={missing!r} reads them in several passes",
            received="rows that can be read once",
            hint="write them to a file and fit that, or collect them: numpy.concatenate(list(batches))",
        )
