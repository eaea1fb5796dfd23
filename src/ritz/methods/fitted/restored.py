"""A fitted model from its parameters and the values that a file holds, the counterpart of ``Fitted.stored``."""

from __future__ import annotations

from collections.abc import Mapping
from inspect import signature
from typing import Any

import numpy as np

from ritz.methods.record import set_values

__all__ = ["checked_parameters", "restored"]


def checked_parameters(cls: type[Any], parameters: Mapping[str, Any]) -> None:
    """Refuse parameters that ``fit`` of this estimator would refuse, and arrays in place of truth values."""
    for name, one in signature(cls).parameters.items():
        if isinstance(one.default, bool) and np.ndim(parameters.get(name, False)):
            raise TypeError(f"a parameter {name} that is neither true nor false")
    if not isinstance(parameters.get("metric_params"), (dict, type(None))):
        raise TypeError("metric_params that are no names and values")
    cls(**parameters)._check_parameters()


def restored(cls: type[Any], parameters: Mapping[str, Any], values: Mapping[str, Any]) -> Any:
    """The fitted model of a class of estimators whose ``stored`` values these are."""
    model = cls(**parameters)
    set_values(model, values)
    return model
