"""How many components: rules that read a spectrum, whole or in part, and rules that are handed more."""

from __future__ import annotations

from ritz.rank.rule import NAMES, ROWLESS, SPECTRAL, Fraction, Options, criterion, resolve
from ritz.rank.shares import Criterion, Curve

__all__ = ["NAMES", "ROWLESS", "SPECTRAL", "Criterion", "Curve", "Fraction", "Options", "criterion", "resolve"]
