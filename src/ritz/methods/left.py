"""Left singular vectors of the rows that were fitted: A = U Σ Vᵀ.

    Y = A V  (n×k),     Y = Q R,     U = Q D,  D = diag(sign Rᵢᵢ)          A = D_w^½ X

In exact arithmetic Y = U Σ. Computed, columns of Y Σ⁻¹ lose their right angles where σ is small, by u·σ₁/σ; Q keeps
them, and as R is nearly diagonal it moves no vector by more than that. ‖Aᵀu − σv‖ is the residual of the certificate
over σ.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.bases import check_is_fitted
from ritz._core.errors import InputError
from ritz._core.tolerance import unit_roundoff
from ritz.data.engines import weighed

__all__ = ["left_vectors"]

Floats = NDArray[np.float64]

#: Round-offs, with √n, by which lengths of coordinates may miss singular values; and the share that tol allows.
ROUNDINGS, SLACK = 1e3, 10.0


def left_vectors(model: Any, X: Any, sample_weight: Any) -> NDArray[Any]:
    """U (n, k) of the rows of the fit; other rows are refused."""
    check_is_fitted(model)
    sigma = np.asarray(model.singular_values_, np.float64)  # read first: it solves a pending state
    X, sample_weight = weighed(X, sample_weight, model.memory)
    Y = np.asarray(model.transform(X), np.float64)
    if sample_weight is not None:
        Y = Y * np.sqrt(np.asarray(sample_weight, np.float64))[:, None]
    if len(Y) < len(sigma):
        raise _other_rows(f"{len(Y)} rows")
    lengths, top = np.linalg.norm(Y, axis=0), float(np.max(sigma, initial=0.0))
    u = unit_roundoff(np.asarray(model.components_).dtype)
    allowed = (ROUNDINGS * u * np.sqrt(len(Y)) + SLACK * model.tol) * top
    far = np.abs(lengths - sigma)
    if len(sigma) and float(np.max(far)) > allowed:
        i = int(np.argmax(far))
        raise _other_rows(f"coordinates of length {lengths[i]:.6g} on component {i + 1}, not {sigma[i]:.6g}")
    Q, R = np.linalg.qr(Y)
    return np.asarray(Q * np.where(np.diag(R) < 0, -1.0, 1.0), np.asarray(model.components_).dtype)


def _other_rows(received: str) -> InputError:
    return InputError(
        "left singular vectors belong to the rows of the fit", received=received,
        hint="pass the rows, and sample_weight, that fit took; transform(X) places other rows",
    )  # fmt: skip
