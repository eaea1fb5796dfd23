"""Factor analysis against first-order conditions, plain iteration, and models whose truth is known."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import ritz
from ritz import FactorAnalysis
from ritz.insight import communalities, loadings, rotate, structure
from ritz.methods.factor_analysis import fit

# What R's example(Harman74.cor) prints of factanal(factors = 4, covmat = Harman74.cor), to its three digits.
# The independent truth is in the tests below: Lawley's equations, and plain iteration.
UNIQUE = [
    0.438, 0.780, 0.644, 0.651, 0.352, 0.312, 0.283, 0.485, 0.257, 0.240, 0.551, 0.435, 0.491, 0.646, 0.696, 0.549,
    0.598, 0.593, 0.762, 0.592, 0.583, 0.601, 0.497, 0.500,
]  # fmt: skip
VARIMAX = [3.647, 2.872, 2.657, 2.290]


def rows_of(correlations, n, seed=0):
    """Rows with exactly these correlations."""
    Z = np.random.default_rng(seed).normal(size=(n, len(correlations)))
    Z = np.linalg.qr(Z - Z.mean(axis=0))[0]
    return Z @ np.linalg.cholesky(correlations).T * np.sqrt(n - 1)


@pytest.fixture(scope="module")
def harman(shared):
    R = np.genfromtxt(shared / "harman74" / "data.csv", delimiter=",", skip_header=1)[:, 1:]
    return R, rows_of(R, 145)


@pytest.fixture(scope="module")
def planted():
    """Two factors, eight columns, known uniquenesses."""
    rng = np.random.default_rng(7)
    L = np.kron(np.eye(2), np.ones((4, 1))) * rng.uniform(0.5, 0.9, size=(8, 1))
    psi = 1 - np.sum(L**2, axis=1)
    return L, psi, rows_of(L @ L.T + np.diag(psi), 200)


@pytest.mark.shared
def test_harman_by_maximum_likelihood_is_that_of_factanal(harman):
    _, X = harman
    model = FactorAnalysis(4, rotation="varimax").fit(X)
    np.testing.assert_allclose(model.uniquenesses_, UNIQUE, atol=5.1e-4)
    np.testing.assert_allclose(np.sum(model.components_**2, axis=1), VARIMAX, atol=1e-3)
    assert model.chi2_ == pytest.approx(226.68, abs=5e-3)
    assert model.dof_ == 186
    assert model.p_value_ == pytest.approx(stats.chi2.sf(model.chi2_, 186))


@pytest.mark.shared
@pytest.mark.parametrize("k", [1, 2, 4, 5])
def test_maximum_likelihood_is_stationary(harman, k):
    """diag Σ⁻¹(Σ − R)Σ⁻¹ = 0 and (R − Σ)Σ⁻¹L = 0: Lawley's equations."""
    R, X = harman
    model = FactorAnalysis(k).fit(X)
    P, C = model.get_precision(), model.get_covariance()
    s = X.std(axis=0, ddof=1)
    P, C = P * np.outer(s, s), C / np.outer(s, s)
    np.testing.assert_allclose(np.diag(P @ (C - R) @ P), 0, atol=1e-8)
    np.testing.assert_allclose((R - C) @ P @ loadings(model), 0, atol=1e-8)
    np.testing.assert_allclose(np.diag(C), 1, atol=1e-8)


@pytest.mark.shared
def test_principal_axes_are_where_the_iteration_rests(harman):
    R, X = harman
    model = FactorAnalysis(4, method="principal-axes").fit(X)
    h = 1 - 1 / np.diag(np.linalg.inv(R))
    for _ in range(3000):
        reduced = R - np.diag(np.diag(R)) + np.diag(h)
        e, V = np.linalg.eigh(reduced)
        L = V[:, -4:] * np.sqrt(e[-4:])
        h = np.sum(L**2, axis=1)
    np.testing.assert_allclose(model.communalities_, h, atol=1e-8)
    np.testing.assert_allclose(np.abs(model.components_), np.abs(L.T[::-1]), atol=1e-7)


@pytest.mark.parametrize("method", ["ml", "principal-axes"])
def test_planted_factors_are_found_exactly(planted, method):
    L, psi, X = planted
    model = FactorAnalysis(2, method=method, rotation="oblimin").fit(X)
    np.testing.assert_allclose(model.uniquenesses_, psi, atol=1e-6)
    np.testing.assert_allclose(np.sort(np.abs(model.components_).max(axis=0)), np.sort(L.max(axis=1)), atol=1e-5)
    np.testing.assert_allclose(model.factor_correlations_, np.eye(2), atol=1e-5)
    np.testing.assert_allclose(model.get_covariance(), np.cov(X.T), atol=1e-6)
    assert model.chi2_ == pytest.approx(0, abs=1e-6)
    assert model.n_components_ == 2


