"""Documents that are added to a model, with new words, without reading the old ones.                         [ZS99]

    W = UΣVᵀ + E   (n×d),   D (m×d') weights of the new documents,   V padded with zeros for words that are new

    B = [ΣVᵀ; D]   ((k + m)×d'),     B V' ≈ U' Σ',     documents of the fit  e ↦ e (Vᵀ V'),   new ones  D V'

Zha and Simon decompose B through a QR factorisation of (I − VVᵀ)Dᵀ; here it is handed to the solvers as it is, by its
products, so that D stays sparse and the answer has its residuals. What all documents say differs from what B says by
what was cut off before, M = BᵀB + P, and P only grows by what each step leaves of its own B:

    −Σ‖R‖  ⪯  P  ⪯  Σ(τ + ‖R‖)        so        λ_i(BᵀB) − Σ‖R‖  ≤  λ_i  ≤  λ_i(BᵀB) + min(Σ(τ + ‖R‖), tr P + √k Σ‖R‖)

R the residuals of the pairs that were kept and τ the largest eigenvalue that was not, both bounded by the certificate.
With k not below the rank P is rounding, and an update is the fit of all documents.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ritz._core.errors import InputError, LSIDrift, ParameterError
from ritz._core.keys import key_of_numbers
from ritz._core.random import seed_of
from ritz._core.warn import warn
from ritz.data.words import counted
from ritz.methods.lsi.bm25 import inverted
from ritz.methods.lsi.checks import MOST_TOPICS
from ritz.methods.lsi.counted import Counted, count_texts, is_counts, placed, read
from ritz.methods.lsi.drift import added_energies, drift_of
from ritz.methods.lsi.routes import without_zeros
from ritz.methods.lsi.weighed import columns_of, empty_in, rule_of, tell_empty, weigh
from ritz.operators.base import Operator
from ritz.spectral.plan import Shape
from ritz.spectral.problem import SpectralProblem
from ritz.spectral.solve import solve
from ritz.text.adopt import documents
from ritz.text.sums import Sums

__all__ = ["Stacked", "update"]

Floats = NDArray[np.float64]


class Stacked(Operator):
    """``[C; D]`` with C (k, d) dense and D (m, d) sparse."""

    def __init__(self, top: Floats, rows: Any) -> None:
        super().__init__((top.shape[0] + rows.shape[0], top.shape[1]), np.float64)
        self.top, self.rows, self._turned = top, rows, rows.T.tocsr()

    def _matmat(self, V: Any) -> Any:
        return np.vstack([self.top @ V, self.rows @ V])

    def _rmatmat(self, U: Any) -> Any:
        k = len(self.top)
        return self.top.T @ U[:k] + self._turned @ U[k:]

    def frobenius2(self) -> float:
        """Of both parts."""
        return float(np.sum(np.square(self.top)) + np.sum(np.square(self.rows.data)))

    def key(self) -> int:
        """Of the sums of squares of the columns."""
        squares = self.rows.multiply(self.rows).sum(axis=0)
        return key_of_numbers(np.square(self.top).sum(axis=0) + np.asarray(squares).ravel())

    def symbol(self) -> str:
        """As algebra."""
        return "[ΣVᵀ; D]"


def update(model: Any, X: Any, text: str | None) -> None:
    """Add documents; the model is changed once everything is known."""
    if model.method == "ca":
        raise ParameterError(
            "update is for method='svd' and 'kernel': masses of all rows enter a correspondence analysis",
            received="method='ca'",
            hint="fit all documents at once",
        )
    found, words = _counted(model, X, text)
    if not found.counts.shape[0]:
        return
    grown = _Grown(model, found.counts, words)
    rows = grown.rows
    V = grown.padded(np.asarray(model.components_, np.float64)).T
    inside = np.square(np.asarray(rows @ V)).sum(axis=1)
    solution = _solved(model, V, rows)
    model._record = replace(model._record)  # a copy of the model keeps its own
    _name(model, solution, V, rows)
    _grow(model, found, grown, inside)
    tell_empty(*empty_in(rows))
    told = drift_of(model)
    if told.due:
        warn(f"{told.why}\nhint: fit all documents again", LSIDrift)


def _counted(model: Any, X: Any, text: str | None) -> tuple[Counted, Any]:
    """Counts of the new documents over old words, then new ones, and the new words."""
    d = int(model.n_features_in_)
    none = np.zeros(0, dtype=object)
    if is_counts(X):
        found = read(X)
        if found.words is None or model.vocabulary_ is None:
            if found.counts.shape[1] != d:
                raise InputError(
                    f"expected counts of the {counted(d, 'word')} of the model",
                    received=f"a matrix of shape {found.counts.shape}",
                    hint="a frame whose columns are words, or the texts, may have new words",
                )
            return found, none
        counts, words = found.counts, found.words
    else:
        docs = documents(X, text=text, memory=model.memory)
        kept: list[str] | None = None if model._record.texts is None else []
        counts, words = count_texts(rule_of(model), model._record.buckets, docs, model.memory, kept)
        found = Counted(counts, words, docs, names=docs.names, texts=kept)
        if words is None:
            return found, none
    columns = columns_of(model, words)
    new = np.flatnonzero((columns < 0) & _common(model, counts))
    columns[new] = d + np.arange(len(new))
    found.counts = placed(counts, columns, d + len(new))
    return found, np.asarray(words, dtype=object)[new]


def _common(model: Any, counts: Any) -> Any:
    """New words that get a column: in as many of the new documents as ``min_df`` asks for; none beyond a limit."""
    least = model.min_df if isinstance(model.min_df, (int, np.integer)) else model.min_df * counts.shape[0]
    df = np.bincount(counts.indices, minlength=counts.shape[1])
    return df >= least if model.max_features is None else np.zeros(counts.shape[1], bool)


class _Grown:
    """The words of a model with new ones behind them, and the weights of new documents over both."""

    def __init__(self, model: Any, counts: Any, words: Any) -> None:
        record = model._record
        self.words, self.d = words, counts.shape[1]
        self.before = int(model.n_features_in_)
        self.sums = record.word_sums.moved(np.arange(self.before), self.d)
        now = record.word_sums if record.word_sums_now is None else record.word_sums_now
        self.now = now.moved(np.arange(self.before), self.d) + Sums.of(sp.csr_array(counts, dtype=np.float64))
        shadow = _Weighs(model, self.sums)
        self.rows = weigh(shadow, counts)

    def padded(self, components: Floats) -> Floats:
        """(k, d') components that say nothing of new words."""
        return np.pad(components, ((0, 0), (0, self.d - self.before)))


class _Weighs:
    """What ``weigh`` asks of a model, with other sums."""

    def __init__(self, model: Any, sums: Sums) -> None:
        self.method, self.weighting, self.norm = model.method, model.weighting, model.norm
        self._record = type(model._record)(word_sums=sums)


def _solved(model: Any, V: Floats, rows: Any) -> Any:
    """Leading pairs of [ΣVᵀ; D]."""
    B = Stacked(np.asarray(model.singular_values_, np.float64)[:, None] * V.T, rows)
    n, d = B.shape
    k = min(_wanted(model), n, d)
    plan = model._plan_for(Shape(n, d, 8, B.top.size + rows.nnz), k)
    problem = SpectralProblem(B, k, tol=model.tol, seed=seed_of(model.random_state))
    first = solve(problem, plan, frame={"matrix": "WᵀW"})
    again = lambda k: solve(replace(problem, k=k), plan, frame={"matrix": "WᵀW"})  # noqa: E731
    return without_zeros(first, again)


def cut_off(certificate: Any, small: int) -> tuple[float, float]:
    """τ and ‖R‖ of a certificate of a table whose smaller side is ``small``."""
    values = np.asarray(certificate.values, np.float64)
    residual = float(np.linalg.norm(certificate.residuals)) + float(certificate.rounding)
    if len(values) >= small:
        return 0.0, residual
    rest = max(float(certificate.total) - float(np.sum(values)), 0.0) + len(values) * float(certificate.rounding)
    ceiling = float(certificate.ceiling)
    if not np.isfinite(ceiling):
        return rest, residual
    apart = len(values) > 0 and values[-1] - residual > ceiling
    ceiling = ceiling if apart else max(ceiling, float(np.max(certificate.upper[-1:], initial=0.0)))
    return max(min(ceiling + residual, rest), 0.0), residual


def _wanted(model: Any) -> int:
    """How many components an updated model has: as many as a fit was told, or the most that a fit takes untold.

    What an update cuts off is lost to later ones, so that none is cut off before that.
    """
    asked = model.n_components
    if asked is None:
        return MOST_TOPICS
    return int(asked) if isinstance(asked, (int, np.integer)) else int(model.n_components_)


def _name(model: Any, solution: Any, V: Floats, rows: Any) -> None:
    """Topics and documents of the updated model, with a certificate that knows what was cut off."""
    record, before = model._record, model.certificate_
    cut = record.cut or cut_off(before, min(model.n_samples_, model.n_features_in_))
    lost, mixed = ((record.lost or 0.0) + sum(cut), (record.mixed or 0.0) + cut[1])
    # tr P, and what the negative part of P takes off it: Σ‖R‖_* ≤ √k Σ‖R‖
    left = max(float(before.total) - float(np.sum(before.values)), 0.0) + np.sqrt(_wanted(model)) * mixed
    total = float(model.total_) + float(np.sum(np.square(rows.data)))
    new, told = np.asarray(solution.vectors, np.float64), solution.certificate
    n = model.n_samples_ + rows.shape[0]
    model.certificate_ = widened(told, min(lost, left), mixed, total, n)
    E = np.asarray(model.embedding_, np.float64) @ (V.T @ new)
    model.embedding_ = np.vstack([E, np.asarray(rows @ new)]).astype(model.embedding_.dtype)
    model.components_ = np.ascontiguousarray(new.T)
    model.singular_values_ = np.asarray(solution.singular_values, np.float64)
    model.plan_, model.total_, model.n_components_ = solution.plan, total, len(model.singular_values_)
    variance = np.var(np.asarray(model.embedding_, np.float64), axis=0)
    model.explained_variance_ = variance
    model.explained_variance_ratio_ = variance * n / total if total > 0 else np.zeros_like(variance)
    record.lost, record.mixed, record.cut = lost, mixed, cut_off(told, min(n, rows.shape[1]))
    record.left = max(total - float(np.sum(told.values)), 0.0)
    record.weight = float(n)
    record.norms = record.word_columns = record.seen = record.seen_values = record.choice = None


def widened(certificate: Any, lost: float, mixed: float, total: float, n: int) -> Any:
    """The certificate of BᵀB as one of all documents: λ moves by −``mixed`` to ``lost``."""
    c, reach = certificate, max(lost, mixed)
    lower, upper = np.maximum(c.lower - mixed, 0.0), c.upper + lost
    ceiling = max(c.ceiling, 0.0) + lost  # B has no more eigenvalues, all documents have: what was cut off
    above, below = np.append(np.inf, lower[:-1])[: len(lower)], np.append(upper[1:], ceiling)[: len(lower)]
    gaps = np.minimum(above - c.values, c.values - below)
    with np.errstate(divide="ignore", invalid="ignore"):
        # ‖(M − θ)v‖ over the distance of θ to every other eigenvalue of M, which lies closer than that of BᵀB may
        angles = np.where(gaps > 0, np.maximum(c.angles, (c.residuals + c.rounding + reach) / gaps), np.inf)
    frame = {name: value for name, value in c.frame.items() if name != "grounds"} | {"updated": True}
    note = f"updated, {counted(n, 'document')}: what updates cut off moves eigenvalues by {reach:.3g} at most"
    return replace(
        c, lower=lower, upper=upper, residuals=c.residuals + reach, angles=np.where(angles < 1, angles, np.nan),
        clusters=(), ceiling=ceiling, total=total, rounding=c.rounding + mixed, notes=(*c.notes, note), frame=frame,
    )  # fmt: skip


def _grow(model: Any, found: Counted, grown: _Grown, inside: Any) -> None:
    """Words, documents and sums of the updated model."""
    record, n = model._record, model.n_samples_
    m = found.counts.shape[0]
    before = n
    record.energies = added_energies(record.energies, grown.rows, inside)
    record.batches = (*(record.batches or (before,)), m) if record.batches or not record.updates else None
    record.updates = int(record.updates or 0) + 1
    record.word_sums, record.word_sums_now = grown.sums, grown.now
    if len(grown.words):
        since = np.zeros(grown.before, np.int64) if record.since is None else record.since
        record.since = np.concatenate([since, np.full(len(grown.words), before, np.int64)])
        model.feature_names_in_ = np.concatenate([model.feature_names_in_, grown.words])
    model.n_features_in_, model.n_samples_ = grown.d, n + m
    model.empty_ = np.concatenate([model.empty_, n + np.flatnonzero(np.diff(grown.rows.indptr) == 0)])
    _grow_rows(model, found, before)


def _grow_rows(model: Any, found: Counted, before: int) -> None:
    record, m = model._record, found.counts.shape[0]
    if record.inverted is not None:
        old, d = record.inverted, found.counts.shape[1]
        ends = np.append(old.indptr, np.full(d - old.shape[0], old.indptr[-1], old.indptr.dtype))
        grown = sp.csr_array((old.data, old.indices, ends), shape=(d, before))
        record.inverted = inverted(sp.hstack([grown, found.counts.T], format="csr").T)
        lengths = np.asarray(found.counts.sum(axis=1), np.float64).ravel()
        record.lengths = np.concatenate([record.lengths, lengths])
    names = found.names
    if record.row_labels is not None or names is not None:
        old_names = [f"row {i}" for i in range(before)] if record.row_labels is None else list(record.row_labels)
        record.row_labels = old_names + ([f"row {before + i}" for i in range(m)] if names is None else list(names))
    docs = found.documents
    if record.texts is not None:
        record.texts = None if found.texts is None else record.texts + found.texts
    readable = docs if docs is not None and docs.reiterable else None
    if record.source is not None or readable is not None:
        first = record.source if isinstance(record.source, list) else [(0, record.source)]
        record.source = [*first, (before, readable)]
