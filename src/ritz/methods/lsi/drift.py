"""Drift: whether the documents that were added are like those of the fit, and whether the weights still hold.

    outside(x) = ‖x − V Vᵀx‖²/‖x‖²        share of a new document that no topic of the model explains
    expected   = w·q + (1 − w)·q/(q + 1 − ρ),   q = ρ/(1 − h)²,   w = 1 − h^1.5

ρ the share that topics leave of a document of the fit, h = Σ_j (e_j/σ_j)² its leverage. A document of the fit has bent
the topics towards itself; dividing by (1 − h)² undoes that, as in leave-one-out residuals [All74], so that further
documents of the same kind are expected to leave as much. This is right for small h and too large for others, where
parts must still sum to one; w was chosen between both on random parts of newsgroups (100 to 1,000 messages, 20 to 200
topics), of which the mean is foretold to 0.03. With as many topics as documents h = 1, and the limit is known:
1/Σ_j (e_j/σ_j²)², the distance from the span of the others.

    above = P(outside of a new document > expected of a document of the fit)        ½ if they are alike  [MW47]

A refit is due where new documents lie above those of the fit more often than chance explains, where topics explain less
than half of what is expected of them, or where the weights of words have changed by half.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.tabular import Tabular
from ritz.methods.lsi.filed import squares_of

__all__ = ["Drift", "Energies", "added_energies", "drift_of", "first_energies"]

#: A refit is due where new documents lie above those of the fit with this probability (messages of the same newsgroups:
#: 0.25 to 0.6; of another group: 0.8 to 1), by more than so many standard errors …
ABOVE, SURE = 0.7, 3.0
#: … or where topics explain less than this share of what they are expected to explain (0.8 to 2.5 of messages of the
#: same newsgroups, 0.1 to 0.45 of another group), …
EXPLAINED = 0.5
#: … or where the weights of words, by how often these occur, have changed by more than this share: twenty times as many
#: documents of the same kind change them by 0.4.
REWEIGHTED = 0.5
#: Documents of the fit, and of the updates, from which on they are compared.
FEW = 10
#: Leverage from which a document is a topic by itself, and singular values, beside the first, that are none.
WHOLE, FAINT = 1.0 - 1e-6, 1e-8
#: Quantiles that are kept of what is expected.
QUANTILES = np.linspace(0.0, 1.0, 201)


@dataclass(frozen=True)
class Drift(Tabular):
    """How updates compare with the fit.

    Attributes
    ----------
    outside : mean share of the new documents that the topics at that time did not explain; nan without updates
    expected : the same of further documents like those of the fit
    above : probability that a new document lies further outside than one of the fit
    reweighted : change of the weights of words, by how often words occur now
    documents : documents that were added
    due : whether a refit is due
    why : the reason in words
    """

    outside: float
    expected: float
    above: float
    reweighted: float
    documents: int
    due: bool
    why: str

    def __bool__(self) -> bool:
        return self.due

    def __str__(self) -> str:
        return f"drift: {'a refit is due' if self.due else 'none'}: {self.why}"

    def _table(self) -> dict[str, Any]:
        return {
            name: [getattr(self, name)] for name in ("outside", "expected", "above", "reweighted", "documents", "due")
        }


@dataclass(frozen=True)
class Energies:
    """What drift is told from."""

    fitted: int  # documents of the fit that have words
    expected: float
    quantiles: NDArray[np.float64]  # of what is expected of single documents
    added: int = 0
    outside: float = 0.0  # sum over the new documents
    squares: float = 0.0  # of its squares
    above: float = 0.0  # sum of their ranks


def first_energies(model: Any, rows: Any) -> Energies:
    """What is expected of further documents, from those of a fit."""
    E, sigma = np.asarray(model.embedding_, np.float64), np.asarray(model.singular_values_, np.float64)
    whole = squares_of(rows)
    there = whole > 0
    if not bool(np.any(there)):
        return Energies(0, 1.0, np.ones(len(QUANTILES)))
    E, whole = E[there], whole[there]
    scaled = np.where(sigma > FAINT * np.max(sigma, initial=0.0), sigma, np.inf)
    leverage = np.minimum(np.square(E / scaled).sum(axis=1), 1.0)
    rest = np.maximum(1.0 - np.square(E).sum(axis=1) / whole, 0.0)
    span = 1.0 / np.maximum(np.square(E / scaled / scaled).sum(axis=1) * whole, 1e-300)
    alone = rest / np.square(np.maximum(1.0 - leverage, 1.0 - WHOLE))
    part, large = alone / np.maximum(alone + 1.0 - rest, 1e-300), leverage**1.5
    share = np.where(leverage > WHOLE, span, (1.0 - large) * np.minimum(alone, 1.0) + large * part)
    share = np.clip(share, 0.0, 1.0)
    return Energies(int(there.sum()), float(np.mean(share)), np.quantile(share, QUANTILES))


def added_energies(before: Energies, rows: Any, inside: Any) -> Energies:
    """The sums with those of documents that are added, whose coordinates before the update have squares ``inside``."""
    whole = squares_of(rows)
    there = whole > 0
    share = np.clip(1.0 - inside[there] / whole[there], 0.0, 1.0)
    low, high = (np.searchsorted(before.quantiles, share, side) for side in ("left", "right"))
    ranks = (low + high) / (2.0 * len(QUANTILES))
    return Energies(
        before.fitted, before.expected, before.quantiles, before.added + int(there.sum()),
        before.outside + float(share.sum()), before.squares + float(np.square(share).sum()),
        before.above + float(ranks.sum()),
    )  # fmt: skip


def drift_of(model: Any) -> Drift:
    """What is known of the updates so far."""
    seen: Energies | None = model._record.energies
    if seen is None or not seen.added:
        expected = float("nan") if seen is None else seen.expected
        why = f"no documents {'with a known word ' if model._record.updates else ''}were added since the fit"
        return Drift(float("nan"), expected, float("nan"), 0.0, 0, False, why)
    n, m = seen.fitted, seen.added
    outside, above = seen.outside / m, seen.above / m
    error = np.sqrt((n + m + 1) / (12.0 * n * m)) if n else np.inf  # of the Mann–Whitney statistic
    changed = _reweighted(model)
    spread = np.sqrt(max(seen.squares / m - outside**2, 0.0) / m + np.var(seen.quantiles) / max(n, 1))
    less = 1.0 - outside < EXPLAINED * (1.0 - seen.expected) and outside - seen.expected > SURE * spread
    further = min(n, m) >= FEW and (less or (above > ABOVE and above - 0.5 > SURE * error))
    words = f"topics leave {100 * outside:.0f} % of {m:,} documents that were added, "
    words += f"where {100 * seen.expected:.0f} % are expected"
    words += f" (further outside than those of the fit with probability {above:.2f})"
    if changed > REWEIGHTED:
        words += f"; weights of words have changed by {100 * changed:.0f} %"
    return Drift(outside, seen.expected, above, changed, m, bool(further or changed > REWEIGHTED), words)


def _reweighted(model: Any) -> float:
    """Σ gf |g' − g| / Σ gf g over the words of the fit, g' the global weights that a refit would use."""
    from ritz.methods.lsi.weighed import weighting_of

    record = model._record
    if record.word_sums_now is None:
        return 0.0
    old, new = weighting_of(model), weighting_of(model)
    old.sums_, new.sums_ = record.word_sums, record.word_sums_now
    known = record.word_sums.df > 0
    before, after, often = (
        np.asarray(x)[known] for x in (old.global_weights_, new.global_weights_, record.word_sums_now.gf)
    )
    size = float(np.sum(often * before))
    return float(np.sum(often * np.abs(after - before))) / size if size > 0 else 0.0
