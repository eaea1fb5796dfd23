"""What the rules for the number of components said at the fit, kept so that every later report says the same.

    manifest:  ranks  {"consensus": 3, "reasons": […], "method": "PCA",
                       "rules": [{"name", "k", "why", "assumption", "caution", "group", "weight",
                                  "curve": {"k", "value", "threshold", "label"}}, …]}

Rules that permute rows or hold some of them out need the rows of the fit; a report about other rows has none of these.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

__all__ = ["ranks_facts", "ranks_from", "ranks_of_fit"]

#: Components of a curve that are kept.
KEPT = 64
TEXTS = ("name", "why", "assumption", "caution", "group")


def ranks_of_fit(model: Any, rows: Any, supplementary: list[str] | None = None) -> Any:
    """What the rules say of a model and the rows of its fit; None for methods that they do not know.

    ``supplementary`` columns have no say.
    """
    from ritz._core.errors import ColumnsSetAside
    from ritz._core.warn import unsaid
    from ritz.report.context import Context

    with unsaid(ColumnsSetAside):
        return Context(model, rows, supplementary=supplementary or None).ranks


def ranks_facts(ranks: Any) -> dict[str, Any]:
    """The verdicts as plain values."""
    rules = [
        {
            **{name: getattr(ranks[rule], name) for name in TEXTS},
            "k": None if ranks[rule].k is None else int(ranks[rule].k),
            "weight": float(ranks[rule].weight),
            "curve": _curve(ranks[rule].curve),
        }
        for rule in ranks
    ]
    said = {"consensus": int(ranks.consensus), "reasons": [str(reason) for reason in ranks.reasons]}
    return {**said, "method": str(ranks.method), "rules": rules}


def _curve(curve: Any) -> dict[str, Any]:
    line = None if curve.threshold is None else _list(curve.threshold)
    k = [int(one) for one in np.asarray(curve.k)[:KEPT].tolist()]
    return {"k": k, "value": _list(curve.value), "threshold": line, "label": str(curve.label)}


def _list(values: Any) -> list[float | None]:
    some = np.asarray(values, np.float64).reshape(-1)[:KEPT].tolist()
    return [value if math.isfinite(value) else None for value in some]


def ranks_from(manifest: Mapping[str, Any]) -> Any:
    """The verdicts again; None where the manifest holds none, or something else in their place."""
    from ritz.rank.consensus import Ranks, Verdict
    from ritz.rank.shares import Curve

    kept = manifest.get("ranks")
    try:
        verdicts = []
        for one in kept["rules"]:  # type: ignore[index]
            curve = one["curve"]
            line = None if curve["threshold"] is None else np.asarray(curve["threshold"], np.float64)
            drawn = Curve(
                np.asarray(curve["k"], np.int64), np.asarray(curve["value"], np.float64), line, curve["label"]
            )
            texts = {name: str(one[name]) for name in TEXTS}
            k = None if one["k"] is None else int(one["k"])
            verdicts.append(Verdict(k=k, curve=drawn, weight=float(one["weight"]), **texts))
        reasons = [str(reason) for reason in kept["reasons"]]  # type: ignore[index]
        return Ranks(verdicts, int(kept["consensus"]), reasons, str(kept["method"]))  # type: ignore[index]
    except (KeyError, TypeError, ValueError):
        return None
