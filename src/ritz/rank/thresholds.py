"""Rules that hold each component against a line: Kaiser, the broken stick, Gavish and Donoho.

    kaiser          λⱼ > Σλ / d                       the average variable; λ > 1 on a correlation matrix
    broken-stick    λⱼ / Σλ > (1/r) Σ_{i=j}^{r} 1/i   the j-th longest piece of a stick broken at random
    gavish-donoho   sⱼ > ω(β)·median(s)               s = √λ, β = smaller/larger side, ω = λ*(β)/√μ_β
                    sⱼ > λ*(β)·√larger side·σ         where the noise σ of an entry is known

The first two stop at the first component that fails and are decided as soon as one must. Kaiser counts all
``d`` variables, as every program that says λ > 1, even where the shape forces zero eigenvalues; the stick
breaks into the ``r`` pieces that can exist. μ_β is the median of the Marčenko–Pastur law, solved numerically.
References: Kaiser 1960; Frontier 1976, Jackson 1993; Gavish and Donoho, IEEE Trans. Inf. Theory 60, 2014.
"""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING

import numpy as np

from ritz._core.errors import ParameterError
from ritz.data.words import percent
from ritz.rank.material import Handed
from ritz.rank.shares import Curve, Floats, divisor, plural, rests, shares, undecided

if TYPE_CHECKING:
    from ritz.spectral.problem import Seen

__all__ = ["BrokenStick", "GavishDonoho", "Kaiser", "marchenko_pastur_median", "omega", "optimal"]


def _leading(seen: Seen, lines: Floats) -> int | None:
    """Count the leading shares above their lines; None while the next one, unseen, might be above as well."""
    x, zero = shares(seen), seen.zero_level
    above = x > lines[: len(x)] + zero
    if not above.all():
        return int(above.argmin())
    m = len(x)
    if seen.complete or m >= seen.r:
        return m
    # The next eigenvalue is at most the whole rest, and at most the last one seen.
    ceiling = min(float(rests(seen)[-1]) + zero, float(x[-1]) if m else 1.0)
    return m if ceiling <= lines[m] else None


def _why_leading(seen: Seen, lines: Floats, k: int | None, line: str) -> str:
    """Name the last component above its line and the first one below."""
    x = shares(seen)
    if k is None:
        return ""
    parts, again = [], "it" if k > 0 else line
    if k > 0:
        parts.append(
            f"component {k} holds {percent(x[k - 1], 2)} of the total, above {line} ({percent(lines[k - 1], 2)})"
        )
    if k < len(x):
        parts.append(f"component {k + 1} holds {percent(x[k], 2)}, not above {again} ({percent(lines[k], 2)})")
    elif k < seen.r:
        parts.append(f"what is left, {percent(rests(seen)[-1], 2)}, cannot reach {again} ({percent(lines[k], 2)})")
    return f"{plural(k)}: " + "; ".join(parts)


class Kaiser:
    """Keep the components that carry more than the average variable."""

    name = "kaiser"
    needs_all = False

    def _lines(self, seen: Seen) -> Floats:
        return np.full(seen.r, 1.0 / seen.d)

    def decide(self, seen: Seen) -> int | None:
        """Return the number of leading components above the average variable."""
        return _leading(seen, self._lines(seen))

    def curve(self, seen: Seen) -> Curve:
        """Return the share of each component beside that of the average variable."""
        x = shares(seen)
        return Curve(np.arange(1, len(x) + 1), x, self._lines(seen)[: len(x)], "share of the total")

    def why(self, seen: Seen) -> str:
        """Name the last component above the average variable and the first one below."""
        text = _why_leading(seen, self._lines(seen), self.decide(seen), "the average variable")
        return text or undecided(self.name, seen)


class BrokenStick:
    """Keep the components that beat the pieces of a randomly broken stick, up to the first that does not."""

    name = "broken-stick"
    needs_all = False

    def _lines(self, seen: Seen) -> Floats:
        pieces = 1.0 / np.arange(1, seen.r + 1)
        return np.cumsum(pieces[::-1])[::-1] / seen.r

    def decide(self, seen: Seen) -> int | None:
        """Return the number of leading components above their piece of the stick."""
        return _leading(seen, self._lines(seen))

    def curve(self, seen: Seen) -> Curve:
        """Return the share of each component beside the expected length of its piece."""
        x = shares(seen)
        return Curve(np.arange(1, len(x) + 1), x, self._lines(seen)[: len(x)], "share of the total")

    def why(self, seen: Seen) -> str:
        """Name the last component above its piece and the first one below."""
        text = _why_leading(seen, self._lines(seen), self.decide(seen), "its piece of the broken stick")
        return text or undecided(self.name, seen)


