"""T² and Q: against their definitions, in every form of rows; their limits against simulated Gaussian rows."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy import sparse, stats
from sklearn.decomposition import TruncatedSVD

import ritz
from ritz import insight
from ritz.insight.rows.limits_gauss import Thetas, spe_limit, tail, training

LAMBDA = np.r_[20, 10, 5, np.linspace(1.5, 0.5, 17)]


def gaussian(rng, n, spectrum=LAMBDA, turn=None, mean=0.0):
    rows = rng.standard_normal((n, len(spectrum))) * np.sqrt(spectrum)
    return (rows if turn is None else rows @ turn.T) + mean


def naive(X, k, *, center=True, scale=False, divisor=None):
    """T² and Q by the book, from a dense SVD."""
    n = len(X)
    mean = X.mean(axis=0) if center else np.zeros(X.shape[1])
    spread = X.std(axis=0, ddof=1) if scale else np.ones(X.shape[1])
    Z = (X - mean) / spread
    _, s, Vt = np.linalg.svd(Z, full_matrices=False)
    T = Z @ Vt[:k].T
    variance = s[:k] ** 2 / (divisor or n - 1)
    return (T**2 / variance).sum(axis=1), ((Z - T @ Vt[:k]) ** 2).sum(axis=1)


# ------------------------------------------------------------------------------------------------ definitions


@pytest.mark.parametrize(("center", "scale"), [(True, False), (True, True), (False, False)])
def test_they_are_what_they_are_called(seed, center, scale):
    X = np.random.default_rng(seed).standard_normal((60, 8)) @ np.diag([9, 7, 5, 3, 2, 1, 1, 1]) + 4
    model = ritz.PCA(3, center=center, scale=scale).fit(X)
    t2, spe = naive(X, 3, center=center, scale=scale)
    assert np.allclose(insight.t2(model, X), t2, rtol=1e-9)
    assert np.allclose(insight.spe(model, X), spe, rtol=1e-9)


def test_of_an_svd_they_are_about_zero(seed):
    X = np.random.default_rng(seed).standard_normal((60, 8)) + 2
    model = ritz.SVD(3).fit(X)
    t2, spe = naive(X, 3, center=False, divisor=60)
    assert np.allclose(insight.t2(model, X), t2, rtol=1e-9)
    assert np.allclose(insight.spe(model, X), spe, rtol=1e-9)


@pytest.mark.parametrize("model", [ritz.PCA(3), ritz.PCA(3, scale=True), ritz.PCA(3, center=False), ritz.SVD(3)])
def test_sparse_rows_give_the_same(seed, model):
    rng = np.random.default_rng(seed)
    X = np.where(rng.random((300, 40)) < 0.1, rng.standard_normal((300, 40)) + 1, 0.0)
    model.fit(X)
    for function in (insight.t2, insight.spe):
        assert np.allclose(function(model, sparse.csr_matrix(X)), function(model, X), rtol=1e-8, atol=1e-10)
    assert np.allclose(insight.blame(model, sparse.csr_matrix(X)), insight.blame(model, X), rtol=1e-8, atol=1e-10)


def test_rows_that_stay_in_a_file_give_the_same(tmp_path):
    X = np.random.default_rng(0).standard_normal((5000, 10)) @ np.diag(np.arange(1, 11))
    np.save(tmp_path / "t.npy", X)
    table = ritz.read(tmp_path / "t.npy", memory=200_000)
    assert table.lazy
    model, dense = ritz.PCA(3).fit(table), ritz.PCA(3).fit(X)
    assert np.allclose(insight.t2(model, table), insight.t2(dense, X), rtol=1e-9)
    assert np.allclose(insight.spe(model, table), insight.spe(dense, X), rtol=1e-9)
    assert insight.limits(model).spe == pytest.approx(insight.limits(dense).spe, rel=1e-9)


def test_integer_weights_equal_copies(seed):
    rng = np.random.default_rng(seed)
    X, w = rng.standard_normal((50, 6)), rng.integers(0, 4, 50)
    copies = np.repeat(X, w, axis=0)
    a, b = ritz.PCA(2).fit(X, sample_weight=w), ritz.PCA(2).fit(copies)
    assert np.allclose(insight.t2(a, X), insight.t2(b, X), rtol=1e-9)
    assert insight.limits(a, rows="training").spe == pytest.approx(insight.limits(b, rows="training").spe, rel=1e-9)
    c, e = ritz.SVD(2).fit(X, sample_weight=w), ritz.SVD(2).fit(copies)
    assert np.allclose(insight.t2(c, X), insight.t2(e, X), rtol=1e-9)


def test_a_large_mean_costs_no_digits():
    X = np.random.default_rng(0).standard_normal((200, 5)) @ np.diag([5, 4, 3, 2, 1])
    near, far = ritz.PCA(2).fit(X), ritz.PCA(2).fit(X + 1e8)
    assert np.allclose(insight.spe(far, X + 1e8), insight.spe(near, X), rtol=1e-6)


def test_float32_rows_come_close():
    X = np.random.default_rng(0).standard_normal((200, 8)) @ np.diag([50, 40, 3, 2, 1, 1, 1, 1])
    one, two = ritz.PCA(2).fit(X), ritz.PCA(2).fit(X.astype(np.float32))
    assert insight.spe(two, X.astype(np.float32)).dtype == np.float64
    assert np.allclose(insight.spe(two, X.astype(np.float32)), insight.spe(one, X), rtol=1e-4)


def test_a_linear_kernel_gives_the_distances_of_pca(seed):
    X = np.random.default_rng(seed).standard_normal((40, 6)) @ np.diag([5, 4, 3, 1, 1, 1]) + 3
    new = np.random.default_rng(seed + 1).standard_normal((9, 6))
    kernel, pca = ritz.KernelPCA(2, kernel="linear").fit(X), ritz.PCA(2).fit(X)
    for rows in (X, new):
        assert np.allclose(insight.t2(kernel, rows), insight.t2(pca, rows), rtol=1e-7)
        assert np.allclose(insight.spe(kernel, rows), insight.spe(pca, rows), rtol=1e-7)
    assert np.allclose(insight.spe(kernel, new), kernel.novelty(new))


def test_of_a_correspondence_analysis(seed):
    N = np.random.default_rng(seed).integers(1, 30, (12, 6))
    model = ritz.CA(2).fit(N)
    F = np.asarray(model.row_coordinates_)
    assert np.allclose(insight.t2(model, N), (F**2 / model.eigenvalues_).sum(axis=1))
    squares = model.row_inertias_ / model.row_masses_
    assert np.allclose(insight.spe(model, N), squares - (F**2).sum(axis=1), atol=1e-12)


def test_components_without_variance_belong_to_what_is_off_the_plane():
    X = np.random.default_rng(0).standard_normal((30, 3))
    X = np.column_stack([X, X[:, 0] - X[:, 1]])  # four columns, three dimensions
    model = ritz.PCA().fit(X)
    assert np.allclose(insight.t2(model, X), naive(X, 3)[0], rtol=1e-9)
    odd = X.mean(axis=0) + np.array([0, 0, 0, 1.0])
    assert insight.spe(model, [odd])[0] == pytest.approx(1 / 3)
    assert insight.t2(model, [odd])[0] < 3


def test_gaps_are_filled_by_a_model_that_can(seed):
    X = np.random.default_rng(seed).standard_normal((80, 5)) @ np.diag([5, 4, 1, 1, 1])
    holed = X.copy()
    holed[::7, 3] = np.nan
    model = ritz.PCA(2, missing="em").fit(holed)
    filled = model.impute(holed)
    assert np.allclose(insight.t2(model, holed), insight.t2(model, filled))
    with pytest.raises(ritz.NonFiniteError):
        insight.t2(ritz.PCA(2).fit(X), holed)


# ------------------------------------------------------------------------------------------------ limits


@pytest.mark.parametrize("alpha", [0.05, 0.01])
@pytest.mark.parametrize("options", [{}, {"scale": True}, {"center": False}], ids=str)
def test_limits_hold_for_rows_of_the_fit_and_for_new_ones(seed, alpha, options):
    rng = np.random.default_rng(100 + seed)
    n, turn = 10_000, np.linalg.qr(rng.standard_normal((20, 20)))[0]
    mean = 0.0 if options.get("center") is False else 5.0
    X, new = gaussian(rng, n, turn=turn, mean=mean), gaussian(rng, n, turn=turn, mean=mean)
    model = ritz.PCA(3, **options).fit(X)
    error = 4 * np.sqrt(alpha * (1 - alpha) / n)
    for rows, values in (("training", X), ("new", new)):
        bounds = insight.limits(model, alpha, rows)
        shares = {
            "t2": np.mean(insight.t2(model, values) > bounds.t2),
            "spe": np.mean(insight.spe(model, values) > bounds.spe),
            "combined": np.mean(insight.combined(model, values, bounds=bounds) > bounds.combined),
        }
        for name, share in shares.items():
            assert abs(share - alpha) < error, (rows, name, share)


@pytest.mark.parametrize(("n", "spectrum"), [(60, LAMBDA), (200, LAMBDA), (50, np.r_[100, 50, np.ones(100)])])
def test_limits_hold_for_few_rows(n, spectrum):
    """Where the textbook's limits are wrong by a factor of two: for few rows, and for more columns than rows."""
    rng, alpha, count = np.random.default_rng(0), 0.05, 120
    found = {}
    k = 3 if len(spectrum) == 20 else 2
    for _ in range(count):
        X, new = gaussian(rng, n, spectrum), gaussian(rng, 400, spectrum)
        model = ritz.PCA(k, mergeable=True).fit(X)
        for rows, values in (("training", X), ("new", new)):
            bounds = insight.limits(model, alpha, rows)
            found.setdefault((rows, "t2"), []).append(np.mean(insight.t2(model, values) > bounds.t2))
            found.setdefault((rows, "spe"), []).append(np.mean(insight.spe(model, values) > bounds.spe))
    for name, shares in found.items():
        error = 4 * np.std(shares) / np.sqrt(count)
        allowed = error if name != ("new", "spe") else error + 0.008  # θ's are estimates themselves
        assert abs(np.mean(shares) - alpha) < allowed, (name, np.mean(shares))


