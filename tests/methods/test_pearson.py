"""Pearson residuals of counts: the formula by fractions, correspondence analysis at θ = ∞, streams, new rows."""

from __future__ import annotations

from pathlib import Path

import mpmath
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp
import scipy.stats
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import ritz

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data" / "singlecell"


@parametrize_with_checks([ritz.PearsonResiduals()])
def test_scikit_learn(estimator, check):
    check(estimator)


@pytest.fixture
def counts(seed) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.poisson(rng.gamma(2, 1, (60, 1)) * rng.gamma(1, 2, (1, 9)))


@pytest.mark.parametrize("theta", [100.0, 2.0, np.inf])
def test_the_formula_by_mpmath(counts, theta):
    found = ritz.PearsonResiduals(theta, clip=1e9).fit_transform(counts)
    total, rows, columns = int(counts.sum()), counts.sum(axis=1), counts.sum(axis=0)
    for i, j in ((0, 0), (7, 3), (59, 8), (12, 5)):
        mu = mpmath.mpf(int(rows[i])) * int(columns[j]) / total
        variance = mu if np.isinf(theta) else mu + mu**2 / theta
        truth = (int(counts[i, j]) - mu) / mpmath.sqrt(variance) if mu else mpmath.mpf(0)
        assert found[i, j] == pytest.approx(float(truth), rel=1e-13, abs=1e-15)


def test_poisson_residuals_are_the_table_of_correspondence_analysis(counts):
    counts = counts[counts.sum(axis=1) > 0][:, counts.sum(axis=0) > 0]
    Z = ritz.PearsonResiduals(np.inf, clip=1e9).fit_transform(counts)
    svd = ritz.SVD(3, tol=0).fit(Z)
    assert np.allclose(svd.singular_values_**2, ritz.CA(3).fit(counts).eigenvalues_ * counts.sum())
    assert np.sum(Z**2) == pytest.approx(ritz.CA().fit(counts).total_inertia_ * counts.sum())


@pytest.mark.parametrize("theta", [100.0, 0.5, np.inf])
def test_deviance_residuals_by_mpmath(counts, theta):
    found = ritz.PearsonResiduals(theta, clip=1e9, kind="deviance").fit_transform(counts)
    total, rows, columns = int(counts.sum()), counts.sum(axis=1), counts.sum(axis=0)
    with mpmath.workdps(40):
        for i, j in zip(*np.nonzero(columns[None] * rows[:, None]), strict=True):
            x, mu = int(counts[i, j]), mpmath.mpf(int(rows[i])) * int(columns[j]) / total
            parts = x * mpmath.log(x / mu) if x else mpmath.mpf(0)
            if np.isinf(theta):
                parts -= x - mu
            else:
                parts -= (x + theta) * mpmath.log((x + theta) / (mu + theta))
            truth = mpmath.sign(x - mu) * mpmath.sqrt(2 * abs(parts))
            assert found[i, j] == pytest.approx(float(truth), rel=1e-11, abs=1e-13)


def test_poisson_deviances_add_up_to_the_likelihood_ratio_of_independence(counts):
    counts = counts[counts.sum(axis=1) > 0][:, counts.sum(axis=0) > 0]
    for form in (counts, sp.csr_array(counts)):
        Z = ritz.PearsonResiduals(np.inf, clip=1e9, kind="deviance").fit(form)
        ratio = scipy.stats.chi2_contingency(counts, lambda_="log-likelihood").statistic
        assert np.sum(np.square(Z.transform(form))) == pytest.approx(ratio, rel=1e-12)
        lazy = ritz.PCA(2).fit(Z.lazy(form))
        assert np.allclose(lazy.explained_variance_, ritz.PCA(2).fit(Z.transform(form)).explained_variance_)


@pytest.mark.parametrize("kind", ["pearson", "deviance"])
def test_groups_that_a_poisson_model_planted_are_found_whatever_the_depth(kind, seed):
    """log rate = a_j + u_i v_j, as GLM-PCA writes it: u is the first axis."""
    rng = np.random.default_rng(seed)
    u, v = rng.standard_normal(400), 0.6 * rng.standard_normal(80)
    depth = rng.uniform(100, 2000, 400)
    rates = np.exp(rng.standard_normal(80) + np.outer(u, v))
    X = sp.csr_array(rng.poisson(depth[:, None] * rates / rates.sum(axis=1, keepdims=True)))
    found = make_pipeline(ritz.PearsonResiduals(np.inf, kind=kind), ritz.PCA(1)).fit_transform(X)[:, 0]
    plain = ritz.PCA(1).fit_transform(X)[:, 0]
    near = [abs(scipy.stats.spearmanr(one, u).statistic) for one in (found, plain)]
    assert near[0] > max(0.85, near[1])
    assert abs(scipy.stats.spearmanr(found, depth).statistic) < 0.3


