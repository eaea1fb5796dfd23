"""Gaps in rows of a kernel method: filled by a PCA of the rows of the fit, those of new rows by the same.

x_m ← what k components expect of the missing entries given the rest        (``missing=`` of ``ritz.PCA``)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ritz._core.errors import InputError
from ritz.data.validate import validate_rows

__all__ = ["MISSING", "filled_by", "learn_gaps"]

#: What ``missing`` may be.
MISSING = ("error", "mean", "em", "regularized")


def learn_gaps(model: Any, X: Any) -> Any:
    """Rows of a fit with their gaps filled; the PCA that fills those of new rows is kept."""
    from ritz.methods.pca import PCA

    rows = validate_rows(model, X, reset=True)
    if not (isinstance(rows, np.ndarray) and rows.dtype.kind == "f" and bool(np.isnan(rows).any())):
        return X
    most = min(5, *(side - 1 for side in rows.shape)) or 1
    k: Any = "gcv" if min(rows.shape) > 2 else most
    pca = PCA(k, missing=model.missing, random_state=model.random_state, memory=model.memory).fit(rows)
    model._record.filler, model._record.gaps = pca._record.filler, np.isnan(rows)
    full = model._record.filler.fill(rows, 0)
    if hasattr(model, "feature_names_in_"):
        return _named(model, full)
    return full


def _named(model: Any, full: Any) -> Any:
    """Filled rows with the names of the frame that they came from."""
    import pyarrow as pa

    return pa.table({str(name): full[:, j] for j, name in enumerate(model.feature_names_in_)})


def filled_by(model: Any, X: Any) -> Any:
    """New rows with their gaps filled as those of the fit were."""
    rows = validate_rows(model, X, reset=False)
    if not (isinstance(rows, np.ndarray) and rows.dtype.kind == "f" and bool(np.isnan(rows).any())):
        return X
    filler = model._record.filler
    if filler is None:
        raise InputError(
            "new rows have gaps, and those of the fit had none to learn from", received="NaN",
            hint="fit rows with gaps, or fill them first: ritz.PCA(missing='regularized').impute(X)",
        )  # fmt: skip
    full = filler.fill(rows, 0)
    return _named(model, full) if hasattr(model, "feature_names_in_") else full
