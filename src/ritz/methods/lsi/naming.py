"""What a fit of texts names: topics by either route, and what is kept of its documents."""

from __future__ import annotations

from typing import Any

import numpy as np

from ritz._core.memory import limit
from ritz.methods.lsi.counted import Counted
from ritz.methods.lsi.drift import first_energies
from ritz.methods.lsi.filed import entries_of
from ritz.methods.lsi.routes import kept_of
from ritz.methods.lsi.weighed import empty_in, tell_empty

__all__ = ["describe_documents", "name_table"]

#: Share of the memory limit that coordinates may take in float64; beyond it they are held in float32.
SHARE = 0.25


def name_table(model: Any, ca: Any) -> None:
    """Axes of a correspondence analysis: the frame of its rows is kept, and all it needs to be verified."""
    record, kept = model._record, ca._record
    model.components_ = ca.components_
    model.singular_values_ = np.sqrt(np.maximum(ca.eigenvalues_, 0.0))
    model.explained_variance_ = np.asarray(ca.eigenvalues_, np.float64)
    model.explained_variance_ratio_ = np.asarray(ca.explained_inertia_ratio_, np.float64)
    model.total_ = float(ca.total_inertia_)
    model.certificate_, model.plan_ = ca.certificate_, ca.plan_
    model.n_components_ = len(model.singular_values_)
    record.mean64, record.scale64, record.weight = kept.mean, kept.scale, kept.weight
    record.seen, record.seen_values, record.choice = kept.seen, kept.seen_values, kept.choice
    record.dtype, record.table = np.dtype(np.float64), kept_of(ca)


def describe_documents(model: Any, found: Counted, rows: Any) -> None:
    """Coordinates of the documents, and what is kept of words and texts."""
    record, n = model._record, rows.shape[0]
    narrow = 8.0 * n * len(model.singular_values_) > SHARE * limit(model.memory)
    model.embedding_ = model._coordinates(rows, np.float32 if narrow else np.float64)
    model.n_samples_, model.language_ = n, found.language
    model.empty_ = np.flatnonzero(entries_of(found.counts, rows) == 0)
    model.unseen_ = np.zeros(n, np.int64) if found.unseen is None else np.asarray(found.unseen)
    record.row_labels = None if found.names is None else list(found.names)
    record.updates, record.lost = 0, 0.0
    record.energies = None if model.method == "ca" else first_energies(model, rows)
    record.texts = found.texts
    if found.documents is not None and found.documents.reiterable:
        record.source = found.documents
    tell_empty(*(empty_in(rows) if hasattr(rows, "indptr") else (len(model.empty_), n)))
