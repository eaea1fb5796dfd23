"""Subsequences by enumeration, Lodhi's numbers, kernlab's, and Levenshtein by its recursion; with and without numba."""

from __future__ import annotations

import json
from collections import defaultdict
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ritz._core.errors import InputError
from ritz.kernels import EditDistance, Subsequence
from ritz.kernels.strings import edit as strings_edit
from ritz.kernels.strings import subsequence as strings_subsequence

GOLDEN = json.loads((Path(__file__).parent.parent / "golden" / "strings" / "kernlab_names.json").read_text())
LODHI = ["science is organized knowledge", "wisdom is organized life"]
words = st.lists(st.text("abé", max_size=7), min_size=1, max_size=4)


@pytest.fixture(params=["compiled", "numpy"], autouse=True)
def way(request):
    """Every test runs both ways; fixtures that outlive an example are fine, nothing is changed between them."""
    if request.param == "compiled":
        pytest.importorskip("numba")
        yield
        return
    kept = strings_subsequence._compiled, strings_edit._compiled
    strings_subsequence._compiled = strings_edit._compiled = lambda: None
    yield
    strings_subsequence._compiled, strings_edit._compiled = kept


def embedding(s, p, decay):
    found = defaultdict(float)
    for places in combinations(range(len(s)), p):
        found["".join(s[i] for i in places)] += decay ** (places[-1] - places[0] + 1)
    return found


def levenshtein(s, t):
    row = list(range(len(t) + 1))
    for i, a in enumerate(s, 1):
        above, row = row, [i]
        for j, b in enumerate(t, 1):
            row.append(min(above[j] + 1, row[-1] + 1, above[j - 1] + (a != b)))
    return row[-1]


@given(X=words, Y=words, p=st.integers(1, 4), decay=st.sampled_from([0.05, 0.5, 0.9, 1.0]))
def test_subsequences_are_those_that_enumeration_finds(X, Y, p, decay):
    phi, psi = ([embedding(s, p, decay) for s in Z] for Z in (X, Y))
    K = np.array([[sum(a[u] * b[u] for u in a if u in b) for b in psi] for a in phi])
    np.testing.assert_allclose(Subsequence(p, decay, normalize=False)(X, Y), K, rtol=1e-13)
    own = [np.sqrt([sum(v * v for v in a.values()) for a in features]) for features in (phi, psi)]
    scale = np.outer(*own)
    expected = np.divide(K, scale, out=np.zeros(K.shape), where=scale > 0)
    np.testing.assert_allclose(Subsequence(p, decay)(X, Y), expected, rtol=1e-13)


def test_lodhis_examples():
    for decay in (0.3, 0.5, 0.8):
        raw = Subsequence(2, decay, normalize=False)(["cat", "car", "bat"])
        np.testing.assert_allclose(raw[0], [2 * decay**4 + decay**6, decay**4, decay**4], rtol=1e-15)
        assert Subsequence(2, decay)(["cat", "car"])[0, 1] == pytest.approx(1 / (2 + decay**2), rel=1e-15)
    table = [0.849, 0.580, 0.478, 0.439, 0.406, 0.369]  # the paper prints 0.370 for the last
    found = [Subsequence(p, 0.5)(LODHI)[0, 1] for p in range(1, 7)]
    np.testing.assert_allclose(found, table, atol=5e-4)


def test_sequence_kernel_is_kernlabs():
    raw = Subsequence(2, 0.5, normalize=False)
    np.testing.assert_allclose(raw(GOLDEN["names"]), GOLDEN["sequence_len2_lambda0.5_raw"], rtol=1e-12)
    normalised = GOLDEN["sequence_len2_lambda0.5_normalized"]
    np.testing.assert_allclose(Subsequence(2, 0.5)(GOLDEN["names"]), normalised, rtol=1e-12)


def test_small_decays_do_not_underflow_and_large_counts_are_refused():
    assert Subsequence(60, 1e-3)(["ab" * 40, "ab" * 39])[0, 1] > 0.5
    with pytest.raises(InputError, match="row 1"):
        Subsequence(260, 1.0)(["a", "a" * 540])


def test_tiles_are_symmetric_to_the_last_bit():
    rng = np.random.default_rng(0)
    X = ["".join(rng.choice(list("abcd"), size=n)) for n in rng.integers(0, 40, 30)]
    for kernel in (Subsequence(3, 0.7), EditDistance(0.1)):
        A = kernel.prepare(X)
        lower, upper = kernel.tile(A, A, slice(10, 30), slice(0, 10)), kernel.tile(A, A, slice(0, 10), slice(10, 30))
        np.testing.assert_allclose(lower, upper.T, rtol=0 if strings_edit._compiled() else 1e-13)
        assert np.array_equal(np.diag(kernel.tile(A, A, slice(0, 30), slice(0, 30))), kernel.diag(A))
        assert kernel.prepare(X, dtype=np.float32).dtype == np.float32


@given(X=words, Y=words)
def test_edit_distances_of_short_strings(X, Y):
    truth = np.array([[levenshtein(s, t) for t in Y] for s in X])
    np.testing.assert_allclose(EditDistance(0.25)(X, Y), np.exp(-0.25 * truth), rtol=1e-15)


def test_edit_distances_across_words_of_64_bits():
    rng = np.random.default_rng(1)
    X = ["".join(rng.choice(list("abé😀"), size=n)) for n in (0, 1, 30, 63, 64, 65, 127, 128, 129, 200)]
    X += [X[-1][3:150] + "z" + X[-1][150:], X[4][:20] + "zz" + X[4][21:]]
    truth = np.array([[levenshtein(s, t) for t in X] for s in X])
    np.testing.assert_allclose(-np.log(EditDistance(1e-3)(X)) * 1e3, truth, rtol=1e-11, atol=1e-9)


def test_gamma_from_the_median_distance_and_negative_eigenvalues():
    rng = np.random.default_rng(2)
    X = ["".join(rng.choice(list("abcd"), size=n)) for n in rng.integers(3, 10, 120)]
    distances = np.array([[levenshtein(s, t) for t in X] for s in X])[np.triu_indices(120, 1)]
    assert EditDistance().fix(X).gamma == 1 / np.median(distances[distances > 0])
    assert EditDistance().fix(X * 5, seed=3) == EditDistance().fix(X * 5, seed=3)
    assert EditDistance().fix(["a", "a"]).gamma == 1.0
    assert not EditDistance(0.1).positive
    assert np.linalg.eigvalsh(EditDistance(0.1)(X))[0] < -0.1  # why it says so
