"""A network as arrays: what a trained one computes, without the library that trained it.

    t = z E + f(z),    ẑ = t D + g(t)        f, g: layers a ↦ φ(a W + b), the last one linear;   z = ((x − μ)D_σ⁻¹)/s

The straight paths E (d×k) and D (k×d) alone are the linear autoencoder. Rows go through in blocks, in float64.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.data.passes.blocks import Block, blocks_of
from ritz.data.passes.finite import require_finite
from ritz.data.passes.integers import as_float
from ritz.project.linear import forwarded, result_dtype

__all__ = ["ACTIVATIONS", "Layers", "NetworkMap"]

Floats = NDArray[np.float64]

ACTIVATIONS: dict[str, Any] = {
    "tanh": np.tanh,
    "relu": lambda a: np.maximum(a, 0.0),
    "elu": lambda a: np.where(a > 0, a, np.expm1(np.minimum(a, 0.0))),
    "logistic": lambda a: 0.5 * (1 + np.tanh(0.5 * a)),
}


@dataclass(frozen=True)
class Layers:
    """One half of a network: a straight path and layers beside it."""

    straight: Floats  # (in, out)
    bias: Floats  # (out,)
    weights: tuple[Floats, ...]  # of the layers beside it; none of a linear one
    biases: tuple[Floats, ...]

    def __call__(self, A: Floats, activation: str) -> Floats:
        out = A @ self.straight + self.bias
        if self.weights:
            phi = ACTIVATIONS[activation]
            for W, b in zip(self.weights[:-1], self.biases[:-1], strict=True):
                A = phi(A @ W + b)
            out = out + A @ self.weights[-1] + self.biases[-1]
        return np.asarray(out)

    def arrays(self) -> list[Floats]:
        """All of it in one list: straight path, its bias, then weights and biases in turn."""
        return [self.straight, self.bias, *(x for pair in zip(self.weights, self.biases, strict=True) for x in pair)]

    @classmethod
    def of(cls, arrays: list[Floats]) -> Layers:
        """From such a list."""
        rest = [np.asarray(one, np.float64) for one in arrays]
        return cls(rest[0], rest[1], tuple(rest[2::2]), tuple(rest[3::2]))


@dataclass(frozen=True)
class NetworkMap:
    """Rows to coordinates and back."""

    encoder: Layers
    decoder: Layers
    activation: str
    mean: Floats
    scale: Floats | None
    unit: float
    names: Any = None

    def framed(self, rows: Any) -> Floats:
        """z of rows."""
        dense = rows.toarray() if hasattr(rows, "toarray") else np.asarray(rows)
        Z = (as_float(dense) - self.mean) / self.unit
        return np.asarray(Z if self.scale is None else Z / self.scale)

    def forward(self, X: Any, dtype: Any = None, start: int = 0) -> NDArray[Any]:
        """Coordinates of rows."""
        dtype = result_dtype(X.dtype) if dtype is None else np.dtype(dtype)
        blocks = blocks_of(X)

        def step(_scratch: dict[str, Any], block: Block) -> Any:
            with np.errstate(invalid="ignore"):  # rows that are not finite are named below
                return self.encoder(self.framed(block.values), self.activation)

        T = blocks.map_rows(step, np.empty((blocks.shape[0], len(self.encoder.bias))))
        if not np.isfinite(T).all():
            require_finite(X, self.names, lambda i: f"row {start + i}")
        return T.astype(dtype, copy=False)

    def batches(self, X: Any) -> Iterator[NDArray[Any]]:
        """Coordinates of the rows, some at a time, in row order."""
        yield from forwarded(self, blocks_of(X))

    def backward(self, T: Any) -> NDArray[Any]:
        """Rows from coordinates."""
        T = np.asarray(T)
        Z = self.decoder(T.astype(np.float64), self.activation)
        Z = Z if self.scale is None else Z * self.scale
        return np.asarray(Z * self.unit + self.mean).astype(result_dtype(T.dtype), copy=False)

    def squares(self, X: Any) -> Floats:
        """(n,) squared distances of rows from what they are rebuilt as, in the frame of the fit."""
        blocks = blocks_of(X)

        def step(_scratch: dict[str, Any], block: Block) -> Any:
            Z = self.framed(block.values)
            back = self.decoder(self.encoder(Z, self.activation), self.activation)
            return np.square((Z - back) * self.unit).sum(axis=1)[:, None]

        return np.asarray(blocks.map_rows(step, np.empty((blocks.shape[0], 1)))[:, 0])
