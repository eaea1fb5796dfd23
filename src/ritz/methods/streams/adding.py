"""Estimators to whose models rows can be added, whole models, and from which rows can be taken away: PCA and SVD.

partial_fit   S ← S ⊕ S(rows)        merge   S_a ⊕ S_b        subtract   S ⊖ S_b          states: ``held.py``
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from ritz._core.tolerance import unit_roundoff
from ritz.data.passes.moments import Moments
from ritz.methods.calls import public
from ritz.methods.missing.model import refuse_gaps_in_states
from ritz.methods.moments import add_rows, solve_state
from ritz.methods.streams.decay import refuse_faded

__all__ = ["AddsRows"]


class AddsRows:
    """Rows that are added up."""

    _record: Any
    _combine: Any
    _need_state: Any
    _check_parameters: Any

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None, check_input: bool = True) -> Self:
        """Add complete rows; nothing is solved until a fitted name is read.

        Examples
        --------
        >>> import numpy as np, ritz
        >>> rows = np.random.default_rng(0).standard_normal((1000, 3)) * [3, 2, 1]
        >>> pca = ritz.PCA(2)
        >>> for part in np.array_split(rows, 7):
        ...     pca = pca.partial_fit(part)
        >>> bool(np.allclose(pca.explained_variance_, ritz.PCA(2).fit(rows).explained_variance_, rtol=1e-12))
        True
        """
        self._check_parameters()
        refuse_gaps_in_states(getattr(self, "missing", "error"))
        add_rows(self, X, sample_weight)  # type: ignore[type-var]
        return self

    def merge(self, other: Self, *more: Self) -> Self:
        """The model of both data sets together, exactly; neither operand changes.

        Examples
        --------
        >>> import numpy as np, ritz
        >>> from sklearn.datasets import load_iris
        >>> X = load_iris().data
        >>> setosa, others = ritz.PCA(2).fit(X[:50]), ritz.PCA(2).fit(X[50:])
        >>> both = setosa.merge(others)               # neither needs the rows of the other
        >>> both.n_samples_, both.explained_variance_.round(4)
        (150, array([4.2282, 0.2427]))
        >>> ritz.PCA(2).fit(X).explained_variance_.round(4)
        array([4.2282, 0.2427])
        """
        joined: Self = self._combine([other, *more], Moments.merge)
        return joined

    def subtract(self, other: Self) -> Self:
        """The model without the rows of ``other``; exact to u·tr(merged)/tr(rest), as its certificate notes.

        Examples
        --------
        >>> import numpy as np, ritz
        >>> from sklearn.datasets import load_iris
        >>> X = load_iris().data
        >>> rest = ritz.PCA(2).fit(X).subtract(ritz.PCA(2).fit(X[:50]))
        >>> rest.n_samples_, rest.explained_variance_.round(4)
        (100, array([1.1822, 0.1216]))
        >>> ritz.PCA(2).fit(X[50:]).explained_variance_.round(4)
        array([1.1822, 0.1216])
        """
        refuse_faded(self)
        rest: Self = self._combine([other], Moments.subtract)
        if rest._record.dtype == np.float32 and isinstance(rest._record.state, Moments):
            rest._record.state = rest._need_state().without_dust(unit_roundoff(np.float32))
        return rest

    def _solve_state(self) -> None:
        solve_state(self)


public(AddsRows)
