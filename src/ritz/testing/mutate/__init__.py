"""Does ``verify`` find out every stored number that was changed? ``python -m ritz.testing.mutate``.

    targets    every number, truth value, array and word of a fitted model and its certificate, with the way to it
    changes    × (1 + 1e-3), × 2, another sign, two entries exchanged, entries in another order, zero, NaN, …
    models     each method, from rows, from states, with weights, gaps, sparse rows, float32

A change is to be found unless it moves a number by less than the accuracy that is promised for it (``rule.py``). Only
costs are left out, by name and with the reason (``targets.EXCLUDED``).
"""

from __future__ import annotations

from ritz.testing.mutate.run import main, unfound

__all__ = ["main", "unfound"]
