"""Gram matrices in float32 that a product in float64 corrects: answers of float64, proofs that hold, and ways back."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import ritz
from ritz.data.passes.blocks import blocks_of
from ritz.data.passes.rough import rough_gram
from ritz.data.passes.statistics import Statistics
from ritz.operators import Centered, Dense, Scaled
from ritz.spectral.plan import Shape, choose
from ritz.spectral.problem import SpectralProblem
from ritz.spectral.solvers.moments import moments
from ritz.spectral.solvers.refined import COUNTED, REFINED, refined
from ritz.testing import matrix


def table(kind, n, d, seed, **options):
    return matrix(kind, n, d, seed=seed, **options)


def posed(X, k, *, center=True, **options):
    stats = Statistics(blocks_of(X), about_zero=not center)
    rows = Dense(X, stats)
    A = Centered(rows, stats) if center else rows
    return SpectralProblem(A, k, n=len(X), d=X.shape[1], rows=len(X), centered=center, **options), A


def exact(X, center):
    """Eigenvalues, decreasing, and vectors of ZᵀZ in extended precision's digits: Z is decomposed, not squared."""
    Z = np.asarray(X - X.mean(axis=0, dtype=np.longdouble) if center else X, np.float64)
    _, sigma, Vt = np.linalg.svd(Z, full_matrices=False)
    return sigma**2, Vt.T


