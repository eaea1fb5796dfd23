"""A journal of passes: what a fit has summed so far, so that it can go on after it was killed.

    <folder>/identity.ritz              which fit this is: data, columns, parameters, memory limit, version; which run
    <folder>/pass-<i>.ritz              sums of pass i, complete
    <folder>/pass-<i>-lane-<j>.ritz     sums of lane j in pass i, up to some row

A fit is a fixed sequence of passes, each a function of the sums of those before. So nothing but sums is written: a
fit that starts again reads them instead of the data, pass by pass, and then goes on in the middle of the one that was
broken off. Solvers know nothing of it. Every file appears whole or not at all, and says which fit and which run it
belongs to: sums of another one are never taken up.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import secrets
import time
from collections.abc import Iterator
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import numpy as np

from ritz._core.atomic import sweep
from ritz._core.callback import hide_from_user
from ritz._core.container import read_container, write_container
from ritz._core.errors import FileError, JournalIgnored
from ritz._core.warn import warn

__all__ = ["Journal", "Keeper", "current", "discard", "journaling", "known_identity"]

#: Seconds between two writings of a lane, and the largest share of the time that writing may take.
EVERY, SHARE = 20.0, 0.05


class Journal:
    """Sums of the passes of one fit, in a folder."""

    def __init__(self, folder: Path, identity: dict[str, Any], every: float = EVERY) -> None:
        self.folder, self.identity, self.every = folder, identity, every
        self._pass = -1
        self.reused = 0  # passes that were read from the journal
        folder.mkdir(parents=True, exist_ok=True)
        run = self._known()
        if run is None:
            run = secrets.token_hex(8)
            _empty(folder)
            write_container(folder / "identity.ritz", "journal", {"identity": identity, "run": run}, {})
        words = json.dumps(identity, sort_keys=True, default=repr)
        self._mark = f"{hashlib.sha256(words.encode()).hexdigest()[:32]}:{run}"

    def _known(self) -> str | None:
        """The run that the journal is of, where it is of this fit."""
        identity, run = _read_identity(self.folder)
        if identity is not None and identity != self.identity:
            different = _differences(identity, self.identity)
            warn(
                f"the checkpoint in {self.folder} belongs to another fit (different {', '.join(different)}); "
                "starting from the beginning",
                JournalIgnored,
            )
            return None
        return run

    def next_pass(self) -> int:
        """Number of the pass that begins now."""
        self._pass += 1
        return self._pass

    def finished(self, number: int, label: str) -> dict[str, Any] | None:
        """Sums of a pass that is complete, or None."""
        sums = _load(self._file(number), label, self._mark)
        self.reused += sums is not None
        return sums

    def finish(self, number: int, label: str, state: dict[str, Any]) -> None:
        """Write the sums of a complete pass; what its lanes had written is no longer needed."""
        _try_store(self._file(number), label, self._mark, state)
        for file in self.folder.glob(f"pass-{number}-lane-*.ritz"):
            file.unlink(missing_ok=True)

    def keeper(self, number: int, lane: int, label: str) -> Keeper:
        """Where one lane writes down how far it is."""
        return Keeper(self.folder / f"pass-{number}-lane-{lane}.ritz", label, self._mark, self.every)

    def clear(self) -> None:
        """Remove the journal: the fit is done."""
        discard(self.folder)

    def _file(self, number: int) -> Path:
        return self.folder / f"pass-{number}.ritz"


def discard(folder: Path) -> None:
    """Remove a journal, whichever it is; whoever does so works alone in its folder."""
    _empty(folder)
    with contextlib.suppress(OSError):
        folder.rmdir()


def _empty(folder: Path) -> None:
    # A lane that was killed between the creation of its file and its lock has left one that is young and empty.
    sweep(folder, alone=True)
    for file in [*folder.glob("pass-*.ritz"), folder / "identity.ritz"]:
        file.unlink(missing_ok=True)


def _differences(before: dict[str, Any], now: dict[str, Any]) -> list[str]:
    """Names of what differs; of options, which begin with a dash, what was said too."""
    names = sorted(name for name in {*before, *now} if before.get(name) != now.get(name))
    return [
        f"{name}: {_spelled(before.get(name))} before, {_spelled(now.get(name))} now" if name.startswith("-") else name
        for name in names
    ]


def _spelled(value: Any) -> str:
    return ",".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)


def known_identity(folder: Path) -> dict[str, Any] | None:
    """Which fit the journal in a folder belongs to; None where there is none that can be read."""
    return _read_identity(folder)[0]


def _read_identity(folder: Path) -> tuple[dict[str, Any] | None, str | None]:
    try:
        header, _ = read_container(folder / "identity.ritz", "journal")
    except FileError:
        return None, None
    identity, run = header.get("identity"), header.get("run")
    return (dict(identity), run) if isinstance(identity, dict) and isinstance(run, str) else (None, None)


class Keeper:
    """Writes the sums of one lane now and then; with ``every`` zero, always."""

    def __init__(self, path: Path, label: str, mark: str, every: float) -> None:
        self.path, self.label, self.mark, self.every = path, label, mark, every
        self._next = time.monotonic() + every

    def restore(self) -> tuple[int, dict[str, Any]] | None:
        """The row from which to go on, and the sums up to there."""
        sums = _load(self.path, self.label, self.mark)
        return None if sums is None else (int(sums.pop("row")), sums)

    def due(self) -> bool:
        """Whether it is time to write."""
        return time.monotonic() >= self._next

    def save(self, row: int, state: dict[str, Any]) -> None:
        """Write the sums of all rows before ``row``."""
        begin = time.monotonic()
        _try_store(self.path, self.label, self.mark, {**state, "row": row})
        now = time.monotonic()
        self._next = now + (max(self.every, (now - begin) / SHARE) if self.every else 0.0)


def _try_store(path: Path, label: str, mark: str, state: dict[str, Any]) -> None:
    """Write sums; a disk that is full is no reason to end a fit.

    Sums of rows with NaN or infinity are not kept: whoever asked for them refuses the rows in words of its own.
    """
    if any(isinstance(value, float) and not math.isfinite(value) for value in state.values()):
        return
    try:
        _store(path, label, mark, state)
    except OSError as error:
        warn(
            f"no checkpoint can be written to {path.parent} ({error.strerror or error}); the fit goes on without one",
            JournalIgnored,
        )


def _store(path: Path, label: str, mark: str, state: dict[str, Any]) -> None:
    arrays = {name: value for name, value in state.items() if isinstance(value, np.ndarray)}
    numbers = {name: value for name, value in state.items() if name not in arrays}
    write_container(path, "sums", {"label": label, "of": mark, "numbers": numbers}, arrays)


def _load(path: Path, label: str, mark: str) -> dict[str, Any] | None:
    """Sums from a file; None where it is absent, damaged or of another pass or fit: then the pass is made again."""
    try:
        header, arrays = read_container(path, "sums")
    except FileError:
        return None
    if header.get("label") != label or header.get("of") != mark:
        return None
    return {**header["numbers"], **arrays}


@contextlib.contextmanager
def journaling(
    folder: Path, identity: dict[str, Any], every: float = EVERY, *, keep: bool = False
) -> Iterator[Journal]:
    """Keep a journal in ``folder`` inside the block; it stays there when the block ends by an error.

    ``keep``: and when it ends without one, for ``discard`` to remove once nothing can be lost any more.
    """
    journal = Journal(Path(folder), identity, every)
    token = _current.set(journal)
    try:
        yield journal
    finally:
        _current.reset(token)
    if not keep:
        journal.clear()


def current() -> Journal | None:
    """The journal of the running fit, if it keeps one."""
    return _current.get()


_current: ContextVar[Journal | None] = ContextVar("ritz_journal", default=None)
hide_from_user(_current, None)
