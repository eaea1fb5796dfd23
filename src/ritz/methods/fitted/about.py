"""What a method is called and what it takes: the only table of names there is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

__all__ = ["INERTIA", "About"]


@dataclass(frozen=True)
class About:
    """Words about a method.

    Parameters
    ----------
    title
        What the field calls the method.
    short
        Its name on the command line.
    axis
        What results call an axis: ``PC`` for PC1, PC2, …
    takes
        ``numbers``, ``counts``, ``categories``, ``mixed`` columns, ``groups`` of columns, ``texts``, or ``objects``
        with a kernel.
    whole
        What shares are shares of.
    measure
        What the value of an axis is called.
    component
        What one axis is called.
    cites
        Keys of the references.
    paper
        What a report tells people to cite.
    pieces
        What the encoded columns of a table are called.
    tells
        What the value of an axis says, of methods whose values are no shares of anything: a clause after "it".
    behind
        Whose certificate it is, where that is not the method's own problem: "the ordinary components".
    """

    title: str
    short: str
    axis: str
    takes: Literal["numbers", "counts", "categories", "mixed", "groups", "texts", "objects"] = "numbers"
    whole: str = "variance"
    measure: str = "variance"
    component: str = "component"
    cites: tuple[str, ...] = ()
    paper: str = ""
    pieces: str = "columns"
    tells: str = ""
    behind: str = ""

    def components(self, count: int) -> str:
        """``3 components``, ``1 axis``."""
        several = {"axis": "axes"}.get(self.component, self.component + "s")
        return f"{count:,} {self.component if count == 1 else several}"

    @property
    def measures(self) -> str:
        """``variances``, ``sums of squares``."""
        head, of, rest = self.measure.partition(" of ")
        return f"{head}{'' if head.endswith('²') else 's'}{of}{rest}"


#: Words that the correspondence family shares.
INERTIA: dict[str, Any] = {"axis": "Dim", "whole": "inertia", "measure": "inertia", "component": "axis"}
