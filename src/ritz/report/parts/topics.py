"""Topics: the words at both ends of each, with their weights."""

from __future__ import annotations

from ritz.report.context import Context
from ritz.report.html import KEPT, Html, bdi, clip, details, figure, join, number, percent, table, tag
from ritz.report.part import Content, Part

__all__ = ["PART"]

#: Topics that can be chosen, words of each end of one, lines of the table, and words of each end in it.
TOPICS, WORDS, LINES, FEW = 50, 12, 100, 6


def _applies(about: Context) -> bool:
    return about.texts and about.k > 0


def _build(about: Context) -> Content:
    topics = about.model.topics(LINES, words=WORDS)
    drawn = {
        "axes": [f"{about.axes[i]} ({percent(about.shares[i])})" for i in range(min(len(topics), TOPICS))],
        "above": None if about.chance is None or about.chance.sampled else about.chance.above,
        "topics": [
            [{"name": clip(word, KEPT), "weight": weight} for word, weight in (*t.positive, *reversed(t.negative))]
            for t in topics[:TOPICS]
        ],
    }
    note = tag(
        "p", "A bar is the weight of a word in the topic; squared weights of all words add up to 1. Which end is the "
        "positive one says nothing: documents with words of one end lie opposite to those with words of the other.",
        class_="note",
    )  # fmt: skip
    rows = [
        (about.axes[i], _end(topic.positive), _end(topic.negative), number(topic.value, 4), percent(topic.share))
        for i, topic in enumerate(topics)
    ]
    more = f", the first {LINES} of {about.k:,}" if about.k > LINES else ""
    head = ("topic", "one end", "other end", "σ", "share")
    below = details(f"Topics as a table{more}", table(head, rows, f"Topics{more}", words=3))
    label = "Weights of the words of a topic that can be chosen"
    return Content(join(figure("topics", label), note, below), drawn)


def _end(words: tuple[tuple[str, float], ...]) -> Html:
    return join(*[piece for i, (word, weight) in enumerate(words[:FEW])
                  for piece in (", " if i else "", bdi(word, 40), f" {number(abs(weight), 2)}")])  # fmt: skip


PART = Part("topics", "The topics", _applies, _build)