def test_limits_of_the_book():
    """k(n²−1)/(n(n−k))·F for new rows when nothing is left out, (n−1)²/n·Beta for rows of the fit."""
    X = np.random.default_rng(0).standard_normal((40, 4))
    model, n, k = ritz.PCA().fit(X), 40, 4
    new = k * (n**2 - 1) / (n * (n - k)) * stats.f.isf(0.05, k, n - k)
    training_limit = (n - 1) ** 2 / n * stats.beta.isf(0.05, k / 2, (n - k - 1) / 2)
    assert insight.limits(model).t2 == pytest.approx(new)
    assert insight.limits(model, rows="training").t2 == pytest.approx(training_limit)
    assert insight.limits(model).spe == 0
    wide = ritz.PCA().fit(X.T[:, :3].T)  # three rows in four columns
    assert insight.t2(wide, X.T[:, :3].T) == pytest.approx([4 / 3] * 3)
    assert insight.limits(wide, rows="training").t2 == pytest.approx(4 / 3)


def quantile(weights, alpha, draws=400_000):
    rng = np.random.default_rng(1)
    total = np.zeros(draws)
    for weight, count in zip(*np.unique(weights, return_counts=True), strict=True):
        total += weight * rng.chisquare(count, draws)
    return np.quantile(total, 1 - alpha)


