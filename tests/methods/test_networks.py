"""Autoencoders and the Boltzmann machine: what is known exactly, what is only measured, files, words."""

from __future__ import annotations

import itertools
import sys

import numpy as np
import pytest
import scipy.linalg
from sklearn.datasets import load_digits

import ritz
from ritz import insight

pytest.importorskip("torch")


def rows(n=200, d=6, k=2, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, k)) @ rng.standard_normal((k, d)) + 0.2 * rng.standard_normal((n, d))


def ring(n=300, seed=0):
    a = np.random.default_rng(seed).uniform(0, 2 * np.pi, n)
    return np.column_stack([2 * np.cos(a), 2 * np.sin(a), np.cos(2 * a)]) + 5


SMALL = {"hidden": (8,), "max_epochs": 40, "patience": 40, "learning_rate": 1e-2, "batch_size": 64}
QUIET = pytest.mark.filterwarnings("ignore:the autoencoder still became better")


@pytest.mark.parametrize("scale", [False, True])
@pytest.mark.parametrize("start", [0, 1])
def test_a_linear_network_ends_in_the_principal_plane(start, scale):
    X = rows() * [1, 2, 3, 1, 1, 1] + 1e4
    net = ritz.Autoencoder(2, init="random", random_state=start, scale=scale).fit(X)
    pca = ritz.PCA(2, scale=scale).fit(X)
    spread = 1.0 if net.scale_ is None else net.scale_
    plane = ((net.inverse_transform(np.eye(2)) - net.inverse_transform(np.zeros((1, 2)))) / spread).T
    angles = scipy.linalg.subspace_angles(plane, pca.components_.T)
    assert np.rad2deg(angles.max()) < 1e-3
    assert net.reconstruction_error_ == pytest.approx(pca.reconstruction_error()[-1] / 6, rel=1e-8)
    assert net.reconstruction_error_ >= net.pca_error_ * (1 - 1e-12)
    assert "cannot do better" in net.certificate_.notes[-1]
    assert net.verify(X)


def test_weights_of_a_linear_network_are_copies():
    X, w = rows(60), np.random.default_rng(0).integers(0, 4, 60)
    one = ritz.Autoencoder(2).fit(X, sample_weight=w)
    other = ritz.Autoencoder(2).fit(np.repeat(X, w, axis=0))
    assert one.reconstruction_error_ == pytest.approx(other.reconstruction_error_, rel=1e-10)
    np.testing.assert_allclose(one.explained_variance_, other.explained_variance_, rtol=1e-8)


@QUIET
def test_a_curved_surface_is_rebuilt_where_no_plane_can_and_the_same_each_time():
    X = ring()
    net = ritz.Autoencoder(2, **SMALL).fit(X)
    assert net.held_out_error_ < 0.1 * net.pca_held_out_error_
    again = ritz.Autoencoder(2, **SMALL).fit(X)
    np.testing.assert_array_equal(net.embedding_, again.embedding_)
    other = ritz.Autoencoder(2, random_state=1, **SMALL).fit(X)
    assert not np.array_equal(net.embedding_, other.embedding_)
    T = net.transform(X)
    np.testing.assert_allclose(T, net.embedding_, atol=1e-12)
    np.testing.assert_allclose(np.corrcoef(T.T)[0, 1], 0, atol=1e-10)
    assert net.explained_variance_[0] >= net.explained_variance_[1]
    fresh = ring(seed=9)
    kernel = ritz.KernelPCA(2, kernel="rbf", gamma="median").fit(X)
    table = insight.reconstruction_errors({"PCA": ritz.PCA(2).fit(X), "kernel PCA": kernel, "net": net}, fresh)
    assert table.mse[2] == pytest.approx(net.reconstruction_error(fresh).mean(), rel=1e-9)
    assert table.mse[2] < 0.1 * table.mse[0]
    assert str(table).splitlines()[3].startswith("net")


@QUIET
def test_held_out_rows_are_never_rebuilt_worse_than_by_pca_and_errors_are_told_as_they_are():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((80, 5))  # nothing to learn
    net = ritz.Autoencoder(2, hidden=(32,), max_epochs=30, patience=10, learning_rate=1e-2).fit(X)
    assert net.held_out_error_ <= net.pca_held_out_error_ * (1 + 1e-5)
    assert net.best_epoch_ <= net.n_iter_
    assert len(net.held_out_curve_) == net.n_iter_ + 1
    assert net.held_out_curve_.min() == pytest.approx(net.held_out_error_, rel=1e-4)
    np.testing.assert_allclose(net.reconstruction_error(X).mean(), net.reconstruction_error_, rtol=1e-10)
    assert any("no proof" in note for note in net.certificate_.notes)


