"""HDF5 files and zarr folders as trees of groups and arrays, from which no way leads out.

    member(root, "var/names")   →   group or array that lies in the store itself

A file that came from elsewhere may say that its numbers lie in other files: HDF5 has external storage, external links,
virtual datasets and links of a user's own making; a zarr folder may hold symbolic links. What such a file names would
be read with the rights of the reader and come out in a model or a report, so all of them are refused. Links inside the
store are followed. zarr's codecs may run programs that somebody installed (``pickle`` runs what the file says), so only
those that turn bytes into bytes or numbers are used.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from ritz._core.errors import FileError
from ritz.data.formats.bands import UNPACKING
from ritz.data.formats.declared import room, too_large
from ritz.data.formats.files import damaged, needs

__all__ = ["Store", "h5_store", "is_group", "texts", "zarr_store"]

#: Links that lead to links: as many as HDF5 follows.
MOST_LINKS = 16
#: Codecs of zarr (2: ``id``, 3: ``name``) that decode numbers and texts and do nothing else.
CODECS = {
    "adler32", "astype", "base64", "bitround", "blosc", "bytes", "bz2", "cast_value", "crc32", "crc32c", "delta",
    "endian", "fixed_length_utf32", "fixedscaleoffset", "fletcher32", "gzip", "jenkins_lookup3", "json2", "lz4", "lzma",
    "null_terminated_bytes", "packbits", "pcodec", "quantize", "sharding_indexed", "shuffle", "transpose", "vlen-bytes",
    "vlen-utf8", "zfpy", "zlib", "zstd",
}  # fmt: skip
#: Texts read at once, at least and at most: a text of HDF5 may be as long as its file.
LEAST_TEXTS, MOST_TEXTS = 256, 1 << 16


def is_group(node: Any) -> bool:
    """Whether a node holds others."""
    return not hasattr(node, "dtype")


class Store:
    """A store: how it is opened, and how its members are found."""

    def __init__(self, path: Path, what: str, opener: Callable[[], AbstractContextManager[Any]]) -> None:
        self.path, self.what, self.open = path, what, opener

    def member(self, root: Any, place: str) -> Any:
        """The group or array at a place in the store; KeyError where there is none."""
        node = self._find(root, place)
        if not is_group(node):
            size = UNPACKING * float(math.prod(node.chunks or ())) * node.dtype.itemsize if node.shape else 0.0
            if node.chunks and size > room():
                raise too_large(size, self.path, f"chunks of {size / UNPACKING / 1e6:,.0f} MB at {place!r}")
        return node

    def _find(self, root: Any, place: str) -> Any:
        raise NotImplementedError

    def has(self, root: Any, place: str) -> bool:
        """Whether there is something at a place."""
        try:
            self.member(root, place)
        except KeyError:
            return False
        return True

    def names(self, group: Any) -> list[str]:
        """What a group holds, without looking at it."""
        return sorted(group)

    def _outside(self, place: str, what: str) -> FileError:
        return FileError(
            f"expected all numbers and names of {self.path} in itself",
            received=f"{place!r}, which is {what}",
            hint="Ritz reads no file that another file names; copy the numbers into one file if you trust it",
        )


class _H5(Store):
    def _find(self, root: Any, place: str) -> Any:
        return self._follow(root, place, place, 0)

    def _follow(self, group: Any, place: str, asked: str, links: int) -> Any:
        h5py = import_module("h5py")
        if links > MOST_LINKS:
            raise damaged(self.path, self.what, f"links in a circle at {asked!r}")
        node = group.file["/"] if place.startswith("/") else group
        for name in (step for step in place.split("/") if step not in ("", ".")):
            if not isinstance(node, h5py.Group) or not node.id.links.exists(name.encode()):
                raise KeyError(f"{asked} is not in {self.path}")
            kind = node.id.links.get_info(name.encode()).type
            if kind == h5py.h5l.TYPE_HARD:
                node = node[name]
            elif kind == h5py.h5l.TYPE_SOFT:
                target = node.id.links.get_val(name.encode()).decode("utf-8", "replace")
                node = self._follow(node, target, asked, links + 1)
            else:
                outside = "a link to another file" if kind == h5py.h5l.TYPE_EXTERNAL else "a link of an unknown kind"
                raise self._outside(asked, outside)
        if isinstance(node, h5py.Dataset):
            made = node.id.get_create_plist()
            if made.get_layout() == h5py.h5d.VIRTUAL:
                raise self._outside(asked, "put together from other datasets (virtual)")
            if made.get_external_count():
                raise self._outside(asked, "stored in other files (external)")
        elif not isinstance(node, h5py.Group):
            raise damaged(self.path, self.what, f"neither numbers nor a group at {asked!r}")
        return node


class _Zarr(Store):
    def _find(self, root: Any, place: str) -> Any:
        if ".." in place.split("/") or place.startswith("/"):
            raise self._outside(place, "a path that leads out of the folder")
        node = root[place] if place else root
        if not is_group(node):
            unknown = sorted(set(_codecs(node.metadata.to_dict())) - CODECS)
            if unknown:
                raise FileError(
                    f"expected numbers at {place or 'the root'!r} of {self.path} that are packed in a known way",
                    received=f"the codec {unknown[0]!r}",
                    hint="write it again with blosc, zstd or gzip",
                )
        return node


def _codecs(metadata: Any) -> Iterator[str]:
    """Names of all codecs in the metadata of an array, those inside others included."""
    for key in ("codecs", "filters", "compressor", "index_codecs", "configuration"):
        codec = metadata.get(key) if isinstance(metadata, dict) else None
        for one in codec if isinstance(codec, (list, tuple)) else [codec]:
            if one is None or (isinstance(one, str) and key == "configuration"):
                continue
            settings = one if isinstance(one, dict) else getattr(one, "get_config", dict)()
            if key != "configuration":
                name = settings.get("id") or settings.get("name") or getattr(one, "codec_id", type(one).__name__)
                yield str(name).removeprefix("numcodecs.").lower()
            yield from _codecs(settings)


def h5_store(path: Path) -> Store:
    """An HDF5 file."""
    try:
        h5py = import_module("h5py")
    except ImportError as error:
        raise needs(path, ".h5ad files", "h5py", error) from error
    return _H5(path, ".h5ad file", lambda: h5py.File(path, "r"))


def zarr_store(path: Path) -> Store:
    """A zarr folder, whose entries must all lie in it."""
    try:
        zarr = import_module("zarr")
    except ImportError as error:
        raise needs(path, "zarr folders", "zarr", error) from error
    store = _Zarr(path, "zarr folder", lambda: nullcontext(zarr.open(str(path), mode="r")))
    top = os.path.realpath(path)
    for folder, folders, names in os.walk(path):
        for name in (*folders, *names):
            entry = os.path.join(folder, name)
            if os.path.islink(entry) and os.path.commonpath([top, os.path.realpath(entry)]) != top:
                raise store._outside(os.path.relpath(entry, path), "a symbolic link that leads out of the folder")
    return store


def texts(node: Any, start: int, stop: int, path: Path) -> list[str]:
    """Texts of an array of one dimension, some at a time, as long as the memory limit holds them."""
    allowed, out, bytes_read = room() / 4, [], 0
    size = path.stat().st_size if path.is_file() else 1 << 20
    if node.dtype.itemsize > 16:  # of one length
        size = node.dtype.itemsize
    step = int(max(LEAST_TEXTS, min(MOST_TEXTS, allowed / 2 / max(1, size))))
    for first in range(start, stop, step):
        for value in np.asarray(node[first : min(stop, first + step)]).tolist():
            text = value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
            bytes_read += 50 + len(text)
            out.append(text)
        if bytes_read > allowed:
            raise too_large(
                4.0 * bytes_read * (stop - start) / len(out), path, f"names of {bytes_read / len(out):,.0f} bytes each"
            )
    return out
