"""Limits of T² and Q for Gaussian rows, with what estimating the plane costs.

n rows, ν = n − 1 degrees of freedom (n without centring), divisor s of the variances, k components, rest λ_{k+1}, …

T², rows of the fit    T² = s·m·β,   β ~ Beta(k/2, (ν − k)/2),   m = (n − 1)/n (1 without centring)    exact for every k
T², new rows           (1 + 1/n) s k/(ν − k + 1) · F(k, ν − k + 1) · (1 − 2/(nk) Σ_{i≤k<j} λⱼ/(λᵢ − λⱼ))
Q, θᵢ = Σ_{j>k} λⱼⁱ    θ₁ + b(χ²_ν − ν),  ν = θ₂³/θ₃²,  b = θ₃/θ₂: the first three moments               [Buckley88]
                       or, with h₀ = 1 − 2θ₁θ₃/(3θ₂²),
                       θ₁ [c_α√(2θ₂h₀²)/θ₁ + 1 + θ₂h₀(h₀ − 1)/θ₁²]^(1/h₀)                                       [JM79]
                       and gχ²_h, g = θ₂/θ₁, h = θ₁²/θ₂, where h₀ ≤ 0                                          [Box54]

The left singular vectors of Gaussian rows are uniform on the sphere whatever the spectrum, so a row of the fit has
Q = s·m·Σ λⱼ gⱼ²/Σ g²: its first three cumulants are exact, and the formulas are given those in place of θ₁, 2θ₂ and
8θ₃. For new rows the leading sample variances are too large and the rest too small, to first order by
λᵢλⱼ/(n(λᵢ − λⱼ)) for every pair [Lawley56], twice that for rows that did not choose the plane, half of it along one
direction for each component (``_leaking``); θ₂ and θ₃ are unbiased for a Wishart matrix [FSG10], and F(h, hν) in place
of χ²_h allows for θ₁ being an estimate.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "Rest", "Thetas", "box", "inflation", "new_rest", "spe_limit", "t2_new", "t2_scale", "t2_training", "tail",
    "training",
]  # fmt: skip

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Thetas:
    """θ₁, and θ₂/θ₁² and θ₃/θ₁³, so that cubes of variances stay in range whatever the units of the data."""

    one: float
    second: float  # θ₂/θ₁²
    third: float  # θ₃/θ₁³

    @classmethod
    def of(cls, values: Floats) -> Thetas:
        """From the variances themselves."""
        one = float(np.sum(values))
        shares = values / one if one > 0 else np.zeros(0)
        return cls(one, float(np.sum(shares**2)), float(np.sum(shares**3)))

    @classmethod
    def even(cls, k: int, value: float = 1.0) -> Thetas:
        """Of one variance k times."""
        return cls(k * value, 1 / k, 1 / k**2) if k else cls(0.0, 0.0, 0.0)

    @property
    def two(self) -> float:
        """θ₂."""
        return self.second * self.one * self.one

    @property
    def three(self) -> float:
        """θ₃."""
        return self.third * self.one * self.one * self.one

    def times(self, factor: float) -> Thetas:
        """Of variances that are all multiplied by a factor."""
        return Thetas(self.one * factor, self.second, self.third)

    def plus(self, other: Thetas) -> Thetas:
        """Of two sets of variances together."""
        one = self.one + other.one
        if one <= 0:
            return Thetas(0.0, 0.0, 0.0)
        a, b = self.one / one, other.one / one
        return Thetas(one, self.second * a**2 + other.second * b**2, self.third * a**3 + other.third * b**3)


@dataclass(frozen=True)
class Rest:
    """The spectrum off the plane: every variance, or the sums of their powers."""

    thetas: Thetas
    values: Floats | None = None
    words: str = ""

    def shares(self, variance: float, gap: float) -> float:
        """Σⱼ λⱼ/(λᵢ − λⱼ) for one variance λᵢ; differences below the sampling error ``gap`` count as that."""
        if self.values is not None:
            return float(np.sum(self.values / np.maximum(variance - self.values, gap)))
        t, size = self.thetas, self.thetas.one / variance
        # the series λⱼ/λᵢ + (λⱼ/λᵢ)² + …, of which three terms are known
        ratio = min(t.third * size / max(t.second, 1e-300), 1 - gap / variance)
        return size + t.second * size**2 + t.third * size**3 / max(1 - ratio, gap / variance)


def spe_limit(t: Thetas, alpha: float, formula: str = "moments") -> tuple[float, str]:
    """The limit of Q and by whose formula."""
    from scipy.stats import chi2, norm

    if t.one <= 0 or t.second <= 0:
        return 0.0, "nothing is left off the plane"
    if formula == "moments":
        nu, b = _shape(t)
        return float(t.one + b * (chi2.isf(alpha, nu) - nu)), "χ² with the first three moments of Q"
    h0 = 1 - 2 * t.third / (3 * t.second**2)
    if h0 > 0:
        c = float(norm.isf(alpha))
        base = c * np.sqrt(2 * t.second) * h0 + 1 + t.second * h0 * (h0 - 1)
        if base > 0:
            return float(t.one * base ** (1 / h0)), "Jackson–Mudholkar"
    return box(t, alpha), "Box"


def tail(t: Thetas, values: Floats) -> Floats:
    """P(Q > q) for every q, by three moments."""
    from scipy.stats import chi2

    if t.one <= 0 or t.second <= 0:
        return np.ones(len(values))
    nu, b = _shape(t)
    return np.asarray(chi2.sf(nu + (values - t.one) / b, nu), np.float64)


def _shape(t: Thetas) -> tuple[float, float]:
    """ν and b of θ₁ + b(χ²_ν − ν); without skewness to go by, those of gχ²_h."""
    third = t.third if t.third > 0 else t.second**2
    return t.second**3 / third**2, t.one * (third / t.second)


def box(t: Thetas, alpha: float) -> float:
    """gχ²_h with the mean and the variance of Q."""
    from scipy.stats import chi2

    return float(t.one * t.second * chi2.isf(alpha, 1 / t.second)) if t.one > 0 and t.second > 0 else 0.0


def t2_training(k: int, rows: float, divisor: float, *, centered: bool, alpha: float) -> float:
    """Limit of T² for a row of the fit; T² cannot exceed s·m."""
    from scipy.stats import beta

    degrees, most = (rows - 1, divisor * (rows - 1) / rows) if centered else (rows, divisor)
    if k == 0:
        return 0.0
    return float(most * beta.isf(alpha, k / 2, (degrees - k) / 2)) if degrees > k else float(most)


def t2_new(variances: Floats, rest: Rest | None, rows: float, divisor: float, *, centered: bool, alpha: float) -> float:
    """Limit of T² for a row that took no part in the fit; ``rest`` None: the plane was not chosen by its variance."""
    from scipy.stats import f

    k = len(variances)
    if k == 0:
        return 0.0
    factor, left = t2_scale(variances, rest, rows, divisor, centered=centered)
    return factor * float(f.isf(alpha, k, left)) if left > 0 else float("inf")


def t2_scale(
    variances: Floats, rest: Rest | None, rows: float, divisor: float, *, centered: bool
) -> tuple[float, float]:
    """a and ν₂ with T² ~ a·F(k, ν₂) for a row that took no part in the fit."""
    k, degrees = len(variances), rows - 1 if centered else rows
    left = degrees - k + 1
    factor = divisor * k / max(left, 1e-300) * (1 + 1 / rows if centered else 1.0)
    if rest is None or k == 0:
        return factor, left
    gaps = _gaps(variances, degrees)
    lost = sum(rest.shares(float(v), float(g)) for v, g in zip(variances, gaps, strict=True))
    return factor * max(1 - 2 * lost / (degrees * k), 1 / k), left


def _gaps(variances: Floats, degrees: float) -> Floats:
    """Differences of variances that sampling alone makes: two standard errors λ√(2/ν)."""
    return np.maximum(2 * np.sqrt(2 / max(degrees, 1.0)), 1e-6) * variances


def training(t: Thetas, rows: float, divisor: float, *, centered: bool) -> Thetas:
    """θ's with the exact first three cumulants of Q for a row of the fit: θ₁ = κ₁, θ₂ = κ₂/2, θ₃ = κ₃/8."""
    N = rows - 1 if centered else rows
    most = divisor * (N / rows if centered else 1.0)
    second = (N * t.second - 1) / (N + 2)
    third = (N**2 * t.third - 3 * N * t.second + 2) / ((N + 2) * (N + 4))
    return Thetas(most * t.one / N, max(second, 0.0), max(third, 0.0))


