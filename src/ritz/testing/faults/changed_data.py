"""Data that change while they are read give an error and no result, whatever their format and however they change."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np

from ritz.testing.faults._files import program, rows

__all__ = ["check"]

N, D, FACTOR = 100_000, 30, 10.0
LIMIT, MORE = "60MB", "80MB"  # a quarter of them does not hold the table; the second is enough for Krylov
COMMAND = [sys.executable, "-m", "ritz.testing.faults.changed_data_program"]
CASES = ("npy", "npy-times-set-back", "npy-replaced", "memmap", "parquet", "parquet-folder", "arrow", "csv", "krylov")


def check(folder: Path) -> list[str]:
    """Change the table in the middle of a pass: the answer must be that of one state, or none."""
    X = rows(N, D)
    truths = [float(np.linalg.eigvalsh(np.cov(table.T))[-1]) for table in (X, FACTOR * X)]
    findings = []
    for case in CASES:
        place = folder / case
        place.mkdir()
        np.save(place / "source.npy", X)
        done = program(case, cwd=place, command=COMMAND)
        (place / "source.npy").unlink()
        if done.returncode:
            if "Traceback" in done.stderr:
                findings.append(f"{case}: a traceback: {done.stderr[-300:]}")
            elif case != "memmap" and (place / "out").exists():
                findings.append(f"{case}: an error, but a result folder")
            continue
        value = float(json.loads(done.stdout.splitlines()[-1]))
        if min(abs(value - truth) for truth in truths) > 1e-6 * value:
            expected = " or ".join(f"{truth:.6g}" for truth in truths)
            findings.append(f"{case}: certified {value:.6g} where the data had {expected}")
    return findings
