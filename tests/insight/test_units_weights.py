"""What may not matter: the units of the data, and whether a row is repeated or weighs more."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ritz
from ritz import insight
from ritz._core.errors import InputError, ParameterError
from ritz.insight.rows.limits_gauss import Thetas, training

N = 60
MODELS = {
    "PCA": lambda: ritz.PCA(2),
    "SVD": lambda: ritz.SVD(2),
    "SparsePCA": lambda: ritz.SparsePCA(2),
    "FactorAnalysis": lambda: ritz.FactorAnalysis(2, scale=False),
    "spherical": lambda: ritz.RobustPCA(2, method="spherical"),
    "robpca": lambda: ritz.RobustPCA(2, method="robpca"),
    "pcp": lambda: ritz.RobustPCA(2, method="pcp"),
}


@pytest.fixture
def rows(seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    turn = np.linalg.qr(rng.normal(size=(6, 6)))[0]
    return np.asarray(rng.normal(size=(N, 6)) * [5, 3, 2, 1, 0.7, 0.5] @ turn)


@pytest.mark.parametrize("unit", [1e-100, 1e-60, 1e60, 1e100])
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.filterwarnings("ignore:Heywood case")
def test_limits_and_p_values_do_not_depend_on_units(rows: np.ndarray, name: str, unit: float) -> None:
    unit = min(unit, 1e70) if name == "SparsePCA" else unit  # squares of eigenvalues enter its certificate
    plain, other = MODELS[name]().fit(rows), MODELS[name]().fit(rows * unit)
    for which in ("new", "training"):
        for formula in ("moments", "jackson-mudholkar"):
            a = insight.limits(plain, rows=which, X=rows, formula=formula)
            b = insight.limits(other, rows=which, X=rows * unit, formula=formula)
            assert np.allclose([b.t2, b.spe / unit / unit, b.combined], [a.t2, a.spe, a.combined], rtol=1e-5)
    new = rows[:9] * 1.5
    expected = insight.outliers(plain, new, rows="new").p_values
    assert np.allclose(insight.outliers(other, new * unit, rows="new").p_values, expected, rtol=1e-4, atol=1e-12)


@pytest.mark.parametrize("unit", [1e-100, 1e-60, 1e60, 1e100])
@pytest.mark.parametrize("method", ["varimax", "quartimax", "promax", "oblimin"])
def test_rotations_do_not_depend_on_units(rows: np.ndarray, method: str, unit: float) -> None:
    A = insight.loadings(ritz.PCA(3).fit(rows))
    expected = insight.rotate(A, method)
    found = insight.rotate(A * unit, method)
    assert np.allclose(found.loadings / unit, expected.loadings, atol=1e-6)
    assert np.allclose(found.factor_correlations, expected.factor_correlations, atol=1e-6)


@pytest.mark.parametrize("method", ["promax", "oblimin"])
def test_oblique_rotations_need_components_that_vary(rows: np.ndarray, method: str) -> None:
    flat = rows[:, [0, 1, 0, 1]]
    with pytest.raises(InputError, match="rank 2"):
        insight.rotate(ritz.PCA(3).fit(flat), method)


def test_moments_of_training_rows_survive_many_rows() -> None:
    """κ₂/2 = θ₁²(N r − 1)/(N²(N + 2))·m² with r = θ₂/θ₁²: no digits are lost where r is close to 1/N."""
    t = training(Thetas.even(10, 2.0), 1e9, 1e9 - 1, centered=True)
    N = 1e9 - 1
    assert t.second == pytest.approx((N / 10 - 1) / (N + 2), rel=1e-12)
    assert t.third == pytest.approx((N**2 / 100 - 3 * N / 10 + 2) / ((N + 2) * (N + 4)), rel=1e-12)


# weights


@pytest.fixture
def counts(seed: int) -> np.ndarray:
    return np.random.default_rng(seed + 1).integers(0, 4, N).astype(float)


def _numbers(found: Any) -> list[float]:
    return [found.t2, found.spe, found.combined]


@pytest.mark.parametrize("name", ["PCA", "robpca", "spherical"])
def test_conformal_limits_count_weights_as_rows(rows: np.ndarray, counts: np.ndarray, name: str) -> None:
    copies = np.repeat(rows, counts.astype(int), axis=0)
    a = insight.limits(
        MODELS[name]().fit(rows, sample_weight=counts), rows="training", X=rows, sample_weight=counts,
        method="conformal",
    )  # fmt: skip
    b = insight.limits(MODELS[name]().fit(copies), rows="training", X=copies, method="conformal")
    assert np.allclose(_numbers(a), _numbers(b), rtol=1e-6)


def test_conformal_limits_are_the_naive_quantile(rows: np.ndarray) -> None:
    model = ritz.PCA(2).fit(rows)
    found = insight.limits(model, 0.1, rows="training", X=rows, method="conformal")
    place = int(np.ceil((N + 1) * 0.9))
    assert found.t2 == np.sort(insight.t2(model, rows))[place - 1]
    assert insight.limits(model, 0.01, rows="training", X=rows, method="conformal").t2 == np.inf


def test_cross_conformal_p_values_count_weights_as_rows(rows: np.ndarray) -> None:
    """Equal weights c: a row that lies beyond all others has p = 1/(1 + c·n)."""
    counts = np.full(N, 3.0)
    model = ritz.PCA(2).fit(rows, sample_weight=counts)
    far = rows[:1] * 1e3
    found = insight.outliers(model, far, reference=rows, sample_weight=counts)
    assert found.method == "cross-conformal"
    assert found.p_values[0] == pytest.approx(1 / (1 + 3 * N))


def test_robust_p_values_count_weights_as_rows(rows: np.ndarray, counts: np.ndarray) -> None:
    copies = np.repeat(rows, counts.astype(int), axis=0)
    weighted, repeated = MODELS["robpca"]().fit(rows, sample_weight=counts), MODELS["robpca"]().fit(copies)
    new = rows[:9] + 1
    found, expected = (insight.outliers(m, new, rows="new").p_values for m in (weighted, repeated))
    assert np.allclose(found, expected, rtol=1e-6)


@pytest.mark.parametrize("unit", [1e-60, 1e-5, 1e60])
@pytest.mark.parametrize("options", [{"n_nonzero": 3}, {"alpha": 0.5}])
def test_sparse_loadings_do_not_depend_on_units(rows: np.ndarray, unit: float, options: Any) -> None:
    plain, other = (ritz.SparsePCA(2, **options).fit(rows * s) for s in (1.0, unit))
    assert np.allclose(other.components_, plain.components_, atol=1e-5)
    assert np.array_equal(other.n_nonzero_, plain.n_nonzero_)


def test_rows_that_do_not_vary_are_not_odd() -> None:
    flat = np.full((10, 3), 4.0)
    assert not insight.outliers(ritz.PCA(1).fit(flat), flat).mask.any()


# what makes no sense is said, and what does works


@pytest.mark.parametrize("model", [ritz.CA(2), ritz.KernelPCA(2)])
def test_rotations_of_models_without_loadings_are_refused(model: Any, seed: int) -> None:
    table = np.random.default_rng(seed).poisson(8, size=(12, 5)).astype(float) + 1
    with pytest.raises(ParameterError, match="has no loadings"):
        insight.rotate(model.fit(table))


def test_a_nystrom_model_is_asked_without_rows(rows: np.ndarray) -> None:
    model = ritz.KernelPCA(3, kernel="rbf", solver="nystrom", landmarks=20).fit(rows)
    found = ritz.choose_rank(model)
    assert found["permutation"].k is None
    assert "landmarks" in found["permutation"].why


def test_mfa_of_groups_that_have_nothing_in_common(seed: int) -> None:
    """A rule may answer 0, which leaves a model without axes."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(40, 4))
    with pytest.warns(ritz.NoComponents):
        model = ritz.MFA("broken-stick", groups={"a": [0, 1], "b": [2, 3]}).fit(X)
    assert model.n_components_ == 0
    assert np.asarray(model.row_coordinates_).shape == (40, 0)


def test_rows_without_columns_are_described_by_other_variables() -> None:
    words = ["abca", "bcab", "ccab", "aabb", "bbaa", "abab", "baba", "cacb"]
    model = ritz.KernelPCA(2, kernel=ritz.kernels.Spectrum(2)).fit(words)
    scores = model.transform(words)
    found = insight.describe(model, words, scores[:, :1] * 2 + 1, alpha=1)
    assert "+1.000" in str(found)


def test_q_of_new_rows_with_fewer_rows_than_columns(seed: int) -> None:
    """30 rows, 100 columns: what leaks out of the plane lies along few directions; by its sum alone 9 % pass 5 %."""
    rng = np.random.default_rng(seed)
    deviations, beyond = np.sqrt(np.r_[200, 100, 50, np.linspace(1.5, 0.5, 97)]), []
    for _ in range(60):
        X, new = (rng.normal(size=(n, 100)) * deviations for n in (30, 500))
        model = ritz.PCA(3).fit(X)
        beyond.append(np.mean(insight.spe(model, new) > insight.limits(model).spe))
    assert 0.035 < np.mean(beyond) < 0.08
