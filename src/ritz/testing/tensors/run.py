"""Whether certificates of tensors are true, against long double sums and LAPACK's singular values.

For each case: the error that is told holds the error that is there; what was asked for is kept; no unfolding of X
leaves less than the bound on the best error; the error is within √p, or √(p − 1), of that bound's own upper side. Sums
of products have no such factor: of them the gradient is told, and computed again.
"""

from __future__ import annotations

import argparse
import math
import sys
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import AccuracyWarning
from ritz.methods import method_named
from ritz.testing.tensors.cases import Case, cases

__all__ = ["check_case", "main", "run"]


def check_case(case: Case) -> list[str]:
    """What is false about the certificate of one case; nothing where all of it is true."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AccuracyWarning)
        model = _class(case.method)(**case.parameters).fit(case.X)
    c, unit = model.certificate_, float(np.max(np.abs(case.X))) or 1.0
    X = np.asarray(case.X, np.longdouble) / unit
    made = _made(model, unit)
    error = float(np.sqrt(np.sum(np.square(X - made)))) * unit
    norm = float(np.sqrt(np.sum(np.square(X)))) * unit
    lefts = [_left(case.X, axes, rank, unit) for axes, rank in model._unfoldings()]
    rounding = 1e-14 * norm
    wrong = []
    if not c.error_low <= error * (1 + 1e-12) or not error <= c.error_high * (1 + 1e-12) + 1e-300:
        wrong.append(f"the error {error:.17g} is not in [{c.error_low:.17g}, {c.error_high:.17g}]")
    if c.best_low > c.error_high or (lefts and c.best_low > max(lefts) + rounding):
        wrong.append(f"the best error may be {max(lefts):.6g}, told at least {c.best_low:.6g}")
    if math.isfinite(c.bound) and error > c.bound:
        wrong.append(f"the error {error:.6g} is above the bound {c.bound:.6g}")
    if case.method == "CP":
        wrong += _gradient_wrong(model, X * unit)
    elif error > c.constant * max(lefts, default=0.0) * (1 + 1e-9) + 20 * rounding * _coarse(case.X):
        wrong.append(f"the error {error:.6g} is more than {c.constant:.3f} times {max(lefts):.6g}")
    asked = case.parameters.get("error")
    if asked is not None and error > asked * norm * (1 + 1e-9) + 20 * rounding * _coarse(case.X):
        wrong.append(f"the relative error {error / norm:.3g} is above {asked:.3g}")
    if not model.verify(case.X):
        wrong.append("verify fails: " + "; ".join(model.verify(case.X).words))
    return wrong


def _gradient_wrong(model: Any, X: NDArray[Any]) -> list[str]:
    """Whether the gradient of ½‖X − X̂‖² is larger than told, in long double and by its definition."""
    A = [np.asarray(B, np.longdouble) for B in model.factors_]
    top, p = np.max(np.abs(X), initial=0), X.ndim
    if top == 0:
        return []
    Y, weights = X / top, np.asarray(model.weights_, np.longdouble) / top
    A = [B * np.abs(weights) ** (1 / p) for B in A]
    rest = Y - _terms(A)
    sizes = []
    for mode, B in enumerate(A):
        slope = _terms_with(np.moveaxis(rest, mode, 0), [C for m, C in enumerate(A) if m != mode])
        sizes.append(float(np.linalg.norm(slope.astype(float)) * np.linalg.norm(B.astype(float))))
    off, told = max(sizes) / float(np.sum(np.square(Y))), model.certificate_.stationarity
    narrow = 1e-5 if model._record.dtype == np.float32 else 1e-12
    return [] if off <= 4 * told + narrow else [f"the gradient is {off:.3g}, told {told:.3g}"]


def _terms(A: list[Any]) -> NDArray[Any]:
    """Σ_r a_r ⊗ b_r ⊗ …"""
    out = np.ones((1, A[0].shape[1]), np.longdouble)
    for B in A:
        out = (out[:, None] * B).reshape(-1, B.shape[1])
    return out.sum(axis=1).reshape([len(B) for B in A])


def _terms_with(X: NDArray[Any], A: list[Any]) -> NDArray[Any]:
    """X times the product of the vectors of each term in all modes but the first, (n, R)."""
    out = np.ones((1, A[0].shape[1]), np.longdouble)
    for B in A:
        out = (out[:, None] * B).reshape(-1, B.shape[1])
    return X.reshape(len(X), -1) @ out


def _class(name: str) -> Any:
    found = method_named(name)
    assert found is not None, name
    return found


def _coarse(X: NDArray[Any]) -> float:
    """How much coarser the precision of the parts is than float64."""
    return 2.0**29 if X.dtype == np.float32 else 1.0


def _made(model: Any, unit: float) -> NDArray[Any]:
    """X̂ in long double, in units."""
    if hasattr(model, "cores_"):
        out = np.ones((1, 1), np.longdouble)
        for core in model.cores_:
            G = np.asarray(core, np.longdouble) / (unit if core is model.cores_[0] else 1.0)
            out = np.einsum("ar,rnb->anb", out, G).reshape(-1, G.shape[2])
        return out.reshape(model.shape_)
    if hasattr(model, "weights_"):
        first = np.asarray(model.factors_[0], np.longdouble) * (np.asarray(model.weights_, np.longdouble) / unit)
        return _terms([first, *(np.asarray(B, np.longdouble) for B in model.factors_[1:])])
    out = np.asarray(model.core_, np.longdouble) / unit
    for mode, U in enumerate(model.factors_):
        out = np.moveaxis(np.tensordot(np.asarray(U, np.longdouble), out, (1, mode)), 0, mode)
    return out


def _left(X: NDArray[Any], axes: tuple[int, ...], rank: int, unit: float) -> float:
    rest = [mode for mode in range(X.ndim) if mode not in axes]
    A = np.transpose(np.asarray(X, np.float64) / unit, (*axes, *rest))
    values = np.linalg.svd(A.reshape(math.prod(X.shape[m] for m in axes), -1), compute_uv=False)
    return float(np.linalg.norm(values[rank:])) * unit


def run(count: int = 500, seed: int = 0) -> list[str]:
    """What is false in so many cases."""
    return [f"{case.name}: {wrong}" for case in cases(count, seed) for wrong in check_case(case)]


def main(arguments: list[str] | None = None) -> int:
    """Run, and say what was found; 1 where a certificate is false."""
    parser = argparse.ArgumentParser(prog="python -m ritz.testing.tensors", description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args(arguments)
    wrong = run(given.count, given.seed)
    for line in wrong:
        print(line)
    print(f"{given.count} tensors, {len(wrong)} false statements")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
