"""The manifest of a result folder, and what it proves: which files Ritz wrote and nobody has changed since.

    {"format": "ritz results 2", "files": {name: {bytes, sha256}}, …, "seal": SHA-256 of all else}

A file belongs to Ritz when a manifest of this format, with its seal unbroken, lists it and its checksum is the one that
it has. Anything else is somebody else's: it is not replaced, and never removed, unless the user insists.
"""

from __future__ import annotations

import hashlib
import json
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ritz._core.atomic import replacing
from ritz._core.errors import FileError

__all__ = ["MANIFEST", "held_manifest", "list_file", "own_files", "refuse_existing", "sealed"]

MANIFEST = "manifest.json"
FORMAT = "ritz results 2"
LARGEST = 64 << 20  # bytes of a manifest; one of 20,000 columns has about 2 MB
CHUNK = 1 << 20


def sealed(files: Mapping[str, Any], summary: Mapping[str, Any]) -> bytes:
    """The manifest of files with their sizes and checksums."""
    content = {"format": FORMAT, "files": dict(files), **summary}
    content["seal"] = _seal(content)
    return (json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n").encode()


def held_manifest(folder: Path) -> dict[str, Any]:
    """The manifest in a folder, as Ritz wrote it; empty where there is none."""
    path = folder / MANIFEST
    try:
        if not stat.S_ISREG(path.lstat().st_mode) or path.lstat().st_size > LARGEST:
            return {}
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    if not isinstance(content, dict) or content.get("format") != FORMAT or not isinstance(content.get("files"), dict):
        return {}
    seal = content.pop("seal", None)
    return content if seal == _seal(content) else {}


def own_files(folder: Path) -> set[str]:
    """Names of files in a folder that Ritz wrote and that are as it wrote them, the manifest among them."""
    files = held_manifest(folder).get("files")
    if files is None:
        return set()
    own = {name for name, listed in files.items() if _plain(name) and _as_listed(folder / name, listed)}
    return own | {MANIFEST}


def list_file(path: Path) -> None:
    """Enter a file into the manifest of its folder, where there is one, so that a second run may replace it."""
    content = held_manifest(path.parent)
    if not content or not _plain(path.name):
        return
    files = content.pop("files")
    files[path.name] = {"bytes": path.stat().st_size, "sha256": _checksum(path)}
    content.pop("format")
    with replacing(path.parent / MANIFEST) as file:
        file.write(sealed(files, content))


def refuse_existing(target: Path, force: bool, *, own: bool = False) -> bool:
    """Refuse a file that is there already; ``own``: unless Ritz wrote it. True where nothing is there."""
    if target.is_dir():
        raise FileError(f"expected a file name at {target}", received="a folder", hint="choose another name with -o")
    try:
        target.lstat()
    except OSError:
        return True
    if not force and not (own and target.name in own_files(target.parent)):
        raise FileError(
            f"expected {target} to be absent",
            received="a file",
            hint="choose another name with -o, or overwrite it with --force",
        )
    return False


def _plain(name: str) -> bool:
    """Whether a name can only be that of a file in the folder itself, and not a hidden one."""
    return bool(name) and not name.startswith(".") and Path(name).name == name


def _as_listed(path: Path, listed: Any) -> bool:
    try:
        status = path.lstat()
        same = stat.S_ISREG(status.st_mode) and isinstance(listed, dict) and status.st_size == listed.get("bytes")
        return same and _checksum(path) == listed.get("sha256")
    except OSError:
        return False


def _checksum(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while data := file.read(CHUNK):
            digest.update(data)
    return digest.hexdigest()


def _seal(content: Mapping[str, Any]) -> str:
    words = json.dumps(content, sort_keys=True, ensure_ascii=True, allow_nan=False)
    return hashlib.sha256(f"ritz:{words}".encode()).hexdigest()
