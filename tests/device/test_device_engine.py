"""Rows on a device behind the contract of engines; tensors of the host stand in for a graphics processor."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse

torch = pytest.importorskip("torch")

from ritz._core.device import torch_place  # noqa: E402
from ritz.data.engines import Asked, Columns, Engine  # noqa: E402
from ritz.data.engines.device import adopted_tensor, numpy_dtype  # noqa: E402
from ritz.data.engines.device.blocks import DeviceBlocks, csr_tensor  # noqa: E402
from ritz.data.engines.device.streamed import StreamedBlocks  # noqa: E402
from ritz.data.passes.blocks import MemoryBlocks  # noqa: E402
from ritz.testing import check_engine  # noqa: E402


class Held:
    """A tensor that stands for one on a device."""

    def __init__(self, tensor: Any) -> None:
        self.tensor = tensor


class StandIn(Engine):
    """The engine of devices for tensors of the host."""

    name = "stand-in"

    def takes(self, X: Any) -> bool:
        return isinstance(X, Held)

    def adopt(self, X: Any, asked: Asked) -> Any:
        return DeviceBlocks(adopted_tensor(X.tensor), rows=64)

    def columns(self, X: Any) -> Columns:
        return Columns(tuple(X.tensor.shape), numpy_dtype(X.tensor.dtype))


class Streams(StandIn):
    """Host rows that are computed with on a device."""

    def adopt(self, X: Any, asked: Asked) -> Any:
        rows = X.tensor.numpy() if X.tensor.layout is torch.strided else _host(X.tensor)
        return StreamedBlocks(MemoryBlocks(rows), torch_place("cpu"))


def _host(tensor: Any) -> Any:
    parts = (tensor.values(), tensor.col_indices(), tensor.crow_indices())
    return scipy.sparse.csr_array(tuple(part.numpy() for part in parts), shape=tuple(tensor.shape))


def make(rows: Any, lengths: list[int]) -> Held:
    if isinstance(rows, np.ndarray):
        return Held(torch.from_numpy(rows.copy()))
    csr = scipy.sparse.csr_array(rows)
    return Held(csr_tensor(*map(torch.from_numpy, (csr.indptr, csr.indices, csr.data)), csr.shape))


@pytest.mark.parametrize("engine", [StandIn(), Streams()], ids=["held", "streamed"])
def test_rows_on_a_device_keep_the_contract_of_engines(engine: Engine) -> None:
    check_engine(engine, make)
