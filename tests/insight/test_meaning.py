"""Loadings, contributions, cos², biplots and supplementary variables against FactoMineR and naive formulas."""

from __future__ import annotations

import json

import numpy as np
import pytest

import ritz
from ritz import insight

pd = pytest.importorskip("pandas")


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(3)
    return rng.normal(size=(60, 3)) @ rng.normal(size=(3, 6)) + 0.3 * rng.normal(size=(60, 6)) + 5


def decathlon(shared):
    table = pd.read_csv(shared / "decathlon" / "data.csv", index_col=0)
    golden = json.loads((shared / "decathlon" / "factominer_PCA.json").read_text())
    return table, golden


def numbers(part):
    return np.array(part["values"], float)


@pytest.mark.shared
def test_decathlon_shares_are_those_of_factominer(shared):
    table, golden = decathlon(shared)
    X = table.iloc[:, :10]
    model = ritz.PCA(scale=True).fit(X)
    ind, var = golden["ind"], golden["var"]
    np.testing.assert_allclose(insight.contributions(model, X) * 100, numbers(ind["contrib"]), atol=1e-9)
    np.testing.assert_allclose(insight.cos2(model, X), numbers(ind["cos2"]), atol=1e-10)
    np.testing.assert_allclose(insight.column_contributions(model) * 100, numbers(var["contrib"]), atol=1e-9)
    np.testing.assert_allclose(insight.column_cos2(model), numbers(var["cos2"]), atol=1e-10)
    found, known = insight.structure(model), numbers(var["cor"])
    np.testing.assert_allclose(np.abs(found), np.abs(known), atol=1e-10)
    assert list(found.index) == var["cor"]["rows"]
    assert list(found.columns) == [f"PC{i + 1}" for i in range(10)]
    assert list(insight.cos2(model, X).index) == list(X.index)


@pytest.mark.shared
def test_decathlon_supplementary_variables_are_those_of_factominer(shared):
    table, golden = decathlon(shared)
    X, other = table.iloc[:, :10], table.iloc[:, 10:]
    model = ritz.PCA(5, scale=True).fit(X)
    flip = np.sign(np.sum(np.asarray(insight.loadings(model)) * numbers(golden["var"]["coord"])[:, :5], axis=0))
    found = insight.supplementary(model, X, other)
    quali = golden["quali_sup"]
    np.testing.assert_allclose(found.correlations * flip, numbers(golden["quanti_sup"]["coord"])[:, :5], atol=1e-9)
    stretch = np.sqrt(41 / 40)  # FactoMineR standardises with divisor n
    np.testing.assert_allclose(found.barycentres * flip * stretch, numbers(quali["coord"])[:, :5], atol=1e-9)
    np.testing.assert_allclose(found.cos2, numbers(quali["cos2"])[:, :5], atol=1e-9)
    np.testing.assert_allclose(found.v_tests * flip, numbers(quali["v.test"])[:, :5], atol=1e-9)
    np.testing.assert_allclose(np.ravel(found.eta2), np.ravel(numbers(quali["eta2"]))[:5], atol=1e-9)
    assert found.measurements == ["Rank", "Points"]
    assert found.levels == ["Competition=Decastar", "Competition=OlympicG"]


def test_loadings_are_covariances_with_standard_scores(rows):
    model = ritz.PCA(3).fit(rows)
    T = model.transform(rows)
    Z = rows - rows.mean(axis=0)
    naive = Z.T @ (T / T.std(axis=0, ddof=1)) / (len(rows) - 1)
    np.testing.assert_allclose(insight.loadings(model), naive, atol=1e-12)
    correlations = np.array([[np.corrcoef(rows[:, j], T[:, i])[0, 1] for i in range(3)] for j in range(6)])
    for given in (None, rows):
        np.testing.assert_allclose(insight.structure(model, given), correlations, atol=1e-12)
    fitted = np.var(model.inverse_transform(T), axis=0) / np.var(rows, axis=0)
    np.testing.assert_allclose(insight.communalities(model), fitted, atol=1e-12)
    np.testing.assert_allclose(insight.column_contributions(model), np.square(model.components_.T), atol=1e-12)


def test_whitening_changes_no_share(rows):
    plain, white = ritz.PCA(3).fit(rows), ritz.PCA(3, whiten=True).fit(rows)
    for function in (insight.contributions, insight.cos2):
        np.testing.assert_allclose(function(white, rows), function(plain, rows), atol=1e-12)


def test_weights_are_copies(rows):
    weights = np.arange(60) % 3 + 1
    model = ritz.PCA(2).fit(rows, sample_weight=weights)
    copies = np.repeat(rows, weights, axis=0)
    found = insight.contributions(model, rows, sample_weight=weights)
    naive = np.square(model.transform(copies))
    naive /= naive.sum(axis=0)
    ends = np.cumsum(weights) - 1
    np.testing.assert_allclose(found, naive[ends] * weights[:, None], atol=1e-12)
    np.testing.assert_allclose(insight.structure(model), insight.structure(model, copies), atol=1e-12)


