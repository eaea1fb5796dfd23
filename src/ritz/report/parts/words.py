"""The map of words: their weights in two topics that can be chosen; those that weigh most."""

from __future__ import annotations

import numpy as np

from ritz.methods.lsi.topics import plane_of
from ritz.report.context import Context
from ritz.report.html import KEPT, clip, figure, join, tag
from ritz.report.pack import exact
from ritz.report.part import Content, Part

__all__ = ["PART"]

#: Words on the map, topics to choose among, and words that each of these brings at least.
MOST, AXES, EACH = 400, 10, 30


def _applies(about: Context) -> bool:
    return about.texts and about.k > 1


def _build(about: Context) -> Content:
    a = min(about.k, AXES)
    V = np.asarray(about.model.components_[:a], np.float64)  # (a, d)
    W = V * np.asarray(about.model.singular_values_[:a], np.float64)[:, None]
    names = getattr(about.model, "feature_names_in_", None)
    strong = np.argsort(-np.square(W).sum(axis=0), kind="stable")[:MOST]
    each = np.argsort(-np.abs(V), axis=1, kind="stable")[:, :EACH].ravel()
    chosen = np.unique(np.concatenate([each, strong]))[: 2 * MOST]
    drawn = {
        "axes": [{"name": about.axes[i], "share": float(about.shares[i])} for i in range(a)],
        "begin": list(plane_of(about.model)),
        "names": [clip(f"word {j}" if names is None else names[j], KEPT) for j in chosen.tolist()],
        "xy": [exact(row[chosen]) for row in W],
    }
    by_chance = about.chance is not None and about.chance.above < 2
    meant = "" if by_chance else " Words in the same direction from zero occur in documents of the same kind."
    many = f"{len(chosen):,} of {V.shape[1]:,} words, those that weigh most"
    lead = tag("p", f"{many}: weights times singular values.{meant}")
    return Content(join(lead, figure("words", "Map of words on two topics that can be chosen", tall="tall")), drawn)


PART = Part("words", "The words", _applies, _build)
