"""The result folder: the model, scores, components, a report and a manifest, all new or all old.

    <stem>_ritz/model.ritz       the fitted model, for ritz transform and ritz.load
    <stem>_ritz/scores.csv       row, identifiers, PC1, PC2, …      one line for each row of the table
    <stem>_ritz/components.csv   column, mean, scale, PC1, PC2, …   score = Σ_j (x_j − mean_j)/scale_j · PC_j
    <stem>_ritz/report.html      one page that opens offline
    <stem>_ritz/manifest.json    what was done, and each file with its size and SHA-256

Files are written under temporary names and renamed when all are complete, the manifest last. A second run
replaces what the manifest lists; anything else in the way is refused unless the user insists.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO, cast

from ritz._core.atomic import replacing
from ritz._core.errors import FileError
from ritz.data.write import disk_errors

__all__ = ["MANIFEST", "check_folder", "list_file", "listed_files", "result_folder", "write_results"]

MANIFEST = "manifest.json"
COMPRESSED = {".gz", ".bz2", ".zst", ".lz4", ".xz"}
FOLDER_ENDINGS = {".parquet", ".pq", ".zarr"}


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


def check_folder(folder: Path, force: bool) -> str | None:
    """Refuse a folder with files that no earlier run wrote; called before the work, lest it be in vain.

    Gives the table whose results are there, if any.
    """
    if folder.exists() and not folder.is_dir():
        raise FileError(f"expected {folder} to be a folder", received="a file", hint="choose another one with -o")
    if not folder.exists():
        return None
    # Hidden files belong to the system (.DS_Store) or to an interrupted run, and are never written over.
    present = {entry.name for entry in folder.iterdir() if not entry.name.startswith(".")}
    foreign = sorted(present - (_listed(folder) or set()))
    if foreign and not force:
        shown = ", ".join(foreign[:5]) + (" …" if len(foreign) > 5 else "")
        raise FileError(
            f"expected {folder} to be empty or the result of an earlier run",
            received=f"a folder with other files: {shown}",
            hint="choose another folder with -o, or overwrite with --force",
        )
    source = _manifest(folder).get("source")
    return source if isinstance(source, str) else None


def write_results(folder: Path, contents: Mapping[str, Any], summary: Mapping[str, Any]) -> list[Path]:
    """Write files and the manifest; give the paths.

    ``contents`` holds pyarrow tables, written as CSV, or functions that write to the file they are given.
    """
    created = not folder.exists()
    old = _listed(folder) or set()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(
            f"could not write to {folder}: {error.strerror or error}",
            hint="choose another folder with -o",
        ) from error
    try:
        with disk_errors(folder), contextlib.ExitStack() as stack:
            # Entered first, left last: the manifest never names a file that is not there yet.
            manifest = stack.enter_context(replacing(folder / MANIFEST))
            files: dict[str, dict[str, Any]] = {}
            for name, content in contents.items():
                sink = _Hashing(stack.enter_context(replacing(folder / name)))
                _write(content, cast(Any, sink))
                files[name] = {"bytes": sink.size, "sha256": sink.digest.hexdigest()}
            content = {"format": 1, "files": files, **summary}
            manifest.write((json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n").encode())
    except BaseException:
        if created:
            with contextlib.suppress(OSError):
                folder.rmdir()
        raise
    for name in old - set(contents) - {MANIFEST}:
        with contextlib.suppress(OSError):
            (folder / name).unlink()
    return [folder / name for name in (*contents, MANIFEST)]


def list_file(path: Path) -> None:
    """Enter a file into the manifest of its folder, where there is one, so that a second run may replace it."""
    content = _manifest(path.parent)
    if not isinstance(content.get("files"), dict):
        return
    data = path.read_bytes()
    content["files"][path.name] = {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    with replacing(path.parent / MANIFEST) as file:
        file.write((json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n").encode())


def _write(content: Any, sink: Any) -> None:
    import pyarrow.csv as pc

    if callable(content):
        content(sink)
    else:
        pc.write_csv(content, sink, pc.WriteOptions(quoting_style="needed"))


def listed_files(folder: Path) -> set[str]:
    """Names of files in a folder that Ritz wrote, by its manifest."""
    return _listed(folder) or set()


def _listed(folder: Path) -> set[str] | None:
    """Names that an earlier run wrote, or None without a manifest; names outside the folder do not count."""
    files = _manifest(folder).get("files")
    if not isinstance(files, dict):
        return None
    return {name for name in files if name not in {"", ".", ".."} and Path(name).name == name} | {MANIFEST}


def _manifest(folder: Path) -> dict[str, Any]:
    try:
        content = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


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
