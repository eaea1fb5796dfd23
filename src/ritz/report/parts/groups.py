"""The groups of columns of an MFA: what each contributes to an axis, and how alike they are (RV)."""

from __future__ import annotations

from ritz.report.context import Context
from ritz.report.html import bdi, details, figure, join, number, percent, table, tag
from ritz.report.pack import few
from ritz.report.part import Content, Part
from ritz.report.words import numbers_of

__all__ = ["PART"]

AXES = 10


def _applies(about: Context) -> bool:
    return about.known.about.takes == "groups" and about.k > 0


def _build(about: Context) -> Content:
    model, a = about.model, min(about.k, AXES)
    names = [str(name) for name in model.groups]
    shares = numbers_of(model.group_contributions_)[: len(names), :a]
    drawn = {
        "axes": about.axes[:a],
        "names": names,
        "shares": [few(column) for column in shares.T],
    }
    best = int(shares[:, 0].argmax())
    lead = None
    if about.beyond_chance(0):
        of_it = f": {percent(shares[best, 0])} of it."
        lead = tag("p", f"{about.axes[0]} owes most to the group ", bdi(names[best], 40), of_it)
    rows = [(bdi(name, 40), *[percent(value) for value in shares[g, :5]]) for g, name in enumerate(names)]
    below = details("Contributions as a table", table(("group", *about.axes[:5]), rows, "Contributions of the groups"))
    rv = numbers_of(model.rv_)
    labels = [*names, "whole"][: len(rv)]
    alike = details("How alike the groups are", table(("RV", *labels), [
        (labels[i], *[number(value, 3) for value in rv[i, : len(labels)]]) for i in range(len(labels))
    ], "RV coefficients"))  # fmt: skip
    return Content(
        join(lead, figure("groups", "Contributions of groups to an axis that can be chosen"), below, alike), drawn
    )


PART = Part("groups", "Groups of columns", _applies, _build)