def test_svd_is_about_zero(rows):
    model = ritz.SVD(3).fit(rows)
    L = insight.loadings(model)
    np.testing.assert_allclose(L @ L.T, model.inverse_transform(model.transform(rows)).T @ rows / 60, atol=1e-9)
    T = model.transform(rows)
    cosines = (rows.T @ T) / np.outer(np.linalg.norm(rows, axis=0), np.linalg.norm(T, axis=0))
    np.testing.assert_allclose(insight.structure(model, rows), cosines, atol=1e-12)
    np.testing.assert_allclose(insight.cos2(model, rows), T**2 / (rows**2).sum(axis=1)[:, None], atol=1e-12)
    with pytest.raises(ritz.InputError, match="pass the rows of the fit"):
        insight.structure(model)


def test_cos2_of_sparse_rows_and_of_kernels(rows):
    from scipy.sparse import csr_array

    model = ritz.PCA(2).fit(rows)
    np.testing.assert_allclose(insight.cos2(model, csr_array(rows)), insight.cos2(model, rows), atol=1e-9)
    kernel = ritz.KernelPCA(2, kernel="linear", fit_inverse_transform=False).fit(rows)
    np.testing.assert_allclose(insight.cos2(kernel, rows), insight.cos2(model, rows), atol=1e-8)
    np.testing.assert_allclose(insight.contributions(kernel, rows).sum(axis=0), 1)
    with pytest.raises(ritz.ParameterError, match="has no loadings"):
        insight.loadings(kernel)


def test_correspondence_shares_are_those_of_the_model():
    table = np.array([[10, 3, 2], [4, 12, 1], [2, 2, 9], [5, 5, 6]])
    model = ritz.CA().fit(table)
    np.testing.assert_allclose(insight.contributions(model, table), model.row_contributions_, atol=1e-12)
    np.testing.assert_allclose(insight.cos2(model, table), model.row_cos2_, atol=1e-12)
    np.testing.assert_allclose(insight.column_cos2(model), model.column_cos2_)
    for scaling in ("form", "covariance", "symmetric"):
        found = insight.biplot(model, table, scaling=scaling)
        P = table / table.sum()
        r, c = P.sum(axis=1), P.sum(axis=0)
        np.testing.assert_allclose(found.rows @ found.columns.T, P / np.outer(r, c) - 1, atol=1e-12)
    with pytest.raises(ritz.ParameterError, match="column_coordinates_"):
        insight.loadings(model)


@pytest.mark.parametrize("scaling", ["form", "covariance", "symmetric"])
def test_biplots_rebuild_the_table(rows, scaling):
    model = ritz.PCA(3, scale=True).fit(rows)
    found = insight.biplot(model, rows, scaling=scaling)
    Z = (rows - model.mean_) / model.scale_
    np.testing.assert_allclose(found.rows @ found.columns.T, Z @ model.components_.T @ model.components_, atol=1e-12)
    if scaling == "form":
        np.testing.assert_allclose(found.rows, model.transform(rows), atol=1e-12)
    if scaling == "covariance":
        np.testing.assert_allclose(found.rows.std(axis=0, ddof=1), 1)
        np.testing.assert_allclose(found.columns, insight.loadings(model), atol=1e-12)


def test_unknown_scaling(rows):
    with pytest.raises(ritz.ParameterError, match="'form', 'covariance', 'symmetric'"):
        insight.biplot(ritz.PCA(2).fit(rows), rows, scaling="gabriel")


def test_top_variables_have_signs_and_shares(rows):
    model = ritz.PCA(2).fit(pd.DataFrame(rows, columns=list("abcdef")))
    top = insight.top_variables(model, 1, n=2)
    L = insight.loadings(model)["PC2"]
    order = L.abs().sort_values(ascending=False).index
    assert [t.variable for t in top] == list(order[:2])
    assert [t.loading for t in top] == [L[name] for name in order[:2]]
    assert sum(t.contribution for t in insight.top_variables(model, 0, n=6)) == pytest.approx(1)
    assert len(insight.top_variables(model, n=3)) == 6
    with pytest.raises(ritz.ParameterError, match="from 0 to 1"):
        insight.top_variables(model, 2)


def test_frames_come_back_in_their_library(rows):
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame(rows, schema=list("abcdef"))
    model = ritz.PCA(2).fit(frame)
    found = insight.loadings(model)
    assert isinstance(found, pl.DataFrame)
    assert found.columns == ["column", "PC1", "PC2"]
    np.testing.assert_allclose(insight.column_cos2(model)["PC1"], insight.structure(model)["PC1"].to_numpy() ** 2)
    assert isinstance(insight.contributions(model, frame), pl.DataFrame)
    assert isinstance(insight.loadings(ritz.PCA(2).fit(rows)), np.ndarray)


def test_robust_and_sparse_models(rows):
    robust = ritz.RobustPCA(6).fit(rows)
    np.testing.assert_allclose(insight.communalities(robust), 1, atol=1e-9)
    sparse = ritz.SparsePCA(2, n_nonzero=2).fit(rows)
    assert np.count_nonzero(insight.loadings(sparse)) == 4
    with pytest.raises(ritz.ParameterError, match="must not be correlated"):
        insight.communalities(sparse)


def test_unfitted_models_say_so(rows):
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError):
        insight.loadings(ritz.PCA())
