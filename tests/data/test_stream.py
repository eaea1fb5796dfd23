"""Streamed rows give the numbers of the same rows in memory, however they are cut."""

from __future__ import annotations

import threading
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import ritz
from ritz.data.engines.stream.blocks import StreamBlocks, batch_bytes
from ritz.data.formats.npy import NpySource
from ritz.data.formats.source import Span
from ritz.data.passes.blocks import MemoryBlocks
from ritz.data.passes.read_ahead import ahead
from ritz.data.passes.statistics import Statistics
from ritz.testing import largest_sine


class ArraySource:
    """Rows in memory behind the contract of a source, cut at given rows."""

    def __init__(self, X, cuts=(), fail_at=None):
        edges = [0, *sorted(set(cuts)), X.shape[0]]
        self.X, self.fail_at = X, fail_at
        self.names = [f"x{j}" for j in range(X.shape[1])]
        self.dtype, self.sparse = X.dtype, sp.issparse(X)
        self.spans = [Span(a, b) for a, b in pairwise(edges)]
        self.nbytes = X.nnz * 12 if self.sparse else X.nbytes
        self.stored = X.nnz if self.sparse else X.size
        self.files: list[Path] = []
        self.read = 0
        self._lock = threading.Lock()

    def batches(self, span, columns, rows):
        for start in range(span.start, span.stop, rows):
            stop = min(start + rows, span.stop)
            with self._lock:
                self.read += stop - start
                if self.fail_at is not None and self.read > self.fail_at:
                    raise KeyboardInterrupt
            part = self.X[start:stop]
            yield part if columns is None else part[:, columns]

    def fingerprint(self):
        return "array"


def spectrum(n, d, seed=0, offset=0.0):
    rng = np.random.default_rng(seed)
    return (
        rng.standard_normal((n, d)) * np.geomspace(10, 0.5, d) @ np.linalg.qr(rng.standard_normal((d, d)))[0] + offset
    )


def agree(a, b, tol=1e-10):
    top = a.explained_variance_[0]
    assert np.max(np.abs(a.explained_variance_ - b.explained_variance_)) <= tol * top
    assert np.allclose(a.mean_, b.mean_, rtol=1e-12, atol=1e-12)
    assert largest_sine(a.components_.T, b.components_.T) <= 1e-7
    assert np.all(np.sum(a.components_ * b.components_, axis=1) > 0), "signs differ"


@settings(max_examples=40, deadline=None)
@given(
    n=st.integers(2, 400),
    cuts=st.lists(st.integers(1, 399), max_size=6),
    batch=st.integers(1, 500),
    weighted=st.booleans(),
    scale=st.booleans(),
)
def test_cuts_and_batches_do_not_matter(n, cuts, batch, weighted, scale):
    X = spectrum(n, 5, seed=n, offset=1e3)
    w = np.random.default_rng(n).integers(0, 4, n).astype(float) if weighted else None
    if w is not None:
        w[:2] = 2
    blocks = StreamBlocks(ArraySource(X, [c for c in cuts if c < n]))
    blocks.batch = blocks.rows = batch
    k = min(2, n - 1)
    agree(ritz.PCA(k, scale=scale).fit(X, sample_weight=w), ritz.PCA(k, scale=scale).fit(blocks, sample_weight=w))


@pytest.mark.filterwarnings("ignore::ritz.AccuracyWarning")  # a sketch says that it is one
@pytest.mark.parametrize("solver", ["moments", "krylov", "lanczos", "chebyshev", "power", "sketch", "svd"])
def test_every_solver_sees_the_same_operator(solver):
    X = spectrum(900, 20, offset=50.0)
    blocks = StreamBlocks(ArraySource(X, [100, 101, 640]))
    a = ritz.PCA(3, solver=solver, tol=1e-12 if solver not in ("sketch",) else 1e-6).fit(X)
    b = ritz.PCA(3, solver=solver, tol=1e-12 if solver not in ("sketch",) else 1e-6).fit(blocks)
    agree(a, b)


def test_sparse_rows_stay_sparse():
    X = sp.random_array((2000, 60), density=0.05, rng=np.random.default_rng(1), format="csr")
    blocks = StreamBlocks(ArraySource(X, [3, 700]))
    agree(ritz.PCA(4).fit(X), ritz.PCA(4).fit(blocks))
    a, b = ritz.SVD(4).fit(X), ritz.SVD(4).fit(StreamBlocks(ArraySource(X, [3, 700])))
    assert np.allclose(a.singular_values_, b.singular_values_, rtol=1e-10)


def test_rows_of_weight_zero_are_absent_whatever_they_hold():
    X = spectrum(300, 4)
    w = np.ones(300)
    w[[0, 17, 299]] = 0
    bad = X.copy()
    bad[[0, 17, 299]] = np.nan
    agree(ritz.PCA(2).fit(X[w > 0]), ritz.PCA(2).fit(StreamBlocks(ArraySource(bad, [150])), sample_weight=w))


def test_wide_states_equal_narrow_ones():
    X = spectrum(300, 30).astype(np.float32)
    wide = np.hstack([X] * 70)  # 2,100 columns: above the size where one matrix is shared
    state = Statistics(StreamBlocks(ArraySource(wide, [100])), precision=np.float64).moments
    Z = wide.astype(np.float64) - wide.astype(np.float64).mean(axis=0)
    truth = Z.T @ Z
    assert np.max(np.abs(state.scatter - truth)) <= 1e-12 * np.max(truth)
    assert np.max(np.abs(state.scatter - state.scatter.T)) <= 1e-13 * np.max(truth)
    memory = Statistics(MemoryBlocks(wide), precision=np.float64).moments
    assert np.max(np.abs(state.scatter - memory.scatter)) <= 1e-12 * np.max(truth)


