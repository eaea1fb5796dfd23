"""Values of a model as JSON and arrays, and back; nothing in a file can name code to run.

    text, finite number, truth, None   themselves      nan, inf, -inf      {"float": "nan"}
    list, tuple, dict                  {"list": […]}, {"tuple": […]}, {"dict": {…}}
    ndarray                            {"array": key}, {"columns": key} where it lay column by column
    array of names                     {"names": […]}; long ones, and long lists of texts: {"texts": [as, key]}
    dtype, NumPy scalar, slice         {"dtype": "<f8"}, {"scalar": ["<f4", 0.5]}, {"slice": […]}
    sparse matrix, kernel, day or time {"csr": {…}}, {"kernel": {…}}, {"time": "2024-05-01T12:00:00"}
    rules for words and their weights  {"rule": [name, parameters]}
    one of RECORDS                     {"record": name, "fields": {…}}

Only the record types listed here are ever built, and each is looked at by ``ritz.persist.checks`` before it is used.
Memory order is kept, because BLAS rounds differently by rows and by columns. What belongs to a process and not to a
model (a generator, a progress function) is written as nothing and comes back as None.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
import math
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from ritz._core.container import DTYPES
from ritz._core.errors import FileError, ParameterError, RitzError
from ritz._core.imports import module_of
from ritz.kernels.base import Kernel
from ritz.kernels.rows import is_sparse
from ritz.persist.checks import check_record
from ritz.persist.functions import describe_kernel

__all__ = ["DAMAGE", "RECORDS", "Decoder", "Encoded", "damaged"]

#: Types of records and the modules that they are loaded from when one is met.
RECORDS = {
    "Certificate": "ritz.spectral.certificate.certificate",
    "Counts": "ritz.data.tables.contingency",
    "Directions": "ritz.data.streams.directions",
    "Encoder": "ritz.data.encode.encoder",
    "Energies": "ritz.methods.lsi.drift",
    "Fill": "ritz.data.encode.fill",
    "Filler": "ritz.project.incomplete",
    "KeptRows": "ritz.data.passes.kept_rows",
    "Language": "ritz.text.language",
    "Moments": "ritz.data.passes.moments",
    "Plan": "ritz.spectral.plan",
    "Sketched": "ritz.data.streams.sketched",
    "Sums": "ritz.text.sums",
    "TensorCertificate": "ritz.methods.tensors.certificate",
    "Variable": "ritz.data.encode.vocabulary",
    "Vocabulary": "ritz.data.encode.vocabulary",
}
RULES = {"Words": "ritz.text.words", "Weighting": "ritz.text.weights"}
#: Values inside values at most: a model needs about ten.
DEPTH = 40
#: Texts from which on a list of them is held as an array.
MANY = 64
SPECIAL = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
#: What hostile values make Python raise while they are put together.
DAMAGE = (ArithmeticError, AssertionError, AttributeError, LookupError, RecursionError, TypeError, ValueError)


class Encoded:
    """Arrays of a file in the making; an array that is met twice is written once."""

    def __init__(self) -> None:
        self.arrays: dict[str, np.ndarray] = {}
        self._known: dict[Any, Any] = {}

    def value(self, value: Any, key: str) -> Any:
        """``value`` as JSON; its arrays are kept under names that begin with ``key``."""
        if isinstance(value, (np.generic, np.dtype, np.ndarray)) and not isinstance(value, str):
            return self._numpy(value, key)
        if isinstance(value, float) and not math.isfinite(value):
            return {"float": str(float(value))}
        if value is None or isinstance(value, (bool, int, float, str)):
            return str(value) if isinstance(value, str) else value
        if isinstance(value, (tuple, list)):
            form = "tuple" if isinstance(value, tuple) else "list"
            if len(value) >= MANY and all(isinstance(item, str) for item in value):
                return self._texts(form, list(value), key)
            return {form: [self.value(item, f"{key}.{i}") for i, item in enumerate(value)]}
        if isinstance(value, dict) and all(isinstance(name, str) for name in value):
            return {"dict": {name: self.value(item, f"{key}.{name}") for name, item in value.items()}}
        return self._object(value, key)

    def _object(self, value: Any, key: str) -> Any:
        name = type(value).__name__
        if name in RECORDS and dataclasses.is_dataclass(value):
            fields = {f.name: getattr(value, f.name) for f in dataclasses.fields(value) if f.init}
            return {"record": name, "fields": {n: self.value(item, f"{key}.{n}") for n, item in fields.items()}}
        if isinstance(value, Kernel):
            return {"kernel": describe_kernel(value)}
        if any(isinstance(value, getattr(sys.modules.get(module), rule, ())) for rule, module in RULES.items()):
            told = value.parameters() if hasattr(value, "parameters") else value.get_params()
            return {"rule": {"list": [name, self.value(told, key)]}}
        if isinstance(value, slice):
            return {"slice": [self.value(end, key) for end in (value.start, value.stop, value.step)]}
        if is_sparse(value):
            rows = value.tocsr()
            parts = {name: self.value(getattr(rows, name), f"{key}.{name}") for name in ("data", "indices", "indptr")}
            return {"csr": {**parts, "shape": [int(side) for side in rows.shape]}}
        if isinstance(value, (dt.datetime, dt.date)):
            return {"time": value.isoformat()}
        if isinstance(value, (np.random.Generator, np.random.RandomState)) or callable(value):
            return None
        raise ParameterError(
            "expected a model whose values can be saved",
            received=f"{key} of type {name}",
            hint="use plain values: numbers, texts, lists, dictionaries with texts as keys, arrays of numbers",
        )

    def _numpy(self, value: Any, key: str) -> Any:
        if isinstance(value, np.dtype):
            return {"dtype": value.str}
        if isinstance(value, np.generic):
            if value.dtype.newbyteorder("<").str not in DTYPES:
                return self.value(value.item(), key)
            return {"scalar": [value.dtype.newbyteorder("<").str, self.value(value.item(), key)]}
        if value.dtype.kind in "OU" and value.ndim == 1 and all(isinstance(name, str) for name in value.tolist()):
            names = [str(name) for name in value.tolist()]
            return self._texts("names", names, key) if len(names) >= MANY else {"names": names}
        if id(value) not in self._known:
            turned = value.flags.f_contiguous and not value.flags.c_contiguous
            self._known[id(value)] = {"columns" if turned else "array": self._keep(value.T if turned else value, key)}
            self._known[id(value), "held"] = value  # an id means its object only as long as that lives
        return self._known[id(value)]

    def _texts(self, form: str, texts: list[str], key: str) -> Any:
        try:
            coded = [text.encode() for text in texts]
        except UnicodeEncodeError as error:
            raise ParameterError("expected texts that can be written as UTF-8", received=f"{key}: {error}") from error
        joined = np.frombuffer(b"".join(coded), np.uint8)
        ends = np.cumsum([len(text) for text in coded], dtype=np.int64)
        first = self._keep(joined, key)
        self.arrays[f"{first} ends"] = ends
        return {"texts": [form, first]}

    def _keep(self, array: np.ndarray, key: str) -> str:
        name, again = key, 1
        while name in self.arrays:  # "a.b" of "c" and "a" of "b.c" are spelled alike
            again += 1
            name = f"{key} {again}"
        self.arrays[name] = array
        return name


class Decoder:
    """Values of a file.

    Parameters
    ----------
    arrays
        By name.
    source
        Name of the file, for messages.
    kernel
        Gives the kernel that a description means.
    """

    def __init__(self, arrays: dict[str, np.ndarray], source: str, kernel: Callable[[Any], Kernel]) -> None:
        self.arrays, self.source, self._kernel = arrays, source, kernel
        self._depth = 0

    def value(self, value: Any) -> Any:
        """The value that was encoded."""
        if not isinstance(value, dict):
            if isinstance(value, list):
                raise damaged(self.source, "a list that does not say what it is")
            return value
        self._depth += 1
        try:
            if self._depth > DEPTH:
                raise damaged(self.source, f"more than {DEPTH} values inside each other")
            return self._read(value)
        finally:
            self._depth -= 1

    def _read(self, value: dict[str, Any]) -> Any:
        kind = next(iter(value)) if len(value) == 1 else "record" if set(value) == {"record", "fields"} else ""
        reader = getattr(self, f"_{READERS[kind]}", None) if kind in READERS else None
        if kind == "record" and not (isinstance(value.get(kind), str) and value[kind] in RECORDS):
            reader = None
        if reader is None:
            raise damaged(self.source, f"an entry of unknown kind {', '.join(map(repr, sorted(value)[:3]))[:80]}")
        try:
            return reader(value if kind == "record" else value[kind])
        except FileError:
            raise
        except (*DAMAGE, RitzError) as error:
            raise damaged(self.source, f"{kind!r}: {str(error).splitlines()[0][:120] if str(error) else ''}") from error

    def _number(self, content: Any) -> float:
        return SPECIAL[content]

    def _array(self, content: Any) -> Any:
        return self.arrays[content]

    def _columns(self, content: Any) -> Any:
        return self.arrays[content].T

    def _list(self, content: Any) -> list[Any]:
        return [self.value(item) for item in _plain(content, list)]

    def _tuple(self, content: Any) -> tuple[Any, ...]:
        return tuple(self._list(content))

    def _dict(self, content: Any) -> dict[str, Any]:
        return {name: self.value(item) for name, item in _plain(content, dict).items()}

    def _names(self, content: Any) -> np.ndarray:
        names = np.empty(len(_plain(content, list)), dtype=object)
        names[:] = [_plain(name, str) for name in content]
        return names

    def _texts(self, content: Any) -> Any:
        form, key = _plain(content, list)
        joined, ends = self.arrays[key], self.arrays[f"{key} ends"]
        if joined.dtype != np.uint8 or ends.dtype != np.int64 or joined.ndim != 1 or ends.ndim != 1:
            raise ValueError("texts that are not stored as bytes")
        starts = np.concatenate([[0], ends[:-1]])
        if len(ends) and (bool(np.any(starts > ends)) or int(starts.min()) < 0 or int(ends[-1]) != len(joined)):
            raise ValueError("texts that do not end where their bytes end")
        data = joined.tobytes()
        texts = [data[a:b].decode() for a, b in zip(starts.tolist(), ends.tolist(), strict=True)]
        return self._names(texts) if form == "names" else {"list": list, "tuple": tuple}[form](texts)

    def _dtype(self, content: Any) -> np.dtype[Any]:
        if content not in DTYPES:
            raise ValueError(f"a type {str(content)[:20]!r}")
        return np.dtype(content)

    def _scalar(self, content: Any) -> Any:
        code, number = _plain(content, list)
        plain = self.value(number)
        if not isinstance(plain, (bool, int, float)):
            raise TypeError("a scalar that is not a number")
        with np.errstate(over="ignore"):  # a float16 of 1e300 is infinite
            return self._dtype(code).type(plain)

    def _slice(self, content: Any) -> slice:
        return slice(*(self.value(end) for end in _plain(content, list)))

    def _csr(self, content: Any) -> Any:
        from scipy.sparse import csr_array

        data, indices, indptr = (self.value(content[name]) for name in ("data", "indices", "indptr"))
        if any(places.dtype.kind != "i" for places in (indices, indptr)) or data.dtype.kind not in "fiub":
            raise TypeError("sparse rows whose places are no whole numbers")
        if data.ndim != 1 or data.shape != indices.shape:
            raise ValueError("sparse rows with more or fewer places than entries")
        matrix = csr_array((data, indices, indptr), shape=tuple(_plain(side, int) for side in content["shape"]))
        matrix.check_format(full_check=True)  # compiled code trusts places; a file may not be trusted
        return matrix

    def _time(self, content: Any) -> Any:
        form = dt.datetime if "T" in content else dt.date
        return form.fromisoformat(content)

    def _rule(self, content: Any) -> Any:
        name, told = self.value(content)
        return getattr(module_of(RULES[name]), name)(**_plain(told, dict))

    def _function(self, content: Any) -> Kernel:
        return self._kernel(content)

    def _record(self, value: dict[str, Any]) -> Any:
        fields = {name: self.value(item) for name, item in _plain(value["fields"], dict).items()}
        made = record_type(value["record"])(**fields)
        check_record(made)
        return made


#: How each kind is read: the name of a method of Decoder.
READERS = {
    **{
        kind: kind for kind in ("array", "columns", "csr", "dict", "dtype", "list", "names", "record", "rule", "scalar")
    },
    **{kind: kind for kind in ("slice", "texts", "time", "tuple")},
    "float": "number",
    "kernel": "function",
}


def record_type(name: str) -> Any:
    """The type of a record."""
    return getattr(module_of(RECORDS[name]), name)


def _plain(content: Any, kind: type[Any]) -> Any:
    if type(content) is not kind:
        raise TypeError(f"expected {kind.__name__}, received {type(content).__name__}")
    return content


def damaged(source: str, received: str) -> FileError:
    """The refusal of a file whose content is no model."""
    return FileError(
        f"expected {source} to hold a model that this release knows",
        received=received,
        hint="save the model again, or install the release that wrote it",
    )
