"""Coordinates and scores of rows under a kernel model.

    fᵢ(x) = ⟨φ(x) − m, vᵢ⟩ = Σⱼ (k(x, zⱼ) − rⱼ) Dⱼᵢ          rows z (n), dual D (n, k), r = ⟨φ(z), m⟩ (n,)
    exact     z the training rows, m = Σ φ(zⱼ)/n, r = K1/n, g = ‖m‖² = 1ᵀK1/n², D = U Λ^-½
    Nyström   z the landmarks, features φ̂(x) = k(x, z) L⁻ᵀ with mean f̄, axes V: m = Σ wⱼ φ(zⱼ), w = L⁻ᵀf̄,
              r = k(z, z) w, g = ‖f̄‖², D = L⁻ᵀV
    potential            p_S(x) = ‖φ(x) − m‖² = k(x, x) − 2⟨φ(x), m⟩ + g
    reconstruction error p(x)   = p_S(x) − Σᵢ fᵢ(x)²                                                  [Hoffmann 2007]
    activation           F(x)   = Σᵢ |fᵢ(x)|

One pass over new rows in tiles; k(z, z) is never formed again. Tiles have the precision of the rows, what is added up
over tiles is float64. r is taken off before the product, so a kernel that hardly varies keeps its digits.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import InputError
from ritz._core.threads import lane_count, run_lanes
from ritz.data.passes.blocks import blocks_of
from ritz.data.passes.finite import require_finite
from ritz.kernels.base import FeatureMap, Kernel, Prepared, chunks, take_rows
from ritz.kernels.rows import is_sparse, squares
from ritz.project.linear import forwarded, result_dtype

__all__ = ["FeatureMapped", "KernelMap", "RowScores"]

Floats = NDArray[np.float64]
#: What a pass hands on for some rows: their coordinates (r, k) and, where asked for, their potential (r,).
Write = Callable[[slice, Floats, "Floats | None"], None]

#: Rows and columns of a tile; short tables are cut finer so that every lane has something to do.
ROWS, COLS, FEW = 512, 4096, 128
#: k(x, x) − ‖φ(x)‖² below this many units of round-off of k(x, x) is rounding.
NOISE = 64.0


@dataclass(frozen=True)
class RowScores:
    """Everything one pass tells about rows."""

    coordinates: NDArray[Any]  # (n, k)
    reconstruction_error: NDArray[Any]  # (n,)
    potential: NDArray[Any]  # (n,)
    activation: NDArray[Any]  # (n,)


class FeatureSpaceMap(ABC):
    """What both maps offer. ``diagonal``: k(x, x) of the rows, for kernels that cannot know it (precomputed)."""

    values: Floats  # (k,) eigenvalues; a negative one counts against the norm (Krein space)

    @abstractmethod
    def _pass(self, X: Any, write: Write, *, potential: bool, diagonal: Any = None) -> None:
        """Hand coordinates, and the potential if wanted, of all rows to ``write``, in pieces, on lanes."""

    def forward(self, X: Any, dtype: Any = None, start: int = 0) -> NDArray[Any]:
        """Coordinates (n, k), float32 for float32 rows. ``start`` is the number of the first row, for messages."""
        out = np.empty((row_count(X), len(self.values)), _dtype_of(X) if dtype is None else dtype)

        def write(rows: slice, F: Floats, _p: Floats | None) -> None:
            out[rows] = F

        with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is named below
            self._pass(X, write, potential=False)
        return _finite(out, X, start)

    def batches(self, X: Any) -> Iterator[NDArray[Any]]:
        """Coordinates of the rows (an array, CSR or row blocks), some at a time, in row order."""
        yield from forwarded(self, blocks_of(X))

    def scores(self, X: Any, *, diagonal: Any = None) -> RowScores:
        """Coordinates and all three scores in one pass."""
        n, dtype = row_count(X), _dtype_of(X)
        out = RowScores(np.empty((n, len(self.values)), dtype), *(np.empty(n, dtype) for _ in range(3)))

        def write(rows: slice, F: Floats, p: Floats | None) -> None:
            out.coordinates[rows] = F
            out.reconstruction_error[rows] = self._error(F, p)
            out.potential[rows] = p
            out.activation[rows] = np.abs(F).sum(axis=1)

        with np.errstate(over="ignore", invalid="ignore"):
            self._pass(X, write, potential=True, diagonal=diagonal)
        _finite(out.coordinates, X)
        _finite(out.potential, X)
        return out

    def reconstruction_error(self, X: Any, *, diagonal: Any = None) -> NDArray[Any]:
        """Hoffmann's ‖φ(x) − m − Σ fᵢ(x) vᵢ‖², (n,) ≥ 0."""
        return self._column(X, self._error, potential=True, diagonal=diagonal)

    def potential(self, X: Any, *, diagonal: Any = None) -> NDArray[Any]:
        """The spherical potential ‖φ(x) − m‖², (n,) ≥ 0."""
        return self._column(X, lambda _F, p: p, potential=True, diagonal=diagonal)

    def activation(self, X: Any) -> NDArray[Any]:
        """Σ |fᵢ(x)|, (n,)."""
        return self._column(X, lambda F, _p: np.abs(F).sum(axis=1), potential=False)

    def _error(self, F: Floats, p: Any) -> Floats:
        kept = np.einsum("ij,ij,j->i", F, F, np.where(np.asarray(self.values) < 0, -1.0, 1.0))
        return np.maximum(p - kept, 0.0)

    def _column(self, X: Any, score: Callable[[Floats, Any], Any], **wanted: Any) -> NDArray[Any]:
        out = np.empty(row_count(X), _dtype_of(X))

        def write(rows: slice, F: Floats, p: Floats | None) -> None:
            out[rows] = score(F, p)

        with np.errstate(over="ignore", invalid="ignore"):
            self._pass(X, write, **wanted)
        return _finite(out, X)


