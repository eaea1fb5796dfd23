"""Block Lanczos: its float32 chain, repeated eigenvalues, restarts, chains that end, and what its answer proves.

Truth is a known spectrum, or LAPACK's decomposition of the dense table.
"""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp

import ritz
from ritz._core.linalg import HOST
from ritz._core.random import gaussian_rows
from ritz._core.tridiagonal import largest_value, tridiagonal_pairs
from ritz.operators import Centered, Gram, Sparse, Symmetric
from ritz.spectral import constants
from ritz.spectral.problem import SpectralProblem
from ritz.spectral.solvers import climbing
from ritz.spectral.solvers import lanczos as module
from ritz.spectral.solvers.chain import Chain
from ritz.spectral.solvers.lanczos import lanczos
from ritz.spectral.solvers.missed import search_could_prove
from ritz.spectral.solvers.strand import Strand


def rows(n, d, density, seed=0, decay=0.8):
    """Sparse rows whose columns have uneven scales, so that the spectrum decays."""
    rng = np.random.default_rng(seed)
    X = sp.random(n, d, density, format="csr", random_state=seed, data_rvs=rng.standard_normal)
    return sp.csr_matrix(X @ sp.diags(1.0 / (1 + np.arange(d)) ** decay))


def held(c, true):
    """Every enclosure holds: of its own eigenvalue where it is labelled, of some eigenvalue otherwise."""
    slack = 1e-13 * true[0]
    for i in range(len(c.values)):
        own = true[i : i + 1] if c.labelled[i] else true
        assert np.any((c.lower[i] - slack <= own) & (own <= c.upper[i] + slack)), i
    assert true[len(c.values)] <= c.ceiling + slack


@pytest.fixture
def early(monkeypatch):
    """Chains in float32 on short sides as well."""
    monkeypatch.setattr(module, "LANCZOS_NARROW", 100)
    monkeypatch.setattr(module, "SINGLE_NARROW", 100)
    monkeypatch.setattr(constants, "LITTLE", 0)


@pytest.fixture(params=["single vectors", "blocks"])
def climb(request, monkeypatch):
    """The name of what climbs, for chains of both kinds."""
    if request.param == "blocks":
        monkeypatch.setattr(module, "_single", lambda problem: False)
    return "_climb" if request.param == "blocks" else "climb_strand"


def seen(monkeypatch, name):
    """What a function of the solver was called with and gave."""
    calls, original = [], getattr(module, name)

    def noted(*arguments, **options):
        calls.append((arguments, original(*arguments, **options)))
        return calls[-1][1]

    monkeypatch.setattr(module, name, noted)
    return calls


