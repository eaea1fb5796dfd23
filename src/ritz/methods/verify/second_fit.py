"""A second fit to the same rows, of which every stored number is compared.

What a method names beside its spectral problem (the rows that a robust method trusts, sparse loadings, uniquenesses,
coordinates of rows, a moment state) has no short formula that a check could write down again. The same call on the
same rows gives the same numbers, so a number that was changed shows. This is no proof that the method is right: for
that the certificate is there.
"""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from ritz._core.errors import RitzError
from ritz.data.passes.blocks import are_blocks
from ritz.data.passes.moments import Moments
from ritz.data.words import counted
from ritz.methods.record import value_of, values_of
from ritz.methods.streams.held import BOUNDED, settled
from ritz.methods.verify.certificates import certificates_differ
from ritz.methods.verify.remainder import LEFT, remaining

__all__ = ["LOW", "MEANS", "mean_off", "refitted", "two_parts"]

#: Relative difference that another machine, another cut of the rows, or a state may leave.
DOUBLE, SINGLE = 1e-6, 1e-4

#: Names that say how the answer was found, or which library gave the table.
FREE = (
    "certificate_",
    "certificates_",
    "plan_",
    "n_iter_",
    "_library",
    "_pending",
    "_note",
    "_mean_slack",
    "_added_bytes",
)

#: Parts of a moment state that depend on how rows were cut: what was measured, and the two parts of the mean.
PARTS = tuple(f"._state.{name}" for name in ("noise", "roundoff", "lost", "shift", "offset", "unit", "rounded"))

#: Numbers kept in two parts, of which the second is what rounding took from the first.
PAIRS = (("_mean64", "_mean_low"), ("_weight", "_weight_low"))
STATE_PAIRS = (("scatter", "scatter_low"), ("offset", "offset_low"), ("weight", "weight_low"))
LOW = (*(low for _, low in PAIRS), *(f"_state.{low}" for _, low in STATE_PAIRS))

#: Means, under all names.
MEANS = ("mean_", "_mean", "_mean64", "frame.mean")

#: How far both parts of a mean together may be off, in standard deviations, and those of Σw in units of Σw − 1.
TOGETHER = 1e-9


def refitted(model: Any, X: Any, sample_weight: Any, certificate: bool = False) -> list[str]:
    """Stored numbers that a second fit does not give, in words; ``certificate``: its numbers as well."""
    if are_blocks(X) and value_of(model, "_mean") is not None and value_of(model, "_F") is None:  # a table outside
        return []
    other = type(model)(**model.get_params(deep=False))
    if getattr(other, "device", "cpu") != "cpu":
        from ritz._core.device import is_there

        if not is_there(other.device):
            other.device = "cpu"  # a model that was fitted on a device is checked where there is none
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            bounded = isinstance(settled(model), BOUNDED) and model.certificate_.kind == "estimate"
            again = other.partial_fit if bounded else other.fit  # a stream is a stream again
            again(X) if sample_weight is None else again(X, sample_weight=sample_weight)
            len(other.certificate_.values)  # solves a pending state
    except (RitzError, ValueError) as error:
        return [f"the table cannot be fitted again: {str(error).splitlines()[0]}"]
    for one in (model, other):
        settled(one)
    mine, theirs = (dict(_numbers("", _kept(one))) for one in (model, other))
    _one_unit(model, other, mine, theirs)
    close = SINGLE if np.dtype(value_of(model, "_dtype", np.float64)) == np.float32 else DOUBLE
    close = max(close, _blurred(model))
    same = _basis(model, other, close)
    words = two_parts(model, other)
    drawn = not same and model.certificate_.kind == "estimate"  # rows read once: a second fit draws another block
    rest = remaining(model, other, close, drawn)
    words += rest or []
    for name in mine.keys() & theirs.keys():
        short = name.lstrip(".")
        if short in LOW or (rest is not None and short in LEFT):
            continue
        a, b = np.asarray(mine[name]), np.asarray(theirs[name])
        if name == "._seen_values":  # how many of the others a solver knows depends on the road it took
            a, b = a[: len(b)], b[: len(a)]
        free = not same and a.ndim > 0 and model.n_components_ in a.shape
        if not free and not _alike(a, b, close, mean_off(model) if short in MEANS else 0.0):
            words.append(f"{short} is not what a second fit gives")
    if certificate:
        direct = other.plan_.solver in ("svd", "moments")
        words += certificates_differ(model.certificate_, other.certificate_, close, same, direct)
    return _public(words)


def _public(words: list[str]) -> list[str]:
    """Sentences about names that users know; what a model keeps for itself is counted only."""
    own = [word for word in words if word.startswith(("_", "frame."))]
    told = sorted(word for word in words if word not in own)[:5]
    inside = f"{counted(len(own), 'number')} inside the model: not what a second fit gives"
    return [*told, inside] if own else told