SPECTRA = {
    "even": np.linspace(1.5, 0.5, 17), "single": np.array([1.0]), "steep": 0.8 ** np.arange(30),
    "spiked": np.r_[1.0, np.full(1000, 0.01)], "harmonic": 1 / np.arange(1, 31),
}  # fmt: skip


@pytest.mark.parametrize("name", SPECTRA)
def test_limits_of_q_against_a_simulated_sum(name):
    values = SPECTRA[name]
    t = Thetas.of(values)
    for alpha in (0.05, 0.01):
        limit, _ = spe_limit(t, alpha)
        assert limit == pytest.approx(quantile(values, alpha), rel=0.02)
        assert tail(t, np.array([limit]))[0] == pytest.approx(alpha, rel=1e-9)


def test_the_formulas_of_jackson_and_mudholkar_and_of_box():
    values = np.linspace(1.5, 0.5, 17)
    one, two, three = (float(np.sum(values**i)) for i in (1, 2, 3))
    h0 = 1 - 2 * one * three / (3 * two**2)
    c = stats.norm.isf(0.05)
    expected = one * (c * np.sqrt(2 * two * h0**2) / one + 1 + two * h0 * (h0 - 1) / one**2) ** (1 / h0)
    assert spe_limit(Thetas.of(values), 0.05, "jackson-mudholkar") == (pytest.approx(expected), "Jackson–Mudholkar")
    assert expected == pytest.approx(quantile(values, 0.05), rel=0.01)
    spiked = SPECTRA["spiked"]  # h₀ < 0
    one, two = float(np.sum(spiked)), float(np.sum(spiked**2))
    expected = two / one * stats.chi2.isf(0.05, one**2 / two)
    assert spe_limit(Thetas.of(spiked), 0.05, "jackson-mudholkar") == (pytest.approx(expected), "Box")
    model = ritz.PCA(2).fit(gaussian(np.random.default_rng(0), 2000))
    ours, theirs = insight.limits(model), insight.limits(model, formula="jackson-mudholkar")
    assert ours.spe == pytest.approx(theirs.spe, rel=0.03)
    assert ours.spe != theirs.spe


