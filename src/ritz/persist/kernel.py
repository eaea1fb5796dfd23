"""A fitted KernelPCA as plain values, and back.

    kernel      by to_dict, so one that is a Python function refuses
    rows        the training rows or landmarks once; what tiles need is prepared from them again, by the same shift
    map         dual (n, k), row means and grand mean; or mean and axes of explicit features

What only saves time (known rows of pre-images, a fitted regression) is left out and made again when it is needed.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ritz.kernels.base import Kernel, Prepared
from ritz.kernels.callables import Callable
from ritz.methods.kernel_pca import KernelPCA
from ritz.project.kernel import FeatureMapped, KernelMap

__all__ = ["fitted_values", "restore"]

#: Fitted names that are made again.
DERIVED = ("_preimage", "_score_ridge", "_solved_map")


def fitted_values(model: KernelPCA) -> dict[str, Any]:
    """What a file must hold of a fitted model, besides its parameters."""
    if callable(model.kernel) and not isinstance(model.kernel, Kernel):
        Callable(model.kernel).to_dict()  # refuses, with a hint
    model.kernel_.to_dict()
    params = model.get_params(deep=False)
    held = {name: value for name, value in vars(model).items() if name not in params and name not in DERIVED}
    return held | {"_solved_map": _described(vars(model)["_solved_map"])}


def restore(model: KernelPCA) -> None:
    """Turn the description of the map of a loaded model into the map."""
    kernel, state = model.kernel_, vars(model)["_solved_map"]
    if state["kind"] == "features":
        features = kernel.feature_map(model.X_fit_)
        if features is None:
            raise ValueError(f"{kernel!r} has no explicit features")
        held: Any = FeatureMapped(kernel, features, state["mean"], state["axes"], state["values"])
    else:
        rows = _prepared(kernel, model.X_fit_, state["dtype"], state["like"])
        parts = {name: state[name] for name in ("dual", "row_means", "grand", "values", "weights")}
        held = KernelMap(kernel, rows, **parts)
    model.__dict__["_solved_map"] = held


def _described(held: Any) -> dict[str, Any]:
    if isinstance(held, FeatureMapped):
        return {"kind": "features", "mean": held.mean, "axes": held.axes, "values": held.values}
    parts = {name: getattr(held, name) for name in ("dual", "row_means", "grand", "values", "weights")}
    return {"kind": "kernel", "dtype": held.rows.dtype, "like": _frame(held.rows), **parts}


def _frame(rows: Prepared) -> dict[str, Any]:
    """What rows were prepared by, without the rows: the shift of each kernel inside."""
    inner = {name: _frame(part) for name, part in rows.rows.items() if isinstance(part, Prepared)}
    plain = rows.kernel.takes == "vectors"
    return {"shared": dict(rows.shared) if plain else {}, "inner": inner}


def _prepared(kernel: Kernel, rows: Any, dtype: np.dtype[Any], frame: dict[str, Any]) -> Prepared:
    if kernel.takes != "vectors":
        return kernel.prepare(rows, dtype=dtype)
    return kernel.prepare(rows, dtype=dtype, like=_stub(kernel, dtype, frame))


def _stub(kernel: Kernel, dtype: np.dtype[Any], frame: dict[str, Any]) -> Prepared:
    """Prepared rows without rows, for others to be prepared like."""
    parts = {name: _stub(getattr(kernel, PARTS[name]), dtype, part) for name, part in frame["inner"].items()}
    return Prepared(kernel, 0, dtype, parts, frame["shared"])


#: The attribute of a combined kernel that a part of its prepared rows belongs to.
PARTS = {"left": "left", "right": "right", "inner": "kernel"}
