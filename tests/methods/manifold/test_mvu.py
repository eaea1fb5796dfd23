"""Maximum variance unfolding: optima in closed form, its proof against the truth, Clarabel, new rows, refusals."""

from __future__ import annotations

import itertools
import warnings
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from scipy.sparse import coo_array

import ritz
from ritz.methods.manifold.unfolding.interior import Ended, interior
from ritz.methods.manifold.unfolding.lowrank import low_rank
from ritz.methods.manifold.unfolding.pairs import Pairs, pairs_of
from ritz.methods.manifold.unfolding.proof import better, proved, second, shortened

SOLVERS = {
    "interior": lambda pairs: interior(pairs, tol=1e-8),
    "low-rank": lambda pairs: low_rank(pairs, 2, tol=1e-4, seed=0),
}


def of_edges(n, edges, squares=None):
    i, j = (np.array(side, np.intp) for side in zip(*edges, strict=True))
    return Pairs(n, i, j, np.ones(len(i)) if squares is None else np.asarray(squares, float))


def path(n):
    return of_edges(n, [(i, i + 1) for i in range(n - 1)]), Fraction(n * (n * n - 1), 12)


def cycle(n):
    mpmath.mp.dps = 40
    return of_edges(n, [(i, i + 1) for i in range(n - 1)] + [(0, n - 1)]), n / (4 * mpmath.sin(mpmath.pi / n) ** 2)


def star(n):
    return of_edges(n, [(0, i) for i in range(1, n)]), Fraction(n - 1)


def complete(n):
    return of_edges(n, list(itertools.combinations(range(n), 2))), Fraction(n - 1, 2)


def cube(d):
    edges = [(i, i | 1 << b) for i in range(2**d) for b in range(d) if not i >> b & 1]
    return of_edges(2**d, edges), Fraction(d * 2**d, 4)


GRAPHS = {
    "two rows": path(2), "three rows": path(3), "path of 7": path(7), "path of 40": path(40),
    "triangle": cycle(3), "square": cycle(4), "cycle of 17": cycle(17), "cycle of 60": cycle(60),
    "star of 3": star(4), "star of 12": star(13), "complete of 9": complete(9), "cube": cube(3), "hypercube": cube(5),
}  # fmt: skip


def exactly(number):
    """A number of any kind as a rational, for comparisons without rounding."""
    return number if isinstance(number, Fraction) else Fraction(str(number))


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("name", GRAPHS)
def test_the_optimum_lies_between_the_variance_and_the_bound(name, solver):
    pairs, optimum = GRAPHS[name]
    proof = proved(pairs, SOLVERS[solver](pairs))
    assert Fraction(proof.variance) <= exactly(optimum) <= Fraction(proof.bound)
    assert proof.gap <= (2e-8 if solver == "interior" else 2e-4)
    # no pair is too long, by exact arithmetic on the points as they are
    for i, j, c in zip(pairs.i, pairs.j, pairs.squares, strict=True):
        ends = zip(proof.Z[i].tolist(), proof.Z[j].tolist(), strict=True)
        square = sum((Fraction(a) - Fraction(b)) ** 2 for a, b in ends)
        assert square <= Fraction(float(c))


def test_a_path_of_any_lengths_becomes_a_line_and_a_cycle_a_polygon():
    rng = np.random.default_rng(0)
    for orders in (2, 6, 10):
        squares = 10.0 ** rng.uniform(-orders, 0, 39)
        x = np.concatenate([[0], np.cumsum(np.sqrt(squares))])
        optimum = float(np.sum((x - x.mean()) ** 2))
        pairs = of_edges(40, [(i, i + 1) for i in range(39)], squares)
        found = [proved(pairs, solve(pairs)) for solve in SOLVERS.values()]
        for proof in (*found, better(*found)):
            assert proof.variance <= optimum * (1 + 1e-13)
            assert proof.bound >= optimum * (1 - 1e-13)
        assert better(*found).gap < 1e-3
    angles = np.arange(20) * np.pi / 10
    X = np.c_[np.cos(angles), np.sin(angles), np.zeros(20)]
    X[5:15, 1] *= -1  # folded over
    n = len(X)
    D = coo_array((np.ones(n), (np.arange(n), (np.arange(n) + 1) % n)), shape=(n, n)).tocsr()
    model = ritz.MVU(2, metric="precomputed", tol=1e-8).fit(D + D.T)
    radii = np.linalg.norm(model.embedding_, axis=1)
    np.testing.assert_allclose(radii, 0.5 / np.sin(np.pi / n), rtol=1e-4)
    assert model.eigenvalues_.sum() == pytest.approx(model.variance_, rel=1e-7)


