"""One row 1e8 times as far away as the others: what the components leave is not drowned by it.

Truth is exact: rows and axes are numbers of float64, so what the axes leave of a row is a rational (Gram–Schmidt makes
the axes orthogonal exactly).
"""

from __future__ import annotations

import warnings
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

import ritz
from ritz import insight


def rows(n=60, d=5, far=1e8, seed=0):
    X = np.random.default_rng(seed).standard_normal((n, d))
    X[3] += far * np.array([1, -2, 0.5, *np.zeros(d - 3)])
    return X


def fractions(A):
    return [[Fraction(value) for value in row] for row in np.asarray(A, np.float64).tolist()]


def dot(a, b):
    return sum(x * y for x, y in zip(a, b, strict=True))


def left_of(X, axes, *, center=True):
    """(n,) ‖z − VVᵀz‖² exactly."""
    R = fractions(X)
    n, d = len(R), len(R[0])
    mean = [sum(row[j] for row in R) / n if center else Fraction(0) for j in range(d)]
    basis = []
    for axis in fractions(axes):
        for other in basis:
            share = dot(axis, other) / dot(other, other)
            axis = [a - share * b for a, b in zip(axis, other, strict=True)]
        basis.append(axis)
    found = []
    for row in R:
        z = [a - b for a, b in zip(row, mean, strict=True)]
        for axis in basis:
            share = dot(z, axis) / dot(axis, axis)
            z = [a - share * b for a, b in zip(z, axis, strict=True)]
        found.append(float(dot(z, z)))
    return np.array(found)


@pytest.mark.parametrize("solver", ["svd", "moments", "krylov", "lanczos", "chebyshev", "power"])
@pytest.mark.parametrize("k", [1, 2])
def test_noise_and_reconstruction_beside_a_far_row(solver, k):
    X = rows()
    n, d = X.shape
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ritz.AccuracyWarning)  # a tolerance of 1e-12 is more than some solvers reach
        model = ritz.PCA(k, solver=solver, tol=1e-12).fit(X)
    left = left_of(X, model.components_)
    if np.isnan(model.noise_variance_):  # a plane that is known to tol only may hide as much
        assert k == 2
        assert solver not in ("svd", "moments")
        return
    assert model.noise_variance_ == pytest.approx(left.sum() / (n - 1) / (d - k), rel=1e-9)
    assert model.reconstruction_error()[-1] == pytest.approx(left.mean(), rel=1e-9)
    assert model.reconstruction_error(X)[-1] == pytest.approx(left.mean(), rel=1e-9)
    np.testing.assert_allclose(insight.spe(model, X), left, rtol=1e-6, atol=1e-12)
    np.testing.assert_allclose(insight.spe(model, sp.csr_array(X)), left, rtol=1e-6, atol=1e-12)


def test_likelihoods_beside_a_far_row():
    X = rows()
    model = ritz.PCA(1).fit(X)
    left, noise, variance = left_of(X, model.components_), model.noise_variance_, model.explained_variance_[0]
    t = model.transform(X)[:, 0]
    truth = -0.5 * (5 * np.log(2 * np.pi) + np.log(variance) + 4 * np.log(noise) + t**2 / variance + left / noise)
    np.testing.assert_allclose(model.score_samples(X), truth, rtol=1e-7)
    np.testing.assert_allclose(model.score_samples(sp.csr_array(X)), truth, rtol=1e-7)
    plain = X[np.arange(60) != 3]  # the rows without the far one are as likely as under a model of these
    assert np.median(model.score_samples(plain)) > -40


def test_float32_rows_beside_a_far_row():
    X = rows(far=1e6).astype(np.float32)
    model = ritz.PCA(1).fit(X)
    left = left_of(X, ritz.PCA(1).fit(X.astype(float)).components_)
    assert model.noise_variance_ == pytest.approx(left.sum() / 59 / 4, rel=1e-6)
    np.testing.assert_allclose(insight.spe(model, X)[:3], left[:3], rtol=1e-5)


def test_a_decomposition_about_zero_beside_a_far_row():
    X = rows()
    model = ritz.SVD(1).fit(X)
    left = left_of(X, model.components_, center=False)
    np.testing.assert_allclose(insight.spe(model, X), left, rtol=1e-6, atol=1e-12)
    assert insight.limits(model).spe == pytest.approx(insight.limits(ritz.SVD(1, solver="svd").fit(X)).spe, rel=1e-2)
    Z = X - X.mean(axis=0)
    assert model.explained_variance_[0] == pytest.approx(np.mean(np.square(Z @ model.components_[0])), rel=1e-9)


def test_sparse_components_beside_a_far_row():
    X = rows()
    model = ritz.SparsePCA(1, n_nonzero=3).fit(X)
    left = left_of(X, model._record.loadings.T)
    assert model.noise_variance_ == pytest.approx(left.sum() / 59 / 4, rel=1e-9)


def test_files_are_read_once_more_only_where_it_matters(tmp_path):
    pd = pytest.importorskip("pandas")
    for name, X in (("far", rows()), ("near", rows(far=0.0))):
        pd.DataFrame(X, columns=list("abcde")).to_parquet(tmp_path / f"{name}.parquet", row_group_size=20)
    far, near = (
        ritz.PCA(1, memory="300MB").fit(ritz.read(tmp_path / f"{name}.parquet", memory="1kB"))
        for name in ("far", "near")
    )
    assert far.certificate_.passes > near.certificate_.passes
    left = left_of(rows(), far.components_)
    assert far.noise_variance_ == pytest.approx(left.sum() / 59 / 4, rel=1e-6)


