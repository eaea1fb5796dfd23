"""SparsePCA: Zou's pitprops, planted sparse axes, optimality, deflation, and the conventions of the family."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest
from scipy import sparse

import ritz
from ritz import insight
from ritz.methods.sparse_pca.covariance import Factored, Formed
from ritz.methods.sparse_pca.net import elastic_net, lasso, lasso_of_size
from ritz.methods.sparse_pca.path import again, along
from ritz.methods.sparse_pca.power import leading_sparse, truncated_power


def rows_with(C, n=180, seed=0):
    """Rows whose covariance is exactly C."""
    Z = np.random.default_rng(seed).standard_normal((n, len(C)))
    Q = np.linalg.qr(Z - Z.mean(axis=0))[0]
    return Q * np.sqrt(n - 1) @ np.linalg.cholesky(C).T


def planted(rng, n=600, d=40, k=3, entries=6):
    """Axes that live on columns of their own."""
    L = np.zeros((k, d))
    for j in range(k):
        L[j, j * entries : (j + 1) * entries] = rng.choice([-1, 1], entries) / np.sqrt(entries)
    return rng.standard_normal((n, k)) * [6, 5, 4] @ L + 0.5 * rng.standard_normal((n, d)), L


# ------------------------------------------------------------------------------------------ the parts


def held(X, how):
    """The second moments of rows, as a matrix or by their factor."""
    Z = X / np.sqrt(len(X))
    return Formed(Z.T @ Z) if how == "formed" else Factored(Z)


@pytest.mark.parametrize("how", ["formed", "factored"])
@pytest.mark.parametrize("ridge", [1e-6, 0.5])
def test_the_elastic_net_is_optimal_from_every_start(seed, ridge, how):
    rng = np.random.default_rng(seed)
    for _ in range(40):
        d = int(rng.integers(2, 25))
        X = rng.standard_normal((int(rng.integers(3, 40)), d))
        C = X.T @ X / len(X)
        r = C @ rng.standard_normal(d)
        half = rng.uniform(0, 1) * np.abs(r).max()
        for start in (None, rng.standard_normal(d), rng.standard_normal(d) * (rng.random(d) < 0.5)):
            b = lasso(held(X, how), r, ridge, 2 * half, start)
            gradient = r - C @ b - ridge * b
            scale = np.abs(r).max()
            assert np.all(np.abs(gradient) <= half + 1e-8 * scale)
            assert np.allclose(gradient[b != 0], half * np.sign(b[b != 0]), atol=1e-6 * scale)


@pytest.mark.parametrize("how", ["formed", "factored"])
def test_a_net_of_given_size(seed, how):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((80, 20))
    C = X.T @ X / 80
    r = C @ rng.standard_normal(20)
    M = held(X, how)
    for count in (1, 3, 10, 20):
        assert np.count_nonzero(lasso_of_size(M, r, 1e-6, count)) == count
        assert np.count_nonzero(lasso_of_size(M, r, np.inf, count)) == count
    assert np.allclose(lasso_of_size(M, r, 0.0, 20), np.linalg.solve(C, r), atol=1e-6)


@pytest.mark.parametrize("shape", [(80, 20), (12, 60)])
def test_the_path_is_that_of_scikit_learn(seed, shape):
    """Both ways along it, on tall and wide tables: the breakpoint before one entry more than asked for."""
    from sklearn.linear_model import lars_path_gram

    rng = np.random.default_rng(seed)
    for _ in range(10):
        X = rng.standard_normal(shape)
        M = held(X, "factored")
        C = M.whole()
        r = C @ rng.standard_normal(shape[1])
        path = lars_path_gram(Xy=r, Gram=C + 1e-3 * np.eye(len(C)), n_samples=1, method="lasso", alpha_min=0)[2]
        for count in (1, 2, 5, 9):
            more = np.flatnonzero(np.count_nonzero(path, axis=0) > count)[0]
            b = along(M, r, 1e-3, count)
            assert np.allclose(b, path[:, more - 1], atol=1e-9 * np.abs(path).max())
            assert np.count_nonzero(b) == count or np.count_nonzero(path[:, more - 1]) < count
            nearby = r + 1e-9 * rng.standard_normal(len(r)) * np.abs(r).max()
            if np.count_nonzero(b) == count:
                assert np.allclose(again(M, nearby, 1e-3, b), b, atol=1e-5 * np.abs(b).max())
                assert again(M, -r, 1e-3, b) is None  # signs that are not on the path


def test_a_table_wider_than_tall_is_searched_without_its_covariance(seed, monkeypatch):
    """The same loadings as from the d×d matrix, which is never formed."""
    rng = np.random.default_rng(seed)
    X, _ = planted(rng, n=30, d=90)
    Z = (X - X.mean(axis=0)) / np.sqrt(29)
    start = np.linalg.svd(Z, full_matrices=False)[2][:3].T
    options = {"tol": 1e-9, "steps": 500, "tick": lambda *_: None}
    nets = [elastic_net(C, start, None, [6, 5, 4], 1e-6, **options) for C in (Formed(Z.T @ Z), Factored(Z))]
    assert np.allclose(nets[0].loadings, nets[1].loadings, atol=1e-7)
    powers = [truncated_power(C, [6, 5, 4], **options)[0] for C in (Formed(Z.T @ Z), Factored(Z))]
    assert np.allclose(np.abs(powers[0]), np.abs(powers[1]), atol=1e-9)
    monkeypatch.delattr(Factored, "whole")
    for model, loadings in (
        (ritz.SparsePCA(3, n_nonzero=[6, 5, 4], tol=1e-9), nets[0].loadings),
        (ritz.SparsePCA(3, method="truncated-power", n_nonzero=[6, 5, 4]), powers[0]),
    ):
        # penalties and ridge are in units of the mean variance, which the nets above are not
        model.set_params(ridge=1e-6 / np.mean(np.square(Z).sum(axis=0))).fit(X)
        assert np.allclose(np.abs(model.components_), np.abs(loadings).T, atol=1e-6)
        assert model.certificate_.verify(X)
        B = model.components_.T
        Q = np.linalg.qr(B)[0]
        left = np.square(Z - Z @ Q @ Q.T).sum()
        assert model.noise_variance_ == pytest.approx(left / 87)
        assert np.allclose(model.score_variance_, np.square(Z @ B).sum(axis=0))


def test_a_wide_table_in_other_forms(seed, tmp_path):
    rng = np.random.default_rng(seed)
    X = np.where(rng.random((25, 60)) < 0.5, rng.standard_normal((25, 60)) + 3, 0.0)
    for options in ({"n_nonzero": 5, "scale": True}, {"alpha": 0.8, "center": False}):
        model = ritz.SparsePCA(2, tol=1e-8, **options).fit(X)
        np.save(tmp_path / "t.npy", X)
        file = ritz.read(tmp_path / "t.npy", memory=80_000)
        for other in (sparse.csr_matrix(X), file, X * 2.0**300):
            again_ = ritz.SparsePCA(2, tol=1e-8, **options).fit(other)
            assert np.allclose(model.components_, again_.components_, atol=1e-6)
            assert np.allclose(model.explained_variance_ratio_, again_.explained_variance_ratio_)
        w = rng.integers(0, 3, 25)
        a = ritz.SparsePCA(2, tol=1e-8, **options).fit(X, sample_weight=w)
        b = ritz.SparsePCA(2, tol=1e-8, **options).fit(np.repeat(X, w, axis=0))
        assert np.allclose(a.components_, b.components_, atol=1e-6)
        assert np.allclose(a.explained_variance_, b.explained_variance_)


def test_the_truncated_power_method_finds_the_best_subset(seed):
    """Of all pairs of ten columns, by trying them."""
    from itertools import combinations

    rng = np.random.default_rng(seed)
    X = rng.standard_normal((50, 10)) @ rng.standard_normal((10, 10))
    C = np.cov(X.T)
    best = max(np.linalg.eigvalsh(C[np.ix_(pair, pair)])[-1] for pair in combinations(range(10), 2))
    x, _, settled = leading_sparse(Formed(C), 2, tol=1e-10, steps=1000)
    assert settled
    assert np.count_nonzero(x) == 2
    assert x @ C @ x == pytest.approx(best)


# ------------------------------------------------------------------------------------------ Zou's example


@pytest.mark.shared
class TestPitprops:
    """The example of Zou, Hastie and Tibshirani, against R's elasticnet."""

    @pytest.fixture
    def rows(self, shared):
        with (shared / "pitprops" / "data.csv").open() as file:
            lines = list(csv.reader(file))
        return rows_with(np.array([[float(x) for x in line[1:]] for line in lines[1:]]))

    @pytest.fixture
    def golden(self, shared):
        return json.loads((shared / "pitprops" / "elasticnet_spca.json").read_text())

    def test_by_penalty(self, rows, golden):
        model = ritz.SparsePCA(6, alpha=[0.06, 0.16, 0.1, 0.5, 0.5, 0.5], tol=1e-9).fit(rows)
        self.compare(model, golden, "penalty")
        assert model.n_nonzero_.tolist() == [7, 4, 4, 1, 1, 1]

    def test_by_number_of_entries(self, rows, golden):
        model = ritz.SparsePCA(6, n_nonzero=[7, 4, 4, 1, 1, 1], tol=1e-10, scale=True).fit(rows * 3 + 8)
        self.compare(model, golden, "varnum")

    def compare(self, model, golden, way):
        theirs = np.array(golden[f"{way}_loadings"]["values"]).T
        signs = np.sign(np.sum(theirs * model.components_, axis=1))
        assert np.allclose(model.components_ * signs[:, None], theirs, atol=1e-6)
        assert np.allclose(model.explained_variance_ratio_, golden[f"{way}_pev"], atol=1e-7)
        assert model.total_variance_ == pytest.approx(13)

    def test_deflation_explains_as_much_one_after_the_other(self, rows, golden):
        model = ritz.SparsePCA(6, method="truncated-power", n_nonzero=[7, 4, 4, 1, 1, 1]).fit(rows)
        assert model.n_nonzero_.tolist() == [7, 4, 4, 1, 1, 1]
        gains = np.cumsum(model.explained_variance_ratio_)
        assert np.all(gains[:3] > np.cumsum(golden["varnum_pev"])[:3])
        assert gains[-1] == pytest.approx(sum(golden["varnum_pev"]), abs=0.01)


