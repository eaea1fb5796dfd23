"""Independent components: R's results, large means, stationarity, steadiness, files."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import ritz
from ritz.methods.ica import rotate
from ritz.methods.ica.rotate import gradient, has_picard

GOLDEN = Path(__file__).parents[1] / "golden" / "sources"
BOTH = [pytest.param("picard", marks=pytest.mark.skipif(not has_picard(), reason="python-picard is not here")),
        "fastica"]  # fmt: skip


def table(name):
    X = pd.read_csv(GOLDEN / f"{name}.csv").drop(columns="id").select_dtypes("number").drop_duplicates().to_numpy(float)
    return (X - X.mean(axis=0)) / X.std(axis=0, ddof=1) if name == "swiss" else X


def matched(S, true):
    """Sources in the order, with the signs and in the divisor of others."""
    order = np.abs(np.corrcoef(S.T, true.T)[: S.shape[1], S.shape[1] :]).argmax(axis=0)
    S = S[:, order]
    return S * np.sign(np.sum(S * true, axis=0))


def mixed(n=1000, seed=0, offset=0.0):
    rng = np.random.default_rng(seed)
    S = np.c_[rng.laplace(size=n), rng.uniform(-1, 1, n), np.sign(rng.standard_normal(n))]
    return S @ rng.standard_normal((3, 5)) + offset, S


@pytest.mark.parametrize("method", BOTH)
@pytest.mark.parametrize("fun", ["logcosh", "exp"])
@pytest.mark.parametrize("name", ["swiss", "iris"])
def test_sources_are_those_of_fastica_in_r(name, fun, method):
    X, golden = table(name), json.loads((GOLDEN / f"{name}_ica.json").read_text())
    true = np.array(golden[fun]["S_first10"]["values"])
    model = ritz.ICA(true.shape[1], fun=fun, method=method, tol=1e-9).fit(X)
    S = model.transform(X)[:10] * np.sqrt(len(X) / (len(X) - 1))  # R divides by n
    np.testing.assert_allclose(matched(S, true), true, atol=1e-5)
    assert model.verify(X)


@pytest.mark.parametrize("name", ["swiss", "iris"])
def test_jade_is_that_of_r(name):
    X, golden = table(name), json.loads((GOLDEN / f"{name}_ica.json").read_text())
    true = np.array(golden["jade"]["S_first10"]["values"])
    model = ritz.ICA(true.shape[1], method="jade").fit(X)
    S = model.transform(X)[:10] * np.sqrt(len(X) / (len(X) - 1))
    np.testing.assert_allclose(matched(S, true), true, atol=1e-9)
    assert model.gradient_ < 1e-8


@pytest.mark.parametrize("method", [*BOTH, "jade"])
def test_sources_are_found_at_a_large_offset(method):
    X, S = mixed(2000, offset=1e8)
    model = ritz.ICA(3, method=method).fit(X)
    cosines = np.abs(np.corrcoef(model.transform(X).T, S.T)[:3, 3:]).max(axis=0)
    assert cosines.min() > 0.995
    near = ritz.ICA(3, method=method).fit(X - 1e8)
    np.testing.assert_allclose(model.mixing_, near.mixing_, atol=1e-5)


def test_sources_are_white_ordered_and_signed():
    X, _ = mixed()
    model = ritz.ICA().fit(X)
    assert model.n_components_ == 3  # of five columns three vary
    S = model.transform(X)
    np.testing.assert_allclose(np.cov(S.T), np.eye(3), atol=1e-10)
    np.testing.assert_allclose(model.inverse_transform(S), X, atol=1e-10)
    assert np.all(np.diff(model.explained_variance_) <= 0)
    assert model.explained_variance_ratio_.sum() == pytest.approx(1)
    largest = np.abs(model.mixing_).argmax(axis=0)
    assert (model.mixing_[largest, range(3)] > 0).all()
    again = ritz.ICA().fit(X[np.random.default_rng(1).permutation(len(X))])
    np.testing.assert_allclose(again.mixing_, model.mixing_, atol=1e-6)
    far = gradient((S - S.mean(axis=0)) * np.sqrt(len(S) / (len(S) - 1)), "logcosh")
    assert far <= 1e-7


def test_verify_finds_another_rotation():
    X, _ = mixed()
    model = ritz.ICA(3).fit(X)
    assert model.verify(X)
    c, s = np.cos(0.1), np.sin(0.1)
    turn = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
    model.components_, model.mixing_ = turn @ model.components_, model.mixing_ @ turn.T
    model._record.loadings = model.mixing_
    assert not model.verify(X)


def test_normal_sources_are_not_steady_and_others_are():
    rng = np.random.default_rng(0)
    S = np.c_[rng.laplace(size=(800, 2)), rng.standard_normal((800, 2))]
    X = S @ rng.standard_normal((4, 4))
    model = ritz.ICA(4, max_iter=200).fit(X)
    told = model.stability(X, runs=10)
    peaked = np.abs(np.corrcoef(model.transform(X).T, S.T)[:4, 4:6]).max(axis=1) > 0.9
    assert told.index[peaked].min() > 0.8 > told.index[~peaked].max()
    assert told.runs == 10


def test_rows_outside_memory_and_float32(tmp_path):
    X, S = mixed(20_000)
    np.save(tmp_path / "x.npy", X)
    model = ritz.ICA(3, memory="60MB").fit(ritz.read(tmp_path / "x.npy", memory="1MB"))
    np.testing.assert_allclose(model.mixing_, ritz.ICA(3).fit(X).mixing_, atol=1e-8)
    small = ritz.ICA(3).fit(X.astype(np.float32))
    assert small.components_.dtype == np.float32
    assert np.abs(np.corrcoef(small.transform(X.astype(np.float32)).T, S.T)[:3, 3:]).max(axis=0).min() > 0.999


def test_a_file_holds_the_model_and_rows_left_out_take_no_part(tmp_path):
    X, _ = mixed()
    weights = np.r_[np.ones(900), np.zeros(100)]
    model = ritz.ICA(3).fit(X, sample_weight=weights)
    np.testing.assert_allclose(model.mixing_, ritz.ICA(3).fit(X[:900]).mixing_, atol=1e-6)
    ritz.save(model, tmp_path / "ica.ritz")
    again = ritz.load(tmp_path / "ica.ritz")
    np.testing.assert_array_equal(again.transform(X), model.transform(X))
    with pytest.raises(ritz.ParameterError, match="take part"):
        ritz.ICA(2).fit(X, sample_weight=np.arange(1, 1001))


@pytest.mark.parametrize(
    ("parameters", "words"),
    [({"method": "infomax"}, "method must be"), ({"fun": "tanh"}, "fun must be"), ({"n_init": 0}, "n_init must be")],
)
def test_bad_parameters_are_refused(parameters, words):
    with pytest.raises(ritz.ParameterError, match=words):
        ritz.ICA(2, **parameters).fit(mixed()[0])
    with pytest.raises(ritz.InputError, match="vary"):
        ritz.ICA().fit(np.ones((10, 3)))


@pytest.mark.parametrize("name", ["explained_variance_", "explained_variance_ratio_", "singular_values_", "mean_"])
def test_verify_finds_changed_shares_and_means(name):
    rng = np.random.default_rng(0)
    X = 5 + rng.laplace(size=(300, 4)) @ rng.standard_normal((4, 4))
    model = ritz.ICA(3).fit(X)
    assert model.verify(X)
    setattr(model, name, getattr(model, name) * 1.01)
    assert not model.verify(X)


@pytest.mark.parametrize("fun", ["logcosh", "exp", "cube"])
def test_starts_that_go_together_find_what_each_finds_alone(seed, fun):
    rng = np.random.default_rng(seed)
    Z = rng.laplace(size=(400, 4))
    Z[:, 1] = rng.uniform(-1, 1, 400)
    Z -= Z.mean(axis=0)
    Z = Z @ np.linalg.inv(np.linalg.cholesky(Z.T @ Z / len(Z))).T
    begun = rotate.starts(4, 8, seed)
    alone = [rotate.rotation(Z, "auto", fun, start, 200, 1e-7)[0] for start in begun]
    together = [one[0] for one in rotate.rotations(Z, "auto", fun, begun, 200, 1e-7)]
    best = max(float(rotate.contrast(Z @ W.T, fun).sum()) for W in alone)
    assert max(float(rotate.contrast(Z @ W.T, fun).sum()) for W in together) == pytest.approx(best, rel=1e-9)
    for W in together:
        assert np.abs(W @ W.T - np.eye(4)).max() <= 1e-12
        assert rotate.gradient(Z @ W.T, fun) <= 1e-7
    for i, W in enumerate(together):  # none twice
        for other in together[:i]:
            assert np.abs(W @ other.T).max(axis=1).min() < 0.9999


def test_a_start_that_others_have_come_near_goes_no_further(seed):
    Z = np.random.default_rng(seed).laplace(size=(600, 3))
    Z = (Z - Z.mean(axis=0)) @ np.linalg.inv(np.linalg.cholesky(np.cov(Z, rowvar=False, ddof=0))).T
    begun = [np.eye(3)] * 5
    assert len(rotate.rotations(Z, "auto", "logcosh", begun, 200, 1e-7)) == 1
