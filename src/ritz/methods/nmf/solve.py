"""Factors that are no longer improved, by scikit-learn's descent or block by block.                 [LS99, CP09, Lin07]

    Frobenius          f = ½‖X − WH‖²            ∂f/∂W = (WH − X)Hᵀ             ∂f/∂H = Wᵀ(WH − X)
    Kullback–Leibler   f = Σ X log(X/WH) − X + WH      ∂f/∂W = (1 − X/WH)Hᵀ      ∂f/∂H = Wᵀ(1 − X/WH)

At a minimum no entry can be changed with profit: ∂f ≥ 0 everywhere and ∂f = 0 where the entry is not zero. What is
left is the projected gradient, P = ∂f where the entry is positive and min(∂f, 0) where it is zero, told as
‖P_W‖‖W‖/‖X‖² and ‖P_H‖‖H‖/‖X‖², or for Kullback–Leibler as Σ|x ∂f|/ΣX. Rows outside memory: a row of W is found block
by block, H from WᵀW and WᵀX. In memory, sweeps of scikit-learn's compiled descent are led on by extrapolation.  [AG19]
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz.data.passes.blocks import are_blocks, blocks_of
from ritz.methods.nmf.mixture import mixture_weights

__all__ = ["Factors", "coordinates", "divergence", "factored", "kkt", "squares_of"]

Floats = NDArray[np.float64]

#: Sweeps of a solver between two looks at the optimality conditions, and before the first ones.
CHUNK, FIRST = 50, (15, 15, 20)
#: Looks between two exact steps, which free entries that multiplication has brought too near to zero to return.
FREED = 8
#: Sweeps over the columns of W in a block, and of H between two passes.
INNER = 4
TINY = 1e-300


@dataclass
class Factors:
    """Factors, how far they are from optimal, and sweeps."""

    W: Floats
    H: Floats
    residual: float
    sweeps: int


def factored(rows: Any, W: Floats, H: Floats, loss: str, max_iter: int, tol: float, whole: float) -> Factors:
    """Improve factors until the optimality conditions hold to ``tol``.

    Of Kullback and Leibler, W ends as the best of its H, as rows are placed later: multiplicative steps slow down long
    before they arrive, and conditions that seem to hold with their W may not with the best one.
    """
    ahead = 0.5
    outside = are_blocks(rows) and not getattr(rows, "resident", False)
    sweeps, looks, residual = 0, 0, kkt(rows, W, H, loss, whole)
    while residual > tol and sweeps < max_iter:
        count = min(FIRST[looks] if looks < len(FIRST) else CHUNK, max_iter - sweeps)
        looks += 1
        if loss == "frobenius" and not outside:
            W, H, ahead = _alternated(rows, W, H, count, ahead)
        else:
            count = min(count, 5) if outside else count
            W, H = _streamed(rows, W, H, loss, count)
        W, H = _balanced(W, H)
        sweeps += count
        residual = kkt(rows, W, H, loss, whole)
        if loss != "frobenius" and (residual <= tol or sweeps >= max_iter or looks % FREED == 0):
            found = _settled(rows, H, 0 if outside else min(max_iter - sweeps, CHUNK), tol, whole)
            W, H, residual, sweeps = found.W, found.H, found.residual, sweeps + found.sweeps
    return Factors(W, H, residual, sweeps)


def _settled(rows: Any, H: Floats, sweeps: int, tol: float, whole: float) -> Factors:
    """The best W of H, then, while the conditions do not hold, the best H of W and so on; each counts as CHUNK."""
    loss, used = "kullback-leibler", 0
    while True:
        W = np.concatenate([coordinates(block.values, H, loss) for block in blocks_of(rows).each()])
        W, H = _balanced(W, H)
        residual = kkt(rows, W, H, loss, whole)
        if residual <= tol or used >= sweeps:
            return Factors(W, H, residual, used)
        X = rows.X if hasattr(rows, "X") else rows
        H, used = np.ascontiguousarray(mixture_weights(X.T, W.T).T), min(used + CHUNK, sweeps)


def _alternated(rows: Any, W: Floats, H: Floats, count: int, ahead: float) -> tuple[Floats, Floats, float]:
    """Coordinate descent with several sweeps for each product with X, begun where the last two steps point to."""
    X = rows.X if hasattr(rows, "X") else rows
    X = X if X.dtype == np.float64 else X.astype(np.float64)
    k = len(H)
    stored = X.nnz if hasattr(X, "tocsr") else math.prod(X.shape)  # what a product costs beside a sweep
    inner = [int(np.clip(1 + stored / side / (2 * k), 2, 10)) for side in X.shape]
    best, Y, Z = np.inf, W, H  # Y and Z: W and H led on
    size = float(X.multiply(X).sum()) if hasattr(X, "tocsr") else float(np.vdot(X, X))
    for _ in range(count):
        made = _descent(Y, np.asarray(X @ Z.T), Z @ Z.T, inner[0])
        Y = np.maximum(made + ahead * (made - W), 0.0)
        A, B = np.asarray(X.T @ Y).T, Y.T @ Y
        new = np.ascontiguousarray(_descent(Z.T, A.T, B, inner[1]).T)
        off = size - 2 * float(np.vdot(A, new)) + float(np.vdot(B, new @ new.T))  # of Y and the new H
        Z = np.maximum(new + ahead * (new - H), 0.0)
        if off > best:  # led too far: again from where they stood
            ahead, Y, Z = ahead / 2, made, new
        else:
            ahead = min(1.03 * ahead, 0.95)
        best, W, H = off, made, new
    return W, H, ahead


def _balanced(W: Floats, H: Floats) -> tuple[Floats, Floats]:
    """The same product with columns of W and rows of H of equal length."""
    a, b = np.linalg.norm(W, axis=0), np.linalg.norm(H, axis=1)
    there = (a > 0) & (b > 0)
    root = np.where(there, np.sqrt(np.where(there, b, 1.0) / np.where(there, a, 1.0)), 1.0)
    return W * root, H / root[:, None]


def _streamed(rows: Any, W: Floats, H: Floats, loss: str, count: int) -> tuple[Floats, Floats]:
    """Passes over row blocks: W block by block, then H from sums."""
    for _ in range(count):
        A, B = np.zeros_like(H), np.zeros((len(H), len(H)))
        for block in blocks_of(rows).each():
            part = W[block.start : block.start + block.values.shape[0]]
            X = block.values
            if loss == "frobenius":
                part[...] = _descent(part, np.asarray(X @ H.T, np.float64), H @ H.T, INNER)
                A += np.asarray((X.T @ part).T if hasattr(X, "tocsr") else part.T @ X, np.float64)
                B += part.T @ part
            else:
                part *= _ratio(X, part, H) @ H.T / np.maximum(H.sum(axis=1), TINY)
                A += part.T @ _ratio(X, part, H)
        if loss == "frobenius":
            H = _descent(H.T, A.T, B, INNER).T
        else:
            H = H * A / np.maximum(W.sum(axis=0), TINY)[:, None]
    return W, np.ascontiguousarray(H)


def _descent(W: Floats, target: Floats, gram: Floats, sweeps: int) -> Floats:
    """Coordinate descent on the columns of W: min ‖X − WH‖² with target XHᵀ and gram HHᵀ, W ≥ 0."""
    W = np.array(W, np.float64, order="C")
    fast = _compiled()
    if fast is not None:
        order, gram, target = np.arange(len(gram)), np.ascontiguousarray(gram), np.ascontiguousarray(target)
        for _ in range(sweeps):
            fast(W, gram, target, order)
        return W
    for _ in range(sweeps):
        for j in range(len(gram)):
            if gram[j, j] > 0:
                W[:, j] = np.maximum(W[:, j] + (target[:, j] - W @ gram[:, j]) / gram[j, j], 0.0)
    return W


def _compiled() -> Any:
    """scikit-learn's sweep in compiled code; None where a release has it elsewhere."""
    try:
        from sklearn.decomposition._cdnmf_fast import _update_cdnmf_fast
    except ImportError:
        return None
    return _update_cdnmf_fast


