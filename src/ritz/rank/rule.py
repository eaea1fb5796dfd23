"""From what a user writes in ``n_components`` to a number or a rule.

    None → min(n, d)      int → itself      0 < f < 1 → min{k : Σ_{i≤k} λᵢ / Σλ > f}      name → its rule
    name>=m → its rule, and at least m (least.py)

A rule reads a spectrum, whole or in part (``Seen``), and answers with a number of components, or with None as
long as the values seen leave it open. Rules that need more are handed it by the method (``material.py``). ``> f`` is
strict, as in scikit-learn: a share that equals f, to rounding, is not enough.
"""

from __future__ import annotations

import difflib
import numbers
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from ritz._core.errors import ParameterError
from ritz.data.words import counted, percent
from ritz.rank.material import SAMPLE_ROWS
from ritz.rank.shares import Criterion, Curve, Floats, plural, rests, shares, undecided

if TYPE_CHECKING:
    from ritz.spectral.problem import Seen

__all__ = ["NAMES", "ROWLESS", "SPECTRAL", "Fraction", "Options", "criterion", "resolve"]


#: What people and other programs call the rules.
SPOKEN = {
    "cattell": "elbow", "scree": "elbow", "guttman": "kaiser", "eigenvalue": "kaiser", "horn": "parallel",
    "pa": "parallel", "buja": "permutation", "velicer": "map", "minka": "mle", "evidence": "mle",
    "stick": "broken-stick", "cv": "kfold", "cross-validation": "kfold", "bootstrap": "stability",
}  # fmt: skip


@dataclass(frozen=True)
class Options:
    """What the rules can be told; each has its own default."""

    fraction: float = 0.9
    noise: float | None = None
    quantile: float | None = None
    sample: int = SAMPLE_ROWS


def _made(module: str, name: str, *given: Any, **options: Any) -> Any:
    """A rule from its module, which is loaded when the rule is asked for: fifteen would delay every import."""
    return getattr(import_module(f"ritz.rank.{module}"), name)(*given, **options)


_RULES: dict[str, Callable[[Options], Criterion]] = {
    "aic": lambda _: _made("likelihood", "InformationCriterion", "aic"),
    "bcv": lambda o: _made("bicross", "BiCross", rows=o.sample),
    "bic": lambda _: _made("likelihood", "InformationCriterion", "bic"),
    "broken-stick": lambda _: _made("thresholds", "BrokenStick"),
    "dpa": lambda _: _made("edge", "Deterministic"),
    "elbow": lambda _: _made("elbow", "Elbow"),
    "gavish-donoho": lambda o: _made("thresholds", "GavishDonoho", o.noise),
    "gcv": lambda _: _made("crossval", "GCV"),
    "kaiser": lambda _: _made("thresholds", "Kaiser"),
    "kfold": lambda o: _made("crossval", "KFold", o.sample),
    "map": lambda _: _made("velicer", "Velicer"),
    "mle": lambda _: _made("minka", "Minka"),
    "parallel": lambda o: _made("parallel", "Parallel", o.quantile),
    "permutation": lambda o: _made(
        "parallel", "Permutation", 0.95 if o.quantile is None else o.quantile, rows=o.sample
    ),
    "stability": lambda o: _made("stability", "Stability", rows=o.sample),
}
_LIKELIHOOD = ("aic", "bic", "mle")

#: The names that ``n_components`` takes, beside ``consensus``.
NAMES = tuple(_RULES)

#: Those that a spectrum decides, and those that need no rows.
SPECTRAL = ("aic", "bic", "broken-stick", "dpa", "elbow", "gavish-donoho", "gcv", "kaiser", "mle", "parallel")
ROWLESS = tuple(sorted((*SPECTRAL, "map")))

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

    def _cumulated(self, x: Floats) -> Floats:
        return x.astype(np.longdouble).cumsum().astype(np.float64)

    def decide(self, seen: Seen) -> int | None:
        """Return the first k whose share exceeds the fraction, or after which nothing is left."""
        return self._decided(seen)[0]

    def _decided(self, seen: Seen) -> tuple[int | None, Floats]:
        """The answer and the cumulated shares."""
        x, zero = shares(seen), seen.zero_level
        value = self._cumulated(x)
        enough = (value > self.fraction + zero) | (rests(seen, x)[1:] <= zero)
        if enough.any():
            return int(enough.argmax()) + 1, value
        return len(enough) if seen.complete else None, value

    def curve(self, seen: Seen) -> Curve:
        """Return the cumulated share for k = 1, 2, … beside the fraction."""
        value = self._cumulated(shares(seen))
        line = np.full(len(value), self.fraction)
        return Curve(np.arange(1, len(value) + 1), value, line, "cumulated share of the total")

    def why(self, seen: Seen) -> str:
        """Give the share at the answer and one before it."""
        k, value = self._decided(seen)
        if k is None:
            return undecided(f"a fraction of {self.fraction:.4g}", seen)
        text = f"{plural(k)} explain{'s' if k == 1 else ''} {percent(value[k - 1], 2)} of the total"
        before = f", {k - 1} explain{'s' if k == 2 else ''} {percent(value[k - 2], 2)}" if k > 1 else ""
        return f"{text}{before}; asked for more than {percent(self.fraction, 2)}"


