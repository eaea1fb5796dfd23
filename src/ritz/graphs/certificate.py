"""What is known about a search: how it was done, what is proved, or what share of neighbours was found."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["SearchCertificate"]


@dataclass(frozen=True, repr=False)
class SearchCertificate:
    """What is proved about lists of neighbours.

    Attributes
    ----------
    exact : whether every neighbour was found
    route : "tree", "blocks", "graph", or the library that searched
    reason : why this route
    distance : what is called near
    proof : why no neighbour was lost, or that this was measured
    rounding : how far a distance can be from the true one, relative to it; None where that is not known
    again : rows that were searched a second time because the first look left a doubt, or ties
    ties : what became of rows equally near
    recall : share of true neighbours that were found: 1 where it is proved, otherwise measured on ``sampled`` rows
    interval : where the recall of all rows lies, with 95 % confidence; (1, 1) where it is proved
    sampled : rows on which the recall was measured; 0 where it is proved
    """

    exact: bool
    route: str
    reason: str
    distance: str
    proof: str
    rounding: float | None
    again: int
    ties: str
    recall: float
    interval: tuple[float, float]
    sampled: int

    def __repr__(self) -> str:
        if self.exact:
            head = "neighbours (exact: none missed)"
            found = f"proof: {self.proof}"
        else:
            head = "neighbours (approximate)"
            low, high = self.interval
            found = (
                f"recall {self.recall:.3f}, between {low:.3f} and {high:.3f} with 95 % confidence, "
                f"measured on {self.sampled} rows"
            )
        lines = [head, f"{self.distance}; {self.route}: {self.reason}", found]
        if self.rounding is not None and self.rounding > 0:
            lines.append(f"distances are off by at most {self.rounding:.1e} of themselves")
        again = f"; {self.again:,} rows were searched again" if self.again else ""
        lines.append(f"ties: {self.ties}{again}")
        return "\n".join(lines)
