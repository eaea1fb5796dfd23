"""Inputs that break careless code, with every solver: far means, extreme scales, ill conditions, odd shapes.

The defects are those of current releases of other libraries: cancellation under a far mean, a biased spectrum
on white noise, dependence on row order, NaN for one row. The truth is that of the stored numbers.
"""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy import sparse

import ritz
from ritz.testing import (
    hostile,
    known_hadamard,
    known_truth,
    largest_sine,
    matrix,
    sparse_matrix,
    true_eigenvalues,
    true_spectrum,
)
from ritz.testing.certify.cases import SOLVERS, Case
from ritz.testing.certify.run import run_case

pytest.importorskip("flint")
DIRECT = ("svd", "moments")
ITERATIVE = ("krylov", "lanczos", "chebyshev", "power")


def quiet_fit(model, X, **options):
    """Fit without warnings: some of these inputs deserve one."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X, **options)


def findings(case: Case, solver: str) -> str:
    """What the check of certificates has to say about one problem, as text; empty when all is well."""
    (record,) = run_case(0, case, (solver,))
    return "\n".join(f"{f.check} {f.component}: {f.words}" for f in record.findings)


# ----------------------------------------------------------------------------------------- a far mean


def far(mean: float, dtype: str) -> np.ndarray:
    X = np.random.default_rng(0).normal(size=(2000, 5)) * [5, 4, 3, 2, 1]
    return (X + mean).astype(dtype)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize(("mean", "dtype"), [(1e4, "float32"), (1e6, "float32"), (1e7, "float64"), (1e8, "float64")])
def test_a_far_mean_destroys_nothing(mean, dtype, solver):
    X = far(mean, dtype)
    expected, _ = true_eigenvalues(X, center=True)
    model = quiet_fit(ritz.PCA(5, solver=solver), X)
    np.testing.assert_allclose(model.explained_variance_, expected / (len(X) - 1), rtol=1e-5)


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_far_mean_in_sparse_storage(solver):
    X = far(1e8, "float64")
    expected, _ = true_eigenvalues(X, center=True)
    model = quiet_fit(ritz.PCA(5, solver=solver), sparse.csr_matrix(X))
    np.testing.assert_allclose(model.explained_variance_, expected / (len(X) - 1), rtol=1e-5)


@pytest.mark.parametrize("solver", SOLVERS)
def test_far_means_that_differ_by_column_with_scaling_and_weights(solver):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 4)) * [1, 1e-3, 1e3, 1] + [1e8, 1.0, -1e9, 0.0]
    w = rng.integers(1, 4, 300)
    expected, _ = true_eigenvalues(X, center=True, scale=True, weights=w)
    model = quiet_fit(ritz.PCA(4, scale=True, solver=solver), X, sample_weight=w)
    np.testing.assert_allclose(model.explained_variance_, expected / (w.sum() - 1), rtol=1e-5)


def test_a_far_mean_survives_partial_fit_and_merge():
    X = far(1e8, "float64")
    expected, _ = true_eigenvalues(X, center=True)
    streamed = ritz.PCA(5)
    for chunk in np.array_split(X, 7):
        streamed.partial_fit(chunk)
    merged = ritz.PCA(5).fit(X[:900]).merge(ritz.PCA(5).fit(X[900:]))
    for model in (streamed, merged):
        np.testing.assert_allclose(model.explained_variance_, expected / (len(X) - 1), rtol=1e-9)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("offset", [0, 2**20])
def test_an_exactly_known_spectrum_under_an_offset(solver, offset):
    known = known_hadamard("geometric", 1024, 12, cond=1e3, offset=offset)
    model = quiet_fit(ritz.PCA(4, solver=solver, tol=1e-12), known.X)
    assert np.max(known_truth(known).relative_error(model.certificate_.values)) <= 1e-12


# ---------------------------------------------------------------------------- white noise, row order


@pytest.mark.parametrize("solver", ["auto", *ITERATIVE])
def test_white_noise_is_not_biased_low(solver):
    shape = (240, 60) if solver == "power" else (1200, 600)  # hardly any gap: thousands of power steps
    X = np.random.default_rng(0).normal(size=shape)
    sigma = np.linalg.svd(X - X.mean(axis=0), compute_uv=False)
    model = quiet_fit(ritz.PCA(5, solver=solver), X)
    np.testing.assert_allclose(model.explained_variance_, sigma[:5] ** 2 / (len(X) - 1), rtol=1e-6)


@pytest.mark.parametrize("solver", ["auto", *SOLVERS])
def test_row_order_changes_nothing(solver):
    X = np.random.default_rng(3).normal(size=(600, 20)) * np.linspace(3, 1, 20)
    models = [quiet_fit(ritz.PCA(3, solver=solver, tol=1e-12), Y) for Y in (X, X[::-1])]
    a, b = models
    np.testing.assert_allclose(a.explained_variance_, b.explained_variance_, rtol=1e-10 if solver != "sketch" else 1)
    if solver != "sketch":
        np.testing.assert_allclose(a.components_, b.components_, atol=1e-8)


@pytest.mark.parametrize("order", [1, -1])
def test_batches_are_exact_in_any_order(order):
    X = np.random.default_rng(4).normal(size=(600, 20))
    expected, _ = true_eigenvalues(X, center=True)
    model = ritz.PCA(3)
    for chunk in np.array_split(X, 10)[::order]:
        model.partial_fit(chunk)
    np.testing.assert_allclose(model.explained_variance_, expected[:3] / 599, rtol=1e-12)


# ------------------------------------------------------------------------------------- extreme scales


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize(
    ("dtype", "scale"), [("float64", 1e120), ("float64", 1e-120), ("float32", 1e12), ("float32", 1e-12)]
)
@pytest.mark.parametrize("shape", [(60, 7), (7, 60)])
def test_extreme_scales(shape, dtype, scale, solver):
    X = (matrix("geometric", *shape, cond=10.0, seed=1) * scale).astype(dtype)
    truth = true_spectrum(X, center=True)
    model = quiet_fit(ritz.PCA(3, solver=solver, tol=1e-10 if dtype == "float64" else 1e-6), X)
    rtol = 1e-10 if dtype == "float64" else 1e-5
    np.testing.assert_allclose(model.singular_values_, np.sqrt(truth.values[:3]), rtol=rtol)
    V = model.components_.astype(float)
    np.testing.assert_allclose(V @ V.T, np.eye(3), atol=1e-6 if dtype == "float32" else 1e-13)


@pytest.mark.parametrize("exponent", [-400, -200, 200, 400])
@pytest.mark.parametrize("solver", DIRECT)
def test_powers_of_two_scale_exactly(solver, exponent):
    X = matrix("slow", 50, 6, seed=2)
    plain = quiet_fit(ritz.SVD(6, solver=solver), X)
    moved = quiet_fit(ritz.SVD(6, solver=solver), np.ldexp(X, exponent))
    np.testing.assert_allclose(moved.singular_values_, np.ldexp(plain.singular_values_, exponent), rtol=1e-14)
    np.testing.assert_allclose(moved.components_, plain.components_, atol=1e-12)


# ---------------------------------------------------------------------------------- ill conditioning


def ill_conditioned() -> dict[str, np.ndarray]:
    names = ("hilbert", "lauchli", "vandermonde", "graded", "collinear")
    named = {
        f"{name}-{n}x{d}": hostile(name, n, d, seed=2) for name in names for n, d in ((12, 12), (40, 10), (10, 40))
    }
    kinds = ("geometric", "step", "clustered", "deficient")
    return named | {f"{kind}-1e14": matrix(kind, 60, 12, cond=1e14, seed=3) for kind in kinds}


@pytest.mark.parametrize("solver", DIRECT)
@pytest.mark.parametrize("centered", [False, True])
@pytest.mark.parametrize("name", ill_conditioned())
def test_direct_routes_keep_small_singular_values(name, centered, solver):
    X = ill_conditioned()[name]
    truth = true_spectrum(X, center=centered)
    k = min(X.shape)
    model = quiet_fit(ritz.PCA(k, solver=solver) if centered else ritz.SVD(k, solver=solver), X)
    sigma = np.sqrt(truth.values)
    assert np.max(np.abs(model.singular_values_ - sigma)) <= 1e-13 * sigma[0]


def test_the_default_solver_keeps_small_singular_values():
    for X in ill_conditioned().values():
        sigma = np.sqrt(true_spectrum(X, center=True).values)
        model = quiet_fit(ritz.PCA(), X)
        assert np.max(np.abs(model.singular_values_ - sigma[: model.n_components_])) <= 1e-13 * sigma[0]


@pytest.mark.parametrize("solver", DIRECT)
@pytest.mark.parametrize("n", [300, 2000, 10_000])
def test_equal_rows_do_not_add_up_their_rounding(n, solver):
    for draw in range(5):
        X = hostile("coherent", n, 4, seed=draw)
        sigma = np.sqrt(true_eigenvalues(X[:2], weights=[1, n - 1])[0])  # n − 1 equal rows are one of that weight
        model = quiet_fit(ritz.SVD(2, solver=solver, tol=0), X)
        assert np.max(np.abs(model.singular_values_ - sigma)) <= 100 * 2.0**-53 * sigma[0]
        usual = quiet_fit(ritz.SVD(2, solver=solver), X)  # a share of tol is enough
        assert np.all(np.abs(usual.singular_values_ - sigma) <= np.maximum(100 * 2.0**-53 * sigma[0], 1e-9 * sigma))


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize(("n", "rest", "first"), [(4096, 0.00015, [1.0] * 4), (1000, 0.25, [0.54, 0.62, 0.9])])
def test_enclosures_of_equal_rows_hold(n, rest, first, solver):
    X = np.full((n, len(first)), rest)
    X[0] = first
    for centered in (False, True):
        truth = true_spectrum(X[:2], center=centered, weights=[1, n - 1])  # n − 1 equal rows, one of that weight
        certificate = quiet_fit(ritz.PCA(1, center=centered, solver=solver), X).certificate_
        assert certificate.lower[0] <= truth.values[0] <= certificate.upper[0]
        assert abs(certificate.total - float(truth.total)) <= 1000 * 2.0**-53 * float(truth.total)


# -------------------------------------------------------------------------------- degenerate shapes


@pytest.mark.parametrize("solver", ["auto", *SOLVERS])
def test_one_row_is_an_error_unless_uncentred(solver):
    X = np.array([[3.0, 4.0]])
    with pytest.raises(ValueError, match="n_samples=1"):
        ritz.PCA(solver=solver).fit(X)
    model = quiet_fit(ritz.PCA(1, center=False, solver=solver), X)
    np.testing.assert_allclose(model.singular_values_, [5.0], rtol=1e-6)
    np.testing.assert_allclose(model.components_, [[0.6, 0.8]], rtol=1e-6)


def test_partial_fit_takes_one_row_at_a_time():
    X = matrix("slow", 9, 3, seed=1, offset=1e3)
    model = ritz.PCA(3)
    for row in X:
        model.partial_fit(row[None])
    np.testing.assert_allclose(model.explained_variance_, true_eigenvalues(X, center=True)[0] / 8, rtol=1e-8)


DEGENERATE = {
    "constant columns": Case("hostile", "constant-columns", 50, 7, seed=1, k=4),
    "rank deficient": Case("dense", "deficient", 50, 8, seed=1, cond=1e3, k=8),
    "fewer rows than columns": Case("dense", "geometric", 6, 30, seed=1, cond=1e3, k=5),
    "all components of few rows": Case("dense", "geometric", 6, 30, seed=1, cond=1e3, k=6),
    "square": Case("dense", "slow", 9, 9, seed=1, k=9),
    "one column": Case("dense", "flat", 30, 1, seed=1, k=1),
    "one column, offset": Case("dense", "flat", 30, 1, seed=1, k=1, offset=1e8),
    "duplicated rows": Case("hostile", "duplicated", 60, 8, seed=1, k=5),
    "one row and many equal ones": Case("hostile", "coherent", 2000, 4, seed=1, k=3, method="SVD", center=False),
    "the same, centred": Case("hostile", "coherent", 2000, 4, seed=1, k=3),
    "one row that is not zero": Case("hostile", "lone", 2000, 3, seed=3, k=1),
    "many equal small values": Case("hostile", "lauchli", 40, 30, seed=1, k=3),
    "all entries equal": Case("hostile", "equal", 20, 4, seed=1, k=2),
    "zero": Case("hostile", "zero", 20, 4, seed=1, k=2, method="SVD", center=False),
    "two rows": Case("dense", "slow", 2, 5, seed=1, k=1),
    "an outlier first": Case("hostile", "outlier", 80, 6, seed=1, k=6),
    "every value equal in size": Case("dense", "flat", 60, 6, seed=1, k=3, method="SVD", center=False),
}


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("name", DEGENERATE)
def test_degenerate_inputs_behave(name, solver):
    assert findings(DEGENERATE[name], solver) == ""


@pytest.mark.filterwarnings("ignore:what the components leave:ritz._core.errors.AccuracyWarning")
@pytest.mark.parametrize("solver", ["auto", *SOLVERS])
def test_a_constant_column_has_no_say_and_keeps_its_scale(solver):
    X = np.random.default_rng(5).normal(size=(40, 4))
    X[:, 2] = 7.1
    with pytest.warns(ritz.ConstantColumnWarning):
        model = ritz.PCA(3, scale=True, solver=solver).fit(X)
    assert model.scale_[2] == 1
    np.testing.assert_allclose(model.components_[:, 2], 0, atol=1e-7)
    assert np.all(np.isfinite(model.transform(X)))


@pytest.mark.parametrize("solver", SOLVERS)
def test_duplicating_rows_changes_no_direction(solver):
    X = np.random.default_rng(6).normal(size=(30, 5)) * [5, 4, 3, 2, 1]
    once = quiet_fit(ritz.PCA(2, solver=solver, tol=1e-12), X)
    twice = quiet_fit(ritz.PCA(2, solver=solver, tol=1e-12), np.repeat(X, 2, axis=0))
    assert largest_sine(once.components_.T, twice.components_.T) < 1e-8
    np.testing.assert_allclose(twice.singular_values_**2, 2 * once.singular_values_**2, rtol=1e-10)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("make", [matrix, sparse_matrix])
def test_a_share_of_the_variance_with_every_solver_dense_and_sparse(make, solver):
    X = make("geometric", 80, 15, cond=30.0, seed=2)
    dense = X if make is matrix else X.toarray()
    values, _ = true_eigenvalues(dense, center=True)
    share = np.cumsum(values) / values.sum()
    expected = int(np.searchsorted(share, 0.9) + 1)
    model = quiet_fit(ritz.PCA(0.9, solver=solver), X)
    assert model.n_components_ == expected
