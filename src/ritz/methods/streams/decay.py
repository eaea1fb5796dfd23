"""Streams that drift: rows that fade as others come.

    weight of row i of n     wᵢ·γ^(n−1−i)          γ = ``decay``,   half as much after h further rows: γ = ½^(1/h)

The weight depends on how many rows came after it and on nothing else, so batches of any size give the same table, and
``fit`` of all rows is the same as ``partial_fit`` of their parts. That weighted table is what is certified, and what
``verify`` reads again. Σw tends to 1/(1 − γ): as many rows decide at any time.
"""

from __future__ import annotations

import numbers
from typing import Any

from ritz._core.errors import MergeError, ParameterError
from ritz.data.streams.gathered import fading

__all__ = ["check_decay", "faded_rows", "refuse_faded"]


def check_decay(decay: Any) -> None:
    """Refuse a decay that is no share."""
    if isinstance(decay, numbers.Real) and not isinstance(decay, bool) and 0 < float(decay) <= 1:
        return
    raise ParameterError(
        "decay must be a number in (0, 1]: the share of its weight that a row keeps when one more row comes",
        received=repr(decay),
        hint="decay=1 forgets nothing; decay=0.5 ** (1 / 1000) halves the weight of a row every 1,000 rows",
    )


def refuse_faded(model: Any) -> None:
    """Refuse to take rows away that weigh something else by now."""
    if model.decay != 1:
        raise MergeError(
            "rows can be taken away from models that do not fade",
            received=f"decay={model.decay!r}: the rows weigh less here than in the model that is to be taken away",
            hint="use decay=1 for windows, or leave old rows to fade",
        )


def faded_rows(model: Any, rows: Any, weights: Any) -> tuple[Any, Any]:
    """Rows and what they weigh in a fit or a check, all of them having come."""
    decay = float(getattr(model, "decay", 1.0))
    return rows, weights if decay == 1 else fading(weights, int(rows.shape[0]), decay)