def test_all_pairs_give_the_principal_components(apart):
    X = np.random.default_rng(1).standard_normal((14, 3)) * [3, 2, 1]
    model = ritz.MVU(3, n_neighbors=13, tol=1e-9).fit(X)
    mds = ritz.MDS(3).fit(X)
    assert apart(model.embedding_, mds.embedding_) < 1e-5
    assert model.variance_ == pytest.approx(float(np.sum((X - X.mean(axis=0)) ** 2)), rel=1e-8)


def test_any_weights_prove_a_bound_and_any_points_a_variance():
    """The proof does not rest on the solvers: random points and weights enclose the optimum too."""
    rng = np.random.default_rng(2)
    for name, (pairs, optimum) in GRAPHS.items():
        for orders in (0, 3):
            w = 10.0 ** rng.uniform(-orders, orders, len(pairs))
            proof = proved(pairs, Ended(rng.standard_normal((pairs.n, 3)), w, 0, ""))
            assert Fraction(proof.variance) <= exactly(optimum) <= Fraction(proof.bound), name
    pairs, _ = path(5)
    assert second(pairs, np.array([1.0, 0.0, 1.0, 1.0]))[0] == 0  # in pieces: nothing is proved
    assert proved(pairs, Ended(np.ones((5, 1)), np.array([1.0, 0.0, 1.0, 1.0]), 0, "")).bound == np.inf


def test_lambda_is_not_above_the_truth():
    flint = pytest.importorskip("flint")
    rng = np.random.default_rng(3)
    for n in (5, 12, 80):
        pairs = of_edges(n, [(i, i + 1) for i in range(n - 1)] + [(0, n - 1)])
        w = 10.0 ** rng.uniform(-4, 4, n)
        least, _ = second(pairs, w)
        exact = [[Fraction(0)] * n for _ in range(n)]
        for i, j, one in zip(pairs.i, pairs.j, w, strict=True):
            one = Fraction(float(one))
            exact[i][i] += one
            exact[j][j] += one
            exact[i][j] -= one
            exact[j][i] -= one
        if n > 12:
            assert least > 0
            continue
        flint.ctx.prec = 200
        M = flint.arb_mat([[flint.arb(flint.fmpq(e.numerator, e.denominator)) for e in row] for row in exact])
        values = sorted(float(value.real.mid()) for value in flint.acb_mat(M).eig(nonstop=True))
        assert least <= values[1] * (1 + 1e-15)
        assert least >= values[1] * (1 - 1e-8) - 1e-11 * values[-1]


def test_clarabel_agrees():
    pytest.importorskip("clarabel")
    rng = np.random.default_rng(4)
    for n, k in ((8, 3), (20, 4), (32, 5)):
        X = rng.standard_normal((n, 3))
        own, other, few = (
            ritz.MVU(2, n_neighbors=k, disconnected="join", solver=solver).fit(X)
            for solver in ("interior", "clarabel", "low-rank")
        )
        assert own.gap_ < 1e-6
        assert other.gap_ < 1e-4
        assert few.gap_ < 2e-3
        assert max(own.variance_, other.variance_, few.variance_) <= min(own.bound_, other.bound_, few.bound_)
        assert other.variance_ == pytest.approx(own.variance_, rel=1e-5)
        assert other.plan_.solver == "clarabel"
        assert bool(other.verify(X))
    equal = [ritz.MVU(2, n_neighbors=3, form="equality", disconnected="join", solver=s).fit(X[:10])
             for s in ("interior", "clarabel")]  # fmt: skip
    assert equal[0].bound_ == pytest.approx(equal[1].bound_, rel=1e-3)


def test_without_clarabel_it_is_said_what_to_do(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "clarabel", None)
    X = np.random.default_rng(0).standard_normal((12, 2))
    with pytest.raises(ritz.MissingDependency, match="Clarabel") as told:
        ritz.MVU(solver="clarabel").fit(X)
    assert "ritz[mvu]" in str(told.value)
    assert ritz.MVU().fit(X).gap_ < 1e-5


