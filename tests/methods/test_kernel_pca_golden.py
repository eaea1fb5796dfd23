"""Kernel PCA against kernlab: vectors, strings, a kernel matrix; new rows too."""

from __future__ import annotations

import json

import numpy as np
import pytest
from sklearn.datasets import load_iris

from ritz import KernelPCA
from ritz.kernels import RBF, BoundedSpectrum, Callable, Linear, Matern, Polynomial, Sigmoid, Spectrum


def anova(x, y):
    return float(np.sum(np.exp(-0.1 * np.square(x - y))) ** 2)


KERNELS = {
    "rbf_sigma0.2": RBF(0.2),
    "poly_d3_s1_o1": Polynomial(3, 1.0, 1.0),
    "poly_d2_s0.5_o0": Polynomial(2, 0.5, 0.0),
    "laplace_sigma0.1": Matern(0.5, 10.0),
    "tanh_s0.01_o1": Sigmoid(0.01, 1.0),
    "anova_sigma0.1_d2": Callable(anova),
    "linear": Linear(),
}


def same_up_to_sign(Z, kernlab, tolerance):
    assert np.max(np.abs(np.abs(Z) - np.abs(kernlab))) <= tolerance
    assert np.allclose(np.abs(np.sum(Z * kernlab, axis=0)), np.sum(kernlab**2, axis=0), rtol=1e-6)


@pytest.fixture(scope="module")
def iris(root):
    golden = json.loads((root / "tests/golden/kernels/kernlab_iris.json").read_text())
    X, test = load_iris().data, np.array(golden["test_index_0based"])
    return np.delete(X, test, axis=0), X[test], golden["models"]


@pytest.mark.parametrize("solver", ["auto", "svd", "krylov", "lanczos", "nystrom"])
@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.filterwarnings("ignore::ritz.NegativeEigenvalues")
def test_iris_as_kernlab(iris, name, solver):
    train, test, models = iris
    kernel, golden, m = KERNELS[name], models[name], len(train)
    if solver == "nystrom" and not kernel.positive:
        pytest.skip("Nyström takes positive kernels")
    eig = np.array(golden["eig"])
    model = KernelPCA(len(eig), kernel=kernel, solver=solver, tol=1e-11, landmarks=m)
    Z = model.fit_transform(train)
    loose = 1e-6 if solver == "nystrom" else 1e-9  # its ridge
    assert np.allclose(model.eigenvalues_ / m, eig, rtol=1e-10, atol=1e-2 * loose * eig[0])
    size = np.sqrt(eig[0] * m)
    rotated, predicted = (np.array(golden[key]) / np.sqrt(m) for key in ("rotated_first_20", "predict_new"))
    assert np.max(np.abs(np.abs(Z[:20]) - np.abs(rotated))) <= loose * size * np.sqrt(eig[0] / eig[-1])
    same_up_to_sign(model.transform(test), predicted, loose * size * np.sqrt(eig[0] / eig[-1]))


@pytest.mark.parametrize("name", ["spectrum_5_normalized", "boundrange_4_normalized"])
def test_a_string_kernel_matrix_as_kernlab(root, name):
    golden = json.loads((root / "tests/golden/kernels/kernlab_reuters.json").read_text())[name]
    K = np.array(golden["K"])
    model = KernelPCA(5, kernel="precomputed")
    Z = model.fit_transform(K)
    assert np.allclose(model.eigenvalues_ / 40, golden["eig"], rtol=1e-9)
    same_up_to_sign(Z, np.array(golden["rotated"]) / np.sqrt(40), 1e-7)


@pytest.mark.shared
@pytest.mark.parametrize(
    ("name", "kernel"), [("spectrum_5_normalized", Spectrum(5)), ("boundrange_4_normalized", BoundedSpectrum(4))]
)
def test_news_as_kernlab(root, shared, name, kernel):
    golden = json.loads((root / "tests/golden/kernels/kernlab_reuters.json").read_text())[name]
    texts = [each["text"] + "\n" for each in json.loads((shared / "reuters40" / "docs.json").read_text())]
    for solver in ("auto", "svd"):
        model = KernelPCA(5, kernel=kernel, solver=solver)
        Z = model.fit_transform(texts)
        assert np.allclose(model.eigenvalues_ / 40, golden["eig"], rtol=1e-9)
        same_up_to_sign(Z, np.array(golden["rotated"]) / np.sqrt(40), 1e-7)


@pytest.mark.shared
@pytest.mark.parametrize(
    ("name", "kernel"),
    [
        ("poly_d3_s1over256_o0", Polynomial(3, 1 / 256, 0.0)),
        ("poly_d2_s1over256_o1", Polynomial(2, 1 / 256, 1.0)),
        ("rbf_sigma0.005", RBF(0.005)),
    ],
)
def test_digits_as_kernlab(shared, name, kernel):
    golden = json.loads((shared / "usps" / "kernlab_kpca.json").read_text())[name]
    with np.load(shared / "usps" / "usps.npz") as file:
        held = dict(file)
    train, test = held["X_train"][:500] / 1000.0, held["X_test"][:60] / 1000.0
    model = KernelPCA(10, kernel=kernel, solver="krylov", tol=1e-11)
    Z = model.fit_transform(train)
    assert np.allclose(model.eigenvalues_ / 500, golden["eig"], rtol=1e-9)
    for found, key in ((Z, "rotated"), (model.transform(test), "predict_new")):
        same_up_to_sign(found, np.array(golden[key]["values"]) / np.sqrt(500), 1e-6 * np.sqrt(model.eigenvalues_[0]))
