"""Random streams, threads, small linear algebra, memory, errors."""

from __future__ import annotations

import itertools
import pickle
import threading

import array_api_strict
import numpy as np
import pytest
import scipy.linalg  # (brings a BLAS of its own, counted below)
from threadpoolctl import threadpool_info

from ritz._core import memory
from ritz._core.errors import InputError, ParameterError, RitzError
from ritz._core.factors import svd
from ritz._core.linalg import eigh, join, norm2, norms, orth, orth_by_squares, qr, signs, trace
from ritz._core.random import gaussian_rows, seed_of
from ritz._core.threads import lane_count, run_lanes, single_threaded_blas


def test_random_rows_do_not_depend_on_how_they_are_cut():
    whole = gaussian_rows(3, 1, 0, 5000, 4)
    cuts = [0, 1, 1023, 1024, 1025, 3000, 5000]
    parts = [gaussian_rows(3, 1, a, b, 4) for a, b in itertools.pairwise(cuts)]
    assert np.array_equal(np.concatenate(parts), whole)
    assert not np.array_equal(whole, gaussian_rows(4, 1, 0, 5000, 4))
    assert not np.array_equal(whole, gaussian_rows(3, 2, 0, 5000, 4))
    assert abs(whole.mean()) < 0.03
    assert abs(whole.std() - 1) < 0.02
    assert gaussian_rows(0, 0, 5, 5, 2).shape == (0, 2)


def test_seeds():
    assert seed_of(None) == 0
    assert seed_of(7) == 7
    assert seed_of(np.int64(7)) == 7
    assert seed_of(np.random.default_rng(1)) == seed_of(np.random.default_rng(1))
    assert seed_of(np.random.RandomState(1)) == seed_of(np.random.RandomState(1))
    with pytest.raises(ParameterError, match=r"random_state must be None.*received 'x'"):
        seed_of("x")


def blas_threads():
    return [lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "blas"]


def test_thread_limits_are_scoped_counted_and_restored():
    before = blas_threads()
    with single_threaded_blas():
        with single_threaded_blas():
            assert set(blas_threads()) == {1}
        assert set(blas_threads()) == {1}
    assert blas_threads() == before
    with pytest.raises(ZeroDivisionError):
        run_lanes(lambda x: 1 / x, [1, 0])
    assert blas_threads() == before


