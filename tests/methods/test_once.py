"""Iterators of batches with more columns than a d×d state allows: one pass, d×l numbers, and a certificate."""

from __future__ import annotations

import tracemalloc
import warnings

import numpy as np
import pytest
import scipy.sparse as sp

import ritz
from ritz.operators.once import Once

WIDE = 20_500


def batches(X, size=25):
    return (X[i : i + size] for i in range(0, X.shape[0], size))


def wide_rows(n=40, far=0.0, seed=0):
    rng = np.random.default_rng(seed)
    V = np.linalg.qr(rng.standard_normal((WIDE, 3)))[0]
    X = rng.standard_normal((n, 3)) * [60, 40, 25] @ V.T + 1e-3 * rng.standard_normal((n, WIDE)) + far
    X[n // 2 :] += 0.02  # the mean drifts
    return X


def sketch(X, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ritz.AccuracyWarning)  # one pass does not reach tol
        return ritz.PCA(**{"n_components": 4, "solver": "sketch", **options}).fit(X)


@pytest.mark.parametrize("far", [0.0, 1e8])
def test_the_certificate_holds(far):
    X = wide_rows(far=far)
    model = sketch(batches(X))
    Z = X - X.mean(axis=0)
    Z -= Z.mean(axis=0)
    truth = np.square(np.linalg.svd(Z, compute_uv=False))
    c = model.certificate_
    assert np.all((c.lower <= truth[:4]) & (truth[:4] <= c.upper))
    assert c.total == pytest.approx(truth.sum(), rel=1e-12)
    assert c.passes == 1
    assert c.kind == "estimate"
    np.testing.assert_allclose(model.explained_variance_[:3], truth[:3] / 39, rtol=1e-2)
    T = model._map().forward(X)
    assert np.abs(T.mean(axis=0)).max() < 1e-12 * np.abs(T).max()
    assert model.n_samples_ == 40
    assert np.isfinite(model.noise_variance_)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "X does not have valid feature names")  # an iterator names its columns
        assert model.verify(X)


def test_memory_is_a_few_blocks_of_vectors():
    def stream():
        for i in range(3):
            yield np.random.default_rng(i).standard_normal((8, WIDE))

    tracemalloc.start()
    sketch(stream(), n_components=3)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 40 * 16 * 8 * WIDE  # a state would hold 8·d² = 3.4 GB


def test_sparse_batches_and_weights():
    S = sp.random(90, WIDE, 0.01, random_state=0, format="csr")
    w = np.random.default_rng(0).integers(1, 4, 90).astype(float)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ritz.AccuracyWarning)
        model = ritz.PCA(3, solver="sketch").fit(batches(S), sample_weight=w)
        whole = ritz.PCA(3, solver="sketch").fit(batches(S.toarray()), sample_weight=w)
    np.testing.assert_allclose(model.certificate_.values, whole.certificate_.values, rtol=1e-9)
    assert model.certificate_.total == pytest.approx(whole.certificate_.total, rel=1e-12)
    np.testing.assert_allclose(model.mean_, np.average(S.toarray(), axis=0, weights=w), atol=1e-15)


def test_about_zero_and_a_fraction():
    X = wide_rows()[:, :3000]
    few = {"memory": "200MB"}  # less than a state of 3,000 columns takes
    plain = sketch(batches(X), center=False, **few)
    assert plain.mean_ is None
    assert plain.certificate_.total == pytest.approx(float(np.sum(np.square(X))), rel=1e-12)
    assert plain._record.state is None
    assert sketch(batches(X), n_components=0.6, **few).n_components_ == sketch(X, n_components=0.6).n_components_


def test_what_one_pass_cannot_give_is_refused():
    X = np.random.default_rng(0).standard_normal((8, WIDE))
    with pytest.raises(ritz.ParameterError, match="known when the rows are gone"):
        sketch(batches(X), scale=True)
    for asked in (None, "kaiser"):
        with pytest.raises(ritz.ParameterError, match="takes a number of components, or a fraction"):
            sketch(batches(X), n_components=asked)
    with pytest.raises(ritz.ParameterError, match=r"must be between 0 and min\(n_samples, n_features\)=8"):
        sketch(batches(X), n_components=9)
    X[5, 7] = np.nan
    with pytest.raises(ritz.InputError, match="row 5"):
        sketch(batches(X, 3))
    with pytest.raises(ritz.InputError, match="one entry for each of the 8 rows"):
        ritz.PCA(2, solver="sketch").fit(batches(np.ones((8, WIDE))), sample_weight=np.ones(9))


def test_a_product_of_batches_is_that_of_all_rows(seed):
    rng = np.random.default_rng(seed)
    X = np.round(rng.standard_normal((70, 9)) * 2**20) / 2**20 + 2.0**27
    X[40:] += 64.0
    w = rng.uniform(0.5, 3, 70)
    Z = X - np.average(X, axis=0, weights=w)
    Z -= np.average(Z, axis=0, weights=w)
    V = rng.standard_normal((9, 4))
    for convert in (np.asarray, lambda rows: sp.csr_array(rows - 2.0**27)):
        M = Once(((convert(X[i : i + 11]), w[i : i + 11]) for i in range(0, 70, 11)), 9, center=True)
        np.testing.assert_allclose(M.matmat(V), Z.T @ (w[:, None] * (Z @ V)), rtol=1e-11, atol=1e-9)
        assert M.trace() == pytest.approx(float(w @ np.square(Z).sum(axis=1)), rel=1e-12)
        assert M.rows == 70
        with pytest.raises(ritz.InputError, match="rows that can be read again"):
            M.matmat(V)
