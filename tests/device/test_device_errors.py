"""What is said where a device is not there, or rows on it are wrong, or it has no room; host and device never mix."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

import ritz
from ritz._core.errors import InputError, MemoryLimitError, MissingDependency, NonFiniteError, ParameterError

torch = pytest.importorskip("torch")

from ritz._core import device as devices  # noqa: E402
from ritz._core.device import torch_place  # noqa: E402
from ritz.data.engines import device as engine_module  # noqa: E402
from ritz.data.engines import engine_of  # noqa: E402
from ritz.data.engines.device.blocks import DeviceBlocks  # noqa: E402
from ritz.data.engines.device.place import placed  # noqa: E402
from ritz.data.engines.device.room import LEAST_ROWS  # noqa: E402
from ritz.data.passes.device.dense import DevicePass  # noqa: E402
from ritz.data.passes.device.exact import exact  # noqa: E402
from ritz.data.passes.statistics import Statistics  # noqa: E402

X = np.random.default_rng(0).standard_normal((300, 4)) * [4, 3, 2, 1]


@pytest.fixture
def lying_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tensors of the host are taken for tensors on a device."""
    for module in (devices, engine_module):
        monkeypatch.setattr(module, "on_device", lambda x: isinstance(x, torch.Tensor))


@pytest.mark.parametrize("device", ["gpu", "cuda:x", "cuda:-1", "cuda:", 0, None, "CUDA"])
def test_what_names_no_device_is_refused(device: Any) -> None:
    with pytest.raises(ParameterError, match='device must be "cpu", "auto", "cuda"'):
        ritz.PCA(2, device=device).fit(X)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a graphics processor")
@pytest.mark.parametrize("estimator", [ritz.PCA(2), ritz.SVD(2), ritz.CA(2), ritz.LLE(2), ritz.RobustPCA(2)], ids=repr)
def test_a_device_that_is_not_there_is_an_error_that_says_what_to_install(estimator: Any) -> None:
    with pytest.raises(ParameterError, match=r"none is visible[\s\S]*ritz\[gpu\]"):
        estimator.set_params(device="cuda").fit(np.abs(X))


def test_without_torch_a_device_is_a_missing_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingDependency, match=r"needs PyTorch[\s\S]*ritz\[gpu\]"):
        ritz.PCA(2, device="cuda").fit(X)


def test_auto_is_the_processor_where_there_is_no_other() -> None:
    model = ritz.PCA(2, device="auto").fit(X)
    np.testing.assert_allclose(model.explained_variance_, ritz.PCA(2).fit(X).explained_variance_, rtol=1e-12)


@pytest.mark.usefixtures("lying_there")
def test_a_tensor_is_taken_where_it_lies_and_another_device_is_refused() -> None:
    rows = torch.from_numpy(X)
    assert engine_of(rows).name == "device"
    assert ritz.PCA(2).fit(rows).plan_.reasons[-1] == "passes and products run on torch:cpu"
    there = DeviceBlocks(torch.empty((3, 2), device="meta"))
    with pytest.raises(InputError, match=r"asked for, cpu; received a tensor on meta"):
        placed(there, "torch:cpu")


