"""Sums, products, scaling and normalisation of kernels."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from ritz import kernels
from ritz._core.errors import InputError, ParameterError
from ritz.testing.kernels import check_kernel

X = np.random.default_rng(0).standard_normal((35, 4))
X[4] = 0.0


@pytest.mark.parametrize(
    ("kernel", "formula"),
    [
        (kernels.RBF(0.2) + kernels.Linear(), lambda x, y: np.exp(-0.2 * np.sum((x - y) ** 2)) + x @ y),
        (kernels.RBF(0.2) * kernels.Linear(), lambda x, y: np.exp(-0.2 * np.sum((x - y) ** 2)) * (x @ y)),
        (2.5 * kernels.Laplacian(1.0), lambda x, y: 2.5 * np.exp(-np.sum(np.abs(x - y)))),
        (kernels.RBF(0.2) * 3, lambda x, y: 3 * np.exp(-0.2 * np.sum((x - y) ** 2))),
        (
            kernels.Polynomial(2, 1.0, 1.0).normalized(),
            lambda x, y: (x @ y + 1) ** 2 / ((x @ x + 1) * (y @ y + 1)),
        ),
        (
            2 * (kernels.Cosine() + kernels.RBF(1.0)) * kernels.RBF(0.1),
            lambda x, y: (
                2
                * (x @ y / max(np.sqrt((x @ x) * (y @ y)), 1e-300) + np.exp(-np.sum((x - y) ** 2)))
                * np.exp(-0.1 * np.sum((x - y) ** 2))
            ),
        ),
    ],
    ids=lambda value: repr(value) if isinstance(value, kernels.Kernel) else "formula",
)
def test_combinations_equal_their_formulas(kernel, formula):
    check_kernel(kernel, X, formula=formula)


def test_algebra_reads_as_it_was_written():
    assert repr(kernels.RBF(0.5) + 2 * kernels.Linear()) == "RBF(gamma=0.5) + 2 * Linear()"
    assert repr((kernels.RBF(0.5) + kernels.Linear()) * kernels.Cosine()) == "(RBF(gamma=0.5) + Linear()) * Cosine()"
    assert repr((kernels.Linear() + kernels.Linear()).normalized()) == "(Linear() + Linear()).normalized()"


def test_normalised_zero_rows_are_zero_and_linear_is_cosine():
    K = kernels.Linear().normalized()(X)
    assert pytest.approx(kernels.Cosine()(X), abs=1e-15) == K
    assert np.all(K[4] == 0)
    assert np.all(np.delete(np.diag(K), 4) == 1)


def test_features_of_combinations():
    kernel = (kernels.Linear() + 2 * kernels.Polynomial(2)).normalized()
    for rows in (X, X.astype(np.float32)):
        F = kernel.features(rows)
        assert pytest.approx(kernel(rows), rel=1e-5 if rows.dtype == np.float32 else 1e-12, abs=1e-6) == F @ F.T
    sparse = (kernels.Linear() + 3 * kernels.Cosine()).normalized()
    F = sparse.features(csr_array(X))
    assert (F @ F.T).toarray() == pytest.approx(sparse(X), abs=1e-13)
    assert (kernels.Linear() * kernels.RBF()).features(X) is None


def test_traits_and_parameters_reach_the_parts():
    assert not (kernels.RBF() + kernels.Sigmoid()).positive
    assert (kernels.RBF() * kernels.Linear()).positive
    fixed = (kernels.RBF("median") + kernels.Laplacian()).fix(X)
    assert isinstance(fixed.left.gamma, float)
    assert fixed.right.gamma == 0.25
    assert fixed.get_params()["left__gamma"] == fixed.left.gamma


def test_combinations_that_cannot_be():
    with pytest.raises(ParameterError, match="factor"):
        -1 * kernels.RBF()
    with pytest.raises(ParameterError, match="same kind"):
        kernels.RBF() + kernels.Precomputed()
    with pytest.raises(TypeError):
        kernels.RBF() + 1
    with pytest.raises(InputError, match="≥ 0"):
        kernels.Sigmoid(1.0, -5.0).normalized()(X)


@pytest.mark.parametrize(
    "kernel",
    [
        kernels.RBF(0.1),
        kernels.Laplacian(0.1),
        kernels.Matern(),
        kernels.RBF(0.1) + kernels.Linear(),
        2 * kernels.RBF(0.1),
        kernels.RBF(0.2) * kernels.Linear(),
        kernels.RBF(0.1).normalized(),
    ],
    ids=repr,
)
def test_rows_that_were_prepared_apart_are_refused(kernel):
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((6, 3)) + 5, rng.standard_normal((4, 3))
    A = kernel.prepare(X)
    with pytest.raises(InputError, match="prepared about one origin"):
        kernel.matrix(A, kernel.prepare(Y))
    np.testing.assert_array_equal(kernel.matrix(A, kernel.prepare(Y, like=A)), kernel(X, Y))
