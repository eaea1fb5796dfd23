"""Three ways to the topics of weighted words W (n, d) or counts N (n, d).

    svd      WᵀW V = V Σ²                        as :class:`ritz.SVD`, on the smaller side
    kernel   K U = U Σ²,  K = WWᵀ (n, n),        V = WᵀUΣ⁻¹; the kernel between documents
    ca       D_r^½ (X − 1cᵀ) D_c^-½              as :class:`ritz.CA` of the counts, X the row profiles

Each gives components V (d, k), singular values and the map x ↦ (x − μ) D_σ⁻¹ V of a document to its coordinates, with μ
and σ of a correspondence analysis only.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ritz._core.errors import EmptyProfiles
from ritz._core.linalg import signs
from ritz._core.warn import unsaid
from ritz.data.passes.blocks import blocks_of
from ritz.data.passes.statistics import Statistics
from ritz.methods.correspondence.ca.ca import CA
from ritz.methods.posed import Posed
from ritz.methods.rank.linear import handed
from ritz.methods.record import values_of
from ritz.operators import Gram, Sparse, Transpose
from ritz.rank.material import Material
from ritz.spectral.plan import Shape
from ritz.spectral.solution import Solution

__all__ = ["analysed", "documents_gram", "kept_of", "posed_kernel", "right_side", "table_of"]

#: What a correspondence analysis knows of its rows, which the model has itself.
OF_ROWS = ("_F", "_row_weights", "_row_squares", "_row_labels", "_added_bytes")
#: Why a rule that asks rows has no answer for a kernel.
NO_COLUMNS = "it looks at columns, and a kernel has none: method='svd' has the same spectrum"
#: Components whose eigenvalue is below this multiple of its rounding have no direction on the side of the words.
TOLD = 4.0


def documents_gram(rows: Any) -> Gram:
    """K = WWᵀ."""
    return Gram(Transpose(Sparse(rows)))


def posed_kernel(model: Any, rows: Any, wanted: Any, kept: Any) -> Posed:
    """The eigenproblem of the kernel between documents."""
    n = rows.shape[0]
    wanted = handed(wanted, lambda: Material(type(model).__name__, why_not=NO_COLUMNS), model._rules)
    return Posed(documents_gram(rows), "eigh", shape=Shape(n, n, 8), rows=rows, wanted=wanted,
                 frame={"matrix": "WWᵀ"}, kept=kept)  # fmt: skip


def right_side(solution: Solution, rows: Any) -> tuple[Solution, Any]:
    """The solution of K with vectors of words, and statistics of the columns; without what cannot be told from zero."""
    values, certificate = np.asarray(solution.values), solution.certificate
    floor = TOLD * max(float(certificate.rounding), len(values) * 2.0**-53 * float(np.max(values, initial=0.0)))
    k = int(np.count_nonzero(values > floor))
    U = solution.vectors[:, :k]
    V = np.asarray(rows.T @ U)
    V = V / np.linalg.norm(V, axis=0)
    flip = signs(V) if k else np.ones(0)
    fewer = {name: getattr(certificate, name)[:k] for name in ("values", "lower", "upper", "labelled", "residuals")}
    if k < len(values):
        ceiling = max(float(certificate.upper[k]), float(certificate.ceiling))
        fewer |= {"ceiling": ceiling, "angles": certificate.angles[:k]}
        fewer["clusters"] = tuple(one for one in certificate.clusters if one[1] < k)
        fewer["notes"] = (*certificate.notes, f"{len(values) - k} more eigenvalues cannot be told from zero")
    frame = {**certificate.frame, "vectors": U * flip}
    told = replace(certificate, frame=frame, **fewer)
    cut = {name: getattr(solution, name)[:k] for name in ("values", "scaled", "singular_values")}
    found = replace(solution, vectors=V * flip, certificate=told, **cut)
    return found, Statistics(blocks_of(rows), None, np.float64, None)


def table_of(model: Any, wanted: Any) -> CA:
    """The correspondence analysis that a model makes of its counts."""
    return CA(
        wanted, solver=model.solver, tol=model.tol, mergeable=False, random_state=model.random_state,
        memory=model.memory, device=model.device, progress=model.progress,
    )  # fmt: skip


def analysed(model: Any, counts: Any, wanted: Any) -> CA:
    """The correspondence analysis of counts; rows without a word have no part in it."""
    with unsaid(EmptyProfiles):
        return table_of(model, wanted).fit(counts)


def kept_of(ca: CA) -> dict[str, Any]:
    """What a correspondence analysis recorded, without what it knows of its rows."""
    len(ca.components_)
    params = ca.get_params(deep=False)
    return {name: value for name, value in values_of(ca).items() if name not in params and name not in OF_ROWS}