@pytest.mark.usefixtures("lying_there")
@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (torch.zeros(3, 2, dtype=torch.complex64), "Complex data not supported"),
        (torch.zeros(3), "Expected 2D array, got 1D array instead"),
        (torch.zeros(0, 3), r"Found array with 0 sample\(s\)"),
        (torch.zeros(3, 0), r"Found array with 0 feature\(s\)"),
    ],
)
def test_tensors_that_are_no_rows_are_refused(rows: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        ritz.PCA(1).fit(rows)


@pytest.mark.usefixtures("lying_there")
def test_numbers_of_any_real_dtype_are_taken_and_gradients_left_out() -> None:
    rows = torch.from_numpy(np.rint(10 * X))
    expected = ritz.PCA(2).fit(np.rint(10 * X)).explained_variance_
    for dtype in (torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.int64, torch.int32, torch.int16):
        given = rows.to(dtype).requires_grad_(dtype.is_floating_point)
        model = ritz.PCA(2).fit(given)
        np.testing.assert_allclose(model.explained_variance_, expected, rtol=1e-5 if dtype.itemsize < 8 else 1e-12)
        assert not model.transform(given).requires_grad
    bits = torch.from_numpy(X > 0)
    np.testing.assert_allclose(ritz.PCA(2).fit(bits).explained_variance_, ritz.PCA(2).fit(X > 0).explained_variance_)


def test_integers_beyond_float64_keep_their_differences() -> None:
    rows = np.arange(600).reshape(300, 2) % 7 + 2**60
    with pytest.warns(ritz.RitzWarning if hasattr(ritz, "RitzWarning") else Warning):
        there = ritz.PCA(2, device="torch:cpu").fit(rows)
    np.testing.assert_allclose(there.explained_variance_, ritz.PCA(2).fit(rows - 2**60).explained_variance_, rtol=1e-12)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_numbers_that_are_not_finite_are_named_by_row_and_column(bad: float) -> None:
    rows = X.copy()
    rows[17, 2] = bad
    for estimator in (ritz.PCA(2), ritz.SVD(2), ritz.PCA(2, solver="krylov")):
        with pytest.raises(NonFiniteError, match="row 17 column 2"):
            estimator.set_params(device="torch:cpu").fit(torch.from_numpy(rows))
    model = ritz.PCA(2, device="torch:cpu").fit(X)
    with pytest.raises(NonFiniteError, match="row 17 column 2"):
        model.transform(torch.from_numpy(rows))


def test_what_the_caller_told_torch_does_not_reach_a_product() -> None:
    before = torch.get_float32_matmul_precision()
    try:
        torch.set_float32_matmul_precision("medium")
        with torch.autocast("cpu", dtype=torch.bfloat16), exact(torch.device("cpu")):
            assert torch.get_float32_matmul_precision() == "highest"
            assert (torch.ones(2, 2) @ torch.ones(2, 2)).dtype == torch.float32
        assert torch.get_float32_matmul_precision() == "medium"
        with torch.autocast("cpu", dtype=torch.bfloat16):
            there = ritz.PCA(2, device="torch:cpu").fit(X).explained_variance_
        np.testing.assert_allclose(there, ritz.PCA(2).fit(X).explained_variance_, rtol=1e-12)
    finally:
        torch.set_float32_matmul_precision(before)


class OutOfMemoryError(RuntimeError):
    """As torch calls its own."""


def _little(monkeypatch: pytest.MonkeyPatch, most: int) -> list[int]:
    """A device that holds what is made of ``most`` rows, and no more; the blocks that it was given."""
    seen: list[int] = []
    feed = DevicePass.feed

    def fed(self: Any, block: Any) -> None:
        seen.append(len(block.values))
        if len(block.values) > most:
            raise OutOfMemoryError("CUDA out of memory")
        feed(self, block)

    monkeypatch.setattr(DevicePass, "feed", fed)
    return seen


def test_where_a_device_has_little_room_blocks_become_smaller(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = np.random.default_rng(1).standard_normal((9000, 3))
    seen = _little(monkeypatch, 3000)
    there = ritz.PCA(2, device="torch:cpu").fit(rows)
    assert seen[:3] == [9000, 4500, 2250]
    np.testing.assert_allclose(there.explained_variance_, ritz.PCA(2).fit(rows).explained_variance_, rtol=1e-12)


def test_where_a_device_has_no_room_at_all_the_error_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = _little(monkeypatch, 0)
    with pytest.raises(MemoryLimitError, match=r"must fit into the memory of cpu[\s\S]*device='cpu'"):
        Statistics(DeviceBlocks(torch.zeros(9000, 3)), None, np.float64).moments  # noqa: B018
    assert min(seen) >= LEAST_ROWS
    assert torch_place("cpu").device.type == "cpu"
