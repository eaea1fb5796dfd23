"""The memory that a plan predicts beside what its fit really holds, for wide, tall, dense and sparse tables."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).with_name("plan_memory_program.py")
#: A limit on memory must hold, so that a plan may predict up to four times what a fit holds, but hardly less.
#: Bytes that a process takes for threads, code and small things, whatever the table.
SMALL = 24e6
#: kind, rows, columns, stored entries, k, method, solver
CASES = [
    ("words", 3000, 77_141, 300_000, 100, "SVD", "auto"),
    ("words", 3000, 77_141, 300_000, 10, "PCA", "auto"),
    ("words", 10_000, 10_000, 500_000, 50, "SVD", "auto"),
    ("words", 3000, 77_141, 300_000, 50, "SVD", "krylov"),
    ("sparse", 2000, 100_000, 200_000, 20, "SVD", "auto"),
    ("dense", 400, 20_000, 0, 10, "SVD", "auto"),
    ("dense", 2000, 8000, 0, 30, "SVD", "auto"),
    ("flat", 10_000, 1000, 0, 20, "PCA", "auto"),
    ("dense", 20_000, 400, 0, 20, "PCA", "auto"),
    ("dense", 1000, 20_000, 0, 50, "PCA", "lanczos"),
    ("dense", 1000, 1000, 0, 1000, "PCA", "auto"),
    ("lost", 3000, 1000, 0, 1000, "PCA", "auto"),
    ("lost", 7200, 900, 0, 900, "PCA", "auto"),
    ("lost", 10_000, 500, 0, 500, "PCA", "auto"),
]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="/proc tells what a process holds")
def test_a_fit_holds_what_its_plan_predicts():
    environment = {**os.environ, "OMP_NUM_THREADS": "2", "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, str(PROGRAM), json.dumps(CASES)]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True, env=environment)
    lines = [json.loads(line) for line in ran.stdout.splitlines()]
    assert len(lines) == len(CASES)
    wrong = [
        f"{case}: {line['predicted'] / 1e6:.0f} MB predicted, {line['measured'] / 1e6:.0f} MB held"
        for case, line in zip(CASES, lines, strict=True)
        if not line["predicted"] / 4 - SMALL <= line["measured"] <= 1.25 * line["predicted"] + SMALL
    ]
    assert not wrong, "\n".join(wrong)
