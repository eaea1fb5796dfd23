"""Draw the pictures of docs/gallery.md by running the code of that page.

    python tools/gallery.py [FOLDER]      writes into docs/assets/gallery if no folder is given

The page is the program: its Python blocks run in order in one namespace, with FOLDER as the working folder, and save
their figures there. Large PNG files are then stored with a palette of 256 colours, a third of the size. Pictures that
take data from elsewhere are drawn by programs of their own: ``python -m bench.denoise``.
"""

from __future__ import annotations

import contextlib
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "gallery.md"
PICTURES = ROOT / "docs" / "assets" / "gallery"
LARGE = 140_000
# Blocks under a mark "not run" are only shown.
BLOCK = re.compile(r"(?<!-->\n)^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def draw(folder: Path, page: Path = PAGE) -> list[Path]:
    """Run the code of the page in ``folder``; the pictures that it wrote."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    text = page.read_text(encoding="utf-8")
    before = {path: path.stat().st_mtime_ns for path in folder.glob("*.png")}
    space: dict[str, object] = {"__name__": "gallery"}
    with contextlib.chdir(folder):
        for block in BLOCK.finditer(text):
            code = "\n" * text.count("\n", 0, block.start(1)) + block[1]
            exec(compile(code, str(page), "exec"), space)
    plt.close("all")
    made = [path for path in sorted(folder.glob("*.png")) if path.stat().st_mtime_ns != before.get(path)]
    for path in made:
        shrink(path)
    return made


def shrink(path: Path) -> None:
    """Store a large picture with a palette: gradients lose nothing that the eye would see."""
    from PIL import Image

    if path.stat().st_size <= LARGE:
        return
    with Image.open(path) as image:
        small = image.convert("RGB").quantize(256, dither=Image.Dither.NONE)
    small.save(path, optimize=True)


if __name__ == "__main__":
    wanted = Path(sys.argv[1]) if len(sys.argv) > 1 else PICTURES
    wanted.mkdir(parents=True, exist_ok=True)
    for picture in draw(wanted):
        print(f"{picture.name:24s}{picture.stat().st_size / 1000:8.0f} kB")