def criterion(name: str, options: Options | None = None, names: tuple[str, ...] = NAMES, method: str = "") -> Criterion:
    """Return the rule of that name.

    Parameters
    ----------
    name
        One of ``names``.
    options
        What the rule can be told.
    names, method
        The rules that make sense for a method, and its name.

    Raises
    ------
    ParameterError
        The name is unknown, or makes no sense for the method.
    """
    if name in _RULES and name in names:
        return _RULES[name](options or Options())
    works = ", ".join(repr(allowed) for allowed in names)
    if name in _RULES:
        raise ParameterError(
            f"n_components={name!r} makes no sense for {method}", hint=f"these rules do: {works}, 'consensus'"
        )
    if name.lower() == "fraction":
        hint = "write the fraction itself, n_components=0.9"
    else:
        word = name.lower().replace("_", "-").replace(" ", "-")
        close = difflib.get_close_matches(word, (*names, "consensus"), n=1)
        close = [SPOKEN[word]] if SPOKEN.get(word) in names else close
        hint = (f"did you mean {close[0]!r}? " if close else "") + f"these names work: {works}, 'consensus'"
    raise ParameterError(FORMS, received=repr(name), hint=hint)


def resolve(
    n_components: Any, *, n: int, d: int, centered: bool, names: tuple[str, ...] = NAMES, method: str = "",
    square: bool = False, pieces: tuple[str, str] = ("row", "column"),
) -> int | Criterion:  # fmt: skip
    """Turn ``n_components`` into a number of components or a rule.

    Parameters
    ----------
    n_components : None, int, float, str or rule
        All, a number, a fraction of the total, the name of a rule (``"parallel>=1"``: at least one), or a rule itself.
    n, d : int
        Rows and columns.
    centered : bool
        Whether column means are removed, which costs a row.
    names, method
        The rules that make sense for a method, and its name.
    square : bool
        Whether the matrix is one of rows by rows, so that there are no columns to speak of.
    pieces : (str, str)
        What a row and a column are.

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
        if ">=" in n_components or "≥" in n_components:
            from ritz.rank.least import AtLeast, split_least

            name, least = split_least(str(n_components))
            inner: Any = resolve(name, n=n, d=d, centered=centered, names=names, method=method, square=square,
                                 pieces=pieces)  # fmt: skip
            bounded: Any = AtLeast(inner, _count(least, n, d, square, pieces))
            return bounded
        if n_components == "consensus":
            from ritz.rank.consensus import Consensus

            return Consensus(("fraction", *names), whole=min(n, d))
        rule = criterion(str(n_components), names=names, method=method)
        if rule.name in _LIKELIHOOD:
            from ritz.rank.likelihood import check_rows

            check_rows(rule.name, n, d, centered=centered)
        return rule
    if hasattr(n_components, "decide") and hasattr(n_components, "needs_all"):
        given: Criterion = n_components
        return given
    if isinstance(n_components, (bool, np.bool_)) or not isinstance(n_components, numbers.Real):
        kind = type(n_components).__name__
        shown = repr(n_components) if isinstance(n_components, (bool, np.bool_)) else kind
        raise ParameterError(FORMS, received=shown, hint="n_components=None keeps all components")
    if isinstance(n_components, numbers.Integral):
        return _count(int(n_components), n, d, square, pieces)
    return _fraction(float(n_components))


def _count(k: int, n: int, d: int, square: bool, pieces: tuple[str, str]) -> int:
    """Check a number of components; the wording is scikit-learn's, where columns have a say."""
    most = min(n, d)
    if 0 <= k <= most:
        return k
    if square:
        raise ParameterError(
            f"n_components={k} must be between 0 and the number of rows, n_samples={most}",
            received=f"{k} for {counted(n, pieces[0])}", hint=f"n_components=None keeps all {most}",
        )  # fmt: skip
    raise ParameterError(
        f"n_components={k} must be between 0 and min(n_samples, n_features)={most}",
        received=f"{k} for {counted(n, pieces[0])} and {counted(d, pieces[1])}",
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