def test_concurrent_fits_restore_the_limit():
    before = blas_threads()
    barrier = threading.Barrier(3)

    def work():
        barrier.wait()
        for _ in range(20):
            assert run_lanes(lambda x: x + 1, [1, 2]) == [2, 3]

    threads = [threading.Thread(target=work) for _ in range(3)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert blas_threads() == before


def test_omp_num_threads_is_respected(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    assert lane_count() == 1
    monkeypatch.setenv("OMP_NUM_THREADS", "nonsense")
    assert lane_count() >= 1


@pytest.mark.parametrize("xp", [np, array_api_strict], ids=["numpy", "strict"])
def test_orthonormal_bases(xp):
    rng = np.random.default_rng(0)
    basis = np.linalg.qr(rng.standard_normal((50, 8)))[0]
    W = np.hstack(
        [
            rng.standard_normal((50, 3)),
            basis[:, :2] * 5,
            np.zeros((50, 1)),
            1e-100 * rng.standard_normal((50, 1)),
        ]
    )
    Q = np.asarray(orth(xp.asarray(W), xp.asarray(basis)))
    assert Q.shape == (50, 4)  # two columns lie in the basis, one is zero
    np.testing.assert_allclose(Q.T @ Q, np.eye(4), atol=1e-14)
    np.testing.assert_allclose(basis.T @ Q, 0, atol=1e-14)
    nearly = np.hstack([W[:, :2], W[:, :1] + 1e-5 * W[:, 1:2] + 1e-6 * rng.standard_normal((50, 1))])
    R = np.asarray(orth(xp.asarray(nearly)))
    np.testing.assert_allclose(R.T @ R, np.eye(3), atol=1e-13)


@pytest.mark.parametrize("xp", [np, array_api_strict], ids=["numpy", "strict"])
def test_small_linear_algebra(xp):
    rng = np.random.default_rng(0)
    B = rng.standard_normal((20, 5))
    S = B.T @ B
    theta, Y = eigh(xp.asarray(S), 2)
    np.testing.assert_allclose(np.asarray(theta), np.linalg.eigvalsh(S)[::-1][:2])
    np.testing.assert_allclose(S @ np.asarray(Y), np.asarray(Y) * np.asarray(theta), atol=1e-12)
    np.testing.assert_allclose(np.asarray(norms(xp.asarray(B * 1e200))), np.linalg.norm(B, axis=0) * 1e200)
    np.testing.assert_allclose(np.asarray(norms(xp.asarray(B * 1e-200))), np.linalg.norm(B, axis=0) * 1e-200)
    assert norm2(xp.asarray(B)) == pytest.approx(np.linalg.norm(B, 2))
    assert trace(xp.asarray(S)) == pytest.approx(np.trace(S))
    Q, R = qr(xp.asarray(B))
    np.testing.assert_allclose(np.asarray(Q) @ np.asarray(R), B, atol=1e-13)
    U, s, Vt = svd(xp.asarray(B))
    np.testing.assert_allclose(np.asarray(U) * np.asarray(s) @ np.asarray(Vt), B, atol=1e-13)
    assert join([xp.asarray(B), xp.asarray(B)]).shape == (20, 10)


@pytest.mark.parametrize("d", [1, 2, 4, 33, 64, 65])
def test_the_svd_of_few_graded_rows_is_lapacks(d):
    R = np.random.default_rng(d).standard_normal((d, d)) * 10.0 ** -np.arange(d)[:, None].clip(max=200)
    want = scipy.linalg.svd(R, full_matrices=False, lapack_driver="gesvd" if d <= 64 else "gesdd")
    for one, other in zip(svd(R, graded=True), want, strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_cluster_keeps_all_its_vectors():
    """LAPACK's subset routine may lose vectors of a tight cluster."""
    rng = np.random.default_rng(0)
    Q, _ = np.linalg.qr(rng.standard_normal((150, 150)))
    S = (Q * np.ones(150)) @ Q.T
    _theta, Y = eigh((S + S.T) / 2, 11)
    assert Y.shape == (150, 11)
    np.testing.assert_allclose(Y.T @ Y, np.eye(11), atol=1e-12)


@pytest.mark.parametrize(
    ("text", "size"),
    [("2GB", 2e9), ("500 MB", 5e8), ("1.5gib", 1.5 * 2**30), (1024, 1024), ("10", 10), ("3 kB", 3000)],
)
def test_memory_sizes(text, size):
    assert memory.parse(text) == size


@pytest.mark.parametrize("wrong", ["", "GB", "-2GB", 0, -1, True, "2 parsecs", "1.2.3MB", [1]])
def test_wrong_memory_sizes(wrong):
    with pytest.raises(ParameterError, match="memory must be None, a number of bytes, or a text such as"):
        memory.parse(wrong)


def test_available_memory_is_positive():
    assert memory.available() > 0
    assert memory.limit(None) == pytest.approx(memory.available() / 2, rel=0.2)


def test_errors_have_three_parts_and_survive_pickling():
    error = InputError("expected this", received="that", hint="do so")
    assert str(error) == "expected this; received that\nhint: do so"
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is InputError
    assert str(again) == str(error)
    assert again.hint == "do so"
    assert isinstance(error, ValueError)
    assert isinstance(error, RitzError)


@pytest.mark.parametrize("d", [12, 80])
@pytest.mark.parametrize("top", [None, 3])
def test_eigh_reads_the_lower_half(d, top):
    S = np.random.default_rng(d).standard_normal((d, d))
    lower = np.tril(S) + np.triu(np.full((d, d), 7.0), 1)  # what stands above the diagonal does not count
    whole = np.tril(S) + np.tril(S, -1).T
    theta, Y = eigh(lower, top)
    assert np.allclose(theta, np.linalg.eigvalsh(whole)[::-1][: top or d], atol=1e-12 * d)
    assert np.allclose(whole @ Y, Y * theta, atol=1e-12 * d)


@pytest.mark.parametrize("off", [0.0, 1e-9, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1])
def test_a_block_that_is_nearly_orthonormal_is_made_so(off, seed):
    rng = np.random.default_rng(seed)
    Q = np.linalg.qr(rng.standard_normal((90, 8)))[0]
    E = rng.standard_normal((8, 8))
    W = Q @ (np.eye(8) + off * E / np.linalg.norm(E, 2))
    found = orth_by_squares(W, W.T @ W, 0.01)
    assert found is not None
    assert np.abs(found.T @ found - np.eye(8)).max() < 1e-14
    assert np.abs(found - Q @ (Q.T @ found)).max() < 1e-14


@pytest.mark.parametrize("many", [1, 400])  # of few entries, and of many
def test_the_first_of_the_largest_entries_is_positive(many):
    columns = {
        1.0: [[0.1, 0.9, -0.2], [0.7, -0.7, 0.1], [-0.1, 0.5, -0.5 - 1e-8], [0.0, 0.0, 0.0], [0.6, -0.6 - 1e-8, 0.6]],
        -1.0: [[0.1, -0.9, 0.2], [-0.7, 0.7, 0.1], [0.3, -0.5, 0.5 + 1e-8], [-1.0, -1.0, -1.0]],
    }
    for sign, some in columns.items():
        V = np.repeat(np.array(some).T, many, axis=1)
        assert np.array_equal(signs(V), np.full(V.shape[1], sign))
