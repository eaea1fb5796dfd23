"""Every solver on arrays of a strict library on a second device: nothing is made elsewhere, nothing comes back wrong.

array-api-strict refuses to combine arrays of two devices, and NumPy refuses to read those of ``device1``.
"""

from __future__ import annotations

import warnings

import array_api_strict as strict
import numpy as np
import pytest

from ritz._core.errors import InputError
from ritz._core.linalg import HOST, Place, place_of, to_numpy
from ritz.data.passes.blocks import MemoryBlocks
from ritz.data.passes.statistics import Statistics
from ritz.operators import (
    Centered,
    Dense,
    Gram,
    Identity,
    MinusOuter,
    Product,
    Scaled,
    Shifted,
    Sum,
    Symmetric,
    Weighted,
    as_operator,
)
from ritz.spectral.plan import SOLVERS, Plan, Shape, choose
from ritz.spectral.problem import SpectralProblem
from ritz.spectral.solve import _run, solve
from ritz.testing import check_operator, check_solver, known_integers, largest_sine, symmetric_known

DEVICE = strict.Device("device1")
TABLE = known_integers("geometric", 64, 20, cond=100.0, seed=5, dtype=np.int64)
ORDER = np.argsort([-v.rational for v in TABLE.eigenvalues])
X, VECTORS = TABLE.X.astype(np.float64), TABLE.vectors[:, ORDER]
VALUES = np.array([float(TABLE.eigenvalues[i].rational) for i in ORDER])
WHOLE = (9000, 4000, 3900, 1200, *range(900, 0, -29))
SIGNED = tuple(sorted((5000, 2000, 700, 150, -3, -90, -3100, -6500, *range(70, 0, -3)), reverse=True))
MEAN, SCALE = np.arange(20.0) * 100, 2.0 ** (np.arange(20) % 5)
ROOTS = 2.0 ** (np.arange(64) % 3)
K = 4


def there(x):
    return strict.asarray(np.asarray(x, np.float64), device=DEVICE)


TABLES = {
    "dense": lambda: Dense(there(X)),
    "float32": lambda: Dense(strict.asarray(X.astype(np.float32), device=DEVICE)),
    "integers": lambda: Dense(strict.asarray(X.astype(np.int64), device=DEVICE)),
    "centred": lambda: Centered(Dense(there(X + MEAN)), MEAN),
    "centred by a mean that lies there": lambda: Centered(Dense(there(X + MEAN)), there(MEAN)),
    "scaled": lambda: Scaled(Dense(there(X * SCALE)), SCALE),
    "weighted": lambda: Weighted(Dense(there(X / ROOTS[:, None])), there(ROOTS**2)),
    "all three": lambda: Weighted(
        Scaled(Centered(Dense(there((X * SCALE) / ROOTS[:, None] + MEAN)), MEAN), there(SCALE)), ROOTS**2
    ),
    "transposed": lambda: Dense(there(X.T)).T,
    "sum": lambda: Dense(there(X - 7)) + Dense(there(np.full(X.shape, 7.0))),
    "product": lambda: Product(Dense(there(X)), Identity(20, xp=strict, device=DEVICE)),
    "minus outer": lambda: MinusOuter(Dense(there(X + np.outer(ROOTS, MEAN))), ROOTS, there(MEAN)),
}


def square(values):
    return there(symmetric_known(values, seed=1)[0])


SQUARES = {
    "symmetric": (lambda: Symmetric(square(WHOLE), positive=True), WHOLE),
    "symmetric, of a table": (lambda: Symmetric(Dense(square(WHOLE)), positive=True), WHOLE),
    "signed": (lambda: Symmetric(square(SIGNED)), SIGNED),
    "shifted": (lambda: Shifted(Symmetric(square(WHOLE)), -50.0, 2.0), tuple(2 * v - 50 for v in WHOLE)),
    "sum": (lambda: Sum(Symmetric(square(WHOLE)), Symmetric(square(WHOLE))), tuple(2 * v for v in WHOLE)),
    "gram": (lambda: Gram(Centered(Dense(there(X + MEAN)), MEAN)), tuple(VALUES)),
}


def lies_there(x):
    return place_of(x) == Place(strict, DEVICE)


def solved(A, solver, kind="svd", tol=1e-8, k=K):
    plan = choose(Shape(*A.shape, symmetric=kind == "eigh"), k, solver=solver, tol=tol)
    problem = SpectralProblem(A, k, kind=kind, tol=tol)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return problem, plan, solve(problem, plan)


