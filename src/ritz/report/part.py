"""One part of a report: when it appears, what it says, what its chart is drawn from.

    Part(id, title, applies, build)      applies(about) → bool       build(about) → Content(body, data)

A part is one file in ``parts/`` and, if it has a chart, one script of the same name in ``assets/parts/``. It reads the
model and the rows through the ``Context`` alone and knows no other part, so a new one is a new file and a line in
``parts/__init__.py``, or comes from outside: ``ritz.report(…, parts=[mine])``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ritz.report.html import Html

if TYPE_CHECKING:
    from ritz.report.context import Context

__all__ = ["Content", "Part", "always"]


def always(about: Context) -> bool:
    """The condition of parts that are on every page."""
    return about is not None


@dataclass(frozen=True)
class Content:
    """What a part puts on the page: HTML, and JSON for its script.

    Examples
    --------
    >>> from ritz.report.html import Html
    >>> from ritz.report.part import Content
    >>> Content(Html("<p>Three kinds of irises.</p>"), data={"kinds": 3}).data
    {'kinds': 3}
    """

    body: Html
    data: Any = None
    title: str | None = None  # instead of the part's own


@dataclass(frozen=True)
class Part:
    """A part of the report.

    Attributes
    ----------
    id : str
        Its anchor, the name of its script, and of its data.
    title : str
        Its heading.
    applies : callable
        Whether it has something to say about this model and these rows. It should cost little.
    build : callable
        Its content. A ``RitzError`` leaves the part out; the end of the report then says why.
    script : str
        JavaScript that draws it where it does not come with Ritz: calls ``Ritz.part(id, (place, data) => …)``.

    Examples
    --------
    >>> import ritz
    >>> from ritz.report.html import Html
    >>> from ritz.report.part import Content, Part, always
    >>> from sklearn.datasets import load_iris
    >>> X = load_iris(as_frame=True).data
    >>> note = Part("note", "Source", always, lambda about: Content(Html("<p>Anderson, 1935</p>")))
    >>> "Anderson, 1935" in ritz.report.render(ritz.PCA(2).fit(X), X, parts=[note])
    True
    """

    id: str
    title: str
    applies: Callable[[Context], bool]
    build: Callable[[Context], Content]
    script: str = field(default="", repr=False)
