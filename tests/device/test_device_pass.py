"""Moment passes on a device: sums that are right, rounding that is bounded, and the fused kernel by the interpreter."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from ritz.data.engines.device.blocks import DeviceBlocks  # noqa: E402
from ritz.data.passes import gram  # noqa: E402
from ritz.data.passes.blocks import Block, blocks_of  # noqa: E402
from ritz.data.passes.device import gram_triton  # noqa: E402
from ritz.data.passes.device.rounding import Slabs  # noqa: E402
from ritz.data.passes.statistics import Statistics  # noqa: E402

RNG = np.random.default_rng(3)


def _tables() -> dict[str, np.ndarray]:
    gaussian = RNG.standard_normal((5000, 12)) * np.linspace(1, 9, 12) + 50
    return {
        "gaussian": gaussian,
        "two values": RNG.integers(0, 2, (5000, 12)) + 0.3,
        "equal rows": np.tile(gaussian[:40], (100, 1)),
        "a far row": np.vstack([gaussian, gaussian[:1] * 1e3]),
        "a constant": np.hstack([gaussian, np.full((5000, 1), 7.0)]),
    }


def _truth(X: np.ndarray) -> np.ndarray:
    """The scatter matrix in extended precision."""
    Z = X.astype(np.longdouble)
    Z = Z - Z.mean(axis=0)
    return np.asarray(Z.T @ Z, np.float64)


@pytest.mark.parametrize("name", _tables())
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_rounding_of_a_pass_on_a_device_is_within_its_bound(
    name: str, dtype: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gram, "SHORT_WORK", 1e3)  # small tables would be summed in short pieces
    monkeypatch.setattr(gram_triton, "usable", lambda: False)
    X = _tables()[name].astype(dtype)
    truth = _truth(X)
    there = Statistics(DeviceBlocks(torch.from_numpy(X), rows=2048), None, dtype).moments
    here = Statistics(blocks_of(X), None, dtype).moments
    error = np.linalg.norm(there.scatter - truth, 2)
    assert error <= there.noise
    # of products in float32 the bound is no wider than twice that of the host; float64 has another allowance there
    assert there.noise <= max(2 * here.noise, 1e-12 * np.trace(truth))
    mean = np.asarray(X.astype(np.longdouble).mean(axis=0), np.float64)
    np.testing.assert_allclose(there.mean, mean, rtol=1e-7 if dtype == np.float32 else 1e-15)


def test_weights_and_the_unit_enter_as_on_the_host() -> None:
    X, w = _tables()["gaussian"], RNG.integers(0, 4, 5000).astype(float)
    for scale in (1.0, 2.0**400, 2.0**-400):
        rows = X * scale
        here, there = (
            Statistics(blocks, w, np.float64).moments
            for blocks in (blocks_of(rows), DeviceBlocks(torch.from_numpy(rows), rows=512))
        )
        assert there.unit == here.unit
        lengths = np.sqrt(np.diag(here.scatter))
        assert np.max(np.abs(there.scatter - here.scatter) / lengths / lengths[:, None]) < 1e-14


@pytest.fixture
def kernel(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The fused kernel as the interpreter of Triton runs it, with short slabs and narrow tiles."""
    pytest.importorskip("triton")
    if not gram_triton.interpreted():
        pytest.skip("Triton was loaded for a graphics processor: tests marked gpu run the compiled kernel")
    for name, value in {"TILE": 16, "FLUSH": 4, "GROUPS": 2, "SLAB_ROWS": 128, "WIDEST": 32, "SAMPLED": 64}.items():
        monkeypatch.setattr(gram_triton, name, value)
    return gram_triton


@pytest.mark.parametrize(("n", "d", "weighted"), [(300, 5, False), (500, 40, True), (129, 70, False)])
def test_the_fused_kernel_forms_the_gram_matrix_to_float32(kernel: Any, n: int, d: int, weighted: bool) -> None:
    X = (RNG.standard_normal((n, d)) * np.exp(3 * RNG.standard_normal(d)) + 100).astype(np.float32)
    w = RNG.integers(0, 4, n).astype(np.float64) if weighted else np.ones(n)
    root = torch.from_numpy(np.sqrt(w)).float() if weighted else None
    shift = X.mean(axis=0)
    slabs = Slabs(torch.from_numpy(X), torch.from_numpy(shift), 1.0, root, torch.float32, kernel.SLAB_ROWS)
    m, S, held = kernel.gram(slabs)
    assert bool(held)
    Z = (X - shift).astype(np.float64)
    truth = (Z * w[:, None]).T @ Z
    lengths = np.sqrt(np.diag(truth))
    assert np.max(np.abs(S.numpy() - truth) / lengths / lengths[:, None]) < 4e-7
    assert np.max(np.abs(m.numpy() - w @ Z) / (w @ np.abs(Z))) < 2e-7
    np.testing.assert_allclose(slabs.product(list(range(slabs.count))).sum(dim=0).numpy(), S.numpy(), rtol=1e-12)
    np.testing.assert_allclose(float(slabs.masses.sum()), np.trace(truth), rtol=1e-6)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # the interpreter says what a graphics processor does not
