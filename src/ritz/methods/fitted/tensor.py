"""Tensors in parts: rows are the slices of the first mode, placed on the axes of their unfolding."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ritz.methods.fitted.embedding import Embedded

__all__ = ["OfTensor"]

Floats = NDArray[np.float64]


class OfTensor(Embedded):
    """A tensor as a core and factors, a train, or a sum of products."""

    named: ClassVar[tuple[str, ...]] = (*Embedded.named, "ranks_", "shape_", "relative_error_")
    needs: ClassVar[tuple[str, ...]] = (*Embedded.needs, "shape_", "ranks_", "_turn", "_dtype")
    places_new_rows = True
    keeps_spectrum = False
    chooses = False
    without_rules = ("a tensor has one rank a mode, and the rules know tables", "choose_ranks() says which ranks do")
    without_columns = (
        "its axes are directions in a space of slices, not of columns",
        "reconstruct(index) shows them; choose_ranks() says which ranks do",
    )

    @property
    def certified(self) -> bool:
        """Terms of a sum of products are no axes of the unfolding, whose singular values the certificate has."""
        return not hasattr(self.model, "weights_")

    @property
    def values(self) -> Floats:
        """σ² of the axes, or λ² of the terms."""
        return np.square(np.asarray(self.model.singular_values_, np.float64))

    @property
    def shares(self) -> Floats:
        """Of ‖X‖²."""
        return np.asarray(self.model.explained_variance_ratio_, np.float64)

    @property
    def compares(self) -> str:
        """Slices as rows of numbers."""
        return "vectors"

    def rows(self, X: Any) -> Any:
        """Slices as rows of numbers."""
        return self.tabled(X)

    def row_count(self, X: Any) -> int:
        """Slices."""
        return len(self.tabled(X))

    def tabled(self, X: Any) -> Any:
        """A column for every cell of a slice."""
        if X is None:
            return None
        array = self.model._like(X)
        return array.reshape(len(array), -1)

    def entry_labels(self) -> list[str] | None:
        """The cells of a slice by their places on the other modes, from 1 on as rows are."""
        places = np.ndindex(*self.model.shape_[1:])
        return [f"entry {', '.join(str(place + 1) for place in one)}" for one in places]

    def possible(self, n: int, d: int) -> int:
        """No more than either side."""
        return min(n, d)

    def require_own(self, X: Any) -> None:
        """Every slice of the right shape has coordinates."""

    @staticmethod
    def checked(values: dict[str, Any]) -> None:
        """Refuse parts of a file that do not belong together."""
        shape, ranks = values["shape_"], values["ranks_"]
        whole = all(isinstance(one, tuple) and all(type(n) is int and n > 0 for n in one) for one in (shape, ranks))
        if not whole or len(shape) < 2 or values["embedding_"].shape[0] != shape[0]:
            raise ValueError("a tensor without a shape")
        if math.prod(shape[1:]) != values["n_features_in_"]:
            raise ValueError("slices of another shape")
        parts = values.get("factors_", values.get("cores_"))
        if not isinstance(parts, list) or len(parts) != len(shape):
            raise ValueError("more or fewer parts than modes")
        for n, part in zip(shape, parts, strict=True):
            sides = 3 if "cores_" in values else 2
            if not isinstance(part, np.ndarray) or part.dtype.kind != "f" or part.ndim != sides:
                raise TypeError("parts that are no arrays")
            if part.shape[1 if part.ndim == 3 else 0] != n:
                raise ValueError("a part of another length than its mode")
        if "cores_" in values:
            ends = [(core.shape[0], core.shape[2]) for core in parts]
            if ends[0][0] != 1 or ends[-1][1] != 1 or any(a[1] != b[0] for a, b in pairwise(ends)):
                raise ValueError("cores that do not follow each other")
        core = values.get("core_")
        if core is not None and core.shape != tuple(part.shape[1] for part in parts):
            raise ValueError("a core of other ranks than its factors")
        turn, sums = values.get("_turn"), core is None and "cores_" not in values  # of terms of rank one
        if sums:
            weights, count = values.get("weights_"), parts[0].shape[1]
            if not isinstance(weights, np.ndarray) or weights.dtype.kind != "f" or weights.shape != (count,):
                raise ValueError("terms without their weights")
            if any(part.shape[1] != count for part in parts):
                raise ValueError("factors of more or fewer terms than others")
        if turn is not None:
            inner = parts[0].shape[1] if sums else parts[0].shape[2] if core is None else math.prod(core.shape[1:])
            wanted = (inner, values["embedding_"].shape[1])
            if not isinstance(turn, np.ndarray) or turn.shape != wanted:
                raise ValueError("coordinates of slices along axes of another space")
