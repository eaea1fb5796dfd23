"""RobustPCA: planted bad rows and bad entries, rrcov's results, and the conventions of the family."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy import sparse

import ritz
from ritz import insight
from ritz.data.passes.blocks import blocks_of
from ritz.methods.robust_pca.location import mad, median, univariate_mcd
from ritz.methods.robust_pca.mcd import least_determinant
from ritz.methods.robust_pca.spatial_median import spatial_median
from ritz.testing.angles import largest_sine

METHODS = ("spherical", "robpca", "pcp")


def contaminated(rng, n=300, d=8, share=0.15, far=30.0):
    """Rows in a plane of three dimensions, and a share of rows in a heap far off it."""
    V = np.linalg.qr(rng.standard_normal((d, d)))[0]
    X = rng.standard_normal((n, d)) * np.r_[5, 4, 3, np.full(d - 3, 0.4)]
    bad = np.arange(n) < share * n
    X[bad] = rng.standard_normal((bad.sum(), d)) * 0.3 + far * np.eye(d)[4]
    return X @ V.T + 10, V[:, :3], bad


def off(model, plane):
    """Degrees between the planes."""
    return np.degrees(np.arcsin(min(largest_sine(model.components_.T, plane), 1.0)))


# ------------------------------------------------------------------------------------------ small parts


def test_the_spatial_median_is_the_least_sum_of_distances(seed):
    from scipy.optimize import minimize

    X = np.random.default_rng(seed).standard_t(2, (40, 3))
    found = spatial_median(blocks_of(X), np.median(X, axis=0), None, None)
    best = minimize(lambda m: np.linalg.norm(X - m, axis=1).sum(), X.mean(axis=0), options={"gtol": 1e-10})
    assert np.allclose(found.high, best.x, atol=1e-6)
    assert 1 < found.steps < 1000
    heap = np.vstack([np.zeros((30, 2)), [[1, 0], [0, 1], [5, 5]]])  # most rows are one point
    assert not spatial_median(blocks_of(heap), heap.mean(axis=0), None, None).high.any()


def test_medians_of_frequencies_are_those_of_copies(seed):
    rng = np.random.default_rng(seed)
    X, w = rng.standard_normal((25, 4)).round(1), rng.integers(0, 4, 25)
    copies = np.repeat(X, w, axis=0)
    assert np.array_equal(median(X, w), np.median(copies, axis=0))
    assert np.array_equal(mad(X, w), mad(copies))
    assert np.all(np.abs(mad(rng.standard_normal((4000, 3))) - 1) < 0.1)


def test_the_univariate_mcd_is_the_window_of_least_variance(seed):
    rng = np.random.default_rng(seed)
    y = rng.standard_normal(2000)
    place, spread = univariate_mcd(y[:, None], 1500)
    assert abs(place[0]) < 0.15
    assert spread[0] == pytest.approx(1, abs=0.08)
    y[:400] = 50
    place, spread = univariate_mcd(y[:, None], 1500)
    assert abs(place[0]) < 0.15
    assert spread[0] == pytest.approx(1, abs=0.2)


def test_the_least_determinant_is_found(seed):
    """Every subset of a small table is tried."""
    from itertools import combinations

    Y = np.random.default_rng(seed).standard_normal((12, 2))
    Y[:3] += 20
    best = min(combinations(range(12), 9), key=lambda rows: np.linalg.det(np.cov(Y[list(rows)].T)))
    assert sorted(least_determinant(Y, 9).tolist()) == list(best)


# ------------------------------------------------------------------------------------------ bad rows


def test_one_bad_row_does_not_own_the_first_axis(seed):
    X, plane, _ = contaminated(np.random.default_rng(seed), share=0.0)
    X[0] = 10 + 1e4
    assert np.abs(ritz.PCA(3).fit(X).components_[0] @ np.ones(8) / np.sqrt(8)) > 0.99
    for method in ("spherical", "robpca"):
        model = ritz.RobustPCA(3, method=method).fit(X)
        assert off(model, plane) < 10
        assert insight.outliers(model, X).rows[0] == 0


@pytest.mark.parametrize("d", [8, 60])
def test_robpca_finds_bad_rows_where_pca_is_turned_by_them(seed, d):
    X, plane, bad = contaminated(np.random.default_rng(seed), d=d)
    classical, robust = ritz.PCA(3).fit(X), ritz.RobustPCA(3, method="robpca").fit(X)
    assert off(classical, plane) > 60
    assert off(robust, plane) < 10
    assert not insight.outlier_map(classical, X).mask[bad].any()
    found = insight.outlier_map(robust, X)
    assert found.mask[bad].all()
    assert found.mask[~bad].mean() < 0.15
    assert not robust.support_[bad].any()
    assert robust.explained_variance_ == pytest.approx([25, 16, 9], rel=0.35)


def test_more_than_a_quarter_of_bad_rows_needs_less_coverage(seed):
    X, plane, _ = contaminated(np.random.default_rng(seed), share=0.33)
    assert off(ritz.RobustPCA(3, method="robpca").fit(X), plane) > 45
    assert off(ritz.RobustPCA(3, method="robpca", coverage=0.6).fit(X), plane) < 15


def test_clean_rows_are_analysed_as_pca_does(seed):
    X, _, _ = contaminated(np.random.default_rng(seed), n=2000, share=0.0)
    classical = ritz.PCA(3).fit(X)
    for method in ("spherical", "robpca"):
        model = ritz.RobustPCA(3, method=method).fit(X)
        assert off(model, classical.components_.T) < 5
        assert model.explained_variance_ == pytest.approx(classical.explained_variance_, rel=0.2)
        assert model.explained_variance_ratio_ == pytest.approx(classical.explained_variance_ratio_, abs=0.05)
        assert model.mean_ == pytest.approx(classical.mean_, abs=0.5)
        assert insight.outlier_map(model, X).mask.mean() < 0.12


@pytest.mark.shared
class TestHawkinsBraduKass:
    """75 rows, of which 14 are planted: rrcov's results, and what it takes to find them."""

    @pytest.fixture
    def rows(self, shared):
        return np.loadtxt(shared / "hbk" / "data.csv", delimiter=",", skiprows=1)[:, :3]

    @pytest.fixture
    def golden(self, shared):
        return json.loads((shared / "hbk" / "rrcov_pca.json").read_text())

    def test_pca_finds_two_of_the_fourteen(self, rows, golden):
        model = ritz.PCA(2).fit(rows)
        assert np.allclose(model.explained_variance_, golden["classic"]["eigenvalues"])
        found = insight.outlier_map(model, rows).mask
        assert np.array_equal(~found, golden["classic"]["flag_regular"])
        assert found.sum() == 2

    def test_robpca_finds_all_and_nothing_else(self, rows, golden):
        theirs = golden["hubert"]
        model = ritz.RobustPCA(2, method="robpca").fit(rows)
        assert np.allclose(model.mean_, theirs["center"], atol=1e-10)
        loadings = np.array(theirs["loadings"]["values"])
        assert np.allclose(np.abs(model.components_ @ loadings), np.eye(2), atol=1e-10)
        # their variances hold a factor for the 14 rows that were left out as if these had been normal
        assert np.ptp(model.explained_variance_ / theirs["eigenvalues"]) < 1e-10
        found = insight.outlier_map(model, rows)
        assert found.orthogonal_cutoff == pytest.approx(theirs["cutoff_od"], rel=1e-5)  # 1/1.4826 for the MAD
        assert found.score_cutoff == pytest.approx(theirs["cutoff_sd"], rel=1e-9)
        assert np.allclose(found.orthogonal_distance, theirs["od"]["values"], atol=1e-9)
        assert np.array_equal(~found.mask, theirs["flag_regular"])
        assert np.flatnonzero(found.mask).tolist() == list(range(14))
        assert sorted(insight.outliers(model, rows).rows.tolist()) == list(range(14))

    def test_spherical_finds_all(self, rows, golden):
        theirs = golden["locantore"]
        model = ritz.RobustPCA(2, method="spherical").fit(rows)
        assert np.allclose(model.mean_, theirs["center"], atol=2e-3)  # theirs stops early
        loadings = np.array(theirs["loadings"]["values"])
        assert np.allclose(np.abs(model.components_ @ loadings), np.eye(2), atol=1e-3)
        assert sorted(insight.outliers(model, rows).rows.tolist()) == list(range(14))
        assert insight.outlier_map(model, rows).mask[:14].all()