def test_golden(golden, apart):
    expected = golden.result("swiss_roll/python_mvu")
    X = golden.rows("swiss_roll")[:80]
    model = ritz.MVU(3, n_neighbors=5).fit(X)
    assert model.n_pairs_ == expected["edges"]
    assert model.variance_ == pytest.approx(expected["objective"], rel=1e-5)
    assert model.variance_ <= expected["upper_bound"]
    assert model.bound_ == pytest.approx(expected["upper_bound"], rel=1e-6)
    np.testing.assert_allclose(model.eigenvalues_, expected["eigenvalues"][:3], rtol=1e-4)
    assert apart(model.embedding_, expected["embedding"]["values"]) < 1e-3
    assert "a gap of" in str(model.certificate_)
    few = ritz.MVU(3, n_neighbors=5, solver="low-rank").fit(X)
    assert few.variance_ == pytest.approx(expected["objective"], rel=2e-3)
    assert few.variance_ <= expected["upper_bound"] <= few.bound_ * (1 + 1e-8)


def test_new_rows(golden):
    """Held-out rows lie as near to the truth as the rows of the fit; rows of the fit stay."""
    X, new = golden.rows("swiss_roll"), golden.rows("swiss_roll", "new_rows")
    read = lambda name: np.loadtxt(golden.folder / "swiss_roll" / f"{name}.csv", delimiter=",", skiprows=1)[:, :2]  # noqa: E731
    truth, new_truth = read("truth"), read("new_truth")
    model = ritz.MVU(2, n_neighbors=6, tol=1e-3).fit(X)
    A = np.c_[np.ones(400), model.embedding_]
    C = np.linalg.lstsq(A, truth, rcond=None)[0]
    own = np.sqrt(np.mean((A @ C - truth) ** 2, axis=0))
    held = np.sqrt(np.mean((np.c_[np.ones(150), model.transform(new)] @ C - new_truth) ** 2, axis=0))
    assert np.all(held < 1.3 * own)
    np.testing.assert_array_equal(model.transform(X), model.embedding_)
    # on the way back a row of the fit is itself
    np.testing.assert_allclose(model.inverse_transform(model.embedding_[:5]), X[:5])
    X = X[:60]
    model = ritz.MVU(2, n_neighbors=6).fit(X)
    given = ritz.MVU(2, n_neighbors=6, metric="precomputed").fit(np.linalg.norm(X[:, None] - X, axis=2))
    far = np.linalg.norm(new[:20, None] - X, axis=2)
    np.testing.assert_allclose(given.transform(far), model.transform(new[:20]), rtol=1e-2, atol=0.05)


def test_pairs_of_neighbourhoods_hold_more():
    X = np.random.default_rng(5).standard_normal((40, 3))
    edges, more = (ritz.MVU(2, n_neighbors=4, pairs=pairs).fit(X) for pairs in ("edges", "neighbourhoods"))
    near = ritz.Neighbours(4).fit(X)
    own = {(i, *sorted(rest)) for i, rest in enumerate(near.kneighbors(return_distance=False).tolist())}
    wanted = {tuple(sorted(pair)) for group in own for pair in itertools.combinations(group, 2)}
    made = pairs_of(near, "neighbourhoods")
    assert set(zip(made.i.tolist(), made.j.tolist(), strict=True)) == wanted
    np.testing.assert_allclose(
        np.sqrt(made.squares) * made.unit, np.linalg.norm(X[made.i] - X[made.j], axis=1), rtol=1e-14
    )
    assert edges.n_pairs_ < more.n_pairs_ == len(wanted)
    assert more.variance_ < edges.variance_
    assert more.variance_ >= float(np.sum((X - X.mean(axis=0)) ** 2))  # the rows themselves are feasible


def test_equality_keeps_distances():
    X = np.random.default_rng(6).standard_normal((12, 2))
    model = ritz.MVU(2, n_neighbors=3, form="equality").fit(X)
    pairs = pairs_of(ritz.Neighbours(3).fit(X), "edges")
    Z = model._record.points
    np.testing.assert_allclose(pairs.of_points(Z), pairs.squares * pairs.unit**2, rtol=1.01 * model.violation_)
    assert model.violation_ < 1e-4
    assert model.bound_ >= float(np.sum((X - X.mean(axis=0)) ** 2))
    assert model.bound_ <= ritz.MVU(2, n_neighbors=3).fit(X).bound_ * (1 + 1e-6)
    assert bool(model.verify(X))
    Y = np.random.default_rng(0).standard_normal((40, 3))  # where K once drifted off K1 = 0
    kept = ritz.MVU(2, n_neighbors=4, form="equality").fit(Y)
    assert kept.violation_ < 1e-6
    assert kept.variance_ == pytest.approx(kept.bound_, rel=1e-5)
    with pytest.raises(ritz.ParameterError, match="no low-rank"):
        ritz.MVU(form="equality", solver="low-rank").fit(X)


