"""Coordinates of a small table are those that the same rows have in a large one."""

from __future__ import annotations

import numpy as np
import pytest

import ritz
from ritz._core.errors import NonFiniteError

MODELS = [ritz.PCA(2), ritz.PCA(2, scale=True), ritz.PCA(2, whiten=True, scale=True), ritz.SVD(2)]


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("model", MODELS, ids=str)
def test_few_rows_are_placed_as_many_are(model, order, seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((5000, 4)) * [4.0, 2.0, 1.0, 0.5] + 1e6
    fitted = ritz.__dict__[type(model).__name__](**model.get_params()).fit(X)
    many = fitted.transform(X)
    few = fitted.transform(np.asarray(X[:50], order=order))
    np.testing.assert_allclose(few, many[:50], rtol=0, atol=1e-14 * np.abs(many).max())


def test_what_is_not_finite_is_named_by_its_place():
    X = np.random.default_rng(0).standard_normal((30, 4))
    model = ritz.PCA(2).fit(X)
    X[3, 1] = np.inf
    with pytest.raises(NonFiniteError, match="row 3 column 1"):
        model.transform(X)
