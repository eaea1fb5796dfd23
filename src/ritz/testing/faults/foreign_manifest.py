"""No file that Ritz did not write, or that was changed since, is removed or replaced without --force; no input ever."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

from ritz.testing.faults._files import held, program, small_table

__all__ = ["check"]


def check(folder: Path) -> list[str]:
    """Result folders with manifests of others, files of others, and the input itself."""
    small_table(folder / "t.csv")
    first = program("fit", "t.csv", "-k", 2, "--no-report", "-o", "ours", cwd=folder)
    if first.returncode:
        return [f"a first fit failed: {first.stderr}"]
    return [*_manifests(folder), *_changed(folder), *_inputs(folder)]


def _listing(folder: Path) -> dict[str, Any]:
    return {
        path.name: {"bytes": path.stat().st_size, "sha256": hashlib.sha256(path.read_bytes()).hexdigest()}
        for path in folder.iterdir()
    }


def _manifests(folder: Path) -> list[str]:
    """Manifests that other programs might write, with true checksums, and one of Ritz with a line more."""
    findings = []
    ours = json.loads((folder / "ours/manifest.json").read_text())
    for number, words in enumerate(
        ({"name": "an app"}, {"format": 1}, {"format": ours.get("format")}, {"ritz": "0.1.0", "format": 1}, ours)
    ):
        place = folder / f"foreign{number}"
        place.mkdir()
        (place / "thesis.tex").write_text("years of work")
        (place / "scores.csv").write_text("mine")
        (place / "manifest.json").write_text(json.dumps({**words, "files": _listing(place)}))
        before = held(place)
        done = program("fit", "t.csv", "-k", 2, "--no-report", "-o", place.name, cwd=folder)
        if done.returncode != 4 or held(place) != before:
            lost = sorted(set(before) - set(held(place))) or "files replaced"
            findings.append(f"manifest {number}: exit status {done.returncode}, lost {lost}")
        elif "thesis.tex" not in done.stderr:
            findings.append(f"manifest {number}: the message does not name thesis.tex: {done.stderr}")
    return findings


def _changed(folder: Path) -> list[str]:
    """A result that the user has changed."""
    (folder / "ours/components.csv").write_text("edited by hand")
    done = program("fit", "t.csv", "-k", 2, "--no-report", "--scores", "none", "-o", "ours", cwd=folder)
    text = (folder / "ours/components.csv").read_text()
    if done.returncode != 4 or text != "edited by hand" or "components.csv" not in done.stderr:
        return [f"a changed result: exit status {done.returncode}, {done.stderr.strip()}"]
    return []


def _inputs(folder: Path) -> list[str]:
    """The table, or the model, under another name where the result goes."""
    findings = []
    place = folder / "within"
    small_table(place / "scores.csv")
    os.link(place / "scores.csv", folder / "hard.csv")
    (folder / "soft.csv").symlink_to(place / "scores.csv")
    original = (place / "scores.csv").read_bytes()
    spelled = [
        ("within/scores.csv", "within"), ("hard.csv", "within"), ("soft.csv", "./within/../within"),
        ("within/../within/scores.csv", str(place)),
    ]  # fmt: skip
    for table, output in spelled:
        done = program("fit", table, "-k", 2, "--no-report", "--force", "-o", output, cwd=folder)
        if done.returncode == 0 or (place / "scores.csv").read_bytes() != original:
            findings.append(f"the input {table} was replaced by a fit into {output}")
            (place / "scores.csv").write_bytes(original)
    model = (folder / "ours/model.ritz").read_bytes()
    (folder / "soft.ritz").symlink_to(folder / "ours/model.ritz")
    for words in (
        ("transform", "ours", "t.csv", "-o", "t.csv"), ("merge", "ours", "soft.ritz", "-o", "ours/model.ritz"),
        ("report", "ours", "t.csv", "-o", "t.csv"), ("inverse", "ours", "within/scores.csv", "-o", "hard.csv"),
        ("report", "soft.ritz", "t.csv", "-o", "ours/model.ritz"),
    ):  # fmt: skip
        before = (folder / "t.csv").read_bytes()
        done = program(*words, "--force", cwd=folder)
        if (folder / "t.csv").read_bytes() != before or (folder / "ours/model.ritz").read_bytes() != model:
            findings.append(f"an input was replaced by ritz {' '.join(words)}")
            (folder / "t.csv").write_bytes(before)
            (folder / "ours/model.ritz").write_bytes(model)
        elif done.returncode == 0:
            findings.append(f"ritz {' '.join(words)} says that it is done")
    return findings