def test_q_of_rows_of_the_fit_has_exactly_those_cumulants(seed):
    """Σ λⱼ gⱼ²/Σ g² over a sphere: its mean and variance by simulation."""
    values, n = np.array([3.0, 2.0, 1.0]), 12
    g = np.random.default_rng(seed).standard_normal((400_000, n - 1)) ** 2
    q = (n - 1) ** 2 / n * (g[:, :3] @ values) / g.sum(axis=1)
    t = training(Thetas.of(values), n, n - 1, centered=True)
    assert t.one == pytest.approx(q.mean(), rel=0.01)
    assert 2 * t.two == pytest.approx(q.var(), rel=0.02)
    assert 8 * t.three == pytest.approx(np.mean((q - q.mean()) ** 3), rel=0.05)


def test_the_rest_of_the_spectrum_from_wherever_it_can_be_had(seed, monkeypatch):
    from ritz.insight.rows import limits_rest

    rng = np.random.default_rng(seed)
    X = gaussian(rng, 150, np.r_[50, 20, 3 * 0.9 ** np.arange(58)])
    truth = insight.limits(ritz.PCA(2).fit(X)).spe
    assert insight.limits(ritz.PCA(2, mergeable=False).fit(X)).spe == pytest.approx(
        truth, rel=1e-9
    )  # all were computed
    X = gaussian(rng, 150, np.r_[50, 20, 3 * 0.9 ** np.arange(118)])
    truth = insight.limits(ritz.PCA(2, mergeable=True).fit(X)).spe
    bare = ritz.PCA(2, mergeable=False).fit(X)
    with pytest.raises(ritz.InputError, match="limits\\(model, X=X\\)"):
        insight.limits(bare)
    assert insight.limits(bare, X=X).spe == pytest.approx(truth, rel=1e-9)
    monkeypatch.setattr(limits_rest, "LARGEST", 155)
    wide = gaussian(rng, 150, np.r_[50, 20, 3 * 0.9 ** np.arange(158)])
    truth = insight.limits(ritz.PCA(2, mergeable=True).fit(wide)).spe
    bare = ritz.PCA(2, mergeable=False).fit(wide)
    assert insight.limits(bare, X=wide).spe == pytest.approx(truth, rel=1e-9)  # from the residual rows
    monkeypatch.setattr(limits_rest, "LARGEST", 10)
    probed = insight.limits(bare, X=wide)  # from random probes
    assert probed.spe == pytest.approx(truth, rel=0.05)
    assert any("random probes" in note for note in probed.notes)


