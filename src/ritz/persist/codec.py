"""Values of a model as JSON and arrays, and back; nothing in a file can name code to run.

    number, text, None   themselves          tuple, list, dict   {"tuple": […]}, {"list": […]}, {"dict": {…}}
    ndarray              {"array": key}      one of RECORDS      {"record": name, "fields": {…}}
    array of names       {"names": […]}      dtype, scalar       {"dtype": "<f8"}, {"scalar": […]}
    kernel               {"kernel": {…}}     sparse matrix       {"csr": {…}}
    slice                {"slice": […]}

Only the record types listed here are ever built. What belongs to a process and not to a model (a generator, a
progress function) is written as nothing and comes back as None.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

from ritz._core.errors import FileError, ParameterError
from ritz.data.categories import Variable, Vocabulary
from ritz.data.contingency import Counts
from ritz.data.encode import Encoder
from ritz.data.encode.fill import Fill
from ritz.data.moments import Moments
from ritz.kernels.base import Kernel
from ritz.kernels.rows import is_sparse
from ritz.project.incomplete import Filler
from ritz.spectral.certificate import Certificate
from ritz.spectral.plan import Plan

__all__ = ["RECORDS", "decode", "encode"]

RECORDS: dict[str, type[Any]] = {
    cls.__name__: cls for cls in (Certificate, Counts, Encoder, Fill, Filler, Moments, Plan, Variable, Vocabulary)
}


def encode(value: Any, arrays: dict[str, np.ndarray], key: str) -> Any:
    """``value`` as JSON; its arrays go to ``arrays`` under names that begin with ``key``."""
    if isinstance(value, (np.generic, np.dtype, np.ndarray)):
        return _encode_numpy(value, arrays, key)
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (tuple, list)):
        items = [encode(item, arrays, f"{key}.{i}") for i, item in enumerate(value)]
        return {"tuple" if isinstance(value, tuple) else "list": items}
    if isinstance(value, dict) and all(isinstance(name, str) for name in value):
        return {"dict": {name: encode(item, arrays, f"{key}.{name}") for name, item in value.items()}}
    if type(value).__name__ in RECORDS and dataclasses.is_dataclass(value):
        fields = {f.name: getattr(value, f.name) for f in dataclasses.fields(value) if f.init}
        held = {name: encode(item, arrays, f"{key}.{name}") for name, item in fields.items()}
        return {"record": type(value).__name__, "fields": held}
    if isinstance(value, Kernel):
        return {"kernel": value.to_dict()}
    if isinstance(value, slice):
        return {"slice": [encode(end, arrays, key) for end in (value.start, value.stop, value.step)]}
    if is_sparse(value):
        return _encode_sparse(value, arrays, key)
    if isinstance(value, (np.random.Generator, np.random.RandomState)) or callable(value):
        return None
    raise ParameterError(
        "expected a model whose values can be saved",
        received=f"{key} of type {type(value).__name__}",
        hint="use plain values",
    )


def _encode_numpy(value: Any, arrays: dict[str, np.ndarray], key: str) -> Any:
    if isinstance(value, np.dtype):
        return {"dtype": value.str}
    if isinstance(value, np.generic):
        return {"scalar": [value.dtype.str, value.item()]}
    if value.dtype.kind in "OU" and all(isinstance(name, str) for name in value.tolist()):
        return {"names": value.tolist()}
    arrays[key] = value
    return {"array": key}


def _encode_sparse(value: Any, arrays: dict[str, np.ndarray], key: str) -> Any:
    rows = value.tocsr()
    parts = {name: encode(getattr(rows, name), arrays, f"{key}.{name}") for name in ("data", "indices", "indptr")}
    return {"csr": {**parts, "shape": [int(side) for side in rows.shape]}}


def _decode_sparse(content: dict[str, Any], arrays: dict[str, np.ndarray], source: str) -> Any:
    from scipy.sparse import csr_array

    parts = tuple(decode(content[name], arrays, source) for name in ("data", "indices", "indptr"))
    return csr_array(parts, shape=tuple(int(side) for side in content["shape"]))


def decode(value: Any, arrays: dict[str, np.ndarray], source: str) -> Any:
    """The value that ``encode`` was given; ``source`` names the file for messages."""
    if not isinstance(value, dict):
        return value
    if len(value) == 1:
        ((kind, content),) = value.items()
        reader = READERS.get(kind)
        if reader is not None:
            try:
                return reader(content, arrays, source)
            except (TypeError, ValueError, KeyError, AttributeError) as error:
                raise _damaged(source, f"{kind!r}: {error}") from error
    if set(value) == {"record", "fields"} and value["record"] in RECORDS:
        fields = {name: decode(item, arrays, source) for name, item in value["fields"].items()}
        try:
            return RECORDS[value["record"]](**fields)
        except TypeError as error:
            raise _damaged(source, f"a {value['record']} with other fields") from error
    raise _damaged(source, f"an entry of unknown kind {sorted(value)[:3]}")


def _decode_kernel(content: Any, *_: Any) -> Kernel:
    try:
        return Kernel.from_dict(content)
    except ParameterError as error:
        raise ValueError(str(error)) from error


READERS: dict[str, Callable[[Any, dict[str, np.ndarray], str], Any]] = {
    "array": lambda content, arrays, _: arrays[content],
    "csr": _decode_sparse,
    "dict": lambda content, arrays, source: {k: decode(v, arrays, source) for k, v in content.items()},
    "dtype": lambda content, *_: np.dtype(str(content)),
    "kernel": _decode_kernel,
    "list": lambda content, arrays, source: [decode(item, arrays, source) for item in content],
    "names": lambda content, *_: np.asarray([str(name) for name in content], dtype=object),
    "scalar": lambda content, *_: np.dtype(str(content[0])).type(content[1]),
    "slice": lambda content, arrays, source: slice(*(decode(end, arrays, source) for end in content)),
    "tuple": lambda content, arrays, source: tuple(decode(item, arrays, source) for item in content),
}


def _damaged(source: str, received: str) -> FileError:
    return FileError(
        f"expected {source} to hold a model that this release knows",
        received=received,
        hint="save the model again, or install the release that wrote it",
    )
