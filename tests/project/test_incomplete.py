"""Rows with gaps, against the textbook: conditional mean and covariance of a Gaussian with its full d×d covariance."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ritz._core.errors import InputError, NonFiniteError
from ritz.data.passes.blocks import MemoryBlocks
from ritz.project.incomplete import Filler, IncompleteMap
from ritz.project.linear import LinearMap

D, K, NOISE = 7, 3, 0.3
MEAN = np.array([1e3, -5.0, 0.0, 2.0, 1e-3, 4.0, -1.0])
SCALE = np.array([1.0, 2.0, 0.5, 1.0, 1e-3, 3.0, 1.0])


def model(signal: tuple[float, ...] = (9.0, 4.0, 1.0)) -> tuple[Filler, np.ndarray]:
    """A filler whose shrinkage is the posterior's, D = γ/(γ + σ²), and its covariance in units of z."""
    V = np.linalg.qr(np.random.default_rng(0).standard_normal((D, K)))[0]
    gamma = np.array(signal)
    filler = Filler(MEAN, np.zeros(D), SCALE, V, gamma / (gamma + NOISE), gamma, NOISE)
    return filler, (V * gamma) @ V.T + NOISE * np.eye(D)


def gappy(n: int = 40, share: float = 0.4, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    _, S = model()
    X = rng.multivariate_normal(np.zeros(D), S, n) * SCALE + MEAN
    gone = rng.random((n, D)) < share
    gone[gone.all(axis=1), 0] = False
    return X, gone


def conditional(x: np.ndarray, gone: np.ndarray, S: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    z = (x - MEAN) / SCALE
    a, b = S[np.ix_(gone, ~gone)], S[np.ix_(~gone, ~gone)]
    return a @ np.linalg.solve(b, z[~gone]), S[np.ix_(gone, gone)] - a @ np.linalg.solve(b, a.T)


def test_gaps_hold_the_conditional_mean_with_the_conditional_variance() -> None:
    filler, S = model()
    X, gone = gappy()
    rows = np.where(gone, np.nan, X)
    found = IncompleteMap(filler, LinearMap(filler.vectors.T, MEAN, SCALE, None))
    filled, errors = found.impute(rows), found.impute_errors(rows)
    assert np.array_equal(filled[~gone], X[~gone])
    for i in np.flatnonzero(gone.any(axis=1)):
        m, C = conditional(X[i], gone[i], S)
        assert np.allclose((filled[i] - MEAN)[gone[i]] / SCALE[gone[i]], m, atol=1e-9)
        assert np.allclose(errors[i][gone[i]] / SCALE[gone[i]], np.sqrt(np.diag(C)), rtol=1e-9)
    assert np.all(errors[~gone] == 0)


@pytest.mark.parametrize("whiten", [False, True])
def test_errors_of_scores_are_those_of_the_conditional_distribution(whiten: bool) -> None:
    filler, S = model()
    X, gone = gappy()
    gone[0] = False
    spread = np.array([3.0, 2.0]) if whiten else None
    U = np.linalg.qr(np.random.default_rng(5).standard_normal((D, 2)))[0]  # axes of the scores need not be the filler's
    found = IncompleteMap(filler, LinearMap(U.T, MEAN, SCALE, spread))
    got = found.uncertainty(np.where(gone, np.nan, X), covariance=True)
    assert got.covariance is not None
    W = U if spread is None else U / spread
    assert np.array_equal(got.observed, D - gone.sum(axis=1))
    for i in range(len(X)):
        _, C = conditional(X[i], gone[i], S)
        assert np.allclose(got.covariance[i], W[gone[i]].T @ C @ W[gone[i]], atol=1e-10)
    short = found.uncertainty(np.where(gone, np.nan, X))
    assert np.allclose(short.errors**2, np.einsum("ijj->ij", got.covariance), atol=1e-12)
    assert np.all(short.errors[0] == 0)


def test_scores_of_complete_rows_are_the_ordinary_ones() -> None:
    filler, _ = model()
    X, _ = gappy()
    linear = LinearMap(filler.vectors.T, MEAN, SCALE, None)
    assert np.array_equal(IncompleteMap(filler, linear).forward(X), linear.forward(X))


def test_filled_rows_are_a_fixed_point_of_the_shrunken_fit() -> None:
    filler, _ = model()
    X, gone = gappy()
    z = (filler.fill(np.where(gone, np.nan, X), 0) - MEAN) / SCALE
    fit = (z @ filler.vectors * filler.shrink) @ filler.vectors.T
    assert np.allclose(z[gone], fit[gone], atol=1e-10)


def test_few_patterns_and_many_give_the_same() -> None:
    filler, _ = model()
    X, gone = gappy(400)
    few = gone[np.arange(400) % 3]  # three patterns share their systems
    rows = np.where(few, np.nan, X)
    one_by_one = np.vstack([filler.fill(rows[i : i + 1], 0) for i in range(400)])
    assert np.allclose(filler.fill(rows, 0), one_by_one, rtol=0, atol=1e-12)


def test_blocks_do_not_matter_and_float32_stays() -> None:
    filler, _ = model()
    X, gone = gappy()
    rows = np.where(gone, np.nan, X)
    found = IncompleteMap(filler, LinearMap(filler.vectors.T, MEAN, SCALE, None))
    assert np.allclose(found.forward(MemoryBlocks(rows, 3)), found.forward(rows), rtol=0, atol=1e-10)
    assert np.allclose(np.vstack(list(found.batches(MemoryBlocks(rows, 3)))), found.forward(rows), rtol=0, atol=1e-10)
    narrow = found.impute(rows.astype(np.float32))
    assert narrow.dtype == np.float32
    assert np.allclose(narrow, found.impute(rows), rtol=1e-4, atol=1e-3)  # a mean of 1,000 leaves three digits


def test_rows_that_cannot_be_placed_are_refused_by_number() -> None:
    filler, _ = model()
    X, gone = gappy()
    found = IncompleteMap(filler, LinearMap(filler.vectors.T, MEAN, SCALE, None))
    rows = np.where(gone, np.nan, X)
    rows[23] = np.nan
    for call in (found.forward, found.impute, found.uncertainty, found.impute_errors):
        with pytest.raises(InputError, match="nothing observed in row 23"):
            call(MemoryBlocks(rows, 5))
    rows = np.where(gone, np.nan, X)
    rows[17, :2] = np.inf, np.nan
    with pytest.raises(NonFiniteError, match="row 17 column 0"):
        found.impute(MemoryBlocks(rows, 5))


def test_less_observed_than_axes_keeps_one_answer_with_the_spread_of_the_axes_as_error() -> None:
    """Without shrinkage what a row does not tell keeps its prior variance, above the least error there is."""
    filler, S = model()
    filler = replace(filler, shrink=np.full(K, 1 - 1e-10))
    gone = np.ones((1, D), bool)
    gone[0, 1] = False
    row = np.where(gone, np.nan, -3.0)
    found = IncompleteMap(filler, LinearMap(filler.vectors.T, MEAN, SCALE, None))
    assert np.all(np.isfinite(found.impute(row)))
    errors = found.uncertainty(row).errors[0]
    V = filler.vectors[gone[0]]
    least = np.sqrt(np.diag(V.T @ conditional(row[0], gone[0], S)[1] @ V))
    assert np.all(errors >= least * (1 - 1e-6))
    assert np.all(errors < 3 * np.sqrt(np.diag(filler.vectors.T @ S @ filler.vectors)))
