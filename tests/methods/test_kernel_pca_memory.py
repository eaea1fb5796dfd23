"""``memory=`` of kernel models is kept or refused: what a process adds once its libraries are loaded."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests import program

CODE = """
import sys, warnings
import numpy as np
from ritz import KernelPCA, MemoryLimitError
import ritz.kernels as rk
warnings.simplefilter("ignore")

def status(field):
    with open("/proc/self/status") as lines:
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(field))

name, n, length, k, solver, limit = sys.argv[1], *map(int, sys.argv[2:5]), sys.argv[5], float(sys.argv[6])
kernel = {"spectrum": rk.Spectrum(6), "bounded": rk.BoundedSpectrum(4), "mismatch": rk.Mismatch(4, 1),
          "edit": rk.EditDistance(0.1), "rbf": rk.RBF(0.01)}[name]
rng = np.random.default_rng(0)
rows = rng.standard_normal((n, length))
if name != "rbf":
    rows = ["".join(word) for word in rng.choice(list("abcdefghijkl"), (n, length))]
for way in (solver, "svd"):
    KernelPCA(2, kernel=kernel, solver=way, landmarks=20, memory="2GB").fit(rows[:60])
with open("/proc/self/clear_refs", "w") as peak:
    peak.write("5")
before = status("VmRSS:")
try:
    KernelPCA(k, kernel=kernel, solver=solver, memory=limit).fit(rows)
    done = "fitted"
except MemoryLimitError:
    done = "refused"
print(done, status("VmHWM:") - before)
"""

CASES = [
    ("bounded", 3000, 100, 5, "auto", 60e6, "refused"),
    ("bounded", 3000, 100, 5, "auto", 200e6, "fitted"),
    ("mismatch", 1500, 60, 5, "auto", 60e6, "refused"),
    ("spectrum", 1000, 40, 5, "auto", 60e6, "either"),
    ("spectrum", 2000, 60, 5, "krylov", 80e6, "either"),
    ("edit", 300, 12, 5, "auto", 40e6, "fitted"),
    ("rbf", 4000, 20, 5, "nystrom", 60e6, "refused"),
    ("rbf", 8000, 20, 40, "krylov", 150e6, "refused"),
    ("rbf", 4000, 20, 5, "auto", 60e6, "fitted"),
]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="/proc tells what a process holds")
@pytest.mark.parametrize(("name", "n", "length", "k", "solver", "limit", "expected"), CASES)
def test_the_limit_is_kept_or_refused(name, n, length, k, solver, limit, expected):
    arguments = [str(each) for each in (name, n, length, k, solver, limit)]
    ran = program.python(CODE, *arguments, cwd=Path.cwd())
    assert ran.returncode == 0, ran.stderr
    done, added = ran.stdout.split()
    assert expected in (done, "either")
    assert int(added) <= limit
