"""RobustPCA and SparsePCA come back from a file the same, and go on working."""

from __future__ import annotations

import numpy as np
import pytest

import ritz
from ritz import insight
from ritz.methods.record import values_of

MODELS = {
    "spherical": lambda: ritz.RobustPCA(2, method="spherical", scale=True),
    "robpca": lambda: ritz.RobustPCA(2, method="robpca"),
    "pcp": lambda: ritz.RobustPCA(2, method="pcp", tol=1e-4),
    "elastic net": lambda: ritz.SparsePCA(2, alpha=[0.2, 0.1], scale=True),
    "truncated power": lambda: ritz.SparsePCA(2, method="truncated-power", n_nonzero=3, ridge=np.inf),
}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_round_trip(tmp_path, name, dtype):
    rng = np.random.default_rng(0)
    X = (rng.standard_normal((80, 12)) @ np.diag([9, 7, 5, *[1] * 9]) + 3).astype(dtype)
    X[:5] += 30
    model = MODELS[name]().fit(X)
    ritz.save(model, tmp_path / "m.ritz")
    back = ritz.load(tmp_path / "m.ritz")
    one, two = values_of(model), values_of(back)
    assert one.keys() == two.keys()
    for key, value in one.items():
        if isinstance(value, np.ndarray):
            assert np.array_equal(value, two[key]), key
            assert value.dtype == two[key].dtype
        elif key in ("certificate_", "plan_"):
            assert str(value) == str(two[key])
        else:
            assert value == two[key], key
    assert np.array_equal(model.transform(X), back.transform(X))
    assert np.array_equal(model.inverse_transform(model.transform(X)), back.inverse_transform(back.transform(X)))
    for function in (insight.t2, insight.spe):
        assert np.array_equal(function(model, X), function(back, X))
    assert insight.limits(model) == insight.limits(back)
    assert np.array_equal(insight.outliers(model, X).p_values, insight.outliers(back, X).p_values)
    if isinstance(back, ritz.RobustPCA):
        assert back.verify(X)
    assert ritz.load(tmp_path / "m.ritz").fit(X).components_.dtype == dtype
