"""Products of tensors in the precision that they seem to have.

Callers of Ritz may have told torch to round float32 products to TF32 or bfloat16, to compute in float16 (autocast), or
to keep what a gradient needs. Nothing of that reaches a product that a certificate speaks of.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ritz._core.imports import module_of

__all__ = ["exact"]


@contextmanager
def exact(device: Any) -> Iterator[None]:
    """Inside, products of float32 tensors are products of float32 numbers, and nothing is recorded for gradients."""
    torch = module_of("torch")
    restore = _highest(torch)
    try:
        with torch.no_grad():
            if torch.is_autocast_enabled(device.type):
                with torch.autocast(device.type, enabled=False):
                    yield
            else:
                yield
    finally:
        restore()


def _highest(torch: Any) -> Callable[[], None]:
    """Ask for products of float32 numbers as such; what undoes it."""
    try:
        before = torch.get_float32_matmul_precision()
    except RuntimeError:  # the caller has used the newer names of these settings, beside which torch refuses the older
        settings = torch.backends.cuda.matmul
        held, settings.fp32_precision = settings.fp32_precision, "ieee"
        return lambda: setattr(settings, "fp32_precision", held)
    if before == "highest":
        return lambda: None
    torch.set_float32_matmul_precision("highest")
    return lambda: torch.set_float32_matmul_precision(before)
