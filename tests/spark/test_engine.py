"""The contract of engines, and every estimator, on executors in processes of their own."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import ritz
from ritz.data.engines import engine_of
from ritz.testing import check_engine, largest_sine


def measured(n=900, d=8, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, d)) * np.geomspace(5, 0.5, d) @ np.linalg.qr(rng.standard_normal((d, d)))[0] + 30


def truth(rows, k, w=None, *, center=True, scale=False):
    """Variances and axes by NumPy's SVD of the rows repeated as often as their weights say."""
    X = np.asarray(rows, np.float64)
    X = X if w is None else np.repeat(X, w, axis=0)
    Z = X - X.mean(axis=0) if center else X
    Z = Z / Z.std(axis=0, ddof=1) if scale else Z
    _, s, Vt = np.linalg.svd(Z, full_matrices=False)
    return s[:k] ** 2 / (len(X) - 1), Vt[:k]


def agrees(model, variances, axes, tol=1e-10):
    assert np.max(np.abs(model.explained_variance_ - variances)) <= tol * variances[0]
    assert largest_sine(np.asarray(model.components_, np.float64).T, axes.T) <= max(tol, 1e-8)


def test_check_engine(cut):
    check_engine(engine_of(cut(np.ones((4, 2)), [2, 2])), cut)


