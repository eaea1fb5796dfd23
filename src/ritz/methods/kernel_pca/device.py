"""Kernel PCA on a graphics processor: J K J U = U Λ by products that never form K, and coordinates of new rows.

    fit         block Krylov: early steps in float16, the answer from pairs of float16 (float32 rows) or float64
    transform   fᵢ(x) = Σⱼ k(x, xⱼ) Dⱼᵢ − (Dᵀr)ᵢ           the same products, D the dual vectors, r = K1/n

Rows are kept on the host too: a model is saved, loaded and used without the device. What is not for a device, an
indefinite kernel, strings, few rows, all components, goes the way of the processor, and the plan says why.
"""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import dataclass, replace
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from ritz._core.device import (
    device_memory,
    in_kind,
    is_tensor,
    on_device,
    place_for,
    require_same,
    tensor_of,
    torch_place,
)
from ritz._core.errors import InputError
from ritz._core.imports import module_of
from ritz._core.linalg import HOST, Place, orth, to_numpy
from ritz._core.linalg import working_dtype as result_dtype
from ritz._core.random import gaussian_block, seed_of
from ritz._core.there import expected, filling
from ritz.data.validate import validate_rows
from ritz.kernels.base import Kernel, Prepared
from ritz.kernels.device.products import coarse, product
from ritz.kernels.device.rows import DeviceRows, served
from ritz.methods.kernel_pca.input import fit_rows, new_rows
from ritz.methods.kernel_pca.rank import wanted_of
from ritz.methods.kernel_pca.solved import Solved, without_noise
from ritz.methods.kernel_pca.trust import blurred, judged
from ritz.operators.device.kernel import CenteredDeviceKernel, DeviceKernel
from ritz.project.kernel import KernelMap
from ritz.spectral import constants as c
from ritz.spectral import widths
from ritz.spectral.plan import Plan, Shape, choose
from ritz.spectral.problem import SpectralProblem
from ritz.spectral.solution import Solution
from ritz.spectral.solve import solve

__all__ = ["LazyRows", "given_place", "placed_rows", "solve_somewhere", "suits"]

#: Rows below which a kernel matrix is decomposed on the processor: it is done before a device has begun.
FEW_ROWS = 4096
#: First guess for a rule that grows k until it is decided.
FIRST_GUESS = 16
#: Rows whose coordinates are computed in float64 too, and by how much those of float32 products may differ, in units of
#: the largest.
COMPARED, AGREE = 32, 2e-5
#: Share of the free memory of a device that the Krylov basis and its image may take.
BASIS = 0.4
#: Share of λ₁ that products of pairs of float16 may be rounded by, as measured and doubled; float64 ones follow beyond.
ROUNDED = 3e-6
#: Rows from which a second sample pays, 1,048,576 4.8 s with it and 5.3 without, 262,144 0.47 and 0.46.
TWO_SAMPLES = 1 << 19
#: Every how many rows one is taken to begin with, how often their matrix is applied, the same of a second sample, and
#: the stream of random numbers that these begin with.
STEP, ROUNDS, FINER, BEGIN = 16, 3, (4, 1), 1003


def given_place(estimator: Any, X: Any) -> Place:
    """Where to compute: where the rows lie, or on the device of the parameter."""
    if on_device(X):
        where = torch_place(tensor_of(X).device)
        if estimator.device not in ("cpu", "auto"):
            require_same(place_for(estimator.device), tensor_of(X))
        return where
    return place_for(estimator.device)


@dataclass(frozen=True)
class Lying:
    """Rows of a fit that lie on a device, and their copy on its way to the host."""

    tensor: Any
    copy: Future[None] | None = None

    def arrived(self) -> None:
        """Wait for the copy."""
        if self.copy is not None:
            self.copy.result()


