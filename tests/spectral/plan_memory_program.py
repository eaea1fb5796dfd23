"""Fits tables one after the other and prints, as JSON, what was predicted and what the process held beyond before."""

from __future__ import annotations

import ctypes
import gc
import json
import os
import sys
import warnings
from pathlib import Path

import numpy as np
import scipy.sparse as sp

import ritz

warnings.simplefilter("ignore")

# Loaded here, before the first fork: every child would load them again.
ESTIMATORS = {"PCA": ritz.PCA, "SVD": ritz.SVD}


def status(field: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(field))


def table(kind: str, n: int, d: int, entries: int) -> object:
    """Words in documents, entries anywhere, or a dense table of a falling or a flat spectrum."""
    rng = np.random.default_rng(0)
    if kind == "words":
        share = 1 / np.arange(1, d + 1)
        columns = np.searchsorted(np.cumsum(share / share.sum()), rng.random(entries)).clip(0, d - 1)
        return sp.csr_array((rng.random(entries), (np.sort(rng.integers(0, n, entries)), columns)), shape=(n, d))
    if kind == "sparse":
        return sp.random_array((n, d), density=entries / (n * d), format="csr", rng=rng)
    X = rng.standard_normal((n, d))
    if kind == "lost":  # singular values down to 1e-10, which a Gram matrix does not hold
        X *= np.logspace(0, -10, d)
        return X - np.outer(X.sum(axis=1), np.full(d, 2 / d))  # reflected, so that columns are alike
    if kind != "flat":
        X *= np.arange(1, d + 1) ** -0.5
    return X.astype(np.float32) if kind == "single" else X


def measured(kind: str, n: int, d: int, entries: int, k: int, method: str, solver: str) -> dict[str, object]:
    X = table(kind, n, d, entries)
    estimator = ESTIMATORS[method]
    for warm in dict.fromkeys((solver, "krylov", "moments")):
        estimator(2, solver=warm).fit(X[:300, :200])
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5")
    before = status("VmRSS:")
    model = estimator(k, solver=solver).fit(X)
    return {"predicted": model.plan_.bytes, "measured": status("VmHWM:") - before, "plan": str(model.plan_)}


for case in json.loads(sys.argv[1]):
    if child := os.fork():  # what one fit leaves behind is no gift to the next
        os.waitpid(child, 0)
    else:
        print(json.dumps(measured(*case)), flush=True)
        os._exit(0)
