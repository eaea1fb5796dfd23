"""Answers that others gave: R's prcomp and FactoMineR on classical tables, a worked example of the lectures.

prcomp divides by n − 1, as Ritz; FactoMineR by n, so its eigenvalues of unscaled data are (n − 1)/n times
Ritz's and its coordinates of standardised rows √(n/(n − 1)) times. Signs of axes are arbitrary in both.
"""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest
from sklearn.datasets import load_iris

from ritz import PCA
from ritz.testing import largest_sine

# Violent crime in the 50 US states, 1973: murder, assault, urban population, rape (R's USArrests).
CRIME = """
13.2 236 58 21.2 , 10 263 48 44.5 , 8.1 294 80 31 , 8.8 190 50 19.5 , 9 276 91 40.6 , 7.9 204 78 38.7
3.3 110 77 11.1 , 5.9 238 72 15.8 , 15.4 335 80 31.9 , 17.4 211 60 25.8 , 5.3 46 83 20.2
2.6 120 54 14.2 , 10.4 249 83 24 , 7.2 113 65 21 , 2.2 56 57 11.3 , 6 115 66 18 , 9.7 109 52 16.3
15.4 249 66 22.2 , 2.1 83 51 7.8 , 11.3 300 67 27.8 , 4.4 149 85 16.3 , 12.1 255 74 35.1
2.7 72 66 14.9 , 16.1 259 44 17.1 , 9 178 70 28.2 , 6 109 53 16.4 , 4.3 102 62 16.5 , 12.2 252 81 46
2.1 57 56 9.5 , 7.4 159 89 18.8 , 11.4 285 70 32.1 , 11.1 254 86 26.1 , 13 337 45 16.1 , 0.8 45 44 7.3
7.3 120 75 21.4 , 6.6 151 68 20 , 4.9 159 67 29.3 , 6.3 106 72 14.9 , 3.4 174 87 8.3 , 14.4 279 48 22.5
3.8 86 45 12.8 , 13.2 188 59 26.9 , 12.7 201 80 25.5 , 3.2 120 80 22.9 , 2.2 48 32 11.2
8.5 156 63 20.7 , 4 145 73 26.2 , 5.7 81 39 9.3 , 2.6 53 66 10.8 , 6.8 161 60 15.6
"""
USARRESTS = np.array(CRIME.replace(",", " ").split(), float).reshape(50, 4)

# prcomp(USArrests, …) of R 4.2.2: sdev, and rotation with a column for each component.
PRCOMP = {
    "scaled": (
        {"scale": True},
        [1.57487827439123, 0.994869414817764, 0.597129115502526, 0.41644938195396],
        [
            [-0.535899474938155, -0.418180865420955, 0.341232727952828, 0.649227804341944],
            [-0.583183634909671, -0.187985604231939, 0.268148427832886, -0.74340747993671],
            [-0.278190874619433, 0.872806193060425, 0.378015793086999, 0.133877730824248],
            [-0.543432091445683, 0.167318635401746, -0.817777907626166, 0.0890243227036244],
        ],
    ),
    "unscaled": (
        {},
        [83.7324002464017, 14.2124018491813, 6.48942607287723, 2.48279000001273],
        [
            [0.0417043206282872, -0.0448216562696701, 0.0798906594208109, -0.994921731246978],
            [0.995221281426497, -0.058760027857223, -0.0675697350838043, 0.03893829763516],
            [0.0463357461197108, 0.976857479909889, -0.200546287353865, -0.0581691430589318],
            [0.0751555005855468, 0.200718066450337, 0.974080592182492, 0.0723250196376099],
        ],
    ),
    "uncentred": (
        {"center": False},
        [202.723056442532, 27.8322637300198, 6.52304823298219, 2.58136523178111],
        None,
    ),
}


def aligned(theirs, ours):
    """Their columns with the signs of ours."""
    return theirs * np.sign(np.sum(theirs * ours, axis=0))