def host_rows(estimator: Any, there: Any, kernel: Kernel) -> tuple[np.ndarray, Lying]:
    """Rows of a tensor on the host, checked; that they are finite is looked at on the device.

    They are filled in while the device computes, where nothing asks for them before.
    """
    if there.ndim != 2 or there.is_complex():
        raise InputError(
            "rows and columns of real numbers", received=f"a tensor of shape {tuple(there.shape)}, {there.dtype}"
        )
    if not bool(module_of("torch").isfinite(there).all()):
        return np.asarray(fit_rows(estimator, to_numpy(there), kernel)), Lying(there)  # which names the columns
    plain = estimator.device == "cpu" and str(there.dtype) in ("torch.float32", "torch.float64")
    if plain and len(there) >= FEW_ROWS and _known(kernel):
        rows = np.empty(tuple(there.shape), str(there.dtype).rpartition(".")[2])
        if validate_rows(estimator, rows, reset=True) is rows:  # looked at by its shape alone
            return rows, Lying(there, filling(rows, there))
    rows = validate_rows(estimator, to_numpy(there if there.is_floating_point() else there.double()), reset=True)
    if len(rows) < 2:
        return np.asarray(fit_rows(estimator, rows, kernel)), Lying(there)  # which says why
    return np.asarray(rows if rows.dtype.itemsize >= 4 else rows.astype(np.float32)), Lying(there)


def _known(kernel: Kernel) -> bool:
    """Whether a kernel needs no row to choose its parameters."""
    return kernel.takes == "vectors" and all(
        isinstance(value, (int, float)) for value in kernel.get_params(deep=False).values()
    )


def suits(estimator: Any, kernel: Kernel, rows: Any) -> str | None:
    """Why a fit does not go to the device, in words; None where it does."""
    if kernel.takes != "vectors" or not isinstance(rows, np.ndarray) or not served(kernel):
        return f"{kernel!r} of these rows is computed on the processor"
    if not kernel.positive:
        return "an indefinite kernel is computed on the processor, where both ends of its spectrum are looked at"
    if estimator.solver not in ("auto", "krylov"):
        return f"solver={estimator.solver!r} runs on the processor"
    wanted = wanted_of(estimator, kernel, rows)
    n = rows.shape[0]
    if not isinstance(wanted, int):
        return "a rule for n_components is decided on the processor" if wanted.needs_all else None
    if (n < FEW_ROWS and estimator.solver == "auto") or wanted > c.DIRECT_SHARE * n:
        return f"{n:,} rows and {wanted:,} components: a dense decomposition on the processor is quicker"
    return None


def solve_on_device(estimator: Any, kernel: Kernel, rows: np.ndarray, place: Place, given: Any = None) -> Solved:
    """Eigenpairs of J K J and the map that they define; ``given``: the rows where they lie on the device already."""
    tensor = place.array(rows) if given is None or not given.is_floating_point() else given
    held = DeviceRows.of(kernel, tensor)
    n, wanted = held.n, wanted_of(estimator, kernel, rows)
    fine = rows.dtype == np.float32 and estimator.tol >= c.FLOAT32_TOL
    M = DeviceKernel(kernel, held, "single" if fine else "double", place).centered()
    k, rule = (wanted, None) if isinstance(wanted, int) else (min(FIRST_GUESS, n), wanted)
    plan = _plan(n, max(int(k), 1), estimator.tol, place)
    with expected((n, max(int(k), 1)), np.float64):
        M, spectrum = _solved(estimator, M, plan, max(int(k), 1), rule)
    floor = float(M.measured() or 0.0)
    spectrum = without_noise(spectrum, floor)
    spectrum = replace(spectrum, values=np.maximum(spectrum.values, 0.0))
    spectrum = judged(spectrum, max(estimator.tol, ROUNDED) if M.dtype.itemsize < 8 else estimator.tol, kernel, rows)
    stats, values = M.statistics(), spectrum.values
    there, root = values != 0, np.sqrt(values)
    scale = np.where(there, 1.0 / np.where(there, root, 1.0), 0.0)
    prepared = LazyRows(kernel, n, rows.dtype, source=rows)
    coordinates = LazyMap(kernel, prepared, (spectrum.vectors, scale), stats.row_means, stats.mean, values)
    return Solved(kernel, spectrum, spectrum.vectors, coordinates, stats.centered_trace, n, np.dtype(rows.dtype), rows)