def test_units_of_the_columns_do_not_matter(planted):
    _, _, X = planted
    units = 10.0 ** np.arange(-4, 4)
    plain, data = FactorAnalysis(2).fit(X), FactorAnalysis(2, scale=False).fit(X * units + 7)
    spread = (X * units).std(axis=0, ddof=1)
    np.testing.assert_allclose(data.components_, plain.components_ * spread, rtol=1e-5, atol=1e-8)
    np.testing.assert_allclose(data.uniquenesses_, plain.uniquenesses_, atol=1e-6)
    np.testing.assert_allclose(data.transform(X * units + 7), plain.transform(X), atol=1e-5)
    np.testing.assert_allclose(communalities(data), communalities(plain), atol=1e-6)
    np.testing.assert_allclose(structure(data), structure(plain), atol=1e-6)


def test_scores_are_regression_and_bartlett(planted):
    _, _, X = planted
    Z = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
    for rotation in (None, "varimax", "promax"):
        model = FactorAnalysis(2, rotation=rotation).fit(X)
        L, phi, psi = model.components_.T, model.factor_correlations_, model.noise_variance_
        sigma = L @ phi @ L.T + np.diag(psi)
        np.testing.assert_allclose(model.transform(X), Z @ np.linalg.solve(sigma, L @ phi), atol=1e-10)
        bartlett = FactorAnalysis(2, rotation=rotation, scores="bartlett").fit(X)
        weighted = L.T / psi
        np.testing.assert_allclose(bartlett.transform(X), Z @ np.linalg.solve(weighted @ L, weighted).T, atol=1e-10)
        np.testing.assert_allclose(
            model.inverse_transform(np.eye(2)), L.T * X.std(axis=0, ddof=1) + X.mean(axis=0), atol=1e-12
        )


def test_densities_are_gaussian(planted):
    from scipy.stats import multivariate_normal

    _, _, X = planted
    for scale in (True, False):
        model = FactorAnalysis(2, scale=scale, rotation="promax").fit(X)
        naive = multivariate_normal(model.mean_, model.get_covariance()).logpdf(X)
        np.testing.assert_allclose(model.score_samples(X), naive, atol=1e-9)
        np.testing.assert_allclose(model.get_precision() @ model.get_covariance(), np.eye(8), atol=1e-10)


def test_rotating_afterwards_is_the_same(planted):
    _, _, X = planted
    plain = FactorAnalysis(2).fit(X)
    for method in ("varimax", "quartimax", "promax", "oblimin"):
        model, turned = FactorAnalysis(2, rotation=method).fit(X), rotate(plain, method)
        np.testing.assert_allclose(turned.loadings, loadings(model), atol=1e-12)
        np.testing.assert_allclose(turned.scores(X), model.transform(X), atol=1e-12)
        np.testing.assert_allclose(turned.variances, model.explained_variance_, atol=1e-12)
        np.testing.assert_allclose(model.get_covariance(), plain.get_covariance(), atol=1e-12)


@pytest.mark.shared
@pytest.mark.parametrize("rule", ["parallel", "kaiser", "map"])
def test_rules_choose_the_number_of_factors(harman, rule):
    known = ritz.PCA(rule, scale=True).fit(harman[1]).n_components_
    assert FactorAnalysis(rule).fit(harman[1]).n_components_ == max(known, 1)


def test_heywood_cases_are_stopped_and_named():
    rng = np.random.default_rng(0)
    f = rng.normal(size=(50, 1))
    X = np.hstack([f, f + 0.5 * rng.normal(size=(50, 3))])
    for method in ("ml", "principal-axes"):
        with pytest.warns(ritz.AccuracyWarning, match="Heywood case: the uniqueness of 0 "):
            model = FactorAnalysis(1, method=method).fit(X)
        assert model.uniquenesses_.min() >= 0.0049
        # a report, or whoever loads the model, finds it as well
        told = "Heywood case: the uniqueness of 0 was stopped at 0.005 of the variance; try fewer factors, or more rows"
        assert model.certificate_.notes[-1] == told
        assert model.verify(X)
        assert np.isfinite(model.transform(X)).all()


def test_more_columns_than_rows():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(20, 1)) @ rng.normal(size=(1, 30)) + rng.normal(size=(20, 30))
    model = FactorAnalysis(1).fit(X)
    assert np.isfinite(model.components_).all()
    assert np.isnan(model.chi2_)
    truth = np.corrcoef(X.T)
    assert np.abs(model.get_covariance() - np.cov(X.T)).max() < np.abs(truth).max() * X.var(axis=0).max()


def test_constant_columns_have_no_part(planted):
    _, _, X = planted
    wide = np.insert(X, 3, 2.0, axis=1)
    with pytest.warns(ritz.ConstantColumnWarning):
        model = FactorAnalysis(2).fit(wide)
    plain = FactorAnalysis(2).fit(X)
    np.testing.assert_allclose(np.delete(model.components_, 3, axis=1), plain.components_, atol=1e-6)
    np.testing.assert_allclose(model.components_[:, 3], 0)
    np.testing.assert_allclose(model.transform(wide), plain.transform(X), atol=1e-6)
    np.testing.assert_allclose(model.score_samples(wide), plain.score_samples(X), atol=1e-6)