def _ratio(X: Any, W: Floats, H: Floats) -> Any:
    """X/(WH), zero where X is."""
    if hasattr(X, "tocsr"):
        C = X.tocoo()
        made = np.einsum("ij,ij->i", W[C.row], H.T[C.col])
        C.data = C.data / np.maximum(made, TINY)
        return C.tocsr()
    return np.asarray(X, np.float64) / np.maximum(W @ H, TINY)


def kkt(rows: Any, W: Floats, H: Floats, loss: str, whole: float) -> float:
    """How far the optimality conditions are from holding, relative to the data."""
    A, B, off = np.zeros_like(H), np.zeros((len(H), len(H))), 0.0
    for block in blocks_of(rows).each():
        X, part = block.values, W[block.start : block.start + block.values.shape[0]]
        if loss == "frobenius":
            slope = part @ (H @ H.T) - np.asarray(X @ H.T, np.float64)
            A += np.asarray((X.T @ part).T if hasattr(X, "tocsr") else part.T @ X, np.float64)
            B += part.T @ part
        else:
            ratio = _ratio(X, part, H)
            slope = H.sum(axis=1) - np.asarray(ratio @ H.T)
            A += np.asarray((ratio.T @ part).T if hasattr(ratio, "tocsr") else part.T @ ratio)
        if loss == "frobenius":
            off += float(np.sum(np.square(np.where(part > 0, slope, np.minimum(slope, 0.0)))))
        else:
            off += float(np.sum(np.where(slope < 0, -np.maximum(part, W.mean(axis=0)), part) * slope))
    slope = B @ H - A if loss == "frobenius" else W.sum(axis=0)[:, None] - A
    size = max(whole, TINY)
    if loss != "frobenius":  # entries go to zero, and never reach it: x·∂f counts
        mean = H.mean(axis=1, keepdims=True)
        return max(off, float(np.sum(np.where(slope < 0, -np.maximum(H, mean), H) * slope))) / size
    there = float(np.linalg.norm(np.where(H > 0, slope, np.minimum(slope, 0.0))))
    return max(np.sqrt(off) * float(np.linalg.norm(W)), there * float(np.linalg.norm(H))) / size


