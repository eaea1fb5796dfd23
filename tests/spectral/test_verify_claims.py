"""``verify`` passes what is right, in every form of table, and no certificate that was made up, however well."""

from __future__ import annotations

import warnings
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

import ritz
from ritz.spectral.verify.anew import Anew

RNG = np.random.default_rng(3)
X = RNG.standard_normal((90, 8)) * [9, 6, 4, 3, 2, 1, 0.5, 0.2] + np.arange(8)
WIDE = RNG.standard_normal((30, 70)) * np.concatenate([[9, 6, 4], np.full(67, 0.4)]) + 1
LOW = RNG.standard_normal((60, 3)) @ RNG.standard_normal((3, 9)) + 5
GAPS = X.copy()
GAPS[[4, 9, 30], [1, 5, 0]] = np.nan
STILL = np.column_stack([X, np.full(90, 7.0), np.zeros(90)])
EQUAL = sp.csr_matrix((np.full(131_072, 0.7), (np.arange(131_072), np.arange(131_072) % 5)), shape=(131_072, 5))


def quiet(make):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return make()


RIGHT = {
    "rows": lambda: (ritz.PCA(3).fit(X), X),
    "all components": lambda: (ritz.PCA().fit(X), X),
    "none": lambda: (ritz.PCA(0).fit(X), X),
    "a share": lambda: (ritz.PCA(0.8).fit(X), X),
    "a share, krylov": lambda: (ritz.PCA(0.99, solver="krylov").fit(WIDE.T), WIDE.T),
    "not centred": lambda: (ritz.PCA(3, center=False).fit(X), X),
    "scaled": lambda: (ritz.PCA(3, scale=True).fit(X), X),
    "float32": lambda: (ritz.PCA(3, scale=True).fit(X.astype(np.float32)), X.astype(np.float32)),
    "float32 wide": lambda: (ritz.PCA(3).fit(WIDE.astype(np.float32)), WIDE.astype(np.float32)),
    "integers": lambda: (ritz.PCA(3).fit(np.round(X * 10).astype(np.int16)), np.round(X * 10).astype(np.int16)),
    "wide": lambda: (ritz.PCA(3).fit(WIDE), WIDE),
    "wide, all": lambda: (ritz.PCA().fit(WIDE), WIDE),
    "low rank": lambda: (ritz.PCA().fit(LOW), LOW),
    "low rank, krylov": lambda: (ritz.PCA(5, solver="krylov").fit(LOW), LOW),
    "constant columns": lambda: (ritz.PCA(3, scale=True).fit(STILL), STILL),
    "zeros": lambda: (ritz.PCA(2).fit(np.zeros((6, 4))), np.zeros((6, 4))),
    "zeros, krylov": lambda: (ritz.SVD(2, solver="krylov").fit(np.zeros((6, 4))), np.zeros((6, 4))),
    "one row": lambda: (ritz.PCA(1, center=False).fit(X[:1]), X[:1]),
    "far away": lambda: (ritz.PCA(3).fit(X + 1e8), X + 1e8),
    "tiny": lambda: (ritz.PCA(3).fit(X * 2.0**-300), X * 2.0**-300),
    "huge": lambda: (ritz.PCA(3, solver="krylov").fit(X * 2.0**300), X * 2.0**300),
    "mean": lambda: (ritz.PCA(3, missing="mean").fit(GAPS), GAPS),
    "em": lambda: (ritz.PCA(2, missing="em").fit(GAPS), GAPS),
    "regularized": lambda: (ritz.PCA(2, missing="regularized").fit(GAPS), GAPS),
    "missing= without gaps": lambda: (ritz.PCA(2, missing="em").fit(X), X),
    "states": lambda: (ritz.PCA(3).partial_fit(X[:9]).partial_fit(X[9:]), X),
    "merged": lambda: (ritz.PCA(3, scale=True).fit(X[:40]).merge(ritz.PCA(3, scale=True).fit(X[40:])), X),
    "subtracted": lambda: (ritz.PCA(3).fit(X).subtract(ritz.PCA(3).fit(X[50:])), X[:50]),
    "subtracted, scaled": lambda: (
        ritz.PCA(3, scale=True).fit(X).subtract(ritz.PCA(3, scale=True).fit(X[50:])), X[:50],
    ),
    "sketch": lambda: (ritz.PCA(3, solver="sketch").fit(X), X),
    "sketch, wide": lambda: (ritz.PCA(3, solver="sketch").fit(WIDE), WIDE),
    "chebyshev": lambda: (ritz.PCA(3, solver="chebyshev").fit(WIDE.T), WIDE.T),
    "power": lambda: (ritz.PCA(3, solver="power").fit(WIDE.T), WIDE.T),
    "lanczos, wide": lambda: (ritz.PCA(3, solver="lanczos").fit(WIDE), WIDE),
    "robust, far away": lambda: (ritz.RobustPCA(2).fit(X + 1e8), X + 1e8),
    "robpca, far away": lambda: (ritz.RobustPCA(2, method="robpca").fit(X + 1e8), X + 1e8),
    "pcp, far away": lambda: (ritz.RobustPCA(2, method="pcp").fit(X + 1e8), X + 1e8),
    "sparse loadings": lambda: (ritz.SparsePCA(2, scale=True).fit(X), X),
    "factors": lambda: (ritz.FactorAnalysis(2).fit(X), X),
    "principal axes": lambda: (ritz.FactorAnalysis(2, method="principal-axes").fit(X), X),
    "counts": lambda: (ritz.CA().fit(np.round(np.abs(X[:12, :5]) * 9) + 1), np.round(np.abs(X[:12, :5]) * 9) + 1),
}  # fmt: skip


