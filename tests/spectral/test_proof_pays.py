"""An iteration that cannot prove its answer gives way to the direct route, where that costs about the same."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import ritz
from ritz.spectral import solve as solving
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
