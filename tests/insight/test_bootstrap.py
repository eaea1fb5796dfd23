"""The bootstrap: equal to refits with the same rows, nominal coverage, near-equal eigenvalues as a subspace."""

from __future__ import annotations

import numpy as np
import pytest

import ritz
from ritz import insight
from ritz.insight.bootstrap import fields
from ritz.insight.bootstrap.draws import Sample, drawn
from ritz.insight.bootstrap.fields import column_draws, row_draws
from ritz.insight.bootstrap.intervals import acceleration, interval, studentized

SHAPES = {"tall": (60, 8), "wide": (24, 70)}


def table(rng, n, d, center=5.0):
    return rng.standard_normal((n, d)) @ np.diag(np.geomspace(5, 0.4, d)) + center


def refit(model, X, counts):
    again = type(model)(**(model.get_params() | {"tol": 0.0}))
    return again.fit(np.repeat(X, counts.astype(int), axis=0))


# ------------------------------------------------------------------------------------- the same as refits


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(
    "model",
    [ritz.PCA(3), ritz.PCA(3, scale=True), ritz.PCA(3, center=False), ritz.PCA(3, whiten=True), ritz.SVD(3)],
    ids=["centred", "scaled", "uncentred", "whitened", "svd"],
)
def test_draws_equal_refits_with_the_same_rows(model, shape, seed):
    X = table(np.random.default_rng(seed), *SHAPES[shape])
    n, d = X.shape
    model = model.fit(X)
    found = insight.bootstrap(model, X, 12, align="signs")
    assert found._drawn.sample.wide == (shape == "wide")
    L = column_draws(found._drawn, found._T, loadings=True)(np.arange(d))
    V = column_draws(found._drawn, found._T, loadings=False)(np.arange(d))
    F = row_draws(found._drawn, found._T)(np.arange(n))
    for b in range(12):
        again = refit(model, X, found.counts(b))
        divisor = n if isinstance(model, ritz.SVD) else n - 1
        values = again.singular_values_**2 / divisor
        signs = np.sign(np.sum(again.components_ * model.components_, axis=1))
        axes = (again.components_ * signs[:, None]).T
        scores = again.transform(X) * signs
        if getattr(model, "whiten", False):
            scores = scores * np.sqrt(values)
        assert np.allclose(found.draws[b], values, rtol=1e-8)
        assert np.allclose(V[:, :, b], axes, atol=1e-8)
        assert np.allclose(L[:, :, b], axes * np.sqrt(values), atol=1e-8 * np.sqrt(values[0]))
        assert np.allclose(F[:, :, b], scores, atol=1e-8 * np.abs(scores).max())
        if not isinstance(model, ritz.SVD):
            share = found.draws[b] / found._drawn.totals[b]
            assert np.allclose(share, again.explained_variance_ratio_, rtol=1e-8)


def test_a_column_that_does_not_vary_in_a_draw_counts_nothing(seed):
    X = table(np.random.default_rng(seed), 30, 6)
    X[:, 2] = 1.0
    X[0, 2] = 4.0
    model = ritz.PCA(2, scale=True).fit(X)
    counts = np.ones((2, 30))
    counts[:, 0], counts[:, 1] = 0, 2
    found = insight.bootstrap(model, X, 2, counts=counts)
    rest = ritz.PCA(2, scale=True).fit(np.delete(np.repeat(X, counts[0].astype(int), axis=0), 2, axis=1))
    assert np.allclose(found.draws[0], rest.explained_variance_, rtol=1e-9)


def test_both_ways_give_the_same(seed):
    A = np.random.default_rng(seed).standard_normal((40, 30)) @ np.diag(np.geomspace(4, 0.5, 30))
    A -= A.mean(axis=0)
    V = np.linalg.svd(A)[2][:3]
    for rescale in (False, True):
        A = A / A.std(axis=0, ddof=1) if rescale else A
        both = []
        for wide in (True, False):
            sample = Sample(A, None, True, rescale, 1, 0, 5)
            sample.__dict__["wide"] = wide
            both.append(drawn(sample, V, 6))
        for name in ("values", "totals", "errors"):
            assert np.allclose(getattr(both[0], name), getattr(both[1], name), rtol=1e-8), name
        assert np.allclose(np.abs(both[0].turned), np.abs(both[1].turned), atol=1e-8)


