"""What is read is never written over, whatever it is called: by links, by hard links, by another spelling of its path.

require_apart(target, inputs)      target is none of the inputs, and lies in no folder that is one
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from ritz._core.errors import FileError

__all__ = ["inputs_among", "require_apart"]


def require_apart(target: Path, inputs: Iterable[Path], scores: bool = False, model: bool = False) -> None:
    """Refuse a target that is read itself; ``scores`` of a table are written, or a ``model`` is read, for the words."""
    inputs = [Path(one) for one in inputs]
    if inputs_among([target], inputs):
        wanted = "another file for the scores than the table itself" if scores else "another file than one that is read"
        raise FileError(
            f"expected {'another file than the model itself' if model else wanted}",
            received=str(target),
            hint=f"write to {target.stem}_{'scores' if scores else 'new'}{target.suffix}",
        )
    for folder in (one for one in inputs if one.is_dir()):
        if target.resolve().is_relative_to(folder.resolve()):
            raise FileError(
                f"expected a file outside of {folder}, which is read as one table",
                received=str(target),
                hint="write it elsewhere",
            )


def inputs_among(targets: Iterable[Path], inputs: Iterable[Path]) -> list[Path]:
    """Those targets that are inputs, or files in folders that are."""
    places: set[tuple[int, int]] = set()
    for one in inputs:
        places |= {_place(one)} if not one.is_dir() else {_place(path) for path in one.rglob("*") if path.is_file()}
    places.discard((0, 0))
    return [target for target in targets if _place(target) in places]


def _place(path: Path) -> tuple[int, int]:
    """Device and inode of what a path leads to; zeros where there is nothing."""
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return 0, 0
    return status.st_dev, status.st_ino
