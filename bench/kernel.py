"""Kernel PCA beside scikit-learn's: ``python -m bench.kernel [--quick] [--only NAME]``.

    ten       RBF, n = 10,000, d = 256, k = 50, certificate at 1e-6·λ₁: seconds beside scikit-learn's solvers
    twenty    the same with n = 20,000: within 4.5 times that; scikit-learn in a process of its own, which may die
    hundred   n = 100,000, exact, peak memory under 2 GB
    million   n = 1,000,000, d = 32, Nyström with 1,000 landmarks under 6 GB, with its certificate
    rate      products K V beside the sgemm rate measured in the same run

Every fit runs in a process of its own. Rows are clusters on a curved surface with noise, float32.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from typing import Any

import numpy as np

__all__ = ["main", "rows"]

TARGETS = {
    "ten": "6 times faster than the fastest of scikit-learn's solvers, 50 times than its default",
    "twenty": "at most 4.5 times the seconds of n = 10,000",
    "hundred": "under 2,000 MB",
    "million": "under 6,000 MB",
    "rate": "at least 75 % of sgemm",
}


def rows(n: int, d: int, seed: int = 0) -> np.ndarray:
    """n rows near a curved surface of ten dimensions in R^d."""
    rng = np.random.default_rng(seed)
    latent = rng.standard_normal((n, 10), dtype=np.float32)
    A = rng.standard_normal((10, d), dtype=np.float32)
    B = rng.standard_normal((10, d), dtype=np.float32)
    out = np.tanh(latent @ A) + 0.5 * (latent * latent) @ B / 10
    out += 0.3 * rng.standard_normal((n, d), dtype=np.float32)
    return out.astype(np.float32)


def main() -> None:
    """Run what was asked for and print one line for each."""
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--quick", action="store_true", help="a tenth of the rows")
    options.add_argument("--only", default="", help="measurements whose name contains this")
    options.add_argument("--step", help=argparse.SUPPRESS)
    chosen = options.parse_args()
    if chosen.step:
        print(json.dumps(STEPS[chosen.step.split()[0]](*chosen.step.split()[1:])))
        return
    cut = 10 if chosen.quick else 1
    for name, target in TARGETS.items():
        if chosen.only in name:
            print(f"\n{name}: asked {target}", flush=True)
            MEASURES[name](cut)


def child(step: str, timeout: float = 3000) -> dict[str, Any] | None:
    """The JSON that a step prints, or None where its process died."""
    command = [sys.executable, "-m", "bench.kernel", "--step", step]
    done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, check=False)
    if done.returncode:
        print(f"  {step}: the process ended with {done.returncode} {done.stderr.strip().splitlines()[-1:]}", flush=True)
        return None
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    print(
        "  " + step + ": " + ", ".join(f"{k} {v:.4g}" if isinstance(v, float) else f"{k} {v}" for k, v in found.items())
    )
    sys.stdout.flush()
    return found


def _resident(key: str) -> float:
    with open("/proc/self/status") as file:
        return int(file.read().split(key)[1].split()[0]) * 1024 / 1e6


def fit(n: str, d: str, k: str, solver: str, landmarks: str = "1000") -> dict[str, Any]:
    """One fit of Ritz."""
    import ritz
    import ritz.methods.kernel_pca

    X = rows(int(n), int(d))
    before = _resident("VmRSS:")
    begin = time.perf_counter()
    model = ritz.KernelPCA(
        int(k), kernel="rbf", gamma="median", solver=solver, landmarks=int(landmarks), fit_inverse_transform=False
    ).fit(X)
    seconds = time.perf_counter() - begin
    c = model.certificate_
    top = float(c.values[0])
    return {
        "seconds": seconds, "added MB": _resident("VmHWM:") - before, "residual/λ₁": float(np.max(c.residuals)) / top,
        "enclosure/λ₁": float(np.max(c.upper - c.lower)) / top, "solver": model.plan_.solver,
        "passes": c.passes, "share": float(np.sum(model.explained_variance_ratio_)),
    }  # fmt: skip


def peer(n: str, d: str, k: str, solver: str) -> dict[str, Any]:
    """One fit of scikit-learn."""
    from sklearn.decomposition import KernelPCA

    from ritz.kernels import RBF

    X = rows(int(n), int(d))
    gamma = RBF("median").fix(X).gamma
    begin = time.perf_counter()
    KernelPCA(int(k), kernel="rbf", gamma=gamma, eigen_solver=solver, n_jobs=-1, copy_X=False).fit(X)
    return {"seconds": time.perf_counter() - begin, "added MB": _resident("VmHWM:")}


def rate() -> dict[str, Any]:
    """Flops a second of K V beside those of sgemm."""
    from ritz.kernels import RBF
    from ritz.operators.kernel import KernelMatrix

    n, d, l = 10_000, 256, 64
    X = rows(n, d)
    kernel = RBF("median").fix(X)
    M = KernelMatrix(kernel, kernel.prepare(X))
    V = np.random.default_rng(1).standard_normal((n, l)).astype(np.float32)
    M.matmat(V)
    A = np.random.default_rng(2).standard_normal((3000, 3000)).astype(np.float32)
    products, gemms = [], []
    for _ in range(5):
        begin = time.perf_counter()
        M.matmat(V)
        products.append(time.perf_counter() - begin)
        begin = time.perf_counter()
        A @ A
        gemms.append(time.perf_counter() - begin)
    flops = 2.0 * n * n * (d + l) / min(products)
    whole = 2.0 * 3000**3 / min(gemms)
    return {"K V Gflop/s": flops / 1e9, "sgemm Gflop/s": whole / 1e9, "share": flops / whole}


STEPS: dict[str, Any] = {"fit": fit, "peer": peer, "rate": rate}


def _ten(cut: int) -> None:
    n = 10_000 // cut
    ours = child(f"fit {n} 256 50 auto")
    peers = {solver: child(f"peer {n} 256 50 {solver}") for solver in ("arpack", "randomized", "auto")}
    if ours:
        for solver, found in peers.items():
            if found:
                print(f"  speed-up over {solver}: {found['seconds'] / ours['seconds']:.1f}", flush=True)


def _twenty(cut: int) -> None:
    a, b = child(f"fit {10_000 // cut} 256 50 auto"), child(f"fit {20_000 // cut} 256 50 auto")
    if a and b:
        print(f"  ratio {b['seconds'] / a['seconds']:.2f}", flush=True)
    child(f"peer {20_000 // cut} 256 50 arpack")


MEASURES: dict[str, Any] = {
    "ten": _ten,
    "twenty": _twenty,
    "hundred": lambda cut: child(f"fit {100_000 // cut} 256 50 krylov"),
    "million": lambda cut: child(f"fit {1_000_000 // cut} 32 50 nystrom"),
    "rate": lambda _cut: child("rate"),
}

if __name__ == "__main__":
    main()
