"""From names, objects and functions to kernels."""

from __future__ import annotations

import numpy as np
import pytest

from ritz import kernels
from ritz._core.errors import ParameterError, UnusedParameter
from ritz.kernels.resolve import resolve


def test_names_take_the_parameters_that_they_know():
    with pytest.warns(UnusedParameter, match="makes no use of") as said:
        assert resolve("linear", 0.1, 2, 5) == kernels.Linear()
    assert len(said) == 3
    assert resolve("poly") == kernels.Polynomial(3, None, 1.0)
    assert resolve("poly", 0.1, 2, 5) == kernels.Polynomial(2, 0.1, 5.0)
    assert resolve("rbf", "median") == kernels.RBF("median")
    assert resolve("sigmoid", 0.1, coef0=5) == kernels.Sigmoid(0.1, 5.0)
    assert resolve("laplacian", 0.1) == kernels.Laplacian(0.1)
    assert resolve("cosine") == kernels.Cosine()
    assert resolve("precomputed") == kernels.Precomputed()
    assert resolve("matern", kernel_params={"nu": 2.5, "length": 3}) == kernels.Matern(2.5, 3.0)


def test_matern_by_gamma_has_the_width_of_rbf():
    X = np.random.default_rng(0).standard_normal((9, 3))
    assert resolve("matern", 0.3, kernel_params={"nu": np.inf})(X) == pytest.approx(kernels.RBF(0.3)(X))
    assert resolve("matern", "median").length == "median"


def test_objects_and_functions():
    kernel = kernels.RBF(0.5) + kernels.Linear()
    assert resolve(kernel) is kernel
    with pytest.raises(ParameterError, match="given by its name"):
        resolve(kernel, 3.0)
    assert resolve(kernels.RBF(), kernel_params={"gamma": 2.0}) == kernels.RBF(2.0)
    made = resolve(lambda x, y, power: float(np.dot(x, y)) ** power, kernel_params={"power": 2})
    assert made.takes == "any"
    assert made(np.array([[2.0], [3.0]])).tolist() == [[16, 36], [36, 81]]


@pytest.mark.parametrize(
    ("wrong", "hint"),
    [
        ("gaussian", "hint: kernel='rbf'"),
        ("polynomial", "hint: kernel='poly'"),
        ("cosin", "hint: kernel='cosine'"),
        (3, "must be one of"),
        (None, "must be one of"),
    ],
)
def test_what_is_no_kernel(wrong, hint):
    with pytest.raises(ParameterError, match=hint):
        resolve(wrong)


def test_unknown_parameters():
    with pytest.raises(ParameterError, match="kernel_params 'width'"):
        resolve("rbf", kernel_params={"width": 2})


def test_the_public_name_is_the_function_however_often_it_is_read():
    import ritz.kernels.resolve  # the module, which Python would set in its place

    assert ritz.kernels.resolve is resolve
    assert ritz.kernels.resolve("linear") == ritz.kernels.Linear()
