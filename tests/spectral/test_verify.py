"""``verify`` reads the data anew: means, scales and totals of its own, which a wrong fit cannot share."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

import ritz
from ritz.operators import Centered
from ritz.spectral.verify.table import Reread
from ritz.testing import true_rows

RNG = np.random.default_rng(3)
X = RNG.standard_normal((200, 5)) * [9, 5, 3, 2, 1] + [1e3, -5, 0, 1e6, 2]
W = RNG.choice([0.0, 0.5, 1.0, 3.0], 200) + 0.25 * np.eye(1, 200)[0]


def bent(certificate, **frame):
    return replace(certificate, frame={**certificate.frame, **frame})


@pytest.mark.parametrize("weights", [None, W], ids=["plain", "weighted"])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix], ids=["dense", "sparse"])
@pytest.mark.parametrize("scale", [None, np.ones(5)], ids=["unscaled", "scaled"])
def test_the_table_read_anew_is_the_true_one(kind, scale, weights):
    pytest.importorskip("flint")
    A = true_rows(X, center=True, scale=scale is not None, weights=weights)
    read = Reread(kind(X), weights, center=True, unit=1.0, scale=scale)
    true = np.asarray(A.T @ A, float)
    slack = 1e-14 * np.linalg.norm(true) + 4e-16 * read.inflation()
    np.testing.assert_allclose(read.gram(), true, rtol=0, atol=slack)
    np.testing.assert_allclose(read.normal(np.eye(5)), true, rtol=0, atol=slack)
    assert read.trace() == pytest.approx(np.trace(true), rel=1e-14)


@pytest.mark.parametrize("solver", ["moments", "svd", "krylov"])
def test_a_mean_that_is_slightly_wrong_fails(solver):
    certificate = ritz.PCA(3, solver=solver).fit(X).certificate_
    assert certificate.verify(X)
    for column, size in enumerate([9, 5, 3, 2, 1]):
        off = np.asarray(certificate.frame["mean"]).copy()
        off[column] += 1e-9 * size + 2e-15 * abs(off[column])
        outcome = bent(certificate, mean=off).verify(X)
        assert not outcome
        assert f"the mean of column {column} is" in str(outcome)


def test_a_scale_that_is_slightly_wrong_fails():
    certificate = ritz.PCA(3, scale=True).fit(X).certificate_
    assert certificate.verify(X)
    outcome = bent(certificate, scale=certificate.frame["scale"] * [1, 1, 1 + 1e-9, 1, 1]).verify(X)
    assert "the scale of column 2 is" in str(outcome)
    assert not outcome


def test_a_fit_about_another_point_fails():
    class Wrong(ritz.PCA):
        def _problem(self, posed, plan):
            problem = super()._problem(posed, plan)
            leaf, stats = self._leaf(posed.rows, posed.weights, plan, posed.unit)
            return replace(problem, operator=Centered(leaf, stats.column.mean + 1e-3))

    assert ritz.PCA(3, solver="krylov").fit(X).certificate_.verify(X)
    certificate = Wrong(3, solver="krylov").fit(X).certificate_
    assert not certificate.verify(X)


@pytest.mark.parametrize("factor", [1 + 1e-9, 1 - 1e-9])
def test_a_total_that_is_slightly_wrong_fails(factor):
    certificate = ritz.PCA(3).fit(X).certificate_
    assert not replace(certificate, total=certificate.total * factor).verify(X)


def test_rows_of_weight_zero_are_absent_whatever_they_hold():
    Y = X.copy()
    Y[W == 0] = np.nan
    certificate = ritz.PCA(3, scale=True).fit(X, sample_weight=W).certificate_
    assert certificate.verify(Y, W)
    assert not certificate.verify(X)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_states_pass_with_what_they_lost(dtype):
    rows = RNG.standard_normal((3000, 5)).astype(dtype) * 100
    few = (RNG.standard_normal((6, 5)) + 3).astype(dtype)
    for scale in (False, True):
        whole = ritz.PCA(2, scale=scale).fit(np.concatenate([rows, few]))
        left = whole.subtract(ritz.PCA(2, scale=scale).fit(rows))
        outcome = left.certificate_.verify(few)
        assert outcome, str(outcome)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("how", ["fit", "partial_fit"])
def test_a_fitted_name_that_was_changed_fails(how, dtype):
    Y = (X - X.mean(axis=0)).astype(dtype) + dtype(7)
    for name in ("mean_", "scale_"):
        model = getattr(ritz.PCA(2, scale=True), how)(Y)
        assert model.certificate_.verify(Y)
        getattr(model, name)[3] *= 1 + 1e-3
        assert not model.certificate_.verify(Y), name


def test_inertia_is_told_in_the_singular_and_in_the_plural():
    X = np.random.default_rng(0).standard_normal((1500, 700)) * 0.98 ** np.arange(700)
    for k, words in (
        (1, "1 enclosure has as many eigenvalues above and below as its place says"),
        (3, "as their places"),
    ):
        assert words in str(ritz.PCA(k, solver="lanczos").fit(X).verify(X))


def far_column(rows, mean):
    """Sparse rows with one column that has every entry, and lies far from zero."""
    rng = np.random.default_rng(1)
    rest = sparse.random(rows, 20, 0.1, format="csr", random_state=rng, data_rvs=rng.standard_normal)
    column = sparse.csr_array(mean + rng.standard_normal((rows, 1)))
    return sparse.csr_array(sparse.hstack([column, rest]))


@pytest.mark.filterwarnings("ignore:what the components leave")
@pytest.mark.parametrize("solver", ["moments", "svd", "krylov", "lanczos"])
@pytest.mark.parametrize("mean", [100, 3e3, 1e4, 1e7])
def test_sparse_rows_whose_means_come_off_their_sums_pass(mean, solver):
    """A small table is filled when it is read anew, but may not have been for the fit."""
    for rows in (300, 5_000):
        some = far_column(rows, mean)
        for model in (ritz.PCA(2, solver=solver).fit(some), ritz.SVD(2, solver=solver).fit(some)):
            assert model.verify(some), str(model.verify(some))
    wrong = replace(model.certificate_, total=model.certificate_.total * (1 + 1e-12))
    assert "the total is" in str(wrong.verify(some))
