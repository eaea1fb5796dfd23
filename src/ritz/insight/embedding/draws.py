"""An estimator fitted again to some of its rows: what both looks at the stability of a map share.

    rows → draw S ⊂ {0 … n−1} → a clone fitted to X_S → coordinates of X_S, and the component each row lies in

A clone keeps every parameter: as many neighbours of fewer rows reach a little farther. Draws that cannot be fitted,
such as those whose graph falls into components with too few rows, are counted and said.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import InputError, ParameterError, RitzError
from ritz._core.threads import go_on
from ritz._core.warn import unsaid
from ritz.kernels.base import take_rows

__all__ = ["Draw", "Fits", "fitted_to", "middle"]

Floats = NDArray[np.float64]
Places = NDArray[np.intp]

#: Draws that must succeed for anything to be said, and the part of the draws that an interval holds.
LEAST, INSIDE = 3, 0.9


@dataclass(frozen=True)
class Draw:
    """A map of some rows."""

    rows: Places  # (m,)
    Y: Floats  # (m, p)
    part: Places  # (m,) component of each row, −1 where it was left out


@dataclass
class Fits:
    """Maps of draws, and of all rows."""

    whole: Draw
    draws: list[Draw]
    failed: int
    why: str

    def require(self) -> None:
        """Refuse to speak of too few draws."""
        if len(self.draws) < LEAST:
            raise InputError(f"at least {LEAST} draws of rows that can be fitted", received=f"{len(self.draws)}",
                             hint=self.why or "more draws, or more rows")  # fmt: skip


def middle(values: Any) -> tuple[float, float, float]:
    """The median over draws, and the ends of what nine in ten of them lie between."""
    low, mid, high = np.quantile(np.asarray(values, np.float64), [(1 - INSIDE) / 2, 0.5, (1 + INSIDE) / 2])
    return float(mid), float(low), float(high)


def fitted_to(
    model: Any, X: Any, embedding: Any, pick: Callable[[Any, int], Places], draws: int, random_state: int,
    most_seconds: float | None = None,
) -> Fits:  # fmt: skip
    """Fit ``model`` again to rows that ``pick(generator, n)`` chooses, ``draws`` times or until time is up."""
    if isinstance(draws, bool) or not isinstance(draws, (int, np.integer)) or draws < LEAST:
        raise ParameterError(f"draws must be a whole number ≥ {LEAST}", received=repr(draws), hint="draws=20")
    if not hasattr(model, "fit_transform"):
        raise ParameterError("expected an estimator with fit_transform", received=type(model).__name__,
                             hint="ritz.Isomap(2)")  # fmt: skip
    n = X.shape[0] if hasattr(X, "shape") else len(X)
    whole = _whole(model, X, n, embedding)
    made: list[Draw] = []
    failed, why = 0, ""
    for rows, outcome in _each(model, X, n, pick, draws, random_state, most_seconds):
        if isinstance(outcome, str):
            failed, why = failed + 1, why or outcome
        else:
            made.append(Draw(rows, *outcome))
    return Fits(whole, made, failed, why)


def _each(
    model: Any, X: Any, n: int, pick: Any, draws: int, seed: int, most_seconds: float | None
) -> Iterator[tuple[Places, Any]]:
    import time

    from sklearn.base import clone

    rng, pairwise, begun = np.random.default_rng(seed), _pairwise(model), time.monotonic()
    for count in range(draws):
        if most_seconds is not None and count >= LEAST and time.monotonic() - begun > most_seconds:
            return
        go_on()
        rows = np.sort(pick(rng, n))
        some = X[np.ix_(rows, rows)] if pairwise else take_rows(X, rows)
        fresh = clone(model)
        if "progress" in fresh.get_params(deep=False):
            fresh.set_params(progress=None)
        try:
            with unsaid():
                yield rows, _map_of(fresh, np.asarray(fresh.fit_transform(some), np.float64))
        except (RitzError, ValueError, np.linalg.LinAlgError) as error:
            yield rows, str(error).partition("\n")[0]


def _whole(model: Any, X: Any, n: int, embedding: Any) -> Draw:
    """The map of all rows: given, kept by the model, or made."""
    from sklearn.base import clone

    if embedding is None and len(getattr(model, "embedding_", ())) == n:
        embedding, fitted = model.embedding_, model
    elif embedding is None:
        fitted = clone(model)
        embedding = fitted.fit_transform(X)
    else:
        fitted = model
    Y = np.asarray(embedding, np.float64)
    if Y.ndim != 2 or len(Y) != n:
        raise InputError(f"coordinates of {n:,} rows, shape (n, p)", received=f"shape {Y.shape}")
    return Draw(np.arange(n), *_map_of(fitted, Y))


def _map_of(model: Any, Y: Floats) -> tuple[Floats, Places]:
    part = getattr(model, "component_labels_", None)
    labels = np.zeros(len(Y), np.intp) if part is None or len(part) != len(Y) else np.asarray(part, np.intp)
    return Y, np.where(np.isfinite(Y).all(axis=1), labels, -1)


def _pairwise(model: Any) -> bool:
    from sklearn.utils import get_tags

    try:
        return bool(get_tags(model).input_tags.pairwise)
    except (AttributeError, TypeError):
        return False
