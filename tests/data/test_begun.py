"""Samples cost nothing where a pass follows, and passes over columns as they lie give the same numbers."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ritz
from ritz.data.engines.stream.blocks import StreamBlocks
from ritz.data.engines.stream.sample import Begun, first_rows, sampled_spans
from ritz.data.formats.arrow import views
from ritz.data.formats.parquet import ParquetSource
from ritz.data.formats.source import Span


@pytest.fixture
def table(tmp_path):
    """Twelve row groups of 1,000 rows, each a span of its own."""
    X = np.random.default_rng(0).standard_normal((12_000, 100)) * np.geomspace(5, 0.1, 100) + 7
    pq.write_table(pa.table({f"x{j}": X[:, j] for j in range(100)}), tmp_path / "t.parquet", row_group_size=1000)
    return tmp_path / "t.parquet", X


@pytest.fixture
def source(table, monkeypatch):
    """The source, and the rows of each slice of columns that it decodes."""
    monkeypatch.setattr("ritz.data.formats.parquet.SPAN_BYTES", 1)
    monkeypatch.setattr("ritz.data.formats.parquet.BLOCK_BYTES", 1)
    decoded = []
    plain = ParquetSource._slice

    def counted(self, file, f, groups, fields, at):
        decoded.extend([1000 * len(groups)] * len(list(at)))
        return plain(self, file, f, groups, fields, at)

    monkeypatch.setattr(ParquetSource, "_slice", counted)
    return ParquetSource([table[0]]), decoded


def agree(model, X):
    truth = ritz.PCA(3).fit(X)
    assert np.max(np.abs(model.explained_variance_ - truth.explained_variance_)) <= 1e-12 * truth.explained_variance_[0]
    np.testing.assert_allclose(model.components_, truth.components_, atol=1e-10)


@pytest.mark.parametrize("lanes", [1, 2, 5])
def test_a_fit_decodes_every_row_once(source, table, monkeypatch, lanes):
    monkeypatch.setattr("ritz.data.engines.stream.blocks.lane_count", lambda: lanes)
    rows, decoded = source
    blocks = StreamBlocks(rows)
    assert blocks.lanes == lanes
    agree(ritz.PCA(3, solver="moments").fit(blocks), table[1])
    assert sum(decoded) == 12_000 * 100
    assert not blocks._begun


def test_a_sample_comes_from_where_lanes_begin(source, table, monkeypatch):
    monkeypatch.setattr("ritz.data.engines.stream.blocks.lane_count", lambda: 2)
    blocks = StreamBlocks(source[0])
    found = blocks.sample(100)
    assert found.shape == (100, 100)
    np.testing.assert_array_equal(found, np.concatenate([table[1][:50], table[1][6000:6050]]))
    assert blocks.sample(100) is found
    assert sum(source[1]) == 2000 * 100
    np.testing.assert_array_equal(blocks.sample(10), np.concatenate([table[1][:5], table[1][6000:6005]]))
    assert sum(source[1]) == 2000 * 100  # what is held tells more


@pytest.mark.parametrize("verb", ["each", "map_rows"])
def test_rows_are_handed_out_by_rows_after_a_sample(source, table, verb):
    blocks = StreamBlocks(source[0])
    blocks.sample(64)
    out = np.empty_like(table[1])
    if verb == "each":
        for block in blocks.each():
            assert block.values.flags.c_contiguous
            out[block.rows] = block.values
    else:
        blocks.map_rows(lambda _, block: block.values * block.values.flags.c_contiguous, out)
    np.testing.assert_array_equal(out, table[1])
    assert not blocks._begun


def test_absent_rows_stay_absent_after_a_sample(source, table):
    X = table[1].copy()
    weights = np.ones(len(X))
    weights[[3, 6010, 11_999]] = 0
    model = ritz.PCA(3, solver="moments").fit(StreamBlocks(source[0]), sample_weight=weights)
    agree(model, X[weights > 0])


def test_blocks_for_products_are_tall_where_there_is_room(source):
    blocks = StreamBlocks(source[0])
    blocks.batch, blocks.rows, blocks.spare = 900, 100, 2.0 * 500 * 100 * 8
    assert (blocks.for_products(600).rows, blocks.for_products(600).batch) == (600, 600)
    assert (blocks.for_products(601).rows, blocks.for_products(601).batch) == (100, 900)
    assert (blocks.for_products(0).rows, blocks.rows) == (100, 100)
    assert blocks.for_products(0).any_order
    assert not blocks.any_order


def test_begun_batches_are_let_go_when_they_are_handed_out():
    batches = [np.full((4, 2), float(i)) for i in range(3)]
    begun = Begun(iter(batches))
    np.testing.assert_array_equal(begun.first(6)[:, 0], [0, 0, 0, 0, 1, 1])
    np.testing.assert_array_equal(begun.first(2)[:, 0], [0, 0])
    watched = weakref.ref(batches[0])
    del batches
    rest = begun.all()
    assert [float(next(rest)[0, 0]) for _ in range(3)] == [0, 1, 2]
    assert next(rest, None) is None
    gc.collect()
    assert watched() is None
    assert Begun(iter([np.ones((2, 2))])).first(9).shape == (2, 2)


def test_few_spans_are_decoded_in_vain():
    spans = [Span(i, i + 1) for i in range(100)]
    assert [s.start for s in sampled_spans(spans, [], decodes=False)] == [0, 12, 24, 36, 48, 60, 72, 84]
    assert [s.start for s in sampled_spans(spans, [spans[0], spans[50]], decodes=True)] == [0, 50, 25, 75]
    assert [s.start for s in sampled_spans(spans[:12], [spans[0], spans[6]], decodes=True)] == [0, 6]
    assert [s.start for s in sampled_spans(spans[:12], [], decodes=True)] == [0]
    assert first_rows([], lambda span, rows: span, 10, 2) == []


@pytest.mark.parametrize(("n", "rows", "pieces"), [(10, 4, 1), (10, 100, 2), (1, 5, 2), (32_768, 5461, 2), (7, 7, 1)])
def test_pieces_are_about_equal(n, rows, pieces):
    parts = list(views(np.arange(n)[:, None], rows, pieces))
    np.testing.assert_array_equal(np.concatenate(parts)[:, 0], np.arange(n))
    assert len(parts) >= min(pieces, n)
    assert max(map(len, parts)) <= rows
    assert max(map(len, parts)) - min(map(len, parts)) <= len(parts)
