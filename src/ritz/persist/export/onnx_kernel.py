"""Kernels as ONNX graphs.

dot products      X Zᵀ, then a function             distances     −½‖x − z‖² = x·z − ½‖x‖² − ½‖z‖², shifted first
Laplacian, Matérn differences (rows, m, d), because small distances must keep their digits
"""

from __future__ import annotations

from itertools import combinations_with_replacement
from math import factorial
from typing import Any

import numpy as np

from ritz._core.errors import ParameterError
from ritz.kernels.callables import Precomputed
from ritz.kernels.combine import Normalized, Product, Scaled, Sum
from ritz.kernels.distances import RBF
from ritz.kernels.laplacian import Laplacian
from ritz.kernels.matern import Matern
from ritz.kernels.vectors import Cosine, DotKernel, Linear, Monomials, Polynomial, Rows, Sigmoid
from ritz.persist.export.form import Form
from ritz.persist.export.onnx_graph import Graph

__all__ = ["gamma_of", "kernel_scores", "monomials", "refuse"]


def kernel_scores(g: Graph, form: Form, x: str) -> str:
    """Scores (rows, k)."""
    parts = form.kernel
    if parts is None:
        raise ValueError("a formula without a kernel")
    narrow = g.float_type
    if g.dtype == np.float32:
        # Small eigenvalues magnify rounding: kernels are computed in float64, whatever comes and goes.
        x, g.dtype = g.Cast(x, to=g.onnx.TensorProto.DOUBLE), np.dtype(np.float64)
        scores = kernel_scores(g, form, x)
        g.dtype = np.dtype(np.float32)
        return str(g.Cast(scores, to=narrow))
    if parts.features is not None:
        phi = _features(g, parts.features, x)
        return str(g.MatMul(g.centred(phi, np.asarray(parts.centre)), g.const(parts.axes)))
    K = x if isinstance(parts.kernel, Precomputed) else _matrix(g, parts.kernel, x, np.asarray(parts.rows))
    return str(g.MatMul(g.centred(K, np.asarray(parts.means)), g.const(parts.dual)))


def refuse(kernel: Any, where: str) -> ParameterError:
    """What is said of a kernel that the other program has no functions for."""
    return ParameterError(
        f"export to {where} takes the kernels linear, poly, rbf, sigmoid, laplacian, cosine, Matérn with ν = 1/2, 3/2, "
        "5/2 or ∞, their sums, products and normalised forms",
        received=repr(kernel),
        hint="ritz.save and ritz.load keep any model",
    )


def gamma_of(kernel: Any, d: int) -> float:
    """γ as a number."""
    return 1.0 / max(d, 1) if kernel.gamma is None else float(kernel.gamma)


def _matrix(g: Graph, kernel: Any, x: str, Z: np.ndarray) -> str:
    """k(x, z) (rows, m)."""
    d = Z.shape[1]
    if isinstance(kernel, Sum):
        return str(g.Add(_matrix(g, kernel.left, x, Z), _matrix(g, kernel.right, x, Z)))
    if isinstance(kernel, Product):
        return str(g.Mul(_matrix(g, kernel.left, x, Z), _matrix(g, kernel.right, x, Z)))
    if isinstance(kernel, Scaled):
        # not one number: runtimes would fold it into the product, in float32
        return str(g.Mul(_matrix(g, kernel.kernel, x, Z), g.const(np.full((1, len(Z)), kernel.factor))))
    if isinstance(kernel, Normalized):
        inner = kernel.kernel
        own = inner.diag(inner.prepare(Z, dtype=np.float64))
        there = np.where(own > 0, 1 / np.sqrt(np.where(own > 0, own, 1.0)), 0.0)
        K = g.Mul(_matrix(g, inner, x, Z), g.const(there[None, :]))
        return str(g.Mul(K, _inverse_root(g, _diagonal(g, inner, x, d))))
    if isinstance(kernel, Cosine):
        size = np.linalg.norm(Z, axis=1, keepdims=True)
        unit = Z / np.where(size > 0, size, 1.0)
        return str(g.MatMul(_unit(g, x), g.const(unit.T)))
    if isinstance(kernel, DotKernel):
        scaled = Z if isinstance(kernel, Linear) else Z * gamma_of(kernel, d)
        return _dot(g, kernel, g.MatMul(x, g.const(scaled.T)))
    if isinstance(kernel, RBF):
        shift = Z.mean(axis=0)
        z, y = Z - shift, g.centred(x, shift)
        half = g.Mul(g.sum_rows(g.Mul(y, y)), g.const(0.5))
        E = g.Sub(g.Sub(g.MatMul(y, g.const(z.T)), half), g.const(0.5 * np.square(z).sum(axis=1)[None, :]))
        return str(g.Exp(g.Mul(g.Min(E, g.const(0.0)), g.const(2 * gamma_of(kernel, d)))))
    return _by_differences(g, kernel, x, Z)


def _dot(g: Graph, kernel: Any, G: str) -> str:
    """What a kernel of the dot product makes of γ x·z."""
    if isinstance(kernel, Linear):
        return G
    inner = g.Add(G, g.const(kernel.coef0)) if kernel.coef0 else G
    if isinstance(kernel, Sigmoid):
        return str(g.Tanh(inner))
    if isinstance(kernel, Polynomial):
        return str(g.Pow(inner, g.const(float(kernel.degree))))
    raise refuse(kernel, "ONNX")


