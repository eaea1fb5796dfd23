"""From what a user writes in ``n_components`` to a number or a rule.

    None → min(n, d)      int → itself      0 < f < 1 → min{k : Σ_{i≤k} λᵢ / Σλ > f}      name → its rule

A rule reads a spectrum, whole or in part (``Seen``), and answers with a number of components, or with None as
long as the values seen leave it open. ``> f`` is strict, as in scikit-learn: a share that equals f, to
rounding, is not enough.
"""

from __future__ import annotations

import difflib
import numbers
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ritz._core.errors import ParameterError
from ritz.rank.elbow import Elbow
from ritz.rank.likelihood import InformationCriterion, check_rows
from ritz.rank.minka import Minka
from ritz.rank.shares import Criterion, Curve, Floats, plural, rests, shares, undecided, zero_level
from ritz.rank.thresholds import BrokenStick, GavishDonoho, Kaiser

if TYPE_CHECKING:
    from ritz.spectral.problem import Seen

__all__ = ["NAMES", "Fraction", "criterion", "resolve"]

_RULES: dict[str, Callable[[], Criterion]] = {
    "aic": lambda: InformationCriterion("aic"),
    "bic": lambda: InformationCriterion("bic"),
    "broken-stick": BrokenStick,
    "elbow": Elbow,
    "gavish-donoho": GavishDonoho,
    "kaiser": Kaiser,
    "mle": Minka,
}
_LIKELIHOOD = ("aic", "bic", "mle")

#: The names that ``n_components`` takes.
NAMES = tuple(_RULES)

#: Names that have a meaning but need more than a spectrum.
LATER = ("parallel", "permutation", "dpa", "map", "bcv", "gcv", "kfold", "stability", "consensus")

FORMS = "n_components must be None, an int, a fraction between 0 and 1, or the name of a rule"


class Fraction:
    """Keep as many components as it takes to explain more than a fraction of the total.

    Parameters
    ----------
    fraction : float
        Strictly between 0 and 1.
    """

    name = "fraction"
    needs_all = False

    def __init__(self, fraction: float) -> None:
        self.fraction = fraction

    def _cumulated(self, seen: Seen) -> Floats:
        return np.cumsum(shares(seen).astype(np.longdouble)).astype(np.float64)

    def decide(self, seen: Seen) -> int | None:
        """Return the first k whose share exceeds the fraction, or after which nothing is left."""
        zero = zero_level(seen)
        enough = (self._cumulated(seen) > self.fraction + zero) | (rests(seen)[1:] <= zero)
        if enough.any():
            return int(enough.argmax()) + 1
        return len(enough) if seen.complete else None

    def curve(self, seen: Seen) -> Curve:
        """Return the cumulated share for k = 1, 2, … beside the fraction."""
        value = self._cumulated(seen)
        line = np.full(len(value), self.fraction)
        return Curve(np.arange(1, len(value) + 1), value, line, "cumulated share of the total")

    def why(self, seen: Seen) -> str:
        """Give the share at the answer and one before it."""
        k = self.decide(seen)
        if k is None:
            return undecided(f"a fraction of {self.fraction:.4g}", seen)
        value = self._cumulated(seen)
        text = f"{plural(k)} explain{'s' if k == 1 else ''} {value[k - 1]:.2%} of the total"
        before = f", {k - 1} {value[k - 2]:.2%}" if k > 1 else ""
        return f"{text}{before}; asked for more than {self.fraction:.2%}"


def criterion(name: str) -> Criterion:
    """Return the rule of that name.

    Raises
    ------
    ParameterError
        The name is unknown, or known but not available.
    """
    if name in _RULES:
        return _RULES[name]()
    works = ", ".join(repr(known) for known in NAMES)
    if name in LATER:
        raise ParameterError(
            f"n_components={name!r} needs more than the spectrum of one fit and is not available yet",
            hint=f"these work today: {works}",
        )
    if name.lower() == "fraction":
        hint = "write the fraction itself, n_components=0.9"
    else:
        close = difflib.get_close_matches(name.lower().replace("_", "-"), NAMES + LATER, n=1)
        hint = (f"did you mean {close[0]!r}? " if close else "") + f"these names work: {works}"
    raise ParameterError(FORMS, received=repr(name), hint=hint)


def resolve(n_components: Any, *, n: int, d: int, centered: bool) -> int | Criterion:
    """Turn ``n_components`` into a number of components or a rule.

    Parameters
    ----------
    n_components : None, int, float or str
        All, a number, a fraction of the total, or the name of a rule.
    n, d : int
        Rows and columns.
    centered : bool
        Whether column means are removed, which costs a row.

    Returns
    -------
    int or Criterion
        A number in 0 … min(n, d), or a rule that reads the spectrum.

    Raises
    ------
    ParameterError
        Anything else, with what would work.
    """
    if n_components is None:
        return min(n, d)
    if isinstance(n_components, str):
        rule = criterion(str(n_components))
        if rule.name in _LIKELIHOOD:
            check_rows(rule.name, n, d, centered=centered)
        return rule
    if isinstance(n_components, (bool, np.bool_)) or not isinstance(n_components, numbers.Real):
        kind = type(n_components).__name__
        shown = repr(n_components) if isinstance(n_components, (bool, np.bool_)) else kind
        raise ParameterError(FORMS, received=shown, hint="n_components=None keeps all components")
    if isinstance(n_components, numbers.Integral):
        return _count(int(n_components), n, d)
    return _fraction(float(n_components))


def _count(k: int, n: int, d: int) -> int:
    """Check a number of components; the wording is scikit-learn's."""
    most = min(n, d)
    if 0 <= k <= most:
        return k
    raise ParameterError(
        f"n_components={k} must be between 0 and min(n_samples, n_features)={most}",
        received=f"{k} for {n} rows and {d} columns",
        hint=f"n_components=None keeps all {most}",
    )


def _fraction(share: float) -> Fraction:
    """Check a fraction; whole numbers written as floats are told how to be meant."""
    if 0.0 < share < 1.0:
        return Fraction(share)
    if share == 1.0:
        hint = "n_components=None keeps everything, n_components=1 keeps one component"
    elif share > 1.0 and share.is_integer():
        hint = f"write n_components={int(share)} for a number of components"
    elif 1.0 < share < 100.0:
        hint = f"n_components={share / 100.0:g} if {share:g} was a percentage"
    else:
        hint = "n_components=0.9 keeps what explains more than 90 %"
    raise ParameterError(
        "n_components given as a float must be strictly between 0 and 1",
        received=repr(share),
        hint=hint,
    )
