"""Three ways to the topics of weighted words W (n, d) or counts N (n, d).

    svd      WᵀW V = V Σ²                        as :class:`ritz.SVD`, on the smaller side
    kernel   K U = U Σ²,  K = WWᵀ (n, n),        V = WᵀUΣ⁻¹; on the side of the documents, however many there are
    ca       D_r^½ (X − 1cᵀ) D_c^-½              as :class:`ritz.CA` of the counts, X the row profiles

Each gives components V (d, k), singular values and the map x ↦ (x − μ) D_σ⁻¹ V of a document to its coordinates, with μ
and σ of a correspondence analysis only.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ritz._core.errors import EmptyProfiles
from ritz._core.warn import unsaid
from ritz.data.words import counted
from ritz.methods.correspondence.ca.ca import CA
from ritz.methods.record import values_of
from ritz.spectral.plan import Shape

__all__ = ["analysed", "kept_of", "of_documents", "table_of", "told_from_zero", "without_zeros"]

#: What a correspondence analysis knows of its rows, which the model has itself.
OF_ROWS = ("_F", "_row_weights", "_row_squares", "_row_labels", "_added_bytes")
#: Multiple of the rounding of a certificate below which an eigenvalue may be nothing but rounding.
ROUNDED = 4.0


def of_documents(shape: Shape) -> Shape:
    """What the planner is told where the kernel between documents is asked for: a table that is wide, or square."""
    return replace(shape, d=max(shape.n + 1, shape.d))


def told_from_zero(certificate: Any) -> int:
    """How many values are told from zero: those before the first that rounding explains, and that may be zero.

    A direct route knows small values better than their squares round; a loose tolerance alone makes nothing zero.
    """
    lower, values = (np.asarray(x, np.float64) for x in (certificate.lower, certificate.values))
    zero = np.flatnonzero((lower <= 0) & (values <= ROUNDED * float(certificate.rounding)))
    return int(zero[0]) if len(zero) else len(values)


def without_zeros(solution: Any, solved: Callable[[int], Any]) -> Any:
    """A solution without values that cannot be told from zero: ``solved`` with as many components as can be.

    A vector that belongs to the value zero is any vector that no document has a part in. A query may have one, and
    would be shorter or longer by chance.
    """
    k = told_from_zero(solution.certificate)
    left = len(solution.certificate.values) - k
    if not left:
        return solution
    note = f"{counted(left, 'more eigenvalue')} cannot be told from zero: no topics"
    fewer = solved(k)
    certificate = replace(fewer.certificate, notes=(*fewer.certificate.notes, note))
    return replace(fewer, certificate=certificate)


def table_of(model: Any, wanted: Any) -> CA:
    """The correspondence analysis that a model makes of its counts."""
    return CA(
        wanted, solver=model.solver, tol=model.tol, mergeable=False, random_state=model.random_state,
        memory=model.memory, device=model.device, progress=model.progress,
    )  # fmt: skip


def analysed(model: Any, counts: Any, wanted: Any) -> CA:
    """The correspondence analysis of counts; rows without a word have no part in it, axes of no inertia are left out.

    Where there is no association at all, one axis stays, and a warning of the analysis says so.
    """
    with unsaid(EmptyProfiles):
        ca = table_of(model, wanted).fit(counts)
        k = max(1, told_from_zero(ca.certificate_))
        return ca if k >= len(ca.eigenvalues_) else table_of(model, k).fit(counts)


def kept_of(ca: CA) -> dict[str, Any]:
    """What a correspondence analysis recorded, without what it knows of its rows."""
    len(ca.components_)
    params = ca.get_params(deep=False)
    return {name: value for name, value in values_of(ca).items() if name not in params and name not in OF_ROWS}
