"""What a fitted model stores, and how to change one of it in a copy."""

from __future__ import annotations

import copy
import dataclasses
import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from ritz.methods.record import set_values, values_of

__all__ = ["EXCLUDED", "SAME", "UNCERTIFIED", "changed", "plain", "targets"]

#: What is not a claim, with the reason.
EXCLUDED = {
    "certificate_.passes": "a cost",
    "certificate_.seconds": "a cost",
    "certificate_.notes": "words on how the answer was found",
    "certificate_.frame.grounds.k": "which components the grounds belong to; others make verify do without them",
    "certificate_.frame.mean_slack": "an allowance; it counts only as far as the rounding, which is checked, covers it",
    "certificate_.frame.matrix": "the name of the matrix",
    "plan_": "the route and its cost",
    "n_iter_": "a cost",
    "_added_bytes": "a cost: what was put in memory before the fit",
    "_state.noise": "what was measured while rows were added; it shows in the certificate of what is solved from it",
    "_state.roundoff": "as _state.noise",
    "_state.lost": "as _state.noise",
    "_state.rounded": "as _state.noise",
    "_state.shift": "one of two parts of the mean, which depends on how rows were cut",
    "_state.offset": "as _state.shift",
    "_state.unit": "any power of two gives the same state, with its scatter in other units",
    "_library": "the library of the table that was given",
    "_row_labels": "names",
    "_note": "words",
    "_mean_slack": "as certificate_.frame.mean_slack",
    "_dtype": "of what transform gives",
    "_meanless": "whether somebody knew the means, which a covariance matrix does not tell",
    "_source": "where the documents came from",
    "unseen_": "of the documents that were placed last",
    "search_": "words on how neighbours were found",
}


#: Changes of a number that nothing could find, with the reason: the number after the change says the same.
SAME = {
    ("MVU", "_points", "− x"): "points of which distances are known, and these are those of their mirror image",
}

#: Public names with ``fit`` and without ``verify``, with the reason.
UNCERTIFIED = {
    "Index": "a copy of the coordinates of a model; its answers are compared with exact search by ``recall``",
    "LSH": "as Index",
    "Neighbours": "lists of neighbours, whose own certificate_ says whether the search was exact",
    "PearsonResiduals": "a step before PCA with closed formulas: sums of counts, and no answer of a solver",
}


def targets(model: Any) -> Iterator[tuple[str, Any]]:
    """The way to every stored number, truth value, array and word of claims, and the value there."""
    yield from _of_model("", model)


def _of_model(start: str, model: Any) -> Iterator[tuple[str, Any]]:
    params = model.get_params(deep=False)
    for name, value in values_of(model).items():
        if name not in params:
            yield from _walk(f"{start}{name}", value)


def plain(path: str) -> str:
    """The way within the model that holds it: of a model behind the model, of one certificate among several."""
    return re.sub(r"^certificates_\.\d+\.", "certificate_.", path.removeprefix("pca_.").removeprefix("_table."))


def _walk(path: str, node: Any) -> Iterator[tuple[str, Any]]:
    if plain(path) in EXCLUDED:
        return
    if isinstance(node, np.ndarray):
        if node.dtype.kind in "fiub" and node.size:
            yield path, node
    elif isinstance(node, (bool, np.bool_, int, float, np.number)) or (
        isinstance(node, str) and plain(path).startswith("certificate_.") and "frame" not in path
    ):
        yield path, node
    elif isinstance(node, dict):
        for name, value in node.items():
            if isinstance(name, str):
                yield from _walk(f"{path}.{name}", value)
    elif isinstance(node, (list, tuple)):
        for i, value in enumerate(node):
            yield from _walk(f"{path}.{i}", value)
    elif hasattr(node, "get_params") and hasattr(node, "certificate_"):  # a model behind this one
        yield from _of_model(f"{path}.", node)
    elif dataclasses.is_dataclass(node) and not isinstance(node, type):
        for field in dataclasses.fields(node):
            yield from _walk(f"{path}.{field.name}", getattr(node, field.name))


def changed(model: Any, path: str, value: Any) -> Any:
    """A copy of the model with another value at one place."""
    other = copy.copy(model)
    name, *rest = path.split(".")
    values = values_of(model)
    values = values | {name: _put(values[name], rest, value)}
    if hasattr(type(model), "_records"):
        set_values(other, values)
    else:
        vars(other).update(values)
    return other


def _put(node: Any, rest: list[str], value: Any) -> Any:
    if not rest:
        return value
    name, *more = rest
    if isinstance(node, dict):
        return {**node, name: _put(node[name], more, value)}
    if isinstance(node, (list, tuple)):
        items = list(node)
        items[int(name)] = _put(items[int(name)], more, value)
        return type(node)(items) if not hasattr(node, "_fields") else type(node)(*items)
    if hasattr(node, "get_params") and hasattr(node, "certificate_"):
        return changed(node, ".".join(rest), value)
    other = copy.copy(node)
    object.__setattr__(other, name, _put(getattr(node, name), more, value))
    for cached in [key for key in vars(other) if key not in {f.name for f in dataclasses.fields(node)}]:
        other.__dict__.pop(cached, None)  # what was computed from the old value
    return other