@QUIET
@pytest.mark.parametrize("options", [{}, SMALL], ids=["linear", "hidden"])
def test_files_hold_the_network_and_need_no_torch(options, tmp_path, monkeypatch):
    X = ring()
    net = ritz.Autoencoder(2, **options).fit(X)
    ritz.save(net, tmp_path / "net.ritz")
    monkeypatch.setitem(sys.modules, "torch", None)
    again = ritz.load(tmp_path / "net.ritz")
    np.testing.assert_array_equal(again.transform(X), net.transform(X))
    np.testing.assert_array_equal(again.inverse_transform(net.embedding_), net.inverse_transform(net.embedding_))
    assert again.verify(X)
    again._record.decoder = [one * 1.01 for one in again._record.decoder]
    assert "rebuilt with an error" in str(again.verify(X))
    again._record.decoder = again._record.decoder[:1]
    ritz.save(again, tmp_path / "bad.ritz")
    with pytest.raises(ritz.FileError):
        ritz.load(tmp_path / "bad.ritz")
    with pytest.raises(ritz.MissingDependency, match="PyTorch"):
        ritz.Autoencoder(2, hidden=(4,)).fit(X)


@pytest.mark.parametrize(
    ("words", "options"),
    [
        ("from 1 to 3", {"n_components": 4}),
        ("hidden names the widths", {"hidden": (0,)}),
        ("activation must be one of", {"activation": "step"}),
        ("init must be one of", {"init": "zeros"}),
        ("validation must be a share", {"validation": 1.5}),
        ("max_epochs must be", {"max_epochs": 0}),
    ],
)
def test_what_cannot_be_meant_is_refused_in_words(words, options):
    with pytest.raises(ritz.ParameterError) as refused:
        ritz.Autoencoder(**{"n_components": 2, **options}).fit(ring())
    assert words in str(refused.value)


# the Boltzmann machine


def bits(n=200, seed=0):
    rng = np.random.default_rng(seed)
    left = rng.random(n) < 0.5
    X = np.column_stack([np.repeat(left[:, None], 3, 1), np.repeat(~left[:, None], 3, 1)]).astype(float)
    return np.where(rng.random(X.shape) < 0.03, 1 - X, X)


def test_energies_are_those_of_their_definition():
    X = bits()
    rbm = ritz.RBM(3, max_epochs=30).fit(X)
    W, b, c = rbm.components_.T, rbm.intercept_visible_, rbm.intercept_hidden_
    hidden = np.array(list(itertools.product([0, 1], repeat=3)), float)
    visible = np.array(list(itertools.product([0, 1], repeat=6)), float)
    joint = visible @ b[:, None] + (hidden @ c)[None] + visible @ W @ hidden.T
    Z = np.exp(joint).sum()
    assert rbm.log_partition_ == pytest.approx(np.log(Z), rel=1e-12)
    truth = -np.log(np.exp(joint).sum(axis=1))
    np.testing.assert_allclose(rbm.free_energy(visible), truth, rtol=1e-12)
    assert np.exp(rbm.score_samples(visible) - rbm.log_partition_).sum() == pytest.approx(1, abs=1e-12)
    assert rbm.log_likelihood_ == pytest.approx(np.mean(-rbm.free_energy(X)) - np.log(Z), rel=1e-12)
    share = np.exp(joint) / np.exp(joint).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(rbm.transform(visible), share @ hidden, rtol=1e-10)


def test_it_is_the_machine_of_scikit_learn_and_odd_rows_have_high_energies():
    from sklearn.metrics import roc_auc_score
    from sklearn.neural_network import BernoulliRBM

    X = bits()
    rbm = ritz.RBM(4, max_epochs=20, learning_rate=0.05).fit(X)
    other = BernoulliRBM(4, n_iter=20, learning_rate=0.05, random_state=0).fit(X)
    np.testing.assert_allclose(rbm.transform(X), other.transform(X), atol=1e-12)
    np.testing.assert_allclose(rbm.free_energy(X), other._free_energy(X), rtol=1e-10)
    odd = (np.random.default_rng(1).random((100, 6)) < 0.5).astype(float)
    kinds = np.r_[np.zeros(200), np.ones(100)]
    assert roc_auc_score(kinds, rbm.free_energy(np.r_[bits(seed=5), odd])) > 0.8
    back = rbm.inverse_transform(rbm.transform(X))
    assert ((back >= 0) & (back <= 1)).all()


