"""Two fits into one folder never mix: the second is refused and names the first; sums of another fit are not used."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
from pathlib import Path

import numpy as np

from ritz.testing.faults._files import begun, hidden, program, rows, wait_for

__all__ = ["check"]

KILLED = [sys.executable, "-m", "ritz.testing.faults.killed_program"]
FIT = ["-k", 4, "--no-scale", "--no-report", "--scores", "none", "--memory", "100MB"]


def check(folder: Path) -> list[str]:
    """A second fit beside one that is stopped in the middle, and journals that were exchanged."""
    for name, spread in (("a", 3.0), ("b", 9.0)):
        np.save(folder / f"{name}.npy", rows(spread=spread))
    return [*_beside(folder), *_exchanged(folder)]


def _beside(folder: Path) -> list[str]:
    if not hasattr(signal, "SIGSTOP"):
        return []
    findings = []
    first = begun("fit", "a.npy", *FIT, "--solver", "krylov", "-o", "out", cwd=folder)
    try:
        if not wait_for((folder / "out/.journal/identity.ritz").exists, first):
            return [f"the first fit ended too early: {first.communicate()[1]}"]
        os.kill(first.pid, signal.SIGSTOP)
        second = program("fit", "b.npy", *FIT, "-o", "out", "--resume", cwd=folder)
        if second.returncode != 4 or str(first.pid) not in second.stderr:
            findings.append(
                f"a second fit into the folder of a running one ended with status {second.returncode}: "
                f"{second.stderr.strip()[:300]}"
            )
    finally:
        os.kill(first.pid, signal.SIGCONT)
        said = first.communicate()[1]
    if first.returncode:
        return [*findings, f"the first fit failed: {said.strip()[:300]}"]
    findings += _right(folder, "out", "a.npy")
    third = program("fit", "b.npy", *FIT, "-o", "out", cwd=folder)
    if third.returncode:
        findings.append(f"a fit after the first one had ended was refused: {third.stderr.strip()[:300]}")
    return [*findings, *_right(folder, "out", "b.npy")]


def _exchanged(folder: Path) -> list[str]:
    """Lane files of one fit in the journal of another: as two fits at a time would leave them."""
    for name in "ab":
        done = program(20, "fit", f"{name}.npy", *FIT, "-o", f"out_{name}", cwd=folder, command=KILLED)
        if done.returncode != -9:
            return [f"a fit that was to be killed ended with status {done.returncode}: {done.stderr.strip()[:300]}"]
    for file in (folder / "out_a/.journal").glob("pass-*"):
        shutil.copy(file, folder / "out_b/.journal" / file.name)
    done = program("fit", "b.npy", *FIT, "-o", "out_b", "--resume", cwd=folder)
    if done.returncode:
        return [f"the second fit could not go on: {done.stderr.strip()[:300]}"]
    left = hidden(folder / "out_b")
    return [*_right(folder, "out_b", "b.npy"), *([f"left behind: {left}"] if left else [])]


def _right(folder: Path, out: str, table: str) -> list[str]:
    truth = float(np.linalg.eigvalsh(np.cov(np.load(folder / table).T))[-1])
    value = json.loads((folder / out / "manifest.json").read_text())["components"][0]["variance"]
    return [] if abs(value - truth) <= 1e-6 * truth else [f"{out}: variance {value:.6g} where {table} has {truth:.6g}"]
