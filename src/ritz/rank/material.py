"""What a method hands to a rule beside its spectrum, and rules that take it.

    columns   variances of the columns as they are analysed           parallel, dpa
    matrix    their covariance (d×d)                                  map, dpa with deflation
    sample    some rows, which can be permuted, cut and resampled     permutation, bcv, stability
    kfold     errors of entries that were held out                    kfold

Everything is a callable and is called when a rule needs it: after the pass that learned the columns, and never if no
rule asks. A rule never sees the data of a method; resampled problems are the method's own (``Sample``).
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, Self

import numpy as np

from ritz._core.errors import ParameterError
from ritz.rank.shares import Curve, Floats

if TYPE_CHECKING:
    from ritz.spectral.problem import Seen

__all__ = ["Answer", "Handed", "Material", "Sample", "Sampled"]

#: Rows that rules look at which permute, cut or resample a table.
SAMPLE_ROWS = 20_000


class Sample(Protocol):
    """Some rows of a table, resampled in the way of its method. Values are shares of the sample's total."""

    words: str  # "all 41 rows", "20,000 of 1,000,000 rows"
    drawn: str  # what a draw of ``null`` is called: "permutations"
    whole: bool  # whether these are all rows

    @property
    def shape(self) -> tuple[int, int]:
        """Rows, and columns or directions that they can have."""
        ...

    def values(self) -> Floats:
        """Eigenvalues, decreasing."""
        ...

    def null(self, rng: np.random.Generator) -> Floats:
        """Eigenvalues of a table that keeps the columns and loses what ties them together."""
        ...

    def turned(self, rng: np.random.Generator, k: int) -> Floats:
        """(k, k) VᵀV_b: the leading axes beside those of rows drawn with replacement."""
        ...

    def table(self) -> Floats:
        """The rows as analysed but for the mean, (m, d)."""
        ...

    def cost(self) -> float:
        """Floating-point operations of one spectrum."""
        ...


@dataclass(frozen=True)
class Material:
    """What a method hands to rules; None where it has nothing to hand.

    Attributes
    ----------
    method : str
        Name of the estimator, for messages.
    seed : int
        Seed of simulated and resampled tables.
    columns : callable or None
        Variances (d,) of the columns as analysed.
    matrix : callable or None
        Covariance (d, d) of the columns as analysed.
    null : callable or None
        ``(seen, draws, rng, top)`` → eigenvalues (draws, ≥ top) of tables without structure over the total that was
        seen, for methods whose noise is not that of independent Gaussian columns.
    sample : callable or None
        ``most`` → a :class:`Sample` of at most that many rows.
    kfold : callable or None
        ``most`` → (mean square errors for 0, 1, … components, words on the rows).
    noise, sides : float, (float, float), or None
        Known standard deviation of the noise in an entry of the operator, and rows and columns of that noise.
    unit : float
        What the operator's entries are multiples of.
    why_not : str
        Why there is no sample, if there is none.
    lacking : dict
        Reasons why single rules cannot answer, by name.
    """

    method: str = "PCA"
    seed: int = 0
    columns: Callable[[], Floats] | None = None
    matrix: Callable[[], Floats] | None = None
    null: Callable[[Seen, int, np.random.Generator, int], Floats] | None = None
    sample: Callable[[int], Sample] | None = None
    kfold: Callable[[int], tuple[Floats, str]] | None = None
    noise: float | None = None
    sides: tuple[float, float] | None = None
    unit: float = 1.0
    why_not: str = "the rows are not at hand"
    lacking: dict[str, str] = field(default_factory=dict)


class Handed:
    """Base of rules that take material; without any they read the spectrum alone, if they can."""

    name: str
    needs: str = ""  # what the rule cannot do without

    def __init__(self) -> None:
        self.material: Material | None = None
        self.held: dict[Any, Any] = {}

    def on(self, material: Material) -> Self:
        """The same rule with what a method hands in."""
        rule = copy.copy(self)
        rule.material, rule.held = material, {}
        return rule

    def lacks(self) -> str | None:
        """Why the rule cannot answer, or None if it can."""
        if self.material is not None and self.name in self.material.lacking:
            return self.material.lacking[self.name]
        if not self.needs or (self.material is not None and getattr(self.material, self.needs) is not None):
            return None
        what = {"sample": "rows", "kfold": "rows", "matrix": "the correlations of the columns"}[self.needs]
        reason = "" if self.material is None else f": {self.material.why_not}"
        return f"{self.name} needs {what}{reason}"

    def check(self, works: str) -> None:
        """Refuse a rule whose material is missing."""
        lacking = self.lacks()
        if lacking is not None:
            raise ParameterError(f"n_components={self.name!r}: {lacking}", hint=f"these need no rows: {works}")

    def ask(self, what: str) -> Callable[..., Any]:
        """One of the callables of the material, which ``lacks`` has found to be there."""
        given: Callable[..., Any] = getattr(self.material, what)
        return given

    def rng(self, stream: int) -> np.random.Generator:
        """The random numbers of this rule."""
        return np.random.default_rng([0 if self.material is None else self.material.seed, stream])


@dataclass(frozen=True)
class Answer:
    """The answer of a rule that resamples."""

    k: int
    curve: Curve
    words: str


class Sampled(Handed):
    """Base of rules whose answer comes from resampled rows, whatever spectrum a solver has seen."""

    needs_all = False
    needs = "sample"

    def __init__(self, rows: int = SAMPLE_ROWS) -> None:
        super().__init__()
        self.rows = rows

    def find(self) -> Answer:
        """The answer, from the material."""
        raise NotImplementedError

    def _sample(self) -> Sample:
        """The sampled rows."""
        sample: Sample = self.ask("sample")(self.rows)
        return sample

    def found(self) -> Answer | None:
        """The answer, looked for once; None without material."""
        if self.lacks() is not None:
            return None
        if "found" not in self.held:
            self.held["found"] = self.find()
        answer: Answer = self.held["found"]
        return answer

    def decide(self, seen: Seen) -> int | None:
        """Return what the sample says, once the spectrum holds so many values."""
        answer = self.found()
        if answer is None:
            return None
        k = min(answer.k, seen.r)
        return k if seen.complete or k <= len(seen.values) else None

    def curve(self, seen: Seen) -> Curve:
        """Return the statistic for every number of components that was tried."""
        answer = self.found()
        return Curve(np.zeros(0, np.int64), np.zeros(0), None, "") if answer is None else answer.curve

    def why(self, seen: Seen) -> str:
        """Give the numbers behind the answer and the rows that were looked at."""
        answer = self.found()
        return self.lacks() or "" if answer is None else answer.words
