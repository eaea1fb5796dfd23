"""SIGTERM and SIGHUP end the program as Ctrl-C does: exit status 128 + n, nothing half written, --resume goes on."""

from __future__ import annotations

import json
import signal
import time
from pathlib import Path

import numpy as np

from ritz.testing.faults._files import begun, hidden, program, rows, wait_for
from ritz.testing.faults._patience import limit

__all__ = ["check"]

FIT = ["fit", "t.npy", "-k", 4, "--no-scale", "--no-report", "--scores", "none", "--memory", "100MB"]
SOON = 30.0  # seconds within which a program that was asked to end has ended, on a quiet machine


def check(folder: Path) -> list[str]:
    """Ask a fit and a transform to end while they read."""
    np.save(folder / "t.npy", rows(200_000))
    findings = []
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is None:
            continue
        fit = begun(*FIT, "--solver", "krylov", "-o", name, cwd=folder)
        if not wait_for((folder / name / ".journal/identity.ritz").exists, fit):
            return [f"the fit ended too early: {fit.communicate()[1]}"]
        fit.send_signal(number)
        asked = time.monotonic()
        said = fit.communicate()[1]
        if fit.returncode != 128 + number:
            findings.append(f"{name}: exit status {fit.returncode} instead of {128 + number}")
        if "Traceback" in said or "--resume" not in said:
            findings.append(f"{name}: said {said.strip()[-300:]!r}")
        if (took := time.monotonic() - asked) > SOON and took > limit(SOON):
            findings.append(f"{name}: the program went on for {took:.0f} s")
        others = [path.name for path in (folder / name).rglob("*") if ".tmp" in path.name or path.suffix == ".json"]
        if others or (folder / name / ".journal/lock").exists():
            findings.append(f"{name}: left behind {others or 'its lock'}")
    return [*findings, *_goes_on(folder), *_transform(folder)]


def _goes_on(folder: Path) -> list[str]:
    done = program(*FIT, "--solver", "krylov", "-o", "SIGTERM", "--resume", cwd=folder)
    if done.returncode:
        return [f"--resume after SIGTERM: {done.stderr.strip()[-300:]}"]
    truth = float(np.linalg.eigvalsh(np.cov(np.load(folder / "t.npy").T))[-1])
    value = json.loads((folder / "SIGTERM/manifest.json").read_text())["components"][0]["variance"]
    right = abs(value - truth) <= 1e-5 * truth
    return [] if right else [f"--resume after SIGTERM gave {value:.6g} instead of {truth:.6g}"]


def _transform(folder: Path) -> list[str]:
    if not (folder / "SIGTERM/model.ritz").exists():
        return []
    words = begun("transform", "SIGTERM", "t.npy", "-o", "z.csv", "--memory", "60MB", cwd=folder)
    if not wait_for(lambda: any("z.csv" in name for name in hidden(folder)), words):
        return []  # it was too quick
    words.send_signal(signal.SIGTERM)
    words.communicate()
    left = [name for name in hidden(folder) if ".tmp" in name]
    if words.returncode != 128 + signal.SIGTERM or left or (folder / "z.csv").exists():
        return [f"transform: exit status {words.returncode}, left behind {left}"]
    return []
