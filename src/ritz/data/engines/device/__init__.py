"""Rows on a graphics processor: torch tensors, CuPy arrays, everything with DLPack whose memory is not the host's.

    tensor (n, d), dense or CSR  →  DeviceBlocks, the same memory        rows of the host + device="cuda"  →  place.py

Passes that are written for devices run there (``passes/device``, ``operators/device``); to all others the rows are
handed out as host blocks, copied from the device. So every method takes such rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ritz._core.device import is_tensor, on_device, tensor_of
from ritz._core.errors import InputError
from ritz.data.engines import Asked, Columns, Engine
from ritz.data.words import describe

__all__ = ["ENGINE", "adopted_tensor", "numpy_dtype"]

#: The dtypes of torch that NumPy does not know, by the one that they are computed in.
WIDER = {"bfloat16": "float32", "float8_e4m3fn": "float32", "float8_e5m2": "float32"}


class Device(Engine):
    """Rows on a graphics processor."""

    name = "device"

    def takes(self, X: Any) -> bool:
        """Tensors and arrays whose memory is not the host's."""
        return not isinstance(X, np.ndarray) and on_device(X)

    def adopt(self, X: Any, asked: Asked) -> Any:
        """Row blocks of the same memory."""
        from ritz.data.engines.device.blocks import DeviceBlocks

        tensor = adopted_tensor(X)
        if tensor.layout is not _strided() and not asked.accept_sparse:
            raise InputError("dense rows: this method takes no sparse ones", received=describe(X), hint="X.to_dense()")
        return DeviceBlocks(tensor)

    def columns(self, X: Any) -> Columns:
        """Shape and dtype."""
        return Columns((int(X.shape[0]), int(X.shape[1])), numpy_dtype(tensor_of(X).dtype))

    def opened(self, X: Any, memory: Any = None) -> Any:
        """Columns of numbers, in memory."""
        from ritz.data.encode.columns import memory_columns

        return memory_columns(adopted_tensor(X).cpu().numpy(), memory=memory)

    def outside(self, X: Any) -> bool:
        """No: they are held, and a pass over them costs little."""
        return False


def _strided() -> Any:
    import torch

    return torch.strided


def numpy_dtype(dtype: Any) -> np.dtype[Any]:
    """The NumPy dtype that rows of a torch dtype are handed out in."""
    name = str(dtype).rpartition(".")[2]
    return np.dtype(WIDER.get(name, name))


def adopted_tensor(X: Any) -> Any:
    """An array on a device, or a tensor, as rows: two dimensions of real numbers, dense or CSR, outside autograd."""
    tensor = tensor_of(X).detach() if is_tensor(X) else tensor_of(X)
    if tensor.ndim != 2:
        raise InputError(
            f"Expected 2D array, got {tensor.ndim}D array instead",
            received=describe(X),
            hint="X.reshape(-1, 1) if the rows have one column, X.reshape(1, -1) if there is one row",
        )
    if tensor.is_complex():
        raise InputError(
            "Complex data not supported",
            received=f"dtype {tensor.dtype}",
            hint="pass real and imaginary parts as columns of their own: torch.hstack([X.real, X.imag])",
        )
    for axis, what in ((0, "sample"), (1, "feature")):
        if tensor.shape[axis] == 0:
            raise InputError(
                f"Found array with 0 {what}(s) (shape={tuple(tensor.shape)}) while a minimum of 1 is required",
                received=describe(X), hint=f"pass at least one {'row' if axis == 0 else 'column'}",
            )  # fmt: skip
    import torch

    if tensor.layout is torch.strided:
        return tensor
    tensor = tensor if tensor.layout is torch.sparse_csr else tensor.to_sparse_csr()
    if not tensor.dtype.is_floating_point:  # products of the library are those of floats
        tensor = tensor.to(torch.float64)
    return tensor


ENGINE = Device()
