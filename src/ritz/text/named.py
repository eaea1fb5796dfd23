"""Weightings by name."""

from __future__ import annotations

from typing import Any

from ritz._core.errors import ParameterError
from ritz.data.words import nearest
from ritz.text.weights import Weighting

__all__ = ["NAMES", "weighting"]

#: local, global and norm of each name.
NAMES: dict[str, tuple[str, str, str | None]] = {
    "count": ("count", "none", None),
    "histogram": ("histogram", "none", None),
    "tf-idf": ("count", "idf", "l2"),
    "sublinear": ("sublinear", "idf", "l2"),
    "log-entropy": ("log", "entropy", "l2"),
    "bm25": ("bm25", "bm25", None),
    "pivoted": ("pivoted", "pivoted", None),
}


def weighting(name: Any) -> Weighting:
    """A new weighting by its name; a ``Weighting`` is handed back as it is.

    Parameters
    ----------
    name : str or Weighting
        ``"count"``, ``"histogram"`` (counts over length), ``"tf-idf"`` (as scikit-learn's), ``"sublinear"`` (tf-idf of
        1 + log tf), ``"log-entropy"``, ``"bm25"`` (as Lucene's), ``"pivoted"``.

    Examples
    --------
    >>> import ritz
    >>> ritz.text.weighting("log-entropy")
    Weighting(global_='entropy', local='log', norm='l2')
    """
    if isinstance(name, Weighting):
        return name
    if name not in NAMES:
        raise ParameterError(
            f"weighting must be one of {', '.join(map(repr, NAMES))}, or a ritz.text.Weighting",
            received=repr(name),
            hint=f"weighting={nearest(name, list(NAMES))!r}",
        )
    local, global_, norm = NAMES[name]
    return Weighting(local, global_, norm)
