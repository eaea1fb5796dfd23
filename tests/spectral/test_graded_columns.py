"""Columns whose sizes lie up to 1e260 apart: squares of the small ones underflow, and do not disturb the large ones."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.linalg import hadamard

import ritz
from ritz.operators import Dense
from ritz.spectral.plan import Shape, choose
from ritz.spectral.problem import SpectralProblem
from ritz.spectral.solve import solve
from ritz.testing import true_spectrum


def graded(draw, *, diagonal):
    rng = np.random.default_rng(draw)
    d = int(rng.integers(2, 16))
    sizes = 10.0 ** rng.uniform(-160, 100, d)
    if diagonal:
        X = np.zeros((d, d))
        X[rng.permutation(d), np.arange(d)] = sizes
        return X
    return rng.standard_normal((20, d)) * sizes


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("diagonal", [True, False])
def test_the_leading_pairs_of_graded_columns_are_enclosed(diagonal, center):
    for draw in (*range(20), 59, 141, 151, 175, 227, 231, 304, 344, 397, 438, 477, 527):
        X = graded(draw, diagonal=diagonal)
        k = min(2, X.shape[1] - diagonal)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = ritz.PCA(k, center=center).fit(X)
        c = model.certificate_
        size = float(np.max(np.abs(X)))
        keep = np.max(np.abs(X), axis=0) > 1e-30 * size  # the others are far below any rounding
        true = true_spectrum(X[:, keep] / 2.0 ** np.frexp(size)[1], center=center).values
        unit = (c.frame.get("shown", 1.0) / 2.0 ** np.frexp(size)[1]) ** 2
        for i in range(min(k, len(true))):
            assert c.lower[i] * unit <= true[i] * (1 + 1e-15), (draw, i)
            assert true[i] <= c.upper[i] * unit * (1 + 1e-15), (draw, i)
        checked = model.verify(X)
        assert checked, (draw, str(checked))


def test_a_gram_matrix_that_lapack_gives_up_on():
    values = 10.0 ** np.linspace(0, -280, 20) * 1e50
    for draw in range(150):
        X = np.diag(np.random.default_rng(draw).permutation(values))
        found = solve(SpectralProblem(Dense(X), 4), choose(Shape(20, 20), 4, solver="moments"))
        c = found.certificate
        assert np.all((c.lower <= values[:4] ** 2) & (values[:4] ** 2 <= c.upper))


def test_rounding_that_points_the_same_way_in_every_column_disturbs_no_value():
    root = np.array([1.0, 0.7071067690849304, 0.5])  # whose squares are exact
    for p in (128, 512):
        true = p * np.square(root)
        X = np.zeros((p, p))
        X[:3] = root[:, None] * hadamard(p)[:3]
        c = ritz.SVD(5, solver="moments").fit(X).certificate_
        assert np.all((c.lower[:3] <= true) & (true <= c.upper[:3])), p
        assert np.max(np.abs(np.sqrt(c.values[:3]) - np.sqrt(true))) <= 100 * 2.0**-53 * np.sqrt(p), p
