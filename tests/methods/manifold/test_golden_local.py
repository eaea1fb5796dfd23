"""LLE and its kin, Laplacian eigenmaps and diffusion maps against lle, igraph, diffusionMap, destiny, tapkee."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest

import ritz
from ritz.methods.manifold.weights import barycentric
from tests.conftest import SHARED

GOLDEN = SHARED / "manifold"
pytestmark = [
    pytest.mark.shared,
    pytest.mark.skipif(not GOLDEN.is_dir(), reason="results of other programs are not beside the checkout"),
]


def table(name: str, file: str = "data.csv") -> np.ndarray:
    """The numbers of a table as its results were made of them."""
    with (GOLDEN / name / file).open(encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    columns = [c for c in rows[0] if c not in ("id", "Species", "name", "province") and _is_number(rows[0][c])]
    X = np.array([[float(row[c]) for c in columns] for row in rows])
    if name == "iris":
        X = X[np.sort(np.unique(X, axis=0, return_index=True)[1])]
    if name == "swiss":
        X = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
    return X


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def golden(name: str, file: str) -> dict:
    return json.loads((GOLDEN / name / file).read_text(encoding="utf-8"))


def values(entry: dict) -> np.ndarray:
    return np.array(entry["values"], float)


def sine(A: np.ndarray, B: np.ndarray) -> float:
    """Of the largest angle between planes, both without their mean."""
    P, Q = (np.linalg.qr(Y - Y.mean(axis=0))[0] for Y in (A, B))
    return float(np.linalg.norm(Q - P @ (P.T @ Q), 2))


def up_to_sign(A: np.ndarray, B: np.ndarray, close: float) -> None:
    signs = np.sign(np.sum(A * B, axis=0))
    np.testing.assert_allclose(A * signs, B, atol=close * np.abs(B).max())


@pytest.mark.parametrize(("name", "k"), [("swiss_roll", 12), ("swiss", 8)])
def test_lle_of_r(name, k):
    X, r = table(name), golden(name, f"lle_k{k}.json")
    singular = np.array(r["singular_values_I_minus_W"])
    model = ritz.LLE(2, n_neighbors=k, reg=0.01 / k).fit(X)
    np.testing.assert_allclose(model.eigenvalues_, np.square(singular[1:3]), rtol=1e-8)
    assert sine(model.embedding_, values(r["Y"])) < 1e-6
    near = ritz.Neighbours(k).fit(X).kneighbors(return_distance=False)
    assert sorted(near[0] + 1) == sorted(r["neighbours_row1"])


@pytest.mark.parametrize(("name", "k"), [("swiss_roll", 12), ("iris", 15)])
def test_weights_of_r(name, k):
    X, r = table(name), golden(name, f"lle_k{k}.json")
    near = np.array(r["neighbours_row1"]) - 1
    np.testing.assert_allclose(barycentric((X[near] - X[0])[None], 0.01 / k)[0], r["weights_row1"], atol=1e-10)


def test_the_graph_of_iris_falls_apart():
    """R finds zero twice and shrinks one component to a point; distances tie, so that spectra are not compared."""
    assert np.count_nonzero(np.array(golden("iris", "lle_k15.json")["singular_values_I_minus_W"]) < 1e-12) == 2
    with pytest.warns(ritz.DisconnectedGraph, match="2 components"):
        model = ritz.LLE(2, n_neighbors=15, reg=0.01 / 15).fit(table("iris"))
    assert np.all(model.spectra_ > 1e-8)
    for one in range(2):
        np.testing.assert_allclose(model.embedding_[model.component_labels_ == one].std(axis=0), 1, atol=1e-6)


def test_lle_of_iris_by_the_ties_of_r():
    """R takes the rows whose mean rank, ties sharing theirs, is at most k + 1: 14 or 15 here. From these neighbourhoods
    Ritz's weights and its solver give R's spectrum; only what is near is decided otherwise where distances tie.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components
    from scipy.spatial.distance import cdist
    from scipy.stats import rankdata

    from ritz.operators import Aligned
    from ritz.spectral.problem import SpectralProblem
    from ritz.spectral.smallest_plan import choose_smallest
    from ritz.spectral.solve import solve

    X, r = table("iris"), golden("iris", "lle_k15.json")
    ranks = np.apply_along_axis(rankdata, 1, cdist(X, X))
    near = (ranks <= 16) & (ranks > 1)
    assert set(near.sum(axis=1)) == {14, 15}
    B = np.eye(len(X))
    for i in range(len(X)):
        some = np.flatnonzero(near[i])
        B[i, some] = -barycentric((X[some] - X[i])[None], 0.01 / len(some))[0]
    parts = connected_components(csr_array(near), directed=False)[1]
    null = np.eye(2)[parts]
    M = Aligned(B, null=null)
    found = solve(SpectralProblem(M, kind="eigh", which="smallest", k=4), choose_smallest(M, 4, 2, solver="inverse"))
    expected = np.sort(r["singular_values_I_minus_W"])
    np.testing.assert_allclose(np.sqrt(found.values), expected[2:], rtol=1e-8)
    # R's second axis is its first with an eigenvalue above zero, but for the null space in which its own is arbitrary
    Y = values(r["Y"])
    axis = Y[:, np.argmin([np.linalg.norm(B @ y) < 1e-8 * np.linalg.norm(y) for y in Y.T])]
    axis = axis - null @ np.linalg.lstsq(null, axis, rcond=None)[0]
    assert abs(axis @ found.vectors[:, 0]) / np.linalg.norm(axis) > 1 - 1e-8


