"""A rule that sees no more axes than a table can have.

    CA    min(I, J) − 1           MCA    Σ(levels − 1)           FAMD   numbers + Σ(levels − 1)

The encoded columns of the correspondence family depend on each other (levels sum to 1), so some eigenvalues are zero
by construction. An average over the columns would count them; over the directions that exist it is the rule that books
give: above 1/(min(I, J) − 1) of the inertia for CA, above 1/J for MCA, above 1 for FAMD.
"""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

from ritz.rank.material import Material
from ritz.rank.shares import Curve
from ritz.spectral.problem import Seen

__all__ = ["Within"]


class Within:
    """The same rule, on at most ``most`` axes of a table with so many ``directions`` among its columns."""

    def __init__(self, rule: Any, most: int, directions: int) -> None:
        self.rule, self.most, self.directions = rule, most, directions

    @property
    def name(self) -> str:
        """Name of the rule."""
        return str(self.rule.name)

    @property
    def needs_all(self) -> bool:
        """Whether the rule needs the whole spectrum."""
        return bool(self.rule.needs_all)

    def on(self, material: Material) -> Within:
        """The same with what a method hands in."""
        if not hasattr(self.rule, "on"):
            return self
        given = copy.copy(self)
        given.rule = self.rule.on(material)
        return given

    def check(self, works: str) -> None:
        """Refuse a rule whose material is missing."""
        if hasattr(self.rule, "check"):
            self.rule.check(works)

    def seen(self, seen: Seen) -> Seen:
        """The spectrum without the values that are zero by construction."""
        r = min(seen.r, self.most)
        return replace(
            seen, values=seen.values[:r], d=self.directions, r=r, complete=seen.complete or len(seen.values) >= r
        )

    def decide(self, seen: Seen) -> int | None:
        """The number of axes."""
        answer: int | None = self.rule.decide(self.seen(seen))
        return answer

    def curve(self, seen: Seen) -> Curve:
        """The statistic of the rule."""
        curve: Curve = self.rule.curve(self.seen(seen))
        return curve

    def why(self, seen: Seen) -> str:
        """The reason in words."""
        return str(self.rule.why(self.seen(seen)))