@pytest.mark.parametrize("turned", [False, True], ids=["tall", "wide"])
@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("k", [3, 24])
def test_a_chain_in_float32_is_measured_in_float64(monkeypatch, early, climb, k, center, turned):
    X = rows(700, 260, 0.08)
    X = X.T.tocsr() if turned else X
    climbed = seen(monkeypatch, climb)
    model = ritz.PCA(k, center=center, solver="lanczos", mergeable=False).fit(X)
    assert [made.chain.dtype for _, made in climbed] == [np.dtype(np.float32)]
    assert model.certificate_.precision == "float32 iterations, float64 finish"
    D = X.toarray()
    true = np.linalg.svd(D - D.mean(axis=0) if center else D, compute_uv=False) ** 2
    assert model.certificate_.converged
    np.testing.assert_allclose(model.certificate_.values, true[:k], rtol=1e-8)
    held(model.certificate_, true)
    assert np.all(model.certificate_.labelled[: k // 2])
    assert model.verify(X)


def test_numbers_out_of_the_range_of_float32_are_iterated_in_float64(monkeypatch, early, climb):
    X = rows(400, 200, 0.05)
    climbed = seen(monkeypatch, climb)
    small = ritz.SVD(3, solver="lanczos").fit(X * 1e-25)
    assert [(str(made.chain.dtype), made.held) for _, made in climbed] == [("float64", True)]
    np.testing.assert_allclose(
        small.singular_values_ * 1e25, ritz.SVD(3, solver="svd").fit(X).singular_values_, rtol=1e-9
    )


def test_means_far_above_spreads_are_iterated_in_float64(monkeypatch, early, climb):
    rng = np.random.default_rng(3)
    D = np.where(rng.random((400, 200)) < 0.15, rng.standard_normal((400, 200)), 0)
    D[:, :2] = 1e5 + rng.standard_normal((400, 2))
    climbed = seen(monkeypatch, climb)
    A = Sparse(sp.csr_matrix(D))
    mean = D.mean(axis=0)
    pairs = lanczos(SpectralProblem(Centered(A, mean), 2), Gram(Centered(A, mean)))
    assert [(str(made.chain.dtype), made.held) for _, made in climbed] == [("float32", False), ("float64", True)]
    true = np.linalg.svd(D - mean, compute_uv=False) ** 2
    assert np.all(np.abs(pairs.leading() - true[:2]) <= pairs.rounding + 1e-9 * true[0])


@pytest.mark.parametrize("copies", [5, 12, 30])
def test_repeated_eigenvalues_are_found_as_often_as_they_are_repeated(copies):
    p, k = 300, 40
    values = np.concatenate([np.full(copies, 5.0), np.linspace(3, 1, p - copies)])
    Q = np.linalg.qr(np.random.default_rng(0).standard_normal((p, p)))[0]
    M = Symmetric((Q * values) @ Q.T, positive=True)
    pairs = lanczos(SpectralProblem(M, k, kind="eigh"), M)
    np.testing.assert_allclose(pairs.leading(), values[:k], rtol=1e-9)


@pytest.mark.parametrize(("copies", "k", "rest"), [(20, 12, 1.0), (29, 29, 0.0), (29, 33, 0.0)])
def test_a_chain_that_ends_looks_again(copies, k, rest):
    """Two eigenvalues alone: a block of eight ends after two products with eight copies of each."""
    p = 120
    values = np.concatenate([np.full(copies, 2.0), np.full(p - copies, rest)])
    Q = np.linalg.qr(np.random.default_rng(1).standard_normal((p, p)))[0]
    M = Symmetric((Q * values) @ Q.T, positive=True)
    found = lanczos(SpectralProblem(M, k, kind="eigh"), M).leading()
    np.testing.assert_allclose(found, values[:k], atol=1e-9)


def test_a_rank_that_is_nearly_exhausted_hides_no_copies():
    """Eigenvalues of nearly zero converge at once, and with them the chain, before all copies have been seen."""
    p, k = 240, 29
    rng = np.random.default_rng(2)
    values = np.concatenate([np.full(29, 8.0), 1e-11 * rng.random(p - 29)])
    Q = np.linalg.qr(rng.standard_normal((p, p)))[0]
    M = Symmetric((Q * values) @ Q.T, positive=True)
    pairs = lanczos(SpectralProblem(M, k, kind="eigh"), M)
    np.testing.assert_allclose(pairs.leading(), values[:k], rtol=1e-9)
    assert pairs.completeness.ceiling < 1e-3


@pytest.mark.parametrize("tol", [1e-6, 1e-13])
def test_restarts_change_nothing(monkeypatch, climb, tol):
    X = rows(600, 400, 0.03, decay=0.1)
    monkeypatch.setattr(module, "lanczos_columns", lambda p, k, itemsize: 2 * k + 60)
    monkeypatch.setattr(climbing, "lanczos_columns", lambda p, k, itemsize: 2 * k + 30)
    A = Sparse(X)
    climbed = seen(monkeypatch, climb)
    pairs = lanczos(SpectralProblem(A, 10, tol=tol), Gram(A))
    assert climbed[0][1].pure == 0
    true = np.linalg.svd(X.toarray(), compute_uv=False) ** 2
    np.testing.assert_allclose(pairs.leading(), true[:10], rtol=1e-11 if tol > 1e-10 else 1e-13)
    assert pairs.converged


def test_what_was_missed_is_found_with_a_wider_block(monkeypatch):
    """A chain that claims to have converged without one of the leading pairs: the search tells."""
    monkeypatch.setattr(module, "_single", lambda problem: False)
    X = rows(600, 300, 0.05)
    true = np.linalg.svd(X.toarray(), compute_uv=False) ** 2
    first = np.linalg.svd(X.toarray(), full_matrices=False)[2][0]
    honest, widths = module._climb, []

    def blind(A, problem, dtype, width, target, amplified, advance, begun):
        widths.append(width)
        climbed = honest(A, problem, dtype, width, target, amplified, advance, begun)
        if len(widths) == 1:  # as if the leading direction had not been in the start
            chain = climbed.chain
            lost = int(np.argmax(np.abs(first @ chain.vectors(12))))
            order = [i for i in range(chain.m) if i != lost]
            chain.ritz()
            chain.Y, chain.theta = chain.Y[:, order], chain.theta[order]
            monkeypatch.setattr(chain, "ritz", lambda top=None: None)
        return climbed

    monkeypatch.setattr(module, "_climb", blind)
    A = Sparse(X)
    pairs = lanczos(SpectralProblem(A, 12), Gram(A))
    assert len(widths) == 2
    assert widths[1] > widths[0]
    np.testing.assert_allclose(pairs.leading(), true[:12], rtol=1e-9)


@pytest.mark.parametrize("full", [False, True])
def test_a_chain_that_had_not_come_far_enough_is_gone_on_with(monkeypatch, full):
    """By a loose tolerance: no product is made twice, and a full basis is restarted first."""
    monkeypatch.setattr(module, "LANCZOS_SINGLE", 0)
    X = rows(600, 300, 0.05, decay=0.3)
    true = np.linalg.svd(X.toarray(), compute_uv=False) ** 2
    climb, seen = module._climb, []

    def watched(*given):
        climbed = climb(*given)
        if full and not seen:
            climbed.chain.capacity = climbed.chain.m
        seen.append((given[4], climbed.chain, climbed.steps, climbed.chain.m))
        return climbed

    found = module.by_chain
    monkeypatch.setattr(module, "_climb", watched)
    monkeypatch.setattr(module, "by_chain", lambda *given, **more: (found(*given, **more)[0], len(seen) == 1))
    A = Sparse(X)
    pairs = lanczos(SpectralProblem(A, 12, tol=1e-3), Gram(A))
    (loose, first, few, _), (tight, second, many, _) = seen
    assert tight == max(0.1 * loose, module.UNSETTLED)
    assert first is second
    assert few < many
    assert pairs.iterations <= many + module.REFINED
    np.testing.assert_allclose(pairs.leading(), true[:12], rtol=1e-4)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_chain_knows_its_residuals_without_a_product(dtype):
    p, rng = 200, np.random.default_rng(4)
    Q = np.linalg.qr(rng.standard_normal((p, p)))[0]
    S = (Q * 0.9 ** np.arange(p)) @ Q.T
    chain, block = Chain(p, 60, HOST, dtype), np.linalg.qr(gaussian_rows(0, 1, 0, p, 6))[0]
    small = 1e-12 if dtype is np.float64 else 1e-5
    for step in range(16):
        block = chain.extend(block, (S @ block).astype(dtype))
        V = np.asarray(chain.V, np.float64)
        assert np.abs(V.T @ V - np.eye(chain.m)).max() < small
        assert np.abs(V.T @ block).max() < small
        chain.ritz()
        k = min(6, chain.m)
        vectors, images = chain.pairs(k)
        np.testing.assert_allclose(images, S @ vectors, atol=10 * small)
        true = np.linalg.norm(S @ vectors - vectors * chain.theta[:k], axis=0)
        np.testing.assert_allclose(chain.residuals(k), true, atol=10 * small)
        if chain.room() < 6:
            chain.restart(20)
            assert step > 5


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_chain_of_single_vectors_knows_its_residuals(dtype):
    p, rng = 200, np.random.default_rng(4)
    Q = np.linalg.qr(rng.standard_normal((p, p)))[0]
    S = (Q * 0.9 ** np.arange(p)) @ Q.T
    chain = Strand(lambda v: (S @ v).astype(dtype), p, 40, dtype)
    chain.begin(gaussian_rows(0, 1, 0, p, 1)[:, 0])
    small = 1e-12 if dtype is np.float64 else 1e-5
    for _ in range(60):
        assert chain.extend()
        chain.ritz()
        k = min(6, chain.m)
        V, images = chain.pairs(k)
        np.testing.assert_allclose(V.T @ V, np.eye(k), atol=small)
        np.testing.assert_allclose(images, S @ V, atol=10 * small)
        true = np.linalg.norm(S @ V - V * chain.theta[:k], axis=0)
        np.testing.assert_allclose(chain.residuals(k), true, atol=10 * small)
        if chain.m == chain.capacity:
            chain.restart(15)


def test_copies_that_one_vector_cannot_see_are_found():
    """Every eigenvalue thrice: single vectors see each once, the search tells, and a block goes on."""
    X = rows(400, 220, 0.08)
    true = np.repeat(np.linalg.svd(X.toarray(), compute_uv=False) ** 2, 3)
    A = Sparse(sp.block_diag([X, X, X], format="csr"))
    pairs = lanczos(SpectralProblem(A, 9), Gram(A))
    np.testing.assert_allclose(pairs.leading(), true[:9], rtol=1e-9)


@pytest.mark.parametrize("k", [2, 6])
def test_a_chain_of_single_vectors_that_ends_leaves_it_to_a_block(k):
    """Rows of rank four."""
    left, right = (np.random.default_rng(s).standard_normal((400, 4)) for s in (0, 1))
    X = sp.csr_matrix(np.where(np.arange(400)[:, None] % 7 == 0, left, 0) @ right.T)
    true = np.linalg.svd(X.toarray(), compute_uv=False) ** 2
    pairs = lanczos(SpectralProblem(Sparse(X), k), Gram(Sparse(X)))
    np.testing.assert_allclose(pairs.leading(), true[:k], atol=1e-9 * true[0])


@pytest.mark.parametrize("different", [5, 9, 14])
@pytest.mark.parametrize("copies", [2, 6, 40])
def test_no_repeated_value_is_missed_by_single_vectors(climb, copies, different):
    """One vector sees an eigenvalue once: others are looked for, and found by a block."""
    sigma = np.repeat(np.linspace(3.0, 1.0, different), copies)
    n = max(400, len(sigma))
    A = Sparse(sp.csr_array(sp.diags_array(np.concatenate([sigma, np.full(n - len(sigma), 1e-3)]))))
    pairs = lanczos(SpectralProblem(A, 5), Gram(A))
    np.testing.assert_allclose(pairs.leading(), np.sort(np.square(sigma))[::-1][:5], rtol=1e-9)


def test_a_chain_that_has_ended_with_enough_is_not_begun_anew(monkeypatch):
    rng = np.random.default_rng(3)
    X = sp.random_array((900, 400), density=0.05, format="csr", rng=rng)
    X.data *= np.exp(-np.arange(400) / 2)[X.indices]
    blocks = seen(monkeypatch, "_climb")
    A = Sparse(X)
    pairs = lanczos(SpectralProblem(A, 2), Gram(A))
    true = np.linalg.svd(X.toarray(), compute_uv=False) ** 2
    assert not blocks
    assert pairs.converged
    np.testing.assert_allclose(pairs.leading(), true[:2], rtol=1e-11)


@pytest.mark.parametrize("offset", [0.0, 1e3])
@pytest.mark.parametrize("shape", [(420, 330), (330, 420)], ids=["tall", "wide"])
def test_dense_rows_are_multiplied_by_single_vectors(monkeypatch, shape, offset, seed):
    rng = np.random.default_rng(seed)
    X = offset + rng.standard_normal(shape) / (1 + np.arange(shape[1]))
    climbed = seen(monkeypatch, "climb_strand")
    model = ritz.PCA(4, solver="lanczos", mergeable=False).fit(X)
    assert [made.chain.dtype for _, made in climbed] == [np.dtype(np.float32)]
    true = np.linalg.svd(X - X.mean(axis=0), compute_uv=False) ** 2
    np.testing.assert_allclose(model.certificate_.values, true[:4], rtol=1e-8)
    held(model.certificate_, true)
    assert model.certificate_.converged
    assert model.certificate_.labelled.all()


@pytest.mark.parametrize(("dtype", "off"), [(np.float32, 3e-6), (np.float64, 1e-13)])
def test_settled_vectors_of_a_chain_are_orthonormal_and_their_residual_is_told(dtype, off, seed):
    rng = np.random.default_rng(seed)
    values = np.concatenate([[9.0, 7.0, 4.0], np.linspace(1, 0.1, 197)])
    Q = np.linalg.qr(rng.standard_normal((200, 200)))[0]
    M = (Q * values) @ Q.T
    chain = Strand(lambda v: (M @ v).astype(dtype), 200, 60, dtype)
    chain.begin(rng.standard_normal(200))
    for _ in range(24):
        chain.extend()
    chain.ritz()
    V, theta, squares = chain.settled(6)
    assert np.max(np.abs(V @ V.T - np.eye(6))) < 1e-13
    true, Y = np.linalg.eigh(V @ M @ V.T)
    true, Y = true[::-1], Y[:, ::-1]
    np.testing.assert_allclose(theta, true, atol=off)
    R = M @ (V.T @ Y) - (V.T @ Y) * true
    size = np.linalg.norm(R, 2)
    assert abs(size - np.sum(squares) ** 0.5) < off  # one direction
    np.testing.assert_allclose(squares, np.sum(R * R, axis=0), atol=off * (size + off))


def test_a_tridiagonal_matrix_is_decomposed_as_any(seed):
    rng = np.random.default_rng(seed)
    for m in (1, 2, 3, 40, 170):
        T = np.diag(rng.standard_normal(m)) + np.diag(beside := rng.standard_normal(m - 1), 1) + np.diag(beside, -1)
        theta, Y = tridiagonal_pairs(T)
        true = np.linalg.eigvalsh(T)[::-1]
        np.testing.assert_allclose(theta, true, atol=1e-12)
        np.testing.assert_allclose(Y.T @ Y, np.eye(m), atol=1e-12)
        np.testing.assert_allclose(T @ Y, Y * theta, atol=1e-12)
        assert largest_value(T) == pytest.approx(true[0], abs=1e-12)


@pytest.mark.parametrize("far", [0.0, 2.0**20])
@pytest.mark.parametrize("shape", [(30, 31), (64, 64), (400, 310)])
def test_a_chain_that_ends_with_one_of_many_equal_values(shape, far, seed):
    rng = np.random.default_rng(seed)
    U, V = (np.linalg.qr(rng.standard_normal((side, min(shape) // 2)))[0] for side in shape)
    X = U @ V.T + far
    model = ritz.PCA(1, solver="lanczos", tol=1e-3).fit(X)
    true = np.linalg.svd(X - X.mean(axis=0), compute_uv=False) ** 2 / (shape[0] - 1)
    assert model.explained_variance_[0] == pytest.approx(true[0], rel=1e-3)
    assert true[0] <= model.certificate_.upper[0] * (1 + 1e-6)


def test_a_search_is_asked_for_nothing_above_zero():
    assert search_could_prove(np.array([1.0, 0.0, 0.0]), 1, 1, 50)
    assert search_could_prove(np.array([1.0, -1e-9]), 1, 1, 50)
    assert not search_could_prove(np.array([0.0, -1e-9]), 1, 1, 50)


def test_a_chain_goes_on_while_its_last_value_still_grows(monkeypatch):
    """Residuals are below the tolerance before the k-th Ritz value has come near the k-th eigenvalue."""
    eigenvalues = np.arange(1, 20_001) ** -0.72
    X = sp.diags_array(np.sqrt(eigenvalues)).tocsr()
    errors = {}
    for allowed in (module.GROWS, np.inf):
        monkeypatch.setattr(module, "GROWS", allowed)
        calls = seen(monkeypatch, "_climb")
        svd = ritz.SVD(100, tol=1e-2, solver="lanczos", random_state=2).fit(X)
        chain = calls[0][-1].chain
        errors[allowed] = float(np.max(np.abs(svd.singular_values_ / np.sqrt(eigenvalues[:100]) - 1)))
        assert (chain.growth(100) <= 1e-3) == (allowed < 1)
        H = chain._H[: chain.m, : chain.m]
        before = np.linalg.eigvalsh(H[:-16, :-16])[-100]
        assert chain.growth(100) == pytest.approx(np.linalg.eigvalsh(H)[-100] - before, abs=1e-12)
    assert errors[0.1] < 0.5 * errors[np.inf]


@pytest.mark.parametrize(("sigma", "measured"), [(0.7 ** np.arange(400), 3), (np.ones(400), 8)])
def test_vectors_beyond_the_answer_are_measured_only_where_others_are_near(monkeypatch, sigma, measured):
    rows = sp.random_array((4_000, 400), density=0.02, format="csr", rng=np.random.default_rng(0))
    rows.data = np.random.default_rng(1).standard_normal(rows.nnz) * sigma[rows.indices]
    seen, refined = [], module._refined

    def noted(M, chain, k, many, *rest):
        seen.append(many)
        return refined(M, chain, k, many, *rest)

    monkeypatch.setattr(module, "_refined", noted)
    model = ritz.SVD(3, solver="lanczos").fit(rows)
    truth = np.linalg.svd(rows.toarray(), compute_uv=False)
    assert seen == [measured]
    assert np.abs(model.singular_values_**2 - truth[:3] ** 2).max() <= 1e-9 * truth[0] ** 2
    assert model.certificate_.residuals.max() <= 1e-6 * truth[0] ** 2


@pytest.mark.parametrize(
    ("ceiling", "residual", "measured"), [(0.9, 0.005, 2), (1.1, 0.005, 8), (np.inf, 0.0, 8), (0.9, 0.02, 8)]
)
def test_vectors_beyond_the_answer_are_left_out_only_if_it_has_settled_and_stands_apart(ceiling, residual, measured):
    theta = np.array([2.0, 1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4])
    chain = SimpleNamespace(m=8, theta=theta, residuals=lambda k: np.full(k, residual * 1e-3 * theta[0]))
    assert module._measured(chain, 2, ceiling, 1e-3) == measured
