"""How much of the machine others use: wall-clock times mean little on a shared one."""

from __future__ import annotations

import os
import time
from pathlib import Path

__all__ = ["Neighbours", "wait_for_quiet"]

#: Cores used by others from which on times are not to be trusted, and seconds over which that is judged.
BUSY, LOOK = 0.2, 0.5


class Neighbours:
    """Cores that other processes kept busy since this object was made (Linux; nan elsewhere)."""

    def __init__(self) -> None:
        self._begin = time.perf_counter(), _machine_seconds(), time.process_time()

    def cores(self) -> float:
        """Their mean number."""
        wall, machine, mine = self._begin
        elapsed = max(time.perf_counter() - wall, 1e-9)
        others = (_machine_seconds() - machine) - (time.process_time() - mine)
        return max(0.0, others / elapsed)


def wait_for_quiet(patience: float) -> bool:
    """Wait until others leave the cores alone, at most ``patience`` seconds; whether they did."""
    until = time.perf_counter() + patience
    while time.perf_counter() < until:
        look = Neighbours()
        time.sleep(LOOK)
        if look.cores() <= BUSY:
            return True
    return False


def _machine_seconds() -> float:
    """Seconds that all cores together have worked since the machine started."""
    try:
        fields = Path("/proc/stat").read_text().splitlines()[0].split()[1:]
    except OSError:
        return float("nan")
    user, nice, system, _, _, irq, softirq, steal = map(int, fields[:8])
    return (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")