def test_numbers_that_float16_pairs_do_not_hold_are_left_to_plain_products(kernel: Any) -> None:
    X = RNG.standard_normal((500, 4)).astype(np.float32)
    X[499, 2] = 1e7  # beside numbers near one, and in no row that is sampled for their length
    slabs = Slabs(torch.from_numpy(X), torch.zeros(4), 1.0, None, torch.float32, kernel.SLAB_ROWS)
    with np.errstate(all="ignore"):  # of the interpreter: infinity times nothing
        assert not bool(kernel.gram(slabs)[2])


def test_a_fit_by_the_fused_kernel_is_certified(kernel: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gram, "SHORT_WORK", 1e3)
    X = _tables()["gaussian"][:1500].astype(np.float32)
    there = Statistics(DeviceBlocks(torch.from_numpy(X), rows=512), None, np.float32).moments
    assert np.linalg.norm(there.scatter - _truth(X), 2) <= there.noise <= 1e-5 * np.trace(there.scatter)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # the interpreter says what a graphics processor does not
@pytest.mark.parametrize("at", [None, 3, 700, 1499])
@pytest.mark.parametrize("weighted", [False, True])
def test_blocks_that_float16_pairs_do_not_hold_are_summed_once(
    kernel: Any, monkeypatch: pytest.MonkeyPatch, at: int | None, weighted: bool
) -> None:
    monkeypatch.setattr(gram, "SHORT_WORK", 1e3)
    monkeypatch.setattr(kernel, "block_height", lambda d: 512)
    X = _tables()["gaussian"][:1500].astype(np.float32)
    if at is not None:
        X[at, 2] = (
            1e9  # the first block, one in the middle, and the last one, which is looked at when noise is asked for
        )
    w = RNG.integers(1, 4, 1500).astype(float) if weighted else None
    with np.errstate(all="ignore"):
        there = Statistics(DeviceBlocks(torch.from_numpy(X)), w, np.float32).moments
    Z = np.repeat(X, 1 if w is None else w.astype(int), axis=0)
    assert np.linalg.norm(there.scatter - _truth(Z), 2) <= there.noise <= 1e-5 * np.trace(there.scatter)
    np.testing.assert_allclose(there.mean, Z.astype(np.float64).mean(axis=0), rtol=1e-5)


def test_sums_of_two_devices_are_those_of_one(kernel: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from ritz.data.passes.device.dense import DevicePass

    X = _tables()["gaussian"][:1500].astype(np.float32)
    shift = X[0].astype(np.float64)
    parts = []
    for first, last in ((0, 900), (900, 1500)):
        part = DevicePass(shift, 1.0, None, np.dtype(np.float32), True, False, 1500)
        part.feed(Block(torch.from_numpy(X[first:last]), first))
        part.close()
        parts.append(part)
    parts[0].merge(parts[1])  # both of whose last blocks nobody has looked at
    Z = (X - X[0]).astype(np.float64)
    assert np.isclose(parts[0].mass, np.sum(Z * Z), rtol=1e-6)
    assert np.linalg.norm(parts[0].finish() - Z.T @ Z, 2) <= parts[0].noise()


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("weighted", [False, True])
def test_columns_are_brought_to_lengths_near_one(kernel: Any, weighted: bool) -> None:
    lengths = np.array([1e-30, 3e-3, 1.0, 4.0, 7e5, 1e30, 0.0, np.inf])
    X = (RNG.standard_normal((200, 8)) * np.where(np.isfinite(lengths), lengths, 1.0)).astype(np.float32)
    X[0, 7] = np.inf
    w = RNG.integers(1, 5, 200).astype(np.float32)
    root = torch.from_numpy(np.sqrt(w)) if weighted else None
    slabs = Slabs(torch.from_numpy(X), torch.zeros(8), 0.5, root, torch.float32, kernel.SLAB_ROWS)
    with np.errstate(all="ignore"):
        scale = kernel._scale(slabs).numpy().astype(np.float64)
    some = (X * 0.5 * (np.sqrt(w)[:, None] if weighted else 1.0))[::3].astype(np.float64)  # of 64 that are asked for
    size = np.sqrt(np.mean(some[:, 1:5] ** 2, axis=0)) * scale[1:5]
    assert np.all((size >= 0.5) & (size < 1))
    np.testing.assert_array_equal(scale[[0, 5, 6, 7]], [scale[0], scale[5], 1.0, 1.0])
    assert 2.0**95 < scale[0] <= 2.0**100
    assert 2.0**-101 < scale[5] < 2.0**-95
    assert np.all(np.frexp(scale)[0] == 0.5)