LAYOUTS = {
    "even": [300, 300, 300],
    "empty partitions": [0, 400, 0, 0, 500, 0],
    "one row each": [1] * 10,  # more than are merged at once
    "skewed": [1, 880, 2, 17],
    "one": [900],
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_any_partitions_give_the_answer_of_memory(cut, layout):
    lengths = LAYOUTS[layout]
    rows = measured(sum(lengths))
    frame = cut(rows, lengths)
    model = ritz.PCA(3).fit(frame)
    agrees(model, *truth(rows, 3))
    assert model.n_samples_ == len(rows)
    assert list(model.feature_names_in_) == [f"x{j}" for j in range(8)]
    assert model.verify(frame)


@pytest.fixture(scope="module")
def weighted(cut):
    rows, w = measured(), np.random.default_rng(1).integers(0, 4, 900)
    return rows, w, cut(np.where(w[:, None] == 0, np.nan, rows), [250, 0, 400, 250])


@pytest.mark.parametrize("options", [{"scale": True}, {"center": False}, {"solver": "krylov", "tol": 1e-12}], ids=str)
def test_weighted_scaled_and_iterated(weighted, options):
    rows, w, frame = weighted
    model = ritz.PCA(3, **options).fit(frame, sample_weight=w)
    agrees(model, *truth(rows, 3, w, **{key: options[key] for key in ("scale", "center") if key in options}))
    assert model.verify(frame, w)
    assert str(model.plan_)


def test_weights_by_the_name_of_their_column(cut):
    rows, w = measured(), np.random.default_rng(1).integers(0, 4, 900)
    frame = cut(np.column_stack([rows, w]), [250, 0, 400, 250], [*(f"x{j}" for j in range(8)), "often"])
    model = ritz.PCA(3).fit(frame, sample_weight="often")
    agrees(model, *truth(rows, 3, w))
    assert list(model.feature_names_in_) == [f"x{j}" for j in range(8)]
    assert model.verify(frame, "often")
    with pytest.raises(ritz.InputError, match=r"(?s)'oft', where the columns are.*did you mean 'often'"):
        ritz.PCA(3).fit(frame, sample_weight="oft")


@pytest.mark.parametrize("kind", ["arrays", "vectors"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_embeddings_and_dense_vectors(cut, kind, dtype):
    rows = measured().astype(dtype)
    frame = cut(rows, [300, 600], kind=kind)
    model = ritz.PCA(3).fit(frame)
    agrees(model, *truth(rows, 3), tol=1e-10 if kind == "vectors" or dtype == np.float64 else 1e-6)
    name = "embedding" if kind == "arrays" else "features"
    assert list(model.feature_names_in_[:2]) == [f"{name}[0]", f"{name}[1]"]
    assert model.components_.dtype == (np.float32 if kind == "arrays" and dtype == np.float32 else np.float64)


def test_sparse_vectors(cut):
    rows = sp.random_array((900, 30), density=0.05, rng=np.random.default_rng(3), format="csr")
    rows = (rows @ sp.diags_array(np.geomspace(9, 1, 30))).tocsr()
    rows.sort_indices()
    frame = cut(rows, [1, 500, 0, 399])
    blocks = ritz.data.engines.adopt(frame)
    assert blocks.sparse
    assert blocks.stored == rows.nnz
    for options in ({}, {"solver": "krylov", "tol": 1e-12}):
        agrees(ritz.PCA(3, **options).fit(frame), *truth(rows.toarray(), 3))
    svd = ritz.SVD(3, tol=1e-12).fit(frame)
    np.testing.assert_allclose(svd.singular_values_, np.linalg.svd(rows.toarray(), compute_uv=False)[:3], rtol=1e-10)
    assert svd.verify(frame)


def test_vectors_of_both_kinds_and_missing_ones(spark):
    from pyspark.ml.linalg import Vectors

    listed = [Vectors.sparse(4, {1: 2.0}), Vectors.dense([1.0, 0.0, 3.0, 4.0]), Vectors.sparse(4, {}), None]
    frame = spark.createDataFrame([(v,) for v in listed], ["v"]).coalesce(1)
    blocks = ritz.data.engines.adopt(frame.where("v is not null"))
    got = np.concatenate([b.values.toarray() if sp.issparse(b.values) else b.values for b in blocks.each()])
    np.testing.assert_array_equal(got, [[0, 2, 0, 0], [1, 0, 3, 4], [0, 0, 0, 0]])
    with pytest.raises(ritz.NonFiniteError, match="row 3 column 'v\\[0\\]'"):
        ritz.PCA(2).fit(frame)


def test_counts(cut):
    N = np.random.default_rng(4).poisson(3, (500, 8)).astype(float)
    frame = cut(N, [130, 370])
    model, here = ritz.CA(3).fit(frame), ritz.CA(3).fit(N)
    np.testing.assert_allclose(model.eigenvalues_, here.eigenvalues_, rtol=1e-10)
    np.testing.assert_allclose(model.column_coordinates_, here.column_coordinates_, atol=1e-8)
    placed = model.transform(frame)
    assert placed.columns == list(model.get_feature_names_out())
    np.testing.assert_allclose(np.array(placed.collect()), here.row_coordinates_, atol=1e-8)
    assert model.verify(frame)


def survey(n=600):
    rng = np.random.default_rng(0)
    trait = rng.normal(size=n)
    answers = {
        f"q{j}": [f"a{i}" for i in np.argmax(trait[:, None] * np.linspace(-1, 1, K) + rng.gumbel(size=(n, K)), axis=1)]
        for j, K in enumerate((3, 5, 4))
    }
    return pd.DataFrame(answers | {"age": rng.normal(40, 9, n) + 3 * trait, "size": rng.normal(size=n) - trait})


METHODS = {
    "MCA": (lambda: ritz.MCA(3), ["q0", "q1", "q2"]),
    "FAMD": (lambda: ritz.FAMD(3), ["q0", "q1", "age", "size"]),
    "MFA": (
        lambda: ritz.MFA(3, groups={"answers": ["q0", "q1"], "body": ["age", "size"]}),
        ["q0", "q1", "age", "size"],
    ),
}


@pytest.mark.parametrize("name", METHODS)
def test_categories_are_looked_at_and_encoded_by_the_executors(spark, name):
    make, columns = METHODS[name]
    table = survey()
    w = np.random.default_rng(1).integers(0, 3, len(table)).astype(float)
    frame = spark.createDataFrame(table.assign(w=w)).repartition(3)
    order = pd.DataFrame(frame.persist().collect(), columns=frame.columns)
    try:
        model = make().fit(frame.select(*columns, "w"), sample_weight="w")
        here = make().fit(order[columns], sample_weight=order["w"].to_numpy())
        np.testing.assert_allclose(model.eigenvalues_, here.eigenvalues_, rtol=1e-9)
        np.testing.assert_allclose(model.column_coordinates_, here.column_coordinates_, atol=1e-7)
        placed = model.transform(frame.select("age", *[c for c in columns if c != "age"], "w"))
        assert placed.columns[-3:] == list(model.get_feature_names_out())
        assert "w" in placed.columns
        got = np.array(placed.select(*placed.columns[-3:]).collect())
        np.testing.assert_allclose(got, here.transform(order[columns]), atol=1e-7)
        assert model.verify(frame.select(*columns, "w"), "w")
    finally:
        frame.unpersist()


@pytest.mark.parametrize(
    "make",
    [lambda: ritz.RobustPCA(2, method="spherical"), lambda: ritz.FactorAnalysis(2), lambda: ritz.SparsePCA(2)],
    ids=["RobustPCA", "FactorAnalysis", "SparsePCA"],
)
def test_the_other_linear_methods(cut, make):
    rng = np.random.default_rng(5)
    rows = rng.standard_normal((300, 2)) @ rng.standard_normal((2, 6)) + rng.standard_normal((300, 6))
    here, model = make().fit(rows), make().fit(cut(rows, [100, 200]))
    np.testing.assert_allclose(np.abs(model.components_), np.abs(here.components_), atol=1e-8)


def test_gaps_are_filled_as_in_memory(cut):
    rows = measured(300, 6)
    rows[np.random.default_rng(3).random(rows.shape) < 0.1] = np.nan
    here = ritz.PCA(2, missing="regularized").fit(rows)
    model = ritz.PCA(2, missing="regularized").fit(cut(rows, [130, 170]))
    agrees(model, here.explained_variance_, here.components_)


def test_insight_and_files(cut, tmp_path):
    rows = measured(300, 6)
    frame = cut(rows, [130, 170])
    model = ritz.PCA(2).fit(frame)
    np.testing.assert_allclose(ritz.insight.t2(model, frame), ritz.insight.t2(model, rows), rtol=1e-9)
    model.transform_to(frame, tmp_path / "z.npy")
    np.testing.assert_allclose(np.load(tmp_path / "z.npy"), model.transform(rows), atol=1e-10)
    assert ritz.plan(frame, ritz.PCA(2)).solver == "moments"
