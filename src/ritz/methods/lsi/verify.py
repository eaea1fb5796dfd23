"""The check of a model against its documents: the certificate, then the coordinates of every document."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from ritz._core.errors import InputError
from ritz.data.words import counted
from ritz.methods.correspondence.ca.ca import CA
from ritz.methods.fitted.restored import restored
from ritz.methods.lsi.weighed import counts_of
from ritz.methods.verify.again import refound
from ritz.methods.verify.certificates import copied
from ritz.methods.verify.model import with_held
from ritz.operators import Sparse
from ritz.spectral.verify import Verification
from ritz.spectral.verify.operator import verify_operator

__all__ = ["verify_documents"]

#: Relative differences that rounding may leave in coordinates held in float64 and float32.
DOUBLE, SINGLE = 1e-9, 1e-5
#: What rounding leaves of |VᵀV − I| and of a total.
ORTHONORMAL, TOTAL = 1e-10, 1e-9
#: Smaller side up to which the documents of an updated model are decomposed anew.
DENSE = 2_000


def verify_documents(model: Any, X: Any, text: str | None) -> Verification:
    """Check a model against its documents, and against a second fit where it is known how they came."""
    try:
        checked = verify_texts(model, counts_of(model, X, text).counts)
    except (IndexError, KeyError) as error:  # vocabulary and weights do not belong together
        words = (f"the documents cannot be counted by what the model holds: {error}",)
        return Verification(False, np.zeros(0), None, model.n_components_, None, words)
    pieces = pieces_of(model, X)
    if pieces is None:
        return checked

    def anew(other: Any) -> Any:
        other.fit(pieces[0], text=text)
        for some in pieces[1:]:
            other.update(some, text=text)
        return other

    wrong = refound(model, anew, possible=len(pieces) == 1)  # of updates, parameters may have been others at the fit
    return replace(checked, ok=False, words=(*wrong, *checked.words)) if wrong else checked


def verify_texts(model: Any, counts: Any) -> Verification:
    """Check a model against the counts of all its documents."""
    if counts.shape[0] != model.n_samples_:
        raise InputError(
            f"verify takes the {counted(model.n_samples_, 'document')} of the fit"
            + (" and of its updates, in their order" if model._record.updates else ""),
            received=counted(counts.shape[0], "document"),
        )
    counts = _as_counted(model, counts)
    rows = model._weighed(counts)
    checked = _checked(model, counts, rows)
    words = _held(model, rows)
    if not words:
        return checked
    return replace(checked, ok=False, words=(*words, *checked.words))


def pieces_of(model: Any, X: Any) -> list[Any] | None:
    """The documents as they came, batch by batch; None where they cannot be cut, or nobody knows how they came."""
    record = model._record
    if not record.updates and not record.batches:
        return [X]
    rows = getattr(X, "iloc", X)
    count = X.shape[0] if hasattr(X, "shape") else len(X) if isinstance(X, (list, tuple)) else None
    if record.batches is None or count != sum(record.batches) or not hasattr(rows, "__getitem__"):
        return None
    ends = np.cumsum((0, *record.batches))
    return [rows[int(a) : int(b)] for a, b in pairwise(ends)]


def _as_counted(model: Any, counts: Any) -> Any:
    """Words that updates have brought count in the documents of these updates and later ones."""
    since = model._record.since
    if since is None:
        return counts
    rows = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
    counts = counts.copy()
    counts.data[rows < since[counts.indices]] = 0
    counts.eliminate_zeros()
    return counts


def _checked(model: Any, counts: Any, rows: Any) -> Verification:
    if model._record.updates:
        return _updated(model, rows)
    if model.method == "ca":
        params = {name: getattr(model, name) for name in ("solver", "tol", "random_state", "memory")}
        ca = restored(CA, {"n_components": int(model.n_components_), "mergeable": False, **params}, model._record.table)
        same = np.array_equal(ca.components_, model.components_) and copied(model.certificate_, ca.certificate_)
        return ca.certificate_.verify(*_profiles(counts)) if same else _other()
    # A kernel is solved on the side of the documents, which may be the longer one.
    if model.method == "kernel" and rows.shape[0] >= rows.shape[1]:
        return with_held(model, verify_operator(model.certificate_, Sparse(rows), "svd"))
    return with_held(model, model.certificate_.verify(rows))


def _profiles(counts: Any) -> tuple[Any, Any]:
    """Rows and weights that the certificate of a correspondence analysis speaks of."""
    totals = np.asarray(counts.sum(axis=1), np.float64).ravel()
    rows = counts.astype(np.float64)
    rows.data = rows.data / np.repeat(np.where(totals > 0, totals, 1.0), np.diff(rows.indptr))
    return rows, totals / totals.sum()


def _other() -> Verification:
    words = ("the components of the model are not those of its correspondence analysis",)
    return Verification(False, np.zeros(0), None, 0, None, words)


def _updated(model: Any, rows: Any) -> Verification:
    """Residuals and bounds of an updated model, from all documents."""
    c, V = model.certificate_, np.asarray(model.components_, np.float64).T
    theta = np.asarray(c.values, np.float64)
    image = rows.T @ (rows @ V)
    found = np.linalg.norm(image - V * theta, axis=0)
    quotients = np.einsum("ij,ij->j", V, image)
    slack = float(c.rounding) + 1e-12 * float(np.max(theta, initial=0.0))
    total = float(np.sum(np.square(rows.data)))
    wrong = []
    if bool(np.any(found > c.residuals + 2 * slack)):
        wrong.append("a residual is larger than certified")
    if bool(np.any(quotients > c.upper + slack)) or bool(np.any(np.diff(theta) > 0)):
        wrong.append("a value lies outside its enclosure")
    if float(np.max(np.abs(V.T @ V - np.eye(len(theta))), initial=0.0)) > ORTHONORMAL:
        wrong.append("the components are not orthonormal")
    if abs(total - float(c.total)) > TOTAL * total:
        wrong.append(f"the sum of squares is {total:.9g}, certified {float(c.total):.9g}")
    variance = np.var(np.asarray(model.embedding_, np.float64), axis=0)
    named = ((model.explained_variance_, variance), (model.total_, total), (model.n_components_, len(theta)),
             (model.explained_variance_ratio_, variance * rows.shape[0] / (total or 1.0)))  # fmt: skip
    if not all(np.shape(a) == np.shape(b) and np.allclose(a, b, rtol=1e-6, atol=1e-12 * total) for a, b in named):
        wrong.append("variances, shares or the sum of squares do not follow from the documents")
    if model._record.batches is not None and sum(model._record.batches) != rows.shape[0]:
        wrong.append("the updates that the model tells of are not of as many documents")
    if not np.array_equal(np.asarray(c.frame["vectors"]), V):
        wrong.append("the components are not the vectors of the certificate")
    if not np.allclose(np.sqrt(np.maximum(theta, 0.0)), model.singular_values_, rtol=1e-9, atol=1e-12):
        wrong.append("the singular values of the model are not those of its certificate")
    said = [f"largest residual {np.max(found, initial=0.0):.2e}; certified {np.max(c.residuals, initial=0.0):.2e}"]
    if min(rows.shape) <= DENSE:
        wrong += _outside(c, rows, slack)
        said.append(f"decomposition: all {min(rows.shape)} singular values computed anew")
    return Verification(not wrong, found, None, len(theta), None, tuple(wrong or said))


def _outside(c: Any, rows: Any, slack: float) -> list[str]:
    """What the true eigenvalues contradict."""
    wide = rows.shape[0] < rows.shape[1]
    true = np.linalg.eigvalsh((rows @ rows.T if wide else rows.T @ rows).toarray())[::-1]
    k, labelled = len(c.values), np.asarray(c.labelled, bool)
    inside = (true[:k] >= c.lower - slack) & (true[:k] <= c.upper + slack)
    wrong = [] if bool(np.all(inside[labelled])) else ["a true eigenvalue lies outside its enclosure"]
    if k < len(true) and true[k] > c.ceiling + slack:
        wrong.append(
            f"an eigenvalue that was left out is {true[k]:.6g}, certified to be {float(c.ceiling):.6g} at most"
        )
    return wrong


def _held(model: Any, rows: Any) -> list[str]:
    """What the model holds of its documents, against these."""
    E, anew = np.asarray(model.embedding_), model._coordinates(rows)
    words = []
    if E.shape != anew.shape:
        return [f"embedding_ has shape {E.shape}, the documents {anew.shape}"]
    theta = np.sqrt(np.maximum(np.asarray(model.certificate_.values, np.float64), 0.0))
    theta = theta * float(model.certificate_.frame.get("shown", 1.0))  # of squares out of range, in units of their own
    sigma = np.asarray(model.singular_values_, np.float64)
    if sigma.shape != theta.shape or not bool(np.all(np.abs(sigma - theta) <= DOUBLE * np.max(theta, initial=0.0))):
        words.append("singular_values_ of the model are not those of its certificate")
    size = np.max(np.abs(anew), initial=0.0)
    lost = float(np.sqrt(model._record.lost or 0.0)) if model._record.updates else 0.0
    close = (SINGLE if E.dtype == np.float32 else DOUBLE) * size + lost
    if not bool(np.all(np.abs(E - anew) <= close)):
        words.append("embedding_ of the model is not that of the documents")
    return words
