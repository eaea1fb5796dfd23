"""What is proved about the error of a tensor in parts, and how far from the best possible it can be.   [DDV00, VVM12]

    max_m τ_m  ≤  ‖X − X*‖  ≤  ‖X − X̂‖  ≤  √(Σ_m τ_m²)  ≤  c · ‖X − X*‖         c = √p (Tucker), √(p − 1) (train)

X* is the best tensor of the same ranks, which nobody can compute for certain; τ_m² are the squares of the singular
values that step m leaves. ‖X − X̂‖ is measured against the data, entry by entry, with what rounding may have changed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ritz.spectral.certificate.certificate import Certificate

__all__ = ["TensorCertificate"]


#: Squares of norms below this have lost digits.
LEAST_SQUARE = 1e-290


@dataclass(frozen=True, repr=False)
class TensorCertificate(Certificate):
    """Bounds on the error of a decomposed tensor, beside the certificate of the slices of the first mode.

    Attributes
    ----------
    error : ‖X − X̂‖ as measured
    error_low, error_high : what it is at least and at most, rounding included
    best_low : no tensor of these ranks is nearer to X than this
    bound : √Σ τ², rounding included, from the singular values that were left; nan where the method has no such bound
    norm : ‖X‖
    discarded : τ² of each unfolding
    constant : the error is at most so many times the best possible, whatever the data; nan where nothing is known
    stationarity : how far the parts are from a stationary point, relative to ‖X‖²; nan of methods that do not iterate
    problem : what is decomposed, in words

    Examples
    --------
    >>> import numpy as np, ritz
    >>> X = np.add.outer(np.add.outer(np.arange(4.0), np.arange(5.0) ** 2), np.arange(6.0) ** 3)
    >>> told = ritz.HOSVD(1).fit(X).certificate_
    >>> told.best_low <= told.error <= told.bound * (1 + 1e-12)
    True
    >>> round(told.error / told.norm, 3), round(told.factor, 3)   # at most 1.05 times the best possible
    (0.12, 1.05)
    """

    error: float = math.nan
    error_low: float = 0.0
    error_high: float = math.inf
    best_low: float = 0.0
    bound: float = math.nan
    norm: float = 0.0
    discarded: tuple[float, ...] = ()
    constant: float = math.nan
    stationarity: float = math.nan
    problem: str = ""

    @property
    def bounds_angles(self) -> bool:
        """No: nothing is said of the angles of parts."""
        return False

    @property
    def factor(self) -> float:
        """How many times the best possible error this one is at most."""
        known = self.constant if math.isfinite(self.constant) else math.inf
        if self.error_high == 0:
            return 1.0
        return min(known, self.error_high / self.best_low) if self.best_low > 0 else known

    def sentences(self) -> list[str]:
        """What is proved, in words."""
        size = self.norm or 1.0
        off = f"{self.error / size:.6g} of ‖X‖"
        lines = [
            f"error ‖X − X̂‖ = {off}, measured against every entry, between {self.error_low / size:.6g} and "
            f"{self.error_high / size:.6g} with rounding"
        ]
        if math.isfinite(self.bound):
            lines.append(f"bound from the singular values that were left: {self.bound / size:.6g} of ‖X‖")
        if self.best_low > 0:
            lines.append(f"no tensor of these ranks comes nearer than {self.best_low / size:.6g} of ‖X‖")
        if math.isfinite(self.factor):
            near = "" if f"{self.factor:.6g}" == "1" else f"at most {self.factor:.6g} times "
            lines.append(f"so the error is {near}the best possible{'' if near else ', to six digits'}")
        if math.isfinite(self.stationarity):
            lines.append(f"distance from a stationary point: {self.stationarity:.1e} of ‖X‖²")
        lines.append(f"{self.passes} pass{'es' if self.passes != 1 else ''} over the data")
        return [*lines, *self.notes]

    def __str__(self) -> str:
        rows = [f"{'':>4} {'mode':>6} {'left τ²/‖X‖²':>14}"]
        size = self.norm * self.norm
        told = LEAST_SQUARE < size < math.inf or self.norm == 0  # else squares leave the range of float64
        shares = [f"{left / (size or 1.0):.6g}" if told else "out of range" for left in self.discarded]
        rows += [f"{'':>4} {m + 1:>6} {share:>14}" for m, share in enumerate(shares)]
        return "\n".join([f"certificate ({self.problem})", *rows, *self.sentences()])

    def holds(self) -> bool:
        """Whether the bounds agree with each other."""
        ordered = 0 <= self.error_low <= self.error_high and self.best_low <= self.error_high
        return ordered and not (np.isfinite(self.bound) and self.error_low > self.bound)