def test_errors_of_the_logarithm_by_their_definition(seed):
    """Leaving one row out moves log λ by about u/n: the influence function and the jackknife agree."""
    X = table(np.random.default_rng(seed), 400, 5)
    for scale in (False, True):
        model = ritz.PCA(2, scale=scale).fit(X)
        found = insight.bootstrap(model, X, 2)
        for which, name in enumerate(("explained_variance_", "explained_variance_ratio_")):
            u = found._fit.influences()[which]
            full = np.log(getattr(model, name))
            for i in range(0, 400, 80):
                rest = ritz.PCA(2, scale=scale).fit(np.delete(X, i, axis=0))
                moved = -399 * (np.log(getattr(rest, name)) - full)
                assert np.allclose(moved, u[i], atol=0.05 * (1 + np.abs(u[i])) + 0.05)


def test_integer_weights_are_copies(seed):
    rng = np.random.default_rng(seed)
    X, w = table(rng, 40, 5), rng.integers(1, 4, 40)
    weighted = insight.bootstrap(ritz.PCA(2).fit(X, sample_weight=w), X, 400, sample_weight=w)
    copies = np.repeat(X, w, axis=0)
    repeated = insight.bootstrap(ritz.PCA(2).fit(copies), copies, 400)
    assert weighted.n == w.sum() == repeated.n
    assert weighted.counts(3).sum() == w.sum()
    assert np.allclose(weighted.eigenvalues.estimate, repeated.eigenvalues.estimate)
    assert np.allclose(weighted.eigenvalues.error, repeated.eigenvalues.error, rtol=0.2)


def test_the_same_seed_gives_the_same_draws_and_handed_counts_are_used(seed):
    X = table(np.random.default_rng(seed), 30, 4)
    model = ritz.PCA(2).fit(X)
    a, b, c = (insight.bootstrap(model, X, 20, random_state=s) for s in (1, 1, 2))
    assert np.array_equal(a.draws, b.draws)
    assert not np.array_equal(a.draws, c.draws)
    given = np.stack([a.counts(i) for i in range(20)])
    assert np.array_equal(insight.bootstrap(model, X, 20, counts=given, random_state=9).draws, a.draws)


def test_rows_of_weight_zero_are_absent(seed):
    X = table(np.random.default_rng(seed), 40, 5)
    w = np.ones(40)
    w[7] = 0
    spoilt = X.copy()
    spoilt[7] = np.nan
    found = insight.bootstrap(ritz.PCA(2).fit(spoilt, sample_weight=w), spoilt, 30, sample_weight=w)
    assert all(found.counts(b)[7] == 0 for b in range(30))
    rest = np.delete(X, 7, axis=0)
    given = np.stack([np.delete(found.counts(b), 7) for b in range(30)])
    assert np.allclose(insight.bootstrap(ritz.PCA(2).fit(rest), rest, 30, counts=given).draws, found.draws)


def test_kept_scales_make_a_wide_draw_that_of_standardised_columns(seed):
    X = table(np.random.default_rng(seed), 20, 50)
    Z = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
    kept = insight.bootstrap(ritz.PCA(2, scale=True).fit(X), X, 10, rescale=False)
    plain = insight.bootstrap(ritz.PCA(2).fit(Z), Z, 10)
    assert np.allclose(kept.draws, plain.draws, rtol=1e-9)
    assert "scales" in repr(kept)


# ---------------------------------------------------------------------------------------------- intervals


def test_intervals_by_the_book():
    rng = np.random.default_rng(0)
    draws = rng.standard_normal((2, 1999)) + np.array([[0.0], [1.0]])
    found = interval(draws.copy(), np.array([0.0, 1.0]), 0.9, "percentile")
    assert np.allclose(found.low, np.sort(draws)[:, 99])
    assert np.allclose(found.high, np.sort(draws)[:, 1899])
    basic = interval(draws.copy(), np.array([0.5, 1.0]), 0.9, "basic")
    assert np.allclose(basic.low[0], 1.0 - found.high[0])
    # a median that equals the estimate needs no correction
    middle = np.median(draws, axis=1)
    assert np.allclose(interval(draws.copy(), middle, 0.9, "bc").low, found.low, atol=0.01)


def test_the_acceleration_of_a_variance_is_that_of_its_rows():
    x = np.random.default_rng(0).standard_exponential((500, 1))
    u = (x - x.mean()) ** 2 - x.var()
    assert acceleration(u)[0] == pytest.approx(np.sum(u**3) / (6 * np.sum(u**2) ** 1.5))
    twice = acceleration(u, np.full(500, 2.0))
    assert twice[0] == pytest.approx(acceleration(np.repeat(u, 2, axis=0))[0])


