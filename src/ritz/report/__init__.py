"""The report: one HTML file that tells what is in the data, and opens offline.

    ritz.report(model, X, "report.html")                     this module is callable; ``ritz.report.write`` is the same

    write(model, X, path, *, color=None, names=None, title=None, image_shape=None, command=None, seed=None, ranks=None,
          points=100_000, supplementary=None, supplementary_rows=None, clusters=None, rotation=None, parts=()) -> Path
    render(model, X, *, …the same…) -> str                   the page as text

    page(about)  →  the whole page        parts, each with its condition, its data and its script
    card(model)  →  the small version for notebooks, ``model._repr_html_``

A report is a list of small independent parts (``part.py``, ``parts/``). Scripts and styles are files of their own in
``assets/``; nothing is built, nothing is fetched, and the page forbids itself every request.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from ritz._core.warn import one_call

if TYPE_CHECKING:
    from ritz.report.part import Content as Content
    from ritz.report.part import Part as Part

__all__ = ["Content", "Part", "render", "write"]


@one_call()
def write(
    model: Any, X: Any, path: Any, *, color: Any = None, names: Any = None, title: str | None = None,
    image_shape: tuple[int, int] | None = None, command: str | None = None, seed: Any = None, ranks: Any = None,
    points: int = 100_000, supplementary: Any = None, supplementary_rows: Any = None, clusters: Any = None,
    rotation: Any = None, parts: Iterable[Part] = (),
) -> Path:  # fmt: skip
    """Write a report about a fitted model and its rows to one HTML file, and give its path.

    Parameters
    ----------
    model : any fitted model of the library
    X : what ``fit`` took, or new rows; None
        Without rows the report says what the model alone can tell.
    path : path
        The file appears when it is complete.
    color : array-like (n,), name of a column of X, or dict of several such
        What rows are coloured by at first; a reader may choose any column.
    names : sequence of n names, name of a column of X, or None
        Names of the rows. None: a pandas index, the identifiers of a Table.
    title : str, optional
        Heading; the file that a Table came from, or the method.
    image_shape : (height, width), optional
        Rows are pictures of this many pixels: components are shown as pictures too.
    command : str, optional
        The command that made the model, for "how to reproduce".
    seed : optional
        Its seed; the model's ``random_state`` if not given.
    ranks : Ranks, optional
        What ``ritz.choose_rank`` found, if it is known already.
    points : int
        Rows that charts show at most; beyond that they are sampled, and the page says so.
    supplementary : list of names of columns of X, or a frame of n rows
        Columns without part in the fit, placed among those that have one: in the circle, the maps and the tables.
        Of a CA further columns of counts.
    supplementary_rows : rows, as ``transform`` takes them
        Rows without part in the fit, placed among the others.
    clusters : True, int, or the result of ``ritz.insight.clusters``
        Rows in clusters on their components: as many as the tree suggests, or so many.
    rotation : "varimax", "quartimax", "promax", "oblimin", or the result of ``ritz.insight.rotate``
        Components after a rotation, beside those of the model.
    parts : iterable of Part
        Further parts, after those of the library.

    Returns
    -------
    Path

    Examples
    --------
    >>> import ritz
    >>> from sklearn.datasets import load_iris
    >>> X = load_iris(as_frame=True)
    >>> pca = ritz.PCA(2, scale=True).fit(X.data)
    >>> path = ritz.report(pca, X.data, "iris.html", color=X.target, title="150 irises")
    >>> "https://" in path.read_text(encoding="utf-8").partition("<body")[0]  # nothing is fetched
    False
    """
    from ritz._core.atomic import replacing
    from ritz.report.named import require_page

    target = require_page(path)
    text = render(
        model, X, color=color, names=names, title=title, image_shape=image_shape, command=command, seed=seed,
        ranks=ranks, points=points, supplementary=supplementary, supplementary_rows=supplementary_rows,
        clusters=clusters, rotation=rotation, parts=parts,
    )  # fmt: skip
    with replacing(target) as file:
        file.write(text.encode("utf-8", "replace"))
    return target


@one_call()
def render(
    model: Any, X: Any, *, color: Any = None, names: Any = None, title: str | None = None,
    image_shape: tuple[int, int] | None = None, command: str | None = None, seed: Any = None, ranks: Any = None,
    points: int = 100_000, supplementary: Any = None, supplementary_rows: Any = None, clusters: Any = None,
    rotation: Any = None, parts: Iterable[Part] = (),
) -> str:  # fmt: skip
    """The report as text, for those who write the file themselves; parameters as for :func:`write`.

    Examples
    --------
    >>> import ritz
    >>> from sklearn.datasets import load_iris
    >>> X = load_iris(as_frame=True).data
    >>> page = ritz.report.render(ritz.PCA(2, scale=True).fit(X), X, title="150 irises")
    >>> page[:15], "150 irises" in page
    ('<!DOCTYPE html>', True)
    """
    from ritz._core.blas import small_blas
    from ritz._core.errors import ColumnsSetAside
    from ritz._core.warn import unsaid
    from ritz.methods.fitted import require_fitted
    from ritz.report.context import Context
    from ritz.report.page import page

    require_fitted(model)
    X, supplementary = _apart(X, supplementary)
    about = Context(
        model, X, color, names, title, image_shape, command, seed, ranks, points, supplementary, supplementary_rows,
        clusters, rotation,
    )  # fmt: skip
    with small_blas(about.n, max(1, len(about.columns))):
        with unsaid(ColumnsSetAside):  # the page itself says which, and why
            about.placed()
        with unsaid():  # what refits on other rows would warn of is not about these rows
            return page(about, tuple(parts))


def _apart(X: Any, supplementary: Any) -> tuple[Any, Any]:
    """A frame without the columns that took no part, and these: a model takes the columns of its fit."""
    from ritz.data.tables.frames import frame_names, is_frame

    if not (isinstance(supplementary, (list, tuple)) and is_frame(X) and hasattr(X, "columns")):
        return X, supplementary
    kept = [name for name in frame_names(X) if str(name) not in {str(one) for one in supplementary}]
    return X[kept], X[list(supplementary)]


def __getattr__(name: str) -> Any:
    if name in ("Content", "Part"):
        from ritz.report import part

        return getattr(part, name)
    raise AttributeError(f"module 'ritz.report' has no attribute {name!r}")


class _Callable(ModuleType):
    """A module that is called like its main function: ``ritz.report(model, X, path)``."""

    def __call__(self, model: Any, X: Any, path: Any, **options: Any) -> Path:
        return write(model, X, path, **options)


_Callable.__call__.__doc__ = write.__doc__
sys.modules[__name__].__class__ = _Callable