@pytest.mark.parametrize("method", ["standard", "modified", "ltsa"])
def test_lle_of_scikit_learn(method):
    X, new = table("swiss_roll"), table("swiss_roll", "new_rows.csv")
    peer = golden("swiss_roll", "python_lle.json")[method]
    model = ritz.LLE(2, method=method, n_neighbors=12).fit(X)
    Y = values(peer["embedding"])
    assert sine(model.embedding_, Y) < 1e-6
    np.testing.assert_allclose(model.eigenvalues_.sum(), peer["reconstruction_error"], rtol=1e-8)
    if method != "ltsa":  # where new rows go by an affine map of the neighbourhood, not by weights
        signs = np.sign(np.sum(model.embedding_ * Y, axis=0))
        placed = model.transform(new) * signs / np.sqrt(len(X))
        np.testing.assert_allclose(placed, values(peer["transform_new"]), atol=1e-6)


def test_hessian_lle_and_alignment_of_tapkee_and_not_of_scikit_learn():
    X, peer = table("swiss_roll"), golden("swiss_roll", "python_tapkee.json")
    hessian = ritz.LLE(2, method="hessian", n_neighbors=12).fit(X)
    ltsa = ritz.LLE(2, method="ltsa", n_neighbors=12).fit(X)
    assert sine(hessian.embedding_, values(peer["hlle"])) < 1e-6
    assert sine(ltsa.embedding_, values(peer["ltsa"])) < 1e-6
    other = golden("swiss_roll", "python_lle.json")["hessian"]
    assert sine(ltsa.embedding_, values(other["embedding"])) < 1e-6  # what is called hessian there is ltsa
    assert sine(hessian.embedding_, values(other["embedding"])) > 1e-4


@pytest.mark.parametrize(("name", "k"), [("swiss_roll", 10), ("swiss", 7)])
def test_laplacian_of_r(name, k):
    X, r = table(name), golden(name, f"eigen_laplacian_k{k}.json")
    for normalized, vectors, spectrum in (
        (True, "generalised_vectors", "normalised_eig"), (False, "unnormalised_vectors", "unnormalised_eig"),
    ):  # fmt: skip
        model = ritz.LaplacianEigenmaps(7, n_neighbors=k, normalized=normalized).fit(X)
        np.testing.assert_allclose(model.eigenvalues_, r[spectrum][1:], rtol=1e-8)
        up_to_sign(model.embedding_, values(r[vectors])[:, 1:], 1e-8)
    np.testing.assert_allclose(ritz.LaplacianEigenmaps(7, n_neighbors=k).fit(X).eigenvalues_, r["igraph_values"][1:],
                               rtol=1e-8)  # fmt: skip


@pytest.mark.parametrize("name", ["swiss_roll", "swiss", "iris"])
def test_diffusion_map_of_r(name):
    X, r = table(name), golden(name, "diffusion.json")
    plain = ritz.DiffusionMaps(5, alpha=0, epsilon=r["eps"]).fit(X)
    np.testing.assert_allclose(plain.eigenvalues_, r["diffuse"]["eigenvals"], atol=1e-10)
    up_to_sign(plain.embedding_, values(r["diffuse"]["X"]), 1e-8)
    half, whole = (ritz.DiffusionMaps(5, alpha=a, epsilon=r["eps"]).fit(X) for a in (0.5, 1))
    np.testing.assert_allclose(half.eigenvalues_, r["eig_alpha_half"][1:], atol=1e-10)
    np.testing.assert_allclose(whole.eigenvalues_, r["eig_alpha1"][1:], atol=1e-10)
    up_to_sign(whole.eigenvectors_, values(r["psi_alpha1"])[:, 1:], 1e-8)
    if "nystrom_new" in r:
        up_to_sign(plain.transform(table(name, "new_rows.csv")), values(r["nystrom_new"]), 1e-8)


@pytest.mark.parametrize(("name", "k", "sigma"), [("swiss_roll", 200, 2.0), ("iris", 100, 0.5)])
def test_destiny(name, k, sigma):
    X, r = table(name), golden(name, "destiny.json")
    model = ritz.DiffusionMaps(5, n_neighbors=k, epsilon=2 * sigma**2, stay=False).fit(X)
    np.testing.assert_allclose(model.eigenvalues_, values(r["eigenvalues"]), atol=1e-10)
    up_to_sign(np.asarray(model.certificate_.frame["vectors"]), values(r["eigenvectors"]), 1e-8)
