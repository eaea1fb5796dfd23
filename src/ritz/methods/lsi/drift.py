"""Drift: whether the documents that were added are like those of the fit, and whether the weights still hold.

    outside(x) = ‖x − V Vᵀx‖²/‖x‖²        share of a new document that no topic of the model explains
    expected   = mean of ‖r_i‖²/(1 − h_i)², r_i the rest of document i of the fit, h_i = Σ_j (e_ij/σ_j)² its leverage

A document of the fit has bent the topics towards itself; dividing by (1 − h)² undoes that, as in leave-one-out
residuals [All74], so that further documents of the same kind are expected to leave as much. A refit is due where they
leave clearly more, or where the weights of words have changed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["Drift", "added_energies", "drift_of", "first_energies"]

#: A refit is due where topics explain less than this share of what they are expected to explain of new documents …
EXPLAINED = 0.8
#: … by more than so many standard errors of that mean, …
SURE = 4.0
#: … or where the weights of words, by how often these occur, have changed by more than this share.
REWEIGHTED = 0.25


@dataclass(frozen=True)
class Drift:
    """How updates compare with the fit.

    Attributes
    ----------
    outside : share of the new documents that the topics at that time did not explain; nan without updates
    expected : the same share of further documents like those of the fit
    reweighted : change of the weights of words, by how often words occur now
    documents : documents that were added
    due : whether a refit is due
    why : the reason in words
    """

    outside: float
    expected: float
    reweighted: float
    documents: int
    due: bool
    why: str

    def __bool__(self) -> bool:
        return self.due

    def __str__(self) -> str:
        return f"drift: {'a refit is due' if self.due else 'none'}: {self.why}"


def first_energies(model: Any, rows: Any) -> tuple[float, ...]:
    """What is expected of further documents: mean and mean square of the share outside, of documents with words."""
    E, sigma = np.asarray(model.embedding_, np.float64), np.asarray(model.singular_values_, np.float64)
    whole = np.asarray(rows.multiply(rows).sum(axis=1)).ravel()
    there = whole > 0
    if not bool(np.any(there)):
        return (0.0, 1.0, 0.0, 0.0, 0.0, 0.0)
    inside = np.square(E[there]).sum(axis=1)
    scaled = np.where(sigma > 1e-12 * np.max(sigma, initial=0.0), sigma, np.inf)
    leverage = np.minimum(np.square(E[there] / scaled).sum(axis=1), 1.0)
    rest = np.maximum(1.0 - inside / whole[there], 0.0)
    alone = np.where(leverage > 1 - 1e-9, 1.0, rest / np.square(np.maximum(1.0 - leverage, 1e-9)))
    share = np.minimum(alone, 1.0)
    return (float(there.sum()), float(np.mean(share)), float(np.var(share)), 0.0, 0.0, 0.0)


def added_energies(before: tuple[float, ...], rows: Any, inside: Any) -> tuple[float, ...]:
    """The sums with those of documents that are added, whose coordinates before the update have squares ``inside``."""
    whole = np.asarray(rows.multiply(rows).sum(axis=1)).ravel()
    there = whole > 0
    share = np.clip(1.0 - inside[there] / whole[there], 0.0, 1.0)
    count, total, squares = before[3:]
    return (*before[:3], count + int(there.sum()), total + float(share.sum()), squares + float(np.square(share).sum()))


def drift_of(model: Any) -> Drift:
    """What is known of the updates so far."""
    record = model._record
    if not record.energies or not record.updates:
        expected = record.energies[1] if record.energies else float("nan")
        return Drift(float("nan"), expected, 0.0, 0, False, "no documents were added since the fit")
    n, expected, spread, m, total, squares = record.energies
    outside = total / m if m else float("nan")
    error = np.sqrt(max(squares / m - outside**2, 0.0) / m + spread / n) if m else float("inf")
    changed = _reweighted(model)
    less = (1 - outside) < EXPLAINED * (1 - expected) and (outside - expected) > SURE * error
    words = f"topics leave {outside:.0%} of the {int(m):,} documents that were added, {expected:.0%} are expected"
    if changed > REWEIGHTED:
        words += f"; weights of words have changed by {changed:.0%}"
    return Drift(outside, expected, changed, int(m), bool(less or changed > REWEIGHTED), words)


def _reweighted(model: Any) -> float:
    """Σ gf |g' − g| / Σ gf g over the words of the fit, g' the global weights that a refit would use."""
    from ritz.methods.lsi.weighed import weighting_of

    record = model._record
    if record.now is None:
        return 0.0
    old, new = weighting_of(model), weighting_of(model)
    old.sums_, new.sums_ = record.sums, record.now
    known = record.sums.df > 0
    before, after, often = (np.asarray(x)[known] for x in (old.global_weights_, new.global_weights_, record.now.gf))
    size = float(np.sum(often * before))
    return float(np.sum(often * np.abs(after - before))) / size if size > 0 else 0.0
