"""The trace outside of settled Ritz vectors: no eigenvalue that a chain has missed is above the ceiling."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import ritz
from ritz.operators.framed import Rows
from ritz.operators.gram import Gram
from ritz.spectral.certificate.completeness import CHAINED, by_settled, by_trace
from ritz.spectral.problem import Completeness
from ritz.spectral.solvers.deflated import TRACED
from ritz.spectral.solvers.missed import BLURRED, LONG_SUMS, NOTHING, _summed, held_up
from ritz.spectral.solvers.strand import Strand

SPECTRA = {
    "fast": 0.8 ** np.arange(80),
    "slow": 1 / np.arange(1.0, 81),
    "flat": np.ones(80) + 1e-3 * np.arange(80),
    "two levels": np.r_[np.full(5, 10.0), np.full(75, 0.01)],
}


def ritz_values(values, start, m):
    """Ritz values and residual norms of the Krylov space of a start, by a basis made orthonormal anew in every step."""
    basis = [start / np.linalg.norm(start)]
    for _ in range(m):
        w = values * basis[-1]
        for _ in range(3):
            w = w - np.array(basis).T @ (np.array(basis) @ w)
        if np.linalg.norm(w) < 1e-12:
            break
        basis.append(w / np.linalg.norm(w))
    Q = np.array(basis[:m]).T
    theta, Y = np.linalg.eigh(Q.T @ (values[:, None] * Q))
    V = Q @ Y[:, ::-1]
    return theta[::-1], np.linalg.norm(values[:, None] * V - V * theta[::-1], axis=0)


@pytest.mark.parametrize("spectrum", SPECTRA)
@pytest.mark.parametrize("hidden", [(), (0,), (2,), (0, 1)], ids=str)
def test_no_eigenvalue_that_was_missed_is_above_the_ceiling(spectrum, hidden, seed):
    values = np.sort(SPECTRA[spectrum])[::-1]
    rng = np.random.default_rng(seed)
    for m in (5, 12, 30):
        start = rng.standard_normal(80)
        start[list(hidden)] = 0.0  # eigenvectors that no product shows
        theta, sizes = ritz_values(values, start, m)
        for k in range(1, min(4, len(theta) - 1)):
            found = by_settled(theta, sizes, k, float(values.sum()), 1e-13)
            assert found.ceiling >= values[k] - 1e-10


def test_a_coupling_with_what_was_missed_is_bounded_by_the_residual_of_the_vector_that_feels_it():
    """[[a, c], [c, a]] has the eigenvalue a + c: the Ritz value a, residual c, beside a vector that was missed."""
    a, c = 3.0, 1.0
    M = np.diag([10.0, 9.0, a, a, 0.0])
    M[2, 3] = M[3, 2] = c
    values = np.linalg.eigvalsh(M)[::-1]
    theta, sizes = np.array([10.0, 9.0, a, 0.0]), np.array([0.0, 0.0, c, 0.0])
    for k in (1, 2):
        assert by_settled(theta, sizes, k, float(np.trace(M)), 0.0).ceiling >= values[k] * (1 - 1e-15)
    assert by_settled(theta, sizes, 2, float(np.trace(M)), 0.0).ceiling <= values[2] * (1 + 1e-13)


def test_every_ritz_value_and_the_trace_may_have_been_rounded():
    theta, sizes, slack = np.array([8.0, 4.0, 1.0, 0.75]), np.array([0.0, 0.0, 0.25, 0.125]), 1e-3
    rest = 0.25 + CHAINED * 4 * slack
    tried = [1 + rest + slack * np.sqrt(2), max(1, 0.75 + rest) + np.sqrt(0.0625 + 3 * slack**2)]
    found = by_settled(theta, sizes, 2, 14.0, slack).ceiling
    assert abs(found - (min(tried) + slack)) <= 1e-12
    rounded = _summed(theta, 2, 14.0, slack).ceiling
    assert rounded >= 1 + 0.25 + 5 * slack + TRACED * 14.0
    assert _summed(theta, 2, None, slack) is NOTHING


def test_settled_vectors_lower_the_ceiling_below_that_of_the_trace_alone(seed):
    values = SPECTRA["fast"]
    theta, sizes = ritz_values(values, np.random.default_rng(seed).standard_normal(80), 24)
    alone, outside = by_trace(theta, 3, float(values.sum()), 0.0), by_settled(theta, sizes, 3, float(values.sum()), 0.0)
    assert outside.ceiling < alone.ceiling
    assert outside.ceiling < values[2]
    assert by_settled(theta, sizes, 3, None, 0.0).kind == "none"
    assert by_settled(theta[:3], sizes[:3], 3, 9.0, 0.0).kind == "none"


def test_a_dense_table_whose_values_decay_is_proved_without_its_gram_matrix(seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((1000, 800)) * (0.9 ** np.arange(1, 801) + 1e-3)
    svd = ritz.SVD(3).fit(X)
    assert svd.plan_.solver == "lanczos"
    assert bool(svd.certificate_.labelled.all())
    assert svd.certificate_.completeness == "the trace leaves no room for a larger eigenvalue"
    sigma = np.linalg.svd(X, compute_uv=False)
    assert svd.certificate_.ceiling >= sigma[3] ** 2
    np.testing.assert_allclose(svd.singular_values_, sigma[:3], rtol=1e-9)


def alone(counts, values, d):
    """CSR rows with one entry each: so many of every column, all with its value. Eigenvalues are counts·values²."""
    columns, data = np.repeat(np.arange(len(counts)), counts), np.repeat(values, counts)
    turn = np.random.default_rng(0).permutation(len(data))
    return sp.csr_array((data[turn], columns[turn], np.arange(len(data) + 1)), shape=(len(data), d))


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("decay", [0.3, 0.5, 0.7])
def test_long_sums_that_round_up_hide_no_copy_of_the_last_value(k, decay):
    """A sum of 400,000 equal numbers in float32 is 0.5 % too large: more than what a copy of the k-th value adds."""
    many, entry = 400_000, 0.7236180901527405
    values = 3e-3 * many * entry**2 * decay ** np.arange(float(k + 40))
    values = np.insert(values, k - 2, values[k - 2])  # twice, and the first column makes it the k-th
    values = np.append(values, values[-1] * np.linspace(1e-3, 3e-4, 1999 - len(values)))
    X = alone(np.r_[many, np.ones(1999, int)], np.r_[entry, np.sqrt(values)], 2000)
    svd = ritz.SVD(k, solver="lanczos").fit(X)
    assert svd.certificate_.ceiling >= values[k - 1] * (1 - 1e-12)
    np.testing.assert_allclose(svd.singular_values_[1:] ** 2, values[: k - 1], rtol=1e-9)
    assert not svd.certificate_.labelled[-1] or svd.certificate_.angles[-1] > 0.1


def test_what_products_are_found_to_be_off_by_is_added_or_takes_the_proof_away(seed):
    M = Gram(Rows(np.random.default_rng(seed).standard_normal((40, 12))))
    chain = Strand(M.vector_product(), 12, 8, np.float64)
    chain.begin(np.arange(1.0, 13.0))
    for _ in range(6):
        chain.extend()
    chain.ritz()
    slack = LONG_SUMS * float(chain.theta[0])
    for kind, allowed in (("trace", CHAINED), ("probability", BLURRED)):
        status = Completeness(kind, 5.0)
        assert held_up(M, chain, 1, status, 0.9 * allowed * slack).ceiling >= 5.0 + 1.8 * allowed * slack
        for drift in (1.1 * allowed * slack, np.inf, np.nan):
            assert held_up(M, chain, 1, status, drift) is None
    assert held_up(M, chain, 1, NOTHING, np.inf) is NOTHING


def test_products_that_are_off_by_more_leave_a_proof_where_the_trace_has_room_for_it(seed):
    """Products are those of M + E, ‖E‖ as found; all of M's values but the first two are below the second."""
    values = 0.5 ** np.arange(60.0)
    chained = Gram(Rows(np.diag(np.sqrt(values))))
    chain = Strand(chained.vector_product(), 60, 30, np.float64)
    chain.begin(np.random.default_rng(seed).standard_normal(60))
    for _ in range(24):
        chain.extend()
    chain.ritz()
    slack = LONG_SUMS * float(chain.theta[0])
    status = by_settled(chain.theta, chain.residuals(chain.m), 2, float(values.sum()), slack)
    before = held_up(chained, chain, 2, status, CHAINED * slack)
    for drift in (1.01 * CHAINED * slack, 0.99 * BLURRED * slack):
        found = held_up(chained, chain, 2, status, drift)
        assert found.kind == "trace"
        assert found.ceiling >= values[2] + 2 * drift
        assert before.ceiling < found.ceiling < values[1]
    last = 23  # whose value is below what is lost
    status = by_settled(chain.theta, chain.residuals(chain.m), last, float(values.sum()), slack)
    assert held_up(chained, chain, last, status, 0.99 * BLURRED * slack) is None


def test_long_rows_of_float32_take_one_chain():
    """Sums that begin with large numbers lose the many small ones after them: products are off by 7.5e-6·θ₁, and the
    trace has room for it all the same."""
    rng = np.random.default_rng(0)
    X = sp.random_array((320, 20_000), density=0.1, format="csr", rng=rng, dtype=np.float32)
    X.data = (rng.standard_normal(X.nnz) * (0.7**X.indices + 1e-3)).astype(np.float32)
    svd = ritz.SVD(3, solver="lanczos").fit(X)
    values = np.linalg.eigvalsh((X.astype(np.float64) @ X.T.astype(np.float64)).toarray())[::-1]
    assert str(svd.certificate_).count("float32 iterations")
    assert bool(svd.certificate_.labelled.all())
    assert values[3] <= svd.certificate_.ceiling < values[2]
    np.testing.assert_allclose(svd.certificate_.values, values[:3], rtol=1e-9)
    V = svd.components_.astype(np.float64)
    np.testing.assert_allclose(V @ V.T, np.eye(3), atol=1e-6)
    assert svd.components_.dtype == np.float32