def new_rest(
    rest: Rest, variances: Floats, rows: float, q: int, *, centered: bool, chosen: bool
) -> tuple[Thetas, float]:
    """θ's of Q for a row that took no part in the fit, and the degrees of freedom behind them.

    ``q``: columns off the plane, which bound how even the rest can be. ``chosen``: the plane is that of the largest
    variances, which overfits; a plane given otherwise does not.
    """
    k, degrees = len(variances), rows - 1 if centered else rows
    nu = degrees - k
    t = rest.thetas
    if t.one <= 0 or nu <= 4:
        return t, max(nu, 1.0)
    two = max(nu**2 / ((nu - 1) * (nu + 2)) * (t.second - 1 / nu), 1 / max(q, 1))
    three = t.third - 3 / nu * t.second + 2 / nu**2
    three = max(three * nu**4 / ((nu - 1) * (nu - 2) * (nu + 2) * (nu + 4)), two**2)
    leaks = np.zeros(0)
    if chosen:
        gaps = _gaps(variances, degrees)
        shares = [rest.shares(float(v), float(g)) for v, g in zip(variances, gaps, strict=True)]
        leaks = variances * np.array(shares) / nu  # with the sums before the fit took from them
    more = 1 + 1 / rows if centered else 1.0
    return _leaking(Thetas(t.one, two, three), leaks).times(more), nu


def _leaking(t: Thetas, leaks: Floats) -> Thetas:
    """θ's of what is off an estimated plane: k directions carry, beside their share of the rest, what leaks out.

    θ₁ grows twice by a leak: by what the fit took from the rest, which is as even as the rest, and by what the true
    directions have off the estimated plane, which lies along one direction each and so counts by its square, too.
    """
    leak = float(np.sum(leaks))
    base, mean = t.one + leak, t.one + 2 * leak
    a, e = base / mean, leaks / mean
    v = a * t.second  # the average variance of the rest, weighted by itself; that of its square is a²θ₃/θ₁³
    second = a**2 * t.second + float(np.sum(2 * v * e + e**2))
    third = a**3 * t.third + float(np.sum(3 * a**2 * t.third * e + 3 * v * e**2 + e**3))
    return Thetas(mean, second, third)


def inflation(t: Thetas, degrees: float, alpha: float) -> float:
    """Ratio of F(h, hν) to χ²_h/h: θ₁ is itself an estimate."""
    from scipy.stats import chi2, f

    if t.one <= 0 or t.second <= 0:
        return 1.0
    h = 1 / t.second
    return float(f.isf(alpha, h, h * degrees) * h / chi2.isf(alpha, h))