def test_a_state_says_what_it_cannot_tell():
    X = rows()
    model = ritz.PCA(1).fit(X[:30]).merge(ritz.PCA(1).fit(X[30:]))
    with pytest.warns(ritz.AccuracyWarning, match="noise_variance_, is NaN; fit the rows themselves"):
        assert np.isnan(model.noise_variance_)
    assert np.isnan(model.score_samples(X)).all()
    errors = model.reconstruction_error()
    assert errors[0] == pytest.approx(model.total_variance_ * 59 / 60)
    assert np.isnan(errors[1])
    with pytest.raises(ritz.InputError, match="lost when the rows were added up"):
        insight.limits(model)
    whole = ritz.PCA(1).fit(X)
    assert insight.limits(model, X=X).spe == pytest.approx(insight.limits(whole).spe, rel=1e-2)
    np.testing.assert_allclose(insight.spe(model, X), left_of(X, model.components_), rtol=1e-6, atol=1e-12)


def test_a_state_that_is_somewhat_sure_says_how_much():
    X = rows(far=3e6)
    model = ritz.PCA(1).fit(X[:30]).merge(ritz.PCA(1).fit(X[30:]))
    with pytest.warns(ritz.AccuracyWarning, match=r"noise_variance_, is right to \d"):
        noise = model.noise_variance_
    assert noise == pytest.approx(ritz.PCA(1).fit(X).noise_variance_, rel=0.5)


def test_rows_that_still_wait_tell_it():
    X = rows()
    model = ritz.PCA(1).partial_fit(X[:30]).partial_fit(X[30:])
    assert model.noise_variance_ == pytest.approx(left_of(X, model.components_).sum() / 59 / 4, rel=1e-6)


def test_ordinary_rows_are_not_read_again_and_nothing_is_said():
    X = np.random.default_rng(0).standard_normal((200, 6)) @ np.diag([9.0, 5, 3, 1, 1, 1])
    for model in (ritz.PCA(2).fit(X), ritz.PCA(2).partial_fit(X), ritz.PCA(6).partial_fit(X), ritz.PCA().fit(X)):
        assert np.isfinite(model.noise_variance_)
    for solver in ("svd", "moments", "krylov"):
        model = ritz.PCA(2, solver=solver).fit(X)
        assert model.certificate_.passes == model.plan_.actual_passes
        assert "read once more" not in str(model.plan_)


def test_rows_that_are_read_again_count_in_the_plan_and_in_the_certificate():
    far = ritz.PCA(1).fit(rows())
    assert far.certificate_.passes == far.plan_.actual_passes > far.plan_.passes
    assert far.plan_.reasons[-1].startswith("what the components leave is too small for a difference of sums: the rows")
    rng = np.random.default_rng(0)
    low = rng.standard_normal((300, 4)) @ rng.standard_normal((4, 12)) + 1e6
    svd = ritz.SVD(2).fit(low)  # its squares are those of the mean: both the rest and the variances ask for the rows
    assert svd.certificate_.passes == svd.plan_.actual_passes
    assert sum("read once more" in reason for reason in svd.plan_.reasons) == 2


def test_rows_in_a_plane_have_no_noise():
    X = np.random.default_rng(1).standard_normal((50, 2)) @ np.random.default_rng(2).standard_normal((2, 6)) + 7
    model = ritz.PCA(2).fit(X)
    assert model.noise_variance_ == 0
    assert np.isfinite(model.score_samples(X)).all()
    assert np.all(model.score_samples(X + np.array([0, 0, 0, 0, 0, 1e-6])) == -np.inf)


def test_factors_and_rows_that_they_explain():
    """zᵀΣ⁻¹z as a sum of squares: ‖u‖² − ‖C⁻¹Bᵀu‖² is rounding for a row 1e9 along the factor."""
    rng = np.random.default_rng(4)
    load = np.array([1.0, 0.8, 0.6, 0.9])
    model = ritz.FactorAnalysis(1, scale=False).fit(
        rng.standard_normal((300, 1)) * load + 0.3 * rng.standard_normal((300, 4))
    )
    L, psi = model._record.unrotated[:, 0], model._record.psi
    z = 1e9 * L + np.array([0.3, -0.2, 0.1, 0.4])
    Lf, pf, zf = ([Fraction(float(v)) for v in part] for part in (L, psi, (model.mean_ + z) - model.mean_))
    a = sum(x * x / p for x, p in zip(Lf, pf, strict=True))
    b = sum(x * y / p for x, y, p in zip(Lf, zf, pf, strict=True))
    square = float(sum(y * y / p for y, p in zip(zf, pf, strict=True)) - b * b / (1 + a))
    logdet = float(np.sum(np.log(psi)) + np.log1p(float(a)))
    truth = -0.5 * (4 * np.log(2 * np.pi) + logdet + square)
    assert model.score_samples((model.mean_ + z)[None])[0] == pytest.approx(truth, rel=1e-12)