def _plan(n: int, k: int, tol: float, place: Place) -> Plan:
    shape = Shape(n, n, 8, None, symmetric=True)
    plan = choose(shape, k, solver="krylov", tol=tol, memory=np.inf, needs_all=False)
    reason = f"J K J is multiplied in tiles on {place.device}, so that the {n:,}×{n:,} kernel matrix is never formed"
    return replace(plan, precision="float32, float16 first", side="rows", reasons=(reason,))


def begun(M: CenteredDeviceKernel, k: int, seed: int) -> Any:
    """A block near the answer: eigenvectors of samples of the rows, each continued to a larger one (Nyström).

    J K J of every s-th row takes 1/s² of a product each time, u ↦ k(x, S)·J u 1/s of that.
    """
    held, place = M.inner.rows, M.place
    level = "half" if coarse(held) else "single"
    few = held.some(slice(None, None, STEP))
    Q = orth(gaussian_block(place, seed, BEGIN, few.n, M.block_width(k + widths.oversampling(k))))
    Q = _iterated(few, place, Q, ROUNDS)
    if held.n >= TWO_SAMPLES:
        step, rounds = FINER
        more = held.some(slice(None, None, step))
        Q = orth(product(more, few, Q - Q.mean(dim=0), level))
        few, Q = more, _iterated(more, place, Q, rounds)
    return orth(product(held, few, Q - Q.mean(dim=0), level))


def _iterated(rows: DeviceRows, place: Place, Q: Any, rounds: int) -> Any:
    """Q after so many coarse products with J K J of some rows, orthonormal."""
    sample = DeviceKernel(rows.kernel, rows, "single", place).centered().coarsest().unchecked()
    for _ in range(rounds):
        Q = orth(sample.matmat(Q))
    return Q


def _solved(
    estimator: Any, M: CenteredDeviceKernel, plan: Plan, k: int, rule: Any
) -> tuple[CenteredDeviceKernel, Solution]:
    """The operator with products fine enough for the tolerance, and its spectrum."""
    n = M.shape[0]
    seed = seed_of(estimator.random_state)
    many = n >= STEP * FEW_ROWS and k + widths.oversampling(k) < n // (2 * STEP)
    problem = SpectralProblem(
        M, k, rule, kind="eigh", tol=estimator.tol, seed=seed, n=float(n), d=n, rows=n, centered=True,
        basis=BASIS * device_memory(M.place)[0], begin=(lambda: begun(M, k, seed)) if many else None,
    )  # fmt: skip
    fine = M.dtype.itemsize < 8
    spectrum = solve(problem, plan, frame={"matrix": M.symbol()}, quiet=fine)
    if fine and (not spectrum.certificate.converged or blurred(spectrum, max(estimator.tol, ROUNDED))):
        M = M.at(np.float64)
        problem = replace(problem, operator=M)
        spectrum = solve(problem, plan, frame={"matrix": M.symbol()})
    estimator._remember(problem, spectrum, 1.0)
    return M, spectrum


def solve_somewhere(
    estimator: Any, kernel: Kernel, rows: Any, place: Place, there: Any, limit: float
) -> Solved:  # fmt: skip
    """On the device, or on the processor where the problem is one for it; the plan says which, and why."""
    from ritz.methods.kernel_pca.routes import solve_kernel

    why = suits(estimator, kernel, rows)
    if why is None:
        try:
            return solve_on_device(estimator, kernel, rows, place, None if there is None else there.tensor)
        finally:
            if there is not None:
                there.arrived()
    if there is not None:
        there.arrived()
    solved = solve_kernel(estimator, kernel, rows, limit)
    plan = replace(solved.spectrum.plan, reasons=(*solved.spectrum.plan.reasons, why))
    return replace(solved, spectrum=replace(solved.spectrum, plan=plan))


# new rows


#: What lies on a device of the maps of living models: rows of the fit, dual vectors, Dᵀr.
_placed: WeakKeyDictionary[KernelMap, tuple[Any, DeviceRows, Any, Any]] = WeakKeyDictionary()


