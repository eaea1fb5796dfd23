"""What a report finds out about a map of rows: who stayed near whom, how sure that is, and what PCA would have shown.

    quality, plain   of the map, and of as many principal components; of a sample of rows where there are many
    chance           rows placed at random: trustworthiness 1 − (n−1−k)(n−k)/((n−1)(2n−3k−1)), overlap k/(n−1)
    ranks, pairs     co-ranking matrix in cells, distances before and after
    dimension        how many dimensions rows have where they lie
    sizes            other numbers of neighbours, and the maps they give, where these are cheap
    steady, found    maps of some of the rows, where these are cheap

Everything is lazy, is measured on the rows as the distances of the model see them, and keeps within a budget.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import RitzError
from ritz._core.lazy import cached_property
from ritz._core.warn import unsaid
from ritz.graphs.spaces.resolve import takes
from ritz.insight.embedding.coranking import binned_coranking
from ritz.insight.embedding.dimension import IntrinsicDimension, intrinsic_dimension
from ritz.insight.embedding.neighbourhoods import NeighbourhoodBootstrap, neighbourhood_bootstrap
from ritz.insight.embedding.quality import EmbeddingQuality, embedding_quality
from ritz.insight.embedding.shepard import Shepard, shepard
from ritz.insight.embedding.sizes import NeighbourhoodSizes, neighbourhood_sizes
from ritz.insight.embedding.stability import EmbeddingStability, embedding_stability
from ritz.kernels.base import take_rows

if TYPE_CHECKING:
    from ritz.report.context import Context

__all__ = ["MapTrust", "trust_of"]

Floats = NDArray[np.float64]

#: Rows up to which all are measured, and rows that are measured of more.
ALL, SAMPLE = 2_000, 1_000
#: Neighbourhood sizes of the curves, up to a third of the rows; and the size that sentences speak of.
LARGEST, SPOKEN = 50, 10
#: Multiplications up to which rows are compared at all.
MOST = 2e11
#: Pairs of the co-ranking picture, its cells along one side, and pairs of the Shepard diagram.
ENTRIES, CELLS, PAIRS = 4e6, 30, 1_500
#: Rows that the dimension, and tables of neighbourhood sizes, are found from.
NEAR = 3_000
#: Seconds that fits with other numbers of neighbours, and fits of some of the rows, may take; and draws.
SECONDS, DRAWS = 4.0, 20
#: Numbers of neighbours that are tried.
TRIED = (5, 8, 12, 20, 30, 50)


def trust_of(about: Context) -> MapTrust | None:
    """What is found out about the map; None where rows have no distances, or there are too few or too many of them."""
    model, metric = about.model, getattr(about.model, "metric", "euclidean")
    if about.rows is None or not about.k or getattr(model, "weights", "") == "precomputed":
        return None
    kind = takes(metric)
    rows = about.compared
    n = rows.shape[0] if hasattr(rows, "shape") else len(rows)
    d = rows.shape[1] if len(getattr(rows, "shape", ())) == 2 else 1
    if n < 8 or float(min(n, ALL)) * n * d > MOST or (kind == "precomputed" and hasattr(rows, "tocsr")):
        return None
    Y = placed(about, rows)
    there = np.flatnonzero(np.isfinite(Y).all(axis=1))
    if len(there) < 8:
        return None
    if len(there) < n:
        rows = rows[np.ix_(there, there)] if kind == "precomputed" else take_rows(rows, there)
    return MapTrust(about, rows, Y[there], metric, there)


def placed(about: Context, rows: Any) -> Floats:
    """Coordinates of all rows: those of the fit where these are its rows, found by looking at some of them."""
    kept = about.known.row_coordinates()
    n = rows.shape[0] if hasattr(rows, "shape") else len(rows)
    if kept is not None and len(kept) == n and about.own_rows:
        return np.asarray(kept, np.float64)
    return np.asarray(about.known.scores(about.table), np.float64)


class MapTrust:
    """What is known about a map of rows; see the head of this file."""

    def __init__(self, about: Context, rows: Any, Y: Floats, metric: Any, there: NDArray[np.intp]) -> None:
        self.about, self.rows, self.Y, self.metric, self.there = about, rows, Y, metric, there
        self.n, self.p = Y.shape

    @property
    def sample(self) -> int | None:
        """Rows that are measured; None for all."""
        return None if self.n <= ALL else SAMPLE

    @property
    def largest(self) -> int:
        """Largest neighbourhood of the curves."""
        return int(max(1, min(LARGEST, (self.n - 1) // 3)))

    @property
    def k(self) -> int:
        """Neighbours that sentences speak of."""
        return int(max(1, min(SPOKEN, self.n // 10, self.largest)))

    @cached_property
    def quality(self) -> EmbeddingQuality:
        """Of the map, by neighbourhoods of up to ``largest`` rows."""
        return self._measured(self.Y, self.largest)

    @cached_property
    def spoken(self) -> EmbeddingQuality:
        """Of the map, at the number of neighbours that sentences speak of."""
        return self._measured(self.Y, self.k)

    @cached_property
    def plain_map(self) -> Floats | None:
        """As many principal components; those of the distances (classical scaling) where rows have no columns."""
        from ritz.methods.manifold.mds import MDS

        if takes(self.metric) != "vectors" and self.n > ALL:
            return None
        metric = "euclidean" if takes(self.metric) == "vectors" else self.metric
        try:
            with unsaid():
                return np.asarray(MDS(self.p, metric=metric).fit_transform(self.rows), np.float64)
        except RitzError:
            return None

    @cached_property
    def plain(self) -> EmbeddingQuality | None:
        """Of PCA, as ``quality``."""
        return None if self.plain_map is None else self._measured(self.plain_map, self.largest)

    @cached_property
    def plain_spoken(self) -> EmbeddingQuality | None:
        """Of PCA, as ``spoken``."""
        return None if self.plain_map is None else self._measured(self.plain_map, self.k)

    @cached_property
    def ranks(self) -> tuple[Floats, int]:
        """(cells, cells) of the co-ranking matrix as multiples of chance, and rows that were looked from."""
        Q, edges, rows = binned_coranking(self.rows, self.Y, CELLS, metric=self.metric, entries=ENTRIES)
        width = np.diff(np.concatenate([[0], edges])).astype(np.float64)
        return Q / (rows * np.outer(width, width) / (self.n - 1)), rows

    @cached_property
    def pairs(self) -> Shepard:
        """Distances of pairs, before and after."""
        return shepard(self.rows, self.Y, PAIRS, metric=self.metric)

    @cached_property
    def dimension(self) -> IntrinsicDimension | None:
        """Of the rows, or of a sample of them."""
        return self._tried("dimension of the rows", lambda: intrinsic_dimension(self.some_rows, metric=self.metric))

    @cached_property
    def sizes(self) -> NeighbourhoodSizes | None:
        """Numbers of neighbours side by side, with the map of each where these are cheap."""
        if self.neighbours is None:
            return None
        tried = sorted({*TRIED, self.neighbours} & set(range(2, max(3, self.n // 3))))
        embed = self._again if self.cheap * len(tried) <= SECONDS and self.n <= ALL else None
        self.maps: dict[int, Floats] = {}
        return self._tried("numbers of neighbours", lambda: neighbourhood_sizes(
            self.some_rows if embed is None else self.rows, tried, embed=embed, quality_k=self.k, metric=self.metric
        ))  # fmt: skip

    @property
    def neighbours(self) -> int | None:
        """Neighbours of the model, where it has a graph of a number of them."""
        model, params = self.about.model, self.about.model.get_params(deep=False)
        if "n_neighbors" not in params or params.get("radius") is not None or takes(self.metric) == "precomputed":
            return None
        held = getattr(model, "n_neighbors_", None) or params["n_neighbors"]
        if held is None and "epsilon" in params:  # a walk among all pairs
            return None
        return int(held or min(SPOKEN, self.n - 1))

    @property
    def cheap(self) -> float:
        """Seconds of one fit, as the fit itself took."""
        plan = getattr(self.about.model, "plan_", None)
        seconds = getattr(plan, "actual_seconds", None)
        return float("inf") if seconds is None else float(seconds) * 1.5 + 0.01

    def _again(self, k: int) -> Floats:
        """The map with another number of neighbours; all rows at one place where it cannot be made."""
        from sklearn.base import clone

        model = clone(self.about.model).set_params(n_neighbors=k, progress=None)
        if "standardize" in model.get_params(deep=False):
            model.set_params(standardize=False)  # the rows are divided already
        try:
            Y = np.asarray(model.fit_transform(self.rows), np.float64)
        except RitzError:
            Y = np.full(self.Y.shape, np.nan)
        self.maps[k] = Y
        return np.nan_to_num(Y)

    @cached_property
    def steady(self) -> EmbeddingStability | None:
        """Maps of four fifths of the rows, where these are cheap."""
        return self._drawn("stability of the map", embedding_stability)

    @cached_property
    def found(self) -> NeighbourhoodBootstrap | None:
        """Neighbourhoods of rows drawn again, where these are cheap."""
        return self._drawn("bootstrap of neighbourhoods", neighbourhood_bootstrap)

    def _drawn(self, what: str, look: Any) -> Any:
        if not self.about.of_fit or self.cheap * 5 > SECONDS or len(self.there) < self.about.n:
            return None
        from sklearn.base import clone

        model = clone(self.about.model)
        if "standardize" in model.get_params(deep=False):
            model.set_params(standardize=False)
        return self._tried(what, lambda: look(model, self.rows, draws=DRAWS, embedding=self.Y, most_seconds=SECONDS))

    @property
    def some_rows(self) -> Any:
        """The rows, or a sample of them where there are many."""
        if self.n <= NEAR or takes(self.metric) == "precomputed":
            return self.rows
        return take_rows(self.rows, np.sort(np.random.default_rng(0).choice(self.n, NEAR, replace=False)))

    def _measured(self, Y: Floats, k: int) -> EmbeddingQuality:
        return embedding_quality(self.rows, Y, k, metric=self.metric, sample=self.sample)

    def _tried(self, what: str, find: Any) -> Any:
        try:
            with unsaid():
                return find()
        except RitzError as error:
            self.about.notes.append(f"{what}: {error}")
            return None
