"""Non-negative parts: R's start and objectives, optimality, the lower bound, sparse and streamed rows, how many."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import ritz
from ritz.methods.nmf.solve import _descent, coordinates, divergence, kkt, squares_of
from ritz.methods.nmf.start import left_vectors, nndsvd

GOLDEN = Path(__file__).parents[1] / "golden" / "sources"
TABLES = {"swiss": 3, "iris": 2}


def table(name):
    frame = pd.read_csv(GOLDEN / f"{name}.csv").drop(columns="id").select_dtypes("number")
    return frame.drop_duplicates().to_numpy(float), json.loads((GOLDEN / f"{name}_nmf.json").read_text())


def matrix(golden, method, name):
    return np.array(golden[method][name]["values"])


def sums(n=80, d=12, k=3, seed=0):
    rng = np.random.default_rng(seed)
    return rng.random((n, k)) @ (rng.random((k, d)) * (rng.random((k, d)) < 0.5)) + 0.01 * rng.random((n, d))


@pytest.mark.parametrize("name", TABLES)
def test_the_start_is_that_of_r(name):
    X, golden = table(name)
    svd = ritz.SVD(TABLES[name]).fit(X)
    V, s = svd.components_.T, svd.singular_values_
    W, H = nndsvd(left_vectors(X, V, s), s, V)
    np.testing.assert_allclose(W, matrix(golden, "nndsvd", "W"), atol=1e-12)
    np.testing.assert_allclose(H, matrix(golden, "nndsvd", "H"), atol=1e-12)


@pytest.mark.parametrize("name", TABLES)
def test_objectives_of_r_are_reached_or_beaten(name):
    X, golden = table(name)
    model = ritz.NMF(TABLES[name]).fit(X)
    assert model.relative_error_**2 * model.total_ <= golden["lee"]["rss"] * (1 + 1e-9)
    W, H = matrix(golden, "lee", "W"), matrix(golden, "lee", "H")
    assert squares_of(X, W, H) == pytest.approx(golden["lee"]["rss"], rel=1e-9)
    leibler = ritz.NMF(TABLES[name], loss="kullback-leibler", tol=1e-4).fit(X)
    other = divergence(X, matrix(golden, "brunet", "W"), matrix(golden, "brunet", "H"))
    assert leibler.divergence_ <= other * (1 + 1e-3)


def test_the_optimality_conditions_hold_and_the_error_is_bracketed():
    X = sums()
    model = ritz.NMF(3, tol=1e-8).fit(X)
    W = model.transform(X)
    assert (W >= 0).all()
    assert (model.components_ >= 0).all()
    np.testing.assert_allclose(np.linalg.norm(model.components_, axis=1), 1)
    slope = W.T @ (W @ model.components_ - X)
    assert np.abs(slope[model.components_ > 1e-9]).max() < 1e-5
    assert slope.min() > -1e-5
    best = np.linalg.norm(np.linalg.svd(X, compute_uv=False)[3:]) / np.linalg.norm(X)
    assert model.least_error_ == pytest.approx(best, rel=1e-6)
    assert model.least_error_ <= best <= model.relative_error_
    assert np.linalg.norm(X - W @ model.components_) / np.linalg.norm(X) == pytest.approx(
        model.relative_error_, rel=1e-6
    )
    assert model.explained_variance_ratio_.sum() == pytest.approx(1 - model.relative_error_**2, abs=1e-5)
    assert np.all(np.diff(model.explained_variance_ratio_) <= 0)
    assert model.verify(X)
    assert not model.verify(X + 0.05)
    model._record.parts = model._record.parts[:, ::-1].copy()
    assert not model.verify(X)


def test_parts_that_make_a_table_are_found():
    rng = np.random.default_rng(1)
    H = np.array([[1, 1, 0, 0, 0, 0], [0, 0, 1, 1, 0, 0], [0, 0, 0, 0, 1, 1.0]])
    X = (rng.random((50, 3)) * (rng.random((50, 3)) < 0.6)) @ H
    model = ritz.NMF(3).fit(X)
    assert model.relative_error_ < 1e-3
    cosines = model.components_ @ (H / np.linalg.norm(H, axis=1, keepdims=True)).T
    np.testing.assert_allclose(np.sort(cosines.max(axis=0)), 1, atol=1e-3)
    np.testing.assert_allclose(model.inverse_transform(model.transform(X)), X, atol=1e-2)


@pytest.mark.parametrize("loss", ["frobenius", "kullback-leibler"])
def test_sparse_and_streamed_rows_give_the_same(loss, tmp_path):
    X = sums(400, 10)
    X = np.where(np.quantile(X, 0.4) > X, 0.0, X)
    given = {"loss": loss, "tol": 1e-5 if loss == "frobenius" else 1e-3}
    dense = ritz.NMF(3, **given).fit(X)
    sparse = ritz.NMF(3, **given).fit(sp.csr_array(X))
    assert sparse.relative_error_ == pytest.approx(dense.relative_error_, rel=1e-3)
    np.save(tmp_path / "x.npy", X)
    streamed = ritz.NMF(3, memory="60MB", **given).fit(ritz.read(tmp_path / "x.npy", memory="10kB"))
    assert streamed.relative_error_ == pytest.approx(dense.relative_error_, rel=1e-2)
    assert streamed.verify(ritz.read(tmp_path / "x.npy"))
    assert kkt(X, np.ones((400, 3)), np.ones((3, 10)), loss, 1.0) > 1


def test_weights_of_rows_solve_a_convex_problem():
    from scipy.optimize import nnls

    X, H = sums(), np.random.default_rng(2).random((3, 12))
    W = coordinates(X, H, "frobenius")
    np.testing.assert_allclose(W, [nnls(H.T, x)[0] for x in X], atol=1e-8)
    np.testing.assert_allclose(_descent(W, X @ H.T, H @ H.T, 3), W, atol=1e-8)


def test_how_many_parts_are_steady():
    rng = np.random.default_rng(0)
    X = np.kron(np.eye(3), np.ones((20, 4))) + 0.1 * rng.random((60, 12))
    told = ritz.NMF().choose_k(X, (2, 3, 5), runs=6)
    assert [one.k for one in told] == [2, 3, 5]
    assert told[1].cophenetic == 1.0
    assert told[1].dispersion > max(told[0].dispersion, told[2].dispersion)


def test_files_command_line_and_refusals(tmp_path, monkeypatch):
    from typer.testing import CliRunner

    from ritz.cli.main import app

    monkeypatch.chdir(tmp_path)
    X = pd.DataFrame(sums(30, 5), columns=list("abcde"))
    model = ritz.NMF(2).fit(X)
    ritz.save(model, "nmf.ritz")
    np.testing.assert_array_equal(ritz.load("nmf.ritz").transform(X), model.transform(X))
    X.to_csv("x.csv", index=False)
    result = CliRunner().invoke(app, ["fit", "x.csv", "-m", "nmf", "-k", "2"])
    assert result.exit_code == 0, result.output
    assert "optimality conditions" in result.stderr.replace("\n", " ")
    assert CliRunner().invoke(app, ["verify", "x_ritz/model.ritz", "x.csv"]).exit_code == 0
    with pytest.raises(ritz.InputError, match=r"-1 in row 0, column 'a'"):
        ritz.NMF(2).fit(X.assign(a=-1.0))
    with pytest.raises(ritz.ParameterError, match="loss must be"):
        ritz.NMF(2, loss="l1").fit(X)
    with pytest.warns(ritz.AccuracyWarning, match="raise max_iter"):
        ritz.NMF(2, max_iter=1, tol=1e-14).fit(X)


@pytest.mark.parametrize("name", ["explained_variance_", "singular_values_", "total_"])
def test_verify_finds_changed_squares(name):
    X = np.random.default_rng(0).random((60, 5))
    model = ritz.NMF(2).fit(X)
    assert model.verify(X)
    setattr(model, name, getattr(model, name) * 1.01)
    assert not model.verify(X)


@pytest.mark.parametrize("kind", ["int32", "float32", "offset"])
def test_right_models_of_rows_that_parts_tell_nearly_all_of_are_verified(kind, seed):
    X = np.random.default_rng(seed).standard_normal((40, 4)) * [1, 0.2, 0.05, 0.01]
    far, small = (X * 50 + 10**8).astype(np.int32), np.abs(X).astype(np.float32)
    rows = {"int32": far, "float32": small, "offset": X + 1e7}[kind]
    assert ritz.NMF(2).fit(rows).verify(rows)


@pytest.mark.parametrize("offset", [0.0, 1e3, 1e6])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_weights_under_kullback_leibler_are_the_least_even_of_parts_nearly_alike(kind, offset):
    rng = np.random.default_rng(0)
    X, H = np.abs(rng.standard_normal((40, 8)) + offset), rng.random((3, 8)) + offset
    X[:5, :4] = 0.0
    X[7] = 0.0
    W = coordinates(kind(X), H, "kullback-leibler")
    assert bool((W >= 0).all())
    assert not W[7].any()
    live = X.sum(axis=1) > 0
    X, W, sizes = X[live], W[live], H.sum(axis=1)
    slope = 1.0 - (X / (W @ H)) @ H.T / sizes  # f is convex: this is how far it can lie above its minimum
    gap = np.sum(W * sizes * slope, axis=1) / X.sum(axis=1) + np.maximum(-slope.min(axis=1), 0.0)
    assert gap.max() < 1e-13


@pytest.mark.parametrize("scale", [1e-100, 1e-30, 1e-5, 1e30, 1e100])
def test_kullback_leibler_finds_the_same_in_any_unit(scale):
    X = sums()
    model, other = (ritz.NMF(3, loss="kullback-leibler", tol=1e-3).fit(X * s) for s in (1.0, scale))
    np.testing.assert_allclose(other.components_, model.components_, atol=1e-6)
    assert other.relative_error_ == pytest.approx(model.relative_error_, rel=1e-6)
    assert other.verify(X * scale)


@pytest.mark.parametrize("kind", ["offset", "constant", "far row", "float32", "small column"])
def test_models_of_kullback_leibler_are_verified_as_fitted_and_not_when_changed(kind):
    X = np.abs(np.random.default_rng(4).standard_normal((30, 6)))
    if kind == "offset":
        X = X + 1e6
    elif kind == "constant":
        X[:, 1] = 3.7
    elif kind == "far row":
        X[0] *= 1e4
    elif kind == "float32":
        X = (X + 1e3).astype(np.float32)
    else:
        X[:, 0] *= 1e-8
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ritz.AccuracyWarning)
        model = ritz.NMF(2, loss="kullback-leibler").fit(X)
    told = model.verify(X)
    assert told, told.words
    error = np.linalg.norm(X - model.transform(X).astype(float) @ model.components_) / np.linalg.norm(X)
    assert model.relative_error_ == pytest.approx(error, rel=1e-3, abs=1e-6)
    model.relative_error_ *= 1.05
    model.relative_error_ += 1e-5
    assert not model.verify(X)
