"""The outcome of ``verify``: whether everything was found right, and in words what was looked at and what was not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.tabular import Tabular

__all__ = ["Verification", "all_of"]


@dataclass(frozen=True)
class Verification(Tabular):
    """Outcome of ``model.verify(X)`` and ``model.certificate_.verify(X)``.

    Attributes
    ----------
    ok : whether everything was found right; ``bool(found)`` is the same
    residuals : (k,) ‖Mv − θv‖, computed anew
    count : eigenvalues above the enclosure of the last labelled component; None where they were bounded instead
    expected : k, the number of components that were checked
    missed_bound : what no missed eigenvalue exceeds, where they were bounded
    words : what was looked at and what was found

    Examples
    --------
    >>> import ritz
    >>> from sklearn.datasets import load_iris
    >>> X = load_iris().data
    >>> found = ritz.PCA(2).fit(X).verify(X)
    >>> bool(found), found.count                  # one eigenvalue lies above the enclosure of the second
    (True, 1)
    >>> print(found.words[-1])
    decomposition: all 4 singular values computed anew
    """

    ok: bool
    residuals: NDArray[np.float64]
    count: int | None
    expected: int
    missed_bound: float | None
    words: tuple[str, ...]
    anew: Any = field(default=None, repr=False, compare=False)  # the table read again, for what a model holds

    def __bool__(self) -> bool:
        return self.ok

    def __str__(self) -> str:
        return "\n".join([f"verification: {'passed' if self.ok else 'FAILED'}", *self.words])

    def _table(self) -> dict[str, Any]:
        return {"component": range(1, len(self.residuals) + 1), "residual": self.residuals}


def all_of(checks: Sequence[Verification]) -> Verification:
    """One outcome of several certificates: right where all are; numbers are those of the first, words of all."""
    return replace(
        checks[0], ok=all(checks), words=tuple(dict.fromkeys(word for one in checks for word in one.words)),
        residuals=np.concatenate([one.residuals for one in checks]),
    )  # fmt: skip
