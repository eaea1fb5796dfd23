"""PCA and factor analysis of a covariance or correlation matrix: the same model, and what is known of its rounding."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import mpmath
import numpy as np
import pandas as pd
import pytest

import ritz
from ritz import insight

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"
HARMAN = SHARED / "harman74"
needs_shared = pytest.mark.skipif(not HARMAN.is_dir(), reason="needs the reference data beside the checkout")


@pytest.fixture
def rows(seed) -> np.ndarray:
    rng = np.random.default_rng(seed)
    factors = rng.standard_normal((200, 2))
    common = factors @ np.array([[1, 1, 1, 0.2, 0, 0.1], [0, 0.1, 0, 1, 1, 1]])
    return (common + 0.8 * rng.standard_normal((200, 6))) * [1, 2, 3, 1, 1, 5]


@pytest.mark.parametrize("scale", [False, True])
def test_the_model_is_that_of_the_rows(rows, scale):
    S, mean = np.cov(rows.T), rows.mean(axis=0)
    truth = ritz.PCA(3, scale=scale).fit(rows)
    model = ritz.PCA.from_covariance(S, 200, 3, mean=mean, scale=scale)
    for name in (
        "explained_variance_",
        "explained_variance_ratio_",
        "singular_values_",
        "noise_variance_",
        "components_",
    ):
        assert np.allclose(getattr(model, name), getattr(truth, name), rtol=1e-10, atol=1e-12), name
    assert np.allclose(model.transform(rows), truth.transform(rows), atol=1e-10)
    assert np.isclose(model.score(rows), truth.score(rows))
    assert model.n_samples_ == 200
    assert model.verify(S)
    assert not model.verify(S + 0.01 * np.diag(np.arange(6)))
    assert insight.limits(model).t2 == pytest.approx(insight.limits(truth).t2)


def test_factors_are_those_of_the_rows(rows):
    R = np.corrcoef(rows.T)
    truth = ritz.FactorAnalysis(2, rotation="varimax").fit(rows)
    model = ritz.FactorAnalysis.from_covariance(R, 200, 2, rotation="varimax")
    for name in ("uniquenesses_", "chi2_", "p_value_", "components_", "explained_variance_"):
        assert np.allclose(getattr(model, name), getattr(truth, name), rtol=1e-6, atol=1e-8), name
    assert model.verify(R)
    full = ritz.FactorAnalysis.from_covariance(np.cov(rows.T), 200, 2, mean=rows.mean(axis=0), rotation="varimax")
    assert np.allclose(full.transform(rows), truth.transform(rows), atol=1e-6)
    assert full.score(rows) == pytest.approx(truth.score(rows))
    assert ritz.FactorAnalysis.from_covariance(R, 200, "kaiser").n_components_ >= 1
    with pytest.raises(ritz.ParameterError, match="rows"):
        ritz.FactorAnalysis.from_covariance(R, 200, "permutation")


def test_exact_eigenvalues_lie_in_the_enclosures_also_before_rounding(seed):
    rng = np.random.default_rng(seed)
    for _ in range(20):
        exact = np.corrcoef(rng.standard_normal((40, 5)).T)
        printed = np.round(exact, 2)
        np.fill_diagonal(printed, 1.0)
        truth = np.sort([float(v) for v in mpmath.eigsy(mpmath.matrix(exact.tolist()), eigvals_only=True)])[::-1]
        given = np.sort([float(v) for v in mpmath.eigsy(mpmath.matrix(printed.tolist()), eigvals_only=True)])[::-1]
        plain = ritz.PCA.from_covariance(printed, 40).certificate_
        assert np.all((plain.lower / 39 <= given + 1e-14) & (given <= plain.upper / 39 + 1e-14))
        assert "rounded to 2 decimals" in plain.notes[0]
        wide = ritz.PCA.from_covariance(printed, 40, rounding=0.005).certificate_
        assert np.all((wide.lower / 39 <= truth) & (truth <= wide.upper / 39))
        assert np.max(wide.upper - wide.lower) / 39 < 0.1
        assert not np.all((plain.lower / 39 <= truth) & (truth <= plain.upper / 39))


@needs_shared
def test_harman_by_psych():
    R = pd.read_csv(HARMAN / "data.csv", index_col=0)
    golden = json.loads((HARMAN / "psych_principal_none.json").read_text())
    model = ritz.PCA.from_covariance(R, n=145)
    values = next(np.asarray(golden[key], float) for key in golden if "values" in key.lower())
    assert np.allclose(model.explained_variance_, values, atol=1e-8)
    assert list(insight.loadings(model).index) == list(R.columns)
    told = json.loads((HARMAN / "psych_kmo_bartlett.json").read_text())
    found = insight.kmo(R)
    assert found.overall == pytest.approx(told["KMO_MSA"], abs=1e-10)
    assert np.allclose(
        found.columns, told["KMO_MSAi"]["values"] if isinstance(told["KMO_MSAi"], dict) else told["KMO_MSAi"]
    )
    test = insight.bartlett_sphericity(R, n=145)
    assert test.chi2 == pytest.approx(told["bartlett_chisq"], rel=1e-10)
    assert (test.dof, test.p_value) == (told["bartlett_df"], pytest.approx(told["bartlett_p"], rel=1e-6))
    assert insight.bartlett_sphericity(model).chi2 == pytest.approx(test.chi2)
    assert insight.kmo(model).overall == pytest.approx(found.overall)


def test_adequacy_by_fractions_and_mpmath():
    R = [[Fraction(1), Fraction(3, 5), Fraction(1, 2)], [Fraction(3, 5), Fraction(1), Fraction(2, 5)],
         [Fraction(1, 2), Fraction(2, 5), Fraction(1)]]  # fmt: skip
    (a, b, c) = R[0][1], R[0][2], R[1][2]
    partial = {  # q² = (r − r r)² / ((1 − r²)(1 − r²)), each given the third column
        (0, 1): (a - b * c) ** 2 / ((1 - b * b) * (1 - c * c)), (0, 2): (b - a * c) ** 2 / ((1 - a * a) * (1 - c * c)),
        (1, 2): (c - a * b) ** 2 / ((1 - a * a) * (1 - b * b)),
    }  # fmt: skip
    squares = a * a + b * b + c * c
    truth = squares / (squares + sum(partial.values()))
    matrix = np.array(R, float)
    found = insight.kmo(matrix)
    assert found.overall == pytest.approx(float(truth), abs=1e-14)
    first = (a * a + b * b) / (a * a + b * b + partial[0, 1] + partial[0, 2])
    assert found.columns[0] == pytest.approx(float(first), abs=1e-14)
    assert found.word == "mediocre"
    determinant = 1 + 2 * a * b * c - a * a - b * b - c * c
    chi2 = -(100 - 1 - mpmath.mpf(11) / 6) * mpmath.log(mpmath.mpf(determinant.numerator) / determinant.denominator)
    test = insight.bartlett_sphericity(matrix, n=100)
    assert test.chi2 == pytest.approx(float(chi2), rel=1e-12)
    assert test.p_value == pytest.approx(float(mpmath.gammainc(1.5, chi2 / 2, regularized=True)), rel=1e-9)
    far = insight.bartlett_sphericity(matrix, n=10_000)
    assert far.p_value == 0 or far.log_p == pytest.approx(np.log(far.p_value))
    x = mpmath.mpf(far.chi2) / 2
    assert far.log_p == pytest.approx(float(mpmath.log(mpmath.gammainc(1.5, x, mpmath.inf)) - mpmath.loggamma(1.5)))


def test_adequacy_of_rows_weights_and_what_is_refused(rows):
    R = np.corrcoef(rows.T)
    frame = pd.DataFrame(rows, columns=list("abcdef"))
    assert insight.kmo(frame).overall == pytest.approx(insight.kmo(R).overall)
    assert insight.kmo(frame).names == list("abcdef")
    twice = insight.bartlett_sphericity(rows, sample_weight=np.full(200, 2.0))
    assert twice.n == 400
    assert insight.bartlett_sphericity(rows).chi2 == pytest.approx(insight.bartlett_sphericity(R, n=200).chi2)
    with pytest.raises(ritz.ParameterError, match="number of rows"):
        insight.bartlett_sphericity(R)
    with pytest.raises(ritz.InputError, match="do not determine each other"):
        insight.kmo(np.c_[rows, rows[:, 0] + rows[:, 1]])
    with pytest.raises(ritz.InputError, match="constant columns: 1"):
        insight.kmo(np.c_[rows[:, 0], np.ones(200), rows[:, 2]])
    assert insight.bartlett_sphericity(np.eye(3), n=50).p_value == 1


def test_rows_cannot_be_placed_without_a_mean(rows, tmp_path):
    model = ritz.PCA.from_covariance(np.cov(rows.T), 200, 2)
    ritz.save(model, tmp_path / "m.ritz")
    for one in (model, ritz.load(tmp_path / "m.ritz")):
        assert one.mean_ is None
        for ask in ("transform", "score", "reconstruction_error", "inverse_transform"):
            with pytest.raises(ritz.InputError, match="does not tell"):
                getattr(one, ask)(rows)
        with pytest.raises(ritz.InputError, match="does not tell"):
            insight.t2(one, rows)
        with pytest.raises(ritz.InputError, match="does not tell"):
            one.transform_to(rows, tmp_path / "s.csv")
        with pytest.raises(ritz.InputError, match="does not tell"):
            one.merge(one)
    assert len(one.reconstruction_error()) == 3
    factors = ritz.FactorAnalysis.from_covariance(np.corrcoef(rows.T), 200, 2)
    with pytest.raises(ritz.InputError, match="does not tell"):
        factors.transform(rows)


def test_with_a_mean_models_merge_exactly(rows):
    a = ritz.PCA.from_covariance(np.cov(rows[:30].T), 30, 2, mean=rows[:30].mean(axis=0))
    both = a.merge(ritz.PCA(2).fit(rows[30:]))
    truth = ritz.PCA(2).fit(rows)
    assert np.allclose(both.explained_variance_, truth.explained_variance_)
    assert both.verify(rows)


def test_what_is_no_covariance_matrix(rows):
    S = np.cov(rows.T)
    cases = [
        (rows, {}, "is square"), (S + np.triu(np.ones((6, 6)), 1), {}, "is symmetric"),
        (np.tril(np.ones((3, 3))), {}, "of a triangle"), (-S, {}, "not negative"), (S * np.nan, {}, "finite"),
        (np.array([[1, 1, 0], [1, 1, 1], [0, 1, 1.0]]) - 0.05 * (1 - np.eye(3)), {}, "nearest_correlation"),
        (S, {"names": ["a"]}, "6 names"), (S, {"mean": [1]}, "6 finite numbers"),
    ]  # fmt: skip
    for matrix, options, words in cases:
        with pytest.raises(ritz.InputError, match=words):
            ritz.PCA.from_covariance(matrix, 200, **options)
    for n, words in ((1, "at least 2"), (2.5, "at least 2"), (4, "rank 3 at most")):
        with pytest.raises(ritz.ParameterError, match=words):
            ritz.PCA.from_covariance(S, n)
    with pytest.raises(ritz.ParameterError, match="about the mean"):
        ritz.PCA.from_covariance(S, 200, center=False)
    with pytest.raises(ritz.ParameterError, match="rounding"):
        ritz.PCA.from_covariance(S, 200, rounding=-1)
    for factor in (1e-150, 1e150):
        far = ritz.PCA.from_covariance(S * factor**2, 200, 2)
        assert np.allclose(far.explained_variance_ratio_, ritz.PCA(2).fit(rows).explained_variance_ratio_)


@pytest.mark.parametrize("kind", [ritz.PCA, ritz.FactorAnalysis])
@pytest.mark.filterwarnings("ignore:Heywood")
def test_a_matrix_given_as_rows_is_named(kind, rows):
    R = np.corrcoef(rows.T)
    with pytest.warns(ritz.MatrixAsRows, match=rf"correlation matrix.*{kind.__name__}\.from_covariance\(S, n\)"):
        kind(1).fit(R)
    with pytest.warns(ritz.MatrixAsRows, match="covariance matrix: symmetric, with variances"):
        kind(1).fit(4 * R)
    ritz.PCA(1).fit(rows[:6])  # square, but not symmetric
    ritz.PCA(1).fit(np.eye(4))  # a table of its own kind


def test_nearest_correlation_of_highams_example():
    found = insight.nearest_correlation(np.array([[1, 1, 0], [1, 1, 1], [0, 1, 1.0]]), floor=0)
    assert np.allclose(found.correlations, [[1, 0.7607, 0.1573], [0.7607, 1, 0.7607], [0.1573, 0.7607, 1]], atol=5e-5)
    assert found.lowest == pytest.approx(1 - np.sqrt(2))
    R = np.corrcoef(np.random.default_rng(0).standard_normal((30, 4)).T)
    same = insight.nearest_correlation(R)
    assert same.distance == 0
    assert np.allclose(same.correlations, R)


def test_negative_eigenvalues_that_are_taken_for_zero_are_told():
    S = np.array([[1.0, 1 + 1e-12], [1 + 1e-12, 1.0]])
    assert "smallest eigenvalue is -1e-12" in " ".join(ritz.PCA.from_covariance(S, n=50).certificate_.notes)
    exact = ritz.PCA.from_covariance(np.ones((2, 2)), n=50).certificate_.notes
    assert "smallest eigenvalue" not in " ".join(exact)


@pytest.mark.parametrize("share", [1e-12, 1e-10, 1e-8, 5e-7])
def test_what_is_not_symmetric_enters_the_enclosures(share, seed):
    """The truth is one triangle, and the other was changed: eigenvalues of the truth lie in the enclosures."""
    rng = np.random.default_rng(seed)
    S = np.cov(rng.standard_normal((60, 6)).T)
    given = S + np.triu(rng.uniform(-1, 1, S.shape), 1) * share * np.abs(S).max()
    model = ritz.PCA.from_covariance(given, 60)
    certificate, truth = model.certificate_, np.linalg.eigvalsh(S)[::-1] * 59
    rounding = 1e-14 * truth[0]
    assert np.all((certificate.lower - rounding <= truth) & (truth <= certificate.upper + rounding))
    assert "mirror images" in certificate.notes[0]
    assert "mirror images" not in ritz.PCA.from_covariance(S, 60).certificate_.notes[0]
    assert np.max(certificate.upper - certificate.lower) < 20 * share * truth[0] + 1e-12 * truth[0]
    assert model.verify(given)


def test_a_model_of_a_rounded_matrix_is_verified_with_its_rounding():
    R = np.array([[1.0, 0.6, 0.3], [0.6, 1.0, 0.5], [0.3, 0.5, 1.0]])
    for rounding in (None, 0.05):
        model = ritz.PCA.from_covariance(R, n=120, n_components=2, rounding=rounding)
        assert model.verify(R)
        model.explained_variance_ = model.explained_variance_ * 1.01
        assert not model.verify(R)
