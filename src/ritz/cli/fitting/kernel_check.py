"""The certificate of a kernel model against its rows, for the command line."""

from __future__ import annotations

from typing import Any

__all__ = ["check_kernel"]


def check_kernel(model: Any, X: Any) -> tuple[bool, list[str]]:
    """Whether every number that the model stores is right for these rows, and what was found."""
    done = model.verify(X)
    return bool(done), list(done.words)
