"""How long to wait for a program before it counts as one that hangs: a number of starts of Ritz, not of seconds.

    limit = quiet · max(1, start now / START)       measured when the limit seems reached, and again when the new one is

A machine under load makes a program slow, and the yardstick with it: an interpreter that loads Ritz and fits a table.
So a program that makes headway is waited for, whatever else the machine does, and one that hangs is found all the same.
"""

from __future__ import annotations

import subprocess
import sys
import time
from typing import Any

__all__ = ["limit", "run", "start_seconds"]

#: Seconds of a start on a quiet machine: 0.9 to 1.2 were seen, on two cores.
START = 1.0
YARDSTICK = "import numpy as np, ritz; ritz.PCA(2).fit(np.random.default_rng(0).standard_normal((50, 5)))"


def start_seconds() -> float:
    """Seconds that a new interpreter takes now to load Ritz and fit a small table."""
    begin = time.monotonic()
    subprocess.run([sys.executable, "-c", YARDSTICK], capture_output=True, check=False)
    return time.monotonic() - begin


def limit(quiet: float) -> float:
    """Seconds to wait, as things are now, for what must have ended after ``quiet`` ones on a quiet machine."""
    return quiet * max(1.0, start_seconds() / START)


def run(command: list[str], quiet: float, **more: Any) -> subprocess.CompletedProcess[str]:
    """Run a program to its end; TimeoutExpired where it hangs."""
    begin = time.monotonic()
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more) as process:
        allowed = quiet
        while True:
            try:
                out, said = process.communicate(timeout=max(0.0, begin + allowed - time.monotonic()))
            except subprocess.TimeoutExpired:
                if (more_now := limit(quiet)) > allowed and process.poll() is None:
                    allowed = more_now
                    continue
                process.kill()
                process.communicate()
                raise subprocess.TimeoutExpired(command, allowed) from None
            except BaseException:
                process.kill()
                raise
            return subprocess.CompletedProcess(command, process.returncode, out, said)
