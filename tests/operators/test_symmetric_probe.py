"""Operators that are known by their products: what is not symmetric is refused, what rounding leaves is not."""

from __future__ import annotations

import numpy as np
import pytest

from ritz._core.errors import InputError
from ritz.operators import Centered, Operator, Symmetric


class Products(Operator):
    """A matrix of which nothing but products is known."""

    def __init__(self, S: np.ndarray) -> None:
        super().__init__(S.shape, np.float64)
        self.S = S

    def _matmat(self, V: np.ndarray) -> np.ndarray:
        return np.asarray(self.S @ V)

    def _rmatmat(self, U: np.ndarray) -> np.ndarray:
        return np.asarray(self.S.T @ U)

    def symbol(self) -> str:
        return "L"


def square(seed: int, p: int) -> np.ndarray:
    S = np.random.default_rng(seed).standard_normal((p, p))
    return np.asarray(S + S.T)


@pytest.mark.parametrize("p", [5, 40, 300])
@pytest.mark.parametrize("far", [0.0, 1.0, 1e4, 1e8])
def test_rounding_of_a_mean_is_no_asymmetry_and_hides_none(seed: int, p: int, far: float) -> None:
    S = square(seed, p)
    mean = far * (1 + np.random.default_rng(seed + 1).random(p))
    assert Symmetric(Centered(Products(S + mean), mean)).shape == (p, p)
    S[0, 1] += 1e-2 * np.linalg.norm(S)
    with pytest.raises(InputError, match="two sides differ"):
        Symmetric(Centered(Products(S + mean), mean))
