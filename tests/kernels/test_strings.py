"""Window kernels against kernlab, a Counter, and the definition of mismatches; features old and new."""

from __future__ import annotations

import json
import pickle
from collections import Counter
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ritz._core.errors import InputError, MemoryLimitError, ParameterError
from ritz.kernels import BoundedSpectrum, EditDistance, Kernel, Mismatch, Spectrum, Subsequence

GOLDEN = json.loads((Path(__file__).parent.parent / "golden" / "strings" / "kernlab_names.json").read_text())
NAMES = GOLDEN["names"]
WINDOW_KERNELS = [Spectrum(2), BoundedSpectrum(3), Mismatch(3, 1), Spectrum(40), Spectrum(2, normalize=False)]
words = st.lists(st.text("abcé", max_size=9), min_size=1, max_size=6)


def windows(s, k):
    return Counter(s[i : i + k] for i in range(len(s) - k + 1))


def naive_spectrum(X, Y, lengths):
    return np.array(
        [[sum(windows(s, k)[u] * windows(t, k)[u] for k in lengths for u in windows(s, k)) for t in Y] for s in X]
    )


def naive_mismatch(X, alphabet, k, m):
    def features(s):
        found = Counter()
        for u, count in windows(s, k).items():
            for v in product(alphabet, repeat=k):
                if sum(a != b for a, b in zip(u, v, strict=True)) <= m:
                    found[v] += count
        return found

    phi = [features(s) for s in X]
    return np.array([[sum(a[v] * b[v] for v in a) for b in phi] for a in phi], dtype=float)


def normalised(K, own_rows, own_columns):
    scale = np.sqrt(np.outer(own_rows, own_columns))
    return np.divide(K, scale, out=np.zeros(K.shape), where=scale > 0)


def test_spectrum_and_boundrange_are_kernlabs():
    ended = [name + "\n" for name in NAMES]  # kernlab counts a newline at the end of each string
    raw = Spectrum(2, normalize=False)(ended)
    assert np.array_equal(raw, GOLDEN["spectrum_len2_lambda1.1_raw"])
    np.testing.assert_allclose(Spectrum(2)(ended), GOLDEN["spectrum_len2_lambda1.1_normalized"], rtol=1e-12)
    bounded = GOLDEN["boundrange_len3_lambda1.1_normalized"]
    np.testing.assert_allclose(BoundedSpectrum(3)(ended), bounded, rtol=1e-12)
    assert np.max(np.abs(BoundedSpectrum(3)(NAMES) - bounded)) > 0.05  # without the newline they differ


@pytest.mark.shared
def test_reuters_articles_are_kernlabs(shared):
    folder = shared / "reuters40"
    truth = json.loads((folder / "kernlab_stringdot.json").read_text())
    texts = [each["text"] + "\n" for each in json.loads((folder / "docs.json").read_text())]
    for kernel, name in ((Spectrum(5), "spectrum_5"), (BoundedSpectrum(4), "boundrange_4")):
        raw = kernel.with_params(normalize=False)
        assert np.array_equal(raw(texts), truth[f"{name}_raw"]["K"])
        np.testing.assert_allclose(kernel(texts), truth[f"{name}_normalized"]["K"], rtol=1e-12)
        phi = kernel.features(texts)
        phi = phi - phi.mean(axis=0)
        largest = np.linalg.svd(phi, compute_uv=False)[:5] ** 2 / len(texts)
        np.testing.assert_allclose(largest, truth[f"{name}_normalized"]["kpca"]["eig"], rtol=1e-12)


@given(X=words, Y=words, k=st.integers(1, 4))
def test_windows_are_counted_as_a_counter_counts(X, Y, k):
    for kernel, lengths in ((Spectrum(k), [k]), (BoundedSpectrum(k), range(1, k + 1))):
        raw = kernel.with_params(normalize=False)
        K = naive_spectrum(X, Y, lengths)
        assert np.array_equal(raw(X, Y), K)
        own = [np.array([naive_spectrum([s], [s], lengths)[0, 0] for s in Z]) for Z in (X, Y)]
        np.testing.assert_allclose(kernel(X, Y), normalised(K, *own), rtol=1e-14)


@pytest.mark.parametrize("k", [3, 13, 40, 100])
def test_long_windows_and_large_alphabets_are_cut_into_blocks(k):
    rng = np.random.default_rng(k)
    points = rng.integers(0x4E00, 0x9000, 300)
    X = ["".join(map(chr, points[a : a + 160])) for a in rng.integers(0, 140, 12)]
    Y = [X[0][5:150] + "?" + X[1], "", X[2], "?" * 120]
    raw = Spectrum(k, normalize=False)
    assert np.array_equal(raw(X, Y), naive_spectrum(X, Y, [k]))
    names = raw.feature_map(X).names()
    assert names == sorted(set().union(*(windows(s, k) for s in X)))


@given(X=words, k=st.integers(1, 3), m=st.integers(0, 2))
def test_mismatches_follow_the_definition(X, k, m):
    if m >= k:
        return
    for alphabet in ("abcé", "ab"):  # letters outside the alphabet differ from all
        K = naive_mismatch(X, alphabet, k, m)
        assert np.array_equal(Mismatch(k, m, alphabet, normalize=False)(X), K)
        np.testing.assert_allclose(Mismatch(k, m, alphabet)(X), normalised(K, np.diag(K), np.diag(K)), rtol=1e-14)


