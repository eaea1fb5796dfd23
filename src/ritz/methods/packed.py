"""The state of a model in few bytes: words compressed, numbers beside them, long arrays left as they are.

    state = (compressed(names, records), high bytes of numbers compressed + low bytes of numbers, long arrays)

A certificate and a plan are mostly words, which take more bytes than the numbers of a small model. Of a float64 number
sign and exponent are compressed, and the rest is as good as random. Long arrays are left to whoever pickles, who may
map or send them without a copy; and so is, as a whole, a state that holds other objects than numbers, words and
records: what it shares with the rest of a pickle, or what holds it, they alone can tell.
"""

from __future__ import annotations

import io
import pickle
import zlib
from typing import Any

import numpy as np

from ritz._core.bases import BaseEstimator
from ritz._core.errors import FileError

__all__ = ["Packed", "pack", "unpack"]

#: Bytes of an array above which it stands beside what is compressed, as it is; the same of numbers in float64, whose
#: two high bytes, sign and exponent, are compressed, and of what is no such number.
LONG, SHORT = 1 << 21, 1 << 12
#: Bytes of a float64 number that are as good as random.
LOW = 6
#: What stands in most pickles, in that order, for the compression to refer to. A pickle can be read only with the words
#: that it was written with.
TOLD = """\
the smaller side is only |components are wanted: iterating would not pay|one pass forms the |100×100|\
 Gram matrix, whose eigenvectors are the answer|\
the mergeable state, 100×100 numbers, is not kept: the components are smaller|\
float32 then float64|iterative|feature_names_in_|object|library|pandas|polars|chebyshev|lanczos|krylov|refined|rows|\
ritz.data.passes.moments|Moments|shift|offset|scatter|noise|roundoff|lost|scatter_low|offset_low|rounded|whole|\
n_components|center|scale|whiten|missing|error|solver|auto|tol|mergeable|decay|random_state|memory|device|cpu|progress|\
_record|ritz.methods.linear_record|LinearRecord|added_bytes|rows_key|library|dtype|numpy|f4|<|weight|weight_low|mean64|\
numpy._core.numeric|_frombuffer|f8|C|mean_low|scale64|left|filler|state|spare|pending|note|matrix|entry_rounding|\
meanless|mean_slack|seen|seen_values|choice|n_features_in_|components_|made again|explained_variance_|\
explained_variance_ratio_|singular_values_|mean_|scale_|noise_variance_|numpy._core.multiarray|scalar|total_variance_|\
n_components_|n_samples_|certificate_|ritz.spectral.certificate.certificate|Certificate|which|largest|completeness|\
the dense decomposition returns every eigenvalue|ceiling|probability|total|kind|certified|converged|unit_roundoff|\
precision|float32|float64|rounding|passes|seconds|estimate|notes|frame|vectors|F|unit|grounds|k|route|direct|sigma|rest|\
cross|null|positive|given|turned|drawn|mean|values|lower|upper|labelled|b1|residuals|angles|clusters|orthogonality|\
plan_|ritz.spectral.plan|Plan|moments|side|columns|bytes|reasons|actual_passes|actual_seconds|course"""
#: Each as ``pickle`` writes it, with its length, and None behind it.
WORDS = b"".join(b"\x8c" + bytes([len(word)]) + word + b"\x94N" for word in TOLD.strip().encode().split(b"|"))
#: Whose classes and functions a compressed state may name: they are the same wherever it is read, and hold nothing of
#: others. Random streams and models may be shared.
OWN = frozenset({
    "ritz", "numpy", "scipy", "pandas", "polars", "pyarrow", "builtins", "collections", "copyreg", "datetime",
    "decimal", "functools", "pathlib", "pickle", "_pickle",
})  # fmt: skip
SHARED = (BaseEstimator, np.random.RandomState, np.random.Generator)

Packed = tuple[bytes, bytes, list[Any]]


class _Own(pickle.Pickler):
    """A pickler of what belongs to a model alone."""

    def reducer_override(self, value: Any) -> Any:
        """Refuse other objects than those of OWN."""
        module = getattr(value, "__module__", None) or type(value).__module__
        if module.partition(".")[0] not in OWN or isinstance(value, SHARED):
            raise pickle.PicklingError("an object that may be shared")
        return NotImplemented


def pack(state: dict[str, Any]) -> Packed | None:
    """What is told, the numbers, and long arrays; None where whoever pickles must take the state."""
    sizes: list[int] = []
    high, low, long = [], [], []

    def kept(buffer: pickle.PickleBuffer) -> bool:
        raw = buffer.raw()
        if memoryview(buffer).format == "d" and 0 < raw.nbytes <= LONG:
            planes = np.frombuffer(raw, np.uint8).reshape(-1, 8).T
            low.append(planes[:LOW].tobytes())
            high.append(planes[LOW:].tobytes())
            sizes.append(raw.nbytes // 8)
        elif raw.nbytes <= SHORT:
            return True
        else:
            long.append(np.frombuffer(raw, np.uint8))
            sizes.append(0)
        return False

    stream = io.BytesIO()
    try:
        _Own(stream, protocol=5, buffer_callback=kept).dump(state)
    except Exception:  # noqa: BLE001 — whoever pickles may know how to, or says what is wrong
        return None
    held = stream.getvalue()
    narrow, frequent = zlib.compressobj(9, zdict=WORDS), zlib.compressobj(1, strategy=zlib.Z_HUFFMAN_ONLY)
    told = narrow.compress(pickle.dumps(sizes)) + narrow.compress(held) + narrow.flush()
    return told, frequent.compress(b"".join(high)) + frequent.flush() + b"".join(low), long


def unpack(told: bytes, numbers: bytes, long: list[Any]) -> dict[str, Any]:
    """What ``pack`` was given."""
    wide, frequent = zlib.decompressobj(zdict=WORDS), zlib.decompressobj()
    try:
        held = wide.decompress(told) + wide.flush()
        high = frequent.decompress(numbers) + frequent.flush()
    except zlib.error as error:
        raise _unread() from error
    low = frequent.unused_data
    if not (wide.eof and frequent.eof) or (8 - LOW) * len(low) != LOW * len(high):
        raise _unread()
    stream, rest, buffers = io.BytesIO(held), iter(long), []
    sizes = pickle.load(stream)
    first = 0
    for n in sizes:
        if not n:
            buffers.append(next(rest))
            continue
        planes = np.empty((8, n), np.uint8)
        planes[:LOW].ravel()[:] = np.frombuffer(low, np.uint8, LOW * n, LOW * first)
        planes[LOW:].ravel()[:] = np.frombuffer(high, np.uint8, (8 - LOW) * n, (8 - LOW) * first)
        buffers.append(planes.T.copy())
        first += n
    state: dict[str, Any] = pickle.load(stream, buffers=buffers)
    return state


def _unread() -> FileError:
    return FileError(
        "a pickle is read by the release of Ritz that wrote it, and whole",
        received="bytes of another release, or damaged ones",
        hint="keep models with ritz.save(model, path): ritz.load(path) reads files of earlier releases",
    )