def two_parts(model: Any, other: Any) -> list[str]:
    """Second parts that are larger than rounding, or that together with the first are not those of a second fit."""
    fitted, again = values_of(model), values_of(other)
    state: Any = fitted.get("_state")
    pairs: list[Any] = [(fitted.get(high, fitted.get("_mean")), fitted.get(low), low) for high, low in PAIRS]
    if isinstance(state, Moments):
        pairs += [(getattr(state, high), getattr(state, low), f"_state.{low}") for high, low in STATE_PAIRS]
    words = []
    for high, low, name in pairs:
        if low is not None and not (
            np.shape(low) == np.shape(high) and bool(np.all(np.abs(low) <= 2.0**-52 * np.abs(high) + 1e-300))
        ):
            words.append(f"{name} is larger than a rounding error can be")
    if words:
        return words
    divisor = max(float(fitted.get("_weight", 1.0)) - 1, 2.0**-52)
    allowed = {"_mean_low": mean_off(model), "_weight_low": TOGETHER * divisor}
    loose = max(_blurred(model), SINGLE if fitted.get("_dtype") == np.float32 else 0.0) / TOGETHER
    for high, low in PAIRS:
        if high not in fitted or fitted.get(low) is None or again.get(low) is None:
            continue
        off = (np.asarray(fitted[high]) - np.asarray(again[high])) + (fitted[low] - again[low])
        if not bool(np.all(np.abs(off) <= allowed[low] * max(1.0, loose))):
            words.append(f"{low} is not what a second fit gives")
    return words


def mean_off(model: Any) -> Any:
    """What means may differ by, beside a share of their own size: where rows cancel, that is nothing."""
    fitted, c = values_of(model), model.certificate_
    size = np.sqrt(max(float(c.total), 0.0) / max(float(fitted.get("_weight", 1.0)) - 1, 1.0))
    scale = fitted.get("_scale64")
    return TOGETHER * size * c.frame.get("shown", 1.0) * (1.0 if scale is None else scale)


def _kept(model: Any) -> dict[str, Any]:
    params = model.get_params(deep=False)
    values = {name: value for name, value in values_of(model).items() if name not in params and name not in FREE}
    if not isinstance(values.get("_state"), Moments):
        values.pop(
            "_state", None
        )  # how the stream was cut shows in directions and sketches; the answer is checked itself
    frame = model.certificate_.frame
    if type(model)._holds_vectors:
        values.pop(
            "components_"
        )  # compared with the certificate, whose signs may be those of another model (``align``)
    # of models that show other components, the vectors of the certificate are compared as well, signs included
    names = ("mean", "scale", "metric", "unit", *(() if type(model)._holds_vectors else ("vectors",)))
    return {**values, "frame": {name: frame.get(name) for name in names}}


def _one_unit(model: Any, other: Any, mine: dict[str, Any], theirs: dict[str, Any]) -> None:
    """Bring what is held in units to those of the other fit: which power of two these are depends on cuts of rows."""
    shown = [float(one.certificate_.frame.get("shown", 1.0)) for one in (model, other)]
    if shown[0] != shown[1]:
        for name in ("._seen_values", "._seen[0]"):
            if name in mine:
                mine[name] = np.asarray(mine[name]) * (shown[0] / shown[1]) ** 2
    states = [settled(one) for one in (model, other)]
    units = [float(getattr(state, "unit", 0.0)) for state in states]
    if all(isinstance(state, Moments) for state in states) and units[0] != units[1]:
        mine["._state.scatter"] = mine["._state.scatter"] * (units[0] / units[1]) ** 2
    if mine.get(".frame.unit") == units[0]:  # the certificate is that of the state, in its unit
        theirs.pop(".frame.unit", None)


def _numbers(path: str, node: Any) -> Iterator[tuple[str, Any]]:
    """Every number, truth value and array of numbers with the way to it."""
    if isinstance(node, np.ndarray):
        if node.dtype.kind in "fiub":
            yield path, node
    elif isinstance(node, (bool, np.bool_, int, float, np.number)):
        yield path, node
    elif isinstance(node, dict):
        for name, value in node.items():
            yield from _numbers(f"{path}.{name}", value)
    elif isinstance(node, (list, tuple)):
        for i, value in enumerate(node):
            yield from _numbers(f"{path}[{i}]", value)
    elif dataclasses.is_dataclass(node):
        for field in dataclasses.fields(node):
            where = f"{path}.{field.name}"
            if where not in PARTS:
                yield from _numbers(where, getattr(node, field.name))


def _blurred(model: Any) -> float:
    """What the certificate itself allows: a subtraction, or a loose tolerance."""
    c = model.certificate_
    top = float(np.max(c.values, initial=0.0))
    if top <= 0:
        return 0.0
    lost = any(note.startswith("subtracted: ") for note in c.notes)
    return 10 * float(c.rounding) / top if lost else 0.0


def _basis(model: Any, other: Any, close: float) -> bool:
    """Whether both fits have the same vectors; of a plane either may have another basis."""
    mine, theirs = (np.asarray(one.certificate_.frame["vectors"], np.float64) for one in (model, other))
    return mine.shape == theirs.shape and bool(np.all(np.abs(np.abs(mine) - np.abs(theirs)) <= max(close, 1e-6)))


def _alike(a: Any, b: Any, close: float, slack: Any = 0.0) -> bool:
    if a.shape != b.shape:
        return False
    if a.dtype.kind in "iub" and b.dtype.kind in "iub":
        return bool(np.array_equal(a, b))
    a, b = a.astype(np.float64), b.astype(np.float64)
    gone = np.isnan(a) & np.isnan(b)
    size = np.max(np.abs(b[np.isfinite(b)]), initial=0.0)
    with np.errstate(invalid="ignore"):
        return bool(np.all(gone | (a == b) | (np.abs(a - b) <= close * size + slack)))
