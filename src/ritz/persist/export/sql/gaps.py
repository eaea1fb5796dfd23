"""Gaps filled in by SQL: a small system a row, eliminated column by column.

    g0   B (q,) = Σ_observed z u,   M (q, q) = I − Σ_hidden u uᵀ,   Q (q, k) = Σ_hidden Q_j,   S (k,) = the other terms
    gi   one step of elimination of [M | B]; M is positive definite, so pivots are positive
    score = S + Bᵀ Q after q steps

Each SELECT is joined laterally to the row, so nothing is computed twice and no name of the table is in the way.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ritz.persist.export.form import Form
from ritz.persist.export.form_choices import Answer
from ritz.persist.export.sql.case import case
from ritz.persist.export.sql.words import added, column, name_of, number, times

__all__ = ["filled"]


def filled(form: Form, base: list[str], factor: str | None) -> tuple[list[str], str]:
    """Scores, and what is joined to the table for them."""
    q = form.fills
    items = _of_numbers(form) if form.gaps is not None else _of_answers(form)
    shown = {}
    for a in range(q):
        b = added([item["b"][a] for item in items])
        shown[f"b{a}"] = b if factor is None else f"{factor} * {b}"
        for c in range(a, q):
            hidden = added([item["P"][a][c] for item in items])
            shown[f"m{a}_{c}"] = f"{number(float(a == c))} - {hidden}"
        for i in range(form.k):
            shown[f"q{a}_{i}"] = added([item["Q"][a][i] for item in items])
    for i in range(form.k):
        terms = added([item["S"][i] for item in items])
        shown[f"s{i}"] = added([base[i], terms if factor is None else f"{factor} * {terms}"])
    steps = [_select(shown, "g0"), *(_step(i, q, f"g{i}", f"g{i + 1}") for i in range(q))]
    last = f"g{q}"
    scores = [added([f"g0.s{i}", *(f"{last}.b{a} * g0.q{a}_{i}" for a in range(q))]) for i in range(form.k)]
    return scores, "".join(f"\nCROSS JOIN LATERAL {step}" for step in steps)


def _select(shown: dict[str, str], name: str) -> str:
    return "(SELECT " + ",\n  ".join(f"{value} AS {key}" for key, value in shown.items()) + f") AS {name}"


def _step(i: int, q: int, before: str, name: str) -> str:
    """Gauss–Jordan: the unknown i is taken out of all other equations; columns up to i are done with."""

    def m(a: int, c: int) -> str:
        # the part that is still to be done stays symmetric; what is above it is kept by rows
        return f"{before}.m{a}_{c}" if a <= c else f"{before}.m{c}_{a}"

    shown = {}
    for a in range(q):
        share = f"{m(min(a, i), max(a, i))} / {m(i, i)}"
        if a == i:
            shown[f"b{a}"] = f"{before}.b{i} / {m(i, i)}"
        else:
            shown[f"b{a}"] = f"{before}.b{a} - ({share}) * {before}.b{i}"
        for c in range(max(a, i + 1), q):
            if a == i:
                shown[f"m{a}_{c}"] = f"{m(i, c)} / {m(i, i)}"
            else:
                shown[f"m{a}_{c}"] = f"{m(a, c)} - ({share}) * {m(i, c)}"
    return _select(shown, name)


def _of_numbers(form: Form) -> list[dict[str, Any]]:
    gaps, k = form.gaps, form.k
    if gaps is None:
        return []
    some = " OR ".join(f"{column(name)} IS NOT NULL" for name in form.numbers)
    items = []
    for j, name in enumerate(form.numbers):
        x, u, W = column(name), gaps.u[j], form.weights[j]
        less = f" - {number(gaps.low[j])}" if gaps.low[j] else ""
        z = f"({x} - {number(gaps.mean[j])}{less})"
        where = f"t.{name_of(name)} IS NULL"
        const = ((gaps.mean[j] - form.centre[j]) + gaps.low[j]) * W
        plain = f"({x} - {number(form.centre[j])})"
        lost = [number(value) for value in const]
        if j == 0:  # a row of gaps alone is refused
            lost = [f"CASE WHEN {some} THEN {value} END" for value in lost]
        items.append({
            "b": [f"CASE WHEN {where} THEN 0e0 ELSE {times(z, u[a] / gaps.scale[j])} END" for a in range(gaps.k)],
            "P": [[f"CASE WHEN {where} THEN {number(u[a] * u[c])} ELSE 0e0 END" for c in range(gaps.k)]
                  for a in range(gaps.k)],
            "Q": [[f"CASE WHEN {where} THEN {number(u[a] * gaps.scale[j] * W[i])} ELSE 0e0 END" for i in range(k)]
                  for a in range(gaps.k)],
            "S": [f"CASE WHEN {where} THEN {lost[i]} ELSE {times(plain, W[i])} END" for i in range(k)],
        })  # fmt: skip
    return items


def _of_answers(form: Form) -> list[dict[str, Any]]:
    items = []
    for choice in form.choices:
        P, Q = np.asarray(choice.P), np.asarray(choice.Q)
        q = len(P)
        items.append({
            "b": [case(choice, 0, _share(a)) for a in range(q)],
            "P": [[case(choice, 0, _if_hidden(P[a, c])) for c in range(q)] for a in range(q)],
            "Q": [[case(choice, 0, _if_hidden(Q[a, i])) for i in range(form.k)] for a in range(q)],
            "S": [case(choice, i) for i in range(form.k)],
        })  # fmt: skip
    return items


def _share(a: int) -> Callable[[Answer], float]:
    return lambda answer: 0.0 if answer.b is None else float(answer.b[a])


def _if_hidden(value: float) -> Callable[[Answer], float]:
    return lambda answer: float(value) if answer.hidden else 0.0
