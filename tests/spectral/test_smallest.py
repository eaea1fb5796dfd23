"""Smallest eigenvalues of graphs whose spectra have a closed form: every claim of the certificate against the truth."""

from __future__ import annotations

import math
import warnings
from dataclasses import replace
from functools import cache
from itertools import product

import mpmath
import numpy as np
import pytest
import scipy.sparse as sp

from ritz import AccuracyWarning, InputError, MemoryLimitError, ParameterError
from ritz.operators import Aligned, Laplacian, Symmetric
from ritz.spectral.problem import SpectralProblem
from ritz.spectral.smallest_plan import choose_smallest, known_null_vectors
from ritz.spectral.solve import solve
from ritz.spectral.verify.smallest import verify_smallest

mpmath.mp.dps = 50


def path(n, w=1.0):
    return sp.diags_array([[w] * (n - 1)] * 2, offsets=[-1, 1]).tocsr(), [4 * w * _sin2(j, 2 * n) for j in range(n)]


def cycle(n, w=1.0):
    W = sp.lil_array(path(n, w)[0])
    W[0, n - 1] = W[n - 1, 0] = w
    return W.tocsr(), [4 * w * _sin2(j, n) for j in range(n)]


def star(leaves, w=1.0):
    W = sp.lil_array((leaves + 1, leaves + 1))
    W[0, 1:] = W[1:, 0] = w
    return W.tocsr(), [0, *[w] * (leaves - 1), w * (leaves + 1)]


def complete(n, w=1.0):
    return sp.csr_array(w * (np.ones((n, n)) - np.eye(n))), [0, *[w * n] * (n - 1)]


def box(first, second):
    """The Cartesian product: eigenvalues are all sums."""
    (A, a), (B, b) = first, second
    W = sp.kron(A, sp.eye_array(B.shape[0])) + sp.kron(sp.eye_array(A.shape[0]), B)
    return sp.csr_array(W), [x + y for x, y in product(a, b)]


def apart(*graphs):
    return sp.csr_array(sp.block_diag([W for W, _ in graphs])), [x for _, values in graphs for x in values]


def _sin2(j, n):
    return mpmath.sin(mpmath.pi * j / n) ** 2


GRAPHS = {
    "path": lambda: path(300),
    "long path": lambda: path(3000),
    "cycle": lambda: cycle(401),
    "grid": lambda: box(path(23), path(19)),
    "square grid": lambda: box(path(30), path(30)),
    "torus": lambda: box(cycle(16), cycle(16)),
    "cube": lambda: box(box(path(8), path(8)), path(8)),
    "star": lambda: star(300),
    "complete": lambda: complete(90),
    "ladder of complete graphs": lambda: box(path(12), complete(51, 0.25)),  # multiplicity 50 above eleven
    "two paths": lambda: apart(path(200), path(201)),
    "five alike": lambda: apart(*[cycle(60)] * 5),
    "heavy and light": lambda: apart(path(220, 1e4), path(220, 1e-4)),
    "all light": lambda: cycle(300, 1e-8),
    "all heavy": lambda: box(path(20, 1e8), path(20, 1e8)),
    "weights of two sizes": lambda: box(path(20, 1e8), path(20, 1.0)),
    "tiny": lambda: path(5),
    "one edge": lambda: path(2),
}


@cache
def graph(name):
    W, values = GRAPHS[name]()
    return W, sorted(mpmath.mpf(x) for x in values)


def solved(M, k, solver="auto", null=None, tol=1e-6, seed=0):
    problem = SpectralProblem(M, k, kind="eigh", which="smallest", null=null, tol=tol, seed=seed)
    return solve(problem, choose_smallest(M, k, known_null_vectors(M, null), solver=solver))


