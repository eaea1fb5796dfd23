"""The sparse factorisation by fronts: order, tree, solves, counts and their bound, against dense matrices."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from ritz.spectral.solvers.smallest import fronts as home
from ritz.spectral.solvers.smallest.fronts import Fronts
from ritz.spectral.solvers.smallest.inertia import count_below
from ritz.spectral.solvers.smallest.order import elimination_order, parents, postorder


def path(n):
    return sp.diags_array([np.ones(n - 1)] * 2, offsets=[-1, 1], shape=(n, n))


def laplacian(W):
    W = sp.csc_array(W)
    return sp.csc_array(sp.diags_array(np.asarray(W.sum(axis=1)).ravel()) - W)


def grid(a, b):
    return laplacian(sp.kron(path(a), sp.eye_array(b)) + sp.kron(sp.eye_array(a), path(b)))


def star(n):
    W = sp.lil_array((n, n))
    W[0, 1:] = W[1:, 0] = 1.0
    return laplacian(W)


def random(n, seed, share=0.01):
    rng = np.random.default_rng(seed)
    W = sp.random_array((n, n), density=share, rng=rng)
    return laplacian(W + W.T)


MATRICES = {
    "path": lambda: laplacian(path(310)),
    "grid": lambda: grid(17, 15),
    "squares of a grid": lambda: sp.csc_array(grid(16, 14) @ grid(16, 14)),
    "star": lambda: star(250),
    "pieces": lambda: sp.csc_array(sp.block_diag([grid(9, 8), laplacian(path(90)), star(60), sp.csc_array((5, 5))])),
    "random": lambda: random(280, 3, 0.02),
    "dense": lambda: random(150, 4, 0.9),
    "diagonal": lambda: sp.csc_array(sp.diags_array(np.arange(1.0, 201.0))),
}


def made(name):
    M = sp.csc_array(MATRICES[name]())
    M.sort_indices()
    return M


def truth_of_tree(A):
    """Parents from the filled pattern, one row after the other."""
    there = A != 0
    n, parent = len(A), np.full(len(A), -1)
    for j in range(n):
        later = np.flatnonzero(there[j + 1 :, j]) + j + 1
        if len(later):
            parent[j] = later[0]
            there[np.ix_(later, later)] = True
    return parent


@pytest.mark.parametrize("name", list(MATRICES))
def test_the_tree_of_elimination_is_that_of_the_filled_pattern(name):
    M = made(name)
    p = M.shape[0]
    for order in (np.arange(p), np.random.default_rng(1).permutation(p)):
        np.testing.assert_array_equal(parents(M, order), truth_of_tree(M.toarray()[np.ix_(order, order)]))
    order, parent = elimination_order(M)
    assert np.array_equal(np.sort(order), np.arange(p))
    np.testing.assert_array_equal(parent, truth_of_tree(M.toarray()[np.ix_(order, order)]))
    np.testing.assert_array_equal(postorder(parent), np.arange(p))  # each branch is in one piece already


@pytest.mark.parametrize("branch", [1, 7, 96])
@pytest.mark.parametrize("name", list(MATRICES))
def test_solves_and_counts(name, branch, monkeypatch):
    monkeypatch.setattr(home, "BRANCH", branch)
    M = made(name)
    p, values = M.shape[0], np.linalg.eigvalsh(M.toarray())
    fronts = Fronts(M)
    rng = np.random.default_rng(0)
    gaps = np.flatnonzero(np.diff(values) > 1e-6 * values[-1])
    shifts = [0.01, *(-(values[i] + values[i + 1]) / 2 for i in (gaps[0], gaps[len(gaps) // 2], gaps[-1]))]
    for shift in shifts:
        A = M.toarray() + shift * np.eye(p)
        below = int(np.count_nonzero(values + shift < 0))
        factor = fronts.factorized(shift)
        assert factor.negative == below
        for q in (1, 5):
            B = rng.standard_normal((p, q))
            for given in (B, np.asfortranarray(B)):
                X = factor.solve(given)
                size = np.abs(A).sum(axis=1).max()
                assert np.abs(A @ X - B).max() < 1e-9 * (size * np.abs(X).max() + 1)
            assert np.array_equal(B, given)
        counted = count_below(fronts, -shift, 0.0)
        assert counted.below == below
        assert -shift - 1e-7 * values[-1] < counted.floor < -shift


@pytest.mark.parametrize("name", list(MATRICES))
def test_the_bound_holds_what_lies_between_a_matrix_and_its_factors(name):
    """L and J written out, and multiplied in extended precision."""
    M = made(name)
    p, values = M.shape[0], np.linalg.eigvalsh(M.toarray())
    fronts = Fronts(M)
    for shift in (0.01, -float(np.median(values)) * 1.0001 - 1e-3):
        factor = fronts.factorized(shift)
        L, J = np.zeros((p, p), np.longdouble), np.ones(p)
        for one in factor.pieces:
            L[one.first : one.last, one.first : one.last] = one.own
            L[np.ix_(one.beyond, np.arange(one.first, one.last))] = one.X
            if one.J is not None:
                J[one.first : one.last] = one.J
        given = M.toarray()[np.ix_(factor.order, factor.order)].astype(np.longdouble)
        given[np.diag_indices(p)] = (np.diagonal(given).astype(float) + shift).astype(np.longdouble)
        off = np.linalg.norm(np.asarray(given - (L * J) @ L.T, np.float64), 2)
        bound = fronts.factorized(shift, bounded=True).error
        assert off <= bound
        assert bound < 1e-6 * values[-1]


def test_a_chain_is_cut_where_its_rows_change(monkeypatch):
    """A band in its own order is one chain: taken out at once it would be a dense matrix of all rows."""
    n, width = 600, 3
    M = laplacian(sum(sp.diags_array([np.ones(n - i)] * 2, offsets=[-i, i], shape=(n, n)) for i in range(1, width + 1)))
    monkeypatch.setattr(home, "BRANCH", 1)
    monkeypatch.setattr(home, "elimination_order", lambda M: (np.arange(n), np.append(np.arange(1, n), -1)))
    fronts = Fronts(M)
    assert max(one.last - one.first + len(one.beyond) for one in fronts.all) < 60
    B = np.random.default_rng(0).standard_normal((n, 2))
    X = fronts.factorized(0.5).solve(B)
    np.testing.assert_allclose(M @ X + 0.5 * X, B, atol=1e-11)


def test_a_singular_block_is_told():
    """Zeros on a diagonal that nothing is added to."""
    M = sp.csc_array((300, 300))
    assert Fronts(M).factorized(0.0) is None
    assert count_below(Fronts(M), 0.0, 0.0) is None
    assert Fronts(M).factorized(1.0).negative == 0
    assert Fronts(M).factorized(-1.0).negative == 300


@pytest.mark.parametrize("normalized", [False, True])
def test_the_entries_of_a_laplacian_are_its_products(normalized):
    from ritz.operators import Laplacian
    from ritz.spectral.solvers.smallest.gram import gram

    W = sp.random_array((80, 80), density=0.1, rng=np.random.default_rng(2))
    B = Laplacian(W + W.T + path(80), normalized).assembled().root
    found = gram(B)
    assert found.has_sorted_indices
    np.testing.assert_allclose(found.toarray(), B.toarray().T @ B.toarray(), atol=1e-15 * 80)
    assert np.array_equal(found.toarray(), found.toarray().T)
