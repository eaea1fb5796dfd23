"""The atlas: seven sets of rows, every map of them side by side, with quality and time: ``python -m bench.atlas``.

    swiss roll, S-curve, twin peaks, torus     surfaces in space
    digits, faces, words                       pictures of 8×8 and 64×64 pixels, names of months in ten languages

It draws docs/assets/atlas/*.png and writes the tables of docs/atlas.md between their marks. Quality is that of
``ritz.insight.embedding_quality`` at 10 neighbours, time processor seconds of one fit. Faces come from the folder of
reference data. ``python -m bench.atlas torus`` draws one of them; run it with ``OPENBLAS_NUM_THREADS=1``.
"""

from __future__ import annotations

import os
import re
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["SETS", "Mapped", "Rows", "main", "mapped", "methods", "table"]

ROOT = Path(__file__).resolve().parent.parent
SHARED = Path(os.environ.get("RITZ_SHARED", ROOT.parent / "shared")) / "data"
PAGE, PICTURES = ROOT / "docs" / "atlas.md", ROOT / "docs" / "assets" / "atlas"
#: Rows of a surface, and neighbours that quality is measured with.
ROWS, NEAR = 1000, 10
#: Neighbours more of methods that fit a plane, or a paraboloid, to each neighbourhood.
MORE = 4
#: Neighbours of maximum variance unfolding: one edge across a fold holds the whole fold together.
HELD = 5
#: Rows up to which its optimum is found exactly; beyond, to a part in a thousand, in a fifth of the time.
FEW = 300

MONTHS = """
january february march april may june july august september october november december
januar februar märz april mai juni juli august september oktober november dezember
januari februari maart april mei juni juli augustus september oktober november december
januari februari mars april maj juni juli augusti september oktober november december
janvier février mars avril mai juin juillet août septembre octobre novembre décembre
gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre
enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre
janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro
ianuarie februarie martie aprilie mai iunie iulie august septembrie octombrie noiembrie decembrie
január február március április május június július augusztus szeptember október november december
"""


@dataclass
class Rows:
    """Rows to be mapped: ``X``, what they are coloured by, neighbours of the graphs, and a picture of them."""

    X: Any
    color: Any
    k: int
    metric: Any = "euclidean"
    solid: bool = False  # rows in space, which can be drawn
    names: Any = None
    colours: str = "viridis"


@dataclass
class Mapped:
    """One map, its quality and its time."""

    name: str
    Y: np.ndarray
    quality: Any
    seconds: float


def swiss_roll() -> Rows:
    """A sheet, rolled up."""
    rng = np.random.default_rng(0)
    t, height = 1.5 * np.pi * (1 + 2 * rng.random(ROWS)), 21 * rng.random(ROWS)
    return Rows(np.column_stack([t * np.cos(t), height, t * np.sin(t)]), t, 8, solid=True)


def s_curve() -> Rows:
    """A sheet, bent twice."""
    rng = np.random.default_rng(0)
    t, height = 3 * np.pi * (rng.random(ROWS) - 0.5), 2 * rng.random(ROWS)
    return Rows(np.column_stack([np.sin(t), height, np.sign(t) * (np.cos(t) - 1)]), t, 10, solid=True)


def twin_peaks() -> Rows:
    """A sheet with two hills and two hollows."""
    rng = np.random.default_rng(0)
    x, y = rng.uniform(-1, 1, (2, ROWS))
    z = np.sin(np.pi * x) * np.tanh(3 * y)
    return Rows(np.column_stack([x, y, z]), z, 10, solid=True)


def torus() -> Rows:
    """A ring of circles: closed, so that no plane holds it untorn."""
    rng = np.random.default_rng(0)
    u, v = rng.uniform(0, 2 * np.pi, (2, ROWS))
    return Rows(np.column_stack([(3 + np.cos(v)) * np.cos(u), (3 + np.cos(v)) * np.sin(u), np.sin(v)]), u, 10,
                solid=True, colours="hsv")  # fmt: skip


def digits() -> Rows:
    """Handwritten digits of scikit-learn, every other one: 899 pictures of 8×8 pixels."""
    from sklearn.datasets import load_digits

    found = load_digits()
    return Rows(found.data[::2], found.target[::2].astype(np.float64), 10, colours="tab10")


def faces() -> Rows:
    """400 faces of 40 people, coloured by where the light comes from."""
    path = SHARED / "olivetti" / "olivetti.npz"
    with np.load(path) as held:
        X = np.asarray(held[held.files[0]], np.float64).reshape(400, -1)
    pictures = X.reshape(400, 64, 64)
    light = pictures[:, :, :32].mean(axis=(1, 2)) - pictures[:, :, 32:].mean(axis=(1, 2))
    return Rows(X, light, 10)


def words() -> Rows:
    """Names of months in ten languages, compared by the pairs of letters they share."""
    import ritz

    lines = [line.split() for line in MONTHS.strip().splitlines()]
    every = sorted({(word, month) for line in lines for month, word in enumerate(line)})
    names = [word for word, _ in every]
    month = np.array([month for _, month in every], np.float64)
    return Rows(names, month, 8, metric=ritz.kernels.Spectrum(2).normalized(), names=names,
                colours="hsv")  # fmt: skip


SETS: dict[str, Callable[[], Rows]] = {
    "swiss-roll": swiss_roll, "s-curve": s_curve, "twin-peaks": twin_peaks, "torus": torus, "digits": digits,
    "faces": faces, "words": words,
}  # fmt: skip


