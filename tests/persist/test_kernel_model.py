"""Saved kernel models come back the same; functions are refused; files that were tampered with too."""

from __future__ import annotations

import json

import numpy as np
import pytest
import scipy.sparse

import ritz
from ritz import KernelPCA
from ritz._core.container import read_container, write_container
from ritz.kernels import (
    RBF,
    BoundedSpectrum,
    Cosine,
    EditDistance,
    Laplacian,
    Linear,
    Matern,
    Mismatch,
    Polynomial,
    Spectrum,
    Subsequence,
)

RNG = np.random.default_rng(0)
ROWS, NEW = RNG.standard_normal((60, 4)) + 3, RNG.standard_normal((9, 4)) + 3
WORDS = ["anna", "annie", "hannah", "bert", "berta", "norbert", "robert", "hubert", "joan", "joanna", "ann", "roberta"]
VECTORS = [
    RBF(0.2), RBF("median"), Linear(), Polynomial(3, 0.1, 1.0), Laplacian(0.1), Cosine(), Matern(1.5, 2.0),
    RBF(0.2) + 0.5 * Linear(), RBF(0.1) * Polynomial(2, 0.1, 1.0), Polynomial(2, 0.1, 1.0).normalized(),
]  # fmt: skip
STRINGS = [Spectrum(2), BoundedSpectrum(2), Mismatch(3, 1), Subsequence(2, 0.5), EditDistance(0.3)]


def round_trip(model, path):
    ritz.save(model, path)
    return ritz.load(path)


def same(model, back, new) -> None:
    assert back.kernel_ == model.kernel_
    assert np.array_equal(model.eigenvalues_, back.eigenvalues_)
    assert np.array_equal(model.explained_variance_ratio_, back.explained_variance_ratio_)
    assert str(model.certificate_) == str(back.certificate_)
    assert repr(model.plan_) == repr(back.plan_)
    assert model.get_params().keys() == back.get_params().keys()
    assert np.array_equal(model.transform(new), back.transform(new))
    assert np.array_equal(model.novelty(new), back.novelty(new))


@pytest.mark.parametrize("solver", ["auto", "krylov", "nystrom"])
@pytest.mark.parametrize("kernel", VECTORS, ids=str)
def test_models_of_vectors(kernel, solver, tmp_path):
    model = KernelPCA(3, kernel=kernel, solver=solver, landmarks=20).fit(ROWS)
    back = round_trip(model, tmp_path / "m.ritz")
    same(model, back, NEW)
    Z = model.transform(NEW)
    assert np.allclose(model.inverse_transform(Z), back.inverse_transform(Z), rtol=1e-12)
    assert np.array_equal(model.neighbours(Z, 3).index, back.neighbours(Z, 3).index)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kernel", [RBF(0.2), Linear(), Laplacian(0.2)], ids=str)
@pytest.mark.parametrize("solver", ["auto", "nystrom"])
def test_models_of_sparse_rows(kernel, dtype, solver, tmp_path):
    X = scipy.sparse.random_array((50, 12), density=0.3, rng=1, format="csr", dtype=np.float64).astype(dtype)
    model = KernelPCA(2, kernel=kernel, solver=solver, landmarks=20).fit(X)
    back = round_trip(model, tmp_path / "m.ritz")
    same(model, back, X[:7])
    assert back.transform(X[:7]).dtype == dtype
    assert scipy.sparse.issparse(back.X_fit_)


@pytest.mark.parametrize("solver", ["auto", "svd"])
@pytest.mark.parametrize("kernel", STRINGS, ids=str)
@pytest.mark.filterwarnings("ignore::ritz.NegativeEigenvalues")
def test_models_of_strings(kernel, solver, tmp_path):
    model = KernelPCA(2, kernel=kernel, solver=solver).fit(WORDS)
    back = round_trip(model, tmp_path / "m.ritz")
    same(model, back, ["johanna", "rob"])
    assert back.X_fit_ == WORDS


def test_a_model_of_a_kernel_matrix(tmp_path):
    K = RBF(0.2)(ROWS)
    model = KernelPCA(3, kernel="precomputed").fit(K)
    back = round_trip(model, tmp_path / "m.ritz")
    assert np.array_equal(model.transform(K[:5]), back.transform(K[:5]))
    assert np.array_equal(
        model.neighbours(model.transform(K[:5]), 2).index, back.neighbours(back.transform(K[:5]), 2).index
    )


def test_names_of_kernels_and_columns_come_back(tmp_path):
    pd = pytest.importorskip("pandas")
    X = pd.DataFrame(ROWS, columns=list("abcd"))
    model = KernelPCA(2, kernel="rbf", gamma="median").fit(X)
    back = round_trip(model, tmp_path / "m.ritz")
    assert (back.kernel, back.gamma, back.gamma_) == ("rbf", "median", model.gamma_)
    assert list(back.feature_names_in_) == list("abcd")
    assert np.array_equal(back.transform(X), model.transform(X))


def test_rows_are_written_once(tmp_path):
    X = RNG.standard_normal((2000, 40))
    ritz.save(KernelPCA(2, kernel="rbf", solver="krylov").fit(X), tmp_path / "m.ritz")
    assert (tmp_path / "m.ritz").stat().st_size < 1.5 * X.nbytes


def test_files_that_were_changed_are_refused(tmp_path):
    path = tmp_path / "m.ritz"
    ritz.save(KernelPCA(2, kernel="rbf").fit(ROWS), path)
    header, arrays = read_container(path)
    whole = json.loads(json.dumps(header))

    def refused(words: str) -> None:
        write_container(path, "model", whole, arrays)
        with pytest.raises(ritz.RitzError, match=words):
            ritz.load(path)

    fitted = whole["fitted"]["dict"]
    kernel, map_ = fitted["kernel_"], fitted["_solved_map"]
    fitted["kernel_"] = {"kernel": {"name": "os.system"}}
    refused("one of ritz.kernels")
    fitted["kernel_"] = {"kernel": {"name": "RBF", "gamma": -1.0}}
    refused("gamma must be")
    fitted["kernel_"] = {"kernel": {"name": "RBF", "command": 1}}
    refused("command")
    fitted["kernel_"], fitted["_solved_map"] = kernel, {"dict": {"kind": "features"}}
    refused("a map that does not fit")
    fitted["_solved_map"] = {"dict": {"kind": "kernel"}}
    refused("a map that does not fit")
    fitted["_solved_map"] = map_
    write_container(path, "model", whole, arrays)
    assert ritz.load(path).n_components_ == 2
