"""A folder of pictures as a table: one row a picture, one column a pixel, in grey.

    n files of h×w pixels  →  (n, h·w), 0 black … 255 white, rows named by their files

Pictures must be equally large, unless a shape says what they are brought to.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ritz._core.errors import InputError
from ritz.data.formats.declared import room, too_large
from ritz.data.formats.files import damaged, needs
from ritz.data.formats.matrix import MemoryMatrix
from ritz.data.words import counted

__all__ = ["ENDINGS", "image_files", "open_images"]

ENDINGS = {".png", ".jpg", ".jpeg", ".gif", ".bmp", ".tif", ".tiff", ".pgm", ".ppm", ".webp"}


def image_files(folder: Path) -> list[Path]:
    """Pictures of a folder and of those inside it, by name."""
    return sorted(path for path in folder.rglob("*") if path.suffix.lower() in ENDINGS and path.is_file())


def open_images(folder: Path, files: list[Path], shape: tuple[int, int] | None) -> tuple[Any, tuple[int, int], str]:
    """A matrix of pixels, the shape of a picture, and a note."""
    import pyarrow as pa

    try:
        from PIL import Image, UnidentifiedImageError
    except ImportError as error:
        raise needs(folder, "pictures", "pillow", error) from error
    rows: Any = None
    found: tuple[int, int] | None = shape
    for i, path in enumerate(files):
        try:
            with Image.open(path) as picture:
                grey = picture.convert("L")
        except (UnidentifiedImageError, OSError, ValueError, Image.DecompressionBombError) as error:
            raise damaged(path, "picture", error) from error
        size = (grey.height, grey.width)
        found = size if found is None else found
        if shape is not None and size != shape:
            grey = grey.resize((shape[1], shape[0]), Image.Resampling.LANCZOS)
        elif size != found:
            raise InputError(
                f"expected pictures of {found[0]}×{found[1]} pixels in {folder}, as {files[0].name} is",
                received=f"{path.name} of {size[0]}×{size[1]}",
                hint=f"image_shape=({found[0]}, {found[1]}) brings all to one size",
            )
        if rows is None:
            if 2.0 * len(files) * found[0] * found[1] > room():
                raise too_large(4.0 * len(files) * found[0] * found[1], folder, counted(len(files), "picture"))
            rows = np.empty((len(files), found[0] * found[1]), np.uint8)
        rows[i] = np.asarray(grey, np.uint8).reshape(-1)
    if found is None:  # no file, which is looked at before
        raise InputError(f"expected pictures in {folder}", received="none", hint="check the folder")
    names = [f"x{j}" for j in range(rows.shape[1])]
    labels = {"file": pa.array([str(path.relative_to(folder)) for path in files])}
    note = f"{counted(len(files), 'picture')} of {found[0]}×{found[1]} pixels, in grey"
    return MemoryMatrix(rows, names, labels, files), found, note
