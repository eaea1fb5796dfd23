"""What FAMD and MFA share where gaps are filled in: which parameters it needs, and what it rules out.

missing="regularized"  →  n_components an int; rows in memory; no state that could be merged (``regularized.py``)
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from ritz._core.bases import check_is_fitted
from ritz._core.errors import MergeError, ParameterError
from ritz.methods.correspondence.encoded.encoded import EncodedColumns, EncodedTable

__all__ = ["FilledColumns"]


class FilledColumns(EncodedColumns):
    """Base of methods of numbers and categories that can fill in what is missing."""

    _missing_ways: ClassVar[tuple[str, ...]] = ("error", "category", "exclude", "regularized")

    def _check_parameters(self) -> None:
        super()._check_parameters()
        k = self.n_components
        if self.missing == "regularized" and (isinstance(k, bool) or not isinstance(k, (int, np.integer))):
            raise ParameterError(
                "missing='regularized' needs the number of axes that gaps are filled in by",
                received=f"n_components={k!r}",
                hint="n_components=2; compare a few by how well held-out values come back",
            )
        if self.missing == "regularized" and len(getattr(self, "frequencies", ())):
            raise ParameterError(
                "missing='regularized' fills in numbers and categories, and no counts",
                received="groups of frequencies",
                hint="put 0 for no count, and leave missing='error'",
            )

    def _group_places(self) -> dict[str, NDArray[np.intp]]:
        """Encoded columns of every group: here every variable is one."""
        encoder = self._encoder
        owners = np.concatenate([np.arange(encoder.p), encoder.p + encoder.active.owners])
        return {encoder.names[j]: np.flatnonzero(owners == j) for j in np.unique(owners)}

    def _encode(self, X: Any, sample_weight: Any, *, reset: bool) -> EncodedTable:
        coded = super()._encode(X, sample_weight, reset=reset)
        if reset and self.missing == "regularized":
            from ritz.methods.correspondence.encoded.regularized import Frame, filled_rows

            frame = Frame(self._encoder, list(self._group_places().values()), self._divided())
            encoder, coded.rows, note = filled_rows(self, coded, int(self.n_components), frame)
            self._record.columns, self._record.note = encoder, note
        return coded

    def _name_columns(self, *results: Any) -> None:
        super()._name_columns(*results)
        note = getattr(self._record, "note", None)
        if note is not None:
            self.certificate_ = replace(self.certificate_, notes=(*self.certificate_.notes, note))
            self._record.note = None

    def _keeps_state(self, d: int) -> bool:
        """The state of completed rows is kept for distances of categories, and never merged."""
        if self.missing == "regularized" and (self.rare is not None or self.exclude):
            return False
        return super()._keeps_state(d)

    def impute(self, X: Any) -> Any:
        """The table with what is missing filled in, for ``missing="regularized"``: numbers, and most probable levels.

        Parameters
        ----------
        X : frame, Table in memory, or array-like with the columns of the fit

        Examples
        --------
        >>> import pandas as pd, ritz
        >>> wines = pd.DataFrame({"region": ["Loire"] * 3 + ["Rhône"] * 3, "acid": [7.1, 6.8, 7.3, 5.2, 5.0, 5.6],
        ...     "alcohol": [11.5, None, 11.8, 13.9, 14.2, 13.5], "price": [9.5, 12.0, 30.0, 11.0, 8.5, 28.0]})
        >>> famd = ritz.FAMD(1, missing="regularized").fit(wines)
        >>> famd.impute(wines)["alcohol"].round(1).tolist()
        [11.5, 12.1, 11.8, 13.9, 14.2, 13.5]
        """
        check_is_fitted(self)
        from ritz.methods.correspondence.mca.regularized import imputed

        return imputed(self, X)

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None, check_input: bool = True) -> Self:
        """Add rows, as :meth:`ritz.MCA.partial_fit` does; ``missing="regularized"`` needs all rows at once.

        Examples
        --------
        >>> import pandas as pd, ritz
        >>> wines = pd.DataFrame({"kind": ["red", "white", "red", "rose", "white", "rose"],
        ...     "alcohol": [13.5, 11.5, 14.2, 12.1, 11.8, 12.4]})
        >>> parts = ritz.FAMD(2).partial_fit(wines[:3]).partial_fit(wines[3:])    # "rose" is new in the second part
        >>> bool(abs(parts.eigenvalues_ - ritz.FAMD(2).fit(wines).eigenvalues_).max() < 1e-12)
        True
        """
        self._addable("partial_fit")
        return super().partial_fit(X, y, sample_weight, check_input)

    def _need_state(self, verb: str = "merge", *, wait: bool = False) -> Any:
        self._addable(verb)
        return super()._need_state(verb, wait=wait)

    def _addable(self, verb: str) -> None:
        if self.missing == "regularized":
            raise MergeError(
                f"{verb} needs rows that can be added up",
                received="missing='regularized', which fills in gaps by axes of all rows",
                hint="missing='category' or 'exclude'",
            )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing == "regularized"
        return tags
