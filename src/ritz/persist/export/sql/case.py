"""Answers to a categorical variable in SQL.

    CASE WHEN t."soil" = 'clay' THEN 0.3 WHEN t."soil" IN ('sand', 'loam') THEN -0.1
         WHEN t."soil" IS NULL THEN … ELSE … END

Levels are compared as texts, which databases turn into what the column holds: numbers, truth values or texts.
"""

from __future__ import annotations

from collections.abc import Callable

from ritz.persist.export.form_choices import Answer, Choice
from ritz.persist.export.sql.words import name_of, number, text_of

__all__ = ["case"]


def case(choice: Choice, i: int, value: Callable[[Answer], float] | None = None) -> str:
    """What an answer adds, by CASE; levels that add the same stand together."""

    def entry(answer: Answer) -> str:
        if answer.scores is None:
            return "NULL"
        return number(float(answer.scores[i]) if value is None else value(answer))

    where = f"t.{name_of(choice.name)}"
    groups: dict[str, list[str]] = {}
    for level, answer in choice.levels.items():
        groups.setdefault(entry(answer), []).append(text_of(level))
    whens = [
        f"WHEN {where} = {levels[0]} THEN {result}" if len(levels) == 1
        else f"WHEN {where} IN ({', '.join(levels)}) THEN {result}"
        for result, levels in groups.items()
    ]  # fmt: skip
    whens.append(f"WHEN {where} IS NULL THEN {entry(choice.missing)}")
    return f"CASE {' '.join(whens)} ELSE {entry(choice.unseen)} END"
