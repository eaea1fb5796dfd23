"""Where numbers are computed: the processor, or a graphics processor through PyTorch.

    device="cpu"                 NumPy arrays in the memory of this machine
    device="cuda", "cuda:1"      tensors on a graphics processor
    device="cuda:all"            rows shared out over all of them
    device="auto"                the first graphics processor if there is one, else the processor
    device="torch:cpu"           tensors in the memory of this machine: the code of devices where there is none

A tensor that lies on a device already is taken where it lies. torch is loaded when a device is asked for, or when a
tensor was handed in, which only a loaded torch can have made. Tensors are worked on through the array API standard:
array-api-compat, or the copy of it that scikit-learn brings along.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import InputError, MemoryLimitError, MissingDependency, ParameterError
from ritz._core.imports import module_of
from ritz._core.linalg import HOST, Array, Place, namespace, place_of, to_numpy
from ritz._core.tolerance import SIGN_TIE

__all__ = [
    "check_device",
    "device_memory",
    "devices",
    "in_kind",
    "is_tensor",
    "is_there",
    "on_device",
    "place_for",
    "place_name",
    "places_for",
    "require_same",
    "signed_there", "signs_there",
    "tensor_of",
    "torch_namespace",
    "torch_place",
    "within_memory",
]  # fmt: skip

WORDS = 'device must be "cpu", "auto", "cuda", "cuda:all" or "cuda:" and the number of a graphics processor'
INSTALL = "pip install 'ritz[gpu]', on a machine with an NVIDIA driver; ritz doctor says what is found"


def is_tensor(X: Any) -> bool:
    """Whether ``X`` is a torch tensor; loads nothing."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(X, getattr(torch, "Tensor", ()))


def on_device(X: Any) -> bool:
    """Whether ``X`` is an array that does not lie in the memory of the host: torch, CuPy, anything with DLPack."""
    if is_tensor(X):
        return bool(X.device.type != "cpu")
    where = getattr(type(X), "__dlpack_device__", None)
    if where is None or not hasattr(type(X), "__dlpack__"):
        return False
    return int(X.__dlpack_device__()[0]) in (2, 13)  # kDLCUDA, kDLCUDAManaged


def tensor_of(X: Any) -> Any:
    """An array on a device as a torch tensor of the same memory."""
    return X if is_tensor(X) else _torch("an array on a graphics processor").from_dlpack(X)


def in_kind(result: Any, X: Any) -> Any:
    """A result as ``X`` is: a tensor on its device, an array of its library; what is no array stays as it is."""
    if not hasattr(result, "shape") or not hasattr(result, "dtype") or hasattr(result, "tocsr"):
        return result
    torch, where = _torch("an array on a device"), tensor_of(X).device
    tensor = result if is_tensor(result) else torch.from_numpy(result) if result.dtype.kind in "fiub" else None
    if tensor is None or is_tensor(X):
        return result if tensor is None else tensor.to(where)
    library = module_of(type(X).__module__.partition(".")[0])
    return library.from_dlpack(tensor.to(where)) if hasattr(library, "from_dlpack") else tensor.to(where)


def check_device(device: Any) -> None:
    """Refuse what names no device; nothing is loaded for those that do."""
    plain = isinstance(device, str) and (
        device in ("cpu", "auto", "cuda", "cuda:all", "torch:cpu") or _number(device) is not None
    )
    if not plain:
        raise ParameterError(
            WORDS, received=repr(device), hint='device="auto" takes a graphics processor if there is one'
        )


def _number(device: str) -> int | None:
    head, _, tail = device.partition(":")
    return int(tail) if head == "cuda" and tail.isdecimal() else None


def devices() -> list[str]:
    """Names of the graphics processors that torch can use; none without torch."""
    from importlib.util import find_spec

    if find_spec("torch") is None:
        return []
    torch = module_of("torch")
    return [str(torch.cuda.get_device_name(i)) for i in range(torch.cuda.device_count())] if _usable(torch) else []


