"""The named results of the correspondence family, computed when they are read from V, Λ, F and the masses.

    rows       coordinates F, standard F Λ^-½, contributions wF²/λ, cos² F²/d², masses, inertias w d²
    columns    coordinates G, standard, contributions v², cos² G²/d², masses, inertias (AᵀA)ⱼⱼ

A method names its sides (``Rows``, ``Columns`` and what is like them), and ``row_cos2_`` is ``cos2()`` of the rows.
Formulas: ``project/transition.py``. Frames when a frame was given, with names of rows and columns; arrays otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ritz.data.tables.labelled import labelled
from ritz.project.transition import contributions, cos2, inverse_root

__all__ = [
    "NO_ROWS", "Columns", "Derived", "Forgotten", "Result", "Rows", "Side", "inertia_table", "inertias_of",
    "require_result",
]  # fmt: skip

Floats = NDArray[np.float64]

#: Columns of the table of inertias.
INERTIA = ("eigenvalue", "share", "cumulative")

NO_ROWS = (
    "what is known of the rows is kept for tables in memory only, and not after partial_fit or merge\n"
    "hint: transform(X) gives their coordinates, transform_to(X, path) writes them to a file"
)


# names


def require_result(model: Any, name: str) -> None:
    """Refuse to tell a result of a model that is not fitted."""
    if not model.__sklearn_is_fitted__():
        from sklearn.exceptions import NotFittedError

        raise NotFittedError(
            f"this {type(model).__name__} is not fitted yet, so it has no {name}\nhint: call fit(X) first"
        )


class Result:
    """A fitted name that is computed when it is read: ``row_cos2_`` is ``cos2()`` of the side ``row``."""

    def __init__(self, doc: str) -> None:
        self.__doc__ = doc

    def __set_name__(self, owner: type, name: str) -> None:
        group = name.find("group_")
        end = group + len("group") if group >= 0 else name.index("_")
        self.name, self.side, self.what = name, name[:end], name[end + 1 : -1]
        setattr(owner, name[:-1], Forgotten(name))

    def __get__(self, model: Any, owner: type) -> Any:
        if model is None:
            return self
        require_result(model, self.name)
        return model._side(self.side).labelled(self.values(model))

    def values(self, model: Any) -> Floats:
        """Without names."""
        values: Floats = getattr(model._side(self.side), self.what)()
        return values


class Derived(property):
    """A property that is a fitted name: before the fit it says so, and a pending state is solved for it."""

    def __get__(self, model: Any, owner: type | None = None) -> Any:
        if model is not None:
            require_result(model, self.fget.__name__)  # type: ignore[union-attr]
            len(model.components_)  # solves a pending state
        return super().__get__(model, owner)


class Forgotten:
    """A result without the underscore at its end: no attribute, and a hint at the right one."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, model: Any, owner: type) -> Any:
        from sklearn.exceptions import NotFittedError

        instead = f"the attribute {self.name} after fit"
        instead += ", or transform(X) for new rows" if self.name.startswith("r") else ""
        kind = AttributeError if model is None or model.__sklearn_is_fitted__() else NotFittedError
        raise kind(f"{owner.__name__!r} object has no attribute {self.name[:-1]!r}\nhint: {instead}")


def inertias_of(model: Any) -> Floats:
    """(k,) inertias λ of the axes that were solved for; ``eigenvalues_`` of an MCA may be made of them."""
    inertias = model._record.inertias
    return np.asarray(model.eigenvalues_ if inertias is None else inertias)


def inertia_table(model: Any) -> Any:
    """Eigenvalue, share and cumulative share of every axis, (k, 3)."""
    shares = model.explained_inertia_ratio_
    table = np.column_stack([model.eigenvalues_, shares, np.cumsum(shares)])
    return labelled(table, model._axis_names(), list(INERTIA), model._record.library, "axis")


# sides


class Side:
    """One side of a fitted table: its points, and what is known of them.

    Parameters
    ----------
    model : a fitted model of the family
    """

    corner: ClassVar[str]  # what heads a column of their names

    def __init__(self, model: Any) -> None:
        len(model.components_)  # solves a pending state
        self.model, self.record = model, model._record

    def labels(self) -> Sequence[Any] | None:
        """Names of the points."""
        raise NotImplementedError

    def labelled(self, values: Floats) -> Any:
        """Values (m, k) of the axes, or (m,), as a frame of the library that was fitted."""
        names = self.model._axis_names() if values.ndim == 2 else None
        return labelled(values, self.labels(), names, self.record.library, self.corner)


class Rows(Side):
    """The rows of the fit, where they were in memory."""

    corner = "row"

    def _of_rows(self, values: Floats | None) -> Floats:
        if values is None:
            raise AttributeError(NO_ROWS)
        return np.asarray(values)

    def labels(self) -> Sequence[Any] | None:
        """Names that came with the table."""
        labels: list[Any] | None = self.record.row_labels
        return labels

    def coordinates(self) -> Floats:
        """F (n, k)."""
        return self._of_rows(self.record.F)

    def standard_coordinates(self) -> Floats:
        """F Λ^-½."""
        return self.coordinates() * inverse_root(inertias_of(self.model))

    def contributions(self) -> Floats:
        """w F²/λ."""
        return contributions(self.coordinates(), self.masses(), inertias_of(self.model))

    def cos2(self) -> Floats:
        """F² over the squared distances of the rows."""
        return cos2(self.coordinates(), self._of_rows(self.record.row_squares))

    def masses(self) -> Floats:
        """w (n,)."""
        return self._of_rows(self.record.row_weights)

    def inertias(self) -> Floats:
        """w d²."""
        return self.masses() * self._of_rows(self.record.row_squares)


class Columns(Side):
    """The columns; their means are their masses, as in a table of counts."""

    corner = "column"

    def labels(self) -> Sequence[Any] | None:
        """Names of the encoded columns."""
        names: list[str] | None = self.model._column_labels()
        return names

    @property
    def V(self) -> Floats:
        """(d, k) the axes."""
        return np.asarray(self.model.components_.T)

    def masses(self) -> Floats:
        """c (d,)."""
        return np.asarray(self.record.mean)

    def standard_coordinates(self) -> Floats:
        """V/√c; columns without a mass have no place."""
        c = self.masses()[:, None]
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(c > 0, self.V / np.sqrt(c), np.nan)

    def coordinates(self) -> Floats:
        """G (d, k)."""
        return self.standard_coordinates() * np.sqrt(self.model.eigenvalues_)

    def contributions(self) -> Floats:
        """v²."""
        return np.square(self.V)

    def squares(self) -> Floats:
        """Squared distances of the columns from the centre, (d,)."""
        c = self.masses()
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(c > 0, self.inertias() / c, 0.0)

    def cos2(self) -> Floats:
        """G² over those."""
        return cos2(self.coordinates(), self.squares())

    def inertias(self) -> Floats:
        """(AᵀA)ⱼⱼ (d,)."""
        return np.asarray(self.record.column_inertias)
