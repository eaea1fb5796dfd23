"""Who asks for rows, and on which terms: an estimator in ``fit`` or afterwards, or nobody in particular.

fit         columns are recorded      n_features_in_, feature_names_in_, and what was put in memory
afterwards  columns are compared
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ritz._core.errors import InputError
from ritz._core.memory import limit
from ritz.data.passes.sparse import products as sparse_products
from ritz.data.words import describe

__all__ = ["Asked", "compare_columns", "room_for"]


class Asked:
    """Terms on which an engine adopts rows.

    Parameters
    ----------
    estimator : object, optional
        Whose columns they are.
    reset : bool
        Whether columns are recorded; compared otherwise.
    accept_sparse : bool
        Whether sparse rows may pass.
    memory : str, int or None
        Memory limit where there is no estimator.
    """

    def __init__(
        self, estimator: Any = None, *, reset: bool = True, accept_sparse: bool = True, memory: Any = None
    ) -> None:  # fmt: skip
        self.reset, self.accept_sparse = reset, accept_sparse
        self.memory = memory if estimator is None else getattr(estimator, "memory", None)
        self._estimator = estimator

    @property
    def estimator(self) -> Any:
        """Whose columns they are; a stand-in where nobody's."""
        if self._estimator is None:
            from sklearn.base import BaseEstimator

            self._estimator = type("Rows", (BaseEstimator,), {})()
        return self._estimator

    @property
    def room(self) -> float:
        """Bytes that may be taken in this process."""
        return limit(self.memory)

    @property
    def names(self) -> list[str] | None:
        """Columns of the fit, by which those of a table are found afterwards."""
        if self.reset or not hasattr(self._estimator, "feature_names_in_"):
            return None
        return list(self.estimator.feature_names_in_)

    @property
    def options(self) -> dict[str, Any]:
        """What scikit-learn's checks are told."""
        return {
            "accept_sparse": ["csr"] if self.accept_sparse else False,
            "accept_large_sparse": True,
            "ensure_all_finite": False,
            "copy": False,
        }

    def charge(self, added: float) -> None:
        """Remember what was put in memory for a fit: the plan has so much less."""
        if self.reset and self._estimator is not None:
            self._estimator._added_bytes = int(added)

    def recorded(self, rows: Any) -> Any:
        """The rows as they are; their names and number of columns are recorded or compared."""
        return rows if self._estimator is None else compare_columns(self._estimator, rows, self.reset)


def room_for(estimator: Any) -> float:
    """Bytes that a fit may take beside the rows that were put in memory for it."""
    room = max(0.0, limit(estimator.memory) - (getattr(estimator, "_added_bytes", None) or 0))
    sparse_products.leave(room)
    return room


def compare_columns(estimator: Any, blocks: Any, reset: bool = False) -> Any:
    """Row blocks as they are; their names and number of columns are recorded or compared."""
    names = getattr(blocks, "names", None)
    names_in = getattr(estimator, "feature_names_in_", None)
    if reset:
        estimator.n_features_in_ = int(blocks.shape[1])
        if names is not None:
            estimator.feature_names_in_ = np.asarray(names, dtype=object)
        elif names_in is not None:
            del estimator.feature_names_in_
    elif blocks.shape[1] != estimator.n_features_in_ or (
        names_in is not None and names and list(names_in) != list(names)
    ):
        raise InputError(
            f"X has {blocks.shape[1]} features, but {type(estimator).__name__} is expecting "
            f"{estimator.n_features_in_} features as input, with the names of the fit",
            received=describe(blocks),
            hint="give the columns of the fit, in the same order",
        )
    return blocks
