"""Factor analysis of rows with gaps: the maximum of the likelihood of what is observed, and scores of such rows."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import multivariate_normal

import ritz


@pytest.fixture
def rows(seed) -> np.ndarray:
    rng = np.random.default_rng(seed)
    common = rng.standard_normal((300, 2)) @ np.array([[1, 1, 1, 0.2, 0, 0.1], [0, 0.1, 0, 1, 1, 1]])
    return (common + 0.7 * rng.standard_normal((300, 6))) * [1, 2, 3, 1, 1, 5] + 10


@pytest.fixture
def gapped(rows, seed) -> np.ndarray:
    X = rows.copy()
    X[np.random.default_rng(seed + 1).random(X.shape) < 0.2] = np.nan
    return X


def likelihood(X, mean, sigma) -> float:
    """Σ log N of what is observed, by SciPy, row by row."""
    total = 0.0
    for row in X:
        o = np.flatnonzero(~np.isnan(row))
        if len(o):
            total += multivariate_normal.logpdf(row[o], mean[o], sigma[np.ix_(o, o)])
    return total


@pytest.mark.parametrize("scale", [True, False])
def test_no_step_leads_up(gapped, scale, seed):
    model = ritz.FactorAnalysis(2, missing="fiml", scale=scale).fit(gapped)
    unit = model.scale_ if scale else np.ones(6)
    L, psi = model.components_.T * unit[:, None], model.noise_variance_ * unit**2 * 299 / 300
    L, mean = L * np.sqrt(299 / 300), model.mean_  # variances by n − 1, the likelihood's by n
    here = likelihood(gapped, mean, L @ L.T + np.diag(psi))
    rng = np.random.default_rng(seed)
    for size in (1e-2, 1e-3):
        for _ in range(4):
            dL, dp, dm = rng.standard_normal(L.shape), rng.standard_normal(6), rng.standard_normal(6)
            spread = np.sqrt(np.diag(L @ L.T) + psi)
            other = L + size * dL * spread[:, None], psi * np.exp(size * dp), mean + size * dm * spread
            assert likelihood(gapped, other[2], other[0] @ other[0].T + np.diag(other[1])) < here


def test_nearer_to_the_truth_than_complete_rows_alone(rows, gapped):
    truth = ritz.FactorAnalysis(2, rotation="varimax").fit(rows)
    fiml = ritz.FactorAnalysis(2, rotation="varimax", missing="fiml").fit(gapped)
    assert np.abs(np.abs(fiml.components_) - np.abs(truth.components_)).max() < 0.15
    assert fiml.p_value_ > 1e-3
    assert fiml.verify(gapped)
    assert not fiml.verify(gapped * 1.01)
    assert any("of the entries are missing" in note for note in fiml.certificate_.notes)


def test_rows_without_gaps_are_the_ordinary_fit(rows):
    plain, same = ritz.FactorAnalysis(2).fit(rows), ritz.FactorAnalysis(2, missing="fiml").fit(rows)
    assert np.array_equal(plain.components_, same.components_)
    assert same.verify(rows)
    few = rows.copy()
    few[0, 0] = np.nan  # one gap of 1,800 entries
    near = ritz.FactorAnalysis(2, missing="fiml").fit(few)
    assert np.abs(np.abs(near.components_) - np.abs(plain.components_)).max() < 0.01
    assert near.chi2_ == pytest.approx(plain.chi2_, rel=0.1)


def test_scores_and_likelihoods_of_rows_with_gaps(gapped, tmp_path):
    model = ritz.FactorAnalysis(2, missing="fiml").fit(gapped)
    Z = model.transform(gapped)
    assert np.isfinite(Z).all()
    S, mean = model.get_covariance(), model.mean_
    L = (model.components_ * model.scale_).T
    for i in (0, 3, 7):  # E[f | what is observed] = L_oᵀ Σ_oo⁻¹ (x_o − μ_o)
        o = np.flatnonzero(~np.isnan(gapped[i]))
        truth = L[o].T @ np.linalg.solve(S[np.ix_(o, o)], gapped[i, o] - mean[o])
        assert np.allclose(Z[i], truth)
    rows = gapped[np.isnan(gapped).any(axis=1)][:20]
    assert model.score_samples(rows).sum() == pytest.approx(likelihood(rows, mean, S))
    ritz.save(model, tmp_path / "f.ritz")
    back = ritz.load(tmp_path / "f.ritz")
    assert np.allclose(back.transform(gapped), Z)
    assert back.verify(gapped)


def test_weights_frames_rules_and_refusals(gapped, rows):
    frame = pd.DataFrame(gapped, columns=list("abcdef"))
    named = ritz.FactorAnalysis("parallel", missing="fiml").fit(frame)
    assert named.n_components_ == 2
    assert list(named.feature_names_in_) == list("abcdef")
    twice = ritz.FactorAnalysis(2, missing="fiml").fit(np.repeat(gapped, 2, axis=0))
    weighted = ritz.FactorAnalysis(2, missing="fiml").fit(gapped, sample_weight=np.full(300, 2.0))
    assert np.allclose(twice.components_, weighted.components_, atol=1e-5)
    with pytest.raises(ritz.NonFiniteError):
        ritz.FactorAnalysis(2).fit(gapped)
    with pytest.raises(ritz.ParameterError, match="missing must be one of"):
        ritz.FactorAnalysis(2, missing="mean").fit(rows)
    apart = rows.copy()
    apart[:150, 0], apart[150:, 1] = np.nan, np.nan
    with pytest.raises(ritz.InputError, match="never observed together"):
        ritz.FactorAnalysis(1, missing="fiml").fit(apart)
    apart[:, 2] = np.nan
    with pytest.raises(ritz.InputError, match="two values"):
        ritz.FactorAnalysis(1, missing="fiml").fit(apart)