@pytest.mark.parametrize("solver", ["auto", "svd", "krylov", "lanczos", "chebyshev", "power"])
@pytest.mark.parametrize("kind", PRCOMP)
def test_usarrests_as_prcomp(kind, solver):
    options, sdev, rotation = PRCOMP[kind]
    model = PCA(solver=solver, tol=1e-12, **options).fit(USARRESTS)
    np.testing.assert_allclose(np.sqrt(model.explained_variance_), sdev, rtol=1e-11)
    if rotation is not None:
        V = model.components_.T
        np.testing.assert_allclose(V, aligned(np.array(rotation), V), atol=1e-10)


def test_iris_shares_as_everyone_quotes_them():
    model = PCA().fit(load_iris().data)
    np.testing.assert_allclose(
        model.explained_variance_ratio_, [0.92461872, 0.05306648, 0.01710261, 0.00521218], atol=5e-9
    )


# ------------------------------------------------------------------------- the example of the lectures


def helmert(n):
    """Orthonormal columns (n, n − 1), each perpendicular to the vector of ones."""
    H = np.zeros((n, n - 1))
    for j in range(1, n):
        H[:j, j - 1], H[j, j - 1] = 1, -j
    return H / np.linalg.norm(H, axis=0)


@pytest.mark.parametrize("solver", ["auto", "svd", "moments", "krylov", "lanczos", "chebyshev", "power"])
@pytest.mark.parametrize("scale", [False, True])
def test_five_samples_of_three_variables(solver, scale):
    S = np.array([[1, 0.673, 0.866], [0.673, 1, 0.388], [0.866, 0.388, 1]])
    X = 2 * helmert(5)[:, :3] @ np.linalg.cholesky(S).T + [7, 8, 9]  # 2 = √(n − 1)
    np.testing.assert_allclose(np.cov(X.T), S, atol=1e-15)
    model = PCA(solver=solver, scale=scale, tol=1e-12).fit(X)
    np.testing.assert_allclose(model.explained_variance_, [2.304, 0.628, 0.068], atol=5e-4)
    values, vectors = np.linalg.eigh(S)
    np.testing.assert_allclose(model.explained_variance_, values[::-1], rtol=1e-12)
    np.testing.assert_allclose(np.abs(model.components_), np.abs(vectors.T[::-1]), atol=1e-12)
    np.testing.assert_allclose(model.explained_variance_ratio_.sum(), 1, rtol=1e-14)
    np.testing.assert_allclose(model.get_covariance(), S, atol=1e-13)
    assert PCA(0.95, solver=solver, scale=scale).fit(X).n_components_ == 2


# ---------------------------------------------------------------------------- files of reference data


def table(shared, name):
    """Row names and the numeric columns of a reference table, by name."""
    with (shared / name / "data.csv").open(newline="", encoding="utf-8") as file:
        head, *rows = list(csv.reader(file))
    columns = dict(zip(head, zip(*rows, strict=True), strict=True))
    numeric = {key: np.array(values, float) for key, values in columns.items() if _number(values[0])}
    return numeric


def _number(text):
    try:
        float(text)
    except ValueError:
        return False
    return True


def oracle(shared, name):
    return json.loads((shared / f"{name}.json").read_text(encoding="utf-8"))


def matrix(part):
    return np.array(part["values"], float)


@pytest.mark.shared
@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("decathlon/prcomp_scaled", {"scale": True}),
        ("usarrests/prcomp_scaled", {"scale": True}),
        ("usarrests/prcomp_unscaled", {}),
        ("usarrests/prcomp_uncentered", {"center": False}),
        ("iris/prcomp_scaled", {"scale": True}),
        ("iris/prcomp_unscaled", {}),
    ],
)
def test_prcomp(shared, name, options):
    r = oracle(shared, name)
    X = np.column_stack([table(shared, name.split("/")[0])[column] for column in r["rotation"]["rows"]])
    model = PCA(**options).fit(X)
    V = model.components_.T
    np.testing.assert_allclose(np.sqrt(model.explained_variance_), r["sdev"], rtol=1e-11)
    np.testing.assert_allclose(V, aligned(matrix(r["rotation"]), V), atol=1e-10)
    T = model.transform(X)
    np.testing.assert_allclose(T, aligned(matrix(r["scores"]), T), atol=1e-9 * np.abs(T).max())
    if "center" in r:
        np.testing.assert_allclose(model.mean_, r["center"]["values"], rtol=1e-13)
    if "scale" in r:
        np.testing.assert_allclose(model.scale_, r["scale"]["values"], rtol=1e-13)


