"""Numbers that float32 cannot hold: iterations and searches in float32 neither break nor overlook an eigenvalue."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import ritz
from ritz.operators import Operator
from ritz.spectral.plan import Shape, choose
from ritz.spectral.problem import SpectralProblem
from ritz.spectral.solve import solve

SCALES = [2.0**-130, 2.0**-83, 2.0**-40, 1.0, 2.0**30, 2.0**83, 2.0**199]


def turned(values, n, seed=0):
    """A table (n, d) with these singular values, up to rounding."""
    rng = np.random.default_rng(seed)
    d = len(values)
    U, V = (np.linalg.qr(rng.standard_normal((m, d)))[0] for m in (n, d))
    return U * values @ V.T


@pytest.mark.parametrize("scale", SCALES)
def test_an_eigenvalue_repeated_more_often_than_a_block_is_wide(scale):
    values = np.append(np.full(30, 5.0), np.linspace(1, 0.1, 170))
    model = ritz.PCA(30, center=False, solver="lanczos").fit(turned(values, 220) * scale)
    np.testing.assert_allclose(model.singular_values_ / scale, 5.0, rtol=1e-6)
    c = model.certificate_
    shown = c.frame.get("shown", 1.0)
    assert np.sqrt(c.ceiling) * (shown / scale) >= 1 - 1e-9  # the largest of those left out


class Diagonal(Operator):
    """A diagonal matrix that tells nothing of itself but its products."""

    symmetric = True
    positive = True

    def __init__(self, values):
        super().__init__((len(values), len(values)), np.float64)
        self.values = values

    def _matmat(self, V):
        return self.values[:, None] * V

    _rmatmat = _matmat

    def symbol(self):
        return "D"


@pytest.mark.parametrize("solver", ["krylov", "lanczos", "chebyshev", "power"])
@pytest.mark.parametrize("scale", SCALES)
def test_operators_of_ones_own_at_any_scale(solver, scale):
    p, k = 1200, 6
    values = scale * np.append(np.full(9, 4.0), np.linspace(1, 0, p - 9))
    plan = choose(Shape(p, p, symmetric=True), k, solver=solver)
    found = solve(SpectralProblem(Diagonal(values), k, kind="eigh"), plan, quiet=True)
    c = found.certificate
    assert np.all((c.lower <= 4 * scale) & (4 * scale <= c.upper))
    assert c.ceiling >= 4 * scale  # nine of them, and six were wanted


@pytest.mark.parametrize("solver", ["krylov", "lanczos"])
@pytest.mark.parametrize("scale", [2.0**-83, 2.0**83, 2.0**199])
def test_tables_that_iterate_in_float32_elsewhere(solver, scale):
    X = np.random.default_rng(1).standard_normal((2500, 1200)) * 0.97 ** np.arange(1200)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        near = ritz.PCA(60, solver=solver).fit(X)
    assert near.certificate_.precision.startswith("float32")
    far = ritz.PCA(60, solver=solver).fit(X * scale)
    np.testing.assert_allclose(far.singular_values_ / scale, near.singular_values_, rtol=1e-6)
    assert far.certificate_.converged