def refuted(c, truth):
    """Claims of a certificate that the true eigenvalues, null vectors left out, refute."""
    wrong, k = [], len(c.values)
    for i in range(k):
        holds = [
            float_at(c.lower[i]) <= x <= float_at(c.upper[i]) for x in (truth[i : i + 1] if c.labelled[i] else truth)
        ]
        if not any(holds):
            wrong.append(("interval", i, c.lower[i], truth[i], c.upper[i]))
    if len([x for x in truth if x < float_at(c.ceiling)]) > k:
        wrong.append(("floor", c.ceiling))
    if len(truth) > k and c.ceiling == math.inf:
        wrong.append(("no floor",))
    return wrong


def float_at(x):
    return mpmath.mpf(float(x)) if math.isfinite(x) else mpmath.inf * (1 if x > 0 else -1)


@pytest.mark.parametrize("solver", ["svd", "inverse"])
@pytest.mark.parametrize("name", list(GRAPHS))
def test_graphs_of_known_spectrum(name, solver):
    W, values = graph(name)
    if solver == "svd" and W.shape[0] > 450:
        pytest.skip("too large to be decomposed")
    M = Laplacian(W)
    m = M.null().shape[1]
    truth = values[m:]
    top = float(values[-1])
    for k in (1, 3, 10):
        if k > len(truth):
            continue
        c = solved(M, k, solver).certificate
        assert not refuted(c, truth), (k, refuted(c, truth))
        assert c.labelled.all(), (k, c)
        assert c.completeness.startswith(("the negative pivots", "the dense", "the subspace"))
        near = [abs(float(x) - y) for x, y in zip(truth, c.values, strict=False)]
        assert max(near) <= 1e-13 * top, near
        assert float(np.max(c.width)) <= (1e-6 if c.clusters else 1e-10) * top
    assert verify_smallest(c, M), verify_smallest(c, M)


@pytest.mark.parametrize("many", [2, 5, 11, 50])
def test_every_copy_of_a_repeated_eigenvalue_is_found(many):
    W, values = box(path(9), complete(many + 1, 2.0 / (many + 1)))  # 2 with multiplicity ``many``, among the first
    truth = sorted(mpmath.mpf(x) for x in values)[1:]
    M = Laplacian(W)
    below = sum(x < 2 - 1e-9 for x in truth)
    for k in (below + 1, below + many - 1, below + many):
        solution = solved(M, k, "inverse")
        c = solution.certificate
        assert not refuted(c, truth)
        assert c.labelled.all()
        assert np.sum(np.abs(c.values - 2) < 1e-9) == k - below
        found = [each for each in c.clusters if each[1] == k - 1]
        assert found if k - below > 1 or k < below + many else not found
        if k == below + many and many > 1:
            assert c.clusters[-1][:2] == (below, k - 1)
            assert c.clusters[-1][2] < 1e-6  # all of them together are a space with a gap
        elif k < below + many:
            assert math.isnan(c.clusters[-1][2])  # some of them are not


def test_graphs_that_are_not_connected_leave_out_every_null_vector():
    W, values = apart(path(150), path(160), cycle(170))
    M = Laplacian(W)
    assert M.null().shape == (480, 3)
    c = solved(M, 4).certificate
    assert not refuted(c, sorted(mpmath.mpf(x) for x in values)[3:])
    assert c.values[0] > 1e-5
    # with fewer null vectors than there are, the others are found, and said to be null
    told = solved(M, 4, null=np.ones(480)).certificate
    assert np.all(told.values[:2] < 1e-20)
    assert told.values[2] > 1e-5
    assert not refuted(told, sorted(mpmath.mpf(x) for x in values)[1:])
    assert "2 eigenvalues cannot be told from zero beside the 1 known null vector" in "\n".join(told.notes)
    assert told.clusters[0][:2] == (0, 1)


@pytest.mark.parametrize("solver", ["svd", "inverse"])
def test_a_regular_graph_normalized(solver):
    W, values = cycle(301, 7.0)
    M = Laplacian(W, normalized=True)
    truth = [mpmath.mpf(x) / 14 for x in sorted(values)][1:]
    for k in (1, 2, 6):
        c = solved(M, k, solver).certificate
        assert not refuted(c, truth)
        assert verify_smallest(c, M)