@pytest.mark.parametrize("name", ["embedding_", "eigenvalues_", "variance_", "bound_", "gap_", "component_labels_",
                                  "points", "duals", "told", "nodes", "part"])  # fmt: skip
def test_a_changed_model_is_found(name):
    X = np.random.default_rng(7).standard_normal((30, 3))
    model = ritz.MVU(2).fit(X)
    assert bool(model.verify(X))
    holder = model if name.endswith("_") else model._record
    value = getattr(holder, name)
    if isinstance(value, np.ndarray):
        value = value.copy()
        value.flat[3 if value.size > 3 else 0] += 1 if value.dtype.kind in "iu" else 0.01 * np.abs(value).max()
    else:
        value = value + 1e-3
    setattr(holder, name, value)
    assert not bool(model.verify(X))


def test_weights_that_prove_less_than_told_are_found():
    X = np.random.default_rng(8).standard_normal((30, 3))
    model = ritz.MVU(2).fit(X)
    model._record.duals = model._record.duals * np.linspace(0.5, 1.5, model.n_pairs_)
    assert "λ₂" in str(model.verify(X)) or "bound" in str(model.verify(X))
    assert not bool(model.verify(X))


def test_large_components_are_checked_by_pivots():
    pairs, optimum = cycle(2400)
    w = np.ones(2400) / (2 - 2 * np.cos(2 * np.pi / 2400))
    angles = 2 * np.pi * np.arange(2400) / 2400
    Z = np.c_[np.cos(angles), np.sin(angles)] / (2 * np.sin(np.pi / 2400))
    proof = proved(pairs, Ended(Z, w, 0, ""))
    assert Fraction(proof.variance) <= exactly(optimum) <= Fraction(proof.bound)
    assert proof.gap < 1e-6
    from ritz.methods.manifold.unfolding.check import check_unfolding

    told = (proof.variance, proof.bound, proof.second, 0.0)
    assert check_unfolding(pairs, proof.Z, proof.w, told, False)[0] == []
    wrong = (proof.variance, proof.bound, proof.second * 1.01, 0.0)
    assert "below" in check_unfolding(pairs, proof.Z, proof.w, wrong, False)[0][0]
    assert "too long" in check_unfolding(pairs, proof.Z * 1.01, proof.w, told, False)[0][0]


def test_long_pairs_are_brought_together_without_shrinking_the_rest():
    rng = np.random.default_rng(9)
    Z = rng.standard_normal((50, 2)) * 10
    Z[1] = Z[0] + 1e-6
    near = ritz.Neighbours(5).fit(Z)
    pairs = pairs_of(near, "edges")
    bent = Z / pairs.unit
    bent[0] -= 1e-8  # a pair of near copies is too long by a per cent
    plain = float(np.min(pairs.squares / pairs.of_points(bent)))
    made, share = shortened(pairs, bent)
    assert plain < 0.999
    assert share > 1 - 1e-5
    assert np.sum(made**2) == pytest.approx(np.sum((bent - bent.mean(axis=0)) ** 2), rel=1e-7)


@pytest.mark.parametrize("scale", [1e-60, 1e-6, 1e6, 1e60])
def test_units(scale):
    X = np.random.default_rng(10).standard_normal((25, 3))
    plain, other = ritz.MVU(2).fit(X), ritz.MVU(2).fit(X * scale)
    np.testing.assert_allclose(other.embedding_, plain.embedding_ * scale, rtol=1e-3, atol=1e-4 * scale)
    assert other.gap_ < 1e-5


