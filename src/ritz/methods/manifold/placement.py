"""Where a row lies in a map of others, from its squared distances to them.                                 [Gow68]

    y(x) = −½ Λ⁻¹ Yᵀ W (d²_x − D²p),     G = −½ S J D² Jᵀ S = U Λ Uᵀ,   Y = S⁻¹ U Λ^½,   W = S² = diag(w)

Without weights ½ Λ^-½ Uᵀ (D̄² − d²_x). A row of the fit gets its own coordinates, since YᵀW1 = 0 and G Y = Y Λ.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import InputError, NegativeEigenvalues
from ritz._core.warn import warn
from ritz.methods.fitted.embedding import Embedded, sides_agree
from ritz.methods.linear_record import LinearRecord
from ritz.methods.record import ABSENT
from ritz.operators.distances import Gower

__all__ = ["MapRecord", "Place", "Placed", "map_of", "placed_by"]

Floats = NDArray[np.float64]

#: An eigenvalue below this share of ½‖D²‖_∞, for each row, is rounding.
ZERO = 4 * 2.0**-53
#: Rows that are placed at a time.
BATCH = 512


@dataclass(eq=False)
class MapRecord(LinearRecord):
    """Of maps made of distances."""

    compared: Any = ABSENT  # rows of the fit, or the landmarks, that new rows are compared with
    anchors: Floats = ABSENT  # (n, k) −½ W Y Λ⁻¹
    level: Floats = ABSENT  # (n,) D²p
    taken: NDArray[np.int64] | None = ABSENT  # (m,) landmarks
    home: NDArray[np.intp] | None = ABSENT  # (m,) component of each row, or landmark, of components mapped apart
    directions: Floats | None = ABSENT  # (d, k) where the map is linear in the columns
    origin: Floats | None = ABSENT  # (d,)
    graph: Any = ABSENT  # lengths of the edges, CSR
    nodes: NDArray[np.int64] | None = ABSENT  # rows of the graph
    shape_x: Floats | None = ABSENT  # distances and disparities of an ordinal map
    shape_y: Floats | None = ABSENT
    lengths: Any = ABSENT  # geodesics between all rows, as long as they are at hand; neither pickled nor in files

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "lengths": None}


class Placed(Embedded):
    """Coordinates of the rows of the fit, and of others."""

    places_new_rows = True
    formula = "none"
    derived = ("_lengths",)

    @staticmethod
    def checked(values: dict[str, Any]) -> None:
        """Refuse parts of a map of a file that do not belong together."""
        k, d = int(values["n_components_"]), int(values["n_features_in_"])
        sides_agree(values, "f", embedding_=(-1, k), _directions=(d, k), _origin=(d,), _anchors=(-1, k),
                    _shape_x=(-1,), _shape_y=(-1,))  # fmt: skip
        if values.get("_directions") is not None and values.get("_origin") is None:
            raise ValueError("directions from nowhere")
        anchors, knots = values.get("_anchors"), values.get("_shape_x")
        if anchors is not None:
            sides_agree(values, "f", _level=(len(anchors),))
            sides_agree(values, "iu", _taken=(len(anchors),), _home=(len(anchors),), _nodes=(-1,))
        sides_agree(values, "iu", rows_=(-1,))
        n = len(values["embedding_"])
        for taken, most in ((values.get("_taken"), n), (values.get("rows_"), int(values["n_samples_"]))):
            if taken is not None and len(taken) and not (int(taken.min()) >= 0 and int(taken.max()) < most):
                raise ValueError("landmarks, or nodes of a graph, that are no rows")
        if (knots is None) != (values.get("_shape_y") is None) or (
            knots is not None and (not len(knots) or knots.shape != values["_shape_y"].shape)
        ):
            raise ValueError("disparities of other distances")
        sides_agree({name: values[name] for name in ("_compared",) if isinstance(values.get(name), np.ndarray)}, "fiub",
                    _compared=(-1, -1))  # fmt: skip
        for name in ("n_connected_components_", "negative_share_", "constant_"):
            if np.ndim(values.get(name, 0) or 0):
                raise TypeError(f"{name} that is no number")

    @staticmethod
    def as_asked(parameters: dict[str, Any], values: dict[str, Any]) -> None:
        """Refuse a map that has nothing to compare new rows with."""
        Embedded.as_asked(parameters, values)
        given = isinstance(parameters["metric"], str) and parameters["metric"] == "precomputed"
        if not given and values.get("_compared") is None and values.get("_directions") is None:
            raise ValueError("a map without rows to compare with")
        formula = values.get("_directions") is None and parameters.get("method") in (None, "classical")
        if formula and any(values.get(name) is None for name in ("_anchors", "_level")):
            raise ValueError("a map that places no rows")

    @property
    def shares(self) -> Floats:
        """Of Σ|λ|, where negative eigenvalues are known; of the trace otherwise."""
        c, below = self.model.certificate_, float(self.model.negative_share_)
        total = c.total / (1 - 2 * below) if 0 <= below < 0.5 else c.total
        values = np.asarray(self.model.eigenvalues_, np.float64)
        return values / total if total > 0 else np.zeros(len(values))


@dataclass(frozen=True)
class Place:
    """Gower's formula."""

    anchors: Floats
    level: Floats

    def __call__(self, squares: Floats) -> Floats:
        """Coordinates (m, k) of rows with these squared distances (m, n)."""
        return np.asarray((squares - self.level) @ self.anchors)


def map_of(values: Floats, U: Floats, G: Gower, asked: int | None) -> tuple[Floats, Floats, Place]:
    """Positive eigenvalues, coordinates and the formula for new rows; axes without a positive one are left out."""
    there = values > ZERO * len(U) * G.inflation()
    if not there.any():
        raise InputError(
            "a map needs rows that differ", received="distances without a positive eigenvalue",
            hint="all rows are alike, or no two of these distances fit together",
        )  # fmt: skip
    if asked is not None and int(there.sum()) < asked:
        warn(
            f"{int(there.sum())} of the first {asked} eigenvalues are positive: these distances fit into no more "
            "dimensions, and the map has as many\nhint: correction='lingoes' or 'cailliez' makes more of them positive",
            NegativeEigenvalues,
        )
    values, U = values[there], U[:, there]
    Y = U * np.sqrt(values) / G.root[:, None]
    anchors = -0.5 * (G.root**2)[:, None] * Y / values
    return values, Y, Place(anchors, G.means())


def placed_by(place: Place, squares: Callable[[slice], Floats], m: int, k: int) -> Floats:
    """Coordinates of m rows, some at a time; ``squares`` gives squared distances of a slice of them."""
    made = np.empty((m, k))
    for start in range(0, m, BATCH):
        at = slice(start, min(start + BATCH, m))
        made[at] = place(squares(at))
    return made
