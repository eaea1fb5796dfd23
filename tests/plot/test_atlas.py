"""The atlas of maps: its tables are what the maps give, its pictures are there, small and described."""

from __future__ import annotations

import re
import struct
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
PAGE = ROOT / "docs" / "atlas.md"
PICTURES = ROOT / "docs" / "assets" / "atlas"
TEXT = PAGE.read_text(encoding="utf-8")
SHOWN = re.findall(r"!\[[^\]]+\]\(assets/atlas/([\w-]+)\.png\)", TEXT)


@pytest.fixture
def atlas(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT))
    for name in [name for name in sys.modules if name == "bench" or name.startswith("bench.")]:
        monkeypatch.delitem(sys.modules, name)
    from bench import atlas

    return atlas


def told(name):
    """The table of a set: numbers by name of the map, without seconds."""
    block = re.search(rf"<!-- table: {name} -->\n(.*?)<!-- end -->", TEXT, re.DOTALL)[1]
    lines = [[cell.strip(" *") for cell in line.split("|")[1:-1]] for line in block.strip().splitlines()[2:]]
    return {line[0]: [float(cell) for cell in line[1:5]] for line in lines}


def test_every_set_has_its_picture_and_its_table(atlas):
    assert list(atlas.SETS) == SHOWN
    assert {path.stem for path in PICTURES.iterdir()} == set(SHOWN)
    assert sum(path.stat().st_size for path in PICTURES.iterdir()) < 1_500_000
    for name in SHOWN:
        head = (PICTURES / f"{name}.png").read_bytes()[:24]
        wide, high = struct.unpack(">II", head[16:24])
        assert 800 <= wide <= 1300
        assert high <= 1300
        assert len(told(name)) >= 8


@pytest.mark.parametrize(
    ("name", "maps"),
    [("words", ("PCA", "Isomap", "LLE", "Laplacian eigenmaps", "diffusion maps")),
     ("torus", ("PCA", "LLE", "Laplacian eigenmaps")), ("twin-peaks", ("PCA", "Hessian LLE"))],
)  # fmt: skip
def test_tables_are_what_the_maps_give(atlas, name, maps):
    written = told(name)
    for one in atlas.mapped(atlas.SETS[name](), maps):
        q = one.quality
        found = [q.trustworthiness, q.continuity, q.overlap, q.shepard]
        assert found == pytest.approx(written[one.name], abs=0.0025), one.name


def test_a_set_is_drawn(atlas, tmp_path):
    rows = atlas.SETS["s-curve"]()
    fig = atlas.drawn(rows, atlas.mapped(rows, ("PCA", "LLE")))
    assert [ax.get_title().split(" · ")[0] for ax in fig.axes] == ["the rows", "PCA", "LLE"]
    atlas.saved(fig, tmp_path / "s.png")
    assert 5_000 < (tmp_path / "s.png").stat().st_size < 200_000
