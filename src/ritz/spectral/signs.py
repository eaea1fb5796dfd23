"""``signs`` of ``_core/linalg.py`` under the module in which it was before; for imports that have not moved yet."""

from __future__ import annotations

from ritz._core.linalg import signs

__all__ = ["signs"]
