"""What the faults of files share: the program in a process of its own, tables, and what a folder holds."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ritz.testing.faults._patience import limit, run

__all__ = ["RITZ", "begun", "held", "hidden", "program", "rows", "small_table", "wait_for"]

RITZ = [sys.executable, "-m", "ritz"]
PATIENCE = 240.0  # seconds that the program may take on a quiet machine


def program(*words: object, cwd: Path, command: list[str] | None = None, **more: Any) -> Any:
    """Run ``ritz WORDS`` to its end."""
    env = {**os.environ, "NO_COLOR": "1"}
    return run([*(command or RITZ), *map(str, words)], PATIENCE, cwd=cwd, env=env, **more)


def begun(*words: object, cwd: Path, command: list[str] | None = None) -> subprocess.Popen[str]:
    """Start ``ritz WORDS``."""
    return subprocess.Popen(
        [*(command or RITZ), *map(str, words)], cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "NO_COLOR": "1"}, preexec_fn=_heeding_signals,
    )  # fmt: skip


def _heeding_signals() -> None:
    """Signals that this process ignores, as in the background or under nohup, end the program all the same."""
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL if number != signal.SIGINT else signal.default_int_handler)


def wait_for(happened: Callable[[], object], process: subprocess.Popen[str]) -> bool:
    """Wait until something has happened; False where the process ended before."""
    begin, allowed = time.monotonic(), PATIENCE
    while not happened():
        if process.poll() is not None:
            return bool(happened())
        if time.monotonic() - begin > allowed:
            now = limit(PATIENCE)
            if now <= allowed:
                return bool(happened())
            allowed = now
        time.sleep(0.002)
    return True


def rows(n: int = 100_000, d: int = 40, seed: int = 0, spread: float = 3.0) -> np.ndarray:
    """Rows of a known look, too large for a quarter of 60 MB as they are by default."""
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, d)) * np.geomspace(spread, spread / 6, d)


def small_table(path: Path, n: int = 60, seed: int = 0) -> Path:
    """A small CSV file of three columns."""
    X = np.random.default_rng(seed).standard_normal((n, 3)) * [3, 2, 1]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("a,b,c\n" + "\n".join(",".join(f"{v:.9f}" for v in row) for row in X) + "\n")
    return path


def held(folder: Path) -> dict[str, str]:
    """All files below a folder with their checksums."""
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def hidden(folder: Path) -> list[str]:
    """Names of hidden entries below a folder."""
    return sorted(str(path.relative_to(folder)) for path in folder.rglob(".*"))
