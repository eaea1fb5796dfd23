"""Models of tables that are encoded first: CA, MCA, FAMD and MFA; masses weigh the rows, inertias are variances."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ritz.methods.fitted.base import PASS, Fitted
from ritz.methods.fitted.plane import Plane, plain_distances, principal, with_variance
from ritz.methods.rank.within import Within
from ritz.methods.record import value_of
from ritz.methods.scaling import require_told
from ritz.rank.material import Material
from ritz.spectral.problem import Seen

__all__ = ["OfAnswers", "OfCounts", "OfGroups", "OfTable"]

Floats = NDArray[np.float64]


#: Names with which rows of a table are placed.
MAPPED = ("components_", "eigenvalues_", "explained_inertia_ratio_", "total_inertia_", "_mean", "_scale")


class OfTable(Fitted):
    """A model of the correspondence family."""

    needs: ClassVar[tuple[str, ...]] = (*MAPPED, "_columns")
    space = "table"
    formula = "encoded"
    restates = True
    distribution_free = True
    permutes = "encoded"
    chooses = True
    without_columns = (
        "its columns are categories or counts",
        "column_coordinates_, column_contributions_ and column_cos2_ say the same of its columns",
    )

    @property
    def shares(self) -> Floats:
        """Of the inertia."""
        return np.asarray(self.model.explained_inertia_ratio_, np.float64)

    def possible(self, n: int, d: int) -> int:
        """What the encoded columns allow."""
        return int(self.model._most(n, len(self.model._column_labels() or range(d))))

    def row_coordinates(self) -> Floats | None:
        """Of rows in memory."""
        return None if value_of(self.model, "_F") is None else np.asarray(self.model._result("row_coordinates_"))

    def column_labels(self) -> list[str] | None:
        """Names of the encoded columns."""
        names: list[str] | None = self.model._column_labels()
        return names

    def rows(self, X: Any) -> Any:
        """Rows as the model encodes them."""
        return self.model._new(X).rows

    def shares_of_rows(self, X: Any, n: int, sample_weight: Any) -> Floats:
        """Masses, which add up to 1."""
        weights = self.row_weights(X, n, sample_weight)
        return weights / float(np.sum(weights))

    def row_count(self, X: Any) -> int:
        """Number of rows."""
        return len(self.model._new(X).weights)

    def material(self, X: Any) -> Material:
        """Of a state: no row is read."""
        d, weight = value_of(self.model, "_seen")[2], float(value_of(self.model, "_weight"))
        return replace(self.model._material(None, None, self.model.n_samples_, d, weight), why_not=PASS)

    def within(self, rule: Any, seen: Seen) -> Within:
        """Axes that the columns leave."""
        rows, d = int(seen.n), seen.d
        return Within(rule, self.model._most(rows, d), self.model._directions(rows, d))

    def row_weights(self, X: Any, n: int, sample_weight: Any) -> Floats:
        """Masses: the rows of a CA weigh what they count."""
        return np.asarray(self.model._new(X, sample_weight).weights, np.float64)

    def directions(self) -> Floats:
        """In the metric of the columns."""
        values = np.asarray(self.model.eigenvalues_, np.float64)
        return np.asarray(self.model.components_, np.float64).T * np.sqrt(values)

    def standard(self) -> tuple[Floats, Floats, Floats]:
        """Standard coordinates of the columns."""
        model = self.model
        values = np.asarray(value_of(model, "_lambda", model.eigenvalues_), np.float64)
        return (
            model._result("column_standard_coordinates_"),
            values,
            np.asarray(model.explained_inertia_ratio_, np.float64),
        )

    def column_contributions(self) -> Any:
        """As the model names them."""
        return self.model.column_contributions_

    def column_cos2(self) -> Any:
        """As the model names them."""
        return self.model.column_cos2_

    def plane(self) -> Plane:
        """The axes that have an inertia, in the metric of the columns."""
        model = self.model
        components = np.asarray(model.components_, np.float64)  # read first: it solves a pending state
        require_told(model, "the plane of a model")
        values = np.asarray(value_of(model, "_lambda", model.eigenvalues_), np.float64)
        keep = with_variance(values, components, value_of(model, "_dtype", components.dtype))
        rest = max(float(model.certificate_.total) - float(np.sum(values[keep])), 0.0)
        known = {"rows": float(model.n_samples_), "divisor": 1.0, "rest": rest, "model": model}
        return principal(components, values, keep, model._map(), **known)

    def mapped(self, plane: Plane, rows: Any, width: int, step: Any, *, whole: bool = False) -> Floats:
        """``step`` of the parts of every row, (n, width); rows without a profile have none."""
        return np.asarray(plane.frame.map(rows, width, step, whole=whole))

    def squares(self, X: Any) -> tuple[Floats, Floats]:
        """‖z‖² in the metric of the columns."""
        return self.scores(X), plain_distances(self.plane(), self.rows(X))

    def distances(self, X: Any, diagonal: Any = None) -> tuple[Floats, Floats]:
        """T² and Q."""
        plane, rows = self.plane(), self.rows(X)
        both = self.mapped(plane, rows, 2, lambda part: part.distances)
        return both[:, 0], both[:, 1]

    def sums(self) -> tuple[float, float, float]:
        """Of masses that add up to 1."""
        plane = self.plane()
        return 1.0, plane.k * plane.divisor, plane.rest * plane.divisor


class OfCounts(OfTable):
    """A model of a table of counts: what was counted is drawn and permuted."""

    needs: ClassVar[tuple[str, ...]] = MAPPED
    resamples = permutes = "counts"
    formula = "profiles"


class OfAnswers(OfTable):
    """A model of answers to questions."""

    needs: ClassVar[tuple[str, ...]] = (*OfTable.needs, "_lambda")
    resamples = "answers"


class OfGroups(OfTable):
    """A model of groups of columns."""

    needs: ClassVar[tuple[str, ...]] = (*OfTable.needs, "_members")
