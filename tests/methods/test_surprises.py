"""What surprised people: left vectors of an SVD, shares of the correspondence family under PCA's name."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.linalg import subspace_angles
from sklearn.exceptions import NotFittedError

import ritz


class TestLeftVectors:
    def test_the_decomposition_is_whole(self, seed):
        X = np.random.default_rng(seed).standard_normal((40, 7)) + 3
        svd = ritz.SVD().fit(X)
        U = svd.left_vectors(X)
        assert np.allclose(U * svd.singular_values_ @ svd.components_, X, atol=1e-13 * np.linalg.norm(X))
        assert np.abs(U.T @ U - np.eye(7)).max() < 1e-14

    def test_right_angles_where_singular_values_are_tiny(self, seed):
        rng = np.random.default_rng(seed)
        Q, W = np.linalg.qr(rng.standard_normal((60, 6)))[0], np.linalg.qr(rng.standard_normal((6, 6)))[0]
        X = Q * np.logspace(0, -9, 6) @ W.T
        svd = ritz.SVD(solver="svd", tol=0).fit(X)
        U = svd.left_vectors(X)
        assert np.abs(U.T @ U - np.eye(6)).max() < 1e-14
        plain = svd.transform(X) / svd.singular_values_
        assert np.abs(plain.T @ plain - np.eye(6)).max() > 1e-9  # what dividing by σ would give
        assert np.max(subspace_angles(U[:, :3], Q[:, :3])) < 1e-9

    @pytest.mark.parametrize("form", ["sparse", "weights", "state", "float32", "wide"])
    def test_other_rows_and_ways(self, form, seed):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((30, 5) if form != "wide" else (5, 30))
        if form == "sparse":
            X = np.where(rng.random(X.shape) < 0.5, X, 0)
            svd, rows, w = ritz.SVD(3).fit(sp.csr_array(X)), sp.csr_array(X), None
        elif form == "weights":
            w = rng.uniform(0.5, 2, 30)
            svd, rows = ritz.SVD(3).fit(X, sample_weight=w), X
            X = X * np.sqrt(w)[:, None]
        elif form == "state":
            svd, rows, w = ritz.SVD(3).partial_fit(X[:11]).merge(ritz.SVD(3).partial_fit(X[11:])), X, None
        else:
            X = X.astype(np.float32) if form == "float32" else X
            svd, rows, w = ritz.SVD(3).fit(X), X, None
        U = svd.left_vectors(rows, w)
        truth = np.linalg.svd(np.asarray(X, np.float64), full_matrices=False)[0][:, :3]
        slack = 1e-4 if form == "float32" else 1e-11
        assert U.dtype == svd.components_.dtype
        assert np.abs(np.abs(np.sum(U * truth, axis=0)) - 1).max() < slack

    def test_rows_that_were_not_fitted_are_refused(self, seed):
        X = np.random.default_rng(seed).standard_normal((30, 5))
        svd = ritz.SVD(2).fit(X)
        for other in (X[:20], 2 * X, X[:1]):
            with pytest.raises(ritz.InputError, match="rows of the fit"):
                svd.left_vectors(other)


TABLES = {
    "CA": lambda: ritz.CA().fit(np.array([[4, 2, 3], [2, 3, 7], [9, 1, 1], [3, 3, 8]])),
    "MCA": lambda: ritz.MCA().fit(pd.DataFrame({"a": list("xyxyxxyz"), "b": list("ppqqpqpq")})),
    "FAMD": lambda: ritz.FAMD().fit(pd.DataFrame({"a": list("xyxyxxyz"), "b": np.arange(8.0) ** 2})),
    "MFA": lambda: ritz.MFA(groups={"one": [0, 1], "two": [2, 3]}).fit(
        np.random.default_rng(0).standard_normal((9, 4))
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", TABLES)
def test_shares_of_tables_have_the_name_that_pca_gives_them(name):
    model = TABLES[name]()
    assert np.array_equal(model.explained_variance_ratio_, model.explained_inertia_ratio_)
    with pytest.raises(NotFittedError):
        type(model)().explained_variance_ratio_  # noqa: B018


def test_a_pending_table_solves_before_it_tells_its_shares():
    counts = np.random.default_rng(0).poisson(5, (20, 4))
    model = ritz.CA(2).partial_fit(counts[:9]).partial_fit(counts[9:])
    assert np.allclose(model.explained_variance_ratio_, ritz.CA(2).fit(counts).explained_variance_ratio_)
