"""Confidence ellipses: coverage by simulation, closed forms, and the points of a correspondence map."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import ritz
from ritz import insight


def cloud(rng, n):
    return rng.standard_normal((n, 4)) @ np.diag([4, 2, 1, 0.5])


def test_centre_axes_and_angle_by_the_book(seed):
    X = cloud(np.random.default_rng(seed), 200)
    model = ritz.PCA(2).fit(X)
    found = insight.ellipse(model, X, limit="chi2")[None]
    c = np.sqrt(stats.chi2.ppf(0.95, 2))
    assert np.allclose(found.center, 0, atol=1e-12)
    assert np.allclose(found.axes, c * np.sqrt(model.explained_variance_))
    assert found.angle == pytest.approx(0, abs=1e-6)  # scores are uncorrelated
    assert found.area == pytest.approx(np.pi * c**2 * np.sqrt(np.prod(model.explained_variance_)))
    path = found.path(50)
    assert np.allclose(path[0], path[-1])
    inverse = np.linalg.inv(found.covariance)
    assert np.allclose(np.einsum("ij,jk,ik->i", path, inverse, path), c**2)
    assert found.contains([[0, 0], [100, 0]]).tolist() == [True, False]


@pytest.mark.parametrize("n", [6, 40])
def test_rows_and_means_are_covered_as_promised(n):
    """Groups of n rows: a further row, and the true mean, lie inside in 90 of 100 cases."""
    rng = np.random.default_rng(0)
    model = ritz.PCA(2).fit(cloud(rng, 500))
    groups = cloud(rng, 1500 * (n + 1)).reshape(1500, n + 1, 4)
    seen, labels = groups[:, :-1].reshape(-1, 4), np.repeat(np.arange(1500), n)
    further, true = model.transform(groups[:, -1]), model.transform(np.zeros((1, 4)))
    rows = insight.ellipse(model, seen, labels, level=0.9)
    means = insight.ellipse(model, seen, labels, of="means", level=0.9)
    inside = [rows[i].contains(further[i : i + 1])[0] for i in range(1500)]
    mean = [means[i].contains(true)[0] for i in range(1500)]
    error = 4 * np.sqrt(0.09 / 1500)
    assert np.mean(inside) == pytest.approx(0.9, abs=error)
    assert np.mean(mean) == pytest.approx(0.9, abs=error)


def test_groups_and_weights(seed):
    rng = np.random.default_rng(seed)
    X, labels, w = cloud(rng, 60), np.array(["a", "b", "c"] * 20), rng.integers(1, 4, 60)
    model = ritz.PCA(3).fit(X)
    found = insight.ellipse(model, X, labels, of="means", components=(2, 0), sample_weight=w)
    assert list(found) == ["a", "b", "c"]
    copies = insight.ellipse(model, np.repeat(X, w, axis=0), np.repeat(labels, w), of="means", components=(2, 0))
    for name in found:
        assert np.allclose(found[name].covariance, copies[name].covariance)
        assert np.allclose(found[name].center, copies[name].center)
        assert found[name].radius == pytest.approx(copies[name].radius)
    T = model.transform(X)[labels == "b"][:, [2, 0]]
    assert np.allclose(np.average(T, axis=0, weights=w[labels == "b"]), found["b"].center)


def test_groups_of_a_mixed_analysis():
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": list("xyz") * 20, "b": list("uv") * 30, "c": rng.standard_normal(60)})
    model = ritz.MCA(2).fit(frame[["a", "b"]])
    found = insight.ellipse(model, frame[["a", "b"]], frame["a"], of="means", limit="chi2")
    F = np.asarray(model.row_coordinates_)
    for name in "xyz":
        rows = F[(frame["a"] == name).to_numpy()]
        assert np.allclose(found[name].center, rows.mean(axis=0))
        assert np.allclose(found[name].covariance, np.cov(rows.T) / len(rows))


@pytest.mark.parametrize("of", ["row-points", "column-points"])
def test_points_of_a_correspondence_map_against_simulated_tables(of):
    """Rows (columns) drawn anew as multinomial counts and projected as supplementary ones have this covariance."""
    rng = np.random.default_rng(0)
    N = rng.integers(5, 60, (7, 5))
    model = ritz.CA(2).fit(N)
    found = insight.ellipse(model, N, of=of)
    side = N if of == "row-points" else N.T
    assert np.allclose(
        [found[i].center for i in range(len(side))],
        np.asarray(model.row_coordinates_ if of == "row-points" else model.column_coordinates_),
    )
    for i in (0, 3):
        drawn = rng.multinomial(side[i].sum(), side[i] / side[i].sum(), size=20_000)
        place = model.transform(drawn) if of == "row-points" else model.supplementary_columns(drawn.T)
        assert np.allclose(np.cov(np.asarray(place).T), found[i].covariance, rtol=0.05, atol=2e-4)
        assert np.mean(found[i].contains(place)) == pytest.approx(0.95, abs=0.01)
        assert found[i].n == side[i].sum()


def test_names_of_a_table(tmp_path):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame([[10, 5, 8], [7, 9, 12], [20, 4, 3], [6, 6, 6]], list("wxyz"), list("abc"))
    model = ritz.CA(2).fit(frame)
    assert list(insight.ellipse(model, frame, of="row-points")) == list("wxyz")
    assert list(insight.ellipse(model, frame, of="column-points")) == list("abc")


def test_refusals():
    X = cloud(np.random.default_rng(0), 30)
    model = ritz.PCA(2).fit(X)
    with pytest.raises(ritz.ParameterError, match="level must be"):
        insight.ellipse(model, X, level=95)
    with pytest.raises(ritz.ParameterError, match="numbers from 0 to 1"):
        insight.ellipse(model, X, components=(0, 2))
    with pytest.raises(ritz.ParameterError, match="of must be"):
        insight.ellipse(model, X, of="columns")
    with pytest.raises(ritz.ParameterError, match="limit must be"):
        insight.ellipse(model, X, limit="t")
    with pytest.raises(ritz.ParameterError, match="counts of a table"):
        insight.ellipse(model, X, of="row-points")
    with pytest.raises(ritz.InputError, match="one label for each"):
        insight.ellipse(model, X, ["a"] * 3)
    assert np.isnan(insight.ellipse(model, X[:2])[None].radius)


def test_radii_are_hotellings_for_means_and_for_further_rows(seed):
    """n(m̄ − μ)ᵀS⁻¹(m̄ − μ) ~ 2(n − 1)/(n − 2) F(2, n − 2); a further row has the variance S(1 + 1/n)."""
    from scipy import stats

    n, X = 8, np.random.default_rng(seed).normal(size=(8, 4))
    model = ritz.PCA(2).fit(X)
    quantile = stats.f.ppf(0.9, 2, n - 2)
    mean, row = (ritz.insight.ellipse(model, X, of=of, level=0.9)[None] for of in ("means", "rows"))
    assert mean.radius**2 == pytest.approx(2 * (n - 1) / (n - 2) * quantile)
    assert row.radius**2 == pytest.approx((1 + 1 / n) * 2 * (n - 1) / (n - 2) * quantile)
    assert np.allclose(mean.covariance * n, np.cov(model.transform(X).T))
