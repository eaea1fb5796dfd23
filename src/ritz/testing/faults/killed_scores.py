"""A fit that is killed while its scores are written goes on with --resume: the rows are not summed again."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import numpy as np

from ritz.testing.faults._files import begun, held, hidden, program, rows, wait_for

__all__ = ["check"]

FIT = ["fit", "t.npy", "-k", 20, "--no-scale", "--no-report", "--scores", "csv", "--memory", "60MB"]
COUNTING = [sys.executable, "-m", "ritz.testing.faults.killed_program", "0"]


def check(folder: Path) -> list[str]:
    """Kill it, look at what is left, go on, and compare with a fit that was left in peace."""
    np.save(folder / "t.npy", rows())
    undisturbed = program(*FIT, "-o", "whole", cwd=folder, command=COUNTING)
    if undisturbed.returncode:
        return [f"a fit failed: {undisturbed.stderr.strip()[-300:]}"]
    fit = begun(*FIT, "-o", "out", cwd=folder)
    out = folder / "out"
    if not wait_for(lambda: out.exists() and any("scores" in name for name in hidden(out)), fit):
        return [f"the fit ended before its scores were written: {fit.communicate()[1].strip()[-300:]}"]
    os.kill(fit.pid, signal.SIGKILL)
    fit.communicate()
    findings = []
    if any(not name.startswith(".") for name in held(out)):
        findings.append(f"half of the results are there: {sorted(held(out))}")
    (folder / "note.txt").write_text("")
    mine = out / ".mine.tmp"
    mine.write_text("a hidden file of the user")
    again = program(*FIT, "-o", "out", "--resume", cwd=folder, command=COUNTING)
    if again.returncode:
        return [*findings, f"--resume: {again.stderr.strip()[-300:]}"]
    read, needed = (int(done.stdout.split("read ")[1]) for done in (again, undisturbed))
    if read > 0.6 * needed:
        findings.append(f"--resume read {read:,} bytes, a whole fit with its scores {needed:,}")
    if hidden(out) != [".mine.tmp"]:
        findings.append(f"hidden files afterwards: {hidden(out)} instead of the user's one")
    mine.unlink(missing_ok=True)
    if held(out) != held(folder / "whole"):
        findings.append("the results differ from those of a fit that was left in peace")
    return findings
