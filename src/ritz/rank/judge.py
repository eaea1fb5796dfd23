"""What each rule assumes, and when not to believe it on the data at hand.

    doubts(rule, k, facts) → [(words, factor), …]        weight of a vote = Π factors

A factor is 1 for a remark, ½ for a doubt, 0 where the assumption plainly fails. ``Facts`` are measured once from the
spectrum; nothing here asks for the data.

Noise of one variance in every direction has a rest of the spectrum whose relative second moment is that of Marčenko and
Pastur; noise variances t that differ raise it by their squared coefficient of variation:

    e = mean λ²/(mean λ)² − γ = 1 + cv²(t),   over the d − q eigenvalues after q components, γ = (d − q)/(m − q)
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ritz.data.words import percent
from ritz.rank.shares import Curve, divisor, rests, shares

if TYPE_CHECKING:
    from ritz.spectral.problem import Seen

__all__ = ["ASSUMPTIONS", "GROUPS", "Facts", "doubts", "facts_of", "near_tie"]

#: What each rule measures; a group has one voice, shared by its members.
GROUPS = {
    "noise": ("parallel", "permutation", "dpa", "gavish-donoho"),
    "likelihood": ("mle", "aic", "bic"),
    "prediction": ("bcv", "gcv", "kfold"),
    "structure": ("map", "stability"),
    "scree": ("elbow", "kaiser", "broken-stick"),
    "budget": ("fraction",),
}

ASSUMPTIONS = {
    "fraction": "Nothing: a share of the variance is a budget, not a finding.",
    "elbow": "The eigenvalues are two groups, large and small, of the same spread.",
    "kaiser": "A component worth less than the average variable is worth nothing.",
    "broken-stick": "Without structure the variance splits like a stick broken at random.",
    "parallel": "Without structure the columns are independent and Gaussian, with the variances they have.",
    "permutation": "Rows are exchangeable; without structure the columns are independent.",
    "dpa": "Without structure the columns are independent, and there are many rows and columns.",
    "mle": "Gaussian rows, noise of one variance in every direction, and many more rows than columns.",
    "aic": "Gaussian rows, noise of one variance in every direction, and many more rows than columns.",
    "bic": "Gaussian rows, noise of one variance in every direction, and many more rows than columns.",
    "gavish-donoho": "A matrix of low rank plus white noise: one variance everywhere and no correlation.",
    "map": "Components are what several columns have in common; what belongs to one column is not a component.",
    "bcv": "Entries of rows and columns left out can be predicted from the others by what is real and not by noise.",
    "gcv": "Each component costs the numbers that it fits; noise is independent and of one variance.",
    "kfold": "Single entries can be predicted from the others by what is real and not by noise.",
    "stability": "Rows are drawn independently; a component that is real is found again among rows drawn anew.",
}

#: How near a component may come to its line, and another k to the best one (absolutely for logarithms), to be a tie.
CLOSE = 0.02
NEAR = {"mle": 1.0, "aic": 2.0, "bic": 2.0, "map": 0.02, "bcv": 0.01, "gcv": 0.01, "kfold": 0.01}
#: Share of the variance from which components before the noise raise the line of simulated and permuted tables.
HIDES = 2.0 / 3.0
#: Excess of e over 1, in standard errors and absolutely, from which noise is not white.
UNEVEN, SURE = 0.08, 4.0


@dataclass(frozen=True)
class Facts:
    """What is known of the data beside the answers.

    Attributes
    ----------
    n, d, r : float, int, int
        Degrees of freedom of the rows, columns, and eigenvalues that can differ from zero.
    rest : int
        Components before what is taken for noise.
    uneven : float
        Estimated coefficient of variation of the noise variances; 0 where it cannot be told from white noise.
    signal, ratio : float
        Share of the components before the noise, and how many times the second the first one is.
    noisy : int
        Components of pure noise that would exceed the average.
    known_noise : bool
        Whether the level of the noise is known.
    linear, kernel : bool
        Whether columns are variables (PCA, SVD) and not levels; whether rows are compared by a kernel.
    """

    n: float
    d: int
    r: int
    rest: int
    uneven: float
    signal: float
    ratio: float
    noisy: int
    known_noise: bool = False
    linear: bool = True
    kernel: bool = False

    def after(self, seen: Seen, rest: int) -> Facts:
        """The same with what comes after ``rest`` components taken for noise."""
        uneven = unevenness(seen, rest) if seen.complete and self.linear else 0.0
        left = rests(seen)
        return replace(self, rest=rest, uneven=uneven, signal=1.0 - float(left[min(rest, len(left) - 1)]))


def facts_of(seen: Seen, noisy: int, *, known_noise: bool = False, linear: bool = True, kernel: bool = False) -> Facts:
    """Measure the spectrum; nothing is taken for noise yet."""
    x = shares(seen)
    ratio = float(x[0] / x[1]) if len(x) > 1 and x[1] > 0.0 else 1.0
    return Facts(divisor(seen), seen.d, seen.r, 0, 0.0, 0.0, ratio, noisy, known_noise, linear, kernel)


def unevenness(seen: Seen, q: int) -> float:
    """Estimate the coefficient of variation of the noise variances from what comes after q components."""
    x, m = shares(seen)[q:], divisor(seen) - q
    d = seen.d - q
    if d < 3 or m < 3 or float(rests(seen)[min(q, len(rests(seen)) - 1)]) <= seen.zero_level:
        return 0.0
    mean = float(x.sum()) / d
    excess = float((x**2).sum()) / d / mean**2 - d / m - 1.0
    error = 2.0 * np.sqrt((1.0 + d / m) / (m * d)) * np.sqrt(1.0 + 2.0 * d / m)
    return float(np.sqrt(excess)) if excess > max(UNEVEN, SURE * error) else 0.0


Doubts = list[tuple[str, float]]


def doubts(name: str, k: int, facts: Facts) -> Doubts:
    """Say when not to believe a rule on this data, each with what it does to the weight of its vote."""
    if name in GROUPS["noise"]:
        return _noise(name, k, facts)
    if name in GROUPS["likelihood"]:
        return _likelihood(k, facts)
    if name in GROUPS["prediction"]:
        return _prediction(name, facts)
    if name in GROUPS["structure"]:
        return _structure(name, k, facts)
    return _scree(name, k, facts)


def near_tie(name: str, k: int, curve: Curve) -> str:
    """Say where another number of components does nearly as well, or nothing."""
    place = {int(at): i for i, at in enumerate(curve.k)}
    if curve.threshold is not None and name not in ("fraction", "stability"):
        for at in (k, k + 1):
            i = place.get(at)
            line = 0.0 if i is None else float(curve.threshold[i])
            if i is not None and line > 0.0 and abs(float(curve.value[i]) / line - 1.0) < CLOSE:
                return f"a near tie: component {at} is within {percent(CLOSE)} of the line"
        return ""
    if k not in place or name not in NEAR:
        return ""
    here, margin = float(curve.value[place[k]]), NEAR[name]
    allowed = margin if name in GROUPS["likelihood"] else margin * abs(here)
    for at in (k - 1, k + 1):
        i = place.get(at)
        if i is not None and np.isfinite(here) and abs(float(curve.value[i]) - here) < allowed:
            return f"a near tie: {at} would do nearly as well"
    return ""


def _uneven(facts: Facts) -> str:
    return f"the noise is not white, its variances differ by {percent(facts.uneven)}"


def _noise(name: str, k: int, facts: Facts) -> Doubts:
    out: Doubts = []
    if name == "gavish-donoho" and facts.kernel:
        out.append(("the spectrum of a kernel has no flat end of white noise", 0.0))
    elif name == "gavish-donoho" and not facts.known_noise:
        if facts.uneven:
            out.append((_uneven(facts), 0.0))
        if k > facts.r / 2:
            out.append(("more than half of the directions are signal, so their median is not that of noise", 0.0))
        if facts.r < 20:
            out.append((f"the threshold is meant for large matrices, and {facts.r} eigenvalues are few", 0.5))
    if name == "dpa" and facts.r < 50:
        out.append((f"the line is meant for many rows and columns, and {facts.r} eigenvalues are few", 0.5))
    if name in ("parallel", "permutation") and facts.uneven and facts.r >= 50:
        out.append((f"{_uneven(facts)}, so the largest one of the noise meets a line that is too low", 0.5))
    if name in ("parallel", "permutation", "dpa") and facts.signal > HIDES and facts.linear:
        what = "component 1 holds" if facts.rest == 1 else f"components 1 to {facts.rest} hold"
        out.append(
            (f"{what} {percent(facts.signal)} of the variance, which raises the line and hides weak components", 0.5)
        )
    return out


def _likelihood(k: int, facts: Facts) -> Doubts:
    out: Doubts = []
    if facts.uneven:
        out.append((_uneven(facts), 0.0))
    if k >= max(2, 0.75 * (facts.d - 1)):
        out.append(("no flat end of the spectrum was found", 0.0))
    if facts.n < 3 * facts.d:
        out.append((f"{facts.n / facts.d:.1f} rows a column are few", 0.5))
    return out


def _prediction(name: str, facts: Facts) -> Doubts:
    out: Doubts = []
    if name == "gcv" and facts.uneven:
        out.append((f"{_uneven(facts)}, so a cost computed for equal variances is too low", 0.0))
    if name == "bcv" and facts.uneven:
        out.append((f"{_uneven(facts)}, so the noisiest columns are fitted before weak components", 0.5))
    if name == "bcv" and facts.d < 10:
        out.append((f"{facts.d} columns leave little to predict from", 0.5))
    return out


def _structure(name: str, k: int, facts: Facts) -> Doubts:
    out: Doubts = []
    if name == "stability" and facts.uneven:
        out.append((f"{_uneven(facts)}, so the directions of the noisiest columns are found again too", 0.5))
    if name == "stability" and facts.n < 2 * facts.d and facts.linear:
        out.append((f"{facts.n / facts.d:.1f} rows a column are few: rows that are drawn twice look like noise", 0.5))
    if name == "map" and k > 0 and facts.d < 3 * k:
        out.append((f"{facts.d} columns are few for {k} components", 0.5))
    return out


def _scree(name: str, k: int, facts: Facts) -> Doubts:
    out: Doubts = []
    if name == "kaiser" and facts.noisy > 0:
        what = "component" if facts.noisy == 1 else "components"
        factor = 0.0 if 2 * facts.noisy > k else 0.5
        out.append((f"{facts.noisy} {what} of pure noise would exceed the average", factor))
    if name == "kaiser" and facts.kernel:
        out.append(("an average over as many eigenvalues as rows says little", 0.0))
    if name == "elbow" and k == 1 and facts.ratio > 3.0:
        out.append((f"component 1 is {facts.ratio:.1f} times the next, so the bend lies right behind it", 0.5))
    if name == "elbow" and k > max(2.0, facts.r / 3):
        out.append(("the spectrum has no bend near its beginning", 0.0))
    if name == "broken-stick":
        out.append(("the rule is conservative: weak components hide behind strong ones", 0.5))
    return out