@pytest.mark.parametrize("kind", ["geometric", "step", "clusters", "flat"])
@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize(("n", "d", "k"), [(900, 60, 5), (300, 150, 1), (2500, 40, 20)])
def test_answers_have_the_digits_of_float64(seed, kind, center, n, d, k):
    rng = np.random.default_rng(seed)
    sizes = {
        "geometric": 0.8 ** np.arange(d),
        "step": np.where(np.arange(d) < k, 10.0, 1.0),
        "clusters": 0.9 ** (np.arange(d) // 2),
        "flat": np.ones(d),
    }[kind]
    X = (rng.standard_normal((n, d)) + (3.0 if center else 0.0)) * sizes
    problem, A = posed(X, k, center=center)
    pairs = refined(problem, A)
    values, V = exact(X, center)
    assert pairs.precision == REFINED
    assert pairs.converged
    assert pairs.completeness.words == COUNTED
    assert np.all(np.abs(pairs.leading() - values[:k]) <= 1e-12 * values[0])
    assert pairs.completeness.ceiling >= values[k] * (1 - 1e-13)
    assert pairs.completeness.ceiling < pairs.leading()[-1]
    residual = A.normal(pairs.vectors) - pairs.vectors * pairs.leading()
    stated = np.linalg.norm(pairs.residual_block, axis=0) + pairs.rounding
    assert np.all(np.linalg.norm(residual, axis=0) <= stated * (1 + 1e-6) + 1e-13 * values[0])
    assert np.max(stated) <= 1e-9 * values[0]
    assert np.max(np.abs(pairs.vectors.T @ pairs.vectors - np.eye(k))) <= 1e-14 * d
    gap = values[k - 1] - values[k]
    outside = pairs.vectors - V[:, :k] @ (V[:, :k].T @ pairs.vectors)
    assert np.linalg.norm(outside, 2) <= 2 * np.linalg.norm(stated) / gap + 1e-13 * values[0] / gap


def test_a_correction_is_what_makes_them_so(seed, monkeypatch):
    """Without it residuals are those of float32: the test above would notice."""
    from ritz.spectral.solvers import refined as module

    X = np.random.default_rng(seed).standard_normal((900, 60))
    problem, A = posed(X, 4)
    corrected = refined(problem, A)
    monkeypatch.setattr(module, "_correction", lambda G, W, theta, R, goal: np.zeros((len(G), len(theta))))
    problem, A = posed(X, 4)
    plain = refined(problem, A)
    before, after = (np.linalg.norm(pairs.residual_block, axis=0).max() for pairs in (plain, corrected))
    assert before >= 1e-9 * plain.leading()[0]
    assert after <= 1e-2 * before


@pytest.mark.parametrize("offset", [0.0, 1e2, 1e5])
@pytest.mark.parametrize("center", [True, False])
def test_the_matrix_is_as_near_as_it_says(seed, offset, center):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((3000, 50)) * 0.7 ** np.arange(50) + offset
    rough = rough_gram(Statistics(blocks_of(X), about_zero=not center), centered=center)
    Z = np.asarray(X, np.longdouble) - (X.mean(axis=0, dtype=np.longdouble) if center else 0)
    G = np.asarray(Z.T @ Z, np.float64)
    top = np.linalg.eigvalsh(G)[-1]
    error = np.linalg.norm(rough.matrix - G, 2)
    assert error <= rough.off(top)
    assert rough.off(top) <= 1e-4 * top
    assert error > 1e-9 * top or offset  # numbers of 24 bits were multiplied, not of 53


@pytest.mark.parametrize("numbers", ["equal", "two values", "halfway"])
def test_numbers_that_round_alike_are_within_what_is_said(seed, numbers):
    rng = np.random.default_rng(seed)
    low = 2.0**-25  # half of a last place of float32 numbers from 1 to 2: all are rounded the same way
    X = {
        "equal": np.tile(rng.standard_normal((2, 30)), (1000, 1)),
        "two values": rng.choice([1 / 6 + 1e-4, -1 / 6 + 1e-4], (2000, 30)),
        "halfway": 1 + rng.integers(0, 2**10, (2000, 30)) * 2.0**-10 + low * 1.5,
    }[numbers]
    rough = rough_gram(Statistics(blocks_of(X), about_zero=True), centered=False)
    G = np.asarray(np.asarray(X, np.longdouble).T @ np.asarray(X, np.longdouble), np.float64)
    top = np.linalg.eigvalsh(G)[-1]
    assert np.linalg.norm(rough.matrix - G, 2) <= rough.off(top)


def test_values_too_near_are_told_apart_in_float64(seed):
    """λ_k and λ_{k+1} a millionth apart: float32 cannot say which is which, and nothing is claimed that it cannot."""
    rng = np.random.default_rng(seed)
    U, V = (np.linalg.qr(rng.standard_normal((m, 30)))[0] for m in (500, 30))
    sigma = np.r_[2.0, 1.0 + 2e-9, 1.0, np.full(27, 0.5)]
    X = U * sigma @ V.T
    problem, A = posed(X, 2, center=False)
    pairs = refined(problem, A)
    assert pairs.completeness.ceiling >= 1.0
    assert pairs.road is None or pairs.road[0] == "moments"
    assert pairs.completeness.ceiling < pairs.leading()[-1]  # proved all the same
    assert abs(pairs.leading()[1] - (1 + 2e-9) ** 2) <= 1e-14


def test_an_eigenvalue_that_float32_hides_is_found(seed):
    """Columns whose variation is lost in 24 bits: the answer is that of float64."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((800, 20))
    X[:, 0] = 1e6 + 30 * rng.standard_normal(800)
    for center in (True, False):
        problem, A = posed(X, 3, center=center)
        pairs = refined(problem, A)
        values, _ = exact(X, center)
        assert np.all(np.abs(pairs.leading() - values[:3]) <= 1e-12 * values[0] + pairs.rounding)
        assert pairs.completeness.ceiling >= values[3] * (1 - 1e-12)


@pytest.mark.parametrize("size", [1e25, 1e-30])
def test_numbers_that_float32_does_not_hold_go_the_direct_way(seed, size):
    X = np.random.default_rng(seed).standard_normal((500, 30))
    X[7, 3] *= size if size > 1 else 1.0
    X *= 1.0 if size > 1 else size
    problem, A = posed(X, 3)
    pairs = refined(problem, A)
    values, _ = exact(X, True)
    assert pairs.road is not None
    assert np.all(np.abs(pairs.leading() - values[:3]) <= 1e-12 * values[0])


def test_rows_that_are_not_finite_are_named(seed):
    X = np.random.default_rng(seed).standard_normal((300, 20))
    X[17, 4] = np.nan
    model = forced(ritz.PCA(3))
    with pytest.raises(ValueError, match="NaN"):
        model.fit(X)


def forced(model):
    """An estimator that takes this route however small its table is."""
    planned, route = model._plan, {"solver": "refined", "side": "columns", "precision": "float32 then float64"}
    model._plan = lambda *given: replace(planned(*given), **route)
    return model


@pytest.mark.parametrize("scale", [False, True])
@pytest.mark.parametrize("make", [lambda scale: ritz.PCA(6, scale=scale), lambda scale: ritz.SVD(6)])
def test_models_agree_with_those_of_the_direct_route_and_verify(seed, make, scale):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((2000, 80)) * 0.9 ** np.arange(80) * 10.0 ** rng.uniform(-2, 2, 80) + rng.uniform(-5, 5, 80)
    model, other = forced(make(scale)).fit(X), make(scale).set_params(solver="svd").fit(X)
    top = other.singular_values_[0]
    assert model.plan_.solver == "refined"
    assert model.plan_.actual_passes in (2, 3)
    assert np.all(np.abs(model.singular_values_ - other.singular_values_) <= 1e-12 * top)
    assert np.allclose(model.components_, other.components_, atol=1e-7)
    assert np.all(model.certificate_.labelled)
    assert np.isclose(model.certificate_.total, other.certificate_.total, rtol=1e-13)
    assert model.certificate_.verify(X)


@pytest.mark.parametrize("d", [80, 200])
def test_rounding_of_scaled_columns_is_measured_in_their_own_units(seed, d, monkeypatch):
    """Whole products, as where BLAS has no kernels for small matrices: large columns do not speak for small ones."""
    monkeypatch.setattr("ritz.operators.affine.thin", lambda *_: None)
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((2000, d)) * 0.9 ** np.arange(d) * 10.0 ** rng.uniform(-2, 2, d) + rng.uniform(-5, 5, d)
    model = forced(ritz.PCA(6, scale=True)).fit(X)
    top = float(model.singular_values_[0]) ** 2
    assert model.plan_.solver == "refined"
    assert np.all(model.certificate_.width <= 1e-9 * top)
    assert model.certificate_.verify(X)


@pytest.mark.parametrize("kind", ["int64", "int32", "uint8", "bool", "long"])
@pytest.mark.parametrize("center", [True, False])
def test_whole_numbers_take_it_as_they_are_planned(seed, kind, center):
    """Plans know eight bytes a number, and whole numbers of every width are computed as such."""
    rng = np.random.default_rng(seed)
    X = np.rint(40 * rng.standard_normal((1500, 60)) * 0.9 ** np.arange(60) + 99)
    long = (X - 99).astype(np.int64) * 2**48  # beyond 2⁵³, and their means are not
    X = X > 99 if kind == "bool" else long if kind == "long" else X.clip(0, 255).astype(kind)
    model = forced(ritz.PCA(4) if center else ritz.SVD(4)).fit(X)
    values, _ = exact(X.astype(np.float64), center)
    told = model.certificate_
    assert model.plan_.solver == "refined" or kind == "long"  # whose squares float32 need not hold
    assert np.all(np.abs(told.values - values[:4]) <= 1e-12 * values[0])
    assert np.all((told.lower <= values[:4] * (1 + 1e-14)) & (values[:4] * (1 - 1e-14) <= told.upper))
    assert told.verify(X)


def test_plans_say_what_was_done_instead(seed):
    X = np.random.default_rng(seed).standard_normal((500, 30)) * 1e-30
    reasons = forced(ritz.PCA(3)).fit(X).plan_.reasons
    assert reasons[0] == "refined was planned"
    assert reasons[-2:] == ("float32 does not hold these rows as they have to be", "so moments formed it in float64")


def test_plans_take_it_where_it_saves_and_nowhere_else():
    tall = Shape(200_000, 784)
    assert choose(tall, 10).solver == "refined"
    assert choose(tall, 10).passes == 2
    assert choose(tall, 10, solver="moments").precision == "float64"
    assert choose(replace(tall, itemsize=4), 10).solver == "moments"
    assert choose(replace(tall, weighted=True), 10).solver == "moments"
    assert choose(replace(tall, outside=True), 10).solver != "refined"
    assert choose(tall, 400).solver == "moments"
    assert choose(tall, 10, tol=1e-9).solver != "refined"
    assert choose(tall, 10, needs_all=True).solver == "moments"
    assert choose(Shape(5_000, 500), 10).solver != "refined"
    assert choose(Shape(200_000, 100), 10).solver == "moments"


def test_limits_of_memory_hold_for_it_too():
    tall = Shape(200_000, 784)
    plan = choose(tall, 10)
    assert plan.solver == "refined"
    assert choose(tall, 10, memory=plan.bytes).solver == "refined"
    assert choose(tall, 10, memory=0.5 * plan.bytes).bytes <= 0.5 * plan.bytes


def test_scales_are_those_that_the_same_pass_has_learned(seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((1000, 25)) * 10.0 ** rng.uniform(-3, 3, 25) + 1.0
    stats = Statistics(blocks_of(X))
    A = Scaled(Centered(Dense(X, stats), stats), lambda: np.sqrt(stats.column.squares / 999))
    rough = A.rough()
    assert A.passes() == 1
    R = np.corrcoef(X.T) * 999
    assert np.linalg.norm(rough.matrix - R, 2) <= rough.off(np.linalg.eigvalsh(R)[-1])


@pytest.mark.parametrize("value", [0.1, 1.1])
@pytest.mark.parametrize("center", [True, False])
def test_rounding_of_small_columns_is_seen_beside_a_large_one(seed, value, center):
    """Columns that round alike, whose errors add up, beside a column of independent numbers 10⁵ times as large."""
    rng = np.random.default_rng(seed)
    X = np.repeat(rng.choice([value, -value], (20_000, 1)), 60, axis=1)
    X[:, 0] = 1e5 * rng.standard_normal(20_000)
    stats = Statistics(blocks_of(X), about_zero=not center)
    rows = Dense(X, stats)
    A = Scaled(Centered(rows, stats) if center else rows, lambda: np.sqrt(stats.column.squares / 19_999))
    rough = A.rough()
    Z = np.asarray(X, np.longdouble) - (X.mean(axis=0, dtype=np.longdouble) if center else 0)
    Z /= A.scale
    G = np.asarray(Z.T @ Z, np.float64)
    top = np.linalg.eigvalsh(G)[-1]
    assert np.linalg.norm(rough.matrix - G, 2) <= rough.off(top)
    assert rough.off(top) <= 1e-4 * top


@pytest.mark.parametrize("small", [2.0**-20, 1e-22, 1e-25, 1e-40])
@pytest.mark.parametrize("kind", ["gauss", "two values"])
def test_scaled_columns_are_as_near_as_they_say_whatever_lies_beside_them(seed, kind, small):
    """Beside a large column of numbers that nothing rounds, columns that do, or that float32 squares to nothing."""
    rng = np.random.default_rng(seed)
    n, d = 3000, 30
    X = {"gauss": rng.standard_normal((n, d)), "two values": rng.choice([1 / 6 + 1e-4, -1 / 6 + 1e-4], (n, d))}[kind]
    X[:, 1:] *= small
    X[:, 0] = rng.choice([-1.0, 1.0], n)
    for center in (True, False):
        stats = Statistics(blocks_of(X), about_zero=not center)
        rows = Dense(X, stats)
        A = Scaled(Centered(rows, stats) if center else rows, lambda: np.sqrt(stats.column.squares / (n - 1)))  # noqa: B023
        rough = A.rough()
        Z = about = np.asarray(X, np.longdouble) - X.mean(axis=0, dtype=np.longdouble)
        Z = (Z if center else np.asarray(X, np.longdouble)) / np.sqrt(np.sum(about * about, axis=0) / (n - 1))
        R = np.asarray(Z.T @ Z, np.float64)
        top = np.linalg.eigvalsh(R)[-1]
        assert np.linalg.norm(rough.matrix - R, 2) <= rough.off(top) <= 2e-4 * top


@pytest.mark.parametrize("offset", [1e9, 1e12])
@pytest.mark.parametrize("about_zero", [True, False])
def test_means_that_are_added_again_round_too(seed, offset, about_zero):
    X = np.random.default_rng(seed).standard_normal((1000, 20)) + offset
    rough = rough_gram(Statistics(blocks_of(X), about_zero=about_zero), centered=False)
    G = np.asarray(X, np.longdouble).T @ np.asarray(X, np.longdouble)
    top = float(np.linalg.eigvalsh(np.asarray(G, np.float64))[-1])
    assert np.linalg.norm(np.asarray(rough.matrix - G, np.float64), 2) <= rough.off(top) <= 1e-12 * top


@pytest.mark.parametrize("size", [1e-23, 1e-30, 1e-40])
def test_columns_whose_squares_float32_does_not_hold_hide_nothing(seed, size):
    """Every column is an eigenvector, and a Gram matrix of zeros takes any for the first ones."""
    rng = np.random.default_rng(seed)
    X = np.zeros((2000, 40))
    X[np.arange(2000), rng.choice(40, 2000, p=np.arange(40, 0, -1) / 820)] = size
    problem, A = posed(X, 3, center=False)
    pairs = refined(problem, A)
    values = np.sort(np.sum(X * X, axis=0))[::-1]
    assert np.all(np.abs(pairs.leading() - values[:3]) <= 1e-12 * values[0])
    assert pairs.completeness.ceiling >= values[3] * (1 - 1e-12)


@pytest.mark.parametrize("sizes", [(10.0, -20.0), (4.0, -30.0), (0.0, -8.0)])
def test_columns_of_sizes_far_apart_end_no_fit(seed, sizes):
    """Values that float32 does not tell from zero, whose corrections would be of any length, and residuals of none."""
    for some in range(40):
        rng = np.random.default_rng([seed, some])
        X = rng.standard_normal((200, 14)) * 10.0 ** rng.permutation(np.linspace(*sizes, 14))
        problem, A = posed(X, 1 + some % 8, center=False)
        pairs = refined(problem, A)
        values = np.linalg.svd(X, compute_uv=False) ** 2
        assert np.all(np.abs(pairs.leading() - values[: problem.k]) <= 1e-11 * values[0])
        assert pairs.completeness.ceiling >= values[problem.k] * (1 - 1e-9)


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize(("large", "k", "road"), [(1e5, 3, "moments"), (1e5, 1, None), (10.0, 3, None)])
def test_a_column_of_far_larger_numbers_costs_no_pass_in_vain(seed, center, large, k, road):
    X = np.random.default_rng(seed).standard_normal((4_000, 40)) * 0.6 ** np.arange(40)
    X[:, 7] *= large / 0.6**7
    problem, A = posed(X, k, center=center)
    pairs = refined(problem, A)
    assert (None if pairs.road is None else pairs.road[0]) == road
    straight, B = posed(X, k, center=center)
    moments(straight, B)
    assert A.passes() == (B.passes() if road else 2)
    np.testing.assert_allclose(pairs.values[:k], exact(X, center)[0][:k], rtol=1e-9)
