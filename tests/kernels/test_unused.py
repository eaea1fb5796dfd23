"""A parameter that a kernel makes nothing of is named, and a wrong one is refused whatever the kernel."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import ritz

X = np.random.default_rng(0).standard_normal((6, 3))


@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf", "sigmoid", "laplacian", "cosine", "matern", "precomputed"])
@pytest.mark.parametrize("gamma", [-1, 0, np.nan, np.inf, "wide", [1.0]])
def test_a_wrong_gamma_is_refused_by_every_kernel(kernel, gamma):
    with pytest.raises(ritz.ParameterError, match="gamma must be a number > 0"):
        ritz.KernelPCA(2, kernel=kernel, gamma=gamma).fit(X @ X.T)


@pytest.mark.parametrize(
    ("kernel", "given", "words"),
    [
        ("linear", {"gamma": 2.0}, r"kernel='linear' makes no use of gamma=2\.0; kernel='rbf' has a gamma"),
        ("linear", {"gamma": "median"}, "makes no use of gamma='median'"),
        ("rbf", {"degree": 2}, "kernel='rbf' makes no use of degree=2; kernel='poly' has a degree"),
        ("cosine", {"coef0": 0.5}, r"makes no use of coef0=0\.5"),
        ("laplacian", {"degree": 4}, "makes no use of degree=4"),
        ("precomputed", {"gamma": 1.0}, r"makes no use of gamma=1\.0"),
        ("matern", {"gamma": 1.0, "kernel_params": {"length": 2.0}}, r"makes no use of gamma=1\.0"),
        (ritz.kernels.RBF(1.0), {"degree": 2}, r"RBF\(gamma=1\.0\) makes no use of degree=2"),
        (np.dot, {"gamma": 1.0}, r"a function makes no use of gamma=1\.0"),
        ("poly", {"degree": 4, "kernel_params": {"degree": 2}}, "no use of degree=4; kernel_params has degree=2"),
        ("rbf", {"gamma": 4.0, "kernel_params": {"gamma": 2.0}}, r"no use of gamma=4\.0; kernel_params has gamma=2\.0"),
        ("rbf", {"degree": np.array([2, 3])}, r"no use of degree=array\(\[2, 3\]\)"),
    ],
)
def test_what_a_kernel_does_not_take_is_said_once(kernel, given, words):
    with pytest.warns(ritz.UnusedParameter, match=words) as said:
        ritz.KernelPCA(2, kernel=kernel, **given).fit(X @ X.T)
    assert len(said) == 1


def test_nothing_is_said_of_what_is_taken_or_left_as_it_is():
    with warnings.catch_warnings():
        warnings.simplefilter("error", ritz.UnusedParameter)
        for kernel in ("linear", "rbf", "cosine", "poly"):
            ritz.KernelPCA(2, kernel=kernel, degree=3, coef0=1.0).fit(X)
        ritz.KernelPCA(2, kernel="poly", gamma=1.0, degree=2, coef0=2.0).fit(X)
        ritz.KernelPCA(2, kernel="poly", degree=2, kernel_params={"degree": 2}).fit(X)
        ritz.KernelPCA(2, kernel="matern", gamma=1.0).fit(X)


@pytest.mark.parametrize("model", [ritz.KernelPCA(12), ritz.KernelPCA("kaiser>=12"), ritz.MDS(12, metric="cityblock"),
                                   ritz.Isomap(12, n_neighbors=3)])  # fmt: skip
def test_too_many_components_of_rows_speak_of_no_columns(model):
    words = "n_components=12 must be between 0 and the number of rows, n_samples=6; received 12 for 6 rows\n"
    with pytest.raises(ritz.ParameterError, match=words):
        model.fit(X)
