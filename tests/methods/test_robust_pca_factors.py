"""The factors of a minimum covariance determinant: R's published results, and the truth for normal rows.

Goldens: eigenvalues that rrcov prints for PcaHubert in its own tests (tests/thubert.Rout.save, R 2.9, rrcov 0.5), six
decimals; the tables are classics (stackloss of Brownlee, phosphor and heart of Rousseeuw and Leroy's book).
"""

from __future__ import annotations

import numpy as np
import pytest

import ritz
from ritz.methods.robust_pca.factors import good_factor, raw_factor, rrcov_factor, rrcov_rows
from ritz.methods.robust_pca.location import consistency, univariate_mcd

AIR = [80, 80, 75, 62, 62, 62, 62, 62, 58, 58, 58, 58, 58, 58, 50, 50, 50, 50, 50, 56, 70]
WATER = [27, 27, 25, 24, 22, 23, 24, 24, 23, 18, 18, 17, 18, 19, 18, 18, 19, 19, 20, 20, 20]
ACID = [89, 88, 90, 87, 87, 87, 93, 93, 87, 80, 89, 88, 82, 93, 89, 86, 72, 79, 80, 82, 91]
INORGANIC = [0.4, 0.4, 3.1, 0.6, 4.7, 1.7, 9.4, 10.1, 11.6, 12.6, 10.9, 23.1, 23.1, 21.6, 23.1, 1.9, 26.8, 29.9]
ORGANIC = [53, 23, 19, 34, 24, 65, 44, 31, 29, 58, 37, 46, 50, 44, 56, 36, 58, 51]
HEIGHT = [42.8, 63.5, 37.5, 39.5, 45.5, 38.5, 43, 22.5, 37, 23.5, 33, 58]
WEIGHT = [40, 93.5, 35.5, 30, 52, 17, 38.5, 8.5, 33, 9.5, 21, 79]
TABLES = {
    "stackloss": (np.array([AIR, WATER, ACID], float).T, (90.759236, 22.197591)),
    "phosphor": (np.array([INORGANIC, ORGANIC], float).T, (356.981009, 40.133815)),
    "heart": (np.array([HEIGHT, WEIGHT], float).T, (602.892739, 7.727093)),
}


@pytest.mark.parametrize("name", TABLES)
def test_variances_of_rrcov(name):
    X, values = TABLES[name]
    model = ritz.RobustPCA(method="robpca", correction="rrcov").fit(X)
    np.testing.assert_allclose(model.explained_variance_[:2], values, atol=6e-7)
    assert model.verify(X)


@pytest.mark.shared
def test_variances_of_rrcov_with_planted_rows(shared):
    import json

    X = np.loadtxt(shared / "hbk" / "data.csv", delimiter=",", skiprows=1)[:, :3]
    theirs = json.loads((shared / "hbk" / "rrcov_pca.json").read_text())["hubert"]
    model = ritz.RobustPCA(2, method="robpca", correction="rrcov").fit(X)
    np.testing.assert_allclose(model.explained_variance_, theirs["eigenvalues"], rtol=1e-12)
    np.testing.assert_allclose(model.mean_, theirs["center"], rtol=1e-12)
    distances = np.sqrt(np.square(model.transform(X) / np.sqrt(model.explained_variance_)).sum(axis=1))
    np.testing.assert_allclose(distances, theirs["sd"]["values"], rtol=1e-10)


@pytest.mark.parametrize(("n", "p", "bad"), [(40, 2, 0.0), (40, 5, 0.0), (80, 3, 0.0), (80, 3, 0.2), (60, 6, 0.2)])
def test_variances_of_good_rows_are_right_on_average(n, p, bad):
    """Normal rows with and without others far away: the mean over draws of the variance, as a share of the truth."""
    rng = np.random.default_rng(n + p)
    ratios = {"good": [], "rrcov": []}
    for _ in range(20):
        X = rng.standard_normal((n, p))
        X[: round(bad * n)] += 30
        good = np.trace(np.cov(X[round(bad * n) :].T))
        for way, found in ratios.items():
            model = ritz.RobustPCA(method="robpca", correction=way).fit(X)
            found.append(float(np.sum(model.explained_variance_)) / good)
    assert abs(np.mean(ratios["good"]) - 1) < 0.08
    if bad:  # the convention of R counts the bad rows as normal ones that were left out
        assert np.mean(ratios["rrcov"]) > 1.3


def test_factors_tend_to_one_and_are_never_wild():
    for p in (1, 2, 5, 12):
        assert raw_factor(p, 10**6, 10**6, 1.0) == pytest.approx(1)
        assert rrcov_factor(p, 10**7, 9 * 10**6, 0.75) == pytest.approx(consistency(0.9, p), rel=1e-2)
        assert good_factor(p, 10**7, int(0.975e7), int(0.75e7)) == pytest.approx(consistency(0.975, p), rel=1e-2)
        for n in range(2 * p + 1, 60):
            assert 1 <= good_factor(p, n, n - 1, max(n // 2 + 1, 2)) < 4
    assert rrcov_factor(3, 20, 20, 0.75) == 1
    assert rrcov_rows(0.75, 75, 3) == 57
    assert rrcov_rows(1.0, 20, 3) == 20


def test_rows_far_below_do_not_spoil_the_univariate_estimate():
    """Sums over windows are added up from the middle: rows beyond a window have no part in it."""
    y = np.random.default_rng(0).standard_normal((51, 1))
    y[:10] = -1e9
    place, spread = univariate_mcd(y, 38)
    mirrored, same = univariate_mcd(-y, 38)
    assert place == pytest.approx(-mirrored, rel=1e-12)
    assert spread == pytest.approx(same, rel=1e-12)
    assert 0.5 < spread[0] < 2


def test_the_way_is_checked():
    with pytest.raises(ritz.ParameterError, match="correction must be one of 'good', 'rrcov'"):
        ritz.RobustPCA(correction="r").fit(np.eye(5))


def test_tiny_columns_are_not_constant():
    X = np.random.default_rng(0).standard_normal((60, 3)) * [1e-20, 1.0, 1e-30]
    model = ritz.RobustPCA(scale=True).fit(X)
    assert np.all(model.scale_ < [1e-19, 10, 1e-29])
