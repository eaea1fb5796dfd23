"""``check_kernel``: any kernel against its definition, on rows that it takes.

Tiles are slices of one matrix; it is symmetric, its diagonal is ``diag``; it has no negative eigenvalue where the
kernel says so; sparse and dense, float32 and float64 rows agree; ``fix`` is idempotent; values survive pickle, JSON.
"""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import InputError
from ritz.kernels.base import Kernel, Prepared, take_rows
from ritz.operators.kernel import KernelMatrix

__all__ = ["check_kernel"]

#: Multiples of round-off, in units of the largest entry, that a tile may differ by: sums over columns, one function.
SLACK = 200.0


def check_kernel(
    kernel: Kernel, X: Any, *, formula: Callable[[Any, Any], float] | None = None, y: Any = None, written: bool = True
) -> None:
    """Raise AssertionError, saying what differs and by how much, unless ``kernel`` keeps its contract on ``X``.

    Parameters
    ----------
    kernel
        The kernel, gamma and all.
    X
        A dozen to a few hundred rows that it takes; for vectors an ndarray.
    formula
        ``k(x, y)`` of two rows, written independently.
    y
        Labels, where ``fix`` needs them.
    written
        Whether the kernel can be written to JSON and pickled.

    Examples
    --------
    >>> import numpy as np
    >>> from ritz.kernels import RBF
    >>> from ritz.testing import check_kernel
    >>> X = np.random.default_rng(0).standard_normal((20, 3))
    >>> check_kernel(RBF(0.5), X, formula=lambda x, y: np.exp(-0.5 * np.sum((x - y) ** 2)))  # silent: right
    >>> try:
    ...     check_kernel(RBF(0.5), X, formula=lambda x, y: np.exp(-np.sum((x - y) ** 2)))
    ... except AssertionError:
    ...     print("another kernel")
    another kernel
    """
    fixed = kernel.fix(X, y=y)
    _value(kernel, written)
    _value(fixed, written)
    assert fixed.fix(X, y=y) == fixed, f"fix is not idempotent: {fixed!r} becomes {fixed.fix(X, y=y)!r}"
    A = fixed.prepare(X)
    n = A.n
    K = fixed.tile(A, A, slice(0, n), slice(0, n)).astype(np.float64)
    assert K.shape == (n, n), f"a tile of all rows has shape {K.shape}, expected {(n, n)}"
    assert np.all(np.isfinite(K)), "entries that are not finite"
    size = float(np.max(np.abs(K), initial=0.0))
    allowed = SLACK * float(np.finfo(A.dtype).eps) * size
    _same("K − Kᵀ", K, K.T, allowed)
    _same("diag", fixed.diag(A), np.diag(K), allowed)
    _same("reference rows", fixed.reference(A, np.arange(n)), K, allowed * _rough(fixed, A))
    if fixed.positive and n:
        least = float(np.linalg.eigvalsh(0.5 * (K + K.T))[0])
        assert least >= -n * allowed / SLACK * 10, f"positive, but an eigenvalue is {least:.3e}"
    if formula is not None:
        _formula(fixed, X, K, formula, allowed * _rough(fixed, A))
    _slices(fixed, A, X, K, allowed)
    _features(fixed, X, K, allowed)
    if fixed.takes == "vectors":
        _forms(fixed, X, K, size)
    _product(fixed, A, K, size)


def _rough(kernel: Kernel, A: Prepared) -> float:
    return float(np.max(kernel.roughness(A), initial=1.0))


def _value(kernel: Kernel, written: bool) -> None:
    """Equality, hash, parameters, pickle, JSON."""
    name = repr(kernel)
    assert hash(kernel) == hash(kernel.with_params()), f"{name}: equal kernels have different hashes"
    assert kernel == kernel.with_params(), f"{name} differs from itself rebuilt from its parameters"
    assert kernel != object(), f"{name} equals anything"
    assert isinstance(kernel.positive, bool), f"{name}: positive is {kernel.positive!r}"
    assert kernel.takes in ("vectors", "strings", "any", "precomputed"), f"{name}: takes is {kernel.takes!r}"
    if not written:
        return
    again = pickle.loads(pickle.dumps(kernel))
    assert again == kernel, f"{name} differs after pickling: {again!r}"
    assert repr(again) == name, f"{name} prints differently after pickling: {again!r}"
    told = json.loads(json.dumps(kernel.to_dict(), allow_nan=False))
    assert Kernel.from_dict(told) == kernel, f"{name} differs after JSON: {Kernel.from_dict(told)!r}"


