"""A fitted KernelPCA as plain values, and back.

    kernel      names and numbers; a Python function by its name
    rows        the training rows or landmarks once; what tiles need is prepared from them again, by the same shift
    map         dual (n, k), row means and grand mean; or mean and axes of explicit features

What only saves time (known rows of pre-images, a fitted regression) is left out and made again when it is needed.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ritz.kernels.base import Kernel, Prepared
from ritz.kernels.callables import Callable
from ritz.persist.functions import Functions, check_function, describe_kernel, name_of
from ritz.project.kernel import FeatureMapped, KernelMap

__all__ = ["described_map", "functions_of", "restored_map"]

#: What a map is made of, beside the kernel and its rows.
MAPPED = ("dual", "row_means", "grand", "values", "weights")
#: The attribute of a combined kernel that a part of its prepared rows belongs to.
PARTS = {"left": "left", "right": "right", "inner": "kernel"}


def functions_of(model: Any) -> list[str]:
    """Names of the Python functions in the kernel, which a file cannot hold."""
    names: list[str] = []

    def look(state: Any) -> None:
        if isinstance(state, dict):
            if state.get("name") == "Callable":
                names.append(str(state["function"]))
            for inner in state.values():
                look(inner)

    look(describe_kernel(model.kernel_))
    if callable(model.kernel) and not isinstance(model.kernel, Kernel):
        names.append(name_of(model.kernel))
    return list(dict.fromkeys(names))


def restored_map(values: dict[str, Any], functions: Functions) -> KernelMap | FeatureMapped:
    """The map of a model, from the values of a file, which hold a description of it."""
    kernel, state, X, k = values["kernel_"], values["_solved_map"], values["X_fit_"], int(values["n_components_"])
    if not isinstance(kernel, Kernel) or not isinstance(state, dict):
        raise TypeError("a kernel model without its kernel")
    _same_rows(kernel, X, values.get("n_features_in_"))
    if state["kind"] == "features":
        features = kernel.feature_map(X)
        if features is None:
            raise ValueError(f"{kernel!r} has no explicit features")
        state.setdefault("low", None)  # files of earlier releases have none
        _sides(state, mean=(features.size,), axes=(features.size, k), values=(k,), low=(features.size,))
        return FeatureMapped(kernel, features, state["mean"], state["axes"], state["values"], low=state["low"])
    rows = _prepared(kernel, X, state["dtype"], state["like"])
    _sides(state, dual=(rows.n, k), row_means=(rows.n,), values=(k,), weights=(rows.n,))
    if not isinstance(state["grand"], (float, np.floating)):
        raise TypeError("a kernel map whose grand mean is not a number")
    if functions.used:
        check_function(kernel, X, state["row_means"], state["weights"], functions.source)
    return KernelMap(kernel, rows, **{name: state[name] for name in MAPPED})


def _same_rows(kernel: Kernel, X: Any, columns: int | None) -> None:
    """The rows that new ones are compared with must be such as the kernel takes."""
    if kernel.takes == "strings":
        if not (isinstance(X, list) and X and all(isinstance(text, (str, tuple)) for text in X)):
            raise TypeError("a kernel of strings without strings")
    elif kernel.takes != "any" or isinstance(kernel, Callable):
        shape = getattr(X, "shape", None)
        if kernel.takes == "any" and shape is None:
            return
        if shape is None or len(shape) != 2 or X.dtype.kind not in "fiub" or not shape[0]:
            raise TypeError("rows that are not numbers")
        if kernel.takes == "vectors" and shape[1] != columns:
            raise ValueError(f"rows of {shape[1]} columns in a model of {columns}")


def _sides(state: dict[str, Any], **wanted: tuple[int, ...]) -> None:
    for name, shape in wanted.items():
        value = state[name]
        if value is None and name in ("weights", "low"):
            continue
        if not isinstance(value, np.ndarray) or value.dtype.kind != "f" or value.shape != shape:
            raise ValueError(f"{name} of shape {getattr(value, 'shape', None)}, not {shape}")
        if not np.isfinite(value).all():
            raise ValueError(f"{name} with numbers that are not finite")


def described_map(step: KernelMap | FeatureMapped) -> dict[str, Any]:
    """The map of a model as plain values, without the rows of the fit."""
    if isinstance(step, FeatureMapped):
        return {"kind": "features", "mean": step.mean, "low": step.low, "axes": step.axes, "values": step.values}
    numbers = {name: getattr(step, name) for name in MAPPED}
    return {"kind": "kernel", "dtype": step.rows.dtype, "like": _frame(step.rows), **numbers}


def _frame(rows: Prepared) -> dict[str, Any]:
    """What rows were prepared by, without the rows: the shift of each kernel inside."""
    inner = {name: _frame(inside) for name, inside in rows.rows.items() if isinstance(inside, Prepared)}
    plain = rows.kernel.takes == "vectors"
    return {"shared": dict(rows.shared) if plain else {}, "inner": inner}


def _prepared(kernel: Kernel, rows: Any, dtype: np.dtype[Any], frame: dict[str, Any]) -> Prepared:
    if dtype not in (np.float32, np.float64):
        raise TypeError("rows in a precision other than float32 and float64")
    if kernel.takes != "vectors":
        return kernel.prepare(rows, dtype=dtype)
    return kernel.prepare(rows, dtype=dtype, like=_stub(kernel, dtype, frame, int(rows.shape[1])))


def _stub(kernel: Kernel, dtype: np.dtype[Any], frame: dict[str, Any], d: int) -> Prepared:
    """Prepared rows without rows, for others to be prepared like."""
    shift = frame["shared"].get("shift")
    if not (shift is None or (isinstance(shift, np.ndarray) and shift.shape == (d,) and shift.dtype.kind == "f")):
        raise ValueError("rows with a shift that is not one row of numbers")
    parts = {name: _stub(getattr(kernel, PARTS[name]), dtype, inside, d) for name, inside in frame["inner"].items()}
    return Prepared(kernel, 0, dtype, parts, frame["shared"])
