"""What the certificates of kernel PCA say is so: Krylov against dense eigenvalues, Nyström's bracket, the scores."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.datasets import make_blobs

from ritz import InputError, KernelPCA
from ritz.kernels import RBF, Cosine, Laplacian, Linear, Matern, Polynomial
from tests.pairs import pairwise

N = 220


def rows_of(name: str) -> np.ndarray:
    rng = np.random.default_rng(7)
    X = rng.standard_normal((N, 6))
    return {
        "plain": X,
        "graded": X * np.logspace(0, -3, 6),
        "duplicated": np.repeat(X[: N // 4], 4, axis=0),
        "offset": X + 1e6,
        "clusters": make_blobs(N, 6, centers=7, cluster_std=0.05, random_state=0)[0],
        "outlier": np.vstack([X[:-1], 1e3 * np.ones((1, 6))]),
        "float32": X.astype(np.float32),
        "float32 offset": (X + 1e3).astype(np.float32),
    }[name]


def naive(kernel, X, Y) -> np.ndarray:
    """k(x, y) from its formula, in float64, by SciPy's differences: nothing of Ritz."""
    if isinstance(kernel, RBF):
        return np.exp(-kernel.gamma * cdist(X, Y, "sqeuclidean"))
    if isinstance(kernel, Laplacian):
        return np.exp(-kernel.gamma * cdist(X, Y, "cityblock"))
    if isinstance(kernel, Matern):  # ν = 3/2
        r = np.sqrt(3) * cdist(X, Y) / kernel.length
        return (1 + r) * np.exp(-r)
    if isinstance(kernel, Polynomial):
        return (kernel.gamma * X @ Y.T + kernel.coef0) ** kernel.degree
    if isinstance(kernel, Cosine):
        return 1 - cdist(X, Y, "cosine")
    return X @ Y.T


def dense(kernel, X) -> np.ndarray:
    """Eigenvalues of J K J from rows whose mean is taken off (which the kernels below do not notice)."""
    X = np.asarray(X, np.float64)
    if not isinstance(kernel, (Polynomial, Cosine)):
        X = X - X.mean(axis=0)
    K = naive(kernel, X, X)
    J = np.eye(len(K)) - 1 / len(K)
    return np.linalg.eigvalsh(J @ ((K + K.T) / 2) @ J)[::-1]


PROBLEMS = [
    *((RBF(0.1), name) for name in ("plain", "graded", "duplicated", "offset", "clusters", "outlier", "float32")),
    (RBF(0.1), "float32 offset"),
    *((RBF(1e-7), name) for name in ("plain", "clusters", "float32", "offset")),  # K nearly constant
    *((RBF(1e4), name) for name in ("plain", "duplicated", "clusters", "float32")),  # K nearly I
    *((Laplacian(0.2), name) for name in ("plain", "offset", "duplicated", "float32")),
    *((Matern(1.5, 2.0), name) for name in ("plain", "clusters", "float32")),
    *((Polynomial(3, 0.2, 1.0), name) for name in ("plain", "duplicated", "float32", "clusters")),
    *((Linear(), name) for name in ("plain", "graded", "duplicated", "float32")),
    *((Cosine(), name) for name in ("plain", "clusters", "float32")),
]


@pytest.mark.parametrize("solver", ["krylov", "lanczos"])
@pytest.mark.parametrize(("kernel", "data"), PROBLEMS, ids=str)
def test_the_certificate_at_1e_6_is_true(kernel, data, solver):
    """The tolerance is reached without a warning, the values are the true ones to it, and the bounds hold."""
    X, k = rows_of(data), 5
    truth = dense(kernel, X)
    model = KernelPCA(k, kernel=kernel, solver=solver, tol=1e-6).fit(X)
    certificate = model.certificate_
    slack = 2e-14 * max(truth[0], 1e-3)  # of the truth itself
    assert certificate.converged
    assert np.all(np.abs(certificate.values - truth[:k]) <= 1e-6 * truth[0] + slack)
    assert np.all(np.abs(model.eigenvalues_ - truth[:k]) <= (1e-6 + 1e-7 * ("float32" in data)) * truth[0] + slack)
    assert np.all(certificate.residuals <= 1e-6 * truth[0])
    assert certificate.rounding <= 1e-6 * truth[0] + slack
    assert np.all(certificate.width <= 5e-6 * truth[0] + slack)
    gap = np.min(np.abs(truth[None, :] - certificate.values[:, None]), axis=1)
    assert np.all(gap <= certificate.width + slack)
    for i in np.flatnonzero(certificate.labelled):
        assert certificate.lower[i] - slack <= truth[i] <= certificate.upper[i] + slack
    assert truth[k] <= certificate.ceiling + slack