def test_studentized_intervals_are_symmetric_in_the_logarithm():
    rng = np.random.default_rng(0)
    draws = np.exp(rng.standard_normal((1, 999)) * 0.2) * 3.0
    found = studentized(draws, np.array([3.0]), 0.95, np.array([0.2]), np.full((1, 999), 0.2))
    assert np.log(found.high / 3.0) == pytest.approx(np.log(3.0 / found.low))
    assert np.log(found.high[0] / 3.0) == pytest.approx(1.96 * 0.2, rel=0.15)


def test_loadings_in_blocks_are_those_of_all_at_once(monkeypatch, seed):
    X = table(np.random.default_rng(seed), 20, 60)
    model = ritz.PCA(2).fit(X)
    whole = insight.bootstrap(model, X, 50).loadings
    monkeypatch.setattr(fields, "ENTRIES", 500)
    parts = insight.bootstrap(model, X, 50).loadings
    assert np.allclose(whole.low, parts.low)
    assert np.allclose(whole.high, parts.high)


@pytest.mark.slow
def test_coverage_of_separated_components_is_nominal():
    """Eighty tables of 100 rows: eigenvalues and shares studentized, loadings by percentiles; ±3 standard errors."""
    rng = np.random.default_rng(0)
    d, k, repeats = 6, 2, 80
    values = np.array([9.0, 3.0, 0.5, 0.5, 0.4, 0.3])
    V = np.linalg.qr(rng.standard_normal((d, d)))[0]
    V *= np.where(V[np.abs(V).argmax(axis=0), np.arange(d)] < 0, -1.0, 1.0)
    L = V[:, :k] * np.sqrt(values[:k])
    hits = {"eigenvalues": [], "shares": [], "loadings": []}
    for i in range(repeats):
        X = rng.standard_normal((100, d)) * np.sqrt(values) @ V.T
        model = ritz.PCA(k).fit(X)
        found = insight.bootstrap(model, X, 300, random_state=i)
        flip = np.sign(np.sum(model.components_ * V[:, :k].T, axis=1))
        hits["eigenvalues"].append(found.eigenvalues.covers(values[:k]))
        hits["shares"].append(found.shares.covers(values[:k] / values.sum()))
        hits["loadings"].append(found.loadings.covers(L * flip).mean(axis=0))
        assert found.separated[0]
    for name, held in hits.items():
        share = np.mean(held, axis=0)
        assert np.all(np.abs(share - 0.95) <= 3 * np.sqrt(0.95 * 0.05 / repeats) + 0.005), (name, share)


# -------------------------------------------------------------------------------------- near-equal eigenvalues


def test_equal_eigenvalues_are_reported_as_a_subspace_and_separate_ones_are_not():
    rng = np.random.default_rng(0)
    together = apart = 0
    for i in range(100):
        X = rng.standard_normal((150, 5)) * np.sqrt([12.0, 4.0, 4.0, 1.0, 0.2])
        found = insight.bootstrap(ritz.PCA(3).fit(X), X, 20, random_state=i)
        names = [group.name for group in found.groups]
        together += "PC2–PC3" in names
        apart += names[0] == "PC1" and not found.groups[-1].open
    assert together >= 88  # 95 % in the long run
    assert apart >= 97


