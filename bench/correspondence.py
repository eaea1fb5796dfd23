"""The correspondence family beside prince: ``python -m bench.correspondence [--quick] [--only NAME]``.

    million   MCA of 1,000,000 rows × 20 columns × 10 categories: under 20 s and 3 GB
    prince    the same columns with 50,000 rows and up, both libraries: at least 20 times faster at 50,000
    sparse    CA of a 100,000×50,000 table of counts with 10 million entries, 50 axes, with its certificate

Every fit runs in a process of its own; memory is what the first fit adds to the rows in memory, at
its peak; times of MCA are the best of three.
"""

from __future__ import annotations

import argparse
import importlib.util
import time
from typing import Any

import numpy as np

from bench.large import step
from bench.worker import _reset_peak, _status

__all__ = ["main"]

AXES = 5
REPEATS = 3


def answers(n: int, columns: int = 20, categories: int = 10, seed: int = 0) -> Any:
    """Categorical answers that hang together: each leans on one of three latent traits."""
    import pandas as pd

    rng = np.random.default_rng(seed)
    traits = rng.standard_normal((n, 3))
    frame = {}
    for j in range(columns):
        noisy = traits[:, j % 3] + 1.5 * rng.standard_normal(n)
        cuts = np.quantile(noisy[:20_000], np.linspace(0, 1, categories + 1)[1:-1])
        codes = np.searchsorted(cuts, noisy)
        frame[f"q{j}"] = pd.Categorical.from_codes(codes, [f"a{i}" for i in range(categories)])
    return pd.DataFrame(frame)


def counts(n: int, d: int, entries: int, seed: int = 0) -> Any:
    """A sparse table of counts with twenty groups of rows that prefer their own columns."""
    from scipy.sparse import coo_array

    rng = np.random.default_rng(seed)
    rows = rng.integers(0, n, entries)
    own = rng.random(entries) < 0.5
    popular = (d * rng.random(entries) ** 2).astype(np.int64)
    columns = np.where(own, (rows % 20) * (d // 20) + popular % (d // 20), popular)
    N = coo_array((np.ones(entries), (rows, columns)), shape=(n, d)).tocsr()
    N.sum_duplicates()
    return N[N.sum(axis=1) > 0][:, N.sum(axis=0) > 0]


def _timed(work: Any, repeats: int = 1) -> tuple[Any, dict[str, Any]]:
    """The best of several times, and the memory of the first."""
    before, _ = _reset_peak()
    times = []
    added = 0.0
    for turn in range(repeats):
        begin = time.perf_counter()
        model = work()
        times.append(time.perf_counter() - begin)
        added = added if turn else (_status("VmHWM") - before) / 1e6
    return model, {"seconds": min(times), "added MB": added}


def ritz_mca(n: int) -> dict[str, Any]:
    """MCA by Ritz."""
    import ritz

    X = answers(n)
    ritz.MCA(2).fit(X[:100])  # loads what is loaded once
    model, found = _timed(lambda: ritz.MCA(AXES).fit(X), REPEATS)
    return found | {"values": model.eigenvalues_.tolist(), "residual": float(np.max(model.certificate_.residuals))}


def prince_mca(n: int, engine: str) -> dict[str, Any]:
    """MCA by prince; its engine "sklearn", which is its default, is off by about 1 %, "scipy" is exact."""
    import prince

    X = answers(n)
    prince.MCA(2, engine=engine).fit(X[:100])
    model, found = _timed(lambda: prince.MCA(AXES, engine=engine).fit(X), REPEATS)
    return found | {"values": [float(value) for value in model.eigenvalues_]}


def ritz_ca(n: int, d: int, entries: int) -> dict[str, Any]:
    """CA of a sparse table by Ritz."""
    import ritz

    N = counts(n, d, entries)
    ritz.CA(2).fit(N[:50])
    model, found = _timed(lambda: ritz.CA(50).fit(N))
    c = model.certificate_
    return found | {
        "shape": f"{N.shape[0]:,}×{N.shape[1]:,}, {N.nnz:,} entries", "table MB": (12 * N.nnz) / 1e6,
        "residual/λ₁": float(np.max(c.residuals) / c.values[0]),
        "enclosure/λ₁": float(np.max(c.upper - c.lower) / c.values[0]),
        "labelled": bool(np.all(c.labelled)), "passes": c.passes, "solver": model.plan_.solver,
    }  # fmt: skip


def _words(found: dict[str, Any]) -> str:
    shown = {name: value for name, value in found.items() if name != "values"}
    return ", ".join(f"{k} {v:.3g}" if isinstance(v, float) else f"{k} {v}" for k, v in shown.items())


def _million(cut: int) -> None:
    n = 1_000_000 // cut
    print(f"  {n:,} rows: {_words(step(ritz_mca, n=n))}", flush=True)


def _prince(cut: int) -> None:
    if importlib.util.find_spec("prince") is None:
        print("  skipped: prince is not installed")
        return
    for n in (50_000 // cut, 200_000 // cut):
        ours = step(ritz_mca, n=n)
        print(f"  ritz   {n:,} rows: {_words(ours)}", flush=True)
        for engine in ("sklearn", "scipy"):
            try:
                theirs = step(prince_mca, n=n, engine=engine)
            except RuntimeError as error:
                print(f"  prince {n:,} rows, {engine}: failed, {str(error).strip().splitlines()[-1][:200]}", flush=True)
                continue
            print(f"  prince {n:,} rows, {engine}: {_words(theirs)}", flush=True)
            off = max(abs(a - b) / a for a, b in zip(ours["values"], theirs["values"], strict=True))
            print(f"  speed-up {theirs['seconds'] / ours['seconds']:.1f}, eigenvalues differ by {off:.1e}", flush=True)


def _sparse(cut: int) -> None:
    found = step(ritz_ca, n=100_000 // cut, d=50_000 // cut, entries=10_000_000 // cut)
    print(f"  {_words(found)}", flush=True)


MEASURES = {
    "million": ("under 20 s and 3,000 MB", _million),
    "prince": ("at least 20 times faster at 50,000 rows", _prince),
    "sparse": ("50 axes, certificate included", _sparse),
}


def main() -> None:
    """Run what was asked for."""
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--quick", action="store_true", help="a twentieth of the rows")
    options.add_argument("--only", default="", help="measurements whose name contains this")
    chosen = options.parse_args()
    for name, (asked, measure) in MEASURES.items():
        if chosen.only in name:
            print(f"\n{name}: asked {asked}", flush=True)
            measure(20 if chosen.quick else 1)


if __name__ == "__main__":
    main()
