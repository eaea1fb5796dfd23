"""Kernels between strings: ``python -m bench.strings [--rows 100000] [--pairs 400]``.

    windows        100,000 pairs of first names: read, count windows of three letters, linear PCA of the sparse counts
    new            the same strings through a fixed vocabulary, as new strings are
    subsequence    all pairs of some names and of some long strings beside the same dynamic program in pure Python
    edit           the same for Levenshtein distances

Names come from the folder of reference data; without it they are made of syllables. Times are the best of three, on the
lanes that ``OMP_NUM_THREADS`` allows; compiling is not counted. Values are compared, and a wrong one stops the program.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import ritz
from ritz.kernels import EditDistance, Spectrum, Subsequence

SHARED = Path(os.environ.get("RITZ_SHARED", Path(__file__).resolve().parent.parent.parent / "shared")) / "data"


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--rows", type=int, default=100_000)
    options.add_argument("--pairs", type=int, default=400, help="names whose pairs are all compared")
    chosen = options.parse_args()
    rng = np.random.default_rng(0)
    names = first_names(rng)
    full = [f"{names[a]} {names[b]}" for a, b in rng.integers(len(names), size=(chosen.rows, 2))]
    spectrum(full)
    few = [names[i] for i in rng.choice(len(names), chosen.pairs, replace=False)]
    long = ["".join(rng.choice(list("ACDEFGHIKLMNPQRSTVWY"), size=300)) for _ in range(24)]
    for title, strings in ((f"{len(few)} names", few), (f"{len(long)} strings of 300 letters", long)):
        beside(f"subsequence, {title}", Subsequence(3, 0.5, normalize=False), strings, lambda s, t: gaps(s, t, 3, 0.5))
        beside(f"edit, {title}", EditDistance(0.1), strings, lambda s, t: float(np.exp(-0.1 * edits(s, t))))


def first_names(rng: np.random.Generator) -> list[str]:
    path = SHARED / "names" / "names.csv"
    if path.exists():
        return [line.split(",")[0] for line in path.read_text(encoding="utf-8").splitlines()[1:]]
    syllables = [a + b for a in "bcdfgklmnprstvz" for b in "aeiou"]
    return ["".join(rng.choice(syllables, size=size)).title() for size in rng.integers(2, 5, 8000)]


def spectrum(strings: list[str]) -> None:
    kernel = Spectrum(3)
    seconds, phi = best(lambda: kernel.features(strings))
    print(f"windows: {len(strings):,} strings, {phi.shape[1]:,} windows, {phi.nnz:,} entries  {seconds:.2f} s")
    made = kernel.feature_map(strings)
    seconds, again = best(lambda: made.transform(strings))
    assert (again != phi).nnz == 0
    print(f"new: {len(strings):,} strings through the vocabulary  {seconds:.2f} s")
    seconds, model = best(lambda: ritz.PCA(10).fit(phi), repeat=1)
    share = float(np.sum(model.explained_variance_ratio_))
    print(f"components: 10, {share:.1%} of the variance  {seconds:.2f} s")


def beside(title: str, kernel: Any, strings: list[str], plain: Callable[[str, str], float]) -> None:
    """All pairs by the kernel, and a sample of them in pure Python, scaled up."""
    kernel(strings[:2])  # compiles
    seconds, K = best(lambda: kernel(strings))
    n = len(strings)
    rng = np.random.default_rng(1)
    sample = rng.integers(n, size=(min(2000, 12_000_000 // (len(strings[0]) + 100) ** 2), 2))
    start = time.perf_counter()
    values = [plain(strings[i], strings[j]) for i, j in sample]
    each = (time.perf_counter() - start) / len(sample)
    np.testing.assert_allclose([K[i, j] for i, j in sample], values, rtol=1e-10)
    # Pure Python is asked for half the pairs only: it may use the symmetry.
    pairs = n * (n + 1) // 2
    slow = each * pairs
    print(f"{title}: {seconds:.4f} s, {pairs / seconds:,.0f} pairs a second; pure Python {slow:.2f} s", end=", ")
    print(f"{slow / seconds:,.0f} times as long")


def best(work: Callable[[], Any], repeat: int = 3) -> tuple[float, Any]:
    found = np.inf
    for _ in range(repeat):
        start = time.perf_counter()
        result = work()
        found = min(found, time.perf_counter() - start)
    return found, result


def gaps(s: str, t: str, p: int, decay: float) -> float:
    """Lodhi's dynamic program, O(p |s| |t|), rows of K' only."""
    before = [[1.0] * (len(t) + 1)] * (len(s) + 1)
    for _ in range(p - 1):
        rows = [[0.0] * (len(t) + 1)]
        for i, a in enumerate(s):
            above, upper, run, row = rows[-1], before[i], 0.0, [0.0]
            for j, b in enumerate(t):
                run *= decay
                if a == b:
                    run += decay * decay * upper[j]
                row.append(decay * above[j + 1] + run)
            rows.append(row)
        before = rows
    return sum(decay * decay * before[i][j] for i, a in enumerate(s) for j, b in enumerate(t) if a == b)


def edits(s: str, t: str) -> int:
    row = list(range(len(t) + 1))
    for i, a in enumerate(s, 1):
        above, row = row, [i]
        for j, b in enumerate(t, 1):
            row.append(min(above[j] + 1, row[-1] + 1, above[j - 1] + (a != b)))
    return row[-1]


if __name__ == "__main__":
    main()
