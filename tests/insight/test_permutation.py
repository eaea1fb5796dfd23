"""Permutation tests: planted components are found, pure noise is not, p-values are uniform under chance."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import ritz
from ritz import insight


def planted(rng, n, d, q):
    V = np.linalg.qr(rng.standard_normal((d, q)))[0]
    return rng.standard_normal((n, q)) * np.linspace(6, 4, q) @ V.T + rng.standard_normal((n, d))


@pytest.mark.parametrize(("n", "d"), [(100, 12), (30, 80)])
@pytest.mark.parametrize("method", [ritz.PCA, ritz.SVD])
def test_as_many_components_as_were_planted(method, n, d, seed):
    X = planted(np.random.default_rng(seed), n, d, 3)
    found = insight.permutation_test(method(5).fit(X), X, 99)
    assert found.n_components == 3
    assert np.allclose(found.p_values[:3], 0.01)
    assert np.all(found.p_values[3:] > 0.05)
    assert np.all(np.diff(found.p_values) >= 0)
    assert "3 of 5 components are more than chance" in repr(found)


def test_p_values_of_noise_are_uniform():
    rng = np.random.default_rng(0)
    p = []
    for i in range(150):
        X = rng.standard_t(5, (25, 6)) * np.geomspace(3, 0.5, 6)
        p.append(insight.permutation_test(ritz.PCA(1, scale=True).fit(X), X, 99, random_state=i).p_values[0])
    below = np.mean(np.asarray(p) <= 0.2)
    assert abs(below - 0.2) < 3 * np.sqrt(0.2 * 0.8 / 150)


def test_later_components_are_tested_without_the_earlier_ones():
    """With one strong component, the second is noise, and is called so at the level."""
    rng = np.random.default_rng(1)
    wrong = 0
    for i in range(100):
        X = planted(rng, 30, 6, 1)
        wrong += insight.permutation_test(ritz.PCA(2).fit(X), X, 99, random_state=i).n_components > 1
    assert wrong <= 12


def test_counting_stops_early_and_is_reproducible(seed):
    X = np.random.default_rng(seed).standard_normal((60, 5))
    model = ritz.PCA(2).fit(X)
    a, b = (insight.permutation_test(model, X, 999) for _ in range(2))
    assert np.array_equal(a.p_values, b.p_values)
    assert a.draws[1] < 999 or a.p_values[1] < 0.03


def test_integer_weights_are_copies(seed):
    rng = np.random.default_rng(seed)
    X, w = planted(rng, 40, 6, 1), rng.integers(1, 3, 40)
    copies = np.repeat(X, w, axis=0)
    a = insight.permutation_test(ritz.PCA(2).fit(X, sample_weight=w), X, 49, sample_weight=w)
    b = insight.permutation_test(ritz.PCA(2).fit(copies), copies, 49)
    assert np.allclose(a.statistic, b.statistic)
    assert np.allclose(a.p_values, b.p_values)


def test_counts_of_a_table(seed):
    rng = np.random.default_rng(seed)
    P = np.outer([0.2, 0.3, 0.5], [0.25, 0.25, 0.25, 0.25])
    tied = P + 0.04 * np.outer([1, -1, 0], [1, -1, 0, 0])
    N = rng.multinomial(800, (tied / tied.sum()).ravel()).reshape(3, 4)
    found = insight.permutation_test(ritz.CA().fit(N), N, 199)
    assert found.n_components == 1
    assert found.statistic[0] == pytest.approx(ritz.CA().fit(N).total_inertia_)
    free = rng.multinomial(800, P.ravel()).reshape(3, 4)
    assert insight.permutation_test(ritz.CA().fit(free), free, 199).p_values[0] > 0.01


def test_the_association_of_counts_agrees_with_chi_squared():
    """p of the first axis against χ² of independence, where counts are large."""
    rng = np.random.default_rng(0)
    N = rng.multinomial(2000, np.full(12, 1 / 12)).reshape(3, 4)
    model = ritz.CA().fit(N)
    p = insight.permutation_test(model, N, 999).p_values[0]
    assert abs(p - model.p_value_) < 4 * np.sqrt(0.25 / 100) * 0.5


def test_variables_of_an_mca_move_as_a_whole(seed):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"a": rng.choice(list("xyz"), 200), "c": rng.choice(list("pq"), 200)})
    frame["b"] = np.where(rng.random(200) < 0.8, frame["a"], "x")
    found = insight.permutation_test(ritz.MCA().fit(frame), frame, 99)
    assert found.n_components == 2  # three levels that go together span a plane
    alone = frame.assign(b=rng.permutation(frame["b"]))
    assert insight.permutation_test(ritz.MCA().fit(alone), alone, 99).p_values[0] > 0.02


def test_what_cannot_be_tested_is_refused(seed):
    X = planted(np.random.default_rng(seed), 30, 5, 1)
    model = ritz.PCA(2).fit(X)
    with pytest.raises(ValueError, match="has no permutation test"):
        insight.permutation_test(ritz.KernelPCA(2).fit(X), X)
    with pytest.raises(ValueError, match="n_perm must be"):
        insight.permutation_test(model, X, 0)
    with pytest.raises(ValueError, match="alpha must be"):
        insight.permutation_test(model, X, alpha=5)
    with pytest.raises(ValueError, match="n_components must be from 1 to 2"):
        insight.permutation_test(model, X, n_components=3)
