"""Kernels in SQL: the rows compared with are a list of values, and a score is a sum over it.

    LATERAL (SELECT SUM((k(x, z) - r) * d1) AS s1, … FROM (SELECT …, k AS e FROM (VALUES …) AS z) AS y) AS f

Numbers are compared by their differences, so small distances keep their digits. exp(x) is 0 below −700: PostgreSQL
refuses results too small for a number.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ritz.kernels.callables import Precomputed
from ritz.kernels.combine import Normalized, Product, Scaled, Sum
from ritz.kernels.distances import RBF
from ritz.kernels.laplacian import Laplacian
from ritz.kernels.matern import Matern
from ritz.kernels.vectors import Cosine, DotKernel, Linear, Monomials, Polynomial, Rows, Sigmoid
from ritz.persist.export.form import Form
from ritz.persist.export.onnx_kernel import gamma_of, monomials, refuse
from ritz.persist.export.sql.words import added, column, number, times

__all__ = ["kernel_select"]


def kernel_select(form: Form) -> tuple[list[str], str]:
    """Scores, and what is joined to the table for them."""
    parts = form.kernel
    if parts is None:
        raise ValueError("a formula without a kernel")
    d = len(form.columns)
    numbers = "(SELECT " + ", ".join(f"{column(name)} AS x{j}" for j, name in enumerate(form.columns)) + ") AS p"
    x = [f"p.x{j}" for j in range(d)]
    if parts.features is not None:
        phi = _features(parts.features, x)
        V, m = np.asarray(parts.axes), np.asarray(parts.centre)
        shown = ", ".join(f"{one} - {number(m[j])} AS f{j}" for j, one in enumerate(phi))
        scores = [added([times(f"f.f{j}", V[j, i]) for j in range(len(phi))]) for i in range(form.k)]
        return scores, f"\nCROSS JOIN LATERAL {numbers}\nCROSS JOIN LATERAL (SELECT {shown}) AS f"
    if isinstance(parts.kernel, Precomputed):
        r, D = np.asarray(parts.means), np.asarray(parts.dual)
        scores = [added([times(f"({x[j]} - {number(r[j])})", D[j, i]) for j in range(d)]) for i in range(form.k)]
        return scores, f"\nCROSS JOIN LATERAL {numbers}"
    return _compared(form, numbers, x)


def _compared(form: Form, numbers: str, x: list[str]) -> tuple[list[str], str]:
    parts = form.kernel
    Z, r, D = (np.asarray(array) for array in (parts.rows, parts.means, parts.dual))  # type: ignore[union-attr]
    list_of = _Values(Z)
    compare = _kernel(parts.kernel, x, list_of)  # type: ignore[union-attr]
    at_r, at_d = list_of.add(r), [list_of.add(D[:, i]) for i in range(form.k)]
    inner = ", ".join([f"{compare} - {at_r} AS e", *(f"{at} AS d{i}" for i, at in enumerate(at_d))])
    sums = ", ".join(f"SUM(y.e * y.d{i}) AS s{i}" for i in range(form.k))
    joined = f"(SELECT {sums} FROM (SELECT {inner} FROM {list_of.text()}) AS y) AS f"
    every = f"({added(x)}) IS NOT NULL"
    scores = [f"CASE WHEN {every} THEN f.s{i} END" for i in range(form.k)]
    return scores, f"\nCROSS JOIN LATERAL {numbers}\nCROSS JOIN LATERAL {joined}"


class _Values:
    """A list of rows: those compared with, and numbers that belong to each."""

    def __init__(self, Z: np.ndarray) -> None:
        self.Z = Z
        self.columns: list[np.ndarray] = list(Z.T)
        self.z = [f"z.c{j}" for j in range(Z.shape[1])]

    def add(self, values: np.ndarray) -> str:
        """A further number of every row; how it is called."""
        self.columns.append(values)
        return f"z.c{len(self.columns) - 1}"

    def text(self) -> str:
        """``(VALUES …) AS z(…)``; the first row says the types."""
        rows = np.column_stack(self.columns)
        lines = ["(" + ", ".join(number(v) for v in row) + ")" for row in rows]
        lines[0] = "(" + ", ".join(f"CAST({number(v)} AS DOUBLE PRECISION)" for v in rows[0]) + ")"
        names = ", ".join(f"c{j}" for j in range(rows.shape[1]))
        return "(VALUES\n  " + ",\n  ".join(lines) + f") AS z({names})"


def _kernel(kernel: Any, x: list[str], values: _Values) -> str:
    """k(x, z)."""
    d = len(x)
    if isinstance(kernel, Sum):
        return f"({_kernel(kernel.left, x, values)} + {_kernel(kernel.right, x, values)})"
    if isinstance(kernel, Product):
        return f"({_kernel(kernel.left, x, values)} * {_kernel(kernel.right, x, values)})"
    if isinstance(kernel, Scaled):
        return times(_kernel(kernel.kernel, x, values), kernel.factor)
    if isinstance(kernel, Normalized):
        inner = kernel.kernel
        own = inner.diag(inner.prepare(values.Z, dtype=np.float64))
        there = values.add(np.where(own > 0, 1 / np.sqrt(np.where(own > 0, own, 1.0)), 0.0))
        return _over_root(f"{_kernel(inner, x, values)} * {there}", _diagonal(inner, x))
    if isinstance(kernel, Cosine):
        size = np.linalg.norm(values.Z, axis=1)
        there = values.add(np.where(size > 0, 1 / np.where(size > 0, size, 1.0), 0.0))
        return _over_root(f"{_dot(x, values.z)} * {there}", _dot(x, x))
    if isinstance(kernel, DotKernel):
        return _of_dot(kernel, _dot(x, values.z), d)
    gap = [f"({a} - {b})" for a, b in zip(x, values.z, strict=True)]
    if isinstance(kernel, Laplacian):
        return _exp(times(added([f"ABS{one}" for one in gap]), -gamma_of(kernel, d)))
    square = _dot(gap, gap)
    if isinstance(kernel, RBF):
        return _exp(times(square, -gamma_of(kernel, d)))
    if not isinstance(kernel, Matern) or kernel.nu not in (0.5, 1.5, 2.5, np.inf):
        raise refuse(kernel, "SQL")
    if np.isinf(kernel.nu):
        return _exp(times(square, -0.5 * kernel.scale_for(d) ** 2))
    root = f"SQRT({times(square, kernel.scale_for(d) ** 2)})"
    decay = _exp(f"-{root}")
    poly = {0.5: "1e0", 1.5: f"(1e0 + {root})", 2.5: f"(1e0 + {root} * (1e0 + {root} / 3e0))"}[kernel.nu]
    return f"({poly} * {decay})"


def _exp(inner: str) -> str:
    return f"EXP(GREATEST({inner}, -700))"  # NULL is passed over here; scores are guarded against it


def _dot(a: list[str], b: list[str]) -> str:
    return added([f"{one} * {other}" for one, other in zip(a, b, strict=True)])


def _of_dot(kernel: Any, dot: str, d: int) -> str:
    if isinstance(kernel, Linear):
        return dot
    inner = f"({times(dot, gamma_of(kernel, d))} + {number(kernel.coef0)})"
    if isinstance(kernel, Sigmoid):
        return f"TANH({inner})"
    if isinstance(kernel, Polynomial):
        return f"({' * '.join([inner] * kernel.degree)})" if kernel.degree <= 4 else f"POWER({inner}, {kernel.degree})"
    raise refuse(kernel, "SQL")


def _diagonal(kernel: Any, x: list[str]) -> str:
    """k(x, x)."""
    if isinstance(kernel, Sum):
        return f"({_diagonal(kernel.left, x)} + {_diagonal(kernel.right, x)})"
    if isinstance(kernel, Product):
        return f"({_diagonal(kernel.left, x)} * {_diagonal(kernel.right, x)})"
    if isinstance(kernel, Scaled):
        return times(_diagonal(kernel.kernel, x), kernel.factor)
    square = _dot(x, x)
    if isinstance(kernel, DotKernel) and not isinstance(kernel, Cosine):
        return _of_dot(kernel, square, len(x))
    inner = _diagonal(kernel.kernel, x) if isinstance(kernel, Normalized) else square
    if isinstance(kernel, (Cosine, Normalized)):
        return f"CASE WHEN {inner} > 0 THEN 1e0 WHEN {inner} IS NULL THEN NULL ELSE 0e0 END"
    return f"CASE WHEN {square} IS NULL THEN NULL ELSE 1e0 END"


def _over_root(value: str, square: str) -> str:
    """value/√square, 0 where the square is 0."""
    return f"CASE WHEN {square} > 0 THEN {value} / SQRT({square}) WHEN {square} IS NULL THEN NULL ELSE 0e0 END"


def _features(made: Any, x: list[str]) -> list[str]:
    """φ(x)."""
    name = type(made).__name__
    if isinstance(made, Rows):
        return _unit(x) if isinstance(made.kernel, Cosine) else x
    if isinstance(made, Monomials):
        at, factor = monomials(made)
        every = " AND ".join(f"{one} IS NOT NULL" for one in x)
        return [
            _product([x[j] for j in row if j < made.d], number(f), every) for row, f in zip(at, factor, strict=True)
        ]
    if name == "_Beside":
        return _features(made.left, x) + _features(made.right, x)
    if name == "_Times":
        return [times(one, made.factor) for one in _features(made.inner, x)]
    if name == "_UnitLength":
        return _unit(_features(made.inner, x))
    raise refuse(name, "SQL")


def _product(parts: list[str], factor: str, every: str) -> str:
    """A monomial; the constant one is NULL where a number is, as the others are."""
    return f"({' * '.join([*parts, factor])})" if parts else f"CASE WHEN {every} THEN {factor} END"


def _unit(x: list[str]) -> list[str]:
    square = _dot(x, x)
    return [_over_root(one, square) for one in x]
