"""What is kept of, and asked of, models that place rows by their neighbours.

embedding_ (n, k) of the rows of the fit;   new rows: a sum of their neighbours' coordinates  →  ``transform``
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import InputError
from ritz._core.linalg import working_dtype
from ritz.data.passes.blocks import are_blocks, blocks_of, mapped
from ritz.data.validate import require_finite
from ritz.kernels.rows import is_sparse
from ritz.methods.fitted.embedding import Embedded, sides_agree
from ritz.methods.linear_record import LinearRecord
from ritz.methods.manifold.weights import barycentric
from ritz.methods.record import ABSENT

__all__ = ["ByNeighbours", "NodeRecord", "OfNeighbours", "OfWalks", "rows_of"]

Floats = NDArray[np.float64]
Places = NDArray[np.intp]

#: Rows that are placed at a time.
BATCH = 4096
#: Neighbours, beyond the number of axes, that a row is put together from, and the share of the trace that is added.
BEYOND, REG = 3, 1e-3
#: Shares of the largest coordinate of a map that coordinates of a row of the fit may be off by: in float64, where
#: formulas of new rows came within 1.5e-14, and in float32, within 6e-8 (six maps of 400 rows, four seeds).
CLOSE, CLOSE_SINGLE = 1e-12, 5e-7


@dataclass(eq=False)
class NodeRecord(LinearRecord):
    """Of a model of m nodes: the distinct rows of a fit."""

    nodes: Floats = ABSENT  # (m, k) coordinates
    part: Places = ABSENT  # (m,) the component of each node
    reach: Floats | None = ABSENT  # (m,) how far the neighbours of a node lie at most
    size: Floats | None = ABSENT  # (m,) σ of self-tuning weights, or the density of a diffusion
    spectra: Floats = ABSENT  # (components, k) eigenvalues
    space: Any = ABSENT  # of the nodes, made when it is asked for; not written to files

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "space": None}


class OfNeighbours(Embedded):
    """A model of the smallest eigenvalues of a graph, or of an alignment, which places new rows."""

    needs = ("embedding_", "X_fit_", "_nodes", "_part", "_spectra")
    derived = ("_space",)
    places_new_rows = True
    chooses = False
    without_rules = (
        "its eigenvalues are no shares of a variance, and no rule says where they end",
        "ritz.insight.intrinsic_dimension(X) estimates how many dimensions the rows have",
    )
    rules: ClassVar[tuple[str, ...]] = ()

    @staticmethod
    def checked(values: dict[str, Any]) -> None:
        """Refuse nodes of a file that do not belong together."""
        sides_agree(values, "f", _nodes=(-1, -1), _spectra=(-1, -1))
        (m, k), parts = values["_nodes"].shape, len(values["_spectra"])
        sides_agree(values, "f", embedding_=(-1, k), _spectra=(-1, k), _reach=(m,), _size=(m,), _points=(m, -1),
                    _duals=(-1,), _told=(parts, 4))  # fmt: skip
        sides_agree(values, "iu", _part=(m,))
        if m and not (int(values["_part"].min()) >= 0 and int(values["_part"].max()) < max(parts, 1)):
            raise ValueError("nodes of components that are not there")
        rows = values["X_fit_"]
        count = rows.shape[0] if getattr(rows, "shape", ()) else len(rows) if isinstance(rows, list) else -1
        if count != m or (isinstance(rows, np.ndarray) and (rows.ndim != 2 or rows.dtype.kind not in "fiub")):
            raise ValueError("rows to compare with that are not those of the nodes")
        if not isinstance(values.get("n_neighbors_", 1), (int, np.integer, type(None))):
            raise TypeError("n_neighbors_ that is no number")

    def kept_rows(self) -> Any:
        """The rows, where no two of them are the same."""
        rows = self.model.X_fit_
        return rows if self.row_count(rows) == self.model.n_samples_ else None


class OfWalks(OfNeighbours):
    """A model of the largest eigenvalues of a random walk."""

    chooses = True
    rules = Embedded.rules


@dataclass(frozen=True)
class ByNeighbours:
    """The map from rows to coordinates, by batches of rows."""

    place: Callable[[Any], Floats]  # rows (m, d) → (m, k)
    k: int
    names: Any = None

    def forward(self, X: Any) -> Any:
        """Coordinates of rows, in float64 unless the rows are float32."""
        dtype = np.float32 if getattr(X, "dtype", None) == np.float32 else np.float64
        pieces = list(self.batches(X))
        made = np.concatenate(pieces) if pieces else np.zeros((0, self.k))
        return made.astype(dtype, copy=False)

    def batches(self, X: Any) -> Iterator[Floats]:
        """Coordinates of the rows, some at a time, in row order."""
        if are_blocks(X):
            for _, placed in mapped(blocks_of(X), lambda _scratch, block: self.placed(block.values)):
                yield placed
            return
        for start in range(0, X.shape[0], BATCH):
            yield self.placed(X[start : start + BATCH])

    def placed(self, rows: Any) -> Floats:
        """Coordinates of some rows."""
        require_finite(rows, self.names)
        return self.place(rows if is_sparse(rows) else np.asarray(rows, np.float64))


def rows_of(given: Any, nodes: Floats, X: Floats) -> Floats:
    """Rows of coordinates, as weighted means of the rows X of the nearest nodes; of a node's own its row.

    Coordinates are a node's own where they are as near as rounding leaves them, in the precision that they are given
    in, and no other node is as near.
    """
    from scipy.spatial import cKDTree

    T = np.asarray(given, np.float64)
    k = min(nodes.shape[1] + BEYOND, len(nodes))
    far, near = (np.reshape(found, (len(T), k)) for found in cKDTree(nodes).query(T, k))
    if int(near.max(initial=0)) >= len(nodes):
        raise InputError("coordinates within the reach of the map", received="distances beyond the range of float64",
                         hint="pass what transform returned")  # fmt: skip
    w = barycentric(nodes[near] - T[:, None], REG)
    made = np.einsum("nk,nkd->nd", w, X[near])
    close = CLOSE_SINGLE if working_dtype(given.dtype) == np.float32 else CLOSE
    same = close * float(np.max(np.abs(nodes), initial=0.0))
    own = (far[:, 0] == 0) | ((far[:, 0] <= same) & np.all(far[:, 1:2] > same, axis=1))
    made[own] = X[near[own, 0]]
    return np.asarray(made)