def test_conformal_limits_hold_for_any_distribution(seed):
    rng = np.random.default_rng(seed)
    X, new = (rng.standard_t(3, (2000, 5)) * [5, 4, 1, 1, 1] for _ in range(2))
    model = ritz.PCA(2).fit(X)
    bounds = insight.limits(model, 0.05, X=X, method="conformal")
    assert np.mean(insight.t2(model, new) > bounds.t2) == pytest.approx(0.05, abs=0.025)
    assert np.mean(insight.spe(model, new) > bounds.spe) == pytest.approx(0.05, abs=0.025)
    assert np.mean(insight.combined(model, new, bounds=bounds) > bounds.combined) == pytest.approx(0.05, abs=0.025)


def test_kernel_models_have_conformal_limits(seed):
    rng = np.random.default_rng(seed)
    X, new = rng.standard_normal((300, 2)), rng.standard_normal((2000, 2))
    model = ritz.KernelPCA(5, kernel="rbf", gamma=0.5).fit(X)
    bounds = insight.limits(model, 0.1)  # the model keeps its rows
    assert bounds.method == "conformal"
    assert np.mean(insight.spe(model, new) > bounds.spe) == pytest.approx(0.1, abs=0.05)
    own = insight.limits(model, 0.1, "training")
    assert np.mean(insight.spe(model, X) > own.spe) == pytest.approx(0.1, abs=0.01)
    assert own.spe < bounds.spe  # rows of the fit lie nearer to their plane


# ------------------------------------------------------------------------------------------------ goldens


@pytest.mark.shared
@pytest.mark.parametrize("name", ["Ionosphere", "WDBC", "mammography", "satellite"])
@pytest.mark.filterwarnings("ignore::ritz.ConstantColumnWarning")
def test_they_rank_rows_as_the_reference_results_do(shared, name):
    """Area under the ROC curve of Q at 90 % of the variance and of T² with all components, as others computed them."""
    from sklearn.metrics import roc_auc_score

    with np.load(shared / "outliers" / f"{name}.npz") as file:
        held = dict(file)
    golden = json.loads((shared / "outliers" / "pyod_pca.json").read_text())["results"][name]
    X, y = held["X"], held["y"]
    model, whole = ritz.PCA(0.9, scale=True).fit(X), ritz.PCA(scale=True).fit(X)
    assert model.n_components_ == golden["recon90_k"]
    assert roc_auc_score(y, insight.spe(model, X)) == pytest.approx(golden["recon90_auroc"], abs=1e-4)
    assert roc_auc_score(y, insight.t2(whole, X)) == pytest.approx(golden["mahalanobis_auroc"], abs=1e-4)


# ------------------------------------------------------------------------------------------------ words


def test_refusals():
    X = np.random.default_rng(0).standard_normal((20, 4))
    model = ritz.PCA(2).fit(X)
    with pytest.raises(ritz.ParameterError, match="alpha must be"):
        insight.limits(model, 1.5)
    with pytest.raises(ritz.ParameterError, match="rows must be"):
        insight.limits(model, rows="old")
    with pytest.raises(ritz.ParameterError, match="method must be"):
        insight.limits(model, method="guess")
    with pytest.raises(ritz.ParameterError, match="formula must be"):
        insight.limits(model, formula="guess")
    stranger = TruncatedSVD(2).fit(X)
    with pytest.raises(ritz.ParameterError, match="expected a fitted model of Ritz"):
        insight.t2(stranger, X)
    table = np.abs(X).round(1) + 1
    with pytest.raises(ritz.ParameterError, match="not Gaussian"):
        insight.limits(ritz.CA(2).fit(table), method="gaussian")
    with pytest.raises(ritz.InputError, match="limits\\(model, X=X\\)"):
        insight.limits(ritz.CA(2).fit(table))
    with pytest.raises(ritz.InputError, match="4 features"):
        insight.t2(model, X[:, :3])


def test_names_are_functions_whatever_was_imported():
    import importlib

    for name in ("rows.t2", "outliers", "compare", "bootstrap", "bootstrap.draws"):
        importlib.import_module(f"ritz.insight.{name}")
    for name in ("t2", "outliers", "compare", "bootstrap"):
        assert callable(getattr(insight, name))
    assert set(insight.__all__) <= set(dir(insight))
