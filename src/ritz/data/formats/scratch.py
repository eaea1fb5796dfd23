"""Files that live as long as the process: copies of what can be read once only, or is no file of its own."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

__all__ = ["from_scratch", "scratch"]

_held: list[Any] = []


def scratch(name: str) -> Path:
    """A path for a file of this name, in a folder that goes when the process ends."""
    folder = tempfile.TemporaryDirectory(prefix="ritz-", ignore_cleanup_errors=True)
    _held.append(folder)
    return Path(folder.name) / name


def from_scratch(path: Path) -> bool:
    """Whether the file goes when the process ends."""
    return any(path.parent == Path(folder.name) for folder in _held)