def holds(c, values):
    slack = 4 * 2.0**-53 * max(abs(v) for v in values)
    for i in range(K):
        held = np.asarray(values[i : i + 1] if c.labelled[i] else values, float)
        assert np.any((c.lower[i] - slack <= held) & (held <= c.upper[i] + slack)), i
    assert values[K] <= c.ceiling + slack


def on_the_host(spectrum):
    c = spectrum.certificate
    for name in ("values", "lower", "upper", "labelled", "residuals", "angles"):
        assert type(getattr(c, name)) is np.ndarray, name
    assert all(isinstance(getattr(c, name), float) for name in ("ceiling", "total", "rounding", "orthogonality"))
    assert type(spectrum.vectors) is np.ndarray
    assert type(spectrum.values) is np.ndarray


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("name", TABLES)
def test_tables_on_a_device(name, solver):
    A = TABLES[name]()
    assert (A.xp, A.device) == (strict, DEVICE)
    problem, plan, spectrum = solved(A, solver)
    holds(spectrum.certificate, VALUES)
    on_the_host(spectrum)
    assert spectrum.certificate.converged or solver == "sketch"
    assert solver == "sketch" or largest_sine(spectrum.vectors, VECTORS[:, :K]) < 1e-5
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = _run(problem, plan)
    assert lies_there(found.vectors) == (plan.side == "columns")  # of the turned problem vectors are made on the host
    assert type(found.values) is np.ndarray


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("name", SQUARES)
def test_symmetric_operators_on_a_device(name, solver):
    make, values = SQUARES[name]
    A = make()
    if solver == "sketch" and not A.positive:
        return
    problem, plan, spectrum = solved(A, solver, "eigh", tol=1e-4 if solver == "power" else 1e-8)
    holds(spectrum.certificate, values)
    on_the_host(spectrum)
    assert lies_there(_run(problem, plan).vectors)


@pytest.mark.parametrize("solver", SOLVERS)
def test_wide_tables_on_a_device(solver):
    A = Centered(Dense(there(X.T + 5)), np.full(64, 5.0))
    spectrum = solved(A, solver)[2]
    holds(spectrum.certificate, VALUES)
    on_the_host(spectrum)


@pytest.mark.parametrize("tables", [TABLES, {name: make for name, (make, _) in SQUARES.items()}])
def test_operators_on_a_device_act_as_their_matrices(tables):
    for make in tables.values():
        A = make()
        check_operator(A, to_numpy(A.to_dense()))
        assert lies_there(A.matmat(there(np.ones((A.shape[1], 2)))))
        assert lies_there(A.gram())
        assert lies_there(A.to_dense())


def test_float32_iterations_on_a_device():
    A = Dense(there(X))
    spectrum = solve(SpectralProblem(A, K), Plan("krylov", "columns", "float32 then float64", 1, 1, 1, ()))
    assert spectrum.certificate.precision == "float32 iterations, float64 finish"
    holds(spectrum.certificate, VALUES)


@pytest.mark.parametrize("solver", ["krylov", "lanczos", "chebyshev", "power", "svd", "moments"])
def test_solvers_keep_their_promises_on_a_device(solver):
    check_solver(
        lambda problem: _run(problem, choose(Shape(*problem.operator.shape, symmetric=True), 1, solver=solver)),
        xp=strict,
        device=DEVICE,
    )


def test_long_sums_are_cut():
    """Ten thousand equal rows, added one after the other, would round in one direction."""
    x = np.full((3 * 4096 + 5, 2), 1 / 3)
    A = Dense(there(x))
    assert float(A.rmatmat(there(x))[0, 0]) == pytest.approx(x.shape[0] / 9, rel=4e-16 * 64)


def test_keys_depend_on_the_data_there():
    assert Dense(there(X)).key() == Dense(there(X)).key()
    assert Dense(there(X)).key() != Dense(there(X[::-1])).key()


def test_as_operator_takes_arrays_of_other_libraries():
    A = as_operator(there(X))
    assert lies_there(A.matmat(there(np.ones((20, 1)))))


def test_what_cannot_lie_there_is_refused():
    with pytest.raises(InputError, match="memory of the host"):
        Dense(there(X), Statistics(MemoryBlocks(X)))
    with pytest.raises(InputError, match="on one device"):
        Dense(there(X)) + Dense(X)


def test_places():
    assert place_of(X) == HOST
    assert place_of(there(X)) == Place(strict, DEVICE)
    moved = HOST.array(there(X))
    assert type(moved) is np.ndarray
    np.testing.assert_array_equal(moved, X)
    other = Place(strict, strict.Device("device2")).array(there(X), np.float32)
    assert other.device == strict.Device("device2")
    assert other.dtype == strict.float32