def test_there_are_enough_problems_and_most_are_reached():
    assert len(PROBLEMS) >= 20
    models = [KernelPCA(5, kernel=kernel, solver="krylov").fit(rows_of("plain")) for kernel, _ in PROBLEMS[:1]]
    assert all(model.certificate_.converged and model.certificate_.labelled.all() for model in models)


@pytest.mark.parametrize("offset", [0.0, 1e3, 1e6])
@pytest.mark.parametrize("solver", ["auto", "svd", "krylov"])
@pytest.mark.parametrize("kernel", [Linear(), Polynomial(2, 0.25, 1.0), Polynomial(3, 0.25, 1.0), Cosine()], ids=str)
@pytest.mark.filterwarnings("ignore:rounding of the kernel matrix:ritz.AccuracyWarning")
def test_large_means_are_in_the_certificate(kernel, offset, solver):
    """Against J K J in 50 digits: features and entries of K are rounded before the mean is taken off."""
    mp = pytest.importorskip("mpmath")
    X = np.random.default_rng(7).standard_normal((40, 4)) + offset
    with mp.workdps(50):
        rows = [[mp.mpf(float(value)) for value in row] for row in X]
        G = [[sum(a * b for a, b in zip(x, y, strict=True)) for y in rows] for x in rows]
        if isinstance(kernel, Polynomial):
            K = [[(g / 4 + 1) ** kernel.degree for g in row] for row in G]
        elif isinstance(kernel, Cosine):
            K = [[G[i][j] / mp.sqrt(G[i][i] * G[j][j]) for j in range(40)] for i in range(40)]
        else:
            K = G
        means = [sum(row) / 40 for row in K]
        grand = sum(means) / 40
        exact = [[float(K[i][j] - means[i] - means[j] + grand) for j in range(40)] for i in range(40)]
    truth = np.linalg.eigvalsh(np.array(exact))[::-1]
    certificate = KernelPCA(3, kernel=kernel, solver=solver).fit(X).certificate_
    slack = 5e-15 * truth[0]
    known = certificate.labelled
    assert known.all() or solver == "krylov"
    assert np.all(certificate.lower[known] - slack <= truth[:3][known])
    assert np.all(truth[:3][known] <= certificate.upper[known] + slack)
    if solver == "auto":
        assert np.max(certificate.width) <= (1e-12 if offset == 0 or isinstance(kernel, Linear) else 1e-5) * truth[0]


@pytest.mark.parametrize("solver", ["auto", "svd", "krylov", "nystrom"])
def test_the_certificate_names_its_matrix_and_is_not_verified_as_that_of_a_table(solver):
    X = rows_of("plain")
    for kernel in (Linear(), RBF(0.1)):
        certificate = KernelPCA(2, kernel=kernel, solver=solver).fit(X).certificate_
        assert ("eigenvalues of J K̂ J" if solver == "nystrom" else "eigenvalues of J K J") in str(certificate)
        with pytest.raises(InputError, match="a matrix made from the data: a kernel"):
            certificate.verify(X)


