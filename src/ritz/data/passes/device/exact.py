"""Products of tensors in the precision that they seem to have.

Callers of Ritz may have told torch to round float32 products to TF32 or bfloat16, to compute in float16 (autocast), or
to keep what a gradient needs. Nothing of that reaches a product that a certificate speaks of.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, TypeVar

from ritz._core.imports import module_of

__all__ = ["exact", "exactly"]

F = TypeVar("F", bound=Callable[..., Any])


@contextmanager
def exact(device: Any) -> Iterator[None]:
    """Inside, products of float32 tensors are products of float32 numbers, and nothing is recorded for gradients."""
    torch = module_of("torch")
    before = torch.get_float32_matmul_precision()
    changed = before != "highest"
    if changed:
        torch.set_float32_matmul_precision("highest")
    try:
        with torch.no_grad():
            if torch.is_autocast_enabled(device.type):
                with torch.autocast(device.type, enabled=False):
                    yield
            else:
                yield
    finally:
        if changed:
            torch.set_float32_matmul_precision(before)


def exactly(method: F) -> F:
    """A method of an object with a ``place``, whose products are exact in this sense."""

    @wraps(method)
    def called(self: Any, *arguments: Any, **named: Any) -> Any:
        with exact(self.place.device):
            return method(self, *arguments, **named)

    return called  # type: ignore[return-value]
