"""Tensors that are hard in known ways: exact low rank and noise, graded, nearly degenerate, flat, zero, in float32.

X = G ×₁ Q₁ … ×_p Q_p + noise      p = 2 … 6 modes, some of length 1;   Q_m orthonormal
X = Σ_m a ⊗ … b … ⊗ a + noise      for sums of two terms: sums come as near as one likes, and none is nearest   [dSL08]
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["KINDS", "Case", "cases"]

#: Kinds of tensors.
KINDS = ("exact", "noise", "graded", "degenerate", "flat", "zeros", "float32", "single", "large", "spike")
#: Longest mode for each number of modes.
LENGTHS = {2: 60, 3: 18, 4: 9, 5: 6, 6: 5}


@dataclass(frozen=True)
class Case:
    """A tensor, and what is asked of it.

    Attributes
    ----------
    name : what it is
    X : the tensor
    method : name of the class that takes it apart
    parameters : of the method
    """

    name: str
    X: NDArray[Any]
    method: str
    parameters: dict[str, Any]


def cases(count: int, seed: int = 0) -> Iterator[Case]:
    """So many cases, always the same for a seed."""
    for i in range(count):
        rng = np.random.default_rng([seed, i])
        p, kind = 2 + i % 5, KINDS[(i // 5) % len(KINDS)]
        method = ("HOSVD", "CP", "TensorTrain", "Tucker", "HOSVD")[(i // 3) % 5]
        X = _border(p, rng) if method == "CP" and kind == "degenerate" else _tensor(kind, p, rng)
        yield Case(f"{i} {kind} {X.shape} {method}", X, method, _asked(method, X, rng))


def _asked(method: str, X: NDArray[Any], rng: np.random.Generator) -> dict[str, Any]:
    """Ranks, or an error; sometimes every unfolding by itself."""
    if method == "CP":
        return {"n_components": int(rng.integers(1, 5)), "max_iter": 60}
    count = X.ndim - 1 if method == "TensorTrain" else X.ndim
    if rng.random() < 0.5:
        asked: dict[str, Any] = {"error": float(10.0 ** rng.uniform(-14, -0.2))}
    else:
        asked = {"n_components": tuple(int(rng.integers(1, 6)) for _ in range(count))}
    if method == "HOSVD" and rng.random() < 0.3:
        asked["sequential"] = False
    return asked


def _border(p: int, rng: np.random.Generator) -> NDArray[Any]:
    """A tensor of rank p that sums of two terms come near to without end."""
    shape = tuple(int(rng.integers(3, max(LENGTHS[p] // 2, 3) + 1)) for _ in range(p))
    pairs = [np.linalg.qr(rng.standard_normal((n, 2)))[0] for n in shape]
    X = np.zeros(shape)
    for place in range(p):
        term = np.ones(())
        for mode, Q in enumerate(pairs):
            term = np.multiply.outer(term, Q[:, 1 if mode == place else 0])
        X = X + term
    return X + 10.0 ** rng.uniform(-12, -2) * rng.standard_normal(shape)


def _tensor(kind: str, p: int, rng: np.random.Generator) -> NDArray[Any]:
    shape = tuple(int(rng.integers(2, LENGTHS[p] + 1)) for _ in range(p))
    if kind == "single":
        ones = rng.random(p) < 0.5
        shape = tuple(1 if one else n for one, n in zip(ones, shape, strict=True))
    if kind == "zeros":
        return np.zeros(shape)
    ranks = tuple(int(rng.integers(1, min(n, 5) + 1)) for n in shape)
    core = rng.standard_normal(shape if kind in ("graded", "flat", "degenerate", "spike") else ranks)
    if kind == "graded":  # singular values from 1 to 1e-12
        for mode, n in enumerate(shape):
            falls = 10.0 ** np.linspace(0, -12 / p, n)
            core = core * falls.reshape([-1 if m == mode else 1 for m in range(p)])
    if kind == "degenerate":  # values in clusters that differ by 1e-10
        for mode, n in enumerate(shape):
            steps = np.where(np.arange(n) < n // 2, 1.0, 1e-3) * (1 + 1e-10 * np.arange(n))
            core = core * steps.reshape([-1 if m == mode else 1 for m in range(p)])
    if kind == "flat":
        core = np.eye(shape[0], math.prod(shape[1:])).reshape(shape)
    if kind == "spike":
        core = 1e-9 * core
        core[(0,) * p] = 1.0
    for mode, n in enumerate(shape):
        Q = np.linalg.qr(rng.standard_normal((n, n)))[0][:, : core.shape[mode]]
        core = np.moveaxis(np.tensordot(Q, core, (1, mode)), 0, mode)
    noise = {"noise": 10.0 ** rng.uniform(-10, 0), "float32": 1e-3, "single": 0.1, "large": 1e-5}.get(kind, 0.0)
    X = core + noise * rng.standard_normal(shape) * np.linalg.norm(core) / math.sqrt(core.size)
    if kind == "float32":
        return X.astype(np.float32)
    return X * 10.0 ** rng.uniform(-150, 150) if kind == "large" else X