@dataclass(frozen=True, eq=False)
class KernelMap(FeatureSpaceMap):
    """Coordinates through k(x, z) with training rows or landmarks z; made by ``exact`` or ``nystrom``."""

    kernel: Kernel  # with numbers only
    rows: Prepared  # z (n)
    dual: Floats  # (n, k)
    row_means: Floats  # (n,) r
    grand: float  # g
    values: Floats  # (k,)
    weights: Floats | None = None  # (n,) w; None: all 1/n

    @classmethod
    def exact(
        cls,
        kernel: Kernel,
        rows: Prepared,
        dual: Any,
        row_means: Any,
        grand: float,
        values: Any,
        weights: Any = None,
    ) -> KernelMap:
        """From the eigenvectors of J K J, ``dual = U Λ^-½``, columns of zero where λ = 0.

        ``weights``: shares of the rows in the mean, summing to 1, where rows are weighted; then r = Kw and g = wᵀKw.
        Columns of the dual sum to 0 up to rounding; that rest is taken off, since small λ would magnify it.
        """
        dual = np.array(dual, np.float64)
        dual -= dual.mean(axis=0)
        wide = None if weights is None else np.asarray(weights, np.float64)
        return cls(kernel, rows, dual, np.asarray(row_means, np.float64), float(grand), np.asarray(values), wide)

    @classmethod
    def nystrom(cls, kernel: Kernel, landmarks: Prepared, inverse: Any, axes: Any, mean: Any, values: Any) -> KernelMap:
        """From Nyström features: ``inverse`` L⁻ᵀ (m, p), ``axes`` V (p, k) and ``mean`` f̄ (p,) of the features.

        m and the axes lie in the span of the landmarks and k(x, x) is exact, so errors are true distances in feature
        space between φ(x) and the plane of this model; only the plane is approximate.
        """
        weights = np.asarray(inverse, np.float64) @ np.asarray(mean, np.float64)
        wide = landmarks.at(np.float64)
        r, every = np.empty(wide.n), slice(0, wide.n)
        for block in chunks(wide.n, ROWS):
            r[block] = kernel.tile(wide, wide, block, every) @ weights
        dual = np.asarray(inverse, np.float64) @ np.asarray(axes, np.float64)
        return cls(kernel, landmarks, dual, r, float(r @ weights), np.asarray(values), weights)

    @property
    def share(self) -> Floats:
        """w (n,): m = Σ wⱼ φ(zⱼ)."""
        return np.full(self.rows.n, 1.0 / self.rows.n) if self.weights is None else self.weights

    def coefficients(self, T: Any) -> Floats:
        """γ̃ (m, n) with m + Σ tᵢ vᵢ = Σⱼ γ̃ⱼ φ(zⱼ): γ̃ = D t + w, which is γ + (1 − Σγ)/n for an exact model."""
        return np.asarray(T, np.float64) @ self.dual.T + self.share

    def norms(self, T: Any) -> Floats:
        """‖m + Σ tᵢ vᵢ‖² (m,) = g + 2 t·Dᵀr + ‖t‖²."""
        T = np.asarray(T, np.float64)
        return self.grand + 2 * T @ self.tilt + np.einsum("ij,ij->i", T, T)

    @property
    def tilt(self) -> Floats:
        """⟨vᵢ, m⟩ (k,) = Dᵀr."""
        return self.row_means @ self.dual

    def _pass(self, X: Any, write: Write, *, potential: bool, diagonal: Any = None) -> None:
        rows, new = _aligned(self.kernel, self.rows, X)
        own = None
        if potential:
            own = self.kernel.diag(new) if diagonal is None else np.asarray(diagonal, np.float64)
        tiles = _Tiles(self, rows, new)

        def work(steps: list[slice]) -> None:
            buffer = np.empty(ROWS * COLS, new.dtype)
            for step in steps:
                F, lean = tiles.strip(step, buffer, potential)
                write(step, F, None if own is None else np.maximum(own[step] - 2 * lean - self.grand, 0.0))

        run_lanes(work, _shares(new.n))