def forwards(model: Any) -> bool:
    """Whether a device can place new rows: the map compares them with vectors by a kernel that it knows."""
    return isinstance(model, KernelMap) and served(model.kernel) and isinstance(model.rows.source, np.ndarray)


def placed_rows(model: Any, X: Any) -> Any:
    """Coordinates of new rows of a fitted kernel PCA, in kind: a tensor for a tensor, else a NumPy array."""
    place, coordinates = given_place(model, X), model._record.solved_map
    there = tensor_of(X).detach() if on_device(X) else None
    if place is HOST or not forwards(coordinates):
        Z = coordinates.forward(new_rows(model, X if there is None else to_numpy(there)))
        return Z if there is None else in_kind(place.array(Z), X)
    rows = new_rows(model, X) if there is None else there
    Z = forward_on_device(coordinates, rows, place)
    if there is None:
        return to_numpy(Z).astype(result_dtype(rows.dtype))
    return in_kind(Z.to(there.dtype) if there.is_floating_point() else Z, X)


def forward_on_device(model: KernelMap, X: Any, place: Place) -> Any:
    """Coordinates of new rows (m, k) as a tensor."""
    torch = module_of("torch")
    if model not in _placed or _placed[model][0] != place:
        held = DeviceRows.of(model.kernel, place.array(np.asarray(model.rows.source)))
        _placed[model] = place, held, place.array(model.dual), place.array(model.tilt)
    _, held, dual, tilt = _placed[model]
    rows = tensor_of(X) if is_tensor(X) or on_device(X) else place.array(np.asarray(X))
    if rows.ndim != 2 or rows.shape[1] != held.X.shape[1]:
        raise InputError(
            f"expected rows of {held.X.shape[1]} columns", received=f"shape {tuple(rows.shape)}", hint="as in the fit"
        )
    new = DeviceRows.of(model.kernel, rows, like=held)
    single = rows.dtype == torch.float32
    F = product(new, held, dual, "single" if single else "double") - tilt
    if single and len(rows):
        step = max(1, len(rows) // COMPARED)
        few = DeviceRows.of(model.kernel, rows[::step], like=held)
        off = (F[::step] - (product(few, held, dual, "double") - tilt)).abs().amax()
        if bool(off > AGREE * F.abs().amax()):
            F = product(new, held, dual, "double") - tilt
    return F


class LazyMap(KernelMap):
    """A map whose dual vectors U Λ^-½ are made when somebody asks."""

    def __init__(
        self, kernel: Kernel, rows: Prepared, dual: Any, row_means: Any, grand: float, values: Any, weights: Any = None
    ) -> None:  # fmt: skip
        fields = {"kernel": kernel, "rows": rows, "_dual": dual, "row_means": row_means, "grand": grand}
        for name, value in {**fields, "values": values, "weights": weights}.items():
            object.__setattr__(self, name, value)

    @property
    def dual(self) -> Any:
        """(n, k)."""
        made = vars(self)["_dual"]
        if isinstance(made, tuple):
            made = made[0] * made[1]
            made -= made.mean(axis=0)
            object.__setattr__(self, "_dual", made)
        return made


class LazyRows(Prepared):
    """Rows that a kernel prepares when somebody asks: a million of them take a second."""

    def __init__(
        self, kernel: Kernel, n: int, dtype: Any, rows: Any = None, shared: Any = None, source: Any = None
    ) -> None:  # fmt: skip
        fields = {"kernel": kernel, "n": n, "dtype": np.dtype(dtype), "source": source, "_made": None}
        for name, value in fields.items():
            object.__setattr__(self, name, value)
        if rows is not None:
            object.__setattr__(self, "_made", (rows, shared or {}))

    def _parts(self) -> tuple[Any, Any]:
        made = vars(self)["_made"]
        if made is None:
            real = self.kernel.prepare(self.source, dtype=self.dtype)
            made = real.rows, real.shared
            object.__setattr__(self, "_made", made)
        return made

    @property
    def rows(self) -> Any:
        """What has one entry a row."""
        return self._parts()[0]

    @property
    def shared(self) -> Any:
        """What all rows have in common."""
        return self._parts()[1]
