"""Work on one graphics processor, beside what else can do it: ``python -m bench.gpu [--rows kernel,tall,host,sparse]``.

    kernel   RBF kernel PCA of n × 64, k = 32, rows on the device; torch.svd_lowrank of an n×n matrix cannot be formed
    tall     PCA of 20,000,000 × 128 float32 on the device; X.T @ X in float32, one reading, torch.pca_lowrank
    host     PCA of 1,000,000 × 768 float32 from the host, pinned or not, and of 4,000,000 rows; the rate of the link
    sparse   SVD of 2,000,000 × 50,000 at 0.1 %, k = 100; the products that it needs, by themselves

Seconds are the best of several after a first call, which compiles and is told by itself. Every answer comes with what
its certificate proves: the largest residual and half-width in units of the first eigenvalue, and for how many
eigenvalues it is proved that none was missed.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import ritz

__all__ = ["main"]


def best(work: Callable[[], Any], times: int = 3) -> tuple[float, Any]:
    """Seconds of the quickest of several runs, the device waited for, and the last result."""
    import torch

    seconds, result = np.inf, None
    for _ in range(times):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        result = work()
        torch.cuda.synchronize()
        seconds = min(seconds, time.perf_counter() - begin)
    return seconds, result


def proof(model: Any) -> str:
    """What the certificate says, in a line."""
    a = model.certificate_
    top = float(a.values[0])
    return (
        f"residual {float(np.max(a.residuals)) / top:.1e}, half-width {float(np.max(a.width)) / 2 / top:.1e} of λ₁, "
        f"{int(np.sum(a.labelled))} of {len(a.values)} proved complete, {a.passes} passes"
    )


def kernel_rows(sizes: tuple[int, ...] = (262_144, 1_048_576)) -> None:
    """Exact kernel PCA, as the prototype measured it."""
    import torch

    for n in sizes:
        torch.manual_seed(1)
        X = torch.randn(n, 12, device="cuda") * torch.linspace(3, 0.6, 12, device="cuda")
        X = X @ torch.randn(12, 64, device="cuda") / 8 + 0.05 * torch.randn(n, 64, device="cuda")
        some = X[torch.randint(0, n, (2000,), device="cuda")]
        gamma = 1 / float(torch.pdist(some).square().median())
        estimator = ritz.KernelPCA(32, kernel="rbf", gamma=gamma)
        first, _ = best(lambda X=X, estimator=estimator: estimator.fit(X), 1)
        seconds, model = best(lambda X=X, estimator=estimator: estimator.fit(X), 3 if n < 1_000_000 else 2)
        print(f"kernel PCA {n:,} × 64, k = 32: {seconds:.3f} s (first call {first:.1f} s); {proof(model)}", flush=True)
        moved, _ = best(lambda X=X, model=model: model.transform(X[:100_000]))
        print(f"  transform of 100,000 rows: {moved * 1e3:.0f} ms", flush=True)


def tall_rows(n: int = 20_000_000, d: int = 128, k: int = 20) -> None:
    """PCA at the speed of memory."""
    import torch

    torch.manual_seed(0)
    X = torch.randn(n, d, device="cuda") * torch.linspace(3, 0.5, d, device="cuda") + 5
    first, _ = best(lambda: ritz.PCA(k).fit(X), 1)
    seconds, model = best(lambda: ritz.PCA(k).fit(X), 5)
    product, _ = best(lambda: X.T @ X)
    reading, _ = best(lambda: X.sum())
    lowrank, _ = best(lambda: torch.pca_lowrank(X, q=k), 1)
    S, mean = torch.zeros(d, d, device="cuda", dtype=torch.float64), X.mean(dim=0, dtype=torch.float64)
    for i in range(0, n, 1_000_000):
        z = X[i : i + 1_000_000].double() - mean
        S += z.T @ z
    truth = torch.linalg.eigvalsh(S).flip(0)[:k].cpu().numpy() / (n - 1)
    error = float(np.max(np.abs(model.explained_variance_ - truth)) / truth[0])
    print(
        f"PCA {n:,} × {d} float32, k = {k}: {seconds * 1e3:.1f} ms (first {first:.1f} s), error {error:.1e} of λ₁; "
        f"{proof(model)}\n  X.T @ X in float32 {product * 1e3:.1f} ms, reading once {reading * 1e3:.1f} ms, "
        f"torch.pca_lowrank {lowrank * 1e3:.0f} ms",
        flush=True,
    )


def _link() -> float:
    """GB a second from pinned memory of the host to the device."""
    import torch

    pinned = torch.empty(1 << 28, dtype=torch.float32, pin_memory=True)
    there = torch.empty(1 << 28, dtype=torch.float32, device="cuda")
    return pinned.numel() * 4 / best(lambda: there.copy_(pinned))[0] / 1e9


def host_rows(d: int = 768, k: int = 256) -> None:
    """Rows that have to come over the link first: as NumPy holds them, and pinned; more of them, where eigenvectors
    and certificates of d columns count for less."""
    import torch

    most = _link()
    for n, kind in ((1_000_000, "pageable"), (1_000_000, "pinned"), (4_000_000, "pageable")):
        torch.manual_seed(0)
        held = torch.empty((n, d), pin_memory=kind == "pinned")
        for first in range(0, n, 1_000_000):
            held[first : first + 1_000_000] = torch.randn(1_000_000, d, device="cuda").cpu()
        X = held.numpy()
        torch.cuda.empty_cache()
        best(lambda X=X: ritz.PCA(k, device="cuda").fit(X), 1)
        seconds, model = best(lambda X=X: ritz.PCA(k, device="cuda").fit(X), 5)
        rate = X.nbytes / seconds / 1e9
        print(
            f"PCA {n:,} × {d} float32 from {kind} memory of the host, k = {k}: {seconds:.3f} s, {rate:.1f} GB/s, "
            f"{rate / most:.2f} of the link's {most:.1f}; {proof(model)}",
            flush=True,
        )
        del X, held


def sparse_rows(n: int = 2_000_000, d: int = 50_000, share: float = 0.001, k: int = 100) -> None:
    """The SVD of sparse rows, beside its products."""
    import torch

    rng = np.random.default_rng(0)
    each = max(1, int(d * share))
    columns = np.sort((rng.random((n, each)) ** 2 * d).astype(np.int32), axis=1)
    values = rng.random((n, each), dtype=np.float32)
    ends = torch.arange(0, n * each + 1, each, dtype=torch.int32, device="cuda")
    X = torch.sparse_csr_tensor(
        ends, torch.from_numpy(columns.reshape(-1)).cuda(), torch.from_numpy(values.reshape(-1)).cuda(), (n, d)
    )
    best(lambda: ritz.SVD(k).fit(X), 1)
    seconds, model = best(lambda: ritz.SVD(k).fit(X), 2)
    V = torch.randn(d, 128, device="cuda")
    forward, U = best(lambda: X @ V)
    turned = X.to_sparse_coo().t().to_sparse_csr()
    back, _ = best(lambda: turned @ U)
    passes = model.certificate_.passes
    print(
        f"SVD of sparse {n:,} × {d:,} at {share:.1%}, k = {k}: {seconds:.3f} s; {proof(model)}\n"
        f"  X V and Xᵀ(X V), 128 columns: {forward * 1e3:.0f} and {back * 1e3:.0f} ms; times {passes} passes "
        f"{passes * (forward + back):.2f} s",
        flush=True,
    )


def main(arguments: list[str] | None = None) -> int:
    """Run what was asked for."""
    rows = {"kernel": kernel_rows, "tall": tall_rows, "host": host_rows, "sparse": sparse_rows}
    parser = argparse.ArgumentParser(description="Ritz on a graphics processor")
    parser.add_argument("--rows", default=",".join(rows), help="which rows of the table, by name")
    asked = parser.parse_args(arguments).rows.split(",")
    try:
        import torch

        there = torch.cuda.is_available()
    except ImportError:
        there = False
    if not there:
        print("bench.gpu needs PyTorch and a graphics processor; neither, or only one of them, is here.")
        return 0
    print(f"{torch.cuda.get_device_name(0)}, torch {torch.__version__}, ritz {ritz.__version__}", flush=True)
    for name in asked:
        rows[name]()
        torch.cuda.empty_cache()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
