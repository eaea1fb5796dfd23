"""The gallery: its code draws every picture that the page shows, and the pictures of the page are there and small."""

from __future__ import annotations

import importlib.util
import re
import struct
from pathlib import Path

import pytest

from tests.docs import test_docs

ROOT = Path(__file__).resolve().parent.parent.parent
PAGE = ROOT / "docs" / "gallery.md"
PICTURES = ROOT / "docs" / "assets" / "gallery"
SHOWN = re.findall(r"!\[[^\]]+\]\(assets/gallery/([\w-]+\.png)\)", PAGE.read_text(encoding="utf-8"))
#: Drawn by a program of its own, from data that are not in the repository.
ELSEWHERE = {"denoising.png", "denoising-error.png", "map-tea.png", "map-wine.png"}


def size_of(path: Path) -> tuple[int, int]:
    head = path.read_bytes()[:24]
    assert head[:8] == b"\x89PNG\r\n\x1a\n", path
    return struct.unpack(">II", head[16:24])


def test_every_picture_is_shown_once_and_described():
    text = PAGE.read_text(encoding="utf-8")
    assert len(re.findall(r"!\[", text)) == len(SHOWN) == len(set(SHOWN))
    assert {path.name for path in PICTURES.iterdir()} == set(SHOWN)


@pytest.mark.parametrize("name", SHOWN)
def test_pictures_fill_a_column_and_load_fast(name):
    path = PICTURES / name
    assert path.stat().st_size < 150_000
    wide, high = size_of(path)
    assert 800 <= wide <= 1300
    assert high <= 1100


@pytest.fixture(scope="module")
def gallery():
    spec = importlib.util.spec_from_file_location("gallery", ROOT / "tools" / "gallery.py")
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def test_the_code_of_the_page_prints_what_it_shows_and_draws_its_pictures(gallery, tmp_path):
    import matplotlib.pyplot as plt

    test_docs.require_shown(PAGE, tmp_path)
    plt.close("all")
    made = sorted(tmp_path.glob("*.png"))
    assert {path.name for path in made} == set(SHOWN) - ELSEWHERE
    for path in made:
        gallery.shrink(path)
        assert path.stat().st_size > 10_000
        now, kept = size_of(path), size_of(PICTURES / path.name)
        # Fonts and layouts differ a little from release to release of matplotlib.
        assert all(abs(a - b) <= 0.05 * b for a, b in zip(now, kept, strict=True)), path.name


def test_the_program_runs_blocks_in_one_namespace_and_gives_the_pictures_they_wrote(gallery, tmp_path):
    (tmp_path / "old.png").write_bytes(b"of another time")
    block = "```python\n{}\n```\n"
    shown = block.format("raise SystemExit('only shown')")
    first = block.format("import matplotlib.pyplot as plt\nfigure, ax = plt.subplots(figsize=(2, 1))")
    last = block.format("figure.savefig('new.png')")
    page = tmp_path / "page.md"
    page.write_text(f"{first}\n<!-- not run: why -->\n{shown}\n{last}")
    assert gallery.draw(tmp_path, page) == [tmp_path / "new.png"]
    assert size_of(tmp_path / "new.png")[0] > 100