@pytest.mark.parametrize("name", RIGHT)
def test_what_is_right_passes(name):
    model, rows = quiet(RIGHT[name])
    outcome = quiet(lambda: model.verify(rows))
    assert outcome, str(outcome)


def test_long_sums_of_equal_values_do_not_round_in_one_direction():
    """131,072 entries 0.7 in five columns: the eigenvalues are counts times 0.7²."""
    counts, square = [26215, 26215, 26214, 26214, 26214], Fraction(0.7) ** 2
    certificate = ritz.SVD(5, solver="svd").fit(sp.eye(5, format="csr")).certificate_
    a = Anew(certificate, EQUAL, None)
    true = np.array([float(n * square) for n in counts])
    np.testing.assert_allclose(np.square(a.lengths), true, rtol=2e-15)
    np.testing.assert_allclose(np.square(a.sigma), true, rtol=1e-14)
    np.testing.assert_allclose(np.diag(a.A.normal(a.V)), true, rtol=2e-15)


def test_weights_count():
    w = RNG.integers(0, 4, 90)
    model = ritz.PCA(3, scale=True, whiten=True).fit(X, sample_weight=w)
    assert model.verify(X, sample_weight=w)
    assert not model.verify(X)


# made up, all fields at once


SOLVERS = ["moments", "svd", "krylov", "lanczos", "sketch", "power", "chebyshev"]


def fitted(solver, rows=WIDE.T):
    return quiet(lambda: ritz.SVD(3, solver=solver).fit(rows)), rows


@pytest.mark.parametrize("grounds", [True, False], ids=["with grounds", "without"])
@pytest.mark.parametrize("solver", SOLVERS)
def test_a_certificate_that_is_doubled_with_its_rounding_fails(solver, grounds):
    model, rows = fitted(solver)
    c = model.certificate_
    frame = dict(c.frame) if grounds else {k: v for k, v in c.frame.items() if k != "grounds"}
    twice = {name: 2 * getattr(c, name) for name in ("values", "lower", "upper", "residuals", "total", "ceiling")}
    for rho in (c.rounding, 2 * c.rounding, float(c.values[0])):
        made = replace(c, **twice, rounding=rho, frame=frame)
        assert not made.verify(rows)


