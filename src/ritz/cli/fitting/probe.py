"""A table and the estimator that ``ritz fit`` would use on it, for commands that do not fit and write."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np

from ritz.cli.fitting.columns import Parts
from ritz.cli.fitting.components import count
from ritz.cli.fitting.dropped import columns_used, without_gaps
from ritz.cli.fitting.estimator import check_method, make_estimator, standardizes
from ritz.cli.fitting.fitting import DEFAULTS, decided, require_weighted, rows_for
from ritz.cli.fitting.job import chosen, read_table
from ritz.cli.fitting.method import Choice
from ritz.cli.fitting.scaling import IN_THE_FIT, Scaling, decide_scaling, spreads, unknown_spreads
from ritz.data.passes.finite import require_finite

__all__ = ["Probe", "probe"]


@dataclass(frozen=True)
class Probe:
    """What would be fitted."""

    parts: Parts
    choice: Choice
    estimator: Any
    rows: Any
    scaling: Scaling | None

    def facts(self) -> dict[str, Any]:
        """Rows, columns and method, for ``--json``."""
        facts = {"rows": self.parts.whole.n_rows, "method": self.choice.method, "method_reason": self.choice.why}
        return facts if self.scaling is None else {**facts, "scaled": self.scaling.scale, "scaling": self.scaling.why}


def probe(
    path: Path, method: dict[str, Any], how: dict[str, Any], asked: dict[str, Any], *, k: Any = None,
    memory: Any = None, seed: int = 0, progress: Any = None, solver: str = "auto", tol: float = 1e-6,
) -> Probe:  # fmt: skip
    """Read a table and choose the method; columns of numbers are looked at for their spreads where they are loaded."""
    name = check_method(method)
    if name == "lsi":
        return _of_texts(path, method, how, asked, k, {
            "memory": memory, "random_state": seed, "progress": progress, "solver": solver, "tol": tol
        })  # fmt: skip
    table = read_table(path, how, memory=memory, progress=progress)
    parts, choice = chosen(table, name, asked, method)
    if method["missing"] == "drop":
        table, _ = without_gaps(table, columns_used(parts, choice, method))
        parts, choice = chosen(table, name, asked, method)
        method = {**method, "missing": "error"}
    require_weighted(choice.method, parts)
    used, scaling = parts.used, None
    common = {"memory": memory, "random_state": seed, "progress": progress, "solver": solver, "tol": tol}
    if choice.method == "pca":
        names = used.numeric_names()
        wanted = method["scale"]
        if wanted is not None or used.lazy:
            scaling = IN_THE_FIT if wanted is None else unknown_spreads(wanted)
        else:
            X = used.select(names)
            if isinstance(X, np.ndarray) and bool(np.isinf(X).any()):  # what a fit refuses
                require_finite(np.where(np.isnan(X), 0.0, X), names, used.row_name)
            scaling = decide_scaling(spreads(X), names, None)
        k = None if k is None else count(k, used.n_rows or 0, len(names), method["missing"])
        made = make_estimator("pca", method, used, k, common, scale=scaling.scale)
        return Probe(parts, choice, made, used, scaling)
    rows, _, strings = rows_for(choice, used)
    counts = method["counts"] or choice.counts
    scaling = decided(choice.method, method["scale"], used) if standardizes(choice.method) and not strings else None
    method = method if scaling is None else {**method, "scale": scaling.scale}
    k = k or DEFAULTS.get(choice.method)
    made = make_estimator(choice.method, method, used, k, common, strings=strings, counts=counts)
    return Probe(parts, choice, made, rows, scaling)


def _of_texts(
    path: Path, method: dict[str, Any], how: dict[str, Any], asked: dict[str, Any], k: Any, common: dict[str, Any]
) -> Probe:
    from ritz.cli.fitting.texts import prepared

    texts, made = prepared(path, method, how, asked, k, common)
    parts = Parts(cast(Any, texts), cast(Any, texts))
    why = "as asked" if method["name"] == "lsi" else "texts: latent semantic indexing"
    return Probe(parts, Choice("lsi", why), made, texts.documents, None)
