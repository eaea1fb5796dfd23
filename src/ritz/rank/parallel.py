"""Parallel analysis: components that exceed those of columns without anything in common.

    parallel      λⱼ > line of λⱼ of independent Gaussian columns of the same variances          [Horn 1965]
    permutation   λⱼ > line of λⱼ of the rows with every column permuted by itself                [Buja & Eyuboglu 1992]

The line is the mean over the draws (``parallel``, as Horn had it) or their 95 % quantile (``permutation``, which makes
the first comparison a test); ``quantile`` sets another. Both stop at the first component that fails. On standardised
columns the draws are correlation matrices. Columns that are not centred keep their means under permutation, so there
random signs take its place [Hong, Sheng & Dobriban 2020].
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ritz._core.errors import ParameterError
from ritz.data.words import percent
from ritz.rank.material import SAMPLE_ROWS, Answer, Handed, Sampled
from ritz.rank.shares import Curve, Floats, divisor, plural, rests, shares, undecided
from ritz.rank.wishart import DENSE, draws_for, noise_spectra

if TYPE_CHECKING:
    from ritz.spectral.problem import Seen

__all__ = ["Parallel", "Permutation", "check_quantile", "leading_above"]

#: Leading eigenvalues of a draw that are found first where all are too many; doubled while they do not decide.
FIRST = 8
#: Permutations at least and at most, and the operations spent on all of them.
LEAST, MOST, WORK = 20, 100, 2e10


def check_quantile(quantile: float | None) -> None:
    """Refuse what is not a quantile."""
    if quantile is not None and not 0.0 < quantile < 1.0:
        raise ParameterError(
            "quantile must be None (the mean) or strictly between 0 and 1",
            received=repr(quantile),
            hint="quantile=0.95",
        )


def leading_above(x: Floats, line: Floats, zero: float) -> int:
    """Count the leading values above their lines."""
    m = min(len(x), len(line))
    above = x[:m] > line[:m] + zero
    return m if above.all() else int(above.argmin())


def line_of(draws: Floats, quantile: float | None) -> Floats:
    """The line that draws (b, m) set: their mean or a quantile."""
    return np.asarray(draws.mean(axis=0) if quantile is None else np.quantile(draws, quantile, axis=0))


def line_words(quantile: float | None) -> str:
    """What the line is called."""
    return "mean" if quantile is None else f"{100 * quantile:g} % quantile"


class Parallel(Handed):
    """Keep the leading components above those of simulated independent columns.

    Parameters
    ----------
    quantile : float or None
        Quantile of the simulated eigenvalues; None is their mean.
    draws : int or None
        How many tables are simulated; None: 20 to 1,000, fewer of large ones.
    """

    name = "parallel"
    needs_all = False

    def __init__(self, quantile: float | None = None, draws: int | None = None) -> None:
        super().__init__()
        check_quantile(quantile)
        self.quantile, self.draws = quantile, draws

    def _spectra(self, seen: Seen, top: int) -> Floats:
        """Simulated eigenvalues over the total seen, at least ``top`` of each draw where there are so many."""
        r = max(1, min(int(divisor(seen)), seen.d))
        if "spectra" not in self.held or (r > DENSE and self.held["top"] < top):
            self.held["spectra"] = self._simulate(seen, self.draws or draws_for(r), top)
            self.held["top"] = top
        spectra: Floats = self.held["spectra"]
        return spectra

    def _simulate(self, seen: Seen, draws: int, top: int) -> Floats:
        rng = self.rng(1)
        if self.material is not None and self.material.null is not None:
            return self.material.null(seen, draws, rng, top)
        if self.material is None or self.material.columns is None:
            variances = np.full(seen.d, 1.0 / seen.d)  # standardised columns
        else:
            variances = np.asarray(self.material.columns(), np.float64)
            variances = variances / max(float(variances.sum()), 1e-300)
        return noise_spectra(max(divisor(seen), 1.0), variances, draws, rng, top)

    def _lines(self, seen: Seen, top: int) -> Floats:
        """The line for the first ``top`` components; where the noise has no more directions it is 0."""
        line = line_of(self._spectra(seen, top), self.quantile)
        return np.append(line, np.zeros(max(0, top - len(line))))

    def decide(self, seen: Seen) -> int | None:
        """Return the number of leading components above the simulated ones."""
        x, zero, top = shares(seen), seen.zero_level, FIRST
        while True:
            top = min(top, max(len(x), 1))
            lines = self._lines(seen, top)[: max(top, 1)]
            k = leading_above(x, lines, zero)
            if k < min(len(x), len(lines)) or top >= len(x):
                break
            top *= 2
        if k < len(x) or seen.complete or k >= seen.r:
            return k
        # The next eigenvalue is at most the whole rest, and at most the last one seen.
        ceiling = min(float(rests(seen)[-1]) + zero, float(x[-1]) if k else 1.0)
        return k if ceiling <= self._lines(seen, k + 1)[k] else None

    def curve(self, seen: Seen) -> Curve:
        """Return the share of each component beside its line."""
        x = shares(seen)
        self.decide(seen)
        line = self._lines(seen, min(FIRST, max(len(x), 1)))
        m = min(len(x), len(line))
        return Curve(np.arange(1, m + 1), x[:m], line[:m], "share of the total")

    def why(self, seen: Seen) -> str:
        """Name the last component above its line and the first one below."""
        k = self.decide(seen)
        if k is None:
            return undecided(self.name, seen)
        x, count = shares(seen), len(self._spectra(seen, 1))
        lines = self._lines(seen, k + 1)
        line = f"the {line_words(self.quantile)} of {count} simulated tables"
        return _why(x, lines, k, line)


def _why(x: Floats, lines: Floats, k: int, line: str) -> str:
    """Name the last component above its line and the first one below."""
    parts = []
    if k > 0:
        parts.append(
            f"component {k} holds {percent(x[k - 1], 2)} of the total, above {line} ({percent(lines[k - 1], 2)})"
        )
    if k < min(len(x), len(lines)):
        parts.append(
            f"component {k + 1} holds {percent(x[k], 2)}, not above {'it' if parts else line} ({percent(lines[k], 2)})"
        )
    return f"{plural(k)}: " + "; ".join(parts or ["nothing varies"])


class Permutation(Sampled):
    """Keep the leading components above those of rows whose columns are permuted one by one.

    Parameters
    ----------
    quantile : float or None
        Quantile of the eigenvalues under permutation; None is their mean.
    draws : int or None
        How many permutations; None: 20 to 100, fewer of large samples.
    rows : int
        Rows that are looked at, at most.
    """

    name = "permutation"

    def __init__(self, quantile: float | None = 0.95, draws: int | None = None, rows: int = SAMPLE_ROWS) -> None:
        super().__init__(rows)
        check_quantile(quantile)
        self.quantile, self.draws = quantile, draws

    def find(self) -> Answer:
        """Permute, decompose, compare."""
        sample, rng = self._sample(), self.rng(2)
        count = self.draws or int(np.clip(WORK / max(sample.cost(), 1.0), LEAST, MOST))
        x = sample.values()
        drawn = [sample.null(rng) for _ in range(count)]
        width = max(len(values) for values in drawn)
        lines = line_of(np.stack([np.pad(v, (0, width - len(v))) for v in drawn]), self.quantile)
        m = min(len(x), len(lines))
        # Equal to rounding is not above: a single column is its own permutation.
        k = leading_above(x, lines, 1e-5 * float(x[0]) if len(x) else 0.0)
        line = f"the {line_words(self.quantile)} of {count} {sample.drawn}"
        words = f"{_why(x, lines, k, line)}; {sample.words}"
        return Answer(k, Curve(np.arange(1, m + 1), x[:m], lines[:m], "share of the total"), words)