# ------------------------------------------------------------------------------------------ planted axes


@pytest.mark.parametrize(
    "options", [{"alpha": 0.5}, {"n_nonzero": 6}, {"n_nonzero": 6, "method": "truncated-power"},
                {"n_nonzero": 6, "ridge": np.inf}],
)  # fmt: skip
def test_planted_axes_are_found(seed, options):
    X, L = planted(np.random.default_rng(seed))
    model = ritz.SparsePCA(3, **options).fit(X)
    assert np.array_equal(model.components_ != 0, L != 0)
    assert np.allclose(np.abs(np.sum(model.components_ * L, axis=1)), 1, atol=0.02)
    assert model.explained_variance_ratio_.sum() < ritz.PCA(3).fit(X).explained_variance_ratio_.sum()
    assert model.explained_variance_ratio_.sum() > 0.98 * ritz.PCA(3).fit(X).explained_variance_ratio_.sum()


def test_without_a_penalty_it_is_pca(seed):
    X, _ = planted(np.random.default_rng(seed), d=12, entries=4)
    sparse_model, dense = ritz.SparsePCA(3, alpha=0, ridge=0).fit(X), ritz.PCA(3).fit(X)
    assert np.allclose(sparse_model.components_, dense.components_, atol=1e-6)
    assert np.allclose(sparse_model.explained_variance_, dense.explained_variance_)
    whole = ritz.SparsePCA(2, method="truncated-power", n_nonzero=12).fit(X)
    assert np.allclose(whole.components_, dense.components_[:2], atol=1e-6)