@pytest.mark.shared
def test_robust_distances_rank_rows_better_than_classical_ones(shared):
    """Area under the ROC curve of Q on two public tables with labelled outliers."""
    from sklearn.metrics import roc_auc_score

    for name, least in (("WDBC", 0.08), ("satellite", 0.1)):
        with np.load(shared / "outliers" / f"{name}.npz") as file:
            held = dict(file)
        golden = json.loads((shared / "outliers" / "pyod_pca.json").read_text())["results"][name]
        model = ritz.RobustPCA(golden["recon90_k"], method="robpca", scale=True).fit(held["X"])
        assert roc_auc_score(held["y"], insight.spe(model, held["X"])) > golden["recon90_auroc"] + least


# ------------------------------------------------------------------------------------------ bad entries


@pytest.mark.parametrize(("n", "d", "rank"), [(200, 100, 5), (80, 150, 4)])
def test_pursuit_recovers_a_low_rank_table_with_gross_errors(seed, n, d, rank):
    rng = np.random.default_rng(seed)
    low = rng.standard_normal((n, rank)) @ rng.standard_normal((rank, d))
    where = rng.random((n, d)) < 0.1
    X = low + where * rng.choice([-1, 1], (n, d)) * rng.uniform(1, 50, (n, d))
    model = ritz.RobustPCA(method="pcp").fit(X)
    assert np.linalg.norm(model.low_rank_ - low) < 1e-6 * np.linalg.norm(low)
    assert np.linalg.norm(model.sparse_ - (X - low)) < 1e-6 * np.linalg.norm(X - low)
    assert model.gap_ < 1e-5
    plane = np.linalg.svd(low - low.mean(axis=0))[2][:rank].T
    assert largest_sine(model.components_[:rank].T, plane) < 1e-5
    assert off(ritz.PCA(rank).fit(X), plane) > 10
    assert np.allclose(ritz.PCA(rank).fit(low).explained_variance_, model.explained_variance_[:rank], rtol=1e-5)


