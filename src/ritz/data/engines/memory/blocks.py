"""``MemoryBlocks`` of ``data/passes/blocks.py`` under the module in which it was before; for imports not moved yet."""

from __future__ import annotations

from ritz.data.passes.blocks import MemoryBlocks

__all__ = ["MemoryBlocks"]
