"""Pickles of models without what they hold twice: axes that the certificate holds as vectors, means in two precisions.

    components_ = Vᵀ,  mean_ = fl(mean64)        V (d×k) and mean64 (d) are pickled, the others made of them again

Only what comes back bit for bit is left out: a model whose components were changed by hand is pickled whole.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ritz._core.bases import BaseEstimator
from ritz._core.frozen import Deriving, changed

__all__ = ["getstate", "setstate"]

#: What stands in a pickle, with a precision, for an array that is made again.
LEFT_OUT = "made again"


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


def _left_out(value: Any) -> bool:
    return type(value) is tuple and len(value) == 2 and value[0] == LEFT_OUT


def _made(source: np.ndarray, dtype: Any) -> np.ndarray:
    return np.array(source.T, dtype, order="C")


def _same(a: np.ndarray, b: np.ndarray) -> bool:
    return a.shape == b.shape and a.flags.c_contiguous and a.tobytes() == b.tobytes()
