"""Whether two certificates say the same: one that is kept twice, or that of a second fit.

Numbers of a direct route are compared up to the rounding that the second fit certifies. An iteration that ended within
its tolerance may end elsewhere within it on another machine, and its bounds may differ by as much.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import numpy as np

from ritz._core.tolerance import defect_rounding

__all__ = ["REACHED", "REACHED_TO", "alike", "certificates_differ", "copied", "leaves"]

#: Relative difference that another machine may leave.
DOUBLE = 1e-6
#: How far a search has come: numbers relative to 1, with what rounding may leave of them.
REACHED = ("gradient_", "gradient_norm_", "kkt_residual_", "stationarity")
REACHED_TO = 1e-9
#: Share of the length of all rows that means may be off by.
MEAN_TO = 1e-9
#: Fields of a certificate that are costs or words on the way.
COSTS = ("passes", "seconds", "notes")


def copied(copy: Any, certificate: Any) -> bool:
    """Whether a certificate that is kept twice says the same twice."""
    mine, theirs = (dict(leaves("", _without_costs(one))) for one in (copy, certificate))
    return mine.keys() == theirs.keys() and all(_same(mine[name], theirs[name]) for name in theirs)


def certificates_differ(a: Any, b: Any, close: float = DOUBLE, same: bool = True, direct: bool = True) -> list[str]:
    """Fields in which a certificate differs from that of a second fit by more than rounding, in words.

    ``same``: both speak of the same vectors; ``direct``: no iteration has ended within a tolerance.
    """
    mine, theirs = (dict(leaves("", _without_costs(one))) for one in (a, b))
    words = []
    for name in sorted(mine.keys() & theirs.keys()):
        x, y = mine[name], theirs[name]
        if isinstance(y, str):
            if x != y:
                words.append(f"{name} of the certificate is not what a second fit says")
            continue
        y = np.asarray(y)
        if name.startswith("frame.") and not same and y.ndim:
            continue
        if not alike(x, y, close, _slack(name, a, b, y, direct)):
            words.append(f"{name} of the certificate is not what a second fit gives")
    return words[:3]


def _slack(name: str, a: Any, b: Any, y: Any, direct: bool) -> float:
    """What a field may differ by beside a share of its size."""
    field, last, rho = name.split(".")[0], name.split(".")[-1], float(b.rounding)
    top = float(np.max(np.abs(b.values), initial=0.0))
    ended = 0.0 if direct else float(b.tol or 0.0) * top
    if field in ("rounding", "unit_roundoff", "probability", "constant") or last in ("unit", "shown", "vectors"):
        return 0.0
    if name == "frame.mean":  # where rows cancel, a mean is nothing but rounding
        return MEAN_TO * float(np.sqrt(max(float(b.total), 0.0))) * float(b.frame.get("shown", 1.0))
    if field in ("angles", "clusters"):
        r = [np.asarray(one.residuals, np.float64) for one in (a, b)]
        moved = float(np.max(np.abs(r[0] - r[1]), initial=0.0)) if r[0].shape == r[1].shape else 0.0
        size = float(np.max(np.abs(y[np.isfinite(y)]), initial=0.0))
        return 4 * size * (moved + ended) / rho if rho > 0 and np.isfinite(moved) else 0.0
    if field == "orthogonality":
        return 8 * defect_rounding(len(b.frame.get("vectors", b.values)))
    return REACHED_TO if field == "stationarity" else rho + ended


def leaves(path: str, node: Any) -> Iterator[tuple[str, Any]]:
    """Every number, truth value, word and array of numbers with the way to it."""
    if isinstance(node, np.ndarray):
        if node.dtype.kind in "fiub":
            yield path, node
    elif isinstance(node, (bool, np.bool_, int, float, np.number, str)):
        yield path, node
    elif isinstance(node, dict):
        for name, value in node.items():
            yield from leaves(f"{path}.{name}" if path else str(name), value)
    elif isinstance(node, (list, tuple)):
        for i, value in enumerate(node):
            yield from leaves(f"{path}.{i}", value)
    elif dataclasses.is_dataclass(node) and not isinstance(node, type):
        for field in dataclasses.fields(node):
            yield from leaves(f"{path}.{field.name}" if path else field.name, getattr(node, field.name))


def _without_costs(certificate: Any) -> dict[str, Any]:
    fields = {field.name: getattr(certificate, field.name) for field in dataclasses.fields(certificate)}
    return {name: value for name, value in fields.items() if name not in COSTS}


def _same(a: Any, b: Any) -> bool:
    if isinstance(b, str) or isinstance(a, str):
        return bool(a == b)
    x, y = np.asarray(a), np.asarray(b)
    return x.shape == y.shape and bool(np.array_equal(x, y, equal_nan=x.dtype.kind == y.dtype.kind == "f"))


def alike(a: Any, b: Any, close: float, slack: Any = 0.0) -> bool:
    """Whether two arrays agree up to a share of the largest entry; what is no number, or infinite, in both."""
    a, b = np.asarray(a), np.asarray(b)
    if a.shape != b.shape:
        return False
    if a.dtype.kind in "iub" and b.dtype.kind in "iub":
        return bool(np.array_equal(a, b))
    a, b = a.astype(np.float64), b.astype(np.float64)
    size = np.max(np.abs(b[np.isfinite(b)]), initial=0.0)
    with np.errstate(invalid="ignore"):
        return bool(np.all((np.isnan(a) & np.isnan(b)) | (a == b) | (np.abs(a - b) <= close * size + slack)))
