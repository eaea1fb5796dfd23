"""The lectures' formulas, written out as they stand, beside Ritz's scores; and what feature space promises.

Both lectures centre the kernel matrix and then project φ(x), not φ(x) − mean. Their coordinates are Ritz's plus one
constant a component, c = Λ^-½ Uᵀ K1/n.
"""

from __future__ import annotations

import numpy as np
import pytest

from ritz import KernelPCA
from ritz.kernels import RBF, Laplacian, Linear, Matern, Polynomial, Spectrum

KERNELS = [Linear(), Polynomial(3, 0.3, 1.0), RBF(0.2), Laplacian(0.3), Matern(1.5, 2.0)]
NAMES = [
    "bouvier patty", "bouvier selma", "brockman kent", "burns charles montgomery", "carlson carl", "chalmers gary",
    "flanders ned", "flanders rod", "flanders todd", "frink prof. john", "gumbel barney", "hibbert dr. julius",
    "krabappel edna", "leonard lenny", "lovejoy helen", "lovejoy timothy", "mann otto", "moleman hans", "muntz nelson",
    "nahasapeemapetilon apu", "prince martin", "riviera dr. nick", "simpson bart", "simpson homer", "simpson lisa",
    "simpson maggie", "simpson marge", "skinner agnes", "skinner seymour", "smithers waylon", "syslack moe",
    "van houten luann", "van houten milhouse", "wiggum clancy", "wiggum ralph",
]  # fmt: skip
UNSEEN = {"flanders maude": "flanders", "simpson abe": "simpson", "van houten kirk": "van houten"}


def naive(kernel, X, Y):
    """k(x, y) pair by pair."""
    return np.array([[float(kernel(X[i : i + 1], Y[j : j + 1])[0, 0]) for j in range(len(Y))] for i in range(len(X))])


@pytest.fixture(scope="module", params=KERNELS, ids=str)
def problem(request):
    rng = np.random.default_rng(3)
    X, new = rng.standard_normal((30, 4)) + 0.5, rng.standard_normal((7, 4))
    kernel, k = request.param, 4
    return kernel, X, new, naive(kernel, X, X), naive(kernel, new, X), k


def ritz_scores(kernel, X, new, k, solver):
    model = KernelPCA(k, kernel=kernel, solver=solver, tol=1e-12)
    trained = model.fit_transform(X)
    return model, trained, model.transform(new)


# seed 001, algorithm 2 ---------------------------------------------------------------------------------------------


def algorithm_2(K, k_new, k):
    n = len(K)
    ones = np.ones((n, n))
    centred = K - ones @ K / n - K @ ones / n + ones @ K @ ones / n**2
    n_lambda, alpha = np.linalg.eigh(centred)
    n_lambda, alpha = n_lambda[::-1][:k], alpha[:, ::-1][:, :k]
    for i in range(k):
        alpha[:, i] /= np.sqrt(n_lambda[i] * (alpha[:, i] @ alpha[:, i]))  # nλ αᵀα = 1
    p = np.zeros((len(k_new), k))
    for row in range(len(k_new)):
        for i in range(k):
            p[row, i] = sum(alpha[j, i] * k_new[row, j] for j in range(n))
    return n_lambda, alpha, p


# seed 002, the kPCA procedure --------------------------------------------------------------------------------------


def center_kernel_matrix(K):
    _, n = K.shape
    rsum = np.sum(K, axis=1).reshape(1, n)
    csum = rsum.reshape(n, 1)
    tsum = np.sum(rsum)
    return K - rsum / n - csum / n + tsum / n**2


def procedure(K, k_new, k):
    etas, V = np.linalg.eigh(center_kernel_matrix(K))
    mask = etas > 0
    etas, V = etas[mask], V[:, mask]
    V = V / np.sqrt(etas)
    return etas[::-1][:k], V[:, ::-1][:, :k], k_new @ V[:, ::-1][:, :k]


# seed 004, equations 27 to 36 --------------------------------------------------------------------------------------


def equations(K, k_new, k):
    N = len(K)
    mean_with = [sum(K[s, t] for s in range(N)) / N for t in range(N)]  # (31)  μ̂·Φ(x_t)
    norm = sum(K[t, s] for t in range(N) for s in range(N)) / N**2  # (33)
    tilde = np.array([[K[s, t] - mean_with[t] - mean_with[s] + norm for t in range(N)] for s in range(N)])  # (28)
    sigma2, alpha = np.linalg.eigh(tilde)
    sigma, alpha = np.sqrt(sigma2[::-1][:k]), alpha[:, ::-1][:, :k]
    psi = np.zeros((len(k_new), k))
    for row in range(len(k_new)):
        inner = k_new[row] - k_new[row].sum() / N  # (36)
        psi[row] = alpha.T @ inner / sigma  # (34)
    return sigma**2, alpha / sigma, psi


