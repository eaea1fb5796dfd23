"""Pictures of a fit for papers, by ``ritz.plot``: PNG, SVG or PDF files of the result folder.

Each picture has its condition; those that make no sense for a model are left out. Equal fits give equal files.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ritz._core.errors import MissingDependency, RitzError
from ritz.cli.fitting.columns import Parts
from ritz.cli.fitting.fitting import FittedTable
from ritz.data.tables.table import Table
from ritz.methods.fitted import fitted_of

__all__ = ["figures", "text_figures"]

DPI = 200
#: Rows up to which names are written beside points.
NAMED = 60
#: Rows of a map up to which all are measured.
TRUSTED = 2_000


def figures(kinds: tuple[str, ...], done: FittedTable, parts: Parts) -> dict[str, Any]:
    """Files by name, each a function that writes to an open file."""
    return _files(kinds, _pictures(done, parts))


def text_figures(kinds: tuple[str, ...], model: Any) -> dict[str, Any]:
    """Pictures of topics, documents and words."""
    from ritz import plot
    from ritz.methods.lsi.keeps import Keeps

    made: dict[str, Callable[[], Any]] = {}
    if model.n_components_:
        made["topics"] = lambda: plot.topics(model)[0]
    if model.n_components_ > 1:
        plane = (1, 2) if model.n_components_ > 2 else (0, 1)
        labels = Keeps(model).names if model.n_samples_ <= NAMED else None
        made["documents"] = lambda: plot.scores(model, components=plane, names=labels)
        made["words"] = lambda: plot.words(model)
    return _files(kinds, made)


def _files(kinds: tuple[str, ...], pictures: dict[str, Callable[[], Any]]) -> dict[str, Any]:
    from importlib.util import find_spec

    if find_spec("matplotlib") is None:
        raise MissingDependency("--figures needs matplotlib", hint="pip install 'ritz[plot]'")
    writers: dict[str, Any] = {}
    for name, draw in pictures.items():
        images = _drawn(draw, kinds)
        writers |= {f"figure_{name}.{kind}": _writer(data) for kind, data in images.items()}
    return writers


def _pictures(done: FittedTable, parts: Parts) -> dict[str, Callable[[], Any]]:
    from ritz import plot

    model, rows = done.model, done.rows if isinstance(done.rows, list) else parts.whole
    k = fitted_of(model).k
    color: Any = parts.color
    if isinstance(rows, list) and color is not None:
        color = parts.whole.labels(color)
    made: dict[str, Callable[[], Any]] = {}
    if "scree" in plot.__all__ and k:
        made["scree"] = lambda: plot.scree(model)
    if k < 2:
        return made
    names = _names(parts)
    fitted = fitted_of(model)
    if fitted.space == "table":
        made["map"] = lambda: plot.map(model)
        return made
    made["scores"] = lambda: plot.scores(model, rows, color=color, names=names)
    if fitted.space == "embedding" and fitted.k >= 2 and not isinstance(rows, list) and done.shape[0] <= TRUSTED:
        made |= _of_trust(fitted, rows)
    if fitted.space == "columns" and isinstance(rows, Table) and not rows.lazy:
        made["biplot"] = lambda: plot.biplot(model, rows, color=color)
        made["circle"] = lambda: plot.circle(model)
    return made


def _of_trust(fitted: Any, rows: Any) -> dict[str, Callable[[], Any]]:
    """Neighbours that a map keeps, beside PCA, and where its neighbours are false; measured once."""
    from functools import cache

    from ritz import insight, plot
    from ritz.methods.pca import PCA

    @cache
    def measured() -> dict[str, Any]:
        X, Y = fitted.compared(rows), fitted.row_coordinates()
        k = max(1, min(50, (len(Y) - 1) // 3))
        return {
            fitted.about.title: insight.embedding_quality(X, Y, k),
            "PCA": insight.embedding_quality(X, PCA(Y.shape[1]).fit_transform(X), k),
        }

    return {
        "trust": lambda: plot.trust(measured()),
        "distortion": lambda: plot.distortion(fitted.row_coordinates(), measured()[fitted.about.title]),
    }


def _names(parts: Parts) -> list[str] | None:
    """Names of a few rows."""
    named = [name for name, kind in parts.used.kinds.items() if kind == "identifier"]
    if not named or (parts.whole.n_rows or 0) > NAMED:
        return None
    return [str(label) for label in parts.whole.labels(named[0])]


def _drawn(draw: Callable[[], Any], kinds: tuple[str, ...]) -> dict[str, bytes]:
    """The picture in every kind; nothing where the model has none."""
    import io

    import matplotlib as mpl

    mpl.use("Agg")
    from ritz.plot import house

    with mpl.rc_context({"svg.hashsalt": "ritz"}), house():
        try:
            figure = draw().figure
        except (RitzError, TypeError):
            return {}
        images: dict[str, bytes] = {}
        for kind in kinds:
            stamp = {"png": "Software", "svg": "Date", "pdf": "CreationDate"}[kind]  # would differ from run to run
            with io.BytesIO() as file:
                figure.savefig(file, format=kind, dpi=DPI, bbox_inches="tight", metadata={stamp: None})
                images[kind] = file.getvalue()
        from matplotlib import pyplot as plt

        plt.close(figure)
    return images


def _writer(data: bytes) -> Callable[[Any], None]:
    return lambda sink: sink.write(data)
