"""What travels to the workers, and that no task changes what it is given."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

from ritz.data.engines.dask.blocks import DaskBlocks
from ritz.data.engines.dask.task import as_rows, merge, run_pass
from ritz.data.engines.dask.worker import _Gate, careful
from ritz.data.engines.parcel import CutArray, Parcel
from ritz.data.engines.partition import MERGED_AT_ONCE, Layout, Part
from ritz.data.passes.accumulate import Sums
from ritz.data.passes.blocks import Block
from ritz.data.passes.finite import _Found
from ritz.operators.affine import Affine

da = pytest.importorskip("dask.array", reason="dask is not installed")

N, D = 20_000, 3


class Total(Sums):
    """Σwx, and which rows were seen."""

    SUMS, LISTS = ("total",), ("seen",)

    def __init__(self) -> None:
        self.total, self.seen = np.zeros(D), []  # type: ignore[var-annotated]


def _pair(w: np.ndarray) -> tuple[Any, Any]:
    def step(sums: Total, block: Block) -> None:
        sums.total += w[block.rows] @ block.values
        sums.seen.append(block.rows.start)

    return Total, step


@pytest.fixture
def rows() -> np.ndarray:
    return np.random.default_rng(0).standard_normal((N, D))


def test_a_long_array_is_taken_out_and_cut(rows: np.ndarray) -> None:
    w = np.arange(float(N))
    parcel = Parcel(_pair(w), (N, D), "pass", 0.0)
    (long,) = parcel.take_long()
    assert long is w
    assert sum(buffer.nbytes for buffer in parcel.buffers) + len(parcel.head) < w.nbytes / 10
    part = Part(1, 5_000, 3_000, Layout(D, False, 512))
    state = run_pass(parcel, part, True, [w[5_000:8_000]], [rows[5_000:8_000]])
    np.testing.assert_allclose(state["total"], w[5_000:8_000] @ rows[5_000:8_000])
    assert state["seen.1"] == 5_512


def test_a_short_or_ambiguous_array_travels_whole() -> None:
    short, square = np.arange(100.0), np.ones((300, 300))
    assert Parcel(_pair(short), (100, D), "pass", 0.0).take_long() == []
    assert Parcel(_pair(square), (300, 300), "pass", 0.0).take_long() == []  # rows or columns: nobody knows


def test_cut_arrays_are_indexed_by_rows_of_the_table() -> None:
    whole = np.arange(20.0)
    cut = CutArray(whole[5:9], 5, whole.shape, whole.dtype)
    assert np.array_equal(cut[slice(6, 8)], [6, 7])
    assert cut[slice(6, 8), None].shape == (2, 1)
    assert cut.shape == (20,)


def test_arrays_in_a_parcel_are_not_copied_when_it_is_opened() -> None:
    V = np.ones((500, 200))
    parcel = Parcel((None, lambda: V), (1000, 500), "pass", 0.0)
    _, step = parcel.open()
    assert np.shares_memory(step(), V)


def test_row_blocks_travel_as_an_outline(rows: np.ndarray) -> None:
    blocks = DaskBlocks(da.from_array(rows, chunks=(1000, D)))
    sent = pickle.dumps(Affine(blocks))
    assert len(sent) < 2_000
    again = pickle.loads(sent).blocks
    assert (again.shape, again.dtype, again.sparse) == (blocks.shape, blocks.dtype, blocks.sparse)
    assert not hasattr(again, "_client")


@pytest.mark.parametrize("create", [Total, lambda: _Found(np.zeros(D, np.int64))], ids=["sums", "what is not finite"])
def test_a_merge_that_is_run_again_gives_the_same(create: Any) -> None:
    states = []
    for i in range(3):
        sums = create()
        if isinstance(sums, Total):
            sums.total += i + 1.0
            sums.seen.append(i)
        else:
            sums.look(np.full((2, D), np.nan), 10 * i)
        states.append(sums.state())
    parcel = Parcel((create, None), (N, D), "pass", 0.0)
    before = copy.deepcopy(states)
    first, second = merge(parcel, states), merge(parcel, states)
    for given, kept in zip(states, before, strict=True):
        for key in given:
            assert np.array_equal(given[key], kept[key])
    for key in first:
        assert np.array_equal(first[key], second[key])


def test_the_tree_has_one_task_a_partition_and_merges_of_eight(rows: np.ndarray) -> None:
    blocks = DaskBlocks(da.from_array(rows, chunks=(1000, D)))  # 20 partitions: 3 merges of up to 8, then one
    parcel = blocks._parcel(_pair(np.ones(N)))
    keys = [str(key) for key in blocks._tree(parcel).dask if str(key).startswith("ritz-")]
    assert sum("-pass-" in key for key in keys) == 20
    assert sorted(key.split("-merge-")[1] for key in keys if "-merge-" in key) == ["1-0", "1-1", "1-2", "2-0"]
    assert MERGED_AT_ONCE == 8


def test_few_partitions_measure_rounding_for_all(rows: np.ndarray) -> None:
    from ritz.data.passes.gram import DensePass

    seen = []

    def create() -> DensePass:
        return DensePass(np.zeros(D), 1.0, None, np.dtype(float), True)

    blocks = DaskBlocks(da.from_array(rows, chunks=(200, D)))  # 100 partitions
    sums = blocks.map_reduce(create, lambda state, block: state.feed(block))
    seen = sums.errors
    assert 0 < len(seen) <= 8
    np.testing.assert_allclose(sums.finish(), rows.T @ rows, atol=1e-9)


def test_chunks_come_as_rows() -> None:
    import scipy.sparse as sp

    twice = sp.coo_array(([1.0, 2.0], ([0, 0], [1, 1])), shape=(1, 2))
    assert as_rows(twice).toarray().tolist() == [[0.0, 3.0]]
    with pytest.raises(ValueError, match="masked"):
        as_rows(np.ma.masked_array([[1.0, 2.0]], [[True, False]]))


def test_the_gate_lets_in_what_fits_and_always_one() -> None:
    import threading

    gate, inside, most = _Gate(), [0], [0]

    def work() -> None:
        with gate.admit(60.0, 100.0):
            inside[0] += 1
            most[0] = max(most[0], inside[0])
            threading.Event().wait(0.01)
            inside[0] -= 1

    threads = [threading.Thread(target=work) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert most[0] == 1
    with gate.admit(1e9, 100.0):  # nothing else is inside
        pass


def test_blas_is_limited_inside_a_task_and_free_again_afterwards() -> None:
    from threadpoolctl import threadpool_info

    def blas() -> list[int]:
        return [info["num_threads"] for info in threadpool_info() if info["user_api"] == "blas"]

    before = blas()
    with careful(0.0, {}):
        assert set(blas()) == {1}
    assert blas() == before