def test_a_group_is_turned_inside_its_plane_and_named_in_words(seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((200, 6)) * np.sqrt([9.0, 3.0, 3.0, 0.5, 0.3, 0.1])
    model = ritz.PCA(3).fit(X)
    found = insight.bootstrap(model, X, 200)
    assert [group.name for group in found.groups] == ["PC1", "PC2–PC3"]
    plain = insight.bootstrap(model, X, 200, align="signs")
    assert found.components.error[1:].max() < 0.5 * plain.components.error[1:].max()
    alone = np.degrees(np.arccos(np.abs(found._drawn.turned[:, 1, 1])))
    assert found.groups[1].angle_high < 25 < np.quantile(alone, 0.95)
    assert found.separated.tolist() == [True, False, False]
    assert found.groups[1].eigenvalue.covers(3.0)
    assert "read these components as one subspace" in repr(found)
    assert found.subspaces[1, 0] > 2 * found.subspaces[2, 0]  # the first two would cut through the group


def test_rotation_turns_all_components_together(seed):
    X = table(np.random.default_rng(seed), 80, 6)
    model = ritz.PCA(3).fit(X)
    found = insight.bootstrap(model, X, 20, align="rotation")
    V = column_draws(found._drawn, found._T, loadings=False)(np.arange(6))
    for b in range(20):
        C = model.components_ @ V[:, :, b]
        assert np.allclose(C, C.T, atol=1e-10)  # the polar factor is taken out
        assert np.all(np.linalg.eigvalsh(C) > 0)


def test_a_component_that_is_not_separated_from_the_next_is_said_to_be(seed):
    X = np.random.default_rng(seed).standard_normal((100, 6)) * np.sqrt([9.0, 1.0, 1.0, 1.0, 1.0, 1.0])
    found = insight.bootstrap(ritz.PCA(2).fit(X), X, 20)
    assert found.groups[-1].open
    assert "not separated from the next component" in repr(found)


# ------------------------------------------------------------------------------------------- what comes back


def test_frames_keep_their_names_and_new_rows_are_projected(seed):
    import pandas as pd

    rng = np.random.default_rng(seed)
    X = pd.DataFrame(table(rng, 50, 4), columns=list("abcd"))
    model = ritz.PCA(2).fit(X)
    found = insight.bootstrap(model, X, 60)
    assert list(found.loadings.low.index) == list("abcd")
    assert np.allclose(found.loadings.estimate, insight.loadings(model))
    assert found.components.estimate.shape == (2, 4)
    assert np.allclose(found.scores.estimate, model.transform(X))
    new = found.project(X.iloc[:5])
    assert np.allclose(new.low, found.scores.low[:5])
    assert "60 draws of 50 rows" in repr(found)


def test_ellipses_are_those_of_the_draws(seed):
    X = table(np.random.default_rng(seed), 60, 5)
    found = insight.bootstrap(ritz.PCA(3).fit(X), X, 300)
    one = found.ellipses([7], components=(0, 2))[7]
    points = row_draws(found._drawn, found._T)(np.array([7]))[0][[0, 2]]
    assert np.allclose(one.center, found.scores.estimate[7, [0, 2]])
    assert np.allclose(one.covariance, np.cov(points))
    assert one.contains(points.T).mean() > 0.85
    assert len(found.ellipses()) == 60


def test_float32_sparse_and_file_rows(tmp_path, seed):
    from scipy.sparse import csr_array

    rng = np.random.default_rng(seed)
    X = rng.poisson(1.0, (60, 12)).astype(float) * np.geomspace(6, 1, 12)
    model = ritz.PCA(2).fit(X)
    plain = insight.bootstrap(model, X, 10)
    assert np.allclose(insight.bootstrap(ritz.PCA(2).fit(csr_array(X)), csr_array(X), 10).draws, plain.draws)
    narrow = X.astype(np.float32)
    assert np.allclose(insight.bootstrap(ritz.PCA(2).fit(narrow), narrow, 10).draws, plain.draws, rtol=1e-4)
    np.save(tmp_path / "x.npy", X)
    read = ritz.read(tmp_path / "x.npy")
    assert np.allclose(insight.bootstrap(ritz.PCA(2).fit(read), read, 10).draws, plain.draws)


# ---------------------------------------------------------------------------------------------------- errors


def test_what_cannot_be_drawn_from_is_refused(seed):
    X = table(np.random.default_rng(seed), 40, 5)
    model = ritz.PCA(2).fit(X)
    with pytest.raises(ValueError, match="the rows of the fit"):
        insight.bootstrap(model, X + X[:1] * np.linspace(0, 1, 40)[:, None])
    with pytest.raises(ValueError, match="has no bootstrap"):
        insight.bootstrap(ritz.KernelPCA(2).fit(X), X)
    with pytest.raises(MemoryError, match="draws from rows in memory"):
        insight.bootstrap(model, X, memory=1000)
    with pytest.raises(ValueError, match="level must be"):
        insight.bootstrap(model, X, level=95)
    with pytest.raises(ValueError, match="n_boot must be"):
        insight.bootstrap(model, X, 1)
    with pytest.raises(ValueError, match="align must be"):
        insight.bootstrap(model, X, align="sign")
    with pytest.raises(ValueError, match="method must be"):
        insight.bootstrap(model, X, method="t")
    with pytest.raises(ValueError, match="n_components must be from 1 to 2"):
        insight.bootstrap(model, X, n_components=3)
    with pytest.raises(ValueError, match="as many rows as the fit"):
        insight.bootstrap(model, X, 3, counts=np.full((3, 40), 2.0))
    with pytest.raises(ValueError, match="counts needs"):
        insight.bootstrap(model, X, 3, counts=np.ones((3, 2)))
    with pytest.raises(ValueError, match="too few different ones"):
        insight.bootstrap(ritz.PCA(4).fit(X[:8]), X[:8], n_components=4)
    with pytest.raises(ValueError, match="components must be two different"):
        insight.bootstrap(model, X, 5).ellipses([0], components=(0, 2))
