"""The heavy, independent check of a certificate against data: no field is taken on trust.

    agree      fields against each other: words, shapes, widths, and every bound derived a second time
    columns    means and scales against those of the data, in two passes
    confirm    residuals, values, total, orthonormality, rounding; all singular values and vectors of a small table
    sketched   a single-pass sketch, repeated
    count      inertia, or a search from random numbers of the operating system, for what was missed

The check shares no code with the fit: not the solvers, not the operators, not the statistics. Costs (``passes``,
``seconds``) and the words of ``notes`` are not checked: they say how the answer was found, not what it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ritz._core.errors import InputError
from ritz.data.engines.memory.arrays import refuse_masked
from ritz.data.passes.weights import validate_weights
from ritz.spectral.verify.anew import Anew
from ritz.spectral.verify.columns import columns
from ritz.spectral.verify.fields import agree, scaled
from ritz.spectral.verify.outcome import Verification, all_of
from ritz.spectral.verify.search import count
from ritz.spectral.verify.truth import allowance, confirm

if TYPE_CHECKING:
    from ritz.spectral.certificate.certificate import Certificate

__all__ = ["Verification", "all_of", "verify"]


def verify(certificate: Certificate, X: Any, sample_weight: Any = None) -> Verification:
    """Check a certificate against the data it speaks about."""
    from ritz.spectral.verify.sketched import sketched  # fits do without

    _require_rows(certificate, X)
    if sample_weight is not None:
        sample_weight = validate_weights(sample_weight, int(X.shape[0]), whole=False)
    V = np.asarray(certificate.frame["vectors"])
    k = len(certificate.values)
    words = agree(certificate)
    if V.shape != (X.shape[1], k) or not bool(np.all(np.isfinite(V))):
        words.append(f"vectors of shape {V.shape} for {k} values, or not finite")
    if words and not _usable(certificate, V, k):
        return Verification(False, np.full(k, np.nan), None, k, None, tuple(words))
    ok = not words
    a = Anew(certificate, X, sample_weight)
    rho = min(scaled(certificate).rounding, allowance(certificate, a))
    for differences in (columns(certificate, a, rho), sketched(certificate, a)):
        words += differences
        ok = ok and not differences
    ok = confirm(certificate, a, words) and ok
    number, missed, complete = count(certificate, a, a.rho + rho, words)
    return Verification(ok and complete, a.residuals * a.unit2, number, k, missed, tuple(words), a)


def _usable(c: Certificate, V: Any, k: int) -> bool:
    """Whether enough is left to compute with."""
    lines = (c.values, c.lower, c.upper, c.residuals, c.labelled, c.angles)
    return (
        all(np.shape(line) == (k,) for line in lines)
        and bool(np.all(np.isfinite(c.values)))
        and V.ndim == 2
        and V.shape[1] == k
        and bool(np.all(np.isfinite(V)))
        and 0 < float(c.frame["unit"]) < np.inf
        and 0 <= c.rounding < np.inf
    )


def _require_rows(certificate: Certificate, X: Any) -> None:
    if "mean" not in certificate.frame:  # an operator that is not a table: J K J, a graph, the factor of two tables
        raise InputError(
            "verify of a certificate reads a table again, but this one is about a matrix made from the data: a kernel, "
            "a graph or a factor",
            hint="model.verify(X) makes that matrix anew and checks this certificate on it",
        )
    if not hasattr(X, "shape"):
        raise InputError(
            "verify of a certificate takes rows: an array or a sparse matrix", received=type(X).__name__,
            hint="model.verify(table) takes what fit takes",
        )  # fmt: skip
    refuse_masked(X)
    if len(X.shape) != 2:
        raise InputError("verify takes rows and columns", received=f"shape {tuple(X.shape)}")
    d = np.shape(certificate.frame["vectors"])[0]
    if X.shape[1] != d:
        raise InputError(f"verify takes the data that was fitted, with {d} columns", received=f"{X.shape[1]} columns")