class _Tiles:
    """A pass in progress: the parts of the map in the precision of the tiles."""

    def __init__(self, step: KernelMap, rows: Prepared, new: Prepared) -> None:
        self.held, self.rows, self.new = step, rows, new
        self.dual = step.dual.astype(new.dtype, copy=False)
        self.r = step.row_means.astype(new.dtype, copy=False)
        low = step.row_means - self.r.astype(np.float64)  # what rounding took off r
        self.rest = low @ step.dual
        self.rest_mean = float(low @ step.share)

    def strip(self, step: slice, buffer: NDArray[Any], lean: bool) -> tuple[Floats, Any]:
        """f of some rows, and ⟨φ(x), m⟩ − g."""
        high = step.stop - step.start
        F = np.tile(-self.rest, (high, 1))
        to_mean = np.full(high, -self.rest_mean) if lean else 0.0
        for block in chunks(self.rows.n, COLS):
            wide = block.stop - block.start
            out = buffer[: high * wide].reshape(high, wide)
            T = self.held.kernel.tile(self.new, self.rows, step, block, out)
            T -= self.r[block]
            F += T @ self.dual[block]
            if lean:
                w = self.held.weights  # a plain mean is summed pairwise, which a product is not
                to_mean += T.sum(axis=1) / self.rows.n if w is None else T @ w[block]
        return F, to_mean