def test_dense_sparse_files_and_blocks_give_one_answer(counts, tmp_path):
    dense = ritz.PearsonResiduals().fit(counts)
    whole = dense.transform(counts)
    for form in (sp.csr_array(counts), sp.csr_matrix(counts.astype(np.int16)), pd.DataFrame(counts)):
        other = ritz.PearsonResiduals().fit(form)
        assert np.allclose(other.transform(form), whole, rtol=1e-14)
    path = tmp_path / "counts.parquet"
    pq.write_table(pa.table({f"g{j}": counts[:, j] for j in range(9)}), path, row_group_size=10)
    table = ritz.read(path)
    outside = ritz.PearsonResiduals().fit(table)
    assert np.allclose(outside.transform(table), whole)
    truth = ritz.PCA(3).fit(whole)
    for X, model in ((counts, dense), (sp.csr_array(counts), dense), (table, outside)):
        lazy = ritz.PCA(3).fit(model.lazy(X))
        assert np.allclose(lazy.explained_variance_, truth.explained_variance_)
        assert np.allclose(lazy.transform(model.lazy(X)), truth.transform(whole), atol=1e-9)
        assert lazy.verify(model.lazy(X))


def test_clipping_new_rows_and_empty_ones(counts):
    counts = counts.copy()
    counts[3, 0] = 5000
    counts[5] = 0
    counts[:, 4] = 0
    model = ritz.PearsonResiduals().fit(counts)
    Z = model.transform(counts)
    assert model.clip_ == pytest.approx(np.sqrt(60))
    assert Z.max() == pytest.approx(np.sqrt(60))
    assert not Z[5].any()
    assert not Z[:, 4].any()
    assert np.array_equal(model.transform(counts[10:12]), Z[10:12])  # a row is placed by its own total
    assert ritz.PearsonResiduals(clip=2).fit_transform(counts).max() == 2
    for wrong, words in ((-counts, "takes counts; received -"), (np.zeros((3, 2)), "zeros only")):
        with pytest.raises(ritz.InputError, match=words):
            ritz.PearsonResiduals().fit(wrong)
    for options in ({"theta": 0}, {"theta": "ml"}, {"clip": 0}, {"n_columns": 0}):
        with pytest.raises(ritz.ParameterError):
            ritz.PearsonResiduals(**options).fit(counts)


def test_theta_by_moments(seed):
    rng = np.random.default_rng(seed)
    mu = rng.uniform(5, 50, (400, 1)) * rng.dirichlet(np.ones(60))[None, :] * 60
    found = ritz.PearsonResiduals("moments").fit(rng.negative_binomial(4, 4 / (4 + mu))).theta_
    assert 3 < found < 5.5
    assert ritz.PearsonResiduals("moments").fit(rng.poisson(mu)).theta_ > 50
    X = rng.poisson(mu)
    expected = X.sum(axis=1, keepdims=True) * X.sum(axis=0) / X.sum()
    truth = np.sum(expected**2) / np.sum((X - expected) ** 2 - expected)
    assert ritz.PearsonResiduals("moments").fit(sp.csr_array(X)).theta_ == pytest.approx(truth if truth > 0 else np.inf)


def test_columns_that_vary_most(counts, seed):
    X = np.random.default_rng(seed).poisson(3, (200, 20))
    X[:100, 7] += 9
    frame = pd.DataFrame(X, columns=[f"g{j}" for j in range(20)])
    model = ritz.PearsonResiduals(n_columns=3).fit(frame)
    assert 7 in model.columns_
    assert model.transform(frame).shape == (200, 3)
    assert "g7" in model.get_feature_names_out()
    assert np.allclose(model.residual_variances_, np.mean(ritz.PearsonResiduals().fit_transform(X) ** 2, axis=0))
    named = make_pipeline(model, ritz.PCA(2)).set_output(transform="pandas").fit_transform(frame)
    assert list(named.columns) == ["pca0", "pca1"]
    with pytest.raises(ritz.MemoryLimitError, match="lazy"):
        ritz.PearsonResiduals(memory=1000).fit(np.ones((4000, 60), int)).transform(np.ones((4000, 60), int))


@pytest.mark.skipif(not SHARED.is_dir(), reason="needs the reference data beside the checkout")
def test_cells_apart_of_depth():
    with np.load(SHARED / "immune559_counts.npz") as held:
        X = sp.csr_array((held["data"], held["indices"], held["indptr"]), shape=held["shape"])
    residuals = ritz.PearsonResiduals(n_columns=500).fit(X)
    pca = ritz.PCA(5).fit(residuals.lazy(X))
    assert pca.certificate_.converged
    depth = np.log(np.asarray(X.sum(axis=1)).ravel())
    plain = X[:, residuals.columns_].astype(float)
    pairs = ((ritz.PCA(5).fit(plain), plain), (pca, residuals.lazy(X)))
    on = [abs(np.corrcoef(model.transform(rows)[:, 0], depth)[0, 1]) for model, rows in pairs]
    assert on[1] < on[0]
