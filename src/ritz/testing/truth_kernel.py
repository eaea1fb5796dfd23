"""The true spectrum of a centred kernel matrix of repeated rows, with a rigorous error.

    xᵢ (m×d), the i-th cᵢ times, n = Σc:   J K J (n×n) has the eigenvalues of D_c^½ K̃ D_c^½ (m×m) and n − m zeros,
    K̃ᵢⱼ = Kᵢⱼ − rᵢ − rⱼ + s,   r = K c/n,   s = cᵀK c/n²

Distances of stored rows are exact in integers; exponentials and square roots are balls. The eigenvalues are then proved
as those of `ritz.testing.truth`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ritz.testing.truth import Ball, Truth, flint_module, floats, integers, precision, proved, refined

__all__ = ["KERNELS", "true_kernel"]


def _rbf(square: Ball, _dot: Ball, _absolute: Ball, gamma: Ball) -> Ball:
    return (-gamma * square).exp()


def _laplacian(_square: Ball, _dot: Ball, absolute: Ball, gamma: Ball) -> Ball:
    return (-gamma * absolute).exp()


def _poly(_square: Ball, dot: Ball, _absolute: Ball, gamma: Ball) -> Ball:
    return (gamma * dot + 1) ** 3


def _linear(_square: Ball, dot: Ball, _absolute: Ball, _gamma: Ball) -> Ball:
    return dot


#: k(x, y) from ‖x − y‖², xᵀy, ‖x − y‖₁ and γ; ``poly`` is of degree 3 with coef0 = 1.
KERNELS: dict[str, Callable[[Ball, Ball, Ball, Ball], Ball]] = {
    "rbf": _rbf,
    "laplacian": _laplacian,
    "poly": _poly,
    "linear": _linear,
}


def true_kernel(rows: Any, counts: Any, kernel: str, gamma: float, *, digits: int = 50) -> Truth:
    """Eigenvalues of the centred kernel matrix of the stored rows, each as often as its count says."""
    flint, bits = flint_module(), int(3.33 * digits) + 8
    with precision(bits + 128):
        K = _matrix(rows, kernel, flint.arb(float(gamma)))
        m, c = len(K), [int(v) for v in counts]
        n = sum(c)
        r = [sum((K[i][j] * c[j] for j in range(m)), flint.arb(0)) / n for i in range(m)]
        s = sum((r[i] * c[i] for i in range(m)), flint.arb(0)) / n
        centred = [[K[i][j] - r[i] - r[j] + s for j in range(m)] for i in range(m)]
        root = [flint.arb(v).sqrt() for v in c]
        M = flint.arb_mat(m, m, [root[i] * centred[i][j] * root[j] for i in range(m) for j in range(m)])
        total = sum((centred[i][i] * c[i] for i in range(m)), flint.arb(0))
        size = float(max(M[i, i].abs_upper() for i in range(m)))
        zeros = (flint.arb(0),) * (n - m)
        if size == 0:
            return Truth((*(flint.arb(0),) * m, *zeros), total)
        unit = flint.arb(2.0 ** float(np.ceil(np.log2(size))))
        scaled = M * (1 / unit)
        start = np.linalg.eigh(floats(scaled))[1][:, ::-1]
        balls = [b * unit for b in proved(scaled, refined(scaled, start, bits))]
        return Truth(tuple(sorted([*balls, *zeros], key=lambda ball: -ball.mid())), total)


def _matrix(rows: Any, kernel: str, gamma: Ball) -> list[list[Ball]]:
    flint = flint_module()
    X, e = integers(np.asarray(rows))
    unit = flint.arb(2) ** e
    x, m = X.tolist(), X.nrows()
    K = [[flint.arb(0)] * m for _ in range(m)]
    for i in range(m):
        for j in range(i + 1):
            difference = [a - b for a, b in zip(x[i], x[j], strict=True)]
            square = sum((v * v for v in difference), flint.fmpz(0)) * unit**2
            dot = sum((a * b for a, b in zip(x[i], x[j], strict=True)), flint.fmpz(0)) * unit**2
            absolute = sum((abs(v) for v in difference), flint.fmpz(0)) * unit
            K[i][j] = K[j][i] = KERNELS[kernel](square, dot, absolute, gamma)
    return K