def place_for(device: str) -> Place:
    """Where ``device`` is, as a place for arrays."""
    if device == "cpu":
        return HOST
    check_device(device)
    device = "cuda" if device == "cuda:all" else device
    if device == "auto":
        return torch_place("cuda:0") if devices() else HOST
    torch = _torch(f"device={device!r}")
    if device == "torch:cpu":
        return torch_place("cpu")
    count = torch.cuda.device_count() if _usable(torch) else 0
    number = _number(device) or 0
    if number >= count:
        there = "none is visible" if not count else f"{count} {'is' if count == 1 else 'are'} visible, counted from 0"
        raise ParameterError(
            f"device={device!r} needs that graphics processor",
            received=f"torch {torch.__version__}, to which {there}",
            hint=INSTALL if not count else 'device="cuda:0", or device="cpu"',
        )
    return torch_place(f"cuda:{number}")


def places_for(device: str) -> list[Place]:
    """The places of ``device``: one, or with "cuda:all" every graphics processor that is visible."""
    first = place_for("cuda" if device == "cuda:all" else device)
    if device != "cuda:all":
        return [first]
    return [torch_place(f"cuda:{i}") for i in range(module_of("torch").cuda.device_count())]


def is_there(device: str) -> bool:
    """Whether this machine has a device."""
    try:
        place_for(device)
    except (ParameterError, MissingDependency):
        return False
    return True


def torch_place(device: Any) -> Place:
    """The place of tensors on one device of torch."""
    return Place(torch_namespace(), module_of("torch").device(device))


def place_name(place: Place) -> str:
    """How ``device=`` calls a place."""
    return "cpu" if place.device is None else "torch:cpu" if place.device.type == "cpu" else str(place.device)


def _usable(torch: Any) -> bool:
    return bool(torch.cuda.is_available())


def _torch(what: str) -> Any:
    try:
        return module_of("torch")
    except ImportError as error:
        raise MissingDependency(f"{what} needs PyTorch, which is not installed", hint=INSTALL) from error


@lru_cache(maxsize=1)
def torch_namespace() -> Any:
    """The array API standard for torch."""
    try:
        return module_of("array_api_compat.torch")
    except ImportError:
        return module_of("sklearn.externals.array_api_compat.torch")


def device_memory(place: Place) -> tuple[float, float]:
    """Bytes that are free on a device, what torch keeps for later included, and all its bytes."""
    torch = module_of("torch")
    if place.device is None or place.device.type == "cpu":
        from ritz._core.memory import available

        free = float(available())
        return free, free
    free, total = torch.cuda.mem_get_info(place.device)
    kept = torch.cuda.memory_reserved(place.device) - torch.cuda.memory_allocated(place.device)
    return float(free + kept), float(total)


@contextmanager
def within_memory(place: Place, what: str) -> Iterator[None]:
    """Turn what torch raises where a device has no room into words, and give back what was kept for later."""
    try:
        yield
    except Exception as error:
        if "OutOfMemory" not in type(error).__name__:
            raise
        module_of("torch").cuda.empty_cache()
        free, total = device_memory(place)
        raise MemoryLimitError(
            f"{what} must fit into the memory of {place.device}",
            received=f"{free / 1e9:.1f} of {total / 1e9:.1f} GB are free",
            hint="close what else uses the device, take fewer components, or device='cpu'",
        ) from error


def require_same(place: Place, X: Any) -> None:
    """Refuse a tensor that lies on another device than the one asked for."""
    if X.device != place.device:
        raise InputError(
            f"rows must lie on the device that was asked for, {place.device}",
            received=f"a tensor on {X.device}",
            hint=f"X.to({str(place.device)!r}), or leave device='cpu': a tensor is taken where it lies",
        )


def signs_there(V: Array) -> NDArray[np.float64]:
    """``signs`` of an array of another library, where it lies."""
    return to_numpy(signed_there(V)).astype(np.float64)


def signed_there(V: Array) -> Array:
    """The same, and they stay there."""
    xp, n = namespace(V), V.shape[0]
    size = xp.abs(V)
    large = size >= (1 - SIGN_TIE) * xp.max(size, axis=0)
    rows = xp.reshape(xp.arange(n, dtype=xp.int64, device=place_of(V).device), (n, 1))
    first = xp.min(xp.where(large, rows, xp.full_like(rows, n)), axis=0)
    picked = xp.sum(xp.where(rows == first, V, xp.zeros_like(V)), axis=0)
    return xp.where(picked < 0, -xp.ones_like(picked), xp.ones_like(picked))