def test_the_measured_noise_of_a_wide_state_covers_its_error():
    rng = np.random.default_rng(3)
    X = (rng.standard_normal((2500, 2060)) + 1).astype(np.float32)
    stats = Statistics(StreamBlocks(ArraySource(X, [1000])), precision=np.float32)
    state = stats.moments
    Z = X.astype(np.float64) - X.astype(np.float64).mean(axis=0)
    error = np.max(np.abs(np.linalg.eigvalsh(state.scatter - Z.T @ Z)))
    assert 0 < error <= state.noise <= 1e-3 * np.vdot(Z, Z)


def test_transform_streams_rows():
    X = spectrum(500, 8, offset=1e6)
    model = ritz.PCA(3).fit(X)
    assert np.array_equal(model.transform(X), model.transform(StreamBlocks(ArraySource(X, [50, 333])))) or np.allclose(
        model.transform(X), model.transform(StreamBlocks(ArraySource(X, [50, 333]))), rtol=1e-12, atol=1e-9
    )


def test_nan_is_named_by_its_row_in_the_whole_table():
    X = spectrum(1000, 4)
    X[871, 2] = np.nan
    with pytest.raises(ritz.NonFiniteError, match="row 871 column 2"):
        ritz.PCA(2).fit(StreamBlocks(ArraySource(X, [300, 600])))


def test_batches_fit_the_budget():
    assert 3 * 2 * batch_bytes(50e6, 2) <= 50e6
    assert batch_bytes(None, 2) == batch_bytes(1e12, 2)


def test_read_ahead_gives_everything_in_order_and_passes_errors_on():
    assert list(ahead(iter(range(100)))) == list(range(100))

    def broken():
        yield 1
        raise ValueError("here")

    with pytest.raises(ValueError, match="here"):
        list(ahead(broken()))
    before = threading.active_count()
    for item in ahead(iter(range(10**6))):
        if item == 3:
            break
    assert threading.active_count() <= before + 1


def test_passes_are_counted_and_told(caplog):
    X = spectrum(400, 6)
    events = []
    caplog.set_level("INFO", "ritz")
    model = ritz.PCA(2, progress=lambda event: events.append(event)).fit(StreamBlocks(ArraySource(X, [100])))
    assert model.plan_.actual_passes == 1
    assert "PCA: 19.2 kB will be read once" in caplog.text
    assert events[-1].bytes == pytest.approx(X.nbytes, rel=0.01)
    assert events[-1].expected == X.nbytes
    assert events[-1].passes == pytest.approx(1)


@pytest.mark.parametrize("order", ["C", "F"])
def test_a_mapped_file_larger_than_the_limit_is_read_instead(tmp_path, order):
    X = spectrum(3000, 40, offset=3.0)
    np.save(tmp_path / "x.npy", np.asarray(X, order=order))
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    agree(ritz.PCA(3).fit(X), ritz.PCA(3).fit(mapped))
    source = NpySource.of_map(mapped)
    agree(ritz.PCA(3).fit(X), ritz.PCA(3).fit(StreamBlocks(source)))
    big = np.memmap(tmp_path / "raw.bin", np.float32, "w+", offset=128, shape=(60_000, 200))
    rng = np.random.default_rng(0)
    big[:] = rng.standard_normal(big.shape, dtype=np.float32) * np.geomspace(4, 1, 200, dtype=np.float32)
    streamed = ritz.PCA(3, memory="60MB").fit(big)
    assert "one pass over the rows forms" in str(streamed.plan_)
    truth = ritz.PCA(3).fit(np.asarray(big))
    assert np.allclose(streamed.explained_variance_, truth.explained_variance_, rtol=1e-6)
    part = ritz.PCA(3, memory="60MB").fit(big[1000:])  # a part of a file is an array like any other
    assert "one pass over the rows forms" not in str(part.plan_)


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10**6), parts=st.integers(2, 6))
def test_order_of_rows_and_of_merging_does_not_matter(seed, parts):
    rng = np.random.default_rng(seed)
    X = spectrum(300, 6, seed=seed % 50, offset=1e4)
    truth = ritz.PCA(3).fit(X)
    agree(truth, ritz.PCA(3).fit(StreamBlocks(ArraySource(X[rng.permutation(300)], [100]))))
    cuts = np.sort(rng.choice(np.arange(1, 300), parts - 1, replace=False))
    states = [ritz.PCA(3).partial_fit(part) for part in np.split(X, cuts)]
    left = states[0]
    for state in states[1:]:
        left = left.merge(state)
    right = states[-1]
    for state in states[-2::-1]:
        right = state.merge(right)
    shuffled = [states[i] for i in rng.permutation(parts)]
    mixed = ritz.merge(*shuffled)
    top = truth.explained_variance_[0]
    for one in (left, right, mixed):
        assert np.max(np.abs(one.explained_variance_ - left.explained_variance_)) <= 1e-12 * top
    back = left.subtract(states[0])
    rest = ritz.PCA(3).fit(X[cuts[0] :])
    told = float(next(note for note in back.certificate_.notes if "exact to" in note).split("exact to ")[1].split()[0])
    error = np.max(np.abs(back.explained_variance_ - rest.explained_variance_))
    assert error <= max(told, 1e-14) * rest.total_variance_ * 8
