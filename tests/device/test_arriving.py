"""Rows of the host on their way to a device: whoever reads a block has it come, and a pass that takes rows as they come
gives the same bits as one over rows that are there."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from ritz._core.device import torch_place  # noqa: E402
from ritz.data.engines.device.blocks import Coming, DeviceBlocks  # noqa: E402
from ritz.data.engines.device.upload import Arriving  # noqa: E402
from ritz.data.passes import gram  # noqa: E402
from ritz.data.passes.blocks import Block  # noqa: E402
from ritz.data.passes.device import gram_triton  # noqa: E402
from ritz.data.passes.statistics import Statistics  # noqa: E402

RNG = np.random.default_rng(11)


def _arriving(x: np.ndarray, rows: int | None = None) -> DeviceBlocks:
    """Row blocks of a tensor that holds nothing but NaN yet."""
    coming = Arriving(x, torch_place(torch.device("cpu")))
    coming.out.fill_(float("nan"))
    return DeviceBlocks(coming.out, rows=rows, arriving=coming)


def _rows(n: int = 1500, d: int = 40) -> np.ndarray:
    return (RNG.standard_normal((n, d)) * np.linspace(1, 9, d) + 50).astype(np.float32)


def test_rows_come_as_far_as_they_are_asked_for() -> None:
    X = _rows()
    blocks = _arriving(X)
    held = blocks.arriving
    assert held is not None
    np.testing.assert_array_equal(blocks.take_there(100, 300).numpy(), X[100:300])
    assert held.there == 300
    assert bool(torch.isnan(held.out[300:]).all())
    np.testing.assert_array_equal(blocks.tensor.numpy(), X)
    assert blocks.arriving is None
    held.upto(10)  # what is there stays there
    np.testing.assert_array_equal(blocks.tensor.numpy(), X)


@pytest.mark.parametrize(
    "order",
    [lambda x: x, lambda x: np.asfortranarray(x), lambda x: x[::-1], lambda x: x[:, ::2], lambda x: x.astype(">f4")],
)
def test_rows_in_any_order_of_memory_arrive_as_they_are(order: Any) -> None:
    X = order(_rows())
    X.flags.writeable = False
    np.testing.assert_array_equal(_arriving(X).tensor.numpy(), X)


def test_a_block_on_its_way_is_whole_for_whoever_reads_its_values() -> None:
    X = _rows()
    found = list(_arriving(X, rows=600).each_there())
    assert all(isinstance(block, Coming) for block in found)
    assert [block.rows for block in found] == [slice(0, 600), slice(600, 1200), slice(1200, 1500)]
    for block in reversed(found):
        np.testing.assert_array_equal(Block(block.values, block.start).values.numpy(), X[block.rows])


def test_samples_and_copies_are_taken_on_the_host() -> None:
    X = _rows()
    blocks = _arriving(X)
    np.testing.assert_array_equal(blocks.sample(100), X[::15])
    assert blocks.to_host() is X
    assert blocks.arriving is not None
    assert blocks.arriving.there == 0


def test_rows_of_weight_zero_are_zeros_on_the_way_too() -> None:
    X = _rows()
    blocks = _arriving(X)
    gone = np.zeros(len(X), bool)
    gone[7] = True
    blocks.absent = gone
    found = torch.cat([block.values for block in blocks.each_there(400)]).numpy()
    assert not found[7].any()
    np.testing.assert_array_equal(np.delete(found, 7, axis=0), np.delete(X, 7, axis=0))


@pytest.fixture
def kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    """The fused kernel as the interpreter of Triton runs it, with short slabs, narrow tiles and short stretches."""
    pytest.importorskip("triton")
    if not gram_triton.interpreted():
        pytest.skip("Triton was loaded for a graphics processor: tests marked gpu run the compiled kernel")
    small = {"TILE": 16, "FLUSH": 4, "GROUPS": 2, "SLAB_ROWS": 128, "WIDEST": 32, "SAMPLED": 64}
    for name, value in (small | {"STRETCH_BYTES": 300 * 40 * 4}).items():
        monkeypatch.setattr(gram_triton, name, value)
    monkeypatch.setattr(gram, "SHORT_WORK", 1e3)


@pytest.mark.usefixtures("kernel")
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("height", [512, 10_000])
def test_a_pass_over_rows_on_their_way_gives_the_bits_of_one_over_rows_that_are_there(
    weighted: bool, height: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    X = _rows(1000)  # two blocks of 512, four stretches of 300
    w = RNG.integers(1, 4, len(X)).astype(float) if weighted else None
    monkeypatch.setattr(gram_triton, "block_height", lambda d: height)
    asked: list[int] = []
    blocks = _arriving(X)
    assert blocks.arriving is not None
    upto = blocks.arriving.upto
    monkeypatch.setattr(blocks.arriving, "upto", lambda stop: (asked.append(stop), upto(stop)))
    coming = Statistics(blocks, w, np.float32).moments
    there = Statistics(DeviceBlocks(torch.from_numpy(X)), w, np.float32).moments
    for name in ("scatter", "offset", "shift"):
        np.testing.assert_array_equal(getattr(coming, name), getattr(there, name))
    assert coming.noise == there.noise
    assert asked[0] == 256  # two slabs: products of theirs are begun before the others are sent
    assert max(asked) == len(X)


@pytest.mark.usefixtures("kernel")
@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # the interpreter says what a graphics processor does not
def test_rows_that_float16_pairs_do_not_hold_are_summed_once_on_the_way_too() -> None:
    X = _rows(700, 4)
    X[699, 2] = 1e7
    with np.errstate(all="ignore"):
        coming, there = (
            Statistics(blocks, None, np.float32).moments
            for blocks in (_arriving(X), DeviceBlocks(torch.from_numpy(X.copy())))
        )
    np.testing.assert_array_equal(coming.scatter, there.scatter)
    Z = X.astype(np.float64) - X.astype(np.float64).mean(axis=0)
    np.testing.assert_allclose(coming.scatter, Z.T @ Z, atol=1e-6 * float(np.sum(Z * Z)))