@pytest.mark.parametrize("solver", SOLVERS)
def test_random_vectors_with_true_but_large_residuals_fail(solver):
    """A certificate can be true and worthless: the fit promised more."""
    model, rows = fitted(solver)
    c, M = model.certificate_, rows.T @ rows
    V = np.linalg.qr(RNG.standard_normal((rows.shape[1], 3)))[0]
    order = np.argsort(-np.diag(V.T @ M @ V))
    V = V[:, order]
    values = np.diag(V.T @ M @ V)
    r = np.linalg.norm(M @ V - V * values, axis=0)
    far = float(np.linalg.norm(M))
    for rho in (c.rounding, far):
        made = replace(
            c, values=values, lower=np.maximum(values - r - rho, 0), upper=values + r + rho, residuals=r, rounding=rho,
            labelled=np.zeros(3, bool), angles=np.full(3, np.nan), clusters=(), ceiling=far, kind="certified",
            estimate=None, converged=True,
            frame={**{k: v for k, v in c.frame.items() if k != "grounds"}, "vectors": V},
        )  # fmt: skip
        assert not made.verify(rows)


@pytest.mark.parametrize("solver", SOLVERS)
def test_an_answer_without_its_first_axis_fails(solver):
    model, rows = quiet(lambda: (ritz.SVD(4, solver=solver).fit(WIDE.T), WIDE.T))
    c = model.certificate_
    lines = {name: getattr(c, name)[1:] for name in ("values", "lower", "upper", "residuals", "angles", "labelled")}
    lines["labelled"] = np.ones(3, bool)
    frame = {**{k: v for k, v in c.frame.items() if k != "grounds"}, "vectors": c.frame["vectors"][:, 1:]}
    made = replace(c, **lines, clusters=(), ceiling=float(c.values[3]) / 2, frame=frame)
    assert not made.verify(rows)


def test_intervals_that_are_narrower_than_the_truth_fail():
    rows = X[:, :4].astype(np.float32).astype(float)
    c = ritz.SVD(3, solver="krylov", tol=1e-2).fit(WIDE.T).certificate_
    thin = replace(c, lower=c.values * (1 - 1e-16), upper=c.values * (1 + 1e-16), residuals=c.residuals * 1e-9)
    assert not thin.verify(WIDE.T)
    c = ritz.SVD(2).fit(rows).certificate_
    assert c.verify(rows)
    moved = replace(c, values=c.values * (1 + 1e-9), lower=c.lower * (1 + 1e-9), upper=c.upper * (1 + 1e-9))
    assert not moved.verify(rows)


def test_what_was_not_reached_is_judged_by_what_it_says():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = ritz.SVD(3, solver="sketch").fit(X)
    outcome = model.verify(X)
    assert outcome
    assert "promises no tolerance" in str(outcome)


@pytest.mark.parametrize("limit", ["inertia", "search"])
def test_beyond_small_tables_what_was_missed_is_found(limit, monkeypatch):
    """By inertia, and by a search from random numbers that the operating system gives."""
    monkeypatch.setattr("ritz.spectral.verify.anew.SMALL", 2)
    if limit == "search":
        monkeypatch.setattr("ritz.spectral.verify.search.INERTIA_LIMIT", 2)
    rows = RNG.standard_normal((300, 40)) * np.concatenate([[9, 8, 7, 6], np.full(36, 0.5)])
    c = ritz.SVD(4, solver="krylov").fit(rows).certificate_
    assert c.verify(rows)
    lines = {name: getattr(c, name)[1:] for name in ("values", "lower", "upper", "residuals", "angles", "labelled")}
    frame = {**{k: v for k, v in c.frame.items() if k != "grounds"}, "vectors": c.frame["vectors"][:, 1:]}
    assert not replace(c, **lines, frame=frame).verify(rows)
