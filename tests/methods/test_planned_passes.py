"""Passes over the data that a plan predicts are those that the fit makes, for every method, solver and shape."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import ritz

RNG = np.random.default_rng(7)
TALL, WIDE, SQUARE = RNG.standard_normal((60, 7)), RNG.standard_normal((15, 50)), RNG.standard_normal((20, 20))
SHAPES = {"tall": TALL, "wide": WIDE, "square": SQUARE}
COUNTS = {"tall": RNG.poisson(3.0, (40, 9)), "wide": RNG.poisson(3.0, (9, 40))}
ANSWERS = pd.DataFrame({name: RNG.choice(list("abc"), 50) for name in "pqrst"})
MIXED = ANSWERS.assign(x=RNG.standard_normal(50), y=RNG.standard_normal(50))
TEXTS = ["red apple pie", "green apple", "blue sky red", "apple sky tree", "tree pie red", "blue pie"]
DIRECT = ("auto", "svd", "moments", "sketch")
#: how far an iteration may be from what its plan says: it ends where the data say
APART = 5


def passes(model, X, y=None, weights=None):
    """Passes predicted without the data's numbers, by the fit itself, and made."""
    named = {} if weights is None else {"sample_weight": weights}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ritz.RitzWarning)
        before = ritz.plan(X, model, y, weights)
        taken = model.fit(X, y, **named).plan_
    assert taken.actual_passes is not None
    return before.passes, taken.passes, taken.actual_passes


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("solver", DIRECT)
@pytest.mark.parametrize(
    "make",
    [
        lambda solver: ritz.PCA(3, solver=solver),
        lambda solver: ritz.PCA(3, scale=True, solver=solver),
        lambda solver: ritz.PCA(3, center=False, solver=solver),
        lambda solver: ritz.PCA(3, center=False, scale=True, solver=solver),
        lambda solver: ritz.SVD(3, solver=solver),
        lambda solver: ritz.ICA(3, solver=solver),
        lambda solver: ritz.ZCA(3, solver=solver),
    ],
    ids=["pca", "scaled", "about zero", "scaled about zero", "svd", "ica", "zca"],
)
@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
def test_rows(make, solver, shape, weighted, sparse):
    X = SHAPES[shape]
    weights = np.full(len(X), 2.0) if weighted else None
    planned, taken, made = passes(make(solver), sp.csr_array(X) if sparse else X, weights=weights)
    assert planned == taken == made


@pytest.mark.parametrize("k", [None, 0, 3, 0.5, "kaiser", "elbow"])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("solver", ["auto", "svd", "moments"])
def test_numbers_and_rules(k, shape, solver):
    planned, taken, made = passes(ritz.PCA(k, solver=solver), SHAPES[shape])
    assert planned == taken
    repaired = solver != "svd" and k is None  # directions that squares have lost are read again
    assert taken <= made <= taken + repaired


@pytest.mark.parametrize("solver", DIRECT)
def test_tables_of_counts_and_of_categories(solver):
    weights = RNG.integers(1, 4, 50).astype(float)
    cases = [
        (ritz.CA(2, solver=solver), COUNTS["tall"], None),
        (ritz.CA(2, solver=solver), COUNTS["wide"], None),
        (ritz.CA(2, solver=solver), sp.csr_array(COUNTS["wide"]), None),
        (ritz.MCA(2, solver=solver), ANSWERS, None),
        (ritz.MCA(2, solver=solver), ANSWERS, weights),
        (ritz.FAMD(2, solver=solver), MIXED, None),
        (ritz.FAMD(2, solver=solver), MIXED, weights),
        (ritz.MFA(2, groups={"a": list("pqr"), "b": ["s", "t"]}, solver=solver), ANSWERS, None),
        (ritz.LSI(2, solver=solver), TEXTS, None),
    ]
    for model, table, given in cases:
        planned, taken, made = passes(model, table, weights=given)
        assert planned == taken == made, model


@pytest.mark.parametrize(
    ("model", "X", "y"),
    [
        (ritz.SparsePCA(2), TALL, None),
        (ritz.SparsePCA(2), SQUARE, None),
        (ritz.SparsePCA(2), WIDE, None),
        (ritz.FactorAnalysis(2), TALL, None),
        (ritz.FactorAnalysis(2), SQUARE, None),
        (ritz.FactorAnalysis(2), WIDE, None),
        (ritz.RobustPCA(2), TALL, None),
        (ritz.RobustPCA(2), WIDE, None),
        (ritz.RobustPCA(2, method="spherical"), WIDE, None),
        (ritz.NMF(2), np.abs(TALL), None),
        (ritz.NMF(2), np.abs(WIDE), None),
        (ritz.PLS(2), TALL, SQUARE.ravel()[:180].reshape(60, 3)),
        (ritz.CCA(2), TALL, SQUARE.ravel()[:180].reshape(60, 3)),
        (ritz.PCR(2), TALL, SQUARE.ravel()[:60]),
        (ritz.KernelPCA(2), TALL, None),
        (ritz.KernelPCA(2), WIDE, None),
        (ritz.KernelPCA(2, solver="svd"), WIDE, None),
        (ritz.KernelPCA(2, kernel="rbf"), TALL, None),
        (ritz.KernelPCA(2, kernel="rbf", solver="moments"), TALL, None),
        (ritz.MDS(2), TALL, None),
        (ritz.Isomap(2), TALL, None),
        (ritz.LLE(2), TALL, None),
        (ritz.LaplacianEigenmaps(2), TALL, None),
        (ritz.LaplacianEigenmaps(2, solver="inverse"), TALL, None),
        (ritz.DiffusionMaps(2), TALL, None),
        (ritz.HOSVD(2), TALL[:, :6].reshape(60, 3, 2), None),
        (ritz.HOSVD(2, sequential=False), TALL[:, :6].reshape(60, 3, 2), None),
        (ritz.TensorTrain(2), TALL[:, :6].reshape(60, 3, 2), None),
    ],
    ids=lambda given: type(given).__name__ if hasattr(given, "get_params") else "",
)
def test_other_methods(model, X, y):
    planned, taken, made = passes(model, X, y)
    assert planned == taken == made


