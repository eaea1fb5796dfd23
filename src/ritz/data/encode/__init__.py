"""Columns of categories and numbers as rows of numbers: indicators, sparse all the way, in memory or outside it."""

from __future__ import annotations

from ritz.data.encode.encoder import Encoder

__all__ = ["Encoder"]
