"""A chain of single vectors that takes its basis off some of them alone: what it loses is bounded, and counted."""

from __future__ import annotations

import numpy as np
import pytest

from ritz.operators.symmetric import Symmetric
from ritz.spectral.solvers.missed import by_chain
from ritz.spectral.solvers.strand import LEAK, LEFT, Strand

SPECTRA = {
    "far apart": np.concatenate([[1e4, 300.0, 40.0], 1 / np.arange(1.0, 298.0)]),
    "noise": np.linspace(2.0, 0.1, 300),
    "repeated": np.concatenate([[5.0] * 3, [2.0] * 4, np.linspace(1.0, 0.5, 293)]),
}


def matrix(values: np.ndarray, seed: int) -> np.ndarray:
    Q = np.linalg.qr(np.random.default_rng(seed).standard_normal((len(values),) * 2))[0]
    return (Q * values) @ Q.T


def climbed(product, p: int, steps: int, seed: int, leak: float = LEAK, outside=None) -> tuple[Strand, int]:
    """A chain, and how many vectors had the basis taken off."""
    chain, cleaned = Strand(product, p, steps, np.float64, outside, leak), []
    clean = chain._cleaned
    chain._cleaned = lambda *told: cleaned.append(1) or clean(*told)  # type: ignore[method-assign]
    chain.begin(np.random.default_rng(seed + 1).standard_normal(p))
    for _ in range(steps):
        if not chain.extend():
            break
    chain.ritz()
    return chain, len(cleaned)


def defect(chain: Strand) -> float:
    V = chain._V[: chain.m]
    return float(np.linalg.norm(V @ V.T - np.eye(chain.m), 2))


@pytest.mark.parametrize("spectrum", SPECTRA)
def test_the_basis_is_taken_off_some_vectors_and_what_is_left_is_bounded(spectrum, seed):
    M = matrix(SPECTRA[spectrum], seed)
    chain, cleaned = climbed(lambda v: M @ v, 300, 70, seed)
    assert cleaned < (1.0 if spectrum == "far apart" else 0.6) * chain.m
    assert defect(chain) <= chain.lost + 1e-13
    assert chain.lost <= np.sqrt(2 * chain.m) * LEAK


@pytest.mark.parametrize("spectrum", SPECTRA)
def test_ritz_values_are_those_of_the_space_to_rounding(spectrum, seed):
    M = matrix(SPECTRA[spectrum], seed)
    chain, _ = climbed(lambda v: M @ v, 300, 70, seed)
    Q = np.linalg.qr(chain._V[: chain.m].T)[0]
    true = np.linalg.eigvalsh(Q.T @ M @ Q)[::-1]
    np.testing.assert_allclose(chain.theta, true, atol=1e-13 * true[0])


def test_a_chain_without_leave_takes_it_off_every_vector(seed):
    M = matrix(SPECTRA["far apart"], seed)
    chain, cleaned = climbed(lambda v: M @ v, 300, 40, seed, leak=0.0)
    assert cleaned == chain.m
    assert defect(chain) < 1e-13


def test_rounding_beyond_the_recurrence_is_noticed_and_ends_it(seed):
    M, rng = matrix(SPECTRA["noise"], seed), np.random.default_rng(seed)
    chain, _ = climbed(lambda v: M @ v + 1e-6 * rng.standard_normal(300), 300, 60, seed)
    assert not chain._seldom
    assert 1e-8 < defect(chain) <= chain.lost


def test_the_bound_grows_by_the_recurrence_and_two_vectors_in_succession_are_cleaned():
    chain = Strand(lambda v: v, 9, 5, np.float64, leak=1e-10)
    chain._again, chain._beta, chain._leaks = False, 2.0, (1e-12, 3e-12)
    grown = ((1 + 2 + 0.5) * (3e-12 + LEFT) + 2 * 1e-12) / 0.5  # (‖T‖(ω_j + u) + β_j ω_{j−1})/β_{j+1}
    assert not chain._leaking(1.0, 0.5)
    assert chain._leaks == (3e-12, pytest.approx(grown, rel=1e-9, abs=0))
    assert chain.lost == pytest.approx(np.sqrt(2) * grown, rel=1e-9, abs=0)
    assert [chain._leaking(1.0, length) for length in (0.1, 1.0, 1.0)] == [True, True, False]
    assert chain._leaking(1.0, 0.0)  # nothing is left to divide by


def test_after_a_restart_the_basis_is_taken_off_every_vector(seed):
    M = matrix(SPECTRA["noise"], seed)
    chain, _ = climbed(lambda v: M @ v, 300, 60, seed)
    chain.restart(20)
    cleaned, clean = [], chain._cleaned
    chain._cleaned = lambda *told: cleaned.append(1) or clean(*told)  # type: ignore[method-assign]
    for _ in range(30):
        chain.extend()
    assert len(cleaned) == 30
    assert defect(chain) <= chain.lost + 1e-13


def test_what_was_lost_before_stays_lost_where_a_smaller_bound_fails(seed):
    M = matrix(SPECTRA["noise"], seed)
    chain, _ = climbed(lambda v: M @ v, 300, 60, seed)
    before, chain._bound = chain.lost, 1e-14
    chain._measured(2e-14)
    assert not chain._seldom
    assert defect(chain) - 1e-13 <= before <= chain.lost


def test_a_chain_stays_orthogonal_to_rows_that_m_leads_back_to(seed):
    M = matrix(SPECTRA["noise"], seed)
    outside = np.linalg.qr(np.random.default_rng(seed).standard_normal((300, 5)))[0].T
    chain, cleaned = climbed(lambda v: M @ v, 300, 40, seed, outside=outside)
    assert cleaned < 0.5 * (chain.m - 5)
    assert float(np.max(np.abs(chain._V[5 : chain.m] @ outside.T))) < 1e-13


def test_what_a_basis_has_lost_counts_in_what_is_proved_of_it(seed):
    M = matrix(SPECTRA["noise"], seed)
    chain, _ = climbed(lambda v: M @ v, 300, 120, seed)
    A = Symmetric(M, positive=True)
    told = []
    for lost in (0.0, 1e-4):
        chain.lost = lost
        told.append(by_chain(A, chain, 2, width=1, steps=0, seed=seed)[0].ceiling)
    assert told[1] >= told[0] + 1e-4 * float(chain.theta[0])
