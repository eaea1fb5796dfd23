"""Gaps however the rows come: cut, streamed, weighted, copied, far from zero, in other units and precisions."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ritz.methods.missing.em as em
from ritz._core.errors import InputError
from ritz.data.engines.stream.blocks import StreamBlocks
from ritz.data.formats.source import Span
from ritz.data.passes.blocks import MemoryBlocks
from ritz.methods.missing.em import Filling, iterate
from ritz.methods.missing.missing import complete

METHODS = ("mean", "em", "regularized")


class Held:
    """A source that hands out an array in spans, as a file would."""

    sparse = False

    def __init__(self, X: np.ndarray, cuts: Sequence[int]) -> None:
        self.X, self.names, self.dtype, self.nbytes = X, [f"c{j}" for j in range(X.shape[1])], X.dtype, X.nbytes
        edges = [0, *cuts, len(X)]
        self.spans = [Span(a, b) for a, b in itertools.pairwise(edges)]
        self.files: list[Path] = []

    def batches(self, span: Span, columns: Sequence[int] | None, rows: int) -> Iterator[Any]:
        for start in range(span.start, span.stop, rows):
            part = self.X[start : min(start + rows, span.stop)]
            yield part if columns is None else part[:, columns]

    def fingerprint(self) -> str:
        return "held"


def gappy(n: int = 90, d: int = 9, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 2)) @ rng.standard_normal((2, d)) + 0.4 * rng.standard_normal((n, d))
    X[rng.random((n, d)) < 0.2] = np.nan
    X[np.isnan(X).all(axis=1), 0] = 0.0
    return X


def fill(X: np.ndarray, method: str, blocks: Any = None, k: int = 2, **options: Any) -> np.ndarray:
    options = {"center": True, "scale": False, "tol": 1e-9, **options}
    weights = options.pop("weights", None)
    found = complete(MemoryBlocks(X) if blocks is None else blocks, weights, method, k, **options).filler
    assert found is not None
    return found.fill(X, 0)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("scale", [False, True])
def test_cuts_and_streams_do_not_matter(method: str, scale: bool) -> None:
    X = gappy()
    truth = fill(X, method, scale=scale)
    for blocks in (
        MemoryBlocks(X, 1),
        MemoryBlocks(X, 37),
        StreamBlocks(Held(X, [5, 50, 51])),
        StreamBlocks(Held(X, [])),
    ):
        assert np.max(np.abs(fill(X, method, blocks, scale=scale) - truth)) < 1e-10


@pytest.mark.parametrize("method", METHODS)
def test_the_order_of_rows_does_not_matter(method: str) -> None:
    X = gappy()
    order = np.random.default_rng(3).permutation(len(X))
    assert np.max(np.abs(fill(X[order], method) - fill(X, method)[order])) < 1e-10


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("center", [True, False])
def test_weights_are_copies_and_zero_is_absence(method: str, center: bool) -> None:
    X, w = gappy(), np.random.default_rng(1).integers(1, 4, 90)
    copies = fill(np.repeat(X, w, axis=0), method, center=center)
    weighted = fill(X, method, weights=w.astype(float), center=center)
    assert np.max(np.abs(np.repeat(weighted, w, axis=0) - copies)) < 1e-8
    w[:10] = 0
    streamed = StreamBlocks(Held(X, [40]), absent=w == 0)
    assert np.max(np.abs(fill(X, method, streamed, weights=w.astype(float)) - fill(
        X, method, MemoryBlocks(X[10:]), weights=w[10:].astype(float)))) < 1e-8  # fmt: skip


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("unit", "mean"), [(1.0, 1e8), (1e-150, 0.0), (1e140, 0.0), (1e-3, -1e3)])
def test_far_means_and_strange_units_cost_only_what_they_round(method: str, unit: float, mean: float) -> None:
    X = gappy()
    found = (fill(X * unit + mean, method) - mean) / unit
    assert np.max(np.abs(found - fill(X, method))) < 1e-7 + 20 * 2.0**-53 * abs(mean) / unit


@pytest.mark.parametrize("method", METHODS)
def test_float32_and_float16_rows_give_float32(method: str) -> None:
    X = gappy()
    assert fill(X.astype(np.float32), method).dtype == np.float32
    assert np.max(np.abs(fill(X.astype(np.float32), method) - fill(X, method))) < 3e-6
    assert fill(X.astype(np.float16), method).dtype == np.float32


@pytest.mark.parametrize("method", ["em", "regularized"])
def test_rows_about_zero(method: str) -> None:
    """Without centring a constant is one more axis: two axes and a far mean need three."""
    rng = np.random.default_rng(0)
    T = rng.standard_normal((200, 2)) @ rng.standard_normal((2, 10)) + 50.0
    X = np.where(rng.random(T.shape) < 0.2, np.nan, T)
    X[:, 0] = T[:, 0]
    assert np.max(np.abs(fill(X, method, k=3, center=False) - T)) < 1e-4


@pytest.mark.parametrize("method", METHODS)
def test_columns_with_hardly_anything(method: str) -> None:
    X = gappy()
    X[:, :3] = np.where(np.isnan(X[:, :3]), 0.5, X[:, :3])
    X[2:, 3], X[:2, 3] = np.nan, (1.0, 2.0)
    X[1:, 5], X[0, 5] = np.nan, 4.0
    X[:, 7] = np.where(np.isnan(X[:, 7]), np.nan, 6.0)
    found = fill(X, method, scale=True)
    assert np.all(np.isfinite(found))
    assert np.allclose(found[:, 5], 4.0, atol=1e-12)
    assert np.allclose(found[:, 7], 6.0, atol=1e-12)


@pytest.mark.parametrize("scale", [False, True])
@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("shrinks", [False, True])
def test_many_columns_by_a_block_of_vectors(
    monkeypatch: pytest.MonkeyPatch, scale: bool, center: bool, shrinks: bool
) -> None:
    X = gappy(60, 30)
    blocks = MemoryBlocks(X)
    filling = Filling(blocks, None, em_observed(blocks), 2, shrinks, center, scale)
    gram = iterate(filling, 1e-10).filler.fill(X)
    monkeypatch.setattr(em, "GRAM_COLUMNS", 5)
    assert np.max(np.abs(iterate(filling, 1e-10).filler.fill(X) - gram)) < 1e-7


def em_observed(blocks: Any) -> Any:
    from ritz.data.passes.observed import observe

    return observe(blocks)


@pytest.mark.parametrize("method", METHODS)
def test_streamed_refusals_count_rows_from_the_start(method: str) -> None:
    X = gappy()
    X[77] = np.nan
    with pytest.raises(InputError, match="nothing observed in row 77"):
        fill(X, method, StreamBlocks(Held(X, [30, 60])))
    X = gappy()
    X[:, 4] = np.nan
    with pytest.raises(InputError, match="nothing observed in column 'c4'"):
        complete(StreamBlocks(Held(X, [30])), None, method, 2, center=True, scale=False, tol=1e-6,
                 names=[f"c{j}" for j in range(9)])  # fmt: skip
