"""Names of ``_core/linalg.py`` under the module in which they were before; for imports that have not moved yet."""

from __future__ import annotations

from ritz._core.linalg import HOST, Array, Floats, Place, is_foreign, namespace, place_of, to_numpy, working_dtype

__all__ = ["HOST", "Array", "Floats", "Place", "is_foreign", "namespace", "place_of", "to_numpy", "working_dtype"]
