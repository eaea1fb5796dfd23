"""One step of one case in a process of its own: ``python -m bench.worker STEP FILE CASE REPEAT PATIENCE``.

    data              make the table and write it to FILE
    speed             time both libraries in turn; errors, certificate, floor
    memory-ritz       peak resident memory of a fit minus what was resident just before, the table included
    memory-sklearn    likewise

The result is one line of JSON on standard output.
"""

from __future__ import annotations

import gc
import json
import resource
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from bench.busy import Neighbours, wait_for_quiet
from bench.cases import Case, from_dict
from bench.data import load, make, save

__all__ = ["memory", "run", "speed"]

MOST, ENOUGH_SECONDS = 9, 3.0


def ritz_fit(X: Any, k: int) -> Any:
    """Ritz with its defaults: residuals of at most 1e-6·λ₁."""
    from ritz import PCA

    return PCA(n_components=k).fit(X)


def sklearn_fit(X: Any, k: int) -> Any:
    """scikit-learn with its defaults."""
    from sklearn.decomposition import PCA

    return PCA(n_components=k, random_state=0).fit(X)


FITS = {"ritz": ritz_fit, "sklearn": sklearn_fit}


def speed(X: Any, case: Case, repeat: int, patience: float = 0.0) -> dict[str, Any]:
    """Both libraries and the floor in turn, so that a busy moment hits all alike; then the truth."""
    from bench.floor import calls, recorded
    from bench.reference import eigenvalue_errors, leading_variances

    _warm()
    with recorded() as products, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        plan = ritz_fit(X, case.k).plan_
    floor = calls(X, case.k, plan.solver, plan.precision, products)
    fits, parts, models, said = _in_turn(X, case.k, floor, repeat, patience)
    cores = min(max(one.others[i] for one in fits.values()) for i in range(len(fits["ritz"].others)))
    best = {name: min(one.wall) for name, one in fits.items()}
    cpu = {name: min(one.cpu) for name, one in fits.items()}
    least = _sums(floor, parts, "wall")
    truth = leading_variances(X, case.k)
    errors = {name: eigenvalue_errors(model.explained_variance_, truth) for name, model in models.items()}
    certificate = models["ritz"].certificate_
    return {
        "seconds": best,
        "all_seconds": {name: one.wall for name, one in fits.items()},
        "cpu_seconds": {**cpu, "floor": sum(_sums(floor, parts, "cpu").values())},
        "ratio": best["sklearn"] / best["ritz"],
        "neighbours": cores,
        "error_lambda1": {name: pair[0] for name, pair in errors.items()},
        "error_relative": {name: pair[1] for name, pair in errors.items()},
        "residual": float(np.max(certificate.residuals) / certificate.values[0]),
        "labelled": bool(np.all(certificate.labelled)),
        "converged": bool(certificate.converged),
        "plan": f"{plan.solver} on {plan.side}, {certificate.precision}",
        "sklearn_solver": getattr(models["sklearn"], "_fit_svd_solver", "?"),
        "passes": int(certificate.passes),
        "predicted_seconds": float(plan.seconds),
        "products": [[*what, times] for what, times in products.items()],
        "floor": least,
        "floor_seconds": sum(least.values()),
        "to_floor": best["ritz"] / max(sum(least.values()), 1e-12),
        "spectrum": [float(truth[0]), float(truth[-1])],
        "warnings": sorted(said),
    }


@dataclass
class _Timed:
    """Wall-clock and processor seconds of one thing, run after run."""

    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    others: list[float] = field(default_factory=list)

    def run(self, call: Callable[[], Any]) -> Any:
        others = Neighbours()
        wall, cpu = time.perf_counter(), time.process_time()
        result = call()
        self.cpu.append(time.process_time() - cpu)
        self.wall.append(time.perf_counter() - wall)
        self.others.append(others.cores())
        return result


def _in_turn(
    X: Any, k: int, floor: list[Any], repeat: int, patience: float
) -> tuple[dict[str, _Timed], list[_Timed], dict[str, Any], set[str]]:
    """Times of every fit and of every call of the floor, the last models, and the warnings."""
    fits: dict[str, _Timed] = {name: _Timed() for name in FITS}
    parts = [_Timed() for _ in floor]
    models: dict[str, Any] = {}
    said: set[str] = set()
    done = 0
    while done < repeat or (done < MOST and max(sum(one.wall) for one in fits.values()) < ENOUGH_SECONDS):
        for name, fit in FITS.items():
            models.pop(name, None)
            gc.collect()
            wait_for_quiet(patience)
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                models[name] = fits[name].run(partial(fit, X, k))
            said |= {f"{name}: {one.message}" for one in caught}
        for call, times in zip(floor, parts, strict=True):
            wait_for_quiet(patience)
            times.run(call.run)
        done += 1
    return fits, parts, models, said


def _sums(floor: list[Any], parts: list[_Timed], clock: str) -> dict[str, float]:
    """Seconds of the floor by part."""
    sums: dict[str, float] = {}
    for call, times in zip(floor, parts, strict=True):
        sums[call.part] = sums.get(call.part, 0.0) + call.times * min(getattr(times, clock))
    return sums


def memory(X: Any, case: Case, library: str) -> dict[str, Any]:
    """Extra memory of one fit: the kernel's high-water mark, reset just before."""
    _warm()
    gc.collect()
    before, exact = _reset_peak()
    model = FITS[library](X, case.k)
    peak = _status("VmHWM") if exact else resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    size = X.nbytes if isinstance(X, np.ndarray) else X.data.nbytes + X.indices.nbytes + X.indptr.nbytes
    extra = max(0, peak - before)
    return {"extra_bytes": extra, "table_bytes": size, "share": extra / size, "k": len(model.components_)}


def _warm() -> None:
    """Imports, thread pools and BLAS buffers are not part of a fit."""
    import scipy.sparse

    rows = np.random.default_rng(0).standard_normal((300, 40)).astype(np.float32)
    for fit in FITS.values():
        for table in (rows, rows.astype(np.float64), scipy.sparse.csr_array(rows.astype(np.float64))):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                fit(table, 3)
    A = np.random.default_rng(1).standard_normal((1000, 1000))
    _ = A @ A, A.astype(np.float32) @ A.astype(np.float32)


def _status(name: str) -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(name):
            return int(line.split()[1]) * 1024
    return 0


def _reset_peak() -> tuple[int, bool]:
    """Resident bytes now, and whether the kernel forgot its high-water mark (elsewhere it only grows)."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024, False
    return _status("VmRSS"), True


def run(step: str, path: Path, case: Case, repeat: int = 3, patience: float = 0.0) -> dict[str, Any]:
    """One step of one case."""
    if step == "data":
        begin = time.perf_counter()
        X = make(case)
        save(X, path)
        stored = None if isinstance(X, np.ndarray) else int(X.nnz) / (case.n * case.d)
        return {"seconds": time.perf_counter() - begin, "density": stored}
    X = load(path)
    if step == "speed":
        return speed(X, case, repeat, patience)
    return memory(X, case, step.removeprefix("memory-"))


if __name__ == "__main__":
    step, file, fields, repeat, patience = sys.argv[1:]
    print(json.dumps(run(step, Path(file), from_dict(json.loads(fields)), int(repeat), float(patience))))
