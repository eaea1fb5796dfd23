"""The certificate of a kernel model against its rows: the kernel matrix anew, without the operators of the fit.

M = J K J,   r_i = ‖M u_i − λ_i u_i‖,   eigenvalues of M above the least one returned are counted
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ritz._core.errors import InputError
from ritz._core.tolerance import unit_roundoff

__all__ = ["check_kernel"]

#: Rows up to which a dense matrix is formed.
MOST_ROWS = 5000
#: Multiples of n·u·λ₁ that rounding may leave in a residual.
ROUNDING = 100.0


def check_kernel(model: Any, X: Any) -> tuple[bool, list[str]]:
    """Whether every returned pair is one of the kernel matrix of these rows, and none was missed."""
    from ritz.methods.kernel_input import len_of, new_rows

    rows = new_rows(model, X)
    n = len_of(rows)
    if n > MOST_ROWS:
        raise InputError(
            f"verify forms the kernel matrix of at most {MOST_ROWS:,} rows", received=f"{n:,} rows",
            hint="fit a sample of the rows to check the route",
        )  # fmt: skip
    U = vars(model).get("eigenvectors_")
    if U is None:
        raise InputError(
            "verify needs eigenvectors, which a Nyström model does not keep", hint="fit with --solver auto"
        )
    K = np.asarray(model.kernel_(rows), np.float64)
    M = K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean()
    certificate = model.certificate_
    U, values = np.asarray(U, np.float64), np.asarray(model.eigenvalues_, np.float64)
    k, top = len(values), float(np.max(np.abs(values), initial=0.0))
    u = unit_roundoff(model.eigenvalues_.dtype)
    residuals = np.linalg.norm(M @ U - U * values, axis=0)
    allowed = max(float(np.max(certificate.residuals[:k], initial=0.0)) + certificate.rounding, ROUNDING * n * u * top)
    known = np.linalg.eigvalsh(M)
    known = known[np.argsort(-np.abs(known) if np.any(values < 0) else -known)][:k]
    gap = float(np.max(np.abs(known - values), initial=0.0))
    fits, whole = float(np.max(residuals, initial=0.0)) <= allowed, gap <= allowed
    words = [
        f"largest residual {np.max(residuals, initial=0.0):.3g}; allowed, rounding included, {allowed:.3g}",
        f"the {k} largest eigenvalues of the {n:,}×{n:,} kernel matrix differ by at most {gap:.3g}"
        + ("" if whole else ": some were missed"),
    ]
    return fits and whole, words
