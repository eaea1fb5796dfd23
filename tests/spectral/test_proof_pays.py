"""An iteration that cannot prove its answer gives way to the direct route, where that costs about the same."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

import ritz
from ritz import operators as op
from ritz.spectral import solve as solving
from ritz.spectral.course import Course, Crowd, Watch
from ritz.spectral.problem import Pairs, SpectralProblem
from ritz.spectral.solvers import factored
from ritz.spectral.solvers.factored import by_gram
from ritz.spectral.solvers.missed import NOTHING


@pytest.fixture
def flat(seed):
    """Sparse rows whose eigenvalues lie so close that an iteration proves few of them."""
    return sp.random(2200, 1700, density=0.01, random_state=seed, format="csr")


def test_what_was_not_proved_is_found_again_directly(flat, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(solving, "PROOF_PRICE", 0.0)
        iterated = ritz.SVD(20).fit(flat)
    if iterated.certificate_.labelled.all():
        pytest.skip("the iteration proved its answer by itself")
    monkeypatch.setattr(solving, "PROOF_PRICE", 20.0)
    direct = ritz.SVD(20).fit(flat)
    assert direct.certificate_.labelled.all()
    assert direct.plan_.solver == "moments"
    assert any("not proved that no component was missed" in reason for reason in direct.plan_.reasons)
    np.testing.assert_allclose(direct.singular_values_, np.linalg.svd(flat.toarray())[1][:20], rtol=1e-10)


def test_what_was_not_proved_is_proved_by_a_factor_of_the_gram_matrix(seed, monkeypatch):
    """Where a proof may cost so much, a factor gives it, of either side: no eigenvectors are needed again."""
    monkeypatch.setattr("ritz.spectral.constants.SPARSE_PROOF", 10.0)
    X = sp.random_array((2500, 600), density=0.027, format="csr", rng=np.random.default_rng(seed))
    for turned in (X, sp.csr_array(X.T)):
        model = ritz.PCA(10).fit(turned)
        certificate = model.certificate_
        dense = turned.toarray() - turned.toarray().mean(axis=0)
        values = np.linalg.svd(dense, compute_uv=False) ** 2
        assert certificate.labelled.all()
        assert (certificate.lower <= values[:10]).all()
        assert (values[:10] <= certificate.upper).all()
        assert certificate.ceiling >= values[10]
        assert model.plan_.solver == "lanczos"
        assert "Cholesky" in str(certificate)


def test_a_factor_of_the_gram_matrix_finds_what_was_missed(seed):
    """The second of ten eigenvalues is left out: what is below the tenth found is not all of the rest."""
    X = sp.random_array((900, 300), density=0.05, format="csr", rng=np.random.default_rng(seed))
    A = op.Sparse(X)
    _, values, V = np.linalg.svd(X.toarray(), full_matrices=False)
    problem = SpectralProblem(A, k=9)
    taken = np.delete(np.arange(11), 1)
    for kept, proved in ((np.arange(10), True), (taken, False)):
        theta = values[kept] ** 2
        pairs = Pairs(
            theta, V[kept[:9]].T, np.zeros((300, 9)), None, NOTHING, True, 2.0**-53, "float64", 1
        )  # fmt: skip
        found = by_gram(problem, A, pairs)
        assert (found is not None) == proved
        if found is not None:
            assert values[9] ** 2 <= found.ceiling < values[8] ** 2


def test_a_road_that_a_factor_is_counted_for_has_it_in_the_end():
    """Kept to because a factor is cheaper than the direct route, it is proved, whatever rounding of costs says."""
    plain = Course(1e-5, 600)
    direct = 1.45 * plain.cost(40, 1)
    course = replace(plain, others=(("moments", direct),), factor=0.3 * direct, spare=0.1, reach=0.0)
    watch = Watch(course, 1e-6)
    assert not watch.factor_pays(20, 5)
    assert watch._cheaper(20, 20, 1e-3, None, Crowd(40.0, 0.05)) is None
    assert watch.factor_pays(20, 5)
    assert Watch(replace(course, factor=math.inf), 1e-6)._cheaper(20, 20, 1e-3, None, Crowd(40.0, 0.05)) is not None


def test_residuals_that_have_had_no_occasion_to_fall_leave_no_road():
    """A single chain of 1.5·k columns says nothing of the k-th pair; the bulk is seen all the same."""
    plain = Course(1e-5, 600)
    course = replace(plain, others=(("moments", 0.5 * plain.cost(100, 1)),))
    for early in (True, False):
        watch = Watch(course, 1e-6)
        looks = [watch._cheaper(products, products, 2e-2, None, None, early) for products in (100, 110, 120, 130, 140)]
        assert all(look is None for look in looks) == early
    assert Watch(course, 1e-6)._cheaper(100, 100, 2e-2, None, Crowd(400.0, 0.5), True) is not None


def test_a_route_that_was_asked_for_is_kept(flat):
    assert ritz.SVD(20, solver="lanczos").fit(flat).plan_.solver == "lanczos"


def test_a_wide_table_is_proved_on_its_rows(seed, monkeypatch):
    """An iteration on the columns of a wide table gives way to the Gram matrix of its rows, the smaller one."""
    monkeypatch.setattr(solving, "PROOF_PRICE", 1e9)
    monkeypatch.setattr("ritz.spectral.solvers.krylov.by_space", lambda *_, **__: NOTHING)  # as if nothing were proved
    monkeypatch.setattr("ritz.spectral.plan._by_vectors", lambda shape: False)
    X = np.random.default_rng(seed).standard_normal((1600, 6300)) * np.arange(1, 6301) ** -0.5
    model = ritz.SVD(30).fit(X)
    assert any("was not proved" in reason for reason in model.plan_.reasons)
    assert (model.plan_.solver, model.plan_.side) == ("moments", "rows")
    values = np.linalg.eigvalsh(X @ X.T)[::-1][:30]
    np.testing.assert_allclose(model.singular_values_, np.sqrt(values), rtol=1e-10)


@pytest.mark.parametrize(("shape", "k"), [((600, 600), 5), ((900, 500), 3)])
def test_noise_in_a_dense_table_is_proved(shape, k):
    """An iteration with single vectors finds eigenvalues that hardly decay quickly, and proves nothing."""
    X = np.random.default_rng(3).standard_normal(shape)
    model = ritz.SVD(k).fit(X)
    assert model.certificate_.labelled.all()
    np.testing.assert_allclose(model.singular_values_, np.linalg.svd(X, compute_uv=False)[:k], rtol=1e-10)


def test_the_trace_of_a_whole_chain_proves_what_the_answer_alone_does_not(seed):
    """Blocks find few components of well-filled sparse rows, and all that they have met counts in the proof."""
    X = sp.random_array((6_000, 1_000), density=0.2, format="csr", rng=np.random.default_rng(seed))
    X = sp.csr_array(X.multiply(np.exp(-np.arange(1_000) / 10))) @ sp.eye_array(1_000, format="csr")
    model = ritz.SVD(10, solver="lanczos").fit(sp.csr_array(X))
    assert model.certificate_.labelled.all()
    np.testing.assert_allclose(model.singular_values_, np.linalg.svd(X.toarray(), compute_uv=False)[:10], rtol=1e-10)


def test_noise_in_well_filled_sparse_rows_is_left_early_and_proved(seed):
    X = sp.random_array((6_000, 800), density=0.3, format="csr", rng=np.random.default_rng(seed))
    X.data -= 0.5
    model = ritz.SVD(10).fit(X)
    assert model.certificate_.labelled.all()
    assert model.plan_.solver == "moments"
    np.testing.assert_allclose(model.singular_values_, np.linalg.svd(X.toarray(), compute_uv=False)[:10], rtol=1e-10)


def test_a_factor_of_the_gram_matrix_counts_how_far_that_is_off(seed, monkeypatch):
    X = sp.random_array((900, 300), density=0.05, format="csr", rng=np.random.default_rng(seed))
    _, values, V = np.linalg.svd(X.toarray(), full_matrices=False)
    theta, ceilings = values[:3] ** 2, []
    pairs = Pairs(theta, V[:1].T, np.zeros((300, 1)), None, NOTHING, True, 2.0**-53, "float64", 1)
    gap = float(theta[0] - theta[1])
    for error in (0.0, 0.25 * gap):
        monkeypatch.setattr(factored, "gram_error", lambda *_, error=error: error)
        ceilings.append(by_gram(SpectralProblem(op.Sparse(X), k=1), op.Sparse(X), pairs).ceiling)
    assert np.isclose(ceilings[1] - ceilings[0], 0.25 * gap)
    monkeypatch.setattr(factored, "gram_error", lambda *_: 0.6 * gap)
    assert by_gram(SpectralProblem(op.Sparse(X), k=1), op.Sparse(X), pairs) is None
