"""A start near the answer, coarser products for what is left, and the search for what such a start missed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from ritz.operators.symmetric import Symmetric
from ritz.spectral.plan import Shape, choose
from ritz.spectral.problem import SpectralProblem
from ritz.spectral.solve import solve
from ritz.spectral.solvers.deflated import SHARE, drawn_square


def spectrum(p: int = 300) -> tuple[np.ndarray, np.ndarray]:
    Q = np.linalg.qr(np.random.default_rng(0).standard_normal((p, p)))[0]
    values = np.r_[10.0, 8.0, 6.0, 4.0, 2.0 * 0.97 ** np.arange(p - 4)]
    return values, Q


def matrix(values: np.ndarray, Q: np.ndarray) -> np.ndarray:
    S = (Q * values) @ Q.T
    return np.asarray((S + S.T) / 2)


class Lean(Symmetric):
    """Products for what is left of vectors are off by a share of ‖S‖, as those of a graphics processor are."""

    share = 1e-4

    def lean(self) -> Any:
        S = np.asarray(self._matmat(np.eye(self.shape[0])))
        E = np.random.default_rng(5).standard_normal(S.shape)
        E = (E + E.T) / 2
        return Symmetric(S + self.share * 10 * E / np.linalg.norm(E, 2))


def solved(operator: Any, k: int, begin: Any) -> Any:
    p = operator.shape[0]
    plan = choose(Shape(p, p, 8, None, symmetric=True), k, solver="krylov", tol=1e-6, memory=np.inf)
    return solve(SpectralProblem(operator, k, kind="eigh", tol=1e-6, begin=begin), plan)


def test_a_near_start_is_proved_by_a_search() -> None:
    values, Q = spectrum()
    near = Q[:, :14] + 1e-3 * np.random.default_rng(1).standard_normal((300, 14))
    found = solved(Symmetric(matrix(values, Q), positive=True), 4, lambda: near)
    a = found.certificate
    assert "fresh Gaussian columns" in a.completeness
    assert np.all((a.lower <= values[:4]) & (values[:4] <= a.upper))
    assert a.ceiling >= values[4] * (1 - 1e-6)
    assert a.labelled.all()


@pytest.mark.parametrize("hidden", [0, 2, 3])
def test_a_start_that_misses_one_does_not_win(hidden: int) -> None:
    """The start is orthogonal to an eigenvector of the answer, and so is its whole Krylov space."""
    values, Q = spectrum()
    kept = [i for i in range(20) if i != hidden]
    found = solved(Symmetric(matrix(values, Q), positive=True), 4, lambda: Q[:, kept])
    assert np.allclose(found.values, values[:4], rtol=1e-9)


def test_coarser_products_for_what_is_left() -> None:
    values, Q = spectrum()
    S = matrix(values, Q)
    near = Q[:, :14] + 1e-3 * np.random.default_rng(1).standard_normal((300, 14))
    plan = choose(Shape(300, 300, 8, None, symmetric=True), 4, solver="krylov", tol=1e-6, memory=np.inf)
    problem = SpectralProblem(Lean(S, positive=True), 4, kind="eigh", tol=1e-6, begin=lambda: near)
    found = solve(problem, replace(plan, precision="float32 then float64"))
    V = found.vectors
    assert np.linalg.norm(S @ V - V * found.values, axis=0).max() < 3e-6 * values[0]


@pytest.mark.parametrize("columns", [8, 32, 64])
@pytest.mark.parametrize("rank", [1, 3, 100])
def test_the_frobenius_norm_from_gaussian_columns(columns: int, rank: int) -> None:
    """The bound solves (x e^{1−x})^{c/2} = SHARE, and 2,000 draws do not refute it."""
    x = 1 / (drawn_square(1.0, columns) * columns)
    assert 0 < x < 1
    assert columns / 2 * (np.log(x) + 1 - x) == pytest.approx(np.log(SHARE), rel=1e-9)
    mu = 1.0 / np.arange(1, rank + 1)
    rng = np.random.default_rng(columns + rank)
    sizes = np.sqrt([np.sum(np.square(mu[:, None] * rng.standard_normal((rank, columns)))) for _ in range(2000)])
    assert all(drawn_square(float(size), columns) >= float(mu @ mu) for size in sizes)


def test_coarse_products_do_not_refute_that_a_matrix_is_positive() -> None:
    """What is left of vectors is multiplied by products that are off by more than the smallest eigenvalues."""
    values = np.r_[10.0, 8.0, 6.0, 4.0, np.full(296, 1e-9)]
    Q = spectrum()[1]
    near = Q[:, :14] + 1e-2 * np.random.default_rng(1).standard_normal((300, 14))
    coarse = type("Coarse", (Lean,), {"share": 1e-3})(matrix(values, Q), positive=True)
    plan = choose(Shape(300, 300, 8, None, symmetric=True), 4, solver="krylov", tol=1e-6, memory=np.inf)
    problem = SpectralProblem(coarse, 4, kind="eigh", tol=1e-9, begin=lambda: near)
    found = solve(problem, replace(plan, precision="float32 then float64"), quiet=True)
    assert np.allclose(found.values, values[:4], rtol=1e-4)