def squares_of(rows: Any, W: Floats, H: Floats) -> float:
    """‖X − WH‖², entry by entry; of sparse rows by ‖X‖² − 2⟨X, WH⟩ + ‖WH‖²."""
    total = 0.0
    for block in blocks_of(rows).each():
        X, part = block.values, W[block.start : block.start + block.values.shape[0]]
        if hasattr(X, "tocsr"):
            C = X.tocoo()
            made = np.einsum("ij,ij->i", part[C.row], H.T[C.col])
            data = np.asarray(C.data, np.float64)
            outside = float(np.sum((part.T @ part) * (H @ H.T))) - float(made @ made)
            total += float(np.sum(np.square(data - made))) + max(outside, 0.0)
        else:
            total += float(np.sum(np.square(np.asarray(X, np.float64) - part @ H)))
    return total


def divergence(rows: Any, W: Floats, H: Floats) -> float:
    """Σ X log(X/WH) − X + WH."""
    total = float(W.sum(axis=0) @ H.sum(axis=1))
    for block in blocks_of(rows).each():
        X, part = block.values, W[block.start : block.start + block.values.shape[0]]
        C = X.tocoo() if hasattr(X, "tocsr") else None
        data = np.asarray(X if C is None else C.data, np.float64)
        made = part @ H if C is None else np.einsum("ij,ij->i", part[C.row], H.T[C.col])
        there = data > 0
        total += float(np.sum(data[there] * np.log(data[there] / np.maximum(made[there], TINY)))) - float(data.sum())
    return total


def coordinates(X: Any, H: Floats, loss: str, sweeps: int = 400) -> Floats:
    """W ≥ 0 of rows with H as it is: a convex problem of each row by itself."""
    if loss != "frobenius":
        return mixture_weights(X, H)
    gram, target = H @ H.T, np.asarray(X @ H.T, np.float64)
    W = np.maximum(np.linalg.lstsq(gram, target.T, rcond=None)[0].T, 0.0)
    size = float(np.max(np.abs(target), initial=0.0)) / max(float(np.max(np.diag(gram), initial=0.0)), TINY)
    for _ in range(sweeps):
        before, W = W, _descent(W, target, gram, INNER)
        if float(np.max(np.abs(W - before), initial=0.0)) <= 1e-13 * max(size, TINY):
            break
    return W
