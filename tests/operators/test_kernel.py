"""The kernel matrix as an operator: products, centring, statistics, cache, precision, measured rounding."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from ritz import kernels
from ritz._core.errors import MemoryLimitError
from ritz.operators import kernel_tiles
from ritz.operators.kernel import KernelMatrix
from ritz.spectral.problem import SpectralProblem
from ritz.spectral.solvers.krylov import krylov
from ritz.testing.operators import check_operator

ALL = [
    kernels.Linear(),
    kernels.Polynomial(2),
    kernels.RBF(),
    kernels.Sigmoid(),
    kernels.Laplacian(),
    kernels.Cosine(),
    kernels.Matern(0.5),
    kernels.Matern(2.5),
    kernels.RBF(0.1) + kernels.Linear(),
    kernels.Polynomial(3).normalized(),
]


def table(n: int, d: int = 4, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((n, d))


def made(kernel, X, **options) -> KernelMatrix:
    kernel = kernel.fix(X)
    return KernelMatrix(kernel, kernel.prepare(X), **options)


def centering(n: int) -> np.ndarray:
    return np.eye(n) - 1 / n


@pytest.fixture
def small_tiles(monkeypatch):
    """Tiles so small that a hundred rows make many."""
    monkeypatch.setattr(kernel_tiles, "SIDE", 16)
    monkeypatch.setattr(kernel_tiles, "GROUP_BYTES", 3 * 16 * 16 * 8)


@pytest.mark.parametrize("kernel", ALL, ids=repr)
@pytest.mark.parametrize("precision", [np.float64, np.float32])
@pytest.mark.parametrize("cache", [0, 1e9])
def test_products_equal_the_dense_matrix(kernel, precision, cache, small_tiles):
    X = table(101)
    dense = kernel(X)
    K = made(kernel, X, precision=precision, cache_bytes=cache)
    check_operator(K, dense)
    J = centering(101)
    check_operator(K.centered(), J @ dense @ J)
    assert K.symmetric
    assert K.positive == kernel.positive


@pytest.mark.parametrize("n", [1, 2, 15, 16, 17, 40, 49])
def test_any_number_of_rows(n, small_tiles):
    X = table(n)
    dense = kernels.RBF(0.3)(X)
    for budget in (0, kernel_tiles.SUMS_BYTES):
        kernel_tiles.SUMS_BYTES, held = budget, kernel_tiles.SUMS_BYTES
        try:
            check_operator(made(kernels.RBF(0.3), X), dense)
        finally:
            kernel_tiles.SUMS_BYTES = held
    check_operator(made(kernels.RBF(0.3), X).centered(), centering(n) @ dense @ centering(n))


def test_whole_rows_where_sums_of_lanes_take_too_much(small_tiles, monkeypatch):
    X, V = table(130), table(130, 5, seed=1)
    K = made(kernels.RBF(0.2), X)
    first = K.matmat(V)
    square = K.statistics().square
    monkeypatch.setattr(kernel_tiles, "SUMS_BYTES", 0)
    rows = made(kernels.RBF(0.2), X)
    assert rows.matmat(V) == pytest.approx(first, rel=1e-12)
    assert rows.statistics().square == pytest.approx(square, rel=1e-13)


def test_sparse_rows():
    X = table(60) * (table(60, seed=3) > 0.5)
    for kernel in (kernels.RBF(0.3), kernels.Cosine(), kernels.Laplacian(0.2)):
        check_operator(made(kernel, csr_array(X)), kernel(X))


@pytest.mark.parametrize("precision", [np.float64, np.float32])
@pytest.mark.parametrize("kernel", [kernels.RBF(), kernels.Polynomial(2), kernels.Sigmoid()], ids=repr)
def test_the_first_product_learns_means_trace_and_size(kernel, precision, small_tiles):
    X, n = table(90), 90
    dense, J = kernel(X), centering(90)
    K = made(kernel, X, precision=precision)
    K.matmat(table(n, 3))
    assert K.passes() == 1
    stats = K.statistics()
    assert K.passes() == 1
    rel = 1e-12 if precision is np.float64 else 2e-6
    assert stats.row_means == pytest.approx(dense.mean(axis=1), rel=rel, abs=rel)
    assert stats.mean == pytest.approx(dense.mean(), rel=rel)
    assert stats.trace == pytest.approx(np.trace(dense), rel=rel)
    assert stats.centered_trace == pytest.approx(np.trace(J @ dense @ J), rel=rel)
    assert stats.square == pytest.approx(np.sum(dense**2), rel=rel)
    true = np.sum((J @ dense @ J) ** 2)
    assert abs(stats.centered_square - true) <= stats.centered_square_error + rel * true
    fine = K.at(np.float64)
    fine.matmat(table(n, 1))
    assert fine.statistics().dtype == np.float64
    assert fine.statistics().mean == pytest.approx(dense.mean(), rel=1e-13)


def test_statistics_before_any_product():
    K = made(kernels.RBF(), table(30))
    assert K.centered().statistics().mean == pytest.approx(kernels.RBF()(table(30)).mean())
    assert K.passes() == 1


def test_kept_tiles_are_made_once(small_tiles):
    X, V = table(100), table(100, 3, seed=1)
    K = made(kernels.RBF(), X, cache_bytes=1e9)
    first, second = K.matmat(V), K.matmat(V)
    assert np.array_equal(first, second)
    assert (K.passes(), K.evaluations()) == (2, 1)
    need = kernel_tiles.cached_bytes(100, np.float64)
    assert need == 7 * 8 // 2 * 16 * 16 * 8  # of seven tiles a side, filled up
    tight = made(kernels.RBF(), X, cache_bytes=need - 1)
    assert tight.matmat(V) == pytest.approx(first, rel=1e-13)
    tight.matmat(V)
    assert tight.evaluations() == 2


def test_a_finer_cache_pushes_out_the_coarser_one(small_tiles):
    X, V = table(100), table(100, 3, seed=1)
    K = made(kernels.RBF(), X, precision=np.float32, cache_bytes=kernel_tiles.cached_bytes(100, np.float64))
    K.matmat(V)
    fine = K.at(np.float64)
    for _ in range(2):
        fine.matmat(V)
    assert K.evaluations() == 2
    assert list(K._known.stores) == [np.dtype(np.float64)]


def test_given_matrices_are_not_kept_twice():
    K = kernels.RBF()(table(50))
    operator = made(kernels.Precomputed(), K, cache_bytes=1e9)
    check_operator(operator, K)
    assert not operator._known.stores


def test_precision_is_changed_within_limits():
    X = table(40)
    K = made(kernels.RBF(), X)
    assert K.at(np.float64) is K
    assert K.at(np.float32).dtype == np.float32
    assert K.at(np.float32).at(np.float64).dtype == np.float64
    assert K.centered().at(np.float32).dtype == np.float32
    coarse = made(kernels.RBF(), X, precision=np.float32, finest=np.float32)
    assert coarse.at(np.float64) is coarse
    words = made(kernels.Callable(lambda x, y: float(x == y)), list("abcab"))
    assert words.at(np.float32) is words  # nothing is gained
    huge = made(kernels.Polynomial(9, 1.0), X * 1e5)
    assert huge.at(np.float32) is huge  # out of range
    apart = X + 1e4 * (np.arange(40) % 2)[:, None]
    assert made(kernels.RBF(1.0), apart).at(np.float32).dtype == np.float64  # distances would be mostly rounding


TABLES = {
    "even": table(300, 8),
    "offset": table(300, 8) + 1e6,
    "two far groups": table(300, 8) + 60.0 * (np.arange(300) % 50 == 0)[:, None],
    "one far row": table(300, 8) + 1e4 * (np.arange(300) == 13)[:, None],
    "wide": table(300, 8) * 1e-2,
    "one dimension": table(300, 1),
}


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("precision", [np.float32, np.float64])
@pytest.mark.parametrize("kernel", [kernels.RBF(0.1), kernels.Matern(1.5, 2.0), kernels.Polynomial(2, 0.1)], ids=repr)
def test_measured_rounding_covers_the_true_one(name, precision, kernel):
    X = TABLES[name]
    K = made(kernel, X, precision=precision)
    V = np.linalg.qr(table(300, 6, seed=2))[0]
    exact = _exact(kernel, X)
    error = K.matmat(V) - (exact @ V.astype(np.longdouble)).astype(np.float64)
    true = float(np.max(np.linalg.norm(error, axis=0)))
    size = float(np.linalg.norm(exact.astype(np.float64), 2))
    u = 2.0**-53
    assert true <= K.measured() + 100 * u * size
    # bounds on entries hold for vectors on few rows too, which makes them pessimistic
    worst = float(np.linalg.norm((K.matmat(np.eye(300)) - exact).astype(np.float64), 2))
    assert K.measured() <= 100 * max(true, worst) + 100 * u * size
    before = K.measured()
    K.matmat(np.eye(300)[:, :2])
    assert K.measured() >= before


@pytest.mark.parametrize("centered", [False, True])
def test_what_products_add_up_to_is_checked_as_one(centered):
    X, Y = TABLES["two far groups"], table(20, 4, seed=5)
    K = made(kernels.RBF(0.1), X, precision=np.float32, finest=np.float32)
    M = K.centered() if centered else K
    quiet = M.unchecked()
    parts = [np.linalg.qr(table(300, 5, seed=s))[0] for s in range(4)]
    image = sum(quiet.matmat(V) @ Y[5 * i : 5 * i + 5] for i, V in enumerate(parts))
    assert M.measured() is None
    V = np.hstack(parts) @ Y
    M.check(V, image)
    J = centering(300) if centered else np.eye(300)
    true = J @ _exact(kernels.RBF(0.1), X).astype(float) @ J @ V
    error = np.max(np.linalg.norm(image - true, axis=0) / np.linalg.norm(V, axis=0))
    assert error <= M.measured() <= 30 * error
    M.check(V, image + 1e-3 * np.linalg.norm(V) * np.cos(np.arange(300.0))[:, None])
    assert M.measured() > 1e-3


@pytest.mark.parametrize("precision", [np.float64, np.float32])
@pytest.mark.parametrize("kernel", [kernels.RBF(0.05), kernels.Polynomial(2, 0.1), kernels.Matern(1.5, 2.0)], ids=repr)
@pytest.mark.parametrize("name", TABLES)
def test_sums_of_eigenvalues_are_bounds(name, kernel, precision, small_tiles):
    X = TABLES[name]
    M = made(kernel, X, precision=precision).centered()
    assert M.power_sums() is None
    M.matmat(table(300, 2))
    J = centering(300)
    true = np.linalg.eigvalsh(J @ _exact(kernel, X).astype(float) @ J)
    low, high = M.power_sums()
    size = 1e-13 * max(float(np.square(true).sum()), 300 * M.statistics().square)
    assert low <= true.sum() + 1e-12 * abs(M.statistics().trace)
    assert float(np.square(true).sum()) <= high + size
    assert made(kernels.Sigmoid(), X).centered().power_sums() is None


def test_the_diagonal_is_as_fine_as_the_tiles():
    X = (100 * table(300, 4)).astype(np.float32)
    M = made(kernels.Polynomial(3, 0.3), X)
    coarse, fine = M.diagonal(), M.at(np.float64).diagonal()
    exact = (0.3 * np.square(X, dtype=np.float64).sum(axis=1) + 1) ** 3
    assert np.allclose(fine, exact, rtol=1e-14)
    assert not np.allclose(coarse, exact, rtol=1e-9)


@pytest.mark.parametrize("entry", [0.2142, 0.4183, 0.8675, 0.9083, 0.9492])
def test_sums_of_equal_entries_do_not_drift(entry):
    """Float32 sums of equal numbers round in one direction, by up to 29 u here."""
    n, gamma = 1500, float(-np.log(entry) / 2)
    M = made(kernels.RBF(gamma), np.eye(n, dtype=np.float32), precision=np.float32).centered()
    M.matmat(table(n, 2))
    gap = 1 - float(np.exp(-2 * gamma))
    low, high = M.power_sums()
    assert low <= (n - 1) * gap
    assert (n - 1) * gap**2 <= high <= 1.01 * (n - 1) * gap**2 + 1e-3 * n


def _exact(kernel, X: np.ndarray) -> np.ndarray:
    """K in extended precision from the stored rows."""
    X = X.astype(np.longdouble)
    if isinstance(kernel, kernels.Polynomial):
        return (np.longdouble(kernel.gamma) * (X @ X.T) + 1) ** 2
    square = np.zeros((len(X), len(X)), np.longdouble)
    for column in X.T:
        square += (column[:, None] - column[None]) ** 2
    if isinstance(kernel, kernels.RBF):
        return np.exp(-np.longdouble(kernel.gamma) * square)
    r = np.sqrt(3 * square) / np.longdouble(kernel.length)
    return (1 + r) * np.exp(-r)


@pytest.mark.parametrize("draw", [1, 3, 4])
def test_vectors_on_a_few_far_rows_do_not_escape_the_measurement(draw):
    # K is nearly diagonal: its leading eigenvectors live on close pairs of rows, which a sample of rows misses
    X = np.random.default_rng(draw).standard_t(2, (500, 10))
    exact = _exact(kernels.RBF(1.0), X).astype(float)
    V = np.linalg.eigh(exact)[1][:, -8:]
    K = made(kernels.RBF(1.0), X, precision=np.float32)
    true = float(np.max(np.linalg.norm(K.matmat(V) - exact @ V, axis=0)))
    assert true <= K.measured()


def test_nothing_is_measured_where_no_better_formula_is_known():
    words = made(kernels.Callable(lambda x, y: float(x == y)), list("abcab"))
    words.matmat(np.ones((5, 1)))
    assert words.measured() is None


def test_rounding_does_not_grow_with_rows(small_tiles):
    # sums of 600 equal numbers: float32 alone would drift
    X = np.zeros((600, 1))
    K = made(kernels.RBF(1.0), X, precision=np.float32, finest=np.float32)
    V = np.full((600, 1), 0.1, np.float32)
    assert K.matmat(V) == pytest.approx(600 * np.float64(np.float32(0.1)), rel=3e-7)


@pytest.mark.parametrize("finest", [np.float32, np.float64])
def test_krylov_finds_the_eigenvalues_within_their_rounding(finest, small_tiles):
    X = table(300, 5)
    K = made(kernels.RBF(), X, precision=finest, finest=finest).centered()
    J = centering(300)
    true = np.linalg.eigvalsh(J @ kernels.RBF()(X) @ J)[::-1][:6]
    problem = SpectralProblem(K, 6, kind="eigh", tol=1e-6)
    found = krylov(problem, K)
    bound = np.linalg.norm(found.residual_block, axis=0) + found.rounding
    assert np.all(np.abs(found.values[:6] - true) <= bound)
    assert found.rounding <= 1e-6 * true[0]


def test_dense_form_and_its_rounding():
    X = table(80) + 1e5
    dense, J = _exact(kernels.RBF(0.2), X).astype(float), centering(80)
    K = made(kernels.RBF(0.2), X.astype(np.float64), precision=np.float32)
    off = np.linalg.norm(K.to_dense() - dense, 2)
    assert off <= K.measured() + 1e-14 * 80
    assert K.measured() < 1e-12
    assert K.centered().to_dense() == pytest.approx(J @ dense @ J, abs=1e-13)
    with pytest.raises(MemoryLimitError, match="kernel matrix"):
        K.to_dense(budget=100)


def test_counts_and_words():
    K = made(kernels.RBF(), table(20))
    M = K.centered()
    M.matmat(np.ones((20, 2)))
    assert M.calls.matmat == 1
    assert M.calls.columns == 2
    assert M.passes() == K.passes() == 1
    assert repr(K) == "K  (20×20, float64)"
    assert M.symbol() == "J K J"
    assert M.inflation() == pytest.approx(20 * kernels.RBF()(table(20)).mean())


def test_a_constant_vector_does_not_blow_up_the_measured_rounding():
    """J takes all of it away but rounding; divided by the length of that, any product looks wrong."""
    X = table(60, 4)
    M = made(kernels.Laplacian(0.1), X).at(np.float32).centered()
    V = np.column_stack([(1 + 1e-12 * np.sin(np.arange(60))) / np.sqrt(60), np.eye(60)[0]])
    M.check(V, M.matmat(V) + 1e-7 * np.cos(np.arange(120)).reshape(60, 2))  # put together from rounded products
    assert M.measured() < 1e-5
