"""Multidimensional scaling: truth from closed forms, new rows, corrections, stress, landmarks, refusals."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.spatial.distance import cdist, pdist

import ritz
from ritz.methods.manifold.refine import LOSSES
from ritz.operators.distances import Gower, Squares
from ritz.testing import check_operator

RNG = np.random.default_rng(7)
X = RNG.standard_normal((40, 4)) * [4.0, 2.0, 1.0, 0.5]
D = cdist(X, X)


def tiles(D2):
    return lambda: ((i, D2[i : i + 256, i:].copy()) for i in range(0, len(D2), 256))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("keep", [False, True])
@pytest.mark.parametrize("scale", [1.0, 1e-6, 1e8])
def test_gowers_matrix_keeps_the_contract_of_operators(weighted, keep, scale):
    n = 300
    given = cdist(RNG.standard_normal((n, 3)), RNG.standard_normal((n, 3)), "cityblock")
    D2 = np.square(scale * (given + given.T))
    np.fill_diagonal(D2, 0)
    w = RNG.random(n) + 0.1 if weighted else None
    p = np.full(n, 1 / n) if w is None else w / w.sum()
    J, S = np.eye(n) - np.outer(np.ones(n), p), np.diag(np.ones(n) if w is None else np.sqrt(w))
    G = -0.5 * S @ J @ D2 @ J.T @ S
    other = Gower(Squares(n, tiles(D2 * 2 + D2**2 / D2.max()), keep=keep), w)
    check_operator(Gower(Squares(n, tiles(D2), keep=keep), w), (G + G.T) / 2, other=other)


def test_a_cycle_has_the_eigenvalues_of_its_circulant():
    """Distances along a cycle: −½JD²J is circulant, so its eigenvalues are a cosine sum; some are negative."""
    n = 1201  # more than are decomposed densely
    step = np.minimum(np.arange(n), n - np.arange(n)).astype(float)
    C = step[(np.arange(n)[:, None] - np.arange(n)) % n]
    angle = 2 * np.pi * np.outer(np.arange(1, n), np.arange(n)) / n
    truth = -0.5 * np.cos(angle) @ step**2
    model = ritz.MDS(4, metric="precomputed").fit(C)
    c = model.certificate_
    expected = np.sort(truth)[::-1][:4]
    assert ((c.lower <= expected * (1 + 1e-12)) & (expected * (1 - 1e-12) <= c.upper)).all()
    assert c.clusters  # pairs of equal eigenvalues are named
    share = -truth[truth < 0].sum() / np.abs(truth).sum()
    assert abs(model.negative_share_ - share) < 0.1
    np.testing.assert_allclose(
        model.transform(C[:50]), model.embedding_[:50], atol=1e-8 * np.abs(model.embedding_).max()
    )


def test_no_larger_eigenvalue_fits_into_the_frobenius_norm():
    from ritz.spectral.certificate.completeness import by_squares

    for seed in range(30):
        rng = np.random.default_rng(seed)
        S = rng.standard_normal((12, 12)) * np.exp(rng.standard_normal(12))
        S = S + S.T
        Q = np.linalg.qr(rng.standard_normal((12, 5)))[0]
        theta = np.sort(np.linalg.eigvalsh(Q.T @ S @ Q))[::-1]
        values = np.sort(np.linalg.eigvalsh(S))[::-1]
        for k in range(1, 5):
            assert values[k] <= by_squares(theta, k, float(np.sum(S * S)), 1e-12).ceiling


def test_euclidean_rows_are_reduced_to_their_principal_components(apart):
    rows, given = ritz.MDS(3).fit(X), ritz.MDS(3, metric="precomputed").fit(D)
    assert apart(rows.embedding_, given.embedding_) < 1e-10
    np.testing.assert_allclose(rows.eigenvalues_, given.eigenvalues_, rtol=1e-12)
    assert "no n×n matrix" in str(rows.plan_)
    assert "no n×n matrix" in str(ritz.plan(X, ritz.MDS(3)))
    assert rows.verify(X)
    assert not rows.verify(X + (X > 1))
    w = np.arange(1, 41)
    weighted, counted = ritz.MDS(2).fit(X, sample_weight=w), ritz.MDS(2, metric="precomputed").fit(D, sample_weight=w)
    assert apart(weighted.embedding_, counted.embedding_) < 1e-10
    new = RNG.standard_normal((5, 4))
    assert apart(weighted.transform(new), counted.transform(cdist(new, X))) < 1e-10


@pytest.mark.parametrize("correction", ["lingoes", "cailliez"])
def test_a_corrected_map_has_no_negative_eigenvalue(correction, eurodist_like):
    E = eurodist_like
    plain = ritz.MDS(2, metric="precomputed").fit(E)
    assert plain.negative_share_ > 0.001
    model = ritz.MDS(2, metric="precomputed", correction=correction).fit(E)
    c = model.constant_
    corrected = np.sqrt(E**2 + 2 * c) if correction == "lingoes" else E + c
    np.fill_diagonal(corrected, 0)
    J = np.eye(len(E)) - 1 / len(E)
    values = np.linalg.eigvalsh(-0.5 * J @ corrected**2 @ J)
    assert abs(values[0]) < 1e-10 * values[-1]
    assert model.negative_share_ < 1e-9
    np.testing.assert_allclose(model.eigenvalues_, values[::-1][:2], rtol=1e-10)
    np.testing.assert_allclose(model.transform(E), model.embedding_, atol=1e-8)
    assert model.verify(E)


@pytest.mark.parametrize("method", list(LOSSES))
def test_gradients_of_the_stress(method):
    loss, Y = LOSSES[method](D), X[:, :2] + 0.1 * RNG.standard_normal((40, 2))
    here, way = loss.at(Y), RNG.standard_normal((40, 2))
    h = 1e-6
    slope = (loss.at(Y + h * way).value - loss.at(Y - h * way).value) / (2 * h)
    assert slope == pytest.approx(float(np.vdot(here.gradient, way)), rel=1e-5)
    if here.step is not None:
        assert loss.at(here.step).value < here.value


@pytest.mark.parametrize("method", list(LOSSES))
def test_stress_methods_say_what_they_are_not(method):
    model = ritz.MDS(2, method=method, metric="precomputed").fit(D)
    assert "not certified" in str(model.certificate_)
    assert model.gradient_norm_ < 1e-6
    assert model.n_iter_ > 0
    d, delta = pdist(model.embedding_), D[np.triu_indices(40, 1)]
    if method == "metric":  # stress-1, in the unit of the distances
        assert model.stress_ == pytest.approx(np.sqrt(1 - (d @ delta) ** 2 / (d @ d) / (delta @ delta)), rel=1e-9)
        assert d @ delta == pytest.approx(d @ d)
    if method == "sammon":
        assert model.stress_ == pytest.approx(((delta - d) ** 2 / delta).sum() / delta.sum(), rel=1e-9)
    if method in ("metric", "sammon"):
        np.testing.assert_allclose(model.transform(D), model.embedding_, atol=1e-4)
    if method == "ordinal":
        cubes = ritz.MDS(2, method=method, metric="precomputed").fit(D**3)  # only the order counts
        assert cubes.stress_ < 0.2
    assert model.verify(D)


def test_steps_that_run_out_are_told():
    with pytest.warns(ritz.AccuracyWarning, match="max_iter=20"):
        ritz.MDS(2, method="metric", max_iter=2).fit(X)


def test_landmarks(apart):
    rows = RNG.standard_normal((500, 2)) @ RNG.standard_normal((2, 5))
    few = ritz.MDS(2, landmarks=20).fit(rows)
    assert few.residual_ < 1e-10  # two dimensions hold these distances
    np.testing.assert_allclose(pdist(few.embedding_), pdist(rows), rtol=1e-8)
    assert len(few.landmarks_) == 20
    assert "landmarks" in str(few.certificate_)
    rough = ritz.MDS(2, landmarks=20, metric="manhattan").fit(rows)
    assert rough.residual_ > 1e-3
    assert apart(rough.transform(rows), rough.embedding_) < 1e-8
    given = ritz.MDS(2, landmarks=few.landmarks_, metric="precomputed").fit(cdist(rows, rows))
    assert apart(given.embedding_, few.embedding_) < 1e-7


def test_tiles_that_do_not_fit_are_made_anew(apart):
    rows = RNG.standard_normal((1300, 3))
    kept = ritz.MDS(2, metric="manhattan").fit(rows)
    streamed = ritz.MDS(2, metric="manhattan", memory="12MB", solver="lanczos", tol=1e-10).fit(rows)
    assert apart(streamed.embedding_, kept.embedding_) < 1e-6
    assert streamed.certificate_.passes > kept.certificate_.passes


def test_axes_are_as_many_as_positive_eigenvalues():
    with pytest.warns(ritz.NegativeEigenvalues, match="4 of the first 9"):
        assert ritz.MDS(9, metric="precomputed").fit(D).embedding_.shape == (40, 4)
    with pytest.warns(ritz.NegativeEigenvalues, match="4 dimensions at most"):
        assert ritz.MDS(9).fit(X).embedding_.shape == (40, 4)


def changed(i, j, value):
    B = D.copy()
    B[i, j] = value
    return B


@pytest.mark.parametrize(
    ("model", "rows", "words"),
    [
        (ritz.MDS(metric="precomputed"), changed(2, 3, -1.0), r"≥ 0; received D\[2, 3\] = -1"),
        (ritz.MDS(metric="precomputed"), changed(2, 3, np.nan), r"D\[2, 3\] = nan"),
        (ritz.MDS(metric="precomputed"), changed(2, 3, 50.0), "distances are symmetric"),
        (ritz.MDS(metric="precomputed"), changed(2, 2, 1.0), "to itself is 0"),
        (ritz.MDS(metric="precomputed"), X, "square"),
        (ritz.MDS(), np.where(np.arange(160).reshape(40, 4) == 9, np.nan, X), "NaN"),
        (ritz.MDS(), X[:1], "at least 2 rows"),
        (ritz.MDS(), np.ones((6, 2)), "rows that differ"),
        (ritz.MDS(metric="manhattan"), np.ones((6, 2)), "rows that differ"),
        (ritz.MDS(method="metric"), np.ones((6, 2)), "rows that differ"),
        (ritz.MDS(method="sammon"), np.vstack([X, X]), "rows 0 and 40 at distance 0"),
        (ritz.MDS(method="clasical"), X, "method='classical'"),
        (ritz.MDS(correction="additive"), X, "'lingoes' or 'cailliez'"),
        (ritz.MDS(landmarks=2), X, "more than n_components=2"),
        (ritz.MDS(landmarks=[1, 1, 3]), X, "different row numbers"),
        (ritz.MDS(method="metric", landmarks=10), X, "for method='classical'"),
        (ritz.MDS(50), X, "n_components=50"),
        (ritz.MDS(method="ordinal", max_iter=0), X, "max_iter"),
        (ritz.MDS(method="metric", memory="1MB"), RNG.random((2000, 2)), "memory=1 MB|limit of 1 MB"),
    ],
)
def test_refusals(model, rows, words):
    with pytest.raises(ritz.RitzError, match=words):
        model.fit(rows)
    assert not hasattr(model, "embedding_")


@pytest.mark.parametrize("method", ["classical", *LOSSES])
def test_three_rows(method):
    for metric in ("euclidean", "manhattan"):
        model = ritz.MDS(2, method=method, metric=metric).fit(X[:3])
        truth = pdist(X[:3], {"manhattan": "cityblock"}.get(metric, metric))
        np.testing.assert_allclose(pdist(model.embedding_), truth, rtol=1e-4 if method != "ordinal" else 10)


@pytest.mark.parametrize(
    ("model", "rows"),
    [
        (ritz.MDS(), X), (ritz.MDS(metric="precomputed"), D), (ritz.MDS(method="ordinal"), X),
        (ritz.MDS(metric="edit"), ["anna", "hannah", "joanna", "peter", "pete", "petra"]),
        (ritz.MDS(landmarks=15, metric="manhattan"), X), (ritz.MDS(metric=ritz.kernels.RBF(0.1)), X),
    ],
)  # fmt: skip
def test_files_hold_what_places_new_rows(model, rows, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ritz.NegativeEigenvalues)
        model.fit(rows)
    ritz.save(model, tmp_path / "map.ritz")
    back = ritz.load(tmp_path / "map.ritz")
    np.testing.assert_array_equal(back.embedding_, model.embedding_)
    np.testing.assert_array_equal(back.transform(rows), model.transform(rows))


@pytest.mark.parametrize("size", [1e-150, 1e150])
@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
def test_eigenvalues_are_in_the_units_of_the_rows(size, metric):
    X = np.random.default_rng(1).random((60, 3))
    model, small = ritz.MDS(2, metric=metric).fit(X * size), ritz.MDS(2, metric=metric).fit(X)
    np.testing.assert_allclose(model.eigenvalues_ / size / size, small.eigenvalues_, rtol=1e-9)
    np.testing.assert_allclose(np.abs(model.embedding_ / size), np.abs(small.embedding_), atol=1e-9)


def test_fourth_powers_that_vanish_prove_nothing():
    D = np.abs(np.subtract.outer(np.arange(30.0), np.arange(30.0)))

    def squares(size):
        return Squares(30, lambda: iter([(0, np.square(D * size))]), keep=True)

    assert Gower(squares(1.0)).square_sum() >= np.sum(np.square(Gower(squares(1.0)).to_dense())) * (1 - 1e-12)
    for size in (1e-120, 1e120):
        assert Gower(squares(size)).square_sum() is None
