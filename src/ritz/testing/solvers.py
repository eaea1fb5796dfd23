"""``check_solver``: any solver of symmetric problems against operators whose spectrum is exactly known.

M = Q diag(λ) Qᵀ (p×p),   λ whole numbers,  Q a product of reflections with entries ±½: no entry of M is rounded

residuals      R = MV − VΘ is what it says, within the stated rounding, and within ``tol`` where that was reached
vectors        orthonormal;  θ decreasing;  as many as asked for
enclosures     labelled: λᵢ lies inside; else some eigenvalue does;  nothing left out exceeds the ceiling
angles         no vector or cluster is further from the true eigenspace than stated
leading        eigenvalues that stand apart are found: nobody may miss one of them
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ritz._core.linalg import Place, to_numpy
from ritz.operators.base import Operator
from ritz.spectral.certificate.enclosure import angle_bounds, enclose
from ritz.spectral.problem import Pairs, SpectralProblem
from ritz.testing.angles import largest_sine
from ritz.testing.known import symmetric_known

__all__ = ["check_solver"]

#: Sines are compared in float64, and true vectors are exact: what is left is the rounding of the stored ones.
SINE = 1e-13


class _Matrix(Operator):
    """A symmetric matrix that is positive semidefinite and knows its trace."""

    symmetric = True
    positive = True

    def __init__(self, S: Any, place: Place) -> None:
        super().__init__(S.shape, np.float64)
        self.matrix, self.xp, self.device, self._S = S, place.xp, place.device, place.array(S)

    def trace(self) -> float:
        return float(np.trace(self.matrix))

    def _matmat(self, V: Any) -> Any:
        return self._S @ V

    def _rmatmat(self, U: Any) -> Any:
        return self._S @ U

    def to_dense(self, budget: int = 0) -> Any:
        return self._S

    def symbol(self) -> str:
        return "S"


@dataclass(frozen=True)
class _Case:
    name: str
    values: tuple[int, ...]  # eigenvalues, decreasing
    k: int
    apart: bool = True  # whether the leading eigenvalues stand apart, so that every solver must find them


def _cases() -> Iterator[_Case]:
    """Spectra that solvers get wrong."""
    decay = tuple(2**i for i in range(23, -1, -1))
    cluster = (900, 900, 900, 400, 400, *(1,) * 15)
    yield _Case("decaying", decay, 3)
    yield _Case("k = 1", decay, 1)
    yield _Case("k = p", decay[-10:], 10)
    yield _Case("one dimension", (7,), 1)
    yield _Case("slowly decaying", tuple(1000 - 20 * i for i in range(30)), 4)
    yield _Case("a cluster", cluster, 3, apart=False)
    yield _Case("a cut through a cluster", cluster, 2, apart=False)
    yield _Case("neighbours", (1 << 20, (1 << 20) - 1, 1 << 10, *range(20, 3, -1)), 3, apart=False)
    yield _Case("all equal", (5,) * 12, 4, apart=False)
    yield _Case("more than the rank", (9, 4, *(0,) * 14), 4)
    yield _Case("zero", (0,) * 8, 3)


def check_solver(
    solver: Callable[[SpectralProblem], Pairs],
    *,
    tol: float = 1e-9,
    seed: int = 0,
    xp: Any = np,
    device: Any = None,
) -> None:
    """Raise AssertionError, saying which claim failed on which spectrum, unless a solver can be trusted.

    Parameters
    ----------
    solver : callable
        Takes a `ritz.spectral.problem.SpectralProblem` of kind ``"eigh"`` on a positive semidefinite operator and
        returns a `ritz.spectral.problem.Pairs`. The operator knows its trace.
    tol : float
        Tolerance that the problems ask for.
    seed : int
        Seed of the eigenvectors and of the random start.
    xp : module
        Array library of the operator: NumPy, ``array_api_strict`` or another that follows the array API standard.
    device
        Device of that library on which the operator lies; None for its own choice.

    Raises
    ------
    AssertionError
        On the first claim that the exact spectrum refutes.

    Examples
    --------
    >>> from ritz.spectral.solvers.lanczos import lanczos
    >>> from ritz.testing import check_solver
    >>> check_solver(lambda problem: lanczos(problem, problem.operator))
    """
    for number, case in enumerate(_cases()):
        S, Q = symmetric_known(case.values, seed=seed + number)
        problem = SpectralProblem(_Matrix(S, Place(xp, device)), case.k, kind="eigh", tol=tol, seed=seed)
        pairs = solver(problem)
        for claim, words in _refuted(case, S, Q, pairs, tol):
            raise AssertionError(f"{claim} ({case.name}, k={case.k}): {words}")


def _refuted(case: _Case, S: Any, Q: Any, pairs: Pairs, tol: float) -> Iterator[tuple[str, str]]:
    """Claims that do not hold, the most basic ones first."""
    V, theta = to_numpy(pairs.vectors), pairs.leading()
    p, k = len(case.values), case.k
    if V.shape != (p, k) or len(theta) != k:
        yield "shape", f"vectors {V.shape} and {len(theta)} values, expected ({p}, {k}) and {k}"
        return
    if not (np.isfinite(V).all() and np.isfinite(theta).all()):
        yield "finite", "NaN or infinity in values or vectors"
        return
    if np.any(np.diff(pairs.values) > 0):
        yield "order", f"values do not decrease: {pairs.values}"
    defect = float(np.max(np.abs(V.T @ V - np.eye(k))))
    if defect > 1e-12:
        yield "orthonormality", f"|VᵀV − I| = {defect:.1e}"
    yield from _residuals(case, S, V, pairs, tol)
    yield from _enclosures(case, pairs)
    yield from _angles(case, Q, V, pairs)
    if pairs.converged and case.apart and pairs.estimate is None:
        off = np.abs(theta - np.asarray(case.values[:k], float))
        if np.any(off > tol * max(case.values[0], 1) + pairs.rounding):
            i = int(np.argmax(off))
            yield "leading", f"component {i} is {theta[i]!r}, the eigenvalue {case.values[i]}"


def _residuals(case: _Case, S: Any, V: Any, pairs: Pairs, tol: float) -> Iterator[tuple[str, str]]:
    """R is MV − VΘ, or at least as long as it, within the stated rounding."""
    true = S @ V - V * pairs.leading()
    stated, top = to_numpy(pairs.residual_block), float(max(case.values[0], 0))
    own = 100 * 2.0**-53 * top  # of the product above
    lengths = np.linalg.norm(true, axis=0)
    if stated.shape == true.shape:
        off = float(np.max(np.linalg.norm(true - stated, axis=0)))
        if off > pairs.rounding + own and pairs.value_block is None:
            yield "residual", f"stated and true residuals differ by {off:.2e}, rounding {pairs.rounding:.2e}"
    if np.any(lengths > np.linalg.norm(stated, axis=0) + pairs.rounding + own):
        yield "residual", f"true {lengths}, stated {np.linalg.norm(stated, axis=0)}, rounding {pairs.rounding:.2e}"
    if pairs.converged and np.any(lengths > tol * top + pairs.rounding + own):
        yield "tol", f"reported as reached; residuals {lengths}, tol·λ₁ = {tol * top:.2e}"


def _enclosures(case: _Case, pairs: Pairs) -> Iterator[tuple[str, str]]:
    box, values = enclose(pairs), np.asarray(case.values, float)
    for i in range(case.k):
        low, high = box.lower[i], box.upper[i]
        candidates = values[i : i + 1] if box.labelled[i] else values
        if not np.any((low <= candidates) & (candidates <= high)):
            label = f"eigenvalue {values[i]:g}" if box.labelled[i] else "any eigenvalue"
            yield "enclosure", f"[{low!r}, {high!r}] of component {i} does not hold {label}"
    ceiling = pairs.completeness.ceiling
    if case.k < len(values) and values[case.k] > ceiling:
        yield "ceiling", f"{values[case.k]:g} was not returned and exceeds {ceiling!r}"


def _angles(case: _Case, Q: Any, V: Any, pairs: Pairs) -> Iterator[tuple[str, str]]:
    values = np.asarray(case.values)
    sines, clusters = angle_bounds(pairs, enclose(pairs))
    for first, last, bound in [*((i, i, s) for i, s in enumerate(sines)), *clusters]:
        if not bound < 1:
            continue
        space = Q[:, (values <= values[first]) & (values >= values[last])]
        sine = largest_sine(space, V[:, first : last + 1])
        if sine > bound + SINE:
            yield "angle", f"components {first}-{last} are off by a sine of {sine:.1e}, stated {bound:.1e}"
