"""A glossary: the terms of the field that this page uses, and no others."""

from __future__ import annotations

from collections.abc import Callable

from ritz.report.context import Context
from ritz.report.html import join, tag
from ritz.report.part import Content, Part, always

__all__ = ["PART"]

Applies = Callable[[Context], bool]


def _component(about: Context) -> bool:
    return not about.maps and not about.texts


def _orthogonal(about: Context) -> bool:
    return _component(about) and about.known.certified


def _found(about: Context) -> bool:
    return _component(about) and not about.known.certified


def _linear(about: Context) -> bool:
    return about.linear


def _table(about: Context) -> bool:
    return about.correspondence


def _tested(about: Context, test: str) -> bool:
    return _component(about) and about.evidence is not None and about.evidence.test == test


def _counts(about: Context) -> bool:
    return about.known.about.takes == "counts"


def _ranked(about: Context) -> bool:
    return _component(about) and about.ranks is not None


def _judged(about: Context) -> bool:
    return _component(about) and about.odd is not None


#: Term, what it means, and when the page uses it.
TERMS: tuple[tuple[str, str, Applies], ...] = (
    (
        "Component, axis",
        "A direction along which the rows differ. The first one has the largest variance; each further one "
        "the largest that is left at a right angle to those before.",
        _orthogonal,
    ),
    (
        "Component",
        "One of the few things that the method describes rows by: every row has a score on it, and every column a "
        "weight. Components need not be at right angles.",
        _found,
    ),
    (
        "Topic",
        "A direction along which documents differ by the words that occur in them together. Words with large weights "
        "say what it is about.",
        lambda about: about.texts,
    ),
    (
        "Cosine",
        "How alike two documents, or a document and a query, are in their topics: 1 is the same direction, 0 nothing "
        "in common.",
        lambda about: about.texts,
    ),
    (
        "Score",
        "The coordinate of a row on a component.",
        _component,
    ),
    (
        "Variance, share",
        "How far the scores spread, and which part of the total that is.",
        _linear,
    ),
    (
        "Inertia",
        "The variance of a table of counts or categories, in the χ² metric; a share is a part of the total.",
        _table,
    ),
    (
        "Loading",
        "A component times the standard deviation of its scores; of standardised columns, the correlation of "
        "a column with the component.",
        _linear,
    ),
    (
        "Contribution",
        "The part of a component that is due to one column, category or row. Those of a component sum to 1.",
        lambda about: _linear(about) or _table(about),
    ),
    (
        "cos²",
        "How well a point is shown by an axis: 1 where it lies on the axis, 0 where the axis shows nothing of it.",
        _table,
    ),
    (
        "Standardised",
        "Centred at 0 and divided by the standard deviation, so that every column counts alike.",
        lambda about: _linear(about) and getattr(about.model, "scale_", None) is not None,
    ),
    (
        "Kernel",
        "A measure of how alike two rows are. Components are then those of rows in the space that it stands for.",
        lambda about: about.kernel,
    ),
    (
        "Scree plot",
        "The shares one after the other. Where they level off, what follows is often noise.",
        _component,
    ),
    (
        "Permutation test",
        "Columns are shuffled, each by itself, and decomposed again. A component is more than chance where it "
        "holds more than 95 % of those do.",
        lambda about: _tested(about, "permutation"),
    ),
    (
        "Test against independence",
        "Tables of counts with the same totals are drawn in which rows and columns have nothing to do with each other. "
        "An axis is more than chance where it holds more than 95 % of those do.",
        lambda about: _tested(about, "counts"),
    ),
    (
        "Parallel analysis",
        "Tables of independent columns with the same variances are drawn. A component is more than chance where it "
        "holds more than 95 % of those do.",
        lambda about: _tested(about, "parallel"),
    ),
    (
        "Consensus",
        "The weighted median of the rules for the number of components.",
        _ranked,
    ),
    (
        "Hotelling's T²",
        "The distance of a row from the mean within the components, in units of their standard deviations.",
        _judged,
    ),
    (
        "Q, SPE",
        "The squared distance of a row from what the components tell of it.",
        _judged,
    ),
    (
        "Outlier, false discovery rate",
        "A row that lies farther out than chance would put any. At a rate of 5 %, one in twenty of the rows "
        "that are named may be named wrongly.",
        _judged,
    ),
    (
        "Bootstrap",
        "Rows drawn again with replacement and decomposed again: what changes little is not due to a few rows.",
        lambda about: _component(about) and not _counts(about),
    ),
    (
        "Bootstrap",
        "Counts drawn again around those of the table and decomposed again: what changes little is not due to a few "
        "counts.",
        _counts,
    ),
    (
        "Trustworthiness, continuity",
        "Whether near points of the map are near rows, and whether near rows stay near on it. 1 is perfect.",
        lambda about: about.maps,
    ),
    (
        "Eigenvalue",
        "The number that belongs to a component: its variance times a known factor.",
        _orthogonal,
    ),
    (
        "Certificate, residual",
        "How far each number can be from the exact one, computed from what the equation leaves over (the "
        "residual), rounding included.",
        lambda about: getattr(about.model, "certificate_", None) is not None,
    ),
)


def _build(about: Context) -> Content:
    used = [(term, words) for term, words, applies in TERMS if applies(about)]
    return Content(
        tag("dl", [join(tag("dt", term), tag("dd", words)) for term, words in used], class_="facts"),
    )


PART = Part("glossary", "Glossary", always, _build)
