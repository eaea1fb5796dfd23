"""The certificate: what is proved about an answer, printed as a small table.

All numbers are in units of eigenvalues of M = AᵀA (σ², not divided by n − 1). It is made from what the solver already
holds (``enclosure.py``): no extra pass over the data. ``verify`` does the heavy, independent check. Certificates are
compared by what they prove: two fits of the same rows have equal ones, whatever time they took.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ritz._core.frozen import Deriving, quick
from ritz._core.tabular import Tabular
from ritz.spectral.verify import Verification, verify

__all__ = ["DERIVED", "Certificate", "measured_by"]

Vector = NDArray[np.float64]

#: What follows from the pairs and their residuals, and may do so when it is first read.
DERIVED = ("values", "lower", "upper", "labelled", "residuals", "angles", "clusters", "orthogonality")


def measured_by(values: Vector) -> tuple[float, str]:
    """What residuals are told in multiples of, and its name: λ₁, or the largest |λ| where none is positive."""
    if len(values) == 0 or values[0] > 0:
        return max(float(np.max(values, initial=0.0)), 1e-300), "λ₁"
    return max(float(np.max(np.abs(values))), 1e-300), "max|λ|"


@quick
@dataclass(frozen=True, repr=False)
class Certificate(Deriving, Tabular):
    """Residuals, enclosures, angles and completeness of the returned pairs.

    Attributes
    ----------
    values
        Eigenvalues of M as returned.
    lower, upper
        Enclosure of every eigenvalue, rounding included.
    labelled
        True: the i-th largest eigenvalue (the i-th smallest) lies in the interval. False: some eigenvalue does.
    residuals
        ‖Mv − θv‖ of every pair, as computed.
    angles
        Bound on the sine of the angle between computed and true vector; nan where the gap is too small.
    clusters
        ``(first, last, sine)``: components that only together span a subspace, with its sine bound.
    completeness
        Why no eigenvalue was missed, in words.
    ceiling
        Bound on every eigenvalue that was not returned: none is larger, or smaller where ``which="smallest"``.
    probability
        Probability with which completeness holds; 1 where it is proved.
    total
        Trace of M: the total variance times its divisor. For an operator that cannot tell its trace, the sum of the
        eigenvalues found.
    rounding
        What rounding may add to a residual or move an eigenvalue by.
    orthogonality
        Largest entry of |VᵀV − I|.
    kind
        ``"certified"``, or ``"estimate"`` for a single-pass sketch.
    converged
        Whether the tolerance was reached; always true for direct solvers.
    tol
        Tolerance that was asked for; None for direct solvers.
    unit_roundoff, precision
        u of the products that decide, and their precision in words.
    passes, seconds
        Passes over the data, and time.
    estimate
        Leave-one-out estimate of ‖M − M̂‖_F of a single-pass sketch; of frequent directions, a bound on it.
    notes
        What else is to be known, in words.
    which
        ``"largest"``, or ``"smallest"``: then values increase, and eigenvalues of null vectors that are known are left
        out, also when they are numbered.

    Examples
    --------
    >>> import numpy as np, ritz
    >>> from sklearn.datasets import load_iris
    >>> told = ritz.PCA(2).fit(load_iris().data).certificate_
    >>> told.values.round(3)                      # of AᵀA: variances times n − 1
    array([630.008,  36.158])
    >>> bool((told.upper - told.lower < 1e-10 * told.total).all()), told.labelled
    (True, array([ True,  True]))
    >>> told.completeness, told.probability
    ('the dense decomposition returns every eigenvalue', 1.0)
    """

    values: Vector
    lower: Vector
    upper: Vector
    labelled: NDArray[np.bool_]
    residuals: Vector
    angles: Vector
    clusters: tuple[tuple[int, int, float], ...]
    completeness: str
    ceiling: float
    probability: float
    total: float
    orthogonality: float
    kind: Literal["certified", "estimate"]
    converged: bool
    tol: float | None
    unit_roundoff: float
    precision: str
    rounding: float
    passes: int
    seconds: float = field(compare=False)  # of the call, not of the answer
    estimate: float | None = None
    notes: tuple[str, ...] = ()
    which: Literal["largest", "smallest"] = "largest"
    frame: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)

    @property
    def bounds_angles(self) -> bool:
        """Whether angles are bounded at all: NaN among them then means that a gap is too small."""
        return True

    @property
    def width(self) -> Vector:
        """Widths of the enclosures."""
        return self.upper - self.lower

    def verify(self, X: Any, sample_weight: Any = None) -> Verification:
        """Check the answer against data, independently of how it was found.

        Recomputes every residual in float64, counts the eigenvalues above the enclosures by the inertia of an LDLᵀ
        factorisation (up to 5,000 columns) or bounds what was missed by Lanczos on the deflated operator.

        Examples
        --------
        >>> import ritz
        >>> from sklearn.datasets import load_iris
        >>> X = load_iris().data
        >>> told = ritz.PCA(2).fit(X).certificate_
        >>> bool(told.verify(X)), bool(told.verify(X + 0.1 * (X > 3)))  # a few numbers were changed
        (True, False)
        """
        return verify(self, X, sample_weight)

    def sentences(self) -> list[str]:
        """What the certificate says, in words."""
        proved = tuple(cluster for cluster in self.clusters if bool(np.any(self.labelled[cluster[0] : cluster[1] + 1])))
        lines = [_gap_words(proved)] if proved else []
        if len(proved) < len(self.clusters):
            lines.append("angles are bounded only where completeness is proved")
        lines.append(f"completeness: {self._complete_words()}")
        lines.append(f"total {self.total:.6g}; |VᵀV − I| ≤ {self.orthogonality:.1e}; {self.precision}")
        if not self.converged:
            top, name = measured_by(self.values) if self.which == "largest" else (self.frame["grounds"]["norm"], "‖M‖")
            worst = float(np.max(self.residuals, initial=0.0)) / top
            lines.append(f"tolerance {self.tol:g} not reached: largest residual {worst:.1e}·{name}")
        if self.estimate is not None:
            bound = self.completeness.startswith("frequent directions")
            words = "‖M − M̂‖_F at most" if bound else "estimated ‖M − M̂‖_F (leave-one-out)"
            lines.append(f"{words}: {self.estimate:.3g}")
        took = "" if np.isnan(self.seconds) else f", {self.seconds:.3g} s"
        lines.append(f"{self.passes} pass{'es' if self.passes != 1 else ''} over the data{took}")
        return [*lines, *self.notes]

    def _complete_words(self) -> str:
        if len(self.values) and not bool(np.all(self.labelled)):
            first = int(np.argmin(self.labelled)) + 1
            missed = "nothing missed exceeds" if self.which == "largest" else "nothing missed is below"
            if np.isinf(self.ceiling):
                return f"not proved ({self.completeness or 'no test applies'}): each interval holds some eigenvalue"
            if first == 1:
                return f"not proved: each interval holds some eigenvalue, and {missed} {self.ceiling:.6g}"
            return f"proved up to component {first - 1} ({self.completeness}); {missed} {self.ceiling:.6g}"
        if self.probability < 1:
            return f"none missed, with probability {_nines(self.probability)} ({self.completeness})"
        return f"none missed ({self.completeness})"

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        head = f"{'':>4} {'eigenvalue':>14} {'± enclosure':>12} {'residual':>10} {'angle ≤':>10}"
        rows = [head]
        shown = min(len(self.values), 12)
        for i in range(shown):
            half = max(self.upper[i] - self.values[i], self.values[i] - self.lower[i])
            angle = f"{self.angles[i]:10.1e}" if np.isfinite(self.angles[i]) else f"{'gap':>10}"
            mark = " " if self.labelled[i] else "?"
            rows.append(f"{i + 1:>3}{mark} {self.values[i]:>14.7g} {half:>12.1e} {self.residuals[i]:>10.1e} {angle}")
        if shown < len(self.values):
            rows.append(f"  … {len(self.values) - shown} more")
        return "\n".join(
            [f"certificate ({self.kind}; eigenvalues of {self.frame.get('matrix', 'AᵀA')})", *rows, *self.sentences()]
        )

    def _table(self) -> dict[str, Any]:
        return {
            "component": range(1, len(self.values) + 1), "eigenvalue": self.values, "lower": self.lower,
            "upper": self.upper, "labelled": self.labelled, "residual": self.residuals, "angle": self.angles,
        }  # fmt: skip


def _gap_words(clusters: tuple[tuple[int, int, float], ...]) -> str:
    parts = []
    for first, last, sine in clusters[:4]:
        name = f"component {first + 1}" if first == last else f"components {first + 1}–{last + 1}"
        if first == last:
            parts.append(f"{name} cannot be told from the one that follows")
            continue
        size = last - first + 1
        article = "an" if str(size).startswith("8") or size in (11, 18) else "a"
        shape = "a plane" if size == 2 else f"{article} {size}-space"
        sure = f" (angle ≤ {sine:.1e})" if np.isfinite(sine) else ""
        parts.append(f"{name} span {shape}{sure}")
    more = f" and {len(clusters) - 4} more groups" if len(clusters) > 4 else ""
    return f"gap too small: {'; '.join(parts)}{more}"


def _nines(probability: float) -> str:
    return f"1 − {1 - probability:.0e}"
