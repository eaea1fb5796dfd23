"""Integers of every width are computed as float64; what float64 cannot hold is shifted first, or warned about."""

from __future__ import annotations

import warnings
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import ritz
from ritz._core.errors import DigitsLost
from ritz.data.passes.integers import subtract

RNG = np.random.default_rng(0)
SMALL = RNG.integers(-100, 101, (20000, 40))


def spectrum(B):
    """Eigenvalues of the scatter of small integers, whose entries float64 holds exactly."""
    n, sums = len(B), B.sum(axis=0)
    return np.linalg.eigvalsh((n * (B.T @ B) - np.outer(sums, sums)).astype(np.float64))[::-1] / n


TRUTH = spectrum(SMALL)


def holds(model, truth=TRUTH):
    c = model.certificate_
    true = truth[: len(c.values)]
    slack = 1e-15 * truth[0]
    assert np.all((c.lower <= true + slack) & (true <= c.upper + slack))
    assert np.all(c.upper - c.lower < 1e-12 * truth[0])
    assert model.components_.dtype == np.float64


@pytest.mark.parametrize(
    ("dtype", "offset"),
    [
        (np.int8, 0), (np.int16, 20000), (np.uint16, 40000), (np.int32, 10**9), (np.int32, 20240101),
        (np.uint32, 3 * 10**9), (np.int64, 10**15), (np.int64, 2**60), (np.int64, -(2**62)), (np.uint64, 2**63 + 5),
    ],
)  # fmt: skip
@pytest.mark.parametrize("solver", ["moments", "krylov"])
def test_integers_of_every_width_are_computed_as_float64(dtype, offset, solver):
    X = (SMALL.astype(object) + offset).astype(dtype)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DigitsLost)
        holds(ritz.PCA(4, solver=solver).fit(X))


@pytest.mark.parametrize("solver", ["svd", "moments", "krylov", "lanczos"])
def test_long_integers_keep_what_they_differ_by(solver):
    B = SMALL[:300]
    X = B + 2**61
    for rows, truth in ((X, spectrum(B)), (X[:30], spectrum(B[:30]))):  # tall, and wide: the other side
        with pytest.warns(DigitsLost, match="means beyond 2\\^53"):
            holds(ritz.PCA(3, solver=solver).fit(rows), truth)


def test_streams_batches_and_merges_of_integers(tmp_path):
    X = (SMALL + 10**9).astype(np.int32)
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
    frame.to_parquet(tmp_path / "x.parquet")
    np.save(tmp_path / "x.npy", X)
    holds(ritz.PCA(4).fit(frame))
    for name in ("x.parquet", "x.npy"):
        holds(ritz.PCA(4, memory="200MB").fit(ritz.read(tmp_path / name, memory="1MB")))
    parts = ritz.PCA(4)
    for rows in np.array_split(X, 7):
        parts.partial_fit(rows)
    holds(parts)


def test_dask_integers():
    array = pytest.importorskip("dask.array")
    holds(ritz.PCA(4).fit(array.from_array((SMALL + 10**9).astype(np.int32), chunks=(3000, 40))))


def test_sparse_integers_and_booleans():
    B = np.where(RNG.random(SMALL.shape) < 0.05, SMALL, 0)
    holds(ritz.PCA(4).fit(sp.csr_matrix(B.astype(np.int32))), spectrum(B))
    holds(ritz.PCA(4, solver="moments").fit(B != 0), spectrum((B != 0).astype(np.int64)))


def test_a_frame_of_integers_and_float32_loses_neither():
    frame = pd.DataFrame({"a": (SMALL[:, 0] + 10**9).astype(np.int32), "b": SMALL[:, 1].astype(np.float32) / 4})
    B = np.column_stack([4 * SMALL[:, 0], SMALL[:, 1]])
    c = ritz.PCA(2).fit(frame).certificate_
    np.testing.assert_allclose(c.values, spectrum(B) / 16, rtol=1e-13)


def test_long_integers_beside_floats_are_warned_about(tmp_path):
    frame = pd.DataFrame({"a": SMALL[:, 0] + 2**60, "b": SMALL[:, 1] / 4})
    with pytest.warns(DigitsLost, match="column 'a' holds integers beyond"):
        ritz.PCA(1).fit(frame)
    frame.to_parquet(tmp_path / "x.parquet")
    with pytest.warns(DigitsLost, match="integers beyond"):
        ritz.PCA(1).fit(ritz.read(tmp_path / "x.parquet"))
    with pytest.warns(DigitsLost, match="integers beyond"):
        ritz.KernelPCA(1, kernel="rbf", gamma=1.0).fit(SMALL[:20] + 2**60)


def test_verify_takes_long_integers():
    X = SMALL + 2**58
    with pytest.warns(DigitsLost):
        model = ritz.PCA(3).fit(X)
    model.certificate_.frame["mean"] = None if model.certificate_.frame.get("mean") is None else model.mean_
    assert model.certificate_.verify(X)


@pytest.mark.parametrize("dtype", [np.int64, np.uint64])
def test_subtraction_rounds_once(dtype):
    info = np.iinfo(dtype)
    x = np.array([[info.min, info.max], [info.max // 3, 7], [2**53 + 1, 2**62 + 3]], dtype=dtype)
    for shift in (np.array([0.0, 2.0**62]), np.array([-(2.0**60), 1e18]), np.array([0.5, 2.0**53])):
        out = np.empty(x.shape)
        subtract(x, shift, out)
        exact = [[Fraction(int(v)) - Fraction(float(s)) for v, s in zip(row, shift, strict=True)] for row in x]
        for row, true in zip(out, exact, strict=True):
            assert all(
                abs(Fraction(float(v)) - t) <= abs(t) * Fraction(2) ** -52 for v, t in zip(row, true, strict=True)
            )
