"""The gallery: its code draws every picture that the page shows, and the pictures of the page are there and small."""

from __future__ import annotations

import importlib.util
import re
import struct
from pathlib import Path

import pytest

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


def test_the_code_of_the_page_draws_its_pictures(tmp_path, monkeypatch, capsys):
    spec = importlib.util.spec_from_file_location("gallery", ROOT / "tools" / "gallery.py")
    gallery = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(gallery)
    made = gallery.draw(tmp_path)
    assert {path.name for path in made} == set(SHOWN) - ELSEWHERE
    for path in made:
        assert path.stat().st_size > 10_000
        now, kept = size_of(path), size_of(PICTURES / path.name)
        # Fonts and layouts differ a little from release to release of matplotlib.
        assert all(abs(a - b) <= 0.05 * b for a, b in zip(now, kept, strict=True)), path.name