class GavishDonoho(Handed):
    """Keep the singular values above the optimal hard threshold for white noise.

    Parameters
    ----------
    noise : float or None
        Standard deviation of the noise in an entry, in the units of the analysis; None: unknown, learned from the
        median singular value.
    """

    name = "gavish-donoho"

    def __init__(self, noise: float | None = None) -> None:
        super().__init__()
        if noise is not None and not noise > 0.0:
            raise ParameterError("noise must be a standard deviation above 0, or None", received=repr(noise))
        self.noise = noise
        self.needs_all = noise is None

    def _known(self, seen: Seen) -> float | None:
        """The noise of an entry over √Σλ, if it is known."""
        noise = self.noise
        if self.material is not None:
            noise = self.material.noise if noise is None else noise / self.material.unit
        return None if noise is None else noise / math.sqrt(max(seen.total, 1e-300))

    def _sides(self, seen: Seen) -> tuple[float, float]:
        """The shorter and the longer side of the noise; a method that knows its noise knows its shape."""
        rows = divisor(seen)  # centring costs a row
        sides = (rows, float(seen.d))
        if self.noise is None and self.material is not None and self.material.sides is not None:
            sides = self.material.sides
        return min(sides), max(sides)

    def _line(self, seen: Seen) -> tuple[Floats, float, float]:
        """Return the singular values (as roots of shares), the aspect ratio and the threshold."""
        small, large = self._sides(seen)
        beta = small / large
        s = np.sqrt(shares(seen))
        noise = self._known(seen)
        if noise is not None:
            return s, beta, optimal(beta) * math.sqrt(large) * noise
        # Repeated rows leave fewer directions than the noise model counts; those that are missing are zeros.
        padded = np.append(s, np.zeros(max(0, min(int(small), seen.d) - len(s))))
        return s, beta, omega(beta) * float(np.median(padded))

    def decide(self, seen: Seen) -> int | None:
        """Return the number of singular values above the threshold."""
        if not seen.complete and self._known(seen) is None:
            return None
        s, _, line = self._line(seen)
        least = max(line, math.sqrt(seen.zero_level))
        k = int(np.count_nonzero(s > least))
        if k < len(s) or seen.complete or k >= seen.r:
            return k
        # The next eigenvalue is at most the whole rest.
        return k if float(rests(seen)[-1]) + seen.zero_level <= least**2 else None

    def curve(self, seen: Seen) -> Curve:
        """Return the singular values beside the threshold, both over √Σλ."""
        s, _, line = self._line(seen)
        return Curve(np.arange(1, len(s) + 1), s, np.full(len(s), line), "singular value / √(sum of squares)")

    def why(self, seen: Seen) -> str:
        """Say how the threshold came about and what passes it."""
        k = self.decide(seen)
        if k is None:
            return undecided(self.name, seen)
        s, beta, line = self._line(seen)
        root = math.sqrt(max(seen.total, 0.0))
        edge = f"; the next singular value is {s[k] * root:.4g}" if k < len(s) else ""
        noise = self._known(seen)
        if noise is not None:
            how = f"{optimal(beta):.4f} × √{self._sides(seen)[1]:g} × noise {noise * root:.4g}"
        else:
            how = f"{omega(beta):.4f} × their median"
        return f"{plural(k)}: singular values above {line * root:.4g} = {how}, for aspect ratio {beta:.3g}{edge}"


@functools.lru_cache(maxsize=256)
def marchenko_pastur_median(beta: float) -> float:
    """Return the median of the Marčenko–Pastur law of unit variance and aspect ratio ``beta`` in (0, 1].

    With t = 1 + β + 2√β cos θ the mass above t is ∫₀^θ 2 sin²φ / (π(1 + β + 2√β cos φ)) dφ. The integrand is
    smooth between the median and the top for every β, so Gauss–Legendre nodes give it to rounding.
    """
    nodes, weights = np.polynomial.legendre.leggauss(64)
    root = math.sqrt(beta)

    def above(theta: float) -> float:
        phi = 0.5 * theta * (nodes + 1.0)
        density = 2.0 * np.sin(phi) ** 2 / (math.pi * (1.0 + beta + 2.0 * root * np.cos(phi)))
        return 0.5 * theta * float(weights @ density)

    low, high = 0.0, math.pi
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if above(middle) < 0.5 else (low, middle)
    return 1.0 + beta + 2.0 * root * math.cos(0.5 * (low + high))


def optimal(beta: float) -> float:
    """Return λ*(β), the optimal hard threshold over √(longer side) × noise."""
    return math.sqrt(2.0 * (beta + 1.0) + 8.0 * beta / (beta + 1.0 + math.sqrt(beta**2 + 14.0 * beta + 1.0)))


def omega(beta: float) -> float:
    """Return the optimal hard threshold over the median singular value, noise level unknown."""
    return optimal(beta) / math.sqrt(marchenko_pastur_median(beta))
