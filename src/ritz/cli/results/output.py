"""The result folder: the model, scores, components, a report and a manifest, all new or all old.

    <stem>_ritz/model.ritz       the fitted model, for ritz transform and ritz.load
    <stem>_ritz/scores.csv       row, identifiers, PC1, PC2, …      one line for each row of the table
    <stem>_ritz/components.csv   column, mean, scale, PC1, PC2, …   score = Σ_j (x_j − mean_j)/scale_j · PC_j
    <stem>_ritz/topics.csv       of texts, instead of components: topic, word, weight
    <stem>_ritz/report.html      one page that opens offline
    <stem>_ritz/manifest.json    what was done, and each file with its size and SHA-256

Files are written under temporary names and renamed together when all are complete, the manifest last. A second run
replaces what the manifest proves to be Ritz's own; anything else in the way is refused unless the user insists. What is
read is never replaced. One run at a time works in a folder: it holds its lock.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO, cast

from ritz._core.atomic import sweep
from ritz._core.errors import FileError
from ritz._core.lock import locked
from ritz._core.together import Together, finish, recorded
from ritz.cli.results.manifest import MANIFEST, held_manifest, own_files, sealed
from ritz.data.tables.apart import inputs_among
from ritz.data.tables.write import disk_errors
from ritz.data.words import shorten

__all__ = ["JOURNAL", "MANIFEST", "Place", "check_folder", "result_folder", "working", "write_results"]

#: What a fit under way keeps in the folder: its lock, and its sums.
JOURNAL = ".journal"
COMPRESSED = {".gz", ".bz2", ".zst", ".lz4", ".xz"}
FOLDER_ENDINGS = {".parquet", ".pq", ".zarr"}
#: What a fit may write, by the beginning of its name.
WRITTEN = (
    "model.ritz",
    "scores.",
    "components.csv",
    "topics.csv",
    "supplementary.csv",
    "supplementary_rows.csv",
    "clusters.csv",
    "cluster_description.csv",
    "rotated_",
    "figure_",
    "report.html",
    MANIFEST,
)
SHOWN = 5  # names of files in a message


def result_folder(table: Path, chosen: Path | None) -> Path:
    """``<stem>_ritz`` in the current folder, unless the user chose one; never inside a folder that is the table.

    Where the current folder is the table, or lies in it, the results go beside the table.
    """
    folder = table.is_dir()
    if chosen is not None:
        if folder and _within(chosen, table):
            raise FileError(
                f"expected a result folder outside of {table}, which is read as one table",
                received=str(chosen),
                hint="choose another one with -o",
            )
        return chosen
    place = Path(f"{_stem(table, folder) or 'table'}_ritz")
    return Path(os.path.relpath(table.resolve().parent / place)) if folder and _within(place, table) else place


def _stem(table: Path, folder: bool) -> str:
    """The name without its endings; points in the name of a folder mean nothing, and ``.`` is no name."""
    name = Path(table.resolve().name if folder else table.name)
    if folder and name.suffix not in FOLDER_ENDINGS:
        return name.name
    return Path(name.stem).stem if name.suffix in COMPRESSED else name.stem


def _within(inner: Path, outer: Path) -> bool:
    return inner.resolve().is_relative_to(outer.resolve())


# before the work


@contextlib.contextmanager
def working(folder: Path) -> Iterator[None]:
    """Hold a result folder inside the block: it is there, and no other run writes to it.

    What an earlier run that was killed left half renamed is finished, and what it left over is removed. A folder that
    was made here and holds nothing in the end goes again.
    """
    if folder.exists() and not folder.is_dir():
        raise FileError(f"expected {folder} to be a folder", received="a file", hint="choose another one with -o")
    made = _made(folder)
    try:
        with contextlib.ExitStack() as stack:
            with disk_errors(folder):  # errors of the work itself are not about this folder
                stack.enter_context(locked(folder / JOURNAL / "lock", folder))
                _recover(folder)
                sweep(folder, alone=True)
            yield
    finally:
        for one in made:
            with contextlib.suppress(OSError):
                one.rmdir()


def _made(folder: Path) -> list[Path]:
    """Make a folder; those that were made on the way, the innermost first."""
    absent = [one for one in (folder, *folder.parents) if not one.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(
            f"could not write to {folder}: {error.strerror or error}",
            hint="choose another folder with -o",
        ) from error
    return absent


def _recover(folder: Path) -> None:
    """Finish the renaming of a run that was killed in the middle of it, where nothing of the user is in its way."""
    pairs = recorded(folder)
    if pairs is None:
        return
    own = own_files(folder)
    named = {name for _, name in pairs}
    waiting = [name for temporary, name in pairs if (folder / temporary).is_file()]
    if all(name in own or not os.path.lexists(folder / name) for name in waiting):
        finish(folder, pairs, sorted(own - named))
    else:
        finish(folder, [], [])


def check_folder(folder: Path, force: bool, inputs: Iterable[Path] = ()) -> str | None:
    """Refuse a folder with files that Ritz did not write, or that were changed since; called before the work.

    Gives the table whose results are there, if any.
    """
    if folder.exists() and not folder.is_dir():
        raise FileError(f"expected {folder} to be a folder", received="a file", hint="choose another one with -o")
    if not folder.exists():
        return None
    # Hidden files belong to the system (.DS_Store) or to an interrupted run, and are never written over.
    present = sorted(entry for entry in folder.iterdir() if not entry.name.startswith("."))
    own = own_files(folder)
    may_go = [path for path in present if path.name in own or path.name.startswith(WRITTEN)]
    _require_apart(folder, may_go, inputs)
    for path in may_go:
        if path.is_dir() and not path.is_symlink() and not path.name.startswith(("scores.", "figure_")):
            raise FileError(f"expected a file at {path}", received="a folder", hint="choose another one with -o")
    foreign = [path.name for path in present if path.name not in own]
    if foreign and not force:
        raise FileError(
            f"expected {folder} to be empty or the result of an earlier run",
            received=f"a folder with {_foreign(foreign, folder)}",
            hint="choose another folder with -o, or overwrite with --force",
        )
    source = held_manifest(folder).get("source")
    return source if isinstance(source, str) else None


def _foreign(names: list[str], folder: Path) -> str:
    listed = set(held_manifest(folder).get("files", ()))
    changed = [name for name in names if name in listed]
    others = [name for name in names if name not in listed]
    said = [f"other files: {shorten(others, SHOWN)}"] if others else []
    said += [f"files that were changed since Ritz wrote them: {shorten(changed, SHOWN)}"] if changed else []
    return ", and ".join(said)


def _require_apart(folder: Path, targets: Iterable[Path], inputs: Iterable[Path]) -> None:
    read = inputs_among(targets, inputs)
    if read:
        raise FileError(
            f"expected a result folder in which nothing that is read would be replaced, other than {folder}",
            received=f"{read[0]}, which is read",
            hint="choose another one with -o",
        )


class Place:
    """A result folder as it was when it was looked at: what has come or changed since is not replaced."""

    def __init__(self, folder: Path, inputs: Iterable[Path] = ()) -> None:
        self.folder, self.inputs = folder, list(inputs)
        self._seen = {path.name: _look(path) for path in folder.iterdir()} if folder.is_dir() else {}

    def require(self, names: Iterable[str]) -> None:
        """Refuse to replace what was not there, or not so."""
        names = list(names)
        _require_apart(self.folder, [self.folder / name for name in names], self.inputs)
        for name in names:
            now = _look(self.folder / name)
            if now is not None and now != self._seen.get(name):
                raise FileError(
                    f"expected {self.folder / name} to stay as it is",
                    received="a file that has come or was changed during the fit",
                    hint="choose another folder with -o",
                )


def _look(path: Path) -> tuple[int, ...] | None:
    try:
        status = path.lstat()
    except OSError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns


# the results


def write_results(
    folder: Path, contents: Mapping[str, Any], summary: Mapping[str, Any], *, place: Place | None = None,
    check: Callable[[], None] | None = None,
) -> tuple[list[Path], list[str]]:  # fmt: skip
    """Write files and the manifest; give the paths, and the names of files of before that were removed.

    ``contents`` holds pyarrow tables, written as CSV, or functions that write to the file they are given. ``check`` is
    called when all is written, before any file appears.
    """
    made, own = _made(folder), own_files(folder)
    stale = sorted(own - set(contents) - {MANIFEST})
    files = Together(folder)
    try:
        with disk_errors(folder):
            listed = {name: _written(content, files.open(name)) for name, content in contents.items()}
            files.open(MANIFEST).write(sealed(listed, summary))
            files.sync()
            if check is not None:
                check()
            if place is not None:
                place.require([*contents, MANIFEST, *stale])
            files.commit(stale)
    except BaseException:
        files.discard()
        for one in made:
            with contextlib.suppress(OSError):
                one.rmdir()
        raise
    return [folder / name for name in (*contents, MANIFEST)], stale


def _written(content: Any, file: BinaryIO) -> dict[str, Any]:
    """Write one file; its size and checksum."""
    import pyarrow.csv as pc

    sink = _Hashing(file)
    if callable(content):
        content(cast(Any, sink))
    else:
        pc.write_csv(content, cast(Any, sink), pc.WriteOptions(quoting_style="needed"))
    return {"bytes": sink.size, "sha256": sink.digest.hexdigest()}


class _Hashing:
    """A file for writing that also keeps size and checksum."""

    closed = False

    def __init__(self, file: BinaryIO) -> None:
        self._file, self.size, self.digest = file, 0, hashlib.sha256()

    def write(self, data: bytes) -> int:
        """Write, count and hash."""
        data = bytes(data)
        self._file.write(data)
        self.digest.update(data)
        self.size += len(data)
        return len(data)

    def flush(self) -> None:
        """Leave flushing to the file itself."""

    def close(self) -> None:
        """Leave closing to the owner of the file."""

    def readable(self) -> bool:
        """Say that this is for writing only."""
        return False

    def writable(self) -> bool:
        """Say that this is for writing."""
        return True

    def seekable(self) -> bool:
        """Say that there is no way back."""
        return False