@pytest.mark.parametrize("lecture", [algorithm_2, procedure, equations])
@pytest.mark.parametrize("solver", ["auto", "svd", "krylov"])
def test_the_lectures_coordinates_are_ours_plus_a_constant(problem, lecture, solver):
    kernel, X, new, K, k_new, k = problem
    values, alpha, psi = lecture(K.copy(), k_new.copy(), k)
    psi_train = lecture(K.copy(), K.copy(), k)[2]
    model, Z, T = ritz_scores(kernel, X, new, k, solver)
    U, lam = model.eigenvectors_, model.eigenvalues_
    assert np.allclose(lam, values, rtol=1e-9)
    sign = np.sign(np.sum(U * alpha, axis=0))
    constant = (U / np.sqrt(lam)).T @ K.mean(axis=1)  # Λ^-½ Uᵀ K1/n
    scale = np.sqrt(lam[0])
    assert np.max(np.abs(psi * sign - (T + constant))) <= 1e-9 * scale
    assert np.max(np.abs(psi_train * sign - (Z + constant))) <= 1e-9 * scale
    if not isinstance(kernel, Linear):
        assert np.max(np.abs(constant)) > 1e-6 * scale  # the two do differ


def test_equation_36_takes_off_a_mean_that_the_eigenvectors_do_not_see(problem):
    """(36) subtracts Σₛ K(x, x_s)/N, one number a row: αᵀ1 = 0, so it changes nothing."""
    _, _, _, K, k_new, k = problem
    assert np.allclose(equations(K, k_new, k)[2], algorithm_2(K, k_new, k)[2] * _match(K, k_new, k), atol=1e-9)


def _match(K, k_new, k):
    return np.sign(np.sum(equations(K, k_new, k)[1] * algorithm_2(K, k_new, k)[1], axis=0))


# feature space ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", ["auto", "svd", "krylov"])
def test_scores_are_inner_products_with_unit_axes_about_the_mean(problem, solver):
    kernel, X, new, K, k_new, k = problem
    model, Z, T = ritz_scores(kernel, X, new, k, solver)
    n = len(X)
    J = np.eye(n) - 1 / n
    alpha = J @ (model.eigenvectors_ / np.sqrt(model.eigenvalues_))  # v = Σ αⱼ (φ(xⱼ) − m) = Σ (Jα)ⱼ φ(xⱼ)
    assert np.allclose(alpha.T @ K @ alpha, np.eye(k), atol=1e-9)  # orthonormal axes
    # old and new points: ⟨φ(x) − m, v⟩ with m = Σ φ(xⱼ)/n
    top = np.sqrt(model.eigenvalues_[0])
    assert np.allclose(Z, (K - K.mean(axis=0)) @ alpha, atol=1e-9 * top)
    assert np.allclose(T, (k_new - K.mean(axis=0)) @ alpha, atol=1e-9 * top)
    assert np.max(np.abs(Z.mean(axis=0))) <= 1e-9 * top
    assert np.allclose(Z.T @ Z, np.diag(model.eigenvalues_), atol=1e-9 * top**2)
    # centring new rows as scikit-learn does: k_x − K1/n − mean(k_x) + mean(K) gives the same
    both = k_new - K.mean(axis=0) - k_new.mean(axis=1, keepdims=True) + K.mean()
    assert np.allclose(T, both @ (model.eigenvectors_ / np.sqrt(model.eigenvalues_)), atol=1e-9 * top)


def test_scores_of_rows_add_up_to_distances(problem):
    kernel, X, new, K, k_new, _ = problem
    model = KernelPCA(None, kernel=kernel, solver="svd").fit(X)
    own = np.array([float(kernel(new[i : i + 1])[0, 0]) for i in range(len(new))])
    potential = own - 2 * k_new.mean(axis=1) + K.mean()
    assert np.allclose(model.potential(new), potential, rtol=1e-9)
    T = model.transform(new)
    assert np.allclose(model.novelty(new), potential - np.square(T).sum(axis=1), atol=1e-7 * potential.max())
    assert np.allclose(model.score_samples(new), -model.novelty(new))
    assert np.allclose(model.activation(new), np.abs(T).sum(axis=1))
    assert np.max(np.abs(model.novelty(X))) <= 1e-7 * np.trace(K)  # all components: nothing is left of training rows


# seed 002: strings in the plane -------------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", ["auto", "svd", "krylov"])
def test_unseen_names_land_beside_their_family(solver):
    assert len(NAMES) == 35
    model = KernelPCA(2, kernel=Spectrum(3), solver=solver)
    plane = model.fit_transform(NAMES)
    for name, at in zip(UNSEEN, model.transform(list(UNSEEN)), strict=True):
        nearest = NAMES[int(np.argmin(np.linalg.norm(plane - at, axis=1)))]
        assert nearest.startswith(UNSEEN[name]), (name, nearest)