def test_files_checks_and_words_of_the_machine(tmp_path):
    X = bits(60)
    rbm = ritz.RBM(2, max_epochs=5).fit(X)
    ritz.save(rbm, tmp_path / "rbm.ritz")
    again = ritz.load(tmp_path / "rbm.ritz")
    np.testing.assert_array_equal(again.free_energy(X), rbm.free_energy(X))
    assert again.verify(X)
    assert not again.verify(1 - X)
    assert any("no proof" in note for note in rbm.certificate_.notes)
    with pytest.raises(ritz.InputError, match=r"numbers in \[0, 1\]"):
        ritz.RBM(2).fit(X * 3)
    with pytest.raises(ritz.InputError, match=r"numbers in \[0, 1\]"):
        rbm.free_energy(-X)
    with pytest.raises(ritz.ParameterError, match="n_components must be a whole number"):
        ritz.RBM(0).fit(X)
    assert np.isnan(ritz.RBM(17, max_epochs=1).fit(X).log_partition_)


def test_a_map_is_judged_by_the_rows_as_the_network_saw_them():
    from sklearn.datasets import load_wine

    from ritz.methods.fitted import fitted_of

    X = load_wine().data
    model = ritz.Autoencoder(2, scale=True).fit(X)
    seen = fitted_of(model).compared(X)
    np.testing.assert_allclose(seen.std(axis=0, ddof=1), 1.0, rtol=1e-10)
    raw = ritz.Autoencoder(2).fit(X)
    np.testing.assert_array_equal(fitted_of(raw).compared(X), X)


def test_a_network_that_learned_nothing_says_so():
    from sklearn.datasets import load_wine

    model = ritz.Autoencoder(2, hidden=(8,), scale=True).fit(load_wine().data)
    told = any("the network is its start" in note for note in model.certificate_.notes)
    assert told == (model.best_epoch_ == 0)


def test_noise_is_weighed_against_the_machine():
    """Chances rest where both equations hold, follow the row as noise vanishes, and the machine as it grows."""
    rng = np.random.default_rng(0)
    X = np.repeat([[1.0, 1, 1, 0, 0, 0], [0, 0, 0, 1, 1, 1]], 60, axis=0)
    model = ritz.RBM(2, max_epochs=100).fit(X)
    noisy = X + 0.5 * rng.standard_normal(X.shape)
    V = model.denoise(noisy, 0.5, steps=1000)
    W, c, b = model.components_, model.intercept_hidden_, model.intercept_visible_
    hidden = 1 / (1 + np.exp(-(V @ W.T + c)))
    assert np.allclose(V, 1 / (1 + np.exp(-(b + hidden @ W + (2 * noisy - 1) / 0.5))), atol=1e-5)
    assert np.mean((V - X) ** 2) < 0.1 * np.mean((noisy - X) ** 2)
    assert np.array_equal(model.denoise(noisy, 1e-3) > 0.5, noisy > 0.5)
    with pytest.raises(ritz.RitzError, match="noise must be a positive number"):
        model.denoise(noisy, 0.0)
    with pytest.raises(ritz.RitzError, match="contains NaN"):
        model.denoise(np.where(noisy > 1, np.nan, noisy), 0.5)


def test_digits_lose_more_noise_than_where_rows_are_taken_at_their_word():
    X = load_digits().data[:700] / 16
    noisy = X + 0.3 * np.random.default_rng(0).standard_normal(X.shape)
    model = ritz.RBM(64, max_epochs=20).fit(X[:500])
    plain = model.inverse_transform(model.transform(np.clip(noisy[500:], 0, 1)))
    left = [np.mean((one - X[500:]) ** 2) for one in (model.denoise(noisy[500:], 0.45), plain, noisy[500:])]
    assert left[0] < 0.8 * left[1] < 0.8 * left[2]


def test_weights_of_several_sizes_are_no_rows_of_a_machine():
    X = np.random.default_rng(0).random((20, 3))
    with pytest.raises(ritz.RitzError, match="which rows take part"):
        ritz.RBM(2, max_epochs=2).fit(X, sample_weight=np.arange(20.0))
    some = ritz.RBM(2, max_epochs=2).fit(X, sample_weight=np.arange(20) % 2 * 3.0)
    assert np.array_equal(some.components_, ritz.RBM(2, max_epochs=2).fit(X[1::2]).components_)