# transform of the training rows -----------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", [RBF(0.1), Laplacian(0.2), Polynomial(3, 0.2, 1.0), Linear(), Cosine()], ids=str)
@pytest.mark.parametrize("data", ["plain", "duplicated", "clusters"])
def test_transform_of_the_training_rows_is_fit_transform(kernel, data):
    X = rows_of(data)
    for solver, tol in [("auto", 1e-6), ("svd", 1e-6), ("moments", 1e-6), ("krylov", 1e-12), ("lanczos", 1e-12)]:
        model = KernelPCA(4, kernel=kernel, solver=solver, tol=tol)
        Z = model.fit_transform(X)
        assert np.max(np.abs(model.transform(X) - Z)) <= 1e-10 * np.sqrt(model.eigenvalues_[0]), solver


@pytest.mark.parametrize("kernel", [RBF(0.1), Laplacian(0.2), Matern(1.5, 2.0)], ids=str)
@pytest.mark.parametrize("tol", [1e-3, 1e-6, 1e-9])
def test_a_looser_tolerance_moves_training_rows_by_its_residual_at_most(kernel, tol):
    """Z − T = Λ^-½ (MU − UΛ) row by row: each column differs by ‖r‖/√λ in norm."""
    X = rows_of("plain")
    model = KernelPCA(6, kernel=kernel, solver="krylov", tol=tol)
    Z = model.fit_transform(X)
    away = np.linalg.norm(model.transform(X) - Z, axis=0)
    certificate = model.certificate_
    assert np.all(away <= (certificate.residuals + certificate.rounding) / np.sqrt(model.eigenvalues_) * (1 + 1e-6))


# Nyström -------------------------------------------------------------------------------------------------------------

POSITIVE = [
    RBF(0.1),
    RBF(1e-7),
    RBF(1e4),
    Laplacian(0.2),
    Matern(1.5, 2.0),
    Polynomial(3, 0.2, 1.0),
    Linear(),
    Cosine(),
]


def approximated(kernel, X, Z) -> tuple[np.ndarray, float, float]:
    """Eigenvalues of J K̂ J, tr K − tr K̂ and tr K for landmarks Z, with a pseudo-inverse of k(Z, Z)."""
    X, Z = np.asarray(X, np.float64), np.asarray(Z, np.float64)
    if not isinstance(kernel, (Polynomial, Cosine, Linear)):
        X, Z = X - X.mean(axis=0), Z - X.mean(axis=0)
    values, Q = np.linalg.eigh(naive(kernel, Z, Z))
    kept = values > 1e-13 * values[-1]
    phi = naive(kernel, X, Z) @ (Q[:, kept] / np.sqrt(values[kept]))
    whole = sum(float(naive(kernel, x[None], x[None])[0, 0]) for x in X)
    s = np.linalg.svd(phi - phi.mean(axis=0), compute_uv=False) ** 2
    return np.append(s, np.zeros(len(X))), max(whole - float(np.sum(phi**2)), 0.0), whole


SAMPLINGS = ["rpcholesky", "uniform", "kmeans"]
NYSTROM = pairwise(POSITIVE, ["plain", "duplicated", "clusters", "float32", "float32 offset"], SAMPLINGS)
NYSTROM += [one for one in ((RBF(0.1), "plain", sampling) for sampling in SAMPLINGS) if one not in NYSTROM]


@pytest.mark.parametrize(("kernel", "data", "sampling"), NYSTROM, ids=str)
def test_nystrom_brackets_every_eigenvalue(kernel, data, sampling):
    X = rows_of(data)
    truth = dense(kernel, X)
    for count in (8, 50, N):
        model = KernelPCA(6, kernel=kernel, solver="nystrom", landmarks=count, sampling=sampling).fit(X)
        certificate, k = model.certificate_, model.n_components_
        slack = 1e-13 * truth.sum()
        assert np.all(certificate.lower <= truth[:k] + slack)
        assert np.all(truth[:k] <= certificate.upper + slack)
        assert truth[k] <= certificate.ceiling + slack
        nystrom, left, whole = approximated(kernel, X, model.X_fit_)
        fine = 1e-3 if X.dtype == np.float32 else 1e-5
        assert np.all(np.abs(model.eigenvalues_ - nystrom[:k]) <= fine * truth[0] + slack)
        assert np.all(certificate.upper - certificate.lower <= (1 + fine) * left + 2 * fine * whole + slack)
        assert len(model.X_fit_) <= count
        assert not hasattr(model, "eigenvectors_")
    if data == "plain" and kernel == RBF(0.1) and sampling != "kmeans":  # all rows as landmarks leave nothing
        assert np.allclose(model.eigenvalues_, truth[:6], rtol=1e-10)
        assert np.max(certificate.upper - certificate.values) <= 1e-8 * truth[0]