def test_adjusted_variance_is_that_of_the_residuals_of_regression(seed):
    """By the book: the scores of a component, regressed on those of the components before it."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((100, 8)) @ rng.standard_normal((8, 8))
    model = ritz.SparsePCA(4, n_nonzero=3, tol=1e-3).fit(X)
    T = model.transform(X)
    assert np.allclose(T.mean(axis=0), 0, atol=1e-10)
    expected = []
    for j in range(4):
        before = T[:, :j]
        rest = T[:, j] - (before @ np.linalg.lstsq(before, T[:, j])[0] if j else 0)
        expected.append(rest @ rest / 99)
    assert np.allclose(model.explained_variance_, expected)
    assert np.allclose(model.score_variance_, T.var(axis=0, ddof=1))
    assert np.all(model.explained_variance_ <= model.score_variance_ * (1 + 1e-9))


# ------------------------------------------------------------------------------------------ the family


def test_back_to_rows_is_the_projection_onto_the_plane(seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((60, 7)) @ rng.standard_normal((7, 7)) + 5
    model = ritz.SparsePCA(3, n_nonzero=3, scale=True, tol=1e-3).fit(X)
    back = model.inverse_transform(model.transform(X))
    assert np.allclose(model.transform(back), model.transform(X))
    left = (X - back) / model.scale_
    assert np.allclose(left @ model.components_.T, 0, atol=1e-9)
    assert np.allclose(insight.spe(model, X), (left**2).sum(axis=1))
    T = model.transform(X)
    assert np.allclose(insight.t2(model, X), np.einsum("ij,jk,ik->i", T, np.linalg.inv(np.cov(T.T)), T))
    assert np.allclose(insight.blame(model, X).sum(axis=1), insight.t2(model, X))
    assert np.allclose(insight.blame(model, X, "spe").sum(axis=1), insight.spe(model, X))


def test_limits_hold(seed):
    rng = np.random.default_rng(seed)
    X, new = (
        planted(np.random.default_rng(1 + seed), n=20_000)[0][half] for half in (slice(10_000), slice(10_000, None))
    )
    model = ritz.SparsePCA(3, n_nonzero=6).fit(X)
    for rows, values in (("training", X), ("new", new)):
        bounds = insight.limits(model, 0.05, rows)
        assert np.mean(insight.t2(model, values) > bounds.t2) == pytest.approx(0.05, abs=0.01)
        assert np.mean(insight.spe(model, values) > bounds.spe) == pytest.approx(0.05, abs=0.01)
    X[0] += 10 * rng.standard_normal(40)
    assert insight.outliers(ritz.SparsePCA(3, n_nonzero=6).fit(X[:500]), X[:500]).rows[0] == 0


def test_sparse_rows_files_and_weights_give_the_same(seed, tmp_path):
    rng = np.random.default_rng(seed)
    X = np.where(rng.random((300, 12)) < 0.3, rng.standard_normal((300, 12)) @ rng.standard_normal((12, 12)), 0.0)
    model = ritz.SparsePCA(2, n_nonzero=4).fit(X)
    others = [ritz.SparsePCA(2, n_nonzero=4).fit(sparse.csr_matrix(X))]
    np.save(tmp_path / "t.npy", X)
    others.append(ritz.SparsePCA(2, n_nonzero=4).fit(ritz.read(tmp_path / "t.npy", memory=20_000)))
    for other in others:
        assert np.allclose(model.components_, other.components_, atol=1e-6)
        assert np.allclose(model.explained_variance_, other.explained_variance_)
    w = rng.integers(0, 3, 300)
    a = ritz.SparsePCA(2, n_nonzero=4).fit(X, sample_weight=w)
    b = ritz.SparsePCA(2, n_nonzero=4).fit(np.repeat(X, w, axis=0))
    assert np.allclose(a.components_, b.components_, atol=1e-6)
    assert np.allclose(a.explained_variance_, b.explained_variance_)


def test_the_certificate_is_that_of_the_ordinary_components(seed):
    X, _ = planted(np.random.default_rng(seed))
    model, dense = ritz.SparsePCA(3, n_nonzero=6).fit(X), ritz.PCA(3).fit(X)
    assert np.allclose(model.certificate_.values, dense.certificate_.values)
    assert model.certificate_.verify(X)
    assert model.explained_variance_.sum() <= model.certificate_.upper.sum() / (len(X) - 1)


def test_the_number_of_components(seed):
    X, _ = planted(np.random.default_rng(seed))
    assert ritz.SparsePCA("kaiser", n_nonzero=6).fit(X).n_components_ == 3
    assert ritz.SparsePCA(0.5, n_nonzero=6).fit(X).n_components_ == ritz.PCA(0.5).fit(X).n_components_
    with pytest.raises(ritz.ParameterError, match="makes no sense"):
        ritz.SparsePCA("permutation").fit(X)


def test_penalties_leave_at_least_one_entry(seed):
    X, _ = planted(np.random.default_rng(seed))
    assert ritz.SparsePCA(3, alpha=1e6).fit(X).n_nonzero_.tolist() == [1, 1, 1]
    flat = ritz.SparsePCA(1).fit(np.ones((5, 3)))
    assert np.allclose(flat.explained_variance_, 0)


def test_warnings_and_refusals():
    X = np.random.default_rng(0).standard_normal((30, 5))
    with pytest.warns(ritz.AccuracyWarning, match="max_iter=1 iterations"):
        ritz.SparsePCA(2, max_iter=1).fit(X)
    for options, words in (
        ({"method": "magic"}, "method must be"),
        ({"method": "truncated-power"}, "needs to know how many"),
        ({"alpha": -1}, "alpha must be"),
        ({"n_nonzero": 9}, "n_nonzero must be"),
        ({"n_nonzero": [1, 2, 3]}, "one for each of the 2"),
        ({"ridge": -1}, "ridge must be"),
        ({"center": 1}, "center must be"),
        ({"max_iter": 0}, "max_iter must be"),
        ({"n_components": 9}, "n_components=9"),
    ):
        with pytest.raises(ritz.ParameterError, match=words):
            ritz.SparsePCA(**{"n_components": 2, **options}).fit(X)
    with pytest.raises(ritz.InputError, match="n_samples=1"):
        ritz.SparsePCA().fit(X[:1])
    with pytest.raises(ritz.MemoryLimitError, match="fewer columns"):
        ritz.SparsePCA(memory=100).fit(X)
    with pytest.raises(ritz.NonFiniteError):
        ritz.SparsePCA(2).fit(np.where(X > 2, np.nan, X))
