"""Searches for eigenvalues that were missed, and what trace and Frobenius norm leave room for."""

from __future__ import annotations

import numpy as np
import pytest

from ritz._core.random import gaussian_rows
from ritz.operators.base import Operator
from ritz.spectral.certificate.completeness import by_moments
from ritz.spectral.solvers import deflated
from ritz.spectral.solvers.joined import Joined
from ritz.spectral.solvers.missed import _taken_out
from ritz.spectral.solvers.strand import LEAK, Strand
from ritz.spectral.solvers.unseen import needed
from ritz.spectral.subspace import Subspace


class Diagonal(Operator):
    """diag(values) with known sums."""

    symmetric = positive = True

    def __init__(self, values: np.ndarray) -> None:
        super().__init__((len(values), len(values)), np.float64)
        self.values = values

    def _matmat(self, V):
        return self.values[:, None] * V

    _rmatmat = _matmat

    def power_sums(self):
        return float(self.values.sum()), float(np.square(self.values).sum())

    def symbol(self) -> str:
        return "D"


def found(M: Diagonal, index: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    Q = np.eye(M.shape[0])[:, index]
    return Q, M.matmat(Q)


SPECTRA = {
    "slow": 1 / np.arange(1, 801) ** 0.7,
    "flat tail": np.append(np.linspace(10, 3, 30), np.full(770, 0.4)),
    "gap": np.append(np.full(40, 5.0), np.full(760, 0.1)),
    "low rank": np.append(np.linspace(4, 2, 25), np.zeros(775)),
}


@pytest.mark.parametrize("name", SPECTRA)
def test_nothing_is_missing_where_all_was_found(name):
    M, k = Diagonal(SPECTRA[name]), 20
    Q, MQ = found(M, np.arange(45))
    status, missed = deflated.by_search(M, Q, MQ, k, seed=0, slack=lambda: 1e-6)
    assert not missed
    assert status.kind == "probability"
    assert SPECTRA[name][k] <= status.ceiling <= 1.3 * SPECTRA[name][k] + 1e-5


@pytest.mark.parametrize("name", SPECTRA)
def test_one_that_was_left_out_is_found(name):
    M, k = Diagonal(SPECTRA[name]), 20
    Q, MQ = found(M, np.delete(np.arange(46), 3))
    status, missed = deflated.by_search(M, Q, MQ, k, seed=0, slack=lambda: 1e-6)
    assert status.ceiling >= SPECTRA[name][3] * (1 - 1e-5)
    assert missed == (SPECTRA[name][3] > SPECTRA[name][k] + 1e-5)


class Tiled(Diagonal):
    """Products take blocks of 64 columns, as on a graphics processor; counted."""

    made, tile = 0, 64

    def _matmat(self, V):
        self.made += 1
        return super()._matmat(V)

    def block_width(self, columns):
        return -(-columns // self.tile) * self.tile


@pytest.mark.parametrize("left_out", [None, 3, 11])
@pytest.mark.parametrize("name", SPECTRA)
def test_columns_that_took_part_in_another_product_begin_the_search(name, left_out):
    """With one product less, and vectors found after them; a value that was left out is found all the same."""
    M, k = Tiled(SPECTRA[name]), 20
    index = np.arange(46) if left_out is None else np.delete(np.arange(46), left_out)
    Q, MQ = found(M, index)
    fresh = deflated.Fresh(0)
    assert np.array_equal(fresh.beside(M, Q[:, :20]), MQ[:, :20])
    assert fresh.columns.shape == (800, 44)
    assert np.array_equal(fresh.beside(M, Q), MQ)  # they take part once
    assert fresh.columns.shape == (800, 44)
    M.made = 0
    status, missed = deflated.by_search(M, Q, MQ, k, seed=0, slack=lambda: 1e-6, fresh=fresh)
    made, M.made, M.tile = M.made, 0, 1
    deflated.by_search(M, Q, MQ, k, seed=0, slack=lambda: 1e-6, width=44)
    assert made == M.made - 1
    truth = SPECTRA[name]
    if left_out is None:
        assert not missed
        assert truth[k] <= status.ceiling <= 1.35 * truth[k] + 1e-5
    else:
        assert status.ceiling >= truth[left_out] * (1 - 1e-5)
        assert missed == (truth[left_out] > truth[k] + 1e-5)


def test_columns_that_took_part_are_multiplied_outside_of_vectors_that_have_not_settled():
    """M B of what Q leaves of them, where M Q leaves the space of Q."""
    M, fresh, rng = Tiled(SPECTRA["slow"]), deflated.Fresh(0), np.random.default_rng(1)
    Q = np.linalg.qr(np.eye(800)[:, :30] + 0.02 * rng.standard_normal((800, 30)))[0]
    MQ = fresh.beside(M, Q)
    left = fresh.columns - Q @ (Q.T @ fresh.columns)
    B = np.linalg.qr(left)[0]
    np.testing.assert_allclose(fresh.outside(Q, MQ, B), M.matmat(B), atol=1e-12)


def test_a_block_that_fills_its_tiles_takes_no_columns_along():
    M, fresh = Tiled(SPECTRA["slow"]), deflated.Fresh(0)
    Q = np.eye(800)[:, :60]
    assert np.array_equal(fresh.beside(M, Q), M.matmat(Q))
    assert fresh.image is None
    assert deflated.by_search(M, *found(M, np.arange(45)), 20, seed=0, slack=lambda: 1e-6, fresh=fresh)[0].ceiling < 0.2


@pytest.mark.parametrize("name", SPECTRA)
def test_what_is_known_no_better_than_that_is_not_missed(name):
    """One that was left out, and a tolerance above and below the difference to the last one that is wanted."""
    values, k = SPECTRA[name], 20
    M = Diagonal(values)
    Q, MQ = found(M, np.delete(np.arange(46), 3))
    gap = float(values[3] - values[k]) / float(values[0])
    for share in (0.5, 2.0):
        status, missed = deflated.by_search(M, Q, MQ, k, seed=0, slack=lambda: 1e-6, tol=share * gap)
        assert status.ceiling >= values[3] * (1 - 1e-5)
        assert missed == (gap > 1e-5 and share < 1)


def test_an_inexact_subspace_raises_the_ceiling():
    M, k, rng = Diagonal(SPECTRA["flat tail"]), 10, np.random.default_rng(0)
    Q = np.linalg.qr(np.eye(800)[:, :30] + 1e-2 * rng.standard_normal((800, 30)))[0]
    status, missed = deflated.by_search(M, Q, M.matmat(Q), k, seed=0, slack=lambda: 0.0)
    assert not missed
    assert SPECTRA["flat tail"][k] <= status.ceiling


@pytest.mark.parametrize("blur", [3e-3, 1e-2, 3e-2])
@pytest.mark.parametrize("name", ["slow", "flat tail", "low rank"])
def test_vectors_that_have_not_settled_raise_the_ceiling_by_the_square_of_their_residuals(name, blur):
    values, k = SPECTRA[name], 10
    for seed in range(5):
        rng = np.random.default_rng(seed)
        exact = np.eye(800)[:, :k]  # the leading ones are there, those that follow are far off
        rest = np.eye(800)[:, k : 3 * k] + blur * rng.standard_normal((800, 2 * k))
        rest[:k] = 0.0  # orthogonal to them
        Q = np.linalg.qr(np.hstack([exact, rest]))[0]
        M = Diagonal(values)
        status, missed = deflated.by_search(M, Q, M.matmat(Q), k, seed=seed, slack=lambda: 1e-5)
        assert not missed
        assert status.ceiling >= values[k] * (1 - 1e-12)
        H = Q.T @ (values[:, None] * Q)
        R = values[:, None] * Q - Q @ H
        weyl = np.linalg.eigvalsh(H)[-k - 1] + np.linalg.norm(R, 2)
        assert status.ceiling <= max(weyl, 1.5 * values[k])


def test_a_ceiling_that_the_joined_matrix_gives_is_one():
    rng = np.random.default_rng(3)
    for _ in range(50):
        Z = rng.standard_normal((60, 60)) * np.exp(2 * rng.standard_normal(60))
        M, k = Z @ Z.T / 60, 4
        Q = np.linalg.qr(np.linalg.eigh(M)[1][:, -12:] + 0.1 * rng.standard_normal((60, 12)))[0]
        H, P = Q.T @ M @ Q, np.eye(60) - Q @ Q.T
        R, mu = M @ Q - Q @ H, np.linalg.eigvalsh(P @ M @ P)[-1]
        theta, Y = np.linalg.eigh(H)
        Y = Y[:, : 12 - k]
        joined, truth = Joined(theta[: 12 - k], Y.T @ R.T @ R @ Y), np.linalg.eigvalsh(M)[-k - 1]
        high = max(mu, theta[-k - 1]) + np.linalg.norm(R, 2)
        least = joined.ceiling(mu, theta[-k - 1], high)
        assert truth <= least * (1 + 1e-12)
        assert least <= high
        assert not joined.below(truth * (1 - 1e-9), mu)


class Single(Diagonal):
    """With products of single vectors, counted."""

    made = 0

    def vector_product(self):
        def product(v):
            self.made += 1
            return self.values * v

        return product

    def trace(self):
        return float(self.values.sum())


def strand(M: Single, steps: int, seed: int) -> Strand:
    chain = Strand(M.vector_product(), M.shape[0], steps, np.float64)
    chain.begin(np.random.default_rng(seed).standard_normal(M.shape[0]))
    for _ in range(steps):
        chain.extend()
    chain.ritz()
    return chain


@pytest.mark.parametrize("draw", range(5))
@pytest.mark.parametrize("steps", [16, 22])
def test_a_chain_searches_outside_of_vectors_that_have_not_settled(steps, draw):
    """However many are taken out, the ceiling is one; it is near the next value where as many are as pays."""
    values, k = SPECTRA["slow"], 2
    M = Single(values)
    chain = strand(M, steps, draw)
    sizes = chain.residuals(steps)
    many, along = _taken_out(chain.theta, sizes, k, 1e-6, k + 4, 100)
    assert float(sizes[many - 1]) > 1e-4 * float(chain.theta[many - 1])
    assert many <= along < steps
    for taken in sorted({k + 4, 9, 12, many, along}):
        status, missed = deflated.by_strand(M, chain, taken, k, seed=draw, slack=1e-6)
        assert not missed
        assert values[k] * (1 - 1e-12) <= status.ceiling
        if taken in (many, along):
            assert status.ceiling < values[k - 1]


@pytest.mark.parametrize("draw", range(3))
@pytest.mark.parametrize("slack", [1e-6, 1e-3])
def test_a_search_with_single_vectors_counts_all_that_it_rests_on(monkeypatch, slack, draw):
    """Residuals of what is taken out, how long the fresh vector is outside of it, and what products round and the basis
    may lose.
    """
    values, k, taken = SPECTRA["slow"], 2, 9
    chain, seen, made = strand(Single(values), 16, draw), [], []
    joined, searched = deflated._joined, deflated._searched

    def noted(*given):
        seen.append((*given, joined(*given)))
        return seen[-1][-1]

    def told(search, rooms, asked, *others):
        made.append((search._next.copy(), asked))
        return searched(search, rooms, asked, *others)

    monkeypatch.setattr(deflated, "_joined", noted)
    monkeypatch.setattr(deflated, "_searched", told)
    status, _ = deflated.by_strand(Single(values), chain, taken, k, seed=draw, slack=slack)
    Q, residuals = chain.vectors(taken), chain.residuals(taken)
    D = np.diag(values) - Q @ (Q.T * values)
    D -= (D @ Q) @ Q.T
    (theta, squares, mu, following, high, found), (first, asked) = seen[0], made[0]
    g = gaussian_rows(draw, deflated.STREAM, 0, len(values), 1)[:, 0]
    outside = g - Q @ (Q.T @ g)
    np.testing.assert_allclose(first, outside / np.linalg.norm(outside), atol=1e-12)
    assert asked == pytest.approx(needed(np.linalg.norm(outside), deflated.STRAND_SHARE))
    np.testing.assert_allclose(theta, chain.theta[k:taken], rtol=1e-12)
    np.testing.assert_allclose(squares, residuals[k:] ** 2, rtol=1e-9)
    assert np.linalg.eigvalsh(D)[-1] <= mu
    assert following == pytest.approx(chain.theta[k])
    assert high >= max(mu, following) + np.linalg.norm(residuals) + slack * (1 - 1e-9)
    limit = min(deflated.STRAND_PRODUCTS, len(values) - taken - 1)
    slack += np.sqrt(2.0 * limit) * deflated.LITTLE * LEAK * float(chain.theta[0])
    assert status.ceiling == pytest.approx(min(high, found + 2 * slack), rel=1e-15)


def test_a_search_whose_basis_has_lost_more_than_was_counted_says_nothing(monkeypatch):
    values, searched = SPECTRA["slow"], deflated._searched
    given = (Single(values), strand(Single(values), 16, 0), 9, 2)
    assert deflated.by_strand(*given, seed=0, slack=1e-6) is not None

    def lost(search, *others):
        found = searched(search, *others)
        search.lost = LEAK
        return found

    monkeypatch.setattr(deflated, "_searched", lost)
    assert deflated.by_strand(*given, seed=0, slack=1e-6) is None


@pytest.mark.parametrize("at", [0, 1, 2])
def test_a_chain_finds_a_value_that_is_repeated(at):
    """One vector sees an eigenvalue once: what it has missed of three equal ones is there outside of it."""
    values = SPECTRA["slow"].copy()
    values[at : at + 3] = values[at]
    M, k = Single(values), at + 3
    chain = strand(M, 14, at)
    assert float(chain.theta[at + 1]) < 0.9 * float(values[at])
    status, missed = deflated.by_strand(M, chain, k + 4, k, seed=at, slack=1e-6)
    assert missed
    assert status.ceiling >= values[k]


def test_a_complement_without_room():
    M = Diagonal(np.linspace(2, 1, 12))
    status, missed = deflated.by_search(M, *found(M, np.arange(9)), 4, seed=0, slack=lambda: 1e-6)
    assert not missed
    assert M.values[4] <= status.ceiling <= M.values[4] + 1e-5
    assert deflated.by_search(M, *found(M, np.arange(12)), 4, seed=0, slack=lambda: 1e-9)[0].kind == "none"


@pytest.mark.parametrize("columns", [1, 3, 12])
@pytest.mark.parametrize("products", [2, 3, 5])
@pytest.mark.parametrize("name", ["slow", "gap"])
def test_the_bound_fails_as_rarely_as_it_says(name, products, columns, monkeypatch):
    """Failure 0.2: seen less often in 300 draws."""
    monkeypatch.setattr(deflated, "SHARE", 0.2)
    values, rng = SPECTRA[name], np.random.default_rng(products)
    wrong = 0
    for _ in range(300):
        K = np.empty((products, 800, columns))
        K[0] = rng.standard_normal((800, columns))
        for i in range(1, products):
            K[i] = values[:, None] * K[i - 1]
        K = K.transpose(1, 0, 2).reshape(800, -1)
        Q = np.linalg.qr(K / np.linalg.norm(K, axis=0))[0]
        top = float(np.linalg.eigvalsh(Q.T @ (values[:, None] * Q))[-1])
        gap = deflated.relative_gap(top, float(np.square(values).sum()), 800, products, columns)
        wrong += values[0] > top / (1 - gap)
    assert wrong <= 0.2 * 300
    assert gap < 1 or products == 2


def test_a_block_says_more_than_its_columns_and_chains_apart_do_not():
    gap = deflated.relative_gap
    assert gap(1.0, 10.0, 10**6, 2, 64) < 0.6 < gap(1.0, 10.0, 10**6, 2, 64, apart=True)


@pytest.mark.parametrize("columns", [2, 8, 64])
@pytest.mark.parametrize("s", [0.02, 0.3, 1.0])
def test_chi_square_below_a_sum_of_squares(columns, s):
    """ℙ(χ²_c < sZ) by 200,000 draws: below what is said, and not by orders where it is not rare."""
    rng, w = np.random.default_rng(columns), 0.25
    weights = np.r_[np.full(8, w), np.full(40, 0.1)]
    Z = rng.chisquare(1, (200_000, len(weights))) @ weights
    seen = float(np.mean(rng.chisquare(columns, 200_000) < s * Z))
    said = np.exp(deflated._together(float(weights.sum()), w, s, columns))
    assert seen <= said * 1.02 + 3e-5
    assert said <= 1.0
    if 0.02 < seen < 0.5:
        assert said < 8 * seen


def test_the_bound_tightens_with_products_columns_and_a_small_square():
    gap = deflated.relative_gap
    assert gap(1.0, 50.0, 10_000, 6, 8) < gap(1.0, 50.0, 10_000, 4, 8) < 1
    assert gap(1.0, 50.0, 10_000, 5, 16) < gap(1.0, 50.0, 10_000, 5, 8)
    assert gap(1.0, 50.0, 10_000, 5, 8) < gap(1.0, 1e6, 10_000, 5, 8) == gap(1.0, 1e9, 10_000, 5, 8)


@pytest.mark.parametrize("draw", range(30))
def test_trace_and_frobenius_norm_bound_what_was_missed(draw):
    """k exact pairs, some left out on purpose, and Ritz values of a random space in the complement."""
    rng = np.random.default_rng(draw)
    p = int(rng.integers(4, 40))
    values = np.sort(rng.pareto(rng.uniform(0.5, 4), p) + rng.uniform(0, 1))[::-1]
    k = int(rng.integers(1, p - 1))
    taken = np.sort(rng.permutation(p)[:k]) if draw % 2 else np.arange(k)
    rest = np.setdiff1d(np.arange(p), taken)
    inside = rng.integers(0, 2, len(rest)).astype(bool) & (values[rest] < values[taken[-1]])
    theta = np.append(values[taken], values[rest[inside]])
    status = by_moments(theta, k, p=p, total=values.sum(), square=float((values**2).sum()), slack=1e-9)
    missed = np.setdiff1d(np.arange(p), taken)
    assert status.ceiling >= values[missed[0]] * (1 - 1e-9)


def test_trace_and_frobenius_norm_are_tight_for_a_flat_tail():
    values = np.append([9.0, 8.0, 7.0], np.full(500, 0.1))
    status = by_moments(values[:3], 3, p=503, total=values.sum(), square=float((values**2).sum()), slack=0.0)
    assert values[3] <= status.ceiling <= 1.001 * values[3]
    assert status.failure == 0
    blind = by_moments(np.delete(values[:3], 1), 2, p=503, total=values.sum(), square=float((values**2).sum()), slack=0)
    assert blind.ceiling == pytest.approx(8.0, rel=1e-2)


def test_images_of_a_chain_are_those_of_its_vectors(seed):
    """A Krylov space that is one chain gives M Q from what leaves it: with its residuals, not without them."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((90, 60)) * 0.9 ** np.arange(60)
    M = X.T @ X
    space, Q = Subspace(60, 40, images=False), np.linalg.qr(rng.standard_normal((60, 4)))[0]
    for _ in range(5):
        space.extend(Q, M @ Q)
        Q = np.linalg.qr(space.remainder())[0]
        Q = np.linalg.qr(Q - space.V @ (space.V.T @ Q))[0]
    V, image = space.chained(space.remainder(), 8)
    assert np.allclose(V.T @ V, np.eye(8), atol=1e-12)
    assert np.allclose(image, M @ V, atol=1e-10 * space.theta[0])
    assert np.linalg.norm(image - V * space.theta[:8]) > 1e-6 * space.theta[0]


@pytest.mark.parametrize("draw", range(4))
def test_a_ceiling_feels_the_residuals_of_what_is_taken_out(draw):
    """λ₁ of the values with one direction beside them, in which all residuals lie, is the least ceiling there is."""
    rng = np.random.default_rng(draw)
    theta, w, mu = np.sort(rng.random(6))[::-1], rng.random(6) * 10.0 ** -rng.integers(0, 4), rng.random()
    bordered = np.diag(np.append(theta, mu))
    bordered[-1, :-1] = bordered[:-1, -1] = w
    truth, high = np.linalg.eigvalsh(bordered)[-1], max(mu, theta[0]) + np.linalg.norm(w)
    ceiling = deflated._joined(theta, w**2, mu, theta[0], high)
    assert truth <= ceiling + 1e-14
    assert ceiling <= truth + (high - max(mu, theta[0])) / len(deflated.STEPS) ** 2 + 1e-14


def test_where_a_block_may_pay_the_trace_is_asked(monkeypatch):
    M, k, taken, told = Single(SPECTRA["slow"]), 2, 9, []
    chain, plain = strand(M, 40, 1), deflated.fails
    monkeypatch.setattr(deflated, "fails", lambda *known: told.append(known[6]) or plain(*known))
    deflated.by_strand(M, chain, taken, k, seed=1, slack=1e-6, price=2.0)
    rest = float(M.values.sum() - chain.theta[:taken].sum())
    assert told
    assert rest <= min(told) <= max(told) <= 1.01 * rest
