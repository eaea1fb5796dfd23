"""Copies of rows: their kernel entries are all off by the same number, so nothing averages out. Truth: closed forms."""

from __future__ import annotations

import numpy as np
import pytest

from ritz import KernelPCA
from ritz.kernels import Laplacian, Matern, Spectrum

SOLVERS = ["auto", "svd", "moments", "krylov", "lanczos", "chebyshev", "power", "nystrom"]


def groups(count: int, copies: int, seed: int, scale: float = 100.0, d: int = 8) -> np.ndarray:
    """``count`` rows so far apart that k = 0 between them, each ``copies`` times, in any order."""
    rng = np.random.default_rng(seed)
    centres = rng.standard_normal((count, d)) * scale
    return rng.permutation(np.repeat(centres, copies, axis=0))


def holds(certificate, value: float) -> bool:
    return bool(np.all((certificate.lower <= value) & (value <= certificate.upper)))


@pytest.mark.filterwarnings("ignore::ritz.AccuracyWarning")
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("solver", SOLVERS)
def test_groups_of_copies_have_their_size_as_eigenvalue(solver, dtype):
    """K = I ⊗ 11ᵀ: the centred matrix has the eigenvalue ``copies``, count − 1 times, and 0."""
    for seed in (0, 1, 2):
        X = groups(30, 8, seed).astype(dtype)
        for k in (2, 29):
            certificate = KernelPCA(k, kernel="rbf", gamma=0.5, solver=solver, random_state=seed).fit(X).certificate_
            assert holds(certificate, 8.0)
            assert np.max(certificate.width) <= 1e-5


def test_the_same_beyond_the_dense_limit():
    certificate = KernelPCA(39, kernel="rbf", gamma=0.5).fit(groups(40, 30, 0)).certificate_
    assert holds(certificate, 30.0)
    assert np.max(certificate.width) <= 1e-7


@pytest.mark.parametrize("kernel", [Laplacian(2.0), Matern(0.5, 0.5), Matern(1.5, 0.5), Matern(2.5, 0.5)], ids=str)
@pytest.mark.parametrize("solver", ["svd", "moments", "krylov", "lanczos"])
def test_other_kernels_of_distances(kernel, solver):
    certificate = KernelPCA(19, kernel=kernel, solver=solver).fit(groups(20, 10, 3, scale=300.0)).certificate_
    assert holds(certificate, 10.0)


@pytest.mark.parametrize("solver", ["auto", "svd", "krylov"])
def test_repeated_strings(solver):
    words = [letter * 6 for letter in "abcdefghijkl"] * 9
    model = KernelPCA(11, kernel=Spectrum(3), solver=solver).fit(words)
    assert holds(model.certificate_, 9.0)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("solver", ["svd", "krylov", "lanczos"])
def test_a_kernel_matrix_of_equal_blocks(solver, dtype):
    """Blocks of 7 equal entries 1/3: the eigenvalue is 7 times that number as it is stored."""
    third = dtype(1 / 3)
    K = np.kron(np.eye(25), np.full((7, 7), third)).astype(dtype)
    certificate = KernelPCA(24, kernel="precomputed", solver=solver).fit(K).certificate_
    assert holds(certificate, 7 * float(third))


def test_linear_and_polynomial_copies():
    """Copies multiply every eigenvalue: those of 12 rows, in extended precision, times 20."""
    base = np.random.default_rng(5).integers(-9, 9, (12, 3)).astype(float)
    for kernel, of in [("linear", lambda G: G), ("poly", lambda G: (G / 3 + 1) ** 3)]:
        wide = base.astype(np.longdouble)
        K = of(wide @ wide.T)
        K = K - K.mean(axis=0)
        K = (K - K.mean(axis=1)[:, None]).astype(float)
        truth = 20 * np.linalg.eigvalsh((K + K.T) / 2)[::-1][:3]
        for solver in ("auto", "svd", "krylov", "moments", "lanczos"):
            certificate = KernelPCA(3, kernel=kernel, solver=solver).fit(np.repeat(base, 20, axis=0)).certificate_
            slack = 1e-15 * truth[0]
            assert np.all((certificate.lower <= truth + slack) & (truth - slack <= certificate.upper)), (kernel, solver)
