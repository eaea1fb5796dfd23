"""What tests of data share."""

from __future__ import annotations

import pytest

from ritz.data.passes.sparse import products as sparse_products


@pytest.fixture
def loops(monkeypatch):
    """Compiled loops from the first entry on."""
    pytest.importorskip("numba", reason="the extra fast is not installed")
    monkeypatch.setattr(sparse_products, "FEW", 0)
    monkeypatch.setattr(sparse_products, "ENOUGH", 0)
    monkeypatch.setattr(sparse_products, "_room", float("inf"))
    monkeypatch.setattr(sparse_products, "_loops", None)