@pytest.mark.shared
@pytest.mark.parametrize(
    ("name", "scale"),
    [
        ("decathlon/factominer_PCA", True),
        ("decathlon/factominer_PCA_unscaled", False),
        ("usarrests/factominer_PCA", True),
        ("iris/factominer_PCA", True),
        ("wine/factominer_PCA", True),  # 21 rows of 27 columns
    ],
)
def test_factominer(shared, name, scale):
    r = oracle(shared, name)
    X = np.column_stack([table(shared, name.split("/")[0])[column] for column in r["var"]["coord"]["rows"]])
    n = len(X)
    model = PCA(scale=scale).fit(X)
    eigenvalues, percent, cumulated = matrix(r["eig"]).T
    m = len(eigenvalues)  # of wine FactoMineR gives only those that are not zero
    shrink = 1 if scale else (n - 1) / n
    np.testing.assert_allclose(model.explained_variance_[:m] * shrink, eigenvalues, rtol=1e-10)
    np.testing.assert_allclose(model.explained_variance_ratio_[:m] * 100, percent, rtol=1e-10)
    np.testing.assert_allclose(np.cumsum(model.explained_variance_ratio_)[:m] * 100, cumulated, rtol=1e-10)
    np.testing.assert_allclose(model.explained_variance_[m:], 0, atol=1e-14)
    coordinates = matrix(r["ind"]["coord"])
    T = model.transform(X)[:, : coordinates.shape[1]] * (np.sqrt(n / (n - 1)) if scale else 1)
    np.testing.assert_allclose(T, aligned(coordinates, T), atol=1e-9 * np.abs(T).max())
    loadings = matrix(r["var"]["coord"])
    k = loadings.shape[1]
    ours = model.components_[:k].T * np.sqrt(model.explained_variance_[:k] * shrink)
    np.testing.assert_allclose(ours, aligned(loadings, ours), atol=1e-9 * np.abs(ours).max())


@pytest.mark.shared
def test_factominer_projects_supplementary_rows(shared):
    r = oracle(shared, "decathlon/factominer_PCA_ind_sup")
    X = np.column_stack([table(shared, "decathlon")[column] for column in r["var"]["coord"]["rows"]])
    model = PCA(scale=True).fit(X[:38])
    stretch = np.sqrt(38 / 37)
    T, expected = model.transform(X[:38]) * stretch, matrix(r["ind"]["coord"])
    signs = np.sign(np.sum(T * expected, axis=0))
    np.testing.assert_allclose(T * signs, expected, atol=1e-9)
    np.testing.assert_allclose(model.transform(X[38:]) * stretch * signs, matrix(r["ind_sup"]["coord"]), atol=1e-9)


@pytest.mark.shared
def test_factominer_with_weighted_rows_and_columns(shared):
    r = oracle(shared, "decathlon/factominer_PCA_weighted")
    X = np.column_stack([table(shared, "decathlon")[column] for column in r["var"]["coord"]["rows"]])
    w, metric = np.arange(1, 42), np.sqrt(r["col_w"])
    mean = np.average(X, axis=0, weights=w)
    Z = (X - mean) / np.sqrt(np.average((X - mean) ** 2, axis=0, weights=w))
    model = PCA().fit(Z * metric, sample_weight=w)
    shrink = (w.sum() - 1) / w.sum()
    np.testing.assert_allclose(model.explained_variance_ * shrink, matrix(r["eig"])[:, 0], rtol=1e-10)
    T, expected = model.transform(Z * metric), matrix(r["ind"]["coord"])
    np.testing.assert_allclose(T, aligned(expected, T), atol=1e-9)


@pytest.mark.shared
def test_the_tables_typed_here_are_those_of_the_files(shared):
    columns = table(shared, "usarrests")
    names = ["Murder", "Assault", "UrbanPop", "Rape"]
    np.testing.assert_array_equal(np.column_stack([columns[name] for name in names]), USARRESTS)
    r = oracle(shared, "usarrests/prcomp_scaled")
    assert largest_sine(matrix(r["rotation"])[:, :2], np.array(PRCOMP["scaled"][2])[:, :2]) < 1e-14
