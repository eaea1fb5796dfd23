"""No fit waits for ever: inside fits, beside fits, in forked children; lanes and readers end when they should."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

__all__ = ["check", "findings"]

#: Seconds after which a way hangs on a quiet machine, where none takes five; on a slow one more (``_patience.py``).
SECONDS = 60.0


def check(folder: Path) -> list[str]:
    """What went wrong in any of the ways."""
    if not hasattr(os, "fork"):
        return []
    return [f"{name}: {finding}" for name, each in findings(folder).items() for finding in each]


def findings(folder: Path, names: tuple[str, ...] = (), seconds: float = SECONDS) -> dict[str, list[str]]:
    """What went wrong in each way, by its name; all ways if no names are given."""
    program = Path(__file__).parent / "hang" / "program.py"
    done = subprocess.run(
        [sys.executable, str(program), str(folder), str(seconds), *names],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    told = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    by_way = {str(each["name"]): [str(finding) for finding in each["findings"]] for each in told}
    if done.returncode or not by_way:
        by_way["program"] = [f"ended with status {done.returncode}: {done.stderr.strip()[-500:]}"]
    return by_way