def _formula(kernel: Kernel, X: Any, K: NDArray[np.float64], formula: Any, allowed: float) -> None:
    rows = [take_rows(X, [i])[0] if hasattr(X, "shape") else X[i] for i in range(K.shape[0])]
    expected = np.array([[float(formula(a, b)) for b in rows] for a in rows])
    _same(f"tile of {kernel!r} and the formula", K, expected, allowed)


def _slices(kernel: Kernel, A: Prepared, X: Any, K: NDArray[np.float64], allowed: float) -> None:
    """However K is cut, written or asked for, entries are the same."""
    n = A.n
    a, b, c = n // 4, n // 2, max(n - 1, 1)
    allowed *= _rough(kernel, A)
    for I, J in ((slice(a, c), slice(0, b)), (slice(0, b), slice(b, n)), (slice(0, 1), slice(0, n))):
        _same(f"tile {I}, {J}", kernel.tile(A, A, I, J), K[I, J], allowed)
        out = np.full((I.stop - I.start, J.stop - J.start), np.nan, A.dtype)
        given = kernel.tile(A, A, I, J, out)
        assert np.shares_memory(given, out) or not out.size, "a tile was not written into the memory it was given"
        _same(f"tile {I}, {J} into memory that was given", out, K[I, J], allowed)
    index = np.arange(n)[::-2]
    few = A.take(index)
    assert few.n == len(index), f"take gives {few.n} rows, expected {len(index)}"
    _same("rows taken", kernel.tile(few, A, slice(0, few.n), slice(0, n)), K[index], allowed)
    _same("rows taken on both sides", kernel.matrix(few, few), K[np.ix_(index, index)], allowed)
    new = kernel.prepare(take_rows(X, index), like=A)
    try:
        _same("new rows prepared like the old ones", kernel.matrix(new, A), K[index], allowed)
    except InputError as error:
        raise AssertionError(f"new rows prepared like the old ones: {error}") from error
    _same("kernel(X)", kernel(X), K, allowed)


def _features(kernel: Kernel, X: Any, K: NDArray[np.float64], allowed: float) -> None:
    made = kernel.feature_map(X)
    if made is None:
        assert kernel.features(X) is None, "features without a feature map"
        return
    F = kernel.features(X)
    assert F.shape == (K.shape[0], made.size), f"features have shape {F.shape}, expected {(K.shape[0], made.size)}"
    product = F @ F.T
    _same("φ(x)·φ(y)", product.toarray() if hasattr(product, "toarray") else product, K, allowed)


def _forms(kernel: Kernel, X: Any, K: NDArray[np.float64], size: float) -> None:
    """CSR rows, float32 rows and float32 tiles of float64 rows."""
    from scipy.sparse import csr_array

    A = kernel.prepare(X)
    rough = _rough(kernel, A)
    wide = SLACK * float(np.finfo(A.dtype).eps) * size
    sparse = kernel.prepare(csr_array(X))
    n = A.n
    raw = _rough(kernel, sparse)  # without a shift the norms are larger
    _same("CSR rows", kernel.matrix(sparse, sparse), K, wide * max(rough, raw))
    narrow = kernel.prepare(X, dtype=np.float32)
    T = kernel.tile(narrow, narrow, slice(0, n), slice(0, n))
    assert T.dtype == np.float32, f"tiles of rows prepared in float32 are {T.dtype}"
    near = SLACK * float(np.finfo(np.float32).eps) * size
    _same("float32 tiles", T, K, near * rough)
    _same("float32 tiles made float64 again", kernel.matrix(narrow.at(np.float64), A), K, wide * rough)
    own = np.asarray(X, np.float32)
    assert kernel.prepare(own).dtype == np.float32, "float32 rows are not prepared in float32"
    exact = kernel.prepare(own.astype(np.float64))
    _same("float32 rows", kernel.matrix(kernel.prepare(own), kernel.prepare(own)), kernel.matrix(exact, exact),
          near * rough)  # fmt: skip


def _product(kernel: Kernel, A: Prepared, K: NDArray[np.float64], size: float) -> None:
    """K V as an operator, and its measured rounding."""
    V = np.random.default_rng(0).standard_normal((A.n, 2))
    operator = KernelMatrix(kernel, A)
    bound = SLACK * float(np.finfo(A.dtype).eps) * size * _rough(kernel, A) * A.n
    _same("K V", operator.matmat(V), K @ V, bound * float(np.max(np.abs(V), initial=0.0)))


def _same(what: str, got: Any, expected: Any, allowed: float) -> None:
    got, expected = np.asarray(got, np.float64), np.asarray(expected, np.float64)
    assert got.shape == expected.shape, f"{what}: shape {got.shape}, expected {expected.shape}"
    off = float(np.max(np.abs(got - expected), initial=0.0))
    assert off <= allowed + np.finfo(float).tiny, f"{what}: differs by {off:.2e}, allowed {allowed:.2e}"
