"""From texts to sparse counts and weights: words, vocabularies that merge, weightings that merge.

    documents(source)  →  Documents             texts of a list, a frame, a folder, files, an iterable; read in batches
    Words(...)         →  tokens of a text      the rule: Unicode words, stop words, stems, n-grams
    Counts(words)      →  CSR (n, d)            how often each word occurs in each document
    Weighting(...)     →  CSR (n, d)            histogram, tf-idf, log-entropy, BM25, pivoted length

Names load on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ritz._core.imports import module_of

if TYPE_CHECKING:
    from ritz.text.adopt import documents as documents
    from ritz.text.collection import Documents as Documents
    from ritz.text.counts import Counts as Counts
    from ritz.text.named import weighting as weighting
    from ritz.text.weights import Weighting as Weighting
    from ritz.text.words import Words as Words

_NAMES = {
    "Counts": "counts",
    "Documents": "collection",
    "Weighting": "weights",
    "Words": "words",
    "documents": "adopt",
    "weighting": "named",
}

__all__ = sorted(_NAMES)


def __getattr__(name: str) -> Any:
    if name in _NAMES:
        return getattr(module_of(f"ritz.text.{_NAMES[name]}"), name)
    raise AttributeError(f"module 'ritz.text' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
