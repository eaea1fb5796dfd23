"""Tensors of known error, and whether certificates of tensors are true of them: ``python -m ritz.testing.tensors``."""

from __future__ import annotations

from ritz.testing.tensors.cases import Case, cases
from ritz.testing.tensors.run import check_case, run

__all__ = ["Case", "cases", "check_case", "run"]
