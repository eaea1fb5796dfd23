"""What the parameters of an LSI may be, and what a fitted one says of itself."""

from __future__ import annotations

from typing import Any

from ritz._core.errors import ParameterError
from ritz.data.words import counted, describe, nearest
from ritz.text.counts import Counts
from ritz.text.named import weighting
from ritz.text.weights import NORMS
from ritz.text.words import Words

__all__ = ["METHODS", "check_parameters", "require_unweighted", "summary"]

METHODS = ("svd", "ca", "kernel")


def check_parameters(model: Any) -> None:
    """Refuse a parameter outside what it may be."""
    if model.method not in METHODS:
        raise ParameterError(
            f"method must be one of {', '.join(map(repr, METHODS))}", received=repr(model.method),
            hint=f"method={nearest(model.method, METHODS)!r}",
        )  # fmt: skip
    if model.norm not in ("auto", *NORMS):
        raise ParameterError("norm must be 'auto', 'l2', 'l1' or None", received=repr(model.norm))
    if model.words is not None and not isinstance(model.words, Words):
        raise ParameterError(
            "words must be None or a ritz.text.Words", received=describe(model.words), hint="words=ritz.text.Words()"
        )
    weighting(model.weighting)._check_parameters()
    Counts(model.words, model.min_df, model.max_df, model.max_features, model.hashing)._check_parameters()


def require_unweighted(sample_weight: Any) -> None:
    """Refuse weights of documents."""
    if sample_weight is not None:
        raise ParameterError(
            "documents of an LSI have no weights", received=describe(sample_weight), hint="leave out sample_weight="
        )


def summary(model: Any) -> str:
    """A fitted model in one or two lines: its sizes, and the language that was recognised."""
    sizes = ((model.n_samples_, "document"), (model.n_features_in_, "word"), (model.n_components_, "topic"))
    words = ", ".join(counted(number, what) for number, what in sizes)
    return f"  {words}" if model.language_ is None else f"  {words}\n  {model.language_}"
