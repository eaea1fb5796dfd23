"""γ found from the rows, against independent computations."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.spatial.distance import pdist

from ritz import kernels
from ritz._core.errors import InputError, ParameterError
from ritz.kernels.gamma import find_gamma, gamma_cv

X = np.random.default_rng(0).standard_normal((120, 6)) * [1, 2, 3, 1, 1, 1] + 50


def test_none_and_scale_are_those_of_scikit_learn():
    assert kernels.RBF().fix(X).gamma == 1 / 6
    assert kernels.RBF("scale").fix(X).gamma == pytest.approx(1 / (6 * X.var()))
    assert kernels.RBF("scale").fix(csr_array(X)).gamma == pytest.approx(1 / (6 * X.var()))
    assert kernels.Laplacian("scale").fix(X).gamma == pytest.approx(1 / (6 * X.std()))
    assert kernels.RBF("scale").fix(np.ones((4, 6))).gamma == 1 / 6


def test_median_is_exact_for_few_rows():
    assert kernels.RBF("median").fix(X).gamma == pytest.approx(1 / np.median(pdist(X, "sqeuclidean")))
    assert kernels.RBF("median").fix(csr_array(X)).gamma == pytest.approx(1 / np.median(pdist(X, "sqeuclidean")))
    assert kernels.Laplacian("median").fix(X).gamma == pytest.approx(1 / np.median(pdist(X, "cityblock")))
    assert kernels.Matern(1.5, "median").fix(X).length == pytest.approx(np.sqrt(np.median(pdist(X, "sqeuclidean")) / 2))
    assert kernels.Polynomial(2, "median").fix(X).gamma == pytest.approx(1 / np.median(np.sum(X * X, axis=1)))


def test_median_of_many_rows_is_near_and_depends_on_the_seed_only():
    many = np.random.default_rng(1).standard_normal((1500, 4))
    exact = 1 / np.median(pdist(many, "sqeuclidean"))
    found = [kernels.RBF("median").fix(many, seed=seed).gamma for seed in (0, 0, 1)]
    assert found[0] == found[1] != found[2]
    assert found == pytest.approx([exact] * 3, rel=0.05)
    assert kernels.RBF("median").fix(many * 7).gamma == pytest.approx(found[0] / 49)


def test_median_of_rows_that_mostly_coincide():
    rows = np.zeros((50, 2))
    assert kernels.RBF("median").fix(rows).gamma == 0.5
    rows[0] = 3.0
    assert kernels.RBF("median").fix(rows).gamma == pytest.approx(1 / (18 * 49 / (50 * 49 / 2)))
    assert kernels.RBF("median").fix(rows[:1]).gamma == 0.5


def effective_rank(gamma: float, rows: np.ndarray) -> float:
    J = np.eye(len(rows)) - 1 / len(rows)
    values = np.abs(np.linalg.eigvalsh(J @ kernels.RBF(gamma)(rows) @ J))
    share = values[values > 0] / values.sum()
    return float(np.exp(-(share * np.log(share)).sum()))


def test_entropy_lies_halfway_between_linear_and_diagonal():
    gamma = kernels.RBF("entropy").fix(X).gamma
    linear, diagonal = effective_rank(1e-3 / np.median(pdist(X, "sqeuclidean")), X), len(X)
    assert effective_rank(gamma, X) == pytest.approx(np.sqrt(linear * diagonal), rel=0.01)
    assert kernels.RBF("entropy").fix(X * 3).gamma == pytest.approx(gamma / 9, rel=1e-6)


def alignment(gamma: float, rows: np.ndarray, y: np.ndarray) -> float:
    J = np.eye(len(rows)) - 1 / len(rows)
    K, L = J @ kernels.RBF(gamma)(rows) @ J, J @ np.equal.outer(y, y) @ J
    return float(np.sum(K * L) / np.linalg.norm(K) / np.linalg.norm(L))


@pytest.mark.parametrize("names", [False, True])
def test_alignment_is_the_best_of_a_fine_grid(names):
    angle = np.random.default_rng(2).uniform(0, 2 * np.pi, 150)
    y = np.arange(150) % 2
    rows = np.column_stack([np.cos(angle), np.sin(angle)]) * (1 + y)[:, None]
    labels = np.array(["in", "out"])[y] if names else y
    gamma = kernels.RBF("alignment").fix(rows, y=labels).gamma
    best = max(alignment(each, rows, y) for each in np.logspace(-3, 3, 400))
    assert alignment(gamma, rows, y) >= best - 1e-4
    assert 0.1 < gamma < 20


def test_alignment_with_numbers_and_without_labels():
    rows = np.random.default_rng(3).uniform(-3, 3, (100, 1))
    gamma = kernels.RBF("alignment").fix(rows, y=np.sin(3 * rows[:, 0])).gamma
    assert gamma > kernels.RBF("alignment").fix(rows, y=rows[:, 0]).gamma
    with pytest.raises(ParameterError, match="labels"):
        kernels.RBF("alignment").fix(rows)
    with pytest.raises(InputError, match="one label a row"):
        kernels.RBF("alignment").fix(rows, y=[1, 2])


def test_cv_searches_the_least_error_over_folds():
    seen = []

    def score(kernel, train, test):
        seen.append((len(train), len(test)))
        return abs(np.log(kernel.gamma / 0.02))

    gamma = gamma_cv(kernels.RBF(), X, score)
    assert gamma == pytest.approx(0.02, rel=0.35)  # to the spacing of the grid
    assert set(seen) == {(80, 40)}
    assert gamma_cv(kernels.RBF(), X, score) == gamma
    length = gamma_cv(kernels.Matern(), X, lambda kernel, train, test: (np.log(kernel.length) - 1) ** 2)
    assert 1 / np.sqrt(2 * length) == pytest.approx(np.e, rel=0.35)
    with pytest.raises(ParameterError, match="cv"):
        kernels.RBF("cv").fix(X)


def test_cv_folds_share_no_row_and_a_failed_score_loses():
    def score(kernel, train, test):
        assert not set(map(tuple, train)) & set(map(tuple, test))
        return np.nan if kernel.gamma < 0.1 else kernel.gamma

    assert 0.1 <= gamma_cv(kernels.RBF(), X, score) < 0.2
    assert gamma_cv(kernels.RBF(), X[:3], score) == pytest.approx(find_gamma(kernels.RBF(), "median", X[:3]))
