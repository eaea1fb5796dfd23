"""How many components: rules that read a spectrum, whole or in part."""

from __future__ import annotations

from ritz.rank.rule import NAMES, Fraction, criterion, resolve
from ritz.rank.shares import Criterion, Curve

__all__ = ["NAMES", "Criterion", "Curve", "Fraction", "criterion", "resolve"]
