"""A rule that never answers with fewer components than a least number: ``n_components="parallel>=1"``.

k = max(k of the rule, min(least, components that there are))
"""

from __future__ import annotations

import copy
import re
from typing import TYPE_CHECKING, Any

from ritz.rank.shares import Curve

if TYPE_CHECKING:
    from ritz.spectral.problem import Seen

__all__ = ["AtLeast", "split_least"]

#: A rule and the least number of components.
FORM = re.compile(r"\s*([A-Za-z][A-Za-z _-]*?)\s*(?:>=|≥)\s*(\d+)\s*")


def split_least(text: str) -> tuple[str, int]:
    """``"parallel>=1"`` as ``("parallel", 1)``; what has another form is a name that nobody knows."""
    found = FORM.fullmatch(text)
    return (text.replace(">=", "").replace("≥", ""), 0) if found is None else (found.group(1), int(found.group(2)))


class AtLeast:
    """The same rule, with a least number of components.

    Parameters
    ----------
    rule : Criterion
        Whose answer counts where it is not smaller.
    least : int
        At least so many components, as far as there are any.
    """

    def __init__(self, rule: Any, least: int) -> None:
        self.rule, self.least = rule, least

    @property
    def name(self) -> str:
        """Name of the rule."""
        return str(self.rule.name)

    @property
    def needs_all(self) -> bool:
        """Whether the rule needs the whole spectrum."""
        return bool(self.rule.needs_all)

    def on(self, material: Any) -> AtLeast:
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

    def decide(self, seen: Seen) -> int | None:
        """The answer of the rule, or the least number."""
        answer: int | None = self.rule.decide(seen)
        least = min(self.least, seen.r)
        if answer is None or (answer < least and len(seen.values) < least and not seen.complete):
            return None
        return max(answer, min(least, len(seen.values)))

    def curve(self, seen: Seen) -> Curve:
        """The statistic of the rule."""
        curve: Curve = self.rule.curve(seen)
        return curve

    def why(self, seen: Seen) -> str:
        """The reason in words, and that fewer were not wanted."""
        words, answer = str(self.rule.why(seen)), self.rule.decide(seen)
        short = answer is not None and answer < min(self.least, seen.r)
        return f"{words}; at least {self.least} asked for" if short else words