@pytest.mark.parametrize("solver", ["krylov", "lanczos", "chebyshev"])
@pytest.mark.parametrize("shape", [(300, 80), (80, 300)], ids=["tall", "wide"])
def test_iterations_are_foretold_about(solver, shape):
    X = RNG.standard_normal(shape) @ np.diag(0.9 ** np.arange(shape[1]))
    model = ritz.PCA(3, solver=solver)
    planned, taken, made = passes(model, X)
    assert planned == taken
    assert taken / APART <= made <= taken * APART
    more = "(several times as many, and as long, where eigenvalues do not decay)"
    assert f"predicted: about {taken:g} passes {more}, " in str(ritz.plan(X, model))


@pytest.mark.parametrize("missing", ["mean", "em", "regularized"])
@pytest.mark.parametrize("shape", ["tall", "wide"])
def test_gaps(missing, shape):
    X = SHAPES[shape].copy()
    planned, taken, made = passes(ritz.PCA(2, missing=missing), X)
    assert planned == taken == made  # one more, which finds no gap
    X.flat[::31] = np.nan
    planned, taken, made = passes(ritz.PCA(2, missing=missing), X)
    assert planned == taken
    assert planned == made if missing == "mean" else taken / APART <= made <= taken * APART
    if missing != "mean":
        assert "passes over the rows fill what is missing" in str(ritz.plan(X, ritz.PCA(2, missing=missing)))


@pytest.mark.parametrize("model", [ritz.Tucker(2), ritz.CP(2)])
def test_sweeps_over_a_tensor(model):
    A, B, C = (RNG.standard_normal((n, 2)) for n in (8, 7, 6))
    X = np.einsum("ir,jr,kr->ijk", A, B, C) + 0.01 * RNG.standard_normal((8, 7, 6))
    planned, taken, made = passes(model, X)
    assert planned == taken
    assert taken / APART <= made <= taken * APART


@pytest.mark.parametrize(
    "model",
    [
        ritz.PCA(1),
        ritz.SparsePCA(1),
        ritz.RobustPCA(1),
        ritz.FactorAnalysis(1),
        ritz.ICA(1),
        ritz.ZCA(1),
        ritz.PCA(tol=2),
    ],
)
def test_what_a_fit_refuses_is_not_planned(model):
    for act in (lambda: ritz.plan(TALL[:1], model), lambda: model.fit(TALL[:1])):
        with pytest.raises(ritz.RitzError, match=r"at least 2 rows|tol must be a number"):
            act()
    assert ritz.plan(TALL[:1], ritz.PCA(1, center=False)).passes == 3


@pytest.mark.parametrize("solver", ["auto", "svd", "sketch"])
def test_rows_of_a_file(solver, tmp_path):
    path = tmp_path / "rows.parquet"
    for X in SHAPES.values():
        pd.DataFrame(X, columns=[f"c{j}" for j in range(X.shape[1])]).to_parquet(path, row_group_size=10)
        planned, taken, made = passes(ritz.PCA(3, solver=solver, memory="200MB"), ritz.read(path, memory="1kB"))
        assert planned == taken == made


@pytest.mark.parametrize("make", [ritz.PLS, ritz.CCA, ritz.PCR])
@pytest.mark.parametrize("y", [TALL[:, :3], TALL[:, 0]], ids=["table", "column"])
def test_two_tables_are_planned_as_they_are_fitted(make, y):
    model = make(1)
    planned, taken = ritz.plan(TALL[:, 3:], model, y), model.fit(TALL[:, 3:], y).plan_
    assert (planned.solver, planned.side, planned.reasons) == (taken.solver, taken.side, taken.reasons)


@pytest.mark.parametrize(
    "model", [ritz.NMF(2), ritz.KernelPCA(2), ritz.Isomap(2), ritz.LLE(2), ritz.TSNE(2), ritz.MVU(2)]
)
def test_weights_that_a_fit_refuses_are_not_planned(model):
    with pytest.raises(ritz.ParameterError, match="takes every row once; received sample_weight"):
        ritz.plan(np.abs(TALL), model, sample_weight=np.arange(1.0, 61.0))
    with pytest.raises(ritz.ParameterError, match="documents of an LSI have no weights"):
        ritz.plan(TEXTS, ritz.LSI(2), sample_weight=np.ones(len(TEXTS)))
