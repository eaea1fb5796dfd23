"""Runs the ways to hang, each in a process of its own: ``program.py FOLDER SECONDS NAME …``.

The libraries are loaded once; then a child is forked for every way, so that one that hangs can be killed. One line of
JSON a way: ``{"name": …, "findings": [sentences]}``.
"""

from __future__ import annotations

import contextlib
import faulthandler
import json
import os
import signal
import sys
import time
from pathlib import Path

from ritz.testing.faults._patience import limit
from ritz.testing.faults.hang import end, nested, threads  # noqa: F401
from ritz.testing.faults.hang.ways import WAYS, Findings

__all__ = ["main"]


def main() -> None:
    """Fork a child for every way that is named, and print what it found."""
    folder, seconds, names = Path(sys.argv[1]), float(sys.argv[2]), sys.argv[3:]
    for name in names or WAYS:
        begin = time.monotonic()
        findings = _apart(name, folder / name, seconds)
        told = {"name": name, "findings": findings, "seconds": round(time.monotonic() - begin, 2)}
        print(json.dumps(told), flush=True)


def _apart(name: str, folder: Path, seconds: float) -> Findings:
    folder.mkdir(parents=True)
    told = folder / "findings.json"
    child = os.fork()
    if child == 0:
        os.setsid()  # so that its own children can be killed with it
        faulthandler.register(signal.SIGUSR1, file=(folder / "stacks").open("w"))
        try:
            findings = WAYS[name](folder)
        except BaseException as error:  # noqa: BLE001 (is the finding)
            findings = [f"{type(error).__name__}: {str(error)[:300]}"]
        told.write_text(json.dumps(findings))
        os._exit(0)
    waited = _wait(child, seconds)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    if not told.exists():
        return [f"had not ended after {waited:.0f} s: {_where(folder / 'stacks')}"]
    return list(json.loads(told.read_text()))


def _wait(child: int, seconds: float) -> float:
    """Wait until a child has ended, or hangs: then it is asked where. How long that took."""
    begin, allowed = time.monotonic(), seconds
    # Left as it ended, so that its number is nobody else's when its group is killed.
    while os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
        time.sleep(0.02)
        if time.monotonic() - begin > allowed:
            now = limit(seconds)
            if now <= allowed:
                os.kill(child, signal.SIGUSR1)
                time.sleep(1.0)
                break
            allowed = now
    return time.monotonic() - begin


def _where(stacks: Path) -> str:
    """The innermost places in ritz of the threads that hung."""
    lines = stacks.read_text().splitlines() if stacks.exists() else []
    places = [line.strip().removeprefix("File ") for line in lines if "/ritz/" in line and "hang/program" not in line]
    return "; ".join(dict.fromkeys(place.rpartition("/ritz/")[2] for place in places[:8])) or "nothing is known"


if __name__ == "__main__":
    main()
