"""The named results of the correspondence family, computed when they are read from V, Λ, F and the masses.

    rows       coordinates F, standard F Λ^-½, contributions wF²/λ, cos² F²/d², masses, inertias w d²
    columns    coordinates G, standard, contributions v², cos² G²/d², masses, inertias (AᵀA)ⱼⱼ

Formulas: ``project/transition.py``. Frames when a frame was given, with names of rows and columns; arrays otherwise.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from ritz.data.tables.labelled import labelled
from ritz.project.transition import contributions, cos2, inverse_root

__all__ = ["NO_ROWS", "CorrespondenceResults", "Result", "why_absent"]

Floats = NDArray[np.float64]

#: Columns of the table of inertias.
INERTIA = ("eigenvalue", "share", "cumulative")

NO_ROWS = (
    "what is known of the rows is kept for tables in memory only, and not after partial_fit or merge\n"
    "hint: transform(X) gives their coordinates, transform_to(X, path) writes them to a file"
)


class Result:
    """A fitted name that is computed when it is read: ``row_cos2_`` from ``_row_cos2()``."""

    def __init__(self, doc: str) -> None:
        self.__doc__ = doc

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name
        self.side = "row" if name.startswith("row_") else "column"

    def __get__(self, model: Any, owner: type) -> Any:
        if model is None:
            return self
        check_is_fitted(model)
        len(model.components_)  # solves a pending state
        values = getattr(model, f"_{self.name[:-1]}")()
        return model._labelled(values, self.side)


def why_absent(model: Any, name: str) -> str | None:
    """What to say to somebody who asks for a result that is not there; None where ``name`` is none."""
    kind, method = getattr(type(model), name, None), type(model).__name__
    if isinstance(getattr(type(model), f"{name}_", None), Result):
        instead = f"the attribute {name}_ after fit" + (", or transform(X) for new rows" if name[0] == "r" else "")
        return f"{method!r} object has no attribute {name!r}\nhint: {instead}"
    known = isinstance(kind, (Result, property)) or name in model._results
    if name.startswith("_") or not name.endswith("_") or not known:
        return None
    if not model.__sklearn_is_fitted__():
        return f"this {method} is not fitted yet, so it has no {name}\nhint: call fit(X) first"
    return NO_ROWS if isinstance(kind, Result) and kind.side == "row" else None


class CorrespondenceResults:
    """Coordinates, contributions, qualities and masses of both sides."""

    components_: Floats
    eigenvalues_: Floats
    explained_inertia_ratio_: Floats
    about: ClassVar[Any]

    row_coordinates_ = Result("(n, k) principal coordinates of the rows")
    row_standard_coordinates_ = Result("(n, k) coordinates of weighted variance 1")
    row_contributions_ = Result("(n, k) shares of the rows in each axis; columns sum to 1")
    row_cos2_ = Result("(n, k) shares of the axes in each row's squared distance from the centre")
    row_masses_ = Result("(n,) shares of the rows in the weight")
    row_inertias_ = Result("(n,) inertias of the rows; they sum to the total inertia")
    column_coordinates_ = Result("(d, k) principal coordinates of the columns")
    column_standard_coordinates_ = Result("(d, k) coordinates of weighted variance 1")
    column_contributions_ = Result("(d, k) shares of the columns in each axis; columns sum to 1")
    column_cos2_ = Result("(d, k) shares of the axes in each column's squared distance from the centre")
    column_masses_ = Result("(d,) shares of the columns in the weight")
    column_inertias_ = Result("(d,) inertias of the columns; they sum to the total inertia")

    # rows

    def _of_rows(self, name: str) -> Any:
        held = vars(self).get(name)
        if held is None:
            raise AttributeError(NO_ROWS)
        return held

    def _row_coordinates(self) -> Floats:
        return np.asarray(self._of_rows("_F"))

    def _row_standard_coordinates(self) -> Floats:
        return self._row_coordinates() * inverse_root(self.eigenvalues_)

    def _row_contributions(self) -> Floats:
        return contributions(self._row_coordinates(), self._row_masses(), vars(self)["eigenvalues_"])

    def _row_cos2(self) -> Floats:
        return cos2(self._row_coordinates(), self._of_rows("_row_squares"))

    def _row_masses(self) -> Floats:
        return np.asarray(self._of_rows("_row_weights"))

    def _row_inertias(self) -> Floats:
        return self._row_masses() * self._of_rows("_row_squares")

    # columns

    def _column_masses(self) -> Floats:
        raise NotImplementedError

    def _column_standard_coordinates(self) -> Floats:
        c = self._column_masses()[:, None]
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(c > 0, self.components_.T / np.sqrt(c), np.nan)

    def _column_coordinates(self) -> Floats:
        return self._column_standard_coordinates() * np.sqrt(self.eigenvalues_)

    def _column_contributions(self) -> Floats:
        return np.square(self.components_.T)

    def _column_squares(self) -> Floats:
        """Squared distances of the columns from the centre, (d,)."""
        c = self._column_masses()
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(c > 0, self._column_inertias() / c, 0.0)

    def _column_cos2(self) -> Floats:
        return cos2(self._column_coordinates(), self._column_squares())

    def _column_inertias(self) -> Floats:
        len(self.components_)  # solves a pending state
        return np.asarray(vars(self)["_inertias"])

    # names

    @property
    def column_names_(self) -> NDArray[np.object_]:
        """(d,) names of the rows of ``column_coordinates_``, which an array cannot show; x0, x1 … where none came."""
        check_is_fitted(self)
        d = self.components_.shape[1]
        return np.asarray(self._column_labels() or [f"x{j}" for j in range(d)], dtype=object)

    def inertia_table(self) -> Any:
        """Eigenvalue, share of the total inertia and cumulative share of every axis, (k, 3).

        A frame of the library that was fitted, with a row for each axis; an array where none came.

        Examples
        --------
        >>> import numpy as np, ritz
        >>> smokers = np.array([[4, 2, 3, 2], [4, 3, 7, 4], [25, 10, 12, 4], [18, 24, 33, 13], [10, 6, 7, 2]])
        >>> ritz.CA().fit(smokers).inertia_table().round(4)  # eigenvalue, share, share so far
        array([[7.480e-02, 8.776e-01, 8.776e-01],
               [1.000e-02, 1.176e-01, 9.951e-01],
               [4.000e-04, 4.900e-03, 1.000e+00]])
        """
        check_is_fitted(self)
        shares = self.explained_inertia_ratio_
        table = np.column_stack([self.eigenvalues_, shares, np.cumsum(shares)])
        return labelled(table, self._axis_names(), list(INERTIA), vars(self).get("_library"), "axis")

    def _column_labels(self) -> list[str] | None:
        names = getattr(self, "feature_names_in_", None)
        return None if names is None else [str(name) for name in names]

    def _axis_names(self) -> list[str]:
        return [f"{self.about.axis}{i + 1}" for i in range(len(self.eigenvalues_))]

    def _labelled(self, values: Floats, side: str) -> Any:
        labels = vars(self).get("_row_labels") if side == "row" else self._column_labels()
        names = self._axis_names() if values.ndim == 2 else None
        return labelled(values, labels, names, vars(self).get("_library"), side)
