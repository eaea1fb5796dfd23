"""Linear coordinates of rows, and rows from coordinates.

t = (x − μ) D_σ⁻¹ V [Λ^-½]        (n, d) → (n, k)       one blocked pass, the mean taken off first, in two parts
x̂ = t [Λ^½] Vᵀ D_σ + μ            (n, k) → (n, d)
d² = Σⱼ ((xⱼ − μⱼ)/σⱼ)²            (n, d) → (n,)         squared distances from the centre in the whole space
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ritz._core.linalg import Array, is_foreign, namespace, place_of
from ritz._core.linalg import working_dtype as result_dtype
from ritz.data.passes.blocks import DENSE_DENSITY, Block, blocks_of, mapped
from ritz.data.passes.finite import require_finite
from ritz.operators.affine import Affine

__all__ = ["LinearMap", "result_dtype"]

#: Components up to which rows stored by columns are multiplied as they lie: turning them takes as long as 20 columns.
BY_COLUMNS = 32
#: Numbers of a table that is multiplied in one go. Processor µs of that and of a pass, one thread: 500×20 21 and 53,
#: 2,000×20 114 and 129, 500×200 147 and 187; with two threads, which it takes 0.1 ms to start, 3,000×30 134 and 444.
#: Of few rows there may be more, for what is done once for every column counts: 100×2,000 160 and 244, in float32 105
#: and 173, 20×20,000 453 and 752, 292 and 571, 10×30,000 162 and 510; but 200×1,500 345 and 321.
LITTLE, FEW_ROWS, LITTLE_WIDE = 1 << 17, 128, 1 << 19
#: Deviations of the columns up to which a mean is short. ``transform`` of 10,000×100 to five components takes 0.6 ms
#: where it is, and 1.0 where it is not.
SHORT = 2.0
#: Numbers between which products of float32 have all their digits, and none is too large.
LEAST, MOST = 2.0**-90, 2.0**120


@dataclass(frozen=True)
class LinearMap:
    """The affine map between rows and coordinates."""

    components: NDArray[Any]  # (k, d)
    mean: NDArray[Any] | None  # (d,)
    scale: NDArray[Any] | None  # (d,)
    spread: NDArray[Any] | None  # (k,) standard deviations of the scores when whitening
    names: Any = None  # of the columns, for messages
    low: NDArray[Any] | None = None  # (d,) what rounding took from the mean
    sizes: NDArray[Any] | None = None  # (k,) standard deviations of the scores of the fit; None: unknown
    noise: float = 0.0  # the mean variance that they leave in a column
    ordered: ClassVar[bool] = False  # entries of sparse rows may come in any order

    def forward(
        self, X: Any, dtype: Any = None, start: int = 0, lengths: NDArray[np.float64] | None = None, there: bool = False
    ) -> NDArray[Any]:
        """Coordinates of rows, in the precision of the rows unless another is asked for.

        ``start`` is the number of the first row, for messages; ``lengths`` (n,) is filled with squared distances from
        the mean in the whole space, of dense rows. Rows of another array library stay on their device, and so do
        coordinates of row blocks on a device if they are wanted ``there``.
        """
        if is_foreign(X):
            return self._forward_there(X, dtype)
        dtype = result_dtype(X.dtype) if dtype is None else np.dtype(dtype)
        if getattr(X, "format", None) == "csc":
            if (scores := self._by_columns(X, dtype)) is not None:
                return scores
            X = X.tocsr()
        if type(X) is np.ndarray and X.dtype in (dtype, np.float16) and lengths is None and _little(X):
            return self._of_few(X, dtype, start)
        V, blocks = np.asarray(self.components, np.float64).T, blocks_of(X)
        shift, rest = self._shift(X, dtype, lengths)
        frame = _kind(blocks)(
            blocks,
            shift=shift,
            shift_low=rest,
            col_scale=None if self.scale is None else 1 / np.asarray(self.scale, np.float64),
            precision=dtype.type,
        )
        with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is named below
            V = V if self.spread is None else V / self.spread
            scores = frame.matmat(blocks.place.array(V) if there else V, lengths)  # type: ignore[attr-defined]
        if not (bool(namespace(scores).isfinite(scores).all()) if there else np.isfinite(scores).all()):
            require_finite(X, self.names, lambda i: f"row {start + i}")
        return scores

    def _shift(self, X: Any, dtype: np.dtype[Any], lengths: Any) -> tuple[Any, Any]:
        """What is taken off rows before they are multiplied, and what of their coordinates.

        A mean that is short beside how far rows are about it goes off the coordinates: no copy of the rows is made.
        """
        if self.mean is None:
            return None, None
        wide = np.asarray(self.mean, np.float64)
        if type(X) is np.ndarray and X.dtype in (dtype, np.float16) and lengths is None and self._short(wide):
            return None, wide if self.low is None else wide + self.low
        return np.asarray(self.mean, dtype).astype(np.float64), _rest(self.mean, self.low, dtype)

    def _short(self, mean: NDArray[np.float64]) -> bool:
        """Whether |μ||v| ≤ SHORT·s|v| for every component v, s = √(Σ(σv)² + noise) the deviations of columns: sums of
        |x||v| are at most about three times those of |x − μ||v| then. Columns of far larger numbers have no say in
        components without them, and the noise, which is below every σ², little in those of small columns.
        """
        top = 0.0 if self.sizes is None else float(np.max(self.sizes, initial=0.0))
        if self.sizes is None or not 0 < top < np.inf:
            return False
        V = np.abs(np.asarray(self.components, np.float64))
        spread = np.sqrt(np.square(self.sizes / top) @ np.square(V) + min(float(self.noise) / top / top, 1.0))
        length = np.abs(mean / top if self.scale is None else mean / self.scale / top)
        return bool(np.all(V @ length <= SHORT * (V @ spread)))

    def _of_few(self, X: NDArray[Any], dtype: np.dtype[Any], start: int) -> NDArray[Any]:
        """The same numbers of a small table, without the frame of a pass over it."""
        X = X.astype(dtype, copy=False)
        mean, rest = self.mean, self.low
        if mean is not None and mean.dtype != dtype:
            mean, rest = mean.astype(dtype), _rest(mean, rest, dtype)
        with np.errstate(over="ignore", invalid="ignore"):
            W = self.components if self.spread is None and self.scale is None else self._weighed()
            W = W.astype(dtype, copy=False).T
            scores: NDArray[Any] = (X if mean is None else X - mean) @ W
            if rest is not None:
                scores -= rest.astype(dtype, copy=False) @ W
        if not np.isfinite(scores).all():
            require_finite(X, self.names, lambda i: f"row {start + i}")
        return scores

    def _weighed(self) -> NDArray[np.float64]:
        """(k, d) components in units of the columns, and of the scores."""
        W = np.asarray(self.components, np.float64)
        W = W if self.spread is None else W / np.asarray(self.spread)[:, None]
        return W if self.scale is None else W * (1 / np.asarray(self.scale, np.float64))

    def _by_columns(self, X: Any, dtype: np.dtype[Any]) -> NDArray[Any] | None:
        """Coordinates of rows that are stored by columns, as they lie; None where other ways are better, or needed.

        A column with every entry stored may have a mean far above its spread, which is to be taken off first; many
        components cost more than turning the rows; what is not finite is named by the other way.
        """
        n, k = X.shape[0], self.components.shape[0]
        full = self.mean is not None and bool((np.diff(X.indptr) >= n).any())
        if full or k > BY_COLUMNS or X.nnz > DENSE_DENSITY * n * X.shape[1]:
            return None
        W = np.asarray(self.components, np.float64).T
        with np.errstate(over="ignore", invalid="ignore"):
            W = W if self.scale is None else W / np.asarray(self.scale, np.float64)[:, None]
            W = np.ascontiguousarray(W if self.spread is None else W / self.spread)
            scores = X @ W
            for mean in (self.mean, self.low):
                if mean is not None:
                    scores -= np.asarray(mean, np.float64) @ W
            scores = scores.astype(dtype, copy=False)
        return scores if np.isfinite(scores).all() else None

    def _forward_there(self, X: Array, dtype: Any) -> Array:
        """Coordinates of rows of another library, made where they lie; the mean is taken off first, in two parts."""
        place, dtype = place_of(X), _named(X) if dtype is None else np.dtype(dtype)
        Z = place.array(X, np.float64)
        for mean in (self.mean, self.low):
            Z = Z if mean is None else Z - place.array(mean, np.float64)
        V = np.asarray(self.components, np.float64).T
        V = V if self.scale is None else V / np.asarray(self.scale, np.float64)[:, None]
        return place.array(Z @ place.array(V if self.spread is None else V / self.spread), dtype)

    def _backward_there(self, T: Array) -> Array:
        """Rows of another library from coordinates."""
        place, X = place_of(T), place_of(T).array(T, np.float64)
        X = X if self.spread is None else X * place.array(self.spread, np.float64)
        X = X @ place.array(self.components, np.float64)
        X = X if self.scale is None else X * place.array(self.scale, np.float64)
        for mean in (self.low, self.mean):
            X = X if mean is None else X + place.array(mean, np.float64)
        return place.array(X, _named(T))

    def distances(self, X: Any) -> NDArray[np.float64]:
        """Squared distances of rows from the centre in the whole space, (n,), by one pass; of maps that scale."""
        blocks, mean, scale = blocks_of(X), np.asarray(self.mean), np.asarray(self.scale)
        metric, centre = 1 / np.square(scale), mean / np.square(scale)
        rest = float(mean @ centre)

        def step(_scratch: dict[str, Any], block: Block) -> Any:
            rows = block.values
            if isinstance(rows, np.ndarray):
                return np.square((rows - mean) / scale).sum(axis=1)[:, None]
            squares = rows.copy()
            squares.data = np.square(rows.data)
            return (np.maximum(squares @ metric - 2 * (rows @ centre) + rest, 0.0))[:, None]

        return np.asarray(blocks.map_rows(step, np.empty((blocks.shape[0], 1)))[:, 0])

    def batches(self, X: Any) -> Iterator[NDArray[Any]]:
        """Coordinates of the rows, some at a time, in row order."""
        yield from forwarded(self, blocks_of(X))

    def backward(self, T: Any) -> NDArray[Any]:
        """Rows from coordinates."""
        if is_foreign(T):
            return self._backward_there(T)
        dtype = result_dtype(T.dtype)
        V = np.asarray(self.components, np.float64)
        V = V if self.spread is None else np.asarray(self.spread)[:, None] * V
        if T.dtype == np.float32 and (rows := self._backward_single(T, V)) is not None:
            return rows
        X = T @ V
        if self.scale is not None:
            X *= self.scale
        if self.mean is not None:
            if self.low is not None:
                X += self.low  # the small part first: it would not move the sum
            X += self.mean
        return X.astype(dtype, copy=False)

    def _backward_single(self, T: NDArray[np.float32], V: NDArray[np.float64]) -> NDArray[np.float32] | None:
        """Rows from coordinates of float32, by products of float32: off by k + 3 roundings of |t||V| + |μ| at most.

        Coordinates are rounded as much themselves. None where numbers of float32 would not reach.
        """
        W = V if self.scale is None else V * self.scale
        largest = np.abs(W).max(axis=0, initial=0.0)
        there = largest[largest > 0]
        top = float(np.max(np.abs(T), initial=0.0)) * float(np.max(there, initial=0.0)) * len(W)
        means = 0.0 if self.mean is None else float(np.max(np.abs(self.mean), initial=0.0))
        if not (
            float(np.min(there, initial=1.0)) > LEAST and max(top, means, float(np.max(there, initial=0.0))) < MOST
        ):
            return None
        rows = T @ W.astype(np.float32)
        if self.mean is not None:
            rows += np.asarray(self.mean, np.float32)
        return rows


def _little(X: NDArray[Any]) -> bool:
    return X.size <= (LITTLE if len(X) > FEW_ROWS else LITTLE_WIDE)


def _kind(blocks: Any) -> type[Affine]:
    """The frame of row blocks: of the host, or where their device is."""
    if not getattr(blocks, "computes", False):
        return Affine
    from ritz.operators.device.affine import DeviceAffine

    return DeviceAffine


def forwarded(step: Any, blocks: Any) -> Iterator[NDArray[Any]]:
    """``step.forward`` of the rows, some at a time, in row order; where rows are on a cluster, it is done there."""
    for _, rows in mapped(blocks, lambda _scratch, block: step.forward(block.values, start=block.start)):
        yield rows


def _named(X: Array) -> np.dtype[Any]:
    """The precision that numbers of another library are given back in."""
    return result_dtype(str(X.dtype).rpartition(".")[2])


def _rest(mean: NDArray[Any], low: NDArray[Any] | None, dtype: np.dtype[Any]) -> NDArray[np.float64] | None:
    """What the mean in the precision of the rows lacks; None where that is nothing."""
    wide = np.asarray(mean, np.float64)
    rest = (wide - wide.astype(dtype).astype(np.float64)) + (0.0 if low is None else low)
    return rest if bool(np.any(rest)) else None
