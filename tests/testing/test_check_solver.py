"""``check_solver`` passes every solver of Ritz and sees through those that were broken on purpose."""

from __future__ import annotations

from dataclasses import replace

import array_api_strict
import numpy as np
import pytest

from ritz.spectral.problem import Completeness
from ritz.spectral.solvers.chebyshev import chebyshev
from ritz.spectral.solvers.dense import dense_eigh
from ritz.spectral.solvers.krylov import krylov
from ritz.spectral.solvers.lanczos import lanczos
from ritz.spectral.solvers.moments import moments
from ritz.spectral.solvers.power import power
from ritz.spectral.solvers.sketch import sketch
from ritz.testing import check_solver
from ritz.testing.known import symmetric_known


def iterative(solve):
    return lambda problem: solve(problem, problem.operator)


SOLVERS = {
    "svd": lambda problem: dense_eigh(problem, problem.operator, 1 << 30),
    "moments": lambda problem: moments(problem, problem.operator),
    **{f.__name__: iterative(f) for f in (krylov, lanczos, chebyshev, power, sketch)},
}


@pytest.mark.parametrize("draw", [0, 100, 200])
@pytest.mark.parametrize("name", SOLVERS)
def test_every_solver_passes(name, draw):
    check_solver(SOLVERS[name], seed=draw)


@pytest.mark.parametrize("name", SOLVERS)
def test_every_solver_passes_on_strict_arrays(name):
    # Each step there takes long, and power iteration makes many: all of them are made in tests/spectral/test_device.py.
    check_solver(SOLVERS[name], xp=array_api_strict, tol=1e-5 if name == "power" else 1e-9)


@pytest.mark.parametrize("name", ["krylov", "lanczos", "chebyshev", "power"])
def test_iterative_solvers_pass_without_the_trace(name):
    solve = {"krylov": krylov, "lanczos": lanczos, "chebyshev": chebyshev, "power": power}[name]

    def untold(problem):
        problem.operator.trace = lambda: None
        return solve(problem, problem.operator)

    check_solver(untold)


def test_the_operators_are_what_they_say():
    values = [900, 900, 400, 3, 0]
    S, Q = symmetric_known(values, seed=4)
    np.testing.assert_array_equal(Q.T @ Q, np.eye(5))
    np.testing.assert_array_equal(S @ Q, Q * values)


# ------------------------------------------------------------------------------- broken on purpose


def honest(problem):
    return SOLVERS["svd"](problem)


def missed(problem):
    """The largest eigenvalue is not there; what is returned is right and nothing is claimed about the rest."""
    k, p = problem.k, problem.operator.shape[0]
    found = honest(replace(problem, k=min(k + 1, p)))
    if k == p or not np.any(found.values):
        return honest(problem)
    none = Completeness("none", np.inf)
    return replace(
        found, values=found.values[1:], vectors=found.vectors[:, 1:], residual_block=found.residual_block[:, 1:],
        completeness=none, error=None,
    )  # fmt: skip


def missed_and_sure(problem):
    """The same, and it says that nothing was missed."""
    found = missed(problem)
    return replace(found, error=1e-9, completeness=Completeness("count", float(found.values[-1]), 0.0, "all"))


def too_tight(problem):
    """As if the eigenproblem had been solved without rounding."""
    return replace(honest(problem), error=0.0)


def too_sure_of_its_vectors(problem):
    found = honest(problem)
    V = np.array(found.vectors)
    V[:, 0] += 1e-6 * np.roll(V[:, 0], 1)
    V, _ = np.linalg.qr(V)
    return replace(found, vectors=V * np.sign(np.diag(V.T @ found.vectors)))


def crooked(problem):
    found = honest(problem)
    return replace(found, vectors=found.vectors * (1 + 1e-9))


def unsorted(problem):
    found = honest(problem)
    return replace(found, values=found.values[::-1].copy())


def too_few(problem):
    found = honest(problem)
    return replace(found, vectors=found.vectors[:, :-1], residual_block=found.residual_block[:, :-1])


def low_ceiling(problem):
    found = honest(problem)
    return replace(found, completeness=Completeness("count", 0.5 * found.completeness.ceiling, 0.0, "all"))


def unfinished(problem):
    """Stops early and says that the tolerance was reached."""
    return replace(SOLVERS["power"](replace(problem, tol=0.1)), converged=True)


def not_a_number(problem):
    found = honest(problem)
    return replace(found, values=found.values * np.nan)


@pytest.mark.parametrize(
    ("solver", "claim"),
    [
        (missed, "leading"),
        (missed_and_sure, "enclosure"),
        (too_tight, "enclosure"),
        (too_sure_of_its_vectors, "residual"),
        (crooked, "orthonormality"),
        (unsorted, "order"),
        (too_few, "shape"),
        (low_ceiling, "ceiling"),
        (unfinished, "tol"),
        (not_a_number, "finite"),
    ],
)
def test_a_broken_solver_fails(solver, claim):
    with pytest.raises(AssertionError, match=f"^{claim} "):
        check_solver(solver)
