"""Pickles of models in few bytes, without what they hold twice: axes that a certificate holds as vectors, for instance.

    pickle = (class, what ``packed.py`` makes of the state)
    components_ = Vᵀ,  mean_ = fl(mean64)        V (d×k) and mean64 (d) are pickled, the others made of them again

Only what comes back bit for bit is left out: a model whose components were changed by hand is pickled whole. A moment
state that was kept only because it is small is left out where a pickle with it would be more than twice as long as one
of scikit-learn; a copy in memory keeps it.
"""

from __future__ import annotations

import math
from copy import deepcopy
from dataclasses import replace
from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np

from ritz._core.bases import BaseEstimator
from ritz._core.frozen import Deriving, changed

if TYPE_CHECKING:
    from ritz.methods.packed import Packed

__all__ = ["copied", "deep_copied", "getstate", "reduced", "setstate", "unpacked"]

#: What stands in a pickle, with a precision, for an array that is made again.
LEFT_OUT = "made again"
#: Bytes of a pickle of scikit-learn's TruncatedSVD beside its numbers, less half of those that a call takes in one of
#: Ritz; of PCA, which has a mean, so many more.
FIXED, MORE = 490, 150


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
    from ritz.methods.packed import pack  # which most fits do without

    record: Any = state.get("_record")
    packed = pack(state)
    if getattr(record, "spare", None) and _bytes_of(packed) > _room(model):
        state = {**state, "_record": replace(record, state=None, spare=False)}
        packed = None if packed is None else pack(state)
    return (made, given, state) if packed is None else (unpacked, (kind, *packed))


def unpacked(kind: type, told: bytes, numbers: bytes, long: list[Any]) -> Any:
    """The model of a pickle."""
    from ritz.methods.packed import unpack

    model: Any = object.__new__(kind)
    model.__setstate__(unpack(told, numbers, long))
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


def _room(model: Any) -> float:
    """Bytes that the pickle of a model may take that nobody asked for more."""
    names = ("components_", "explained_variance_", "explained_variance_ratio_", "singular_values_", "mean_")
    numbers = [value for name in names if isinstance(value := vars(model).get(name), np.ndarray)]
    fixed = FIXED + MORE if "mean_" in vars(model) else FIXED
    return float(2 * (fixed + sum(array.nbytes for array in numbers)))


def _bytes_of(packed: Packed | None) -> float:
    return math.inf if packed is None else sum(len(part) for part in (*packed[:2], *packed[2]))
