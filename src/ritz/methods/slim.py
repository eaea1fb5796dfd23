"""Pickles of models in few bytes, without what they hold twice: axes that a certificate holds as vectors, for instance.

    pickle = (class, compressed(names, records, high bytes of numbers), low bytes of numbers, long arrays)
    components_ = Vᵀ,  mean_ = fl(mean64)        V (d×k) and mean64 (d) are pickled, the others made of them again

Only what comes back bit for bit is left out: a model whose components were changed by hand is pickled whole. A
certificate and a plan are mostly words, which take more bytes than the numbers of a small model, so they are
compressed; long arrays are left to whoever pickles, who may map or send them without a copy. A model that holds other
objects than numbers, words and records is left to them whole: what it shares with the rest of a pickle, or what holds
it, they alone can tell. A moment state that was kept only because it is small is left out where a pickle with it would
be more than twice as long as one of scikit-learn; a copy in memory keeps it.
"""

from __future__ import annotations

import io
import math
import pickle
import zlib
from copy import deepcopy
from dataclasses import replace
from typing import Any, SupportsIndex

import numpy as np

from ritz._core.bases import BaseEstimator
from ritz._core.errors import FileError
from ritz._core.frozen import Deriving, changed

__all__ = ["copied", "deep_copied", "getstate", "reduced", "setstate", "unpacked"]

#: What stands in a pickle, with a precision, for an array that is made again.
LEFT_OUT = "made again"
#: Bytes of an array above which it stands beside what is compressed, as it is; the same of numbers in float64, whose
#: two high bytes, sign and exponent, are compressed, and of what is no such number.
LONG, SHORT = 1 << 21, 1 << 12
#: Bytes of a float64 number that are as good as random.
LOW = 6
#: Bytes of a pickle of scikit-learn's TruncatedSVD beside its numbers, less half of those that a call takes in one of
#: Ritz; of PCA, which has a mean, so many more.
FIXED, MORE = 490, 150
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


def getstate(model: Any) -> dict[str, Any]:
    """What is pickled of a model."""
    state = dict(BaseEstimator.__getstate__(model))
    certificate, record = state.get("certificate_"), state.get("_record")
    frame = getattr(certificate, "frame", {})
    for name, source in (("components_", frame.get("vectors")), ("mean_", getattr(record, "mean64", None))):
        held = state.get(name)
        if type(held) is not np.ndarray or type(source) is not np.ndarray or not _same(held, _made(source, held.dtype)):
            continue
        state[name] = (LEFT_OUT, held.dtype)
        if isinstance(certificate, Deriving):
            certificate.derive()  # in the model, or every pickle would derive it again in the copy that is made here
        if name == "mean_" and frame.get("mean") is held:
            state["certificate_"] = changed(certificate, frame={**frame, "mean": state[name]})
    return state


def setstate(model: Any, state: dict[str, Any]) -> None:
    """Take over what was pickled."""
    state = dict(state)
    certificate: Any = state.get("certificate_")
    record: Any = state.get("_record")
    if _left_out(state.get("components_")):
        state["components_"] = _made(certificate.frame["vectors"], state["components_"][1])
    if _left_out(state.get("mean_")):
        state["mean_"] = _made(record.mean64, state["mean_"][1])
        if _left_out(certificate.frame.get("mean")):
            state["certificate_"] = changed(certificate, frame={**certificate.frame, "mean": state["mean_"]})
    BaseEstimator.__setstate__(model, state)


def reduced(model: Any, protocol: SupportsIndex) -> Any:
    """What ``pickle`` calls for a model."""
    plain: Any = object.__reduce_ex__(model, max(2, int(protocol)))
    kind = type(model)
    if kind.__reduce__ is not object.__reduce__:
        return plain
    made, given, state, *items = plain
    if type(state) is not dict or given != (kind,) or any(item is not None for item in items):
        return plain  # a class of somebody else, with a state or a ``__new__`` of its own
    record: Any = state.get("_record")
    packed = _packed(state)
    if getattr(record, "spare", None) and _bytes_of(packed) > _room(model):
        state = {**state, "_record": replace(record, state=None, spare=False)}
        packed = None if packed is None else _packed(state)
    return (made, given, state) if packed is None else (unpacked, (kind, *packed))


def unpacked(kind: type, told: bytes, numbers: bytes, long: list[Any]) -> Any:
    """The model of a pickle."""
    model: Any = object.__new__(kind)
    model.__setstate__(_unpacked(told, numbers, long))
    return model


def copied(model: Any) -> Any:
    """A shallow copy, with the same arrays."""
    plain: Any = object.__reduce_ex__(model, 4)
    made, given, state = (*plain, None)[:3]
    other = made(*given)
    if state is not None:
        other.__setstate__(state)
    return other


def deep_copied(model: Any, memo: dict[int, Any]) -> Any:
    """A copy that shares nothing, with the state."""
    plain: Any = object.__reduce_ex__(model, 4)
    made, given, state = (*plain, None)[:3]
    other = memo[id(model)] = made(*deepcopy(given, memo))
    if state is not None:
        other.__setstate__(deepcopy(state, memo))
    return other


def _left_out(value: Any) -> bool:
    return type(value) is tuple and len(value) == 2 and value[0] == LEFT_OUT


def _made(source: np.ndarray, dtype: Any) -> np.ndarray:
    return np.array(source.T, dtype, order="C")


def _same(a: np.ndarray, b: np.ndarray) -> bool:
    return a.shape == b.shape and a.flags.c_contiguous and a.tobytes() == b.tobytes()


class _Own(pickle.Pickler):
    """A pickler of what belongs to a model alone."""

    def reducer_override(self, value: Any) -> Any:
        """Refuse other objects than those of OWN."""
        module = getattr(value, "__module__", None) or type(value).__module__
        if module.partition(".")[0] not in OWN or isinstance(value, SHARED):
            raise pickle.PicklingError("an object that may be shared")
        return NotImplemented


def _packed(state: dict[str, Any]) -> tuple[bytes, bytes, list[Any]] | None:
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


def _unpacked(told: bytes, numbers: bytes, long: list[Any]) -> dict[str, Any]:
    """What ``_packed`` was given."""
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


def _room(model: Any) -> float:
    """Bytes that the pickle of a model may take that nobody asked for more."""
    names = ("components_", "explained_variance_", "explained_variance_ratio_", "singular_values_", "mean_")
    numbers = [value for name in names if isinstance(value := vars(model).get(name), np.ndarray)]
    fixed = FIXED + MORE if "mean_" in vars(model) else FIXED
    return float(2 * (fixed + sum(array.nbytes for array in numbers)))


def _bytes_of(packed: tuple[bytes, bytes, list[Any]] | None) -> float:
    return math.inf if packed is None else sum(len(part) for part in (*packed[:2], *packed[2]))