def test_weights_are_copies_and_sparse_rows_are_rows(planted):
    from scipy.sparse import csr_array

    _, _, X = planted
    weights = np.arange(200) % 3 + 1
    model = FactorAnalysis(2).fit(X, sample_weight=weights)
    copies = FactorAnalysis(2).fit(np.repeat(X, weights, axis=0))
    np.testing.assert_allclose(model.components_, copies.components_, atol=1e-7)
    assert model.chi2_ == pytest.approx(copies.chi2_)
    np.testing.assert_allclose(FactorAnalysis(2).fit(csr_array(X)).components_, FactorAnalysis(2).fit(X).components_)


def test_saved_models_are_the_same(planted, tmp_path):
    _, _, X = planted
    model = FactorAnalysis(2, rotation="promax").fit(X)
    ritz.save(model, tmp_path / "factors.ritz")
    again = ritz.load(tmp_path / "factors.ritz")
    np.testing.assert_array_equal(again.transform(X), model.transform(X))
    np.testing.assert_array_equal(again.factor_correlations_, model.factor_correlations_)


def test_certificate_is_about_the_loadings(planted):
    _, _, X = planted
    model = FactorAnalysis(2).fit(X)
    common = model.components_ / model.noise_variance_ @ model.components_.T  # LᵀΨ⁻¹L = Θ − I
    np.testing.assert_allclose(common, np.diag(model.certificate_.values / (len(X) - 1) - 1), atol=1e-9)
    assert model.certificate_.verify(X)
    axes = FactorAnalysis(2, method="principal-axes").fit(X)
    assert axes.certificate_.verify(X)


def test_refusals(planted):
    _, _, X = planted
    with pytest.raises(ritz.ParameterError, match="method must be one of 'ml', 'principal-axes'"):
        FactorAnalysis(2, method="minres").fit(X)
    with pytest.raises(ritz.ParameterError, match="rotation must be one of None, 'varimax'"):
        FactorAnalysis(2, rotation="geomin").fit(X)
    with pytest.raises(ritz.ParameterError, match="min_uniqueness"):
        FactorAnalysis(2, min_uniqueness=0).fit(X)
    with pytest.raises(ritz.InputError, match="n_samples=1"):
        FactorAnalysis(1).fit(X[:1])
    model = FactorAnalysis(2).fit(X)
    with pytest.raises(ritz.ParameterError, match="scores are estimates"):
        ritz.insight.cos2(model, X)


@pytest.mark.parametrize(("n", "d", "k"), [(400, 190, 4), (80, 200, 3), (100, 181, 1)])
@pytest.mark.parametrize("uneven", [False, True])
def test_leading_pairs_alone_find_the_same_minimum(seed, n, d, k, uneven, monkeypatch):
    """Of many columns, f, its slope and the steps are made of k pairs: the minimum is that of all pairs."""
    rng = np.random.default_rng(seed)
    spread = np.exp(rng.standard_normal(d)) if uneven else np.ones(d)
    X = rng.standard_normal((n, k)) @ rng.standard_normal((k, d)) * 2 + spread * rng.standard_normal((n, d))
    S = np.cov(X, rowvar=False)
    whole = fit._of_all_pairs(S, k)
    told = fit._likelihood(S, k)
    x = np.log(np.diag(S)) - rng.uniform(0.1, 2, d)
    assert told(x)[0] == pytest.approx(whole(x)[0], rel=1e-12)
    assert np.abs(told(x)[1] - whole(x)[1]).max() <= 1e-10 * (1 + np.abs(whole(x)[1]).max())
    found = fit.fit_uniquenesses(S, k, "ml", 0.005, 1000, 1e-8)
    f, slope, _ = whole(np.log(found.uniquenesses))
    low, high = np.log(0.005 * np.diag(S)), np.log(np.diag(S))
    assert np.abs(fit._projected(np.log(found.uniquenesses), slope, low, high)).max() <= 1e-9
    monkeypatch.setattr(fit, "MANY", 10**9)
    other = fit.fit_uniquenesses(S, k, "ml", 0.005, 1000, 1e-8)
    assert f <= whole(np.log(other.uniquenesses))[0] + 1e-9 * (1 + abs(f))


def test_many_columns_need_no_other_pairs(monkeypatch):
    def refuse(*_):
        raise AssertionError("all pairs were asked for")

    X = np.random.default_rng(0).standard_normal((300, 200)) + np.random.default_rng(1).standard_normal((300, 1))
    monkeypatch.setattr(fit, "_of_all_pairs", lambda S, k: refuse)
    assert fit.fit_uniquenesses(np.cov(X, rowvar=False), 1, "ml", 0.005, 1000, 1e-8).slope <= 1e-8