def _by_differences(g: Graph, kernel: Any, x: str, Z: np.ndarray) -> str:
    d, shift = Z.shape[1], Z.mean(axis=0)
    gap = g.Sub(g.Unsqueeze(g.centred(x, shift), g.ints(1)), g.const((Z - shift)[None, :, :]))
    m = Z.shape[0]
    if isinstance(kernel, Laplacian):
        far = g.Reshape(g.sum_rows(g.Abs(gap), 2), g.ints(-1, m))
        return str(g.Exp(g.Mul(far, g.const(-gamma_of(kernel, d)))))
    if not isinstance(kernel, Matern) or kernel.nu not in (0.5, 1.5, 2.5, np.inf):
        raise refuse(kernel, "ONNX")
    square = g.Reshape(g.sum_rows(g.Mul(gap, gap), 2), g.ints(-1, m))
    if np.isinf(kernel.nu):
        return str(g.Exp(g.Mul(square, g.const(-0.5 * kernel.scale_for(d) ** 2))))
    r = g.Sqrt(g.Mul(square, g.const(kernel.scale_for(d) ** 2)))
    decay = g.Exp(g.Neg(r))
    if kernel.nu == 0.5:
        return str(decay)
    more = r if kernel.nu == 1.5 else g.Mul(r, g.Add(g.Mul(r, g.const(1 / 3)), g.const(1.0)))
    return str(g.Mul(decay, g.Add(more, g.const(1.0))))


def _diagonal(g: Graph, kernel: Any, x: str, d: int) -> str:
    """k(x, x) (rows, 1)."""
    if isinstance(kernel, Sum):
        return str(g.Add(_diagonal(g, kernel.left, x, d), _diagonal(g, kernel.right, x, d)))
    if isinstance(kernel, Product):
        return str(g.Mul(_diagonal(g, kernel.left, x, d), _diagonal(g, kernel.right, x, d)))
    if isinstance(kernel, Scaled):
        return str(g.Mul(_diagonal(g, kernel.kernel, x, d), g.const(kernel.factor)))
    square = g.sum_rows(g.Mul(x, x))
    if isinstance(kernel, DotKernel) and not isinstance(kernel, Cosine):
        return _dot(g, kernel, square if isinstance(kernel, Linear) else g.Mul(square, g.const(gamma_of(kernel, d))))
    one = g.Where(g.IsNaN(square), square, g.const(1.0))
    if isinstance(kernel, (Cosine, Normalized)):
        inner = square if isinstance(kernel, Cosine) else _diagonal(g, kernel.kernel, x, d)
        return str(g.Where(g.Greater(inner, g.const(0.0)), one, g.const(0.0)))
    return str(one)


def _inverse_root(g: Graph, square: str) -> str:
    """1/√s, 0 where s is 0."""
    there = g.Greater(square, g.const(0.0))
    return str(g.Where(there, g.Div(g.const(1.0), g.Sqrt(g.Where(there, square, g.const(1.0)))), g.const(0.0)))


def _unit(g: Graph, x: str) -> str:
    largest = g.node("ReduceMax", g.Abs(x), axes=[1], keepdims=1)  # taken out first: no square overflows
    there = g.Greater(largest, g.const(0.0))
    z = g.Div(x, g.Where(there, largest, g.const(1.0)))
    return str(g.Mul(z, _inverse_root(g, g.sum_rows(g.Mul(z, z)))))


# --- explicit features ------------------------------------------------------------------------------------


def monomials(made: Monomials) -> tuple[np.ndarray, np.ndarray]:
    """Columns (size, degree) that every monomial multiplies, d standing for the constant; and factors (size,)."""
    width = made.d + (made.coef0 > 0)
    picked = list(combinations_with_replacement(range(width), made.degree))
    repeats = [float(np.prod([factorial(one.count(i)) for i in set(one)], dtype=np.float64)) for one in picked]
    factor = np.sqrt(factorial(made.degree) / np.asarray(repeats))
    at = np.asarray(picked, np.int64).reshape(len(picked), made.degree)
    return at, factor * made.root ** (at < made.d).sum(axis=1) * np.sqrt(made.coef0) ** (at >= made.d).sum(axis=1)


def _features(g: Graph, made: Any, x: str) -> str:
    """φ(x) (rows, size)."""
    name = type(made).__name__
    if isinstance(made, Rows):
        return _unit(g, x) if isinstance(made.kernel, Cosine) else x
    if isinstance(made, Monomials):
        at, factor = monomials(made)
        shape = g.Shape(x)
        ones = g.Expand(g.const(np.ones((1, 1))), g.Concat(g.Slice(shape, g.ints(0), g.ints(1)), g.ints(1), axis=0))
        wide = g.Concat(x, ones, axis=1)
        out = g.const(factor[None, :])
        for column in at.T:
            out = g.Mul(out, g.Gather(wide, g.const(column), axis=1))
        return str(out)
    if name == "_Beside":
        return str(g.Concat(_features(g, made.left, x), _features(g, made.right, x), axis=1))
    if name == "_Times":
        return str(g.Mul(_features(g, made.inner, x), g.const(made.factor)))
    if name == "_UnitLength":
        return _unit(g, _features(g, made.inner, x))
    raise refuse(name, "ONNX")
