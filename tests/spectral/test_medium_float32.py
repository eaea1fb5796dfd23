"""Medium tables of float32: products in float32 where few components are wanted, with bounds that hold on any table."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import hadamard

import ritz
from ritz.data.passes import faint
from ritz.data.passes.blocks import blocks_of
from ritz.data.passes.gram import in_short_pieces, squat
from ritz.data.passes.statistics import Statistics
from ritz.operators import Centered, Dense, Scaled
from ritz.spectral.plan import Shape, choose

N, D, K = 8_192, 200, 5
NARROW = "float32 products summed in float64"

KINDS = {
    "noise": lambda g: g.standard_normal((N, D)),
    "step": lambda g: g.standard_normal((N, D)) * np.where(np.arange(D) < K, 10.0, 1.0),
    "slow": lambda g: g.standard_normal((N, D)) / np.arange(1, D + 1),
    "fast": lambda g: g.standard_normal((N, D)) * 0.7 ** np.arange(D),
    "positive": lambda g: g.random((N, D)),
    "far": lambda g: g.standard_normal((N, D)) + 1e4,
    "scales": lambda g: g.standard_normal((N, D)) * np.logspace(-4, 4, D),
    "indicators": lambda g: (g.random((N, D)) < 0.3) * 0.1,
    "two rows": lambda g: g.standard_normal((2, D))[g.integers(0, 2, N)] + 1e-3 * g.standard_normal((N, D)),
    "equal rows": lambda g: np.repeat(g.standard_normal((8, D)), N // 8, axis=0),
    "returning late": lambda g: np.concatenate([g.standard_normal((N // 2, D)), np.full((N // 2, D), 0.7)]),
    "hadamard": lambda g: np.tile(hadamard(1024)[:, :D] * 0.3, (8, 1)),
    "heavy row": lambda g: g.standard_normal((N, D)) * np.where(np.arange(N) == N - 7, 300.0, 1.0)[:, None],
    "growing": lambda g: g.standard_normal((N, D)) * np.linspace(0.01, 3, N)[:, None],
    "tails": lambda g: g.standard_t(2, (N, D)),
}  # fmt: skip


def table(kind, seed, order="C"):
    return np.asarray(KINDS[kind](np.random.default_rng(seed)), np.float32, order=order)


def singular(X, *, center, scale=False):
    """Singular values to float64, by a decomposition of the rows themselves."""
    Z = X.astype(np.float64)
    Z = Z - X.mean(axis=0, dtype=np.longdouble).astype(np.float64) if center else Z
    Z = Z / Z.std(axis=0, ddof=1) if scale else Z
    return np.linalg.svd(Z, compute_uv=False)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("kind", KINDS)
def test_measured_rounding_bounds_what_products_are_off(seed, kind, order):
    X = table(kind, seed, order)
    stats = Statistics(blocks_of(X), None, np.float32)
    state = stats.moments
    Z = X.astype(np.float64) - X.mean(axis=0, dtype=np.longdouble).astype(np.float64)
    off = np.linalg.norm(state.scatter * state.unit**2 - Z.T @ Z, 2)
    slack = 1e-13 * np.linalg.norm(Z, 2) ** 2  # what the truth itself is rounded to
    assert off <= state.noise * state.unit**2 + slack


@pytest.mark.parametrize("drawn", [1, 2])
def test_entries_that_outweigh_the_rest_of_their_block_are_seen(drawn):
    """Of heavy tails one product may hold most of the error of all: a single vector hardly sees it."""
    X = np.random.default_rng(drawn).standard_t(2, (20_000, 200)).astype(np.float32)
    state = Statistics(blocks_of(X), None, np.float32).moments
    Z = X.astype(np.float64) - X.mean(axis=0, dtype=np.longdouble).astype(np.float64)
    S = Z.T @ Z
    assert np.linalg.norm(state.scatter - S, 2) <= state.noise + 1e-13 * np.linalg.norm(S, 2)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("center", [True, False])
def test_values_keep_their_promise_and_enclosures_hold(seed, kind, center):
    X = table(kind, seed)
    model = (ritz.PCA(K) if center else ritz.SVD(K)).fit(X)
    sigma, c = singular(X, center=center), model.certificate_
    assert model.plan_.solver != "moments" or model.plan_.precision == model.certificate_.precision[:7]
    assert np.max(np.abs(model.singular_values_ - sigma[:K])) <= 100 * 2.0**-24 * sigma[0]
    near = 1e-13 * sigma[0] ** 2
    assert np.all((c.lower - near <= sigma[:K] ** 2) & (sigma[:K] ** 2 <= c.upper + near))
    assert c.verify(X)


@pytest.mark.parametrize("kind", ["noise", "scales", "far", "positive"])
def test_columns_that_are_scaled_are_enclosed_too(seed, kind):
    X = table(kind, seed)
    model = ritz.PCA(K, scale=True).fit(X)
    sigma, c = singular(X, center=True, scale=True), model.certificate_
    assert np.max(np.abs(model.singular_values_ - sigma[:K])) <= 100 * 2.0**-24 * sigma[0]
    assert np.all((c.lower <= sigma[:K] ** 2) & (sigma[:K] ** 2 <= c.upper))
    assert c.verify(X)


@pytest.mark.parametrize("kind", ["noise", "slow", "fast", "scales", "far"])
def test_all_values_of_float32_rows_keep_their_promise(seed, kind):
    X = table(kind, seed)
    model = ritz.PCA().fit(X)
    sigma, c = singular(X, center=True), model.certificate_
    assert np.max(np.abs(model.singular_values_ - sigma)) <= 100 * 2.0**-24 * sigma[0]
    near = 1e-13 * sigma[0] ** 2
    assert np.all((c.lower - near <= sigma**2) & (sigma**2 <= c.upper + near))
    assert c.verify(X)


def test_a_sample_tells_what_float32_would_lose(seed):
    for kind, precision in (("noise", NARROW), ("step", NARROW), ("fast", "float64")):
        X = table(kind, seed)
        found = ritz.PCA(20 if kind == "fast" else K).fit(X).certificate_
        assert found.precision.split(",")[0] == precision, kind
    stats = Statistics(blocks_of(table("scales", seed)), None, np.float32)
    A = Centered(Dense(stats.blocks.X, stats), stats)
    assert A.faint(20)  # of columns as they are
    assert not Scaled(A, lambda: np.ones(D)).faint(20)
    assert not A.faint(1)


def test_medium_tables_are_planned_in_float32_where_few_are_wanted():
    def precision(n, d, k, size=4):
        return choose(Shape(n, d, size), k, solver="moments").precision

    assert precision(N, D, K) == "float32"
    assert precision(N, D, D) == precision(N, D, K, 8) == "float64"
    assert (
        precision(1_000, D, K)
        == precision(2_000, 100, 1)
        == precision(300, 5_000, 3)
        == precision(1_000, 1_000, 9)
        == "float64"
    )
    assert squat(blocks_of(np.zeros((N, D), np.float32)))
    assert not in_short_pieces(blocks_of(np.zeros((N, D), np.float32)), np.float32)


@pytest.mark.parametrize(("shape", "k"), [((6_000, 1_000), 900), ((1_000, 6_000), 300)], ids=["tall", "wide"])
def test_many_components_that_float32_would_lose_are_formed_in_float64_at_once(shape, k, seed):
    """Beyond the rows of the sample their sum tells: 900 of 1,000 would be lost, and the matrix formed anew."""
    rng = np.random.default_rng(seed)
    X = (rng.standard_normal(shape) * np.arange(1, shape[1] + 1) ** -0.7).astype(np.float32)
    model = ritz.PCA(k, solver="moments").fit(X)
    told = model.certificate_
    assert told.precision.startswith("float64")
    assert model.plan_.precision == "float64"
    assert any("would lose what is wanted" in reason for reason in model.plan_.reasons)
    Z = X.astype(np.float64) - X.astype(np.float64).mean(axis=0)
    true = np.linalg.eigvalsh(Z.T @ Z if len(X) > X.shape[1] else Z @ Z.T)[::-1][:k]
    assert np.all(np.abs(told.values - true) <= told.width + 1e-13 * true[0])


@pytest.mark.parametrize("shape", [(6_000, 1_000), (1_000, 6_000)], ids=["tall", "wide"])
def test_many_components_of_noise_are_formed_in_float32(shape, seed):
    X = np.random.default_rng(seed).standard_normal(shape).astype(np.float32)
    model = ritz.PCA(200, solver="moments").fit(X)
    assert model.certificate_.precision.startswith("float32")
    assert model.plan_.precision == "float32"
    assert model.certificate_.passes == (1 if shape[0] > shape[1] else 3)


@pytest.mark.parametrize("k", [51, 90, 400])
def test_the_tail_of_a_sample_bounds_a_value_beyond_it(k):
    """(tr − Σ_{j≤50} λ_j)/(k − 50) over λ₁, less what noise adds to the rows of the sample."""
    values = 1.0 / np.arange(78, 0, -1)
    noise = values.mean()
    seen = np.maximum(values[-50:] - noise, 0.0)
    assert faint._tail(values, k) == pytest.approx((values.sum() - seen.sum()) / (k - 50) / seen[-1], rel=1e-14)
    assert faint._tail(np.ones(78), k) == np.inf  # nothing stands out of the noise
