"""Pickles of models without what they hold twice: axes that the certificate holds as vectors, means in two precisions.

    components_ = Vᵀ,  mean_ = fl(mean64)        V (d×k) and mean64 (d) are pickled, the others made of them again

Only what comes back bit for bit is left out: a model whose components were changed by hand is pickled whole.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from ritz._core.frozen import changed

__all__ = ["getstate", "setstate"]

#: Where a pickle says which of the names are to be made again, and in which precision.
LEFT_OUT = "_left_out"


def getstate(model: Any) -> dict[str, Any]:
    """What is pickled of a model."""
    state = dict(BaseEstimator.__getstate__(model))
    certificate, record = state.get("certificate_"), state.get("_record")
    frame = getattr(certificate, "frame", {})
    left_out = {}
    for name, source in (("components_", frame.get("vectors")), ("mean_", getattr(record, "mean64", None))):
        held = state.get(name)
        if type(held) is np.ndarray and type(source) is np.ndarray and _same(held, _made(source, held.dtype)):
            left_out[name] = held.dtype
    if not left_out:
        return state
    if "mean_" in left_out and frame.get("mean") is state["mean_"]:
        state["certificate_"] = changed(certificate, frame={**frame, "mean": LEFT_OUT})
    for name in left_out:
        del state[name]
    return state | {LEFT_OUT: left_out}


def setstate(model: Any, state: dict[str, Any]) -> None:
    """Take over what was pickled."""
    state = dict(state)
    left_out = state.pop(LEFT_OUT, None) or {}
    if "components_" in left_out:
        state["components_"] = _made(state["certificate_"].frame["vectors"], left_out["components_"])
    if "mean_" in left_out:
        state["mean_"] = _made(state["_record"].mean64, left_out["mean_"])
        if isinstance(state["certificate_"].frame.get("mean"), str):
            frame = {**state["certificate_"].frame, "mean": state["mean_"]}
            state["certificate_"] = changed(state["certificate_"], frame=frame)
    BaseEstimator.__setstate__(model, state)


def _made(source: np.ndarray, dtype: Any) -> np.ndarray:
    return np.array(source.T, dtype, order="C")


def _same(a: np.ndarray, b: np.ndarray) -> bool:
    return a.shape == b.shape and a.flags.c_contiguous and a.tobytes() == b.tobytes()
