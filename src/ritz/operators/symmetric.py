"""A symmetric matrix as an operator: ``S = Sᵀ`` (p×p), looked at once.

    |s_ij − s_ji| ≤ 8u·max|s|      or it is refused;    (S + Sᵀ)/2 is what is solved
    positive                       no eigenvalue below zero: said by the caller, refuted by LDLᵀ, by s_ii < 0, or by
                                   s_ij² > s_ii s_jj (Sylvester), and by every solver that meets a negative Ritz value

Which end of the spectrum counts, what the trace proves and which solvers apply depend on both.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from ritz._core.errors import InputError
from ritz._core.keys import key_of_numbers
from ritz._core.lazy import cached_property
from ritz._core.linalg import Array, is_foreign, norms, place_of, to_numpy
from ritz._core.random import gaussian_rows
from ritz._core.tolerance import rounding, unit_roundoff
from ritz.operators.assembled import Assembled
from ritz.operators.base import Operator
from ritz.operators.rounding import taken_off

__all__ = ["Symmetric"]

#: Roundings by which mirrored entries may differ, and entries of Vᵀ(AV) of an operator that is known by products only.
MIRRORED, PROBED = 8 * 2.0**-53, 1e-10
#: Size up to which a claim of no negative eigenvalue is tested by factorising.
FACTORED = 2_000
#: The stream of the probes, and how many.
STREAM, PROBES = 1 << 22, 4


class Symmetric(Operator):
    """``S`` (p×p), symmetric.

    Parameters
    ----------
    S : array, sparse matrix or Operator
        Entries are compared with their mirror images; an operator, which has no entries, with random probes.
    positive : bool
        Whether no eigenvalue is negative. Only then do the trace and ``sketch`` bound eigenvalues.

    Examples
    --------
    >>> import numpy as np
    >>> from ritz import operators as op
    >>> S = op.Symmetric(np.array([[2.0, 1.0], [1.0, 2.0]]), positive=True)
    >>> S.trace(), S.frobenius2(), S.T is S
    (4.0, 10.0, True)
    """

    symmetric = True

    def __init__(self, S: Any, positive: bool = False) -> None:
        if len(S.shape) != 2 or S.shape[0] != S.shape[1]:
            raise InputError("a symmetric matrix is square", received=f"shape {tuple(S.shape)}", hint="pass S, not X")
        entries = None if isinstance(S, Operator) else _Entries(_mirrored(S))
        self.inner: Operator = S if entries is None else entries
        super().__init__(S.shape, self.inner.dtype)
        self.xp, self.device = self.inner.xp, self.inner.device
        self.positive = bool(positive)
        if entries is None:
            _probe(S)
        elif self.positive:
            _require_positive(entries._host)

    def _matmat(self, V: Array) -> Array:
        return self.inner.matmat(V)

    def _rmatmat(self, U: Array) -> Array:
        return self.inner.matmat(U)

    def trace(self) -> float | None:
        return self.inner.trace()

    def frobenius2(self) -> float | None:
        return self.inner.frobenius2()

    def inflation(self) -> float:
        return math.sqrt(taken_off(self.inner))

    def measured(self) -> float | None:
        return self.inner.perturbation()

    def scale_error(self) -> float:
        return self.inner.scale_error()

    def gram_dtype(self) -> Any:
        return self.inner.gram_dtype()

    def assembled(self) -> Assembled | None:
        return self.inner.assembled() if self.positive else None

    def null(self) -> Array | None:
        return self.inner.null()

    def at(self, dtype: Any) -> Operator:
        inner = self.inner.at(dtype)
        return self if inner is self.inner else _known(inner, self.positive)

    def key(self) -> int:
        return self.inner.key()

    def passes(self) -> int:
        return self.inner.passes()

    def symbol(self) -> str:
        return self.inner.symbol()


class _Entries(Operator):
    """A matrix that equals its transpose, dense or sparse, wherever it lies."""

    symmetric = True

    def __init__(self, S: Any) -> None:
        super().__init__(S.shape, np.float64)
        self.S = S
        if is_foreign(S):
            self.xp, self.device = place_of(S).xp, place_of(S).device

    def _matmat(self, V: Array) -> Array:
        return self.S @ V

    def _rmatmat(self, U: Array) -> Array:
        return self.S @ U

    def assembled(self) -> Assembled | None:
        return Assembled(matrix=sp.csc_array(self.S)) if sp.issparse(self.S) else None

    @cached_property
    def _host(self) -> Any:
        return self.S if sp.issparse(self.S) else to_numpy(self.S)

    def trace(self) -> float:
        return float(np.sum(self._host.diagonal()))

    def frobenius2(self) -> float:
        return float(np.sum(np.square(self._host.data if sp.issparse(self.S) else self._host)))

    def key(self) -> int:
        return key_of_numbers(np.asarray(self._host.sum(axis=1)), self._host.diagonal())

    def symbol(self) -> str:
        return "S"


def _known(inner: Operator, positive: bool) -> Symmetric:
    """What was probed before, in another precision."""
    made = Symmetric.__new__(Symmetric)
    Operator.__init__(made, inner.shape, inner.dtype)
    made.inner, made.xp, made.device, made.positive = inner, inner.xp, inner.device, positive
    return made


def _mirrored(S: Any) -> Any:
    """(S + Sᵀ)/2 in float64, where S lies, or a refusal."""
    if is_foreign(S):
        return place_of(S).array(_mirrored(to_numpy(S)))
    S = S.tocsr().astype(np.float64) if sp.issparse(S) else np.asarray(S, np.float64)
    entries = S.data if sp.issparse(S) else S
    if not bool(np.all(np.isfinite(entries))):
        raise InputError("a symmetric matrix has finite entries", received="NaN or infinity", hint="look at S")
    size = float(np.max(np.abs(entries), initial=0.0))
    off = float(np.max(np.abs((S - S.T).data if sp.issparse(S) else S - S.T), initial=0.0))
    if off > MIRRORED * size:
        raise InputError(
            "a symmetric matrix equals its transpose",
            received=f"entries that differ from their mirror images by up to {off:.3g}, the largest being {size:.3g}",
            hint="pass (S + S.T)/2 if that is meant, or kind='svd' for the singular values of a table",
        )
    return (S + S.T) / 2


def _probe(A: Operator) -> None:
    V = gaussian_rows(0, STREAM, 0, A.shape[0], PROBES)
    H = np.asarray(V.T @ to_numpy(A.matmat(A.place.array(V))), np.float64)
    size = float(np.max(np.abs(H), initial=0.0))
    # Numbers far larger than A that cancel (a mean that is taken off the product) leave their rounding on both sides.
    lost = 2 * rounding(A.shape[0], unit_roundoff(A.dtype)) * math.sqrt(taken_off(A)) * float(np.max(norms(V))) ** 2
    if float(np.max(np.abs(H - H.T), initial=0.0)) > PROBED * size + lost:
        raise InputError(
            "a symmetric operator has VᵀAV = (VᵀAV)ᵀ",
            received=f"{A!r}, for which the two sides differ",
            hint="pass AᵀA",
        )


def _require_positive(S: Any) -> None:
    """Refuse what cannot be without negative eigenvalues."""
    diagonal = np.asarray(S.diagonal())
    size = float(np.max(np.abs(diagonal), initial=0.0))
    noise = MIRRORED * S.shape[0] * size
    if sp.issparse(S):
        rows, columns, entries = sp.find(S)
        most = np.abs(diagonal[rows] * diagonal[columns])
    else:
        entries, most = S, np.abs(np.outer(diagonal, diagonal))
    bad = bool(np.any(diagonal < -noise)) or bool(np.any(np.square(entries) > most * (1 + 1e-12) + noise**2))
    if not bad and not sp.issparse(S) and len(S) <= FACTORED:
        pivots = scipy.linalg.ldl(S + noise * np.eye(len(S)), check_finite=False)[1]
        bad = bool(np.any(np.linalg.eigvalsh(pivots) < -noise))
    if bad:
        raise InputError(
            "positive=True says that no eigenvalue is negative",
            received="a matrix with a negative eigenvalue",
            hint="leave positive=False",
        )