def test_components_copies_and_refusals():
    rng = np.random.default_rng(11)
    X = np.r_[rng.standard_normal((20, 2)), rng.standard_normal((15, 2)) + 100]
    with pytest.warns(ritz.DisconnectedGraph, match="2 components"):
        model = ritz.MVU(1, n_neighbors=4).fit(X)
    assert model.n_connected_components_ == 2
    assert bool(model.verify(X))
    alone = ritz.MVU(1, n_neighbors=4).fit(X[:20])
    np.testing.assert_allclose(model.embedding_[:20], alone.embedding_, rtol=1e-6, atol=1e-6)
    with pytest.warns(ritz.DisconnectedGraph):
        joined = ritz.MVU(1, n_neighbors=4, disconnected="join").fit(X)
    assert joined.n_connected_components_ == 1
    assert bool(joined.verify(X))
    with pytest.raises(ritz.RitzError):
        ritz.MVU(1, n_neighbors=4, disconnected="error").fit(X)
    copies = np.r_[X[:20], X[:20], X[:3]]
    twice = ritz.MVU(1, n_neighbors=4).fit(copies)
    np.testing.assert_allclose(twice.embedding_[:20], twice.embedding_[20:40])
    np.testing.assert_allclose(twice.variance_, alone.variance_, rtol=1e-5)
    small = ritz.MVU(2, n_neighbors=2).fit([[0.0, 0], [3, 0], [0, 4]])
    np.testing.assert_allclose(np.linalg.norm(small.embedding_[0] - small.embedding_[1]), 3, rtol=1e-5)
    for bad, words in (
        ({"n_neighbors": 35}, "at most 34"), ({"n_neighbors": 0}, "whole number"), ({"n_components": 0}, "at least 1"),
        ({"n_components": "elbow"}, "whole number"), ({"pairs": "edge"}, "edges"), ({"form": "equal"}, "inequality"),
        ({"solver": "svd"}, "interior"), ({"n_neighbors": 3, "radius": 1.0}, "not both"),
    ):  # fmt: skip
        with pytest.raises(ritz.ParameterError, match=words):
            ritz.MVU(**bad).fit(X)
    with pytest.raises(ritz.RitzError):
        ritz.MVU().fit(np.full((5, 2), np.nan))
    with pytest.raises(ritz.RitzError, match="copies of one row"):
        ritz.MVU(1).fit(np.ones((6, 2)))
    with pytest.raises(ritz.RitzError, match="2 rows"):
        ritz.MVU(1).fit([[1.0, 2.0]])
    D = np.abs(rng.standard_normal((6, 6)))
    with pytest.raises(ritz.RitzError):
        ritz.MVU(metric="precomputed").fit(D)
    with pytest.raises(ritz.MemoryLimitError, match="low-rank"):
        ritz.MVU(solver="interior", memory="60MB").fit(rng.standard_normal((900, 2)))


def test_strings_and_a_graph():
    words = ["cat", "cats", "cart", "art", "arts", "dart", "darts", "dark", "bark", "barks"]
    model = ritz.MVU(2, metric="edit", n_neighbors=3).fit(words)
    assert model.gap_ < 1e-5
    np.testing.assert_allclose(model.transform(words), model.embedding_)
    assert model.transform(["bart"]).shape == (1, 2)
    assert bool(model.verify(words))
    n = 9
    W = coo_array((np.full(n - 1, 2.0), (np.arange(n - 1), np.arange(1, n))), shape=(n, n)).tocsr()
    line = ritz.MVU(1, metric="precomputed", tol=1e-9).fit(W + W.T)
    np.testing.assert_allclose(np.abs(np.diff(line.embedding_[:, 0])), 2, rtol=1e-5)
    with pytest.raises(ritz.InputError, match="sparse graph"):
        line.transform(W[:2])


def test_a_file_keeps_the_proof(tmp_path):
    X = np.random.default_rng(12).standard_normal((25, 3))
    model = ritz.MVU(2).fit(X)
    ritz.save(model, tmp_path / "a.ritz")
    again = ritz.load(tmp_path / "a.ritz")
    assert again.gap_ == model.gap_
    assert bool(again.verify(X))
    np.testing.assert_array_equal(again.transform(X[:4] + 0.1), model.transform(X[:4] + 0.1))


def test_a_gap_that_stays_is_said(monkeypatch):
    from ritz.methods.manifold import mvu

    monkeypatch.setattr(mvu, "low_rank", lambda *a, **k: low_rank(a[0], a[1], tol=1e-9, seed=0, rounds=1))
    X = np.random.default_rng(13).standard_normal((40, 3))
    with pytest.warns(ritz.AccuracyWarning, match="a gap of"):
        model = ritz.MVU(2, solver="low-rank").fit(X)
    assert model.gap_ > 0.01
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert ritz.MVU(2).fit(X).variance_ <= model.bound_
