"""Outliers: p-values are uniform where nothing is wrong, false alarms are as rare as promised, and errors are found."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import ritz
from ritz import insight

SPREAD = np.r_[5, 4, 3, np.ones(5)]


def in_the_plane(seed=3):
    """A gross error of 25 standard deviations along a component that is kept."""
    rng = np.random.default_rng(seed)
    Y = rng.normal(size=(500, 6)) * [30, 20, 1, 1, 1, 1]
    Y[0], Y[0, 2] = 0, 25
    return Y


def off_the_plane(seed=3):
    """A gross error of 40 standard deviations along a direction that is left out."""
    rng = np.random.default_rng(seed)
    Y = rng.normal(size=(500, 6)) * [30, 20, 10, 1, 1, 1]
    Y[0, 4] = 40
    return Y


def normal(rng, n):
    return rng.standard_normal((n, 8)) * SPREAD


def heavy(rng, n):
    return rng.standard_t(3, (n, 8)) * SPREAD


# ------------------------------------------------------------------------------------------ the two steps


def test_benjamini_and_hochberg_by_the_book(seed):
    rng = np.random.default_rng(seed)
    for _ in range(50):
        p = np.round(rng.random(30) ** 3, 3)
        order = np.sort(p)
        r = max([i + 1 for i in range(30) if order[i] <= 0.1 * (i + 1) / 30], default=0)
        expected = p <= order[r - 1] if r else np.zeros(30, bool)
        assert np.array_equal(insight.benjamini_hochberg(p, 0.1), expected)
    assert not insight.benjamini_hochberg([np.nan, 0.001, np.nan], 0.05)[[0, 2]].any()


def test_conformal_p_values_by_the_book(seed):
    rng = np.random.default_rng(seed)
    known, new = rng.integers(0, 20, 50), rng.integers(0, 20, 30)
    expected = [(1 + np.sum(known >= s)) / 51 for s in new]
    assert np.allclose(insight.conformal_p(known, new), expected)


# ------------------------------------------------------------------------------------------ calibration


def p_values(draw, judge, rounds, seed):
    """One p-value a round, so that they are independent of each other."""
    rng = np.random.default_rng(1000 + seed)
    return np.array([judge(rng, draw) for _ in range(rounds)])


def split(rng, draw):
    model = ritz.PCA(3).fit(draw(rng, 60))
    return insight.outliers(model, draw(rng, 1), reference=draw(rng, 99)).p_values[0]


def crossed(rng, draw):
    X = draw(rng, 60)
    return insight.outliers(ritz.PCA(3).fit(X), draw(rng, 1), reference=X, folds=3).p_values[0]


def ranked(rng, draw):
    X = draw(rng, 60)
    return insight.outliers(ritz.PCA(3).fit(X), X, folds=3, tail=False).p_values[rng.integers(60)]


def kernel(rng, draw):
    X = draw(rng, 40)
    model = ritz.KernelPCA(4, kernel="rbf", gamma=0.02).fit(X)
    return insight.outliers(model, draw(rng, 1), folds=3).p_values[0]


@pytest.mark.parametrize("draw", [normal, heavy])
@pytest.mark.parametrize("judge", [split, crossed, ranked])
def test_p_values_are_uniform_whatever_the_distribution(seed, draw, judge):
    p = p_values(draw, judge, 150, seed)
    assert stats.kstest(p, "uniform").pvalue > 1e-3


def test_p_values_of_kernel_models_are_uniform(seed):
    p = p_values(heavy, kernel, 100, seed)
    assert stats.kstest(p, "uniform").pvalue > 1e-3


@pytest.mark.parametrize("of", ["t2", "spe", "combined"])
def test_p_values_without_reference_are_uniform_for_gaussian_rows(seed, of):
    p = p_values(normal, lambda rng, draw: _gaussian(rng, draw, of), 500, seed)
    assert stats.kstest(p, "uniform").pvalue > 1e-3
    assert np.mean(p < 0.05) == pytest.approx(0.05, abs=0.035)


def _gaussian(rng, draw, of):
    found = insight.outliers(ritz.PCA(3).fit(draw(rng, 100)), draw(rng, 1), of=of)
    assert found.method == "gaussian"
    return found.p_values[0]


def test_p_values_of_the_rows_of_a_fit_are_uniform_down_to_the_tail(seed):
    X = normal(np.random.default_rng(seed), 4000)
    found = insight.outliers(ritz.PCA(3).fit(X), X)
    assert found.method == "leave-out"
    for level in (0.5, 0.1, 0.05, 0.01):
        share = np.mean(found.p_values <= level)
        assert share == pytest.approx(level, abs=4 * np.sqrt(level * (1 - level) / 4000) + 0.1 * level)


@pytest.mark.parametrize(
    "model", [ritz.PCA(2), ritz.RobustPCA(2, method="robpca"), ritz.SparsePCA(2, n_nonzero=3, method="truncated-power")]
)
def test_clean_tables_of_gaussian_rows_rarely_have_an_odd_row(model):
    """The share of tables with a false alarm is what fdr promises when nothing is wrong, as far as few tables show."""
    rng = np.random.default_rng(1)
    alarms = [insight.outliers(model.fit(X), X, folds=5).mask.any() for X in (normal(rng, 120) for _ in range(40))]
    assert np.mean(alarms) <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 40)


@pytest.mark.parametrize("draw", [heavy, normal])
def test_pareto_tails_suit_every_distribution(draw):
    rng = np.random.default_rng(0)
    found = [
        insight.outliers(ritz.PCA(3).fit(X), X, folds=3, tail="pareto") for X in (draw(rng, 150) for _ in range(30))
    ]
    p = np.concatenate([one.p_values for one in found])
    for level in (0.25, 0.1, 0.05, 0.01):
        assert np.mean(p <= level) == pytest.approx(level, rel=0.5)
    assert np.mean([one.mask.any() for one in found]) < (0.2 if draw is normal else 0.4)
    X = normal(rng, 150)
    X[7] += 60
    assert insight.outliers(ritz.PCA(3).fit(X), X, tail="pareto").rows.tolist() == [7]


@pytest.mark.parametrize("way", ["split", "training", "kernel"])
def test_false_discoveries_are_as_rare_as_promised(seed, way):
    """Ten of a hundred rows are wrong; of those called odd no more than a share fdr are right, and most are found."""
    rng, fdr = np.random.default_rng(seed), 0.1
    shares, power = [], []
    for _ in range(16):
        X, wrong = normal(rng, 100), np.arange(100) < 10
        X[wrong] += rng.choice([-1, 1], (10, 8)) * 6
        if way == "split":
            model, reference = ritz.PCA(3).fit(normal(rng, 200)), normal(rng, 400)
            found = insight.outliers(model, X, fdr, reference=reference)
        elif way == "kernel":
            model = ritz.KernelPCA(4, kernel="rbf", gamma=0.01).fit(normal(rng, 300))
            found = insight.outliers(model, X, fdr, folds=4)
        else:
            found = insight.outliers(ritz.RobustPCA(3, method="robpca").fit(X), X, fdr)
        shares.append(np.sum(found.mask & ~wrong) / max(found.mask.sum(), 1))
        power.append(np.mean(found.mask[wrong]))
    assert np.mean(shares) < fdr + 3 * np.std(shares) / 4
    assert np.mean(power) > 0.8


# ------------------------------------------------------------------------------------------ gross errors


def test_a_gross_error_on_a_component_that_is_kept_is_found():
    Y = in_the_plane()
    model = ritz.PCA(3).fit(Y)
    assert insight.t2(model, Y)[0] > 200 * np.median(insight.t2(model, Y)) / 2
    assert insight.t2(model, Y)[0] > insight.limits(model, 0.001, "training").t2
    for of in ("t2", "combined"):
        found = insight.outliers(model, Y, of=of)
        assert found.rows[0] == 0
        assert found.mask.sum() <= 3
    assert insight.outliers(model, Y[:3]).rows[0] == 0


def test_a_gross_error_in_what_is_left_out_is_found():
    Y = off_the_plane()
    model = ritz.PCA(3).fit(Y)
    assert insight.spe(model, Y)[0] > insight.limits(model, 0.001, "training").spe
    assert insight.t2(model, Y)[0] < insight.limits(model, 0.001, "training").t2
    for of in ("spe", "combined"):
        found = insight.outliers(model, Y, of=of)
        assert found.rows[0] == 0
        assert found.mask.sum() <= 3
    scores = insight.outliers(ritz.KernelPCA(20, kernel="rbf", gamma=0.3).fit(Y / [30, 20, 10, 1, 1, 1]),
                              Y / [30, 20, 10, 1, 1, 1]).scores  # fmt: skip
    assert scores.argmax() == 0


# ------------------------------------------------------------------------------------------ where rows come from


def test_rows_of_the_fit_are_recognised(seed):
    rng = np.random.default_rng(seed)
    X = normal(rng, 80)
    w = rng.integers(1, 4, 80)
    assert insight.outliers(ritz.PCA(3).fit(X), X).method == "leave-out"
    assert insight.outliers(ritz.PCA(3).fit(X), X[:-1]).method == "gaussian"
    assert (
        insight.outliers(ritz.PCA(3, scale=True).fit(X.astype(np.float32)), X.astype(np.float32)).method == "leave-out"
    )
    assert insight.outliers(ritz.PCA(3).fit(X, sample_weight=w), X, sample_weight=w).method == "leave-out"
    assert insight.outliers(ritz.SVD(3).fit(X), X).method == "leave-out"
    assert insight.outliers(ritz.PCA().fit(X), X).method == "leave-out"
    assert insight.outliers(ritz.RobustPCA(3).fit(X), X).method == "leave-out"
    assert insight.outliers(ritz.RobustPCA(3).fit(X), X[:20]).method == "robust"
    assert insight.outliers(ritz.SparsePCA(3, n_nonzero=3).fit(X), X).method == "leave-out"
    kernel_model = ritz.KernelPCA(3, kernel="rbf", gamma=0.01).fit(X)
    assert insight.outliers(kernel_model, X).method == "leave-out"
    assert insight.outliers(kernel_model, X[:5]).method == "cross-conformal"
    assert insight.outliers(ritz.PCA(3).fit(X), X, rows="new").method == "gaussian"
    nystrom = ritz.KernelPCA(3, kernel="rbf", gamma=0.01, solver="nystrom", landmarks=30).fit(X)
    assert insight.outliers(nystrom, X[:5], reference=X).method == "cross-conformal"
    assert insight.outliers(nystrom, X[:5], reference=normal(rng, 80)).method == "conformal"


def test_integer_weights_equal_copies(seed):
    rng = np.random.default_rng(seed)
    X, w = normal(rng, 60), rng.integers(1, 3, 60)
    found = insight.outliers(ritz.PCA(2).fit(X, sample_weight=w), X, sample_weight=w, tail=False, folds=60)
    order = np.argsort(-found.scores)
    assert np.allclose(found.p_values[order], np.cumsum(w[order]) / w.sum())


def test_strings_and_kernel_matrices(seed):
    rng = np.random.default_rng(seed)
    words = ["".join(rng.choice(list("abcd"), 8)) for _ in range(40)] + ["zzzzzzzz"]
    model = ritz.KernelPCA(3, kernel=ritz.kernels.Spectrum(2)).fit(words)
    assert insight.outliers(model, words).scores.argmax() == 40
    X = normal(rng, 40)
    K = np.exp(-0.02 * ((X[:, None] - X) ** 2).sum(axis=2))
    one = insight.outliers(ritz.KernelPCA(3, kernel="precomputed").fit(K), K)
    two = insight.outliers(ritz.KernelPCA(3, kernel="rbf", gamma=0.02).fit(X), X)
    assert np.allclose(one.scores, two.scores, rtol=1e-6)


def test_the_correspondence_family():
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    N = rng.multinomial(200, [0.4, 0.3, 0.2, 0.05, 0.05], size=30)
    N[3] = [5, 5, 5, 90, 90]
    model = ritz.CA(2).fit(N)
    found = insight.outliers(model, N)
    assert found.method == "leave-out"
    assert found.scores.argmax() == found.p_values.argmin() == 3
    assert insight.outliers(model, N[:4], reference=N).method == "cross-conformal"
    with pytest.raises(ritz.InputError, match="reference=X_fit"):
        insight.outliers(model, N[:4])
    frame = pd.DataFrame({"a": list("xyxyxyxyxz") * 3, "b": list("uuvvuvuvvu") * 3, "c": rng.standard_normal(30)})
    frame.loc[0, "c"] = 30.0
    mixed = ritz.FAMD(2).fit(frame)
    assert insight.outliers(mixed, frame).scores.argmax() == 0


def test_rows_outside_memory(tmp_path):
    rng = np.random.default_rng(0)
    X = normal(rng, 6000)
    X[17] += 40
    np.save(tmp_path / "t.npy", X)
    table = ritz.read(tmp_path / "t.npy", memory=200_000)
    found = insight.outliers(ritz.PCA(3).fit(table), table)
    assert found.method == "leave-out"
    assert "2 parts" in found.notes[0]
    assert found.rows[0] == 17


def test_too_small_a_reference_is_said(seed):
    rng = np.random.default_rng(seed)
    X = normal(rng, 60)
    found = insight.outliers(ritz.PCA(3).fit(X), normal(rng, 200), reference=normal(rng, 50))
    assert found.resolution == pytest.approx(1 / 51)
    assert "compare with more" in found.notes[-1]
    assert "0 of 200 rows are outliers" in repr(found)


def test_refusals():
    X = normal(np.random.default_rng(0), 30)
    model = ritz.PCA(2).fit(X)
    with pytest.raises(ritz.ParameterError, match="fdr must be"):
        insight.outliers(model, X, 0)
    with pytest.raises(ritz.ParameterError, match="of must be one of"):
        insight.outliers(model, X, of="q")
    with pytest.raises(ritz.ParameterError, match="folds must be"):
        insight.outliers(model, X, folds=1)
    with pytest.raises(ritz.ParameterError, match="tail must be"):
        insight.outliers(model, X, tail="long")
    with pytest.raises(ritz.ParameterError, match="does not assume"):
        insight.outliers(ritz.KernelPCA(2, kernel="rbf").fit(X), X, tail="model")
    with pytest.raises(ritz.ParameterError, match="rows must be"):
        insight.outliers(model, X, rows="all")
    nystrom = ritz.KernelPCA(2, kernel="rbf", solver="nystrom", landmarks=10).fit(X)
    with pytest.raises(ritz.InputError, match="keeps no rows"):
        insight.outliers(nystrom, X[:5], rows="new")


# ------------------------------------------------------------------------------------------ the map


def test_the_outlier_map(seed):
    Y = off_the_plane(seed)
    model = ritz.PCA(3).fit(Y)
    found = insight.outlier_map(model, Y)
    assert found.kind[0] == "orthogonal outlier"
    assert np.allclose(found.score_distance**2, insight.t2(model, Y))
    assert np.allclose(found.orthogonal_distance**2, insight.spe(model, Y))
    bounds = insight.limits(model, 0.025, "training")
    assert found.score_cutoff == pytest.approx(np.sqrt(bounds.t2))
    assert sum(found.count().values()) == 500
    assert np.array_equal(found.mask, (insight.t2(model, Y) > bounds.t2) | (insight.spe(model, Y) > bounds.spe))
    assert "orthogonal outlier" in repr(found)


def test_scores_that_tie_to_rounding_are_not_odd():
    from ritz.insight.outliers.tails import pareto_tails, ranks

    scores = 0.7 + 1e-16 * np.random.default_rng(0).standard_normal(80)
    plain = ranks(scores, np.ones(80))
    known = np.ones(80, bool)
    assert np.array_equal(pareto_tails(plain, scores, known, 0), plain)
    scores[5] = 3.0
    found = pareto_tails(ranks(scores, np.ones(80)), scores, known, 0)
    assert int(np.argmin(found)) == 5
    assert np.sum(found < 1e-3) == 1