def test_a_large_offset_does_not_harm_the_pursuit(seed):
    rng = np.random.default_rng(seed)
    low = rng.standard_normal((150, 3)) @ rng.standard_normal((3, 60))
    X = low + (rng.random((150, 60)) < 0.03) * rng.choice([-20, 20], (150, 60))
    near, far = (ritz.RobustPCA(3, method="pcp").fit(X + offset) for offset in (0, 1e6))
    assert np.linalg.norm(near.low_rank_ - low) < 1e-6 * np.linalg.norm(low)
    assert np.linalg.norm(far.low_rank_ - 1e6 - low) < 1e-4 * np.linalg.norm(low)
    assert np.allclose(near.components_, far.components_, atol=1e-4)


@pytest.mark.parametrize("method", ["spherical", "robpca", "pcp"])
def test_every_method_counts_its_iterations(method, seed, tmp_path):
    model = ritz.RobustPCA(2, method=method).fit(np.random.default_rng(seed).standard_normal((40, 6)))
    assert model.n_iter_ >= 1
    ritz.save(model, tmp_path / "model.ritz")
    assert ritz.load(tmp_path / "model.ritz").n_iter_ == model.n_iter_


def test_pursuit_says_when_it_is_not_done(seed):
    X = np.random.default_rng(seed).standard_normal((30, 10))
    with pytest.warns(ritz.AccuracyWarning, match="max_iter=6"):
        model = ritz.RobustPCA(2, method="pcp", max_iter=3).fit(X)
    assert model.n_iter_ == 3
    assert model.gap_ > 1e-8


# ------------------------------------------------------------------------------------------ the family


@pytest.mark.parametrize("method", METHODS)
def test_results_have_the_names_and_meanings_of_pca(seed, method):
    X, _, _ = contaminated(np.random.default_rng(seed), n=120)
    model = ritz.RobustPCA(3, method=method, scale=method == "spherical").fit(X)
    V = model.components_
    assert np.allclose(V @ V.T, np.eye(3), atol=1e-10)
    assert np.all(np.diff(model.explained_variance_) <= 0)
    assert np.allclose(model.singular_values_, np.sqrt(model.explained_variance_ * 119))
    assert model.explained_variance_ratio_.sum() <= 1
    assert model.total_variance_ >= model.explained_variance_.sum()
    units = 1.0 if model.scale_ is None else model.scale_
    assert np.allclose(model.transform(X), (X - model.mean_) / units @ V.T)
    assert np.allclose(model.inverse_transform(model.transform(X)), model.transform(X) @ V * units + model.mean_)
    assert (model.n_components_, model.n_samples_, model.n_features_in_) == (3, 120, 8)
    assert np.allclose(model.get_covariance() @ model.get_precision(), np.eye(8), atol=1e-6)
    assert model.score(X) == pytest.approx(np.mean(model.score_samples(X)))
    assert model.get_feature_names_out().tolist() == ["robustpca0", "robustpca1", "robustpca2"]


@pytest.mark.parametrize("method", METHODS)
def test_the_certificate_can_be_verified(seed, method):
    rng = np.random.default_rng(seed)
    X, _, _ = contaminated(rng, n=120, d=14)
    model = ritz.RobustPCA(3, method=method).fit(X)
    assert model.verify(X)
    assert model.plan_.actual_seconds is not None
    if method != "pcp":
        assert not model.verify(X + rng.standard_normal(X.shape))
    w = rng.integers(1, 4, 120)
    weighted = ritz.RobustPCA(3, method=method).fit(X, sample_weight=w)
    assert weighted.verify(X, w)


