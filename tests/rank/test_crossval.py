"""GCV against FactoMineR and its own formula; k-fold through what a method hands in."""

from __future__ import annotations

import numpy as np
import pytest

from ritz.rank.crossval import GCV, KFold
from ritz.rank.material import Material


def test_decathlon_as_factominer(golden, decathlon):
    held = golden["decathlon_estim_ncp"]
    np.testing.assert_allclose(GCV().curve(decathlon).value, held["criterion"], rtol=1e-9)
    assert GCV().decide(decathlon) == held["ncp"] == 3
    assert GCV().why(decathlon) == "3 components: the criterion is 0.8767 there, 0.8857 with 2, 0.8890 with 4"


@pytest.mark.parametrize("centered", [True, False])
@pytest.mark.parametrize("shape", [(30, 6), (8, 20)])
def test_the_formula_on_the_residuals_themselves(shape, centered, make):
    rng = np.random.default_rng(1)
    X = rng.standard_normal(shape) + 2.0
    n, d = shape
    A = X - X.mean(axis=0) if centered else X
    U, s, Vt = np.linalg.svd(A, full_matrices=False)
    value = GCV().curve(make.of_data(X, centered=centered)).value
    scale = np.sum(A**2) / ((n - centered) * d)
    for k in range(1, len(value)):
        fitted = (U[:, :k] * s[:k]) @ Vt[:k]
        free = (n - 1) * d - k * (n + d - k - 1) if centered else n * d - k * (n + d - k)
        assert abs(value[k] - np.mean((n * d * (A - fitted) / free) ** 2) / scale) < 1e-9 * value[k]
    assert value[0] == 1.0


def test_the_first_rise_decides_even_if_it_falls_again(make):
    seen = make.of_values([50.0, 3.0, 2.9, 2.8, 2.7, 2.6, 0.1, 0.1, 0.1, 0.1], n=60)
    value = GCV().curve(seen).value
    k = GCV().decide(seen)
    assert value[k + 1] > value[k]
    assert np.all(np.diff(value[: k + 1]) < 0)
    assert value.min() < value[k]


@pytest.mark.parametrize(("n", "d"), [(200, 20), (80, 200)])
def test_planted_components_are_found(n, d, make):
    for q in (2, 7):
        assert GCV().decide(make.of_data(make.planted(n, d, q, strength=10.0, seed=q))) == q


def test_kfold_takes_the_least_error_that_the_method_found(decathlon, make):
    curve = np.array([2.0, 1.5, 1.0, 0.9, 1.1])
    rule = KFold(5_000).on(Material(kfold=lambda most: (curve, f"looked at {most} rows")))
    assert rule.decide(decathlon) == 3
    assert rule.why(decathlon) == (
        "3 components: the error of entries held out is 0.4500 of that of the mean, 0.5000 with 2, 0.5500 with 4;"
        " looked at 5000 rows"
    )
    assert rule.decide(make.part(decathlon, 2)) is None  # known, but the spectrum does not hold so many yet
    assert KFold().why(decathlon) == "kfold needs rows"
