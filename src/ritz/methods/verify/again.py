"""Everything that a model holds, certificates included, against a second fit that comes to the same place.

A method that looks for a stationary point (sources, parts, networks, maps) may end elsewhere on another machine, and
be as right there. Its numbers are then held against their definitions alone, which its own ``verify`` does; what does
not depend on the place (``always``) is compared in any case, and so is whether a number is one at all.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ritz._core.errors import MissingDependency, RitzError
from ritz.data.words import counted
from ritz.methods.record import value_of, values_of
from ritz.methods.verify.certificates import REACHED, REACHED_TO, alike, certificates_differ, leaves
from ritz.methods.verify.second_fit import LOW, MEANS, mean_off, two_parts

__all__ = ["WEIGHTS", "WEIGHTS_TO", "refound"]

#: Relative differences that another machine may leave.
DOUBLE, SINGLE = 1e-6, 1e-4
#: Names that say how the answer was found, or what the table came in; what is made when it is asked for.
FREE = ("certificate_", "certificates_", "plan_", "n_iter_", "_library", "_note", "_added_bytes", "_rows_key",
        "_preimage", "_score_ridge", "_space", "_pending", "unseen_", "_source")  # fmt: skip
#: Parts of what a model keeps that are costs.
COSTS = {"passes", "seconds", "plan_", "notes"}
#: Names that no place changes.
ALWAYS = (
    "n_samples_", "n_features_in_", "n_components_", "mean_", "scale_", "total_variance_", "total_", "pca_error_",
    "_mean64", "_scale64", "_weight",
)  # fmt: skip
#: Differences of sums, and the share of the whole that rounding leaves of them.
LEFT, LEFT_TO = ("noise_variance_", "_rest_variance", "_rest", "_left"), 1e-9
#: Weights of a network whose rows have unit size, and what rounding leaves of them.
WEIGHTS, WEIGHTS_TO = ("_encoder", "_decoder"), 1e-9


def refound(
    model: Any, fit: Callable[[Any], Any], *, place: Sequence[str] = (), always: Sequence[str] = (),
    certificate: bool = True, vectors: bool = False, possible: bool = True,
) -> list[str]:  # fmt: skip
    """Stored numbers that a second fit does not give, in words.

    ``fit`` is handed an estimator of the same parameters; ``place``: names that tell where a search has ended;
    ``vectors``: they are the vectors of the certificate; ``possible``: that the second fit fails is a finding.
    """
    other = type(model)(**model.get_params(deep=False))
    if getattr(other, "device", "cpu") != "cpu":
        from ritz._core.device import is_there

        other.device = other.device if is_there(other.device) else "cpu"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            made = fit(other)
            other = other if made is None else made
            if (road := _other_road(model, other)) is not None:
                made = fit(road)
                other = road if made is None else made
    except MissingDependency:  # a model can be read where it could not be fitted
        return []
    except (RitzError, ValueError) as error:
        return [] if not possible else [f"the table cannot be fitted again: {str(error).splitlines()[0]}"]
    close = SINGLE if np.dtype(value_of(model, "_dtype", np.float64)) == np.float32 else DOUBLE
    mine, theirs = (dict(_held(one)) for one in (model, other))
    same = _basis(model, other, close)
    there = all(alike(mine[name], theirs[name], close) for name in place if name in mine and name in theirs)
    same = there if vectors and place else same
    k, words = len(model.certificate_.values), two_parts(model, other)
    for name in sorted(mine.keys() & theirs.keys()):
        a, b = np.asarray(mine[name]), np.asarray(theirs[name])
        if name in LOW:
            continue
        if _lost(a, b):
            words.append(f"{name} holds what is no number")
        free = (not there and name not in (*ALWAYS, *always)) or (not same and k in a.shape)
        if not free and not alike(a, b, close, _slack(model, name)):
            words.append(f"{name} is not what a second fit gives")
    if certificate and there:
        direct = getattr(other.plan_, "solver", "svd") in ("svd", "moments")
        words += certificates_differ(model.certificate_, other.certificate_, close, same, direct)
    inside = [word for word in words if word.startswith("_")]
    told = [word for word in words if word not in inside][:5]
    return (
        [*told, f"{counted(len(inside), 'number')} inside the model: not what a second fit gives"] if inside else told
    )


def _other_road(model: Any, other: Any) -> Any:
    """An estimator that takes the road of the model, where a second fit was planned otherwise: memory may be short."""
    params = model.get_params(deep=False)
    mine, theirs = (getattr(getattr(one, "plan_", None), "solver", None) for one in (model, other))
    if params.get("solver") != "auto" or mine is None or mine == theirs:
        return None
    params["solver"] = mine
    if "device" in params:
        params["device"] = other.device
    return type(model)(**params)


def _slack(model: Any, name: str) -> Any:
    if name in REACHED:
        return REACHED_TO
    if name in MEANS:
        return mean_off(model)
    if name in LEFT:
        whole = float(getattr(model, "total_variance_", 0.0))
        return LEFT_TO * whole if np.isfinite(whole) else 0.0
    return WEIGHTS_TO if name.split(".")[0] in WEIGHTS else 0.0


def _held(model: Any) -> Iterator[tuple[str, Any]]:
    params = model.get_params(deep=False)
    for name, value in values_of(model).items():
        if name not in params and name not in FREE:
            for path, leaf in leaves(name, value):
                if not isinstance(leaf, str) and not COSTS & set(path.split(".")):
                    yield path, leaf


def _basis(model: Any, other: Any, close: float) -> bool:
    """Whether both certificates speak of the same vectors, up to signs."""
    mine, theirs = (one.certificate_.frame.get("vectors") for one in (model, other))
    if mine is None or theirs is None:
        return True
    x, y = np.abs(np.asarray(mine, np.float64)), np.abs(np.asarray(theirs, np.float64))
    return x.shape == y.shape and bool(np.all(np.abs(x - y) <= close))


def _lost(a: Any, b: Any) -> bool:
    """Whether an entry is no number that should be one."""
    if a.dtype.kind != "f" or b.dtype.kind != "f":
        return False
    if a.shape != b.shape:
        return bool(np.isnan(a).any()) and not bool(np.isnan(b).any())
    return bool(np.any(np.isnan(a) & ~np.isnan(b)))