@pytest.mark.parametrize("method", METHODS)
def test_integer_weights_equal_copies_and_order_does_not_matter(seed, method):
    rng = np.random.default_rng(seed)
    X, _, _ = contaminated(rng, n=60, d=12)
    w = rng.integers(0, 3, 60)
    a = ritz.RobustPCA(2, method=method).fit(X, sample_weight=w)
    b = ritz.RobustPCA(2, method=method).fit(np.repeat(X, w, axis=0))
    c = ritz.RobustPCA(2, method=method).fit(np.repeat(X, w, axis=0)[rng.permutation(w.sum())])
    for other in (b, c):
        assert np.allclose(a.components_, other.components_, atol=1e-5)
        assert np.allclose(a.explained_variance_, other.explained_variance_, rtol=1e-5)
        assert np.allclose(a.mean_, other.mean_, atol=1e-5)


def test_sparse_rows_and_files_give_the_same(seed, tmp_path):
    rng = np.random.default_rng(seed)
    X = np.where(rng.random((400, 30)) < 0.15, rng.standard_normal((400, 30)) + 2, 0.0)
    for method in METHODS:
        dense = ritz.RobustPCA(3, method=method, tol=1e-5).fit(X)
        csr = ritz.RobustPCA(3, method=method, tol=1e-5).fit(sparse.csr_matrix(X))
        assert np.allclose(dense.components_, csr.components_, atol=1e-7)
        assert np.allclose(dense.transform(X), csr.transform(sparse.csr_matrix(X)), atol=1e-7)
    Y, _, _ = contaminated(rng, n=4000)
    np.save(tmp_path / "t.npy", Y[rng.permutation(4000)])
    table = ritz.read(tmp_path / "t.npy", memory=200_000)
    assert table.lazy
    streamed, whole = ritz.RobustPCA(3).fit(table), ritz.RobustPCA(3, method="spherical").fit(Y)
    assert np.allclose(streamed.components_, whole.components_, atol=1e-6)
    assert any("spread evenly" in note for note in streamed.certificate_.notes)
    assert np.allclose(np.sort(insight.spe(streamed, table)), np.sort(insight.spe(whole, Y)), rtol=1e-4, atol=1e-6)
    with pytest.raises(ritz.InputError, match="method='spherical' reads any size"):
        ritz.RobustPCA(3, method="robpca").fit(table)


def test_the_number_of_components(seed):
    X, _, _ = contaminated(np.random.default_rng(seed), share=0.1)
    for method in METHODS[:2]:
        model = ritz.RobustPCA(0.9, method=method).fit(X)
        whole = ritz.RobustPCA(method=method).fit(X)
        assert whole.n_components_ == 8
        share = np.cumsum(whole.explained_variance_) / whole.explained_variance_.sum()
        assert model.n_components_ == np.argmax(share > 0.9) + 1
    assert ritz.RobustPCA("kaiser", method="robpca").fit(X).n_components_ == 3
    with pytest.raises(ritz.ParameterError, match="makes no sense"):
        ritz.RobustPCA("mle").fit(X)


def test_constant_rows_and_columns(seed):
    X = np.random.default_rng(seed).standard_normal((50, 4))
    X[:, 2] = 7
    for method in METHODS:
        model = ritz.RobustPCA(method=method, tol=1e-4).fit(X)
        assert np.allclose(model.components_[:, 2], 0, atol=1e-8)
        same = ritz.RobustPCA(1, method=method).fit(np.ones((10, 3)))
        assert np.allclose(same.explained_variance_, 0)
        assert np.allclose(same.transform(np.ones((2, 3))), 0)
    with pytest.warns(ritz.ConstantColumnWarning, match="columns 2"):
        ritz.RobustPCA(2, scale=True).fit(X)


def test_refusals():
    X = np.random.default_rng(0).standard_normal((20, 4))
    for options, words in (
        ({"method": "magic"}, "method must be one of"),
        ({"scale": "mad"}, "scale must be"),
        ({"coverage": 0.2}, "coverage must be"),
        ({"directions": 0}, "directions must be"),
        ({"penalty": -1}, "penalty must be"),
        ({"n_components": 9}, "n_components=9"),
        ({"device": "gpu"}, "device must be"),
    ):
        with pytest.raises(ritz.ParameterError, match=words):
            ritz.RobustPCA(**options).fit(X)
    with pytest.raises(ritz.InputError, match="n_samples=1"):
        ritz.RobustPCA().fit(X[:1])
    with pytest.raises(ritz.InputError, match="whole numbers"):
        ritz.RobustPCA(2, method="robpca").fit(X, sample_weight=np.full(20, 0.5))
    with pytest.raises(ritz.NonFiniteError):
        ritz.RobustPCA(2).fit(np.where(X > 2, np.nan, X))
    with pytest.raises(ritz.MemoryLimitError, match="method='spherical'"):
        ritz.RobustPCA(2, method="pcp", memory=1000).fit(X)