def methods(rows: Rows) -> dict[str, Any]:
    """Estimators by name."""
    from importlib.util import find_spec

    import ritz

    k, metric, vectors = rows.k, rows.metric, isinstance(rows.metric, str)
    made: dict[str, Any] = {
        "PCA": ritz.PCA(2) if vectors else ritz.MDS(2, metric=metric),
        "metric MDS": ritz.MDS(2, method="metric", metric=metric),
        "Isomap": ritz.Isomap(2, n_neighbors=k, metric=metric),
        "LLE": ritz.LLE(2, n_neighbors=k, metric=metric),
        "modified LLE": ritz.LLE(2, n_neighbors=k, method="modified", metric=metric),
        "LTSA": ritz.LLE(2, n_neighbors=k + MORE, method="ltsa", metric=metric),
        "Hessian LLE": ritz.LLE(2, n_neighbors=k + MORE, method="hessian", metric=metric),
        "Laplacian eigenmaps": ritz.LaplacianEigenmaps(2, n_neighbors=k, metric=metric),
        "diffusion maps": ritz.DiffusionMaps(2, metric=metric),
        "MVU": ritz.MVU(2, n_neighbors=HELD, metric=metric, solver="auto" if len(rows.X) <= FEW else "low-rank"),
    }
    if find_spec("openTSNE") is not None:  # an extra
        made["t-SNE"] = ritz.TSNE(2, metric=metric)
    return made


def mapped(rows: Rows, only: tuple[str, ...] | None = None) -> list[Mapped]:
    """Every map of the rows, with its quality and its processor time; a method that refuses the rows is left out."""
    import ritz
    from ritz import insight

    done = []
    for name, model in methods(rows).items():
        if only is not None and name not in only:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            begun = time.process_time()
            try:
                Y = np.asarray(model.fit_transform(rows.X), np.float64)
            except (ritz.RitzError, ImportError) as error:
                print(f"  {name}: {str(error).splitlines()[0]}")
                continue
            seconds = time.process_time() - begun
            quality = insight.embedding_quality(rows.X, Y, NEAR, metric=rows.metric)
        done.append(Mapped(name, Y, quality, seconds))
    return done


def table(maps: list[Mapped]) -> str:
    """A table of Markdown: quality of every map, the best of each column in bold, as far as it is shown; seconds."""
    head = ("map", "trustworthiness", "continuity", "neighbours kept", "Shepard", "seconds")
    columns = [
        [one.quality.trustworthiness for one in maps], [one.quality.continuity for one in maps],
        [one.quality.overlap for one in maps], [one.quality.shepard for one in maps],
    ]  # fmt: skip
    lines = ["| " + " | ".join(head) + " |", "|---|" + "---:|" * (len(head) - 1)]
    for i, one in enumerate(maps):
        cells = [f"**{c[i]:.3f}**" if f"{c[i]:.3f}" == f"{max(c):.3f}" else f"{c[i]:.3f}" for c in columns]
        lines.append("| " + " | ".join([one.name, *cells, f"{one.seconds:.2g}"]) + " |")
    return "\n".join(lines)


def drawn(rows: Rows, maps: list[Mapped]) -> Any:
    """The rows, where they lie in space, and their maps, side by side."""
    import matplotlib.pyplot as plt

    import ritz

    count, wide = len(maps) + rows.solid, 3
    high = -(-count // wide)
    with ritz.plot.house():
        fig = plt.figure(figsize=(7.2, 2.35 * high), layout="constrained")
        if rows.solid:
            ax: Any = fig.add_subplot(high, wide, 1, projection="3d")
            ax.scatter(*rows.X.T, c=rows.color, s=3, cmap=rows.colours, depthshade=False, linewidths=0)
            ax.view_init(15, -70)
            ax.set_box_aspect(np.ptp(rows.X, axis=0), zoom=1.15)
            ax.set(title="the rows", xticks=[], yticks=[], zticks=[])
        for i, one in enumerate(maps):
            ax = fig.add_subplot(high, wide, i + 1 + rows.solid)
            size = 4 if len(one.Y) > 300 else 9
            ax.scatter(*one.Y[:, :2].T, c=rows.color, s=size, cmap=rows.colours, linewidths=0)
            ax.set(title=f"{one.name} · {one.quality.overlap:.2f}", xticks=[], yticks=[])
            ax.title.set_fontsize(9.5)
            ax.set_aspect("equal", adjustable="datalim")
            ax.margins(0.06)
    return fig


def saved(fig: Any, path: Path) -> None:
    """Write a picture with a palette: a third of the size."""
    from PIL import Image

    fig.savefig(path, dpi=130, metadata={"Software": None})
    with Image.open(path) as image:
        small = image.convert("RGB").quantize(128, dither=Image.Dither.NONE)
    small.save(path, optimize=True)


def write_table(name: str, text: str) -> None:
    """Put a table between its marks on the page."""
    page = PAGE.read_text(encoding="utf-8")
    mark = re.compile(rf"(<!-- table: {name} -->\n).*?(<!-- end -->)", re.DOTALL)
    if not mark.search(page):
        raise SystemExit(f"no place for the table of {name} in {PAGE}")
    PAGE.write_text(mark.sub(lambda found: f"{found[1]}\n{text}\n\n{found[2]}", page), encoding="utf-8")


def main() -> None:
    """Draw all sets, or those that are named."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    PICTURES.mkdir(parents=True, exist_ok=True)
    for name in sys.argv[1:] or SETS:
        if name == "faces" and not (SHARED / "olivetti").is_dir():
            print(f"faces: skipped, the reference data are not in {SHARED}")
            continue
        rows = SETS[name]()
        maps = mapped(rows)
        saved(drawn(rows, maps), PICTURES / f"{name}.png")
        plt.close("all")
        write_table(name, table(maps))
        print(f"{name}: {(PICTURES / f'{name}.png').stat().st_size / 1000:.0f} kB")
        print(table(maps))


if __name__ == "__main__":
    main()