def test_mismatch_takes_its_alphabet_from_the_strings_it_is_fitted_to():
    fixed = Mismatch(2, 1).fix(["abc", "cab"])
    assert fixed == Mismatch(2, 1, "abc")
    assert np.array_equal(Mismatch(2, 1)(["abc"], ["xbz", "xyz"]), fixed(["abc"], ["xbz", "xyz"]))
    raw = Mismatch(2, 1, "abc", normalize=False)
    both = naive_mismatch(["abc", "xbz", "xyz"], "abc", 2, 1)
    assert np.array_equal(raw(["abc"], ["xbz", "xyz"]), both[:1, 1:])
    # No window is a mismatch away with none allowed: the spectrum kernel again.
    assert np.array_equal(Mismatch(2, 0)(NAMES), Spectrum(2)(NAMES))
    assert Mismatch(2, 1).fix([b"ab"]) == Mismatch(2, 1, (97, 98))
    assert np.array_equal(Mismatch(2, 1)([b"abb", b"ba"]), Mismatch(2, 1)(["abb", "ba"]))


@pytest.mark.parametrize("kernel", WINDOW_KERNELS, ids=repr)
def test_features_are_the_kernel_and_new_strings_keep_their_norm(kernel):
    old, new = [*NAMES, "", "x" * 41], ["Marianne", "Zz", "", "Abagael Ulises", "x" * 45, "y" * 45]
    kernel = kernel.fix(old)
    phi = kernel.features(old)
    np.testing.assert_allclose((phi @ phi.T).toarray(), kernel(old), atol=1e-14)
    made = kernel.feature_map(old)
    assert made.size == phi.shape[1]
    assert (made.transform(old) != phi).nnz == 0
    np.testing.assert_allclose((phi @ made.transform(new).T).toarray(), kernel(old, new), atol=1e-14)
    assert made.transform(new, dtype=np.float32).dtype == np.float32


@pytest.mark.parametrize("kernel", WINDOW_KERNELS, ids=repr)
def test_tiles_agree_however_the_strings_were_prepared(kernel):
    old, new, more = NAMES, ["Marianne", "Zz", "", "Ulises"], ["Zzz", "Marian", "x" * 41]
    kernel = kernel.fix(old)
    A = kernel.prepare(old)
    B, C = kernel.prepare(new, like=A), kernel.prepare(more, like=A)
    everything = slice(None)
    for left, right in ((A, B), (B, B), (B, C), (C, A), (A, kernel.prepare(new))):
        expected = kernel(left.source, right.source)
        assert np.array_equal(kernel.tile(left, right, everything, everything), expected)
    assert np.array_equal(kernel.diag(B), np.diag(kernel(new)))
    assert np.array_equal(
        kernel.tile(A.take([3, 1]), B.take(slice(1, 4)), slice(1, 2), slice(0, 2)), kernel([NAMES[1]], new[1:3])
    )
    assert np.array_equal(kernel.reference(A, np.array([2, 5])), kernel(old)[[2, 5]])
    out = np.empty((2, 3), dtype=np.float32)
    assert kernel.tile(A.at(np.float32), A.at(np.float32), slice(0, 2), slice(0, 3), out) is out
    np.testing.assert_allclose(out, kernel(old)[:2, :3], rtol=1e-6)


@pytest.mark.parametrize("kernel", [*WINDOW_KERNELS, Subsequence(2, 0.5), EditDistance(0.3)], ids=repr)
def test_kernels_are_values(kernel):
    assert pickle.loads(pickle.dumps(kernel)) == kernel
    assert Kernel.from_dict(json.loads(json.dumps(kernel.to_dict()))) == kernel
    assert kernel.takes == "strings"
    assert kernel.positive is not isinstance(kernel, EditDistance)
    copy = pickle.loads(pickle.dumps(kernel.fix(NAMES).prepare(NAMES)))
    assert np.array_equal(kernel.fix(NAMES).diag(copy), np.diag(kernel(NAMES)))
    fixed = Mismatch(2, 1).fix([["a", 1], ["b"]])
    assert Kernel.from_dict(json.loads(json.dumps(fixed.to_dict()))) == fixed


@pytest.mark.parametrize("kernel", [*WINDOW_KERNELS[:3], Subsequence(2, 0.5)], ids=repr)
def test_short_strings_lie_in_the_origin(kernel):
    K = kernel(["", "abc", "a"])
    short = 0 if not isinstance(kernel, BoundedSpectrum) else 1
    assert np.array_equal(np.diag(K), [0, 1, short])
    assert np.isfinite(K).all()
    assert not K[0].any()
    assert not kernel(["", ""]).any()
    assert kernel(["", ""], ["abc"]).shape == (2, 1)
    assert kernel([]).shape == (0, 0)


def test_what_cannot_be_is_refused():
    for wrong in (lambda: Spectrum(0), lambda: Spectrum(2.5), lambda: Mismatch(2, 2), lambda: Subsequence(2, 1.5)):
        with pytest.raises(ParameterError):
            wrong()
    with pytest.raises(ParameterError, match="62 bits"):
        Mismatch(30, 1)(["abcdefgh" * 20])
    with pytest.raises(ParameterError, match="fix"):
        EditDistance().prepare(["a"])
    with pytest.raises(MemoryLimitError, match="neighbours"):
        Mismatch(9, 8, "".join(map(chr, range(33, 110))))(["abcdefghij" * 20])
    with pytest.raises(InputError, match="kind"):
        Spectrum(2)(["ab"], [b"ab"])
    with pytest.raises(InputError, match="alphabet"):
        Mismatch(2, 1, "ab")([b"ab"])