@dataclass(frozen=True, eq=False)
class FeatureMapped(FeatureSpaceMap):
    """Coordinates through explicit features, ``(φ(x) − m) V``, φ dense or CSR.

    k(x, x) is the kernel's own, so what φ leaves out (letters never seen in training; what Nyström features miss)
    counts in the potential and in the error: both are true distances from φ(x) to m and to the plane of the model.
    """

    kernel: Kernel
    features: FeatureMap  # .transform(X) → (n, p)
    mean: Floats  # (p,) m
    axes: Floats  # (p, k) V, orthonormal columns
    values: Floats  # (k,)
    like: Prepared | None = field(default=None)  # rows that new ones are prepared like, where the kernel wants that
    low: Floats | None = None  # (p,) what rounding took off m: far from 0 its last digit is larger than the spread

    def _pass(self, X: Any, write: Write, *, potential: bool, diagonal: Any = None) -> None:
        V, mean = np.asarray(self.axes, np.float64), np.asarray(self.mean, np.float64)
        low = np.zeros(len(mean)) if self.low is None else np.asarray(self.low, np.float64)
        own = None if diagonal is None else np.asarray(diagonal, np.float64)

        def work(steps: list[slice]) -> None:
            for step in steps:
                piece = take_rows(X, step)
                phi = self.features.transform(piece)
                F, p = _dense(phi, mean, low, V) if not is_sparse(phi) else _sparse(phi, mean, low, V)
                if potential:
                    exact = self._diagonal(piece) if own is None else own[step]
                    p = p + _beyond(exact, squares(phi), phi.dtype)
                write(step, F, p if potential else None)

        run_lanes(work, _shares(row_count(X)))

    def _diagonal(self, piece: Any) -> Floats:
        return self.kernel.diag(self.kernel.prepare(piece, like=self.like))


def _dense(phi: NDArray[Any], mean: Floats, low: Floats, V: Floats) -> tuple[Floats, Floats]:
    C = np.subtract(phi, mean, dtype=np.float64)
    C -= low
    return C @ V, np.einsum("ij,ij->i", C, C)


def _sparse(phi: Any, mean: Floats, low: Floats, V: Floats) -> tuple[Floats, Floats]:
    wide = phi.astype(np.float64)
    potential = squares(wide) - 2 * (wide @ mean) + mean @ mean
    return (wide @ V - mean @ V) - low @ V, np.maximum(potential, 0.0)


def _beyond(exact: Floats, inside: Floats, dtype: Any) -> Floats:
    """k(x, x) − ‖φ(x)‖² where that is more than rounding."""
    rest = exact - inside
    unit = float(np.finfo(result_dtype(dtype)).eps)
    return np.where(rest > NOISE * unit * np.abs(exact), rest, 0.0)


def _aligned(kernel: Kernel, rows: Prepared, X: Any) -> tuple[Prepared, Prepared]:
    """Old and new rows in one precision: the wider of the two, where the old rows are still at hand for that."""
    wanted = np.result_type(rows.dtype, _dtype_of(X, rows.dtype))
    rows = rows if rows.source is None else rows.at(wanted)
    new = kernel.prepare(X, dtype=rows.dtype, like=rows)
    # rows that are placed beside others; those of a fit are compared as their rounding is measured
    return rows, replace(new, shared={**new.shared, "placed": True})


def _finite(out: NDArray[Any], X: Any, start: int = 0) -> NDArray[Any]:
    """What was found, refused where some is not finite: rows that are not, or kernel values out of range."""
    good = np.isfinite(out)
    if good.all():
        return out
    if _dtype_of(X, None) is not None:
        require_finite(X, None, lambda i: f"row {start + i}")
    row = int(np.argmin(good.reshape(len(out), -1).all(axis=1)))
    raise InputError(
        f"expected rows whose kernel values with the fitted rows stay in the range of {out.dtype.name}",
        received=f"row {start + row}, for which they are infinite or not a number",
        hint="give new rows on the scale of the fitted ones; float64 rows, X.astype(np.float64), have a wider range",
    )


def _shares(n: int) -> list[list[slice]]:
    """Row tiles, dealt to the lanes."""
    steps = list(chunks(n, ROWS if n > 2 * ROWS else FEW))
    lanes = min(lane_count(), max(len(steps), 1))
    return [steps[lane::lanes] for lane in range(lanes)]


def _dtype_of(X: Any, otherwise: Any = np.float64) -> Any:
    """float32 for float32 (and float16) rows, float64 for other numbers, ``otherwise`` for what is not numbers."""
    dtype = getattr(X, "dtype", None)
    return result_dtype(dtype) if isinstance(dtype, np.dtype) and dtype.kind in "fiub" else otherwise


def row_count(X: Any) -> int:
    """Rows of an array, sparse matrix, frame or list."""
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)