def test_more_landmarks_tighten_the_bracket():
    X = rows_of("plain")
    widths = [
        float(KernelPCA(3, kernel=RBF(0.05), solver="nystrom", landmarks=m).fit(X).certificate_.width[0])
        for m in (10, 40, 160)
    ]
    assert widths[0] > 2 * widths[1] > 4 * widths[2]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_user_landmarks_and_the_model_they_make(dtype):
    X = rows_of("plain").astype(dtype)
    chosen = X[::5]
    model = KernelPCA(3, kernel=RBF(0.1), solver="nystrom", landmarks=chosen)
    Z = model.fit_transform(X)
    assert np.array_equal(model.X_fit_, chosen)
    assert Z.dtype == dtype
    # by hand: features k(x, Z) K_mm^-½, PCA of them
    Kmm, Knm = RBF(0.1)(chosen.astype(float)), RBF(0.1)(X.astype(float), chosen.astype(float))
    values, vectors = np.linalg.eigh(Kmm)
    phi = Knm @ vectors / np.sqrt(values)
    phi -= phi.mean(axis=0)
    U, s, _ = np.linalg.svd(phi, full_matrices=False)
    loose = 1e-8 if dtype == np.float64 else 1e-3
    assert np.allclose(model.eigenvalues_, s[:3] ** 2, rtol=loose)
    assert np.allclose(np.abs(Z), np.abs(U[:, :3] * s[:3]), atol=loose * s[0])
    # the sign rule holds for the scores
    first = [Z[np.flatnonzero(np.abs(z) >= (1 - 1e-6) * np.abs(z).max())[0], j] for j, z in enumerate(Z.T)]
    assert np.all(np.array(first) > 0)


def test_nystrom_samples_what_matters():
    """rpcholesky finds seven small clusters beside a large one; uniform sampling misses some."""
    rng = np.random.default_rng(0)
    small = make_blobs(35, 4, centers=7, center_box=(-50, 50), cluster_std=0.01, random_state=3)[0]
    X = np.vstack([0.01 * rng.standard_normal((965, 4)), small])
    widths = {}
    for name in ("rpcholesky", "uniform"):
        model = KernelPCA(3, kernel=RBF(0.5), solver="nystrom", landmarks=20, sampling=name).fit(X)
        widths[name] = float(model.certificate_.width[0])
    assert widths["rpcholesky"] < 0.1 * widths["uniform"]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_float32_tiles_that_hide_more_than_the_tolerance_are_computed_anew(dtype):
    """A normalised kernel of rows far from the origin is nearly constant: centring takes most of its digits."""
    X = (np.random.default_rng(0).standard_normal((60, 4)) + 3).astype(dtype)
    kernel = Polynomial(2, 0.01, 1.0).normalized()
    certificate = KernelPCA(3, kernel=kernel, solver="krylov").fit(X).certificate_
    K = np.square(0.01 * X.astype(np.longdouble) @ X.T.astype(np.longdouble) + 1)
    K = K / np.sqrt(np.outer(np.diag(K), np.diag(K)))
    M = K - K.mean(axis=0)
    truth = np.linalg.eigvalsh((M - M.mean(axis=1)[:, None]).astype(np.float64))[::-1][:3]
    assert certificate.converged
    assert certificate.rounding <= 1e-6 * truth[0]
    assert np.all((certificate.lower <= truth) & (truth <= certificate.upper))
