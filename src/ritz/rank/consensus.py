"""All rules side by side, and a consensus with its reasons.

    weight of a vote   = its factor / Σ factors of its group × voice of the group
    factor             = Π of the doubts that the data raise (judge.py);  0: the vote is set aside
    voice              = largest factor among the members, halved for the group that looks at the scree plot alone
    consensus          = weighted median of the votes: the smallest k with at least half of the weight at or below it

Rules that measure the same thing err together, so a group has one voice however many members it has. A median cannot
be moved far by one group, and needs no model of how rules err. A fraction is a budget and has no vote. Votes are
weighed twice: what comes after a first consensus is taken for noise, and whether it is white then counts as well.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ritz._core.errors import ParameterError
from ritz._core.tabular import Tabular
from ritz.data.words import percent
from ritz.rank.judge import ASSUMPTIONS, GROUPS, doubts, facts_of, near_tie
from ritz.rank.material import Material
from ritz.rank.rule import Fraction, Options, criterion
from ritz.rank.shares import Curve, plural

if TYPE_CHECKING:
    from ritz.spectral.problem import Seen

__all__ = ["Consensus", "Ranks", "Row", "Verdict", "judged", "weighted_median"]

#: Smaller side up to which a consensus asks for the whole spectrum, and leading values that it asks for beyond.
WHOLE, LEADING = 5_000, 100
#: Order of the table: from what asks least to what asks most.
ORDER = (
    "fraction", "elbow", "kaiser", "broken-stick", "parallel", "permutation", "dpa", "gavish-donoho", "mle", "aic",
    "bic", "map", "bcv", "gcv", "kfold", "stability",
)  # fmt: skip
NOTHING = Curve(np.zeros(0, np.int64), np.zeros(0), None, "")


class Row(NamedTuple):
    """One line of the table; ``row["k"]`` and ``row.k`` are the same."""

    criterion: str
    k: int | None
    why: str

    def __getitem__(self, key: Any) -> Any:
        """A field by place or by name."""
        return getattr(self, key) if isinstance(key, str) else tuple.__getitem__(self, key)


#: Columns of the table of all rules, and what they hold of each.
TITLES = {"criterion": "name", "k": "k", "weight": "weight", "why": "why", "caution": "caution"}


@dataclass(frozen=True, repr=False)
class Verdict(Tabular):
    """What one rule says.

    Attributes
    ----------
    name : str
        Name of the rule.
    k : int or None
        Its answer; None where it has none.
    curve : Curve
        Its statistic as a function of the number of components.
    why : str
        The answer with its numbers, or why there is none.
    assumption : str
        What the rule assumes.
    caution : str
        When not to believe it on this data; empty where nothing speaks against it.
    group : str
        What it measures.
    weight : float
        Weight of its vote; 0 where it has none.
    """

    name: str
    k: int | None
    curve: Curve
    why: str
    assumption: str
    caution: str
    group: str
    weight: float

    def __repr__(self) -> str:
        lines = [f"{self.name}: {self.why}", f"assumes: {self.assumption}"]
        return "\n".join([*lines, f"caution: {self.caution}"] if self.caution else lines)

    def _table(self) -> dict[str, Any]:
        return self.curve._table()


class Ranks(Tabular):
    """The answers of all rules, their consensus and its reasons.

    Attributes
    ----------
    consensus : int
        How many components the rules agree on, more or less.
    reasons : list of str
        How the consensus came about.
    table : list of rows
        ``criterion, k, why`` of every rule.
    """

    __hash__ = None  # type: ignore[assignment]  # compared by value, as every result, and lists may change

    def __init__(self, verdicts: list[Verdict], consensus: int, reasons: list[str], method: str) -> None:
        self._verdicts = {verdict.name: verdict for verdict in verdicts}
        self.consensus, self.reasons, self.method = consensus, reasons, method

    @property
    def table(self) -> list[Row]:
        """``criterion, k, why`` of every rule."""
        return [Row(v.name, v.k, v.why) for v in self._verdicts.values()]

    def __getitem__(self, name: str) -> Verdict:
        if name not in self._verdicts:
            raise KeyError(f"{name!r} is not among the rules asked: {', '.join(self._verdicts)}")
        return self._verdicts[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._verdicts)

    def __len__(self) -> int:
        return len(self._verdicts)

    def __contains__(self, name: object) -> bool:
        return name in self._verdicts

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        lines = [
            f"How many components of {self.method}: {self.consensus}",
            f"{'criterion':<14} {'k':>4} {'weight':>6}  why",
        ]
        for v in self._verdicts.values():
            k, weight = "–" if v.k is None else str(v.k), f"{v.weight:.2f}" if v.weight else ""
            lines.append(f"{v.name:<14} {k:>4} {weight:>6}  {v.why}")
        return "\n".join([*lines, "", *self.reasons])

    def _repr_html_(self) -> str:
        """The same for a notebook, where long lines wrap within their column; rules without a vote are grey."""
        cells = [
            f"<tr style='opacity:{1 if v.weight else 0.6}'><td>{escape(v.name)}</td>"
            f"<td>{'–' if v.k is None else v.k}</td>"
            f"<td>{f'{v.weight:.2f}' if v.weight else ''}</td><td style='text-align:left'>{escape(v.why)}</td>"
            f"<td style='text-align:left'>{escape(v.caution)}</td></tr>"
            for v in self._verdicts.values()
        ]
        head = "".join(f"<th>{name}</th>" for name in ("criterion", "k", "weight", "why", "caution"))
        reasons = "".join(f"<li>{escape(reason)}</li>" for reason in self.reasons)
        return (
            f"<p><b>How many components of {escape(self.method)}: {self.consensus}</b></p><ul>{reasons}</ul>"
            f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(cells)}</tbody></table>"
        )

    def _table(self) -> dict[str, Any]:
        verdicts = self._verdicts.values()
        return {name: [getattr(one, title) for one in verdicts] for name, title in TITLES.items()}


def weighted_median(votes: list[tuple[int, float]]) -> int:
    """Return the smallest k with at least half of the weight at or below it; 0 without votes."""
    total, below = sum(weight for _, weight in votes), 0.0
    for k, weight in sorted(votes):
        below += weight
        if total > 0.0 and below >= 0.5 * total * (1.0 - 1e-9):
            return k
    return 0


def judged(rules: list[Any], seen: Seen, material: Material | None) -> Ranks:
    """Ask all rules about a spectrum, weigh their answers and take the median."""
    answers = {rule.name: _asked(rule, seen) for rule in rules}
    votes = {name: k for name, (k, _) in answers.items() if k is not None}
    linear = material is None or material.columns is not None
    noise_known = any(getattr(rule, "noise", None) is not None for rule in rules)
    noise_known = noise_known or (material is not None and material.noise is not None)
    kernel = material is not None and material.method == "KernelPCA"
    facts = facts_of(seen, _noisy(rules, seen), known_noise=noise_known, linear=linear, kernel=kernel)
    # What comes after a first consensus is taken for noise, and looked at before the second one.
    first = _weights(_factors({name: doubts(name, k, facts) for name, k in votes.items()}))
    facts = facts.after(seen, weighted_median([(votes[name], weight) for name, weight in first.items()]))
    remarks_on = {name: doubts(name, k, facts) for name, k in votes.items()}
    weights = _weights(_factors(remarks_on))
    verdicts = []
    for rule in rules:
        k, why = answers[rule.name]
        curve = NOTHING if k is None else rule.curve(seen)
        remarks = [words for words, _ in remarks_on.get(rule.name, [])]
        if k is not None:
            remarks.append(near_tie(rule.name, k, curve))
        caution = "; ".join(words for words in remarks if words)
        group = group_of(rule.name)
        weight = weights.get(rule.name, 0.0)
        verdicts.append(Verdict(rule.name, k, curve, why, ASSUMPTIONS[rule.name], caution, group, weight))
    consensus = weighted_median([(k, weights.get(name, 0.0) if weights else 1.0) for name, k in votes.items()])
    return Ranks(
        verdicts, consensus, _reasons(verdicts, consensus, remarks_on), "PCA" if material is None else material.method
    )


def group_of(name: str) -> str:
    """What a rule measures."""
    return next(group for group, names in GROUPS.items() if name in names)


def _asked(rule: Any, seen: Seen) -> tuple[int | None, str]:
    """The answer of a rule and its reason, or why it has none."""
    lacking = rule.lacks() if hasattr(rule, "lacks") else None
    if lacking is not None:
        return None, str(lacking)
    try:
        return rule.decide(seen), rule.why(seen)
    except ParameterError as error:  # a likelihood without a maximum
        return None, f"{rule.name} needs more rows than columns; there are {error.received}"


def _noisy(rules: list[Any], seen: Seen) -> int:
    """Components of pure noise that would exceed the average, as parallel analysis simulated them."""
    for rule in rules:
        if rule.name == "parallel" and rule.lacks() is None:
            line = rule.curve(seen).threshold
            return int(np.count_nonzero(line > 1.0 / seen.d)) if line is not None else 0
    return 0


def _factors(doubts: dict[str, list[tuple[str, float]]]) -> dict[str, float]:
    return {name: float(np.prod([factor for _, factor in remarks])) for name, remarks in doubts.items()}


def _weights(factors: dict[str, float]) -> dict[str, float]:
    weights: dict[str, float] = {}
    for group, names in GROUPS.items():
        members = {name: factors[name] for name in names if factors.get(name, 0.0) > 0.0}
        if group == "budget" or not members:
            continue
        voice = max(members.values()) * (0.5 if group == "scree" else 1.0)
        weights |= {name: factor / sum(members.values()) * voice for name, factor in members.items()}
    return weights


def _behind(at: float, under: float) -> str:
    """How the weight lies about the answer: ``36 % … is for this number, 20 % for fewer and 44 % for more``."""
    parts = [(under, "for fewer"), (max(0.0, 1 - at - under), "for more")]
    rest = [f"{percent(share)} {words}" for share, words in parts if share >= 0.005]
    return f"{percent(at)} of the weight of the rules is for this number" + "".join(
        f"{' and' if i == len(rest) - 1 else ','} {words}" for i, words in enumerate(rest)
    )


def _reasons(verdicts: list[Verdict], consensus: int, doubts: dict[str, list[tuple[str, float]]]) -> list[str]:
    """How the consensus came about, in sentences."""
    voting = [v for v in verdicts if v.weight > 0.0 and v.k is not None]
    if not voting:
        if all(v.k is None for v in verdicts):
            return ["No rule has an answer, so that no number of components is advised."]
        return [f"{plural(consensus)}: the median of the answers; none of these rules has a vote on this data."]
    total = sum(v.weight for v in voting)
    at = sum(v.weight for v in voting if v.k == consensus) / total
    under = sum(v.weight for v in voting if v.k is not None and v.k < consensus) / total
    answers = sorted({v.k for v in voting if v.k is not None})
    if len(answers) == 1:
        alone = f"the answer of {voting[0].name}, the only rule with a vote"
        lines = [f"{plural(consensus)}: {alone if len(voting) == 1 else 'all rules with a vote agree'}."]
    else:
        spread = ", ".join(str(k) for k in answers)
        lines = [f"{plural(consensus)}: the weighted median of the answers {spread}; {_behind(at, under)}."]
    for group in GROUPS:
        members = [v for v in voting if v.group == group]
        if members:
            said = ", ".join(f"{v.name} {v.k}" for v in members)
            lines.append(f"{WORDS[group]} (weight {sum(v.weight for v in members):.2f}): {said}.")
    aside = [v for v in verdicts if v.k is not None and v.weight == 0.0 and v.group != "budget"]
    for v in aside:
        failed = "; ".join(words for words, factor in doubts[v.name] if factor == 0.0)
        lines.append(f"Set aside: {v.name} {v.k}, because {failed}.")
    return lines


WORDS = {
    "noise": "Above what noise reaches",
    "likelihood": "Best model for its price",
    "prediction": "Best prediction of what was held out",
    "structure": "Shared by columns, found again among rows",
    "scree": "Shape of the scree plot",
}


class Consensus:
    """A rule that asks all others.

    Parameters
    ----------
    names : tuple of str
        Rules to ask.
    options : Options
        What they are told.
    whole : int
        The smaller side of the table: where it is large, leading eigenvalues have to do.
    """

    name = "consensus"

    def __init__(self, names: tuple[str, ...], options: Options | None = None, whole: int = 0) -> None:
        told = options or Options()
        wanted = [name for name in ORDER if name in names]
        self.rules: list[Any] = [
            Fraction(told.fraction) if name == "fraction" else criterion(name, told) for name in wanted
        ]
        self.needs_all = whole <= WHOLE
        self.material: Material | None = None
        self.held: dict[str, Any] = {}

    def on(self, material: Material) -> Consensus:
        """The same with what a method hands in; what is found is shared with the original."""
        given = copy.copy(self)
        given.material = material
        given.rules = [rule.on(material) if hasattr(rule, "on") else rule for rule in self.rules]
        return given

    def check(self, works: str) -> None:
        """Rules without material have no vote; nothing is refused."""

    def ranks(self, seen: Seen) -> Ranks:
        """All verdicts on a spectrum; the same spectrum is judged once."""
        if self.held.get("seen") is not seen:
            self.held.update(seen=seen, ranks=judged(self.rules, seen, self.material))
        ranks: Ranks = self.held["ranks"]
        return ranks

    def decide(self, seen: Seen) -> int | None:
        """Return the consensus, once enough of the spectrum is seen."""
        if not seen.complete and len(seen.values) < min(seen.r, LEADING):
            return None
        k = min(self.ranks(seen).consensus, seen.r)
        return k if seen.complete or k <= len(seen.values) else None

    def curve(self, seen: Seen) -> Curve:
        """Return the share of the weight that says k or more."""
        voting = [v for v in map(self.ranks(seen).__getitem__, self.ranks(seen)) if v.weight > 0 and v.k is not None]
        k = np.arange(max((v.k or 0 for v in voting), default=0) + 1)
        total = max(sum(v.weight for v in voting), 1e-300)
        value = np.array([sum(v.weight for v in voting if (v.k or 0) >= at) / total for at in k])
        return Curve(k, value, np.full(len(k), 0.5), "share of the weight that says k or more")

    def why(self, seen: Seen) -> str:
        """Return the first reason."""
        return self.ranks(seen).reasons[0]
