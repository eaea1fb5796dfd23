"""Numbers and weights from one end of the float64 range to the other: right answers, or a refusal by column."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import ritz
from ritz._core.errors import InputError
from ritz.testing import true_spectrum
from ritz.testing.truth import flint_module, precision

SOLVERS = ("svd", "moments", "krylov", "lanczos", "chebyshev", "power", "sketch")


@pytest.fixture(scope="module")
def X():
    return np.random.default_rng(0).standard_normal((40, 4)) * [4, 2, 1, 0.5] + 1


def holds(model, X, weights=None, *, center=True, scale=False, close=1e-9):
    """Enclosures in the unit of the certificate, singular values, and verify."""
    truth, c = true_spectrum(X, center=center, scale=scale, weights=weights), model.certificate_
    flint = flint_module()
    with precision(400):
        shown = flint.arb(float(c.frame.get("shown", 1.0))) ** 2
        for i, (low, high) in enumerate(zip(c.lower, c.upper, strict=True)):
            ball = truth.eigenvalues[i] / shown
            assert not ball < float(low), (i, low, ball)
            assert not ball > float(high), (i, high, ball)
            sigma = truth.eigenvalues[i].nonnegative_part().sqrt()
            assert float(abs(flint.arb(float(model.singular_values_[i])) / sigma - 1)) < close
    assert model.verify(X, sample_weight=weights)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("size", [1e-300, 1e-200, 1e150])
def test_every_solver_at_every_size(X, solver, size):
    holds(ritz.PCA(2, solver=solver, tol=1e-9).fit(X * size), X * size)
    holds(ritz.SVD(2, solver=solver, tol=1e-9).fit(X * size), X * size, center=False)


@pytest.mark.parametrize("solver", SOLVERS)
def test_standardised_columns_of_any_size(X, solver):
    for size in (1e-300, 1e300):
        model = ritz.PCA(2, scale=True, solver=solver, tol=1e-9).fit(X * size)
        holds(model, X * size, scale=True)
        np.testing.assert_allclose(model.explained_variance_, ritz.PCA(2, scale=True).fit(X).explained_variance_)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("scale", [False, True])
def test_weights_of_any_size(X, solver, scale):
    w = np.random.default_rng(1).random(len(X)) + 0.5
    for size in (1e200, 1e300):
        model = ritz.PCA(2, scale=scale, solver=solver, tol=1e-9).fit(X, sample_weight=w * size)
        holds(model, X, w * size, scale=scale)
    light = np.where(np.arange(len(X)) < 5, 1.0, 1e-200 * w)
    holds(ritz.PCA(2, solver=solver, tol=1e-9).fit(X, sample_weight=light), X, light, close=1e-6)


@pytest.mark.parametrize("kind", ["dense", "sparse"])
@pytest.mark.parametrize("size", [1e-200, 1e140])
def test_few_rows_among_zeros(X, kind, size):
    Z = np.zeros((2000, 4))
    Z[[17, 555, 1333]] = X[:3] * size
    rows = sp.csr_array(Z) if kind == "sparse" else Z
    for solver in SOLVERS:
        holds(ritz.PCA(2, solver=solver, tol=1e-9).fit(rows), rows)
    holds(ritz.SVD(2).fit(rows), rows, center=False)
    holds(ritz.PCA(2, scale=True).fit(rows), rows, scale=True)


def test_a_sparse_row_of_great_weight():
    A = sp.random(60, 5, 0.15, random_state=1, format="csr")
    w = np.ones(60)
    for solver, w[7] in (("svd", 1e15), ("moments", 1e12), ("krylov", 1e18), ("lanczos", 1e15)):
        holds(ritz.PCA(2, solver=solver, tol=1e-9).fit(A, sample_weight=w), A, w)
        holds(ritz.PCA(2, scale=True, solver=solver, tol=1e-9).fit(A, sample_weight=w), A, w, scale=True)


@pytest.mark.parametrize("size", [1e-38, 1e-30, 1e30, 1e37])
def test_float32_rows(X, size):
    rows = (X * size).astype(np.float32)
    for solver in ("moments", "krylov", "svd"):
        model = ritz.PCA(2, solver=solver, tol=1e-9).fit(rows)
        holds(model, rows, close=1e-5)
        assert model.components_.dtype == np.float32
        assert np.all(np.isfinite(model.explained_variance_) & (model.explained_variance_ > 0))


@pytest.mark.parametrize("size", [1e-300, 1e-200, 1e150])
def test_states_streams_and_files(X, size, tmp_path):
    rows = np.zeros((160, 4))
    rows[np.random.default_rng(2).choice(160, 40, replace=False)] = X * size
    for scale in (False, True):
        stream = ritz.PCA(2, scale=scale)
        parts = [ritz.PCA(2, scale=scale).partial_fit(rows[i : i + 20]) for i in range(0, 160, 20)]
        for i in range(0, 160, 9):
            stream.partial_fit(rows[i : i + 9])
        for model in (stream, parts[0].merge(*parts[1:])):
            holds(model, rows, scale=scale)
    pd.DataFrame(rows, columns=list("abcd")).to_parquet(tmp_path / "x.parquet")
    table = ritz.read(tmp_path / "x.parquet", memory="1kB")
    model = ritz.PCA(2).fit(table)
    np.testing.assert_allclose(model.singular_values_, ritz.PCA(2).fit(rows).singular_values_)
    assert model.verify(table)
    ritz.save(model, tmp_path / "m.ritz")
    assert ritz.load(tmp_path / "m.ritz").verify(table)


def test_merging_across_sizes(X):
    rows = np.vstack([np.zeros((30, 4)), X * 1e-200, X, X * 1e-200])
    stream = ritz.PCA(2)
    for i in range(0, len(rows), 10):
        stream.partial_fit(rows[i : i + 10])
    holds(stream, rows)
    tiny = ritz.PCA(2).fit(X * 1e-200)
    holds(ritz.PCA(2).fit(X).merge(tiny), np.vstack([X, X * 1e-200]))
    holds(tiny.merge(ritz.PCA(2).fit(X)), np.vstack([X * 1e-200, X]))


def test_what_else_a_model_of_tiny_numbers_says(X):
    tiny, usual = ritz.PCA(2, whiten=True).fit(X * 1e-200), ritz.PCA(2, whiten=True).fit(X)
    np.testing.assert_allclose(tiny.transform(X * 1e-200), usual.transform(X), rtol=1e-9)
    np.testing.assert_allclose(tiny.explained_variance_ratio_, usual.explained_variance_ratio_, rtol=1e-12)
    np.testing.assert_allclose(tiny.inverse_transform(tiny.transform(X * 1e-200)) * 1e200,
                               usual.inverse_transform(usual.transform(X)), rtol=1e-9)  # fmt: skip
    assert "in units of 2^" in str(tiny.certificate_)
    for rule in (0.9, "kaiser", "bic", "broken-stick"):
        assert ritz.PCA(rule).fit(X * 1e-200).n_components_ == ritz.PCA(rule).fit(X).n_components_
    for ask in (lambda: tiny.score(X), lambda: ritz.insight.t2(tiny, X), lambda: ritz.insight.loadings(tiny)):
        with pytest.raises(InputError, match="within the range of float64"):
            ask()


def test_what_cannot_be_told_is_refused_by_column(X):
    frame = pd.DataFrame(X * [1, 1e200, 1, 1], columns=list("abcd"))
    with pytest.raises(InputError, match="column 'b'"):
        ritz.PCA(2).fit(frame)
    with pytest.raises(InputError, match="column 1"):
        ritz.SVD(2).fit(frame.to_numpy())
    with pytest.raises(InputError, match="column 'b'"):
        ritz.PCA(2).partial_fit(frame[:20]).partial_fit(frame[20:]).components_  # noqa: B018
    with pytest.raises(InputError, match="column 'b'"):
        ritz.PCA(2, scale=True).fit(pd.DataFrame(X * [1, 1e-200, 1, 1], columns=list("abcd")))
    lone = np.zeros((5000, 2))
    lone[:, 0], lone[1234, 1] = np.random.default_rng(3).standard_normal(5000), 1e-200
    with pytest.raises(InputError, match="column 1"):  # where no sample looks
        ritz.PCA(2, scale=True).fit(lone)
    with pytest.raises(InputError, match="range of float64"):
        ritz.PCA(2).fit(X * 1e-318)


def test_a_unit_costs_nothing_where_it_is_not_needed(X):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = ritz.PCA(2).fit(X)
    assert model._record.state.unit == 1
    assert "shown" not in model.certificate_.frame
    assert ritz.PCA(2).fit(np.zeros((10, 3))).singular_values_[0] == 0


@pytest.mark.parametrize("solver", ["auto", "svd", "moments", "krylov", "lanczos", "chebyshev"])
@pytest.mark.parametrize("estimator", [ritz.PCA, ritz.SVD])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_numbers_whose_sums_leave_the_range_are_refused_in_words_by_every_solver(solver, estimator, kind) -> None:
    rows = kind(np.random.default_rng(1).uniform(-1, 1, (60, 9)) * 1.7e308)
    with pytest.raises(InputError, match="range of float64"):  # and without a warning, which would be an error here
        estimator(2, solver=solver).fit(rows)