def test_weights_that_no_factorisation_holds_side_by_side():
    """1e8 beside 1e-8: eigenvalues of 1e-21·‖M‖. What is said holds, and that more was not reached is said."""
    W, values = apart(path(220, 1e8), path(220, 1e-8))
    for solver in ("svd", "inverse"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", AccuracyWarning)
            c = solved(Laplacian(W), 3, solver).certificate
        assert not refuted(c, sorted(mpmath.mpf(x) for x in values)[2:])
        assert c.upper[0] < 1e-3


def test_digits_of_tiny_eigenvalues():
    """Powers of a path: eigenvalues near 1e-14 of the norm keep digits through the root, and that is proved."""
    W, values = path(500)
    D = Laplacian(W).assembled().root
    B = (D.T @ D).tocsr()  # whole numbers: eigenvalues of BᵀB are squares
    M = Aligned(B, null=np.ones(500))
    truth = [mpmath.mpf(x) ** 2 for x in sorted(values)][1:]
    c = solved(M, 3).certificate
    assert not refuted(c, truth)
    assert c.values[0] < 2e-9
    assert np.all(np.abs([float(t) for t in truth[:3]] - c.values) < 1e-9 * c.values)
    assert np.all(c.width < 1e-6 * c.values)


def test_a_matrix_without_a_root():
    W, values = box(path(23), path(19))
    L = sp.csr_array(sp.diags_array(np.asarray(W.sum(axis=1)).ravel()) - W)
    M = Symmetric(L, positive=True)
    truth = sorted(mpmath.mpf(x) for x in values)
    for null, true in ((None, truth), (np.ones(L.shape[0]), truth[1:])):
        for solver in ("svd", "inverse"):
            c = solved(M, 4, solver, null).certificate
            assert not refuted(c, true)
            assert c.labelled.all()
            assert verify_smallest(c, M, null)


def test_what_is_refused():
    M = Aligned(sp.eye_array(300), null=np.ones(300))
    with pytest.raises(InputError, match="null vectors are mapped to zero"):
        solved(M, 2)
    with pytest.raises(InputError, match="linearly independent"):
        solved(Laplacian(path(300)[0]), 2, null=np.ones((300, 2)))
    with pytest.raises(ParameterError, match="between 1 and 4 components"):
        solved(Laplacian(path(5)[0]), 5)
    with pytest.raises(ParameterError, match="solver must be"):
        solved(Laplacian(path(5)[0]), 2, "krylov")
    with pytest.raises(InputError, match="within the range of float64"):
        solved(Aligned(sp.eye_array(300) * 1e200), 2)
    wrong = Symmetric(sp.csr_array(sp.diags_array(np.append(np.arange(299.0), -5.0))), positive=False)
    wrong.positive = True
    with pytest.raises(InputError, match="no negative eigenvalue"):
        solved(wrong, 2, "svd")
    with pytest.raises(InputError, match="without negative ones"):
        SpectralProblem(Symmetric(np.diag([1.0, -1.0])), 1, kind="eigh", which="smallest")


def test_nothing_is_hidden_where_all_eigenvalues_are_zero():
    c = solved(Aligned(sp.csr_array((10, 300))), 3).certificate
    assert np.array_equal(c.values, np.zeros(3))
    assert c.labelled.all()
    assert verify_smallest(c, Aligned(sp.csr_array((10, 300))))


def test_the_same_answer_every_time():
    M = Laplacian(graph("grid")[0])
    first, second = (solved(M, 4, "inverse") for _ in range(2))
    assert np.array_equal(first.vectors, second.vectors)
    assert np.array_equal(first.values, second.values)


def test_no_warning_where_a_proof_is_there():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        solved(Laplacian(graph("torus")[0]), 7)


def neighbours(p, d, k=10):
    X = np.random.default_rng(0).standard_normal((p, d))
    nearest = np.argsort(np.square(X[:, None] - X).sum(axis=2), axis=1)[:, 1 : k + 1]
    W = sp.csr_array((np.ones(p * k), nearest.ravel(), np.arange(0, p * k + 1, k)), shape=(p, p))
    return sp.csr_array(W.maximum(W.T))


@pytest.mark.parametrize("normalized", [False, True])
def test_from_afar_by_products_alone(normalized):
    """Two clouds in many dimensions, joined by three edges: one small eigenvalue, a gap, and many that are close."""
    W = sp.lil_array(sp.block_diag([neighbours(300, 12)] * 2))
    for i in range(3):
        W[i, 599 - i] = W[599 - i, i] = 1.0
    M = Laplacian(sp.csr_array(W), normalized)
    true = np.linalg.eigvalsh(M.to_dense())[1:]
    for k, solver in product((1, 3), ("lanczos", "inverse")):
        c, e = solved(M, k, solver).certificate, 1e-13 * true[-1]
        assert c.probability == (1 if solver == "inverse" else 1 - 1e-9)
        assert c.labelled.all()
        for i in range(k):
            inside = (c.lower[i] <= true + e) & (true <= c.upper[i] + e)
            assert inside[i] if c.labelled[i] else inside.any()
        assert np.sum(true + e < c.ceiling) <= k
        assert verify_smallest(c, M), verify_smallest(c, M)


@pytest.mark.parametrize("missed", [0, 2, 5])
@pytest.mark.parametrize("kind", ["cycle", "grid", "cloud"])
def test_a_filter_never_lifts_its_floor_above_a_pair_that_was_missed(kind, missed):
    """Of pairs without one, the floor lies at or below it, wherever the filter is told to begin."""
    from ritz.spectral.solvers.smallest.entries import Entries
    from ritz.spectral.solvers.smallest.filtered import filtered_floor
    from ritz.spectral.solvers.smallest.ritz import known_null, ritz

    M = Laplacian(neighbours(500, 6) if kind == "cloud" else graph(kind)[0])
    values, vectors = np.linalg.eigh(M.to_dense())
    entries = Entries(M.assembled())
    null = known_null(entries, M.null())
    kept = [i for i in range(1, 9) if i != 1 + missed]
    pairs = ritz(entries, null, np.linalg.qr(vectors[:, kept] - null.Q @ (null.Q.T @ vectors[:, kept]))[0])
    unit2 = entries.unit**2
    for edge, degree in ((values[9], 60), (values[9], 600), (values[1 + missed], 400), (3 * values[9], 200)):
        floor = filtered_floor(entries, null, pairs, edge / unit2, degree, 7) * unit2
        assert floor <= values[1 + missed] + 1e-12 * values[-1]
    whole = ritz(entries, null, np.linalg.qr(vectors[:, 1:9] - null.Q @ (null.Q.T @ vectors[:, 1:9]))[0])
    floor = filtered_floor(entries, null, whole, values[9] / unit2, 600, 7) * unit2
    assert 0.9 * values[9] - 1e-3 * values[-1] < floor <= values[9]  # and it is no worse than it should be


def test_a_factor_that_takes_too_long_or_too_much_is_not_made(monkeypatch):
    M = Laplacian(neighbours(700, 12))
    assert choose_smallest(M, 3, 1).solver == "inverse"
    need = choose_smallest(M, 3, 1).bytes
    planned = choose_smallest(M, 3, 1, memory=need / 2)
    assert planned.solver == "lanczos"
    assert "a factorisation would need" in str(planned)
    with pytest.raises(MemoryLimitError, match="allow memory"):
        choose_smallest(M, 3, 1, solver="inverse", memory=need / 2)
    monkeypatch.setattr("ritz.spectral.constants.FAR_SECONDS", 1e-6)
    assert choose_smallest(M, 3, 1).solver == "lanczos"
    assert choose_smallest(Aligned(M.assembled().root), 3, 0).solver == "inverse"  # whose gaps are never wide


def test_a_claim_that_was_changed_does_not_pass():
    M = Laplacian(graph("grid")[0])
    for solver in ("svd", "inverse"):
        c = solved(M, 3, solver).certificate
        assert verify_smallest(c, M)
        for field in ("values", "lower", "upper", "residuals", "angles"):
            for i, factor in product(range(3), (1 - 1e-3, 1 + 1e-3, 2.0)):
                changed = getattr(c, field).copy()
                changed[i] *= factor
                if field == "residuals" and abs(changed[i] - c.residuals[i]) < 1e-14:
                    continue
                assert not verify_smallest(replace(c, **{field: changed}), M), (solver, field, i, factor)
        for change in (
            {"labelled": ~c.labelled}, {"total": c.total * 1.001}, {"rounding": 2 * c.rounding},
            {"ceiling": c.ceiling * 1.01 if math.isfinite(c.ceiling) else 1.0}, {"completeness": "believe me"},
            {"probability": 0.9}, {"kind": "estimate"}, {"clusters": ((0, 1, 0.1),)},
        ):  # fmt: skip
            assert not verify_smallest(replace(c, **change), M), (solver, change)
        assert not verify_smallest(c, Laplacian(graph("grid")[0] * 1.001))
        V = c.frame["vectors"].copy()
        V[:, 0] += 1e-6 * V[:, 1]
        assert not verify_smallest(replace(c, frame={**c.frame, "vectors": V}), M)


def test_an_eigenvalue_that_was_left_out_is_found_by_the_check():
    """The second pair is withheld: every number of the certificate of the others is right but its completeness."""
    for name in ("square grid", "long path"):  # written out; counted
        M = Laplacian(graph(name)[0])
        c = solved(M, 4, "inverse").certificate
        g, few = c.frame["grounds"], [0, 2, 3]
        theta = np.delete(g["theta"], 1)
        grounds = {
            **g, "k": 3, "theta": theta, "residuals": np.delete(g["residuals"], 1), "counted": g["counted"] - 1,
            "cross": g["cross"][np.ix_(few, few)],
        }  # fmt: skip
        lines = {f: getattr(c, f)[few] for f in ("values", "lower", "upper", "labelled", "residuals", "angles")}
        lied = replace(c, **lines, frame={**c.frame, "vectors": c.frame["vectors"][:, few], "grounds": grounds})
        checked = verify_smallest(lied, M)
        assert not checked, checked


@pytest.mark.parametrize("sizes", [[5] * 40, [1, 9, 4, 30, 6] * 8, [1] * 200])
def test_products_by_groups_of_rows_are_products(sizes, monkeypatch):
    """Whole numbers round nothing: both ways give the same, group by group and some groups at a time."""
    from ritz.spectral.solvers.smallest import gram as home

    rng, n, width = np.random.default_rng(4), 60, 7
    columns = np.concatenate([np.repeat(rng.permutation(n)[None, :width], size, axis=0) for size in sizes])
    data = rng.integers(-5, 6, columns.shape).astype(float)
    B = sp.csr_array((data.ravel(), columns.ravel(), np.arange(0, data.size + 1, width)), shape=(len(data), n))
    true = B.toarray().T @ B.toarray()
    for entries in (home.ENTRIES, 3 * width**2):
        monkeypatch.setattr(home, "ENTRIES", entries)
        found = home.gram(B)
        assert found.format == "csc"
        assert found.has_sorted_indices
        np.testing.assert_array_equal(found.toarray(), true)
    ragged = sp.csr_array(np.where(rng.random((80, 20)) < 0.3, 2.0, 0.0))
    np.testing.assert_array_equal(home.gram(ragged).toarray(), ragged.toarray().T @ ragged.toarray())
