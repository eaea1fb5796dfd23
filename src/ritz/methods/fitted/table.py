"""Models of tables that are encoded first: CA, MCA, FAMD and MFA; masses weigh the rows, inertias are variances."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ritz.methods.fitted.base import PASS, Fitted, solved_again
from ritz.methods.fitted.plane import Plane, plain_distances, principal, with_variance
from ritz.methods.rank.within import Within
from ritz.methods.scaling import require_told
from ritz.project.linear import LinearMap
from ritz.rank.material import SAMPLE_ROWS, Material
from ritz.spectral.problem import Seen

__all__ = ["OfAnswers", "OfColumns", "OfCounts", "OfGroups", "OfTable"]

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
        return None if self._recorded("_F") is None else np.asarray(self.model._result("row_coordinates_"))

    def column_labels(self) -> list[str] | None:
        """Names of the encoded columns."""
        names: list[str] | None = self.model._column_labels()
        return names

    def rows(self, X: Any) -> Any:
        """Rows as the model encodes them."""
        return self.encoded(X).rows

    def encoded(self, X: Any, sample_weight: Any = None, *, fitted: bool = False) -> Any:
        """By the rules of the fit; rows of the fit may hold nothing new."""
        return self.model._as_fitted(X, sample_weight) if fitted else self.model._new(X, sample_weight)

    def present(self, X: Any, sample_weight: Any = None) -> tuple[Any, Floats]:
        """Rows with a mass."""
        rows, weights = self.model._present(self.encoded(X, sample_weight, fitted=True))
        return rows, weights

    def place(self, coded: Any) -> Floats:
        """By the transition formulae."""
        return np.asarray(self.model._forward(coded))

    def write_scores(self, rows: Any, labels: Any, write: Any) -> None:
        """Block by block."""
        self.model._scores_into(rows, labels, write)

    def restated(self, **parameters: Any) -> Any:
        """Of every method of the family."""
        return solved_again(self, parameters)

    def require_alike(self, other: Any) -> None:
        """Of every method of the family."""
        self.model._same_parameters(other)

    def linear_map(self) -> LinearMap:
        """Of encoded rows."""
        step: LinearMap = self.model._map()
        return step

    def result(self, name: str) -> Floats:
        """As the model computes it; results of the rows need those of the fit in memory."""
        len(self.model.components_)  # solves a pending state
        return np.asarray(self.model._result(name))

    def sample(self, X: Any, sample_weight: Any = None) -> Any:
        """What is handed to the rules."""
        R, weights = self.present(X, sample_weight)
        rows, d = int(np.count_nonzero(weights)), int(R.shape[1])
        return self.model._material(R, weights, rows, d, float(np.sum(weights))).sample(SAMPLE_ROWS)

    def shares_of_rows(self, X: Any, n: int, sample_weight: Any) -> Floats:
        """Masses, which add up to 1."""
        weights = self.row_weights(X, n, sample_weight)
        return weights / float(np.sum(weights))

    def row_count(self, X: Any) -> int:
        """Number of rows."""
        return len(self.encoded(X).weights)

    def material(self, X: Any) -> Material:
        """Of a state: no row is read."""
        d, weight = self._recorded("_seen")[2], self.weight
        return replace(self.model._material(None, None, self.model.n_samples_, d, weight), why_not=PASS)

    def within(self, rule: Any, seen: Seen) -> Within:
        """Axes that the columns leave."""
        rows, d = int(seen.n), seen.d
        return Within(rule, self.model._most(rows, d), self.model._directions(rows, d))

    def row_weights(self, X: Any, n: int, sample_weight: Any) -> Floats:
        """Masses: the rows of a CA weigh what they count."""
        return np.asarray(self.encoded(X, sample_weight).weights, np.float64)

    def directions(self) -> Floats:
        """In the metric of the columns."""
        values = np.asarray(self.model.eigenvalues_, np.float64)
        return np.asarray(self.model.components_, np.float64).T * np.sqrt(values)

    def standard(self) -> tuple[Floats, Floats, Floats]:
        """Standard coordinates of the columns."""
        model = self.model
        values = self._axis_inertias()
        return (
            model._result("column_standard_coordinates_"),
            values,
            np.asarray(model.explained_inertia_ratio_, np.float64),
        )

    def _axis_inertias(self) -> Floats:
        """(k,) those of the certificate."""
        values = self.inertias
        return np.asarray(self.model.eigenvalues_, np.float64) if values is None else values

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
        values = self._axis_inertias()
        keep = with_variance(values, components, self.precision or components.dtype)
        rest = max(float(model.certificate_.total) - float(np.sum(values[keep])), 0.0)
        fields = {"rows": float(model.n_samples_), "divisor": 1.0, "rest": rest, "model": model}
        return principal(components, values, keep, model._map(), **fields)

    def mapped(self, plane: Plane, rows: Any, width: int, step: Any, *, whole: bool = False) -> Floats:
        """``step`` of the parts of every row, (n, width); rows without a profile have none."""
        return np.asarray(plane.frame.map(rows, width, step, whole=whole))

    def squares(self, X: Any) -> tuple[Floats, Floats]:
        """‖z‖² in the metric of the columns."""
        return self.scores(X), plain_distances(self.plane(), self.rows(X))

    def distances(self, X: Any, diagonal: Any = None) -> tuple[Floats, Floats]:
        """T² and Q."""
        plane, rows = self.plane(), self.rows(X)
        both = self.mapped(plane, rows, 2, lambda parts: parts.distances)
        return both[:, 0], both[:, 1]

    def sums(self) -> tuple[float, float, float]:
        """Of masses that add up to 1."""
        plane = self.plane()
        return 1.0, plane.k * plane.divisor, plane.rest * plane.divisor


class OfColumns(OfTable):
    """A model of columns of categories and numbers, which are encoded."""

    def encoder(self) -> Any:
        """As the fit learned it."""
        return self.model._encoder

    def number_columns(self) -> int:
        """Before the levels."""
        return int(self.encoder().p)


class OfCounts(OfTable):
    """A model of a table of counts: what was counted is drawn and permuted."""

    needs: ClassVar[tuple[str, ...]] = MAPPED
    resamples = permutes = "counts"
    formula = "profiles"


class OfAnswers(OfColumns):
    """A model of answers to questions."""

    needs: ClassVar[tuple[str, ...]] = (*OfTable.needs, "_lambda")
    resamples = "answers"

    @property
    def questions(self) -> int:
        """J."""
        return int(self.model._J)


class OfGroups(OfColumns):
    """A model of groups of columns."""

    needs: ClassVar[tuple[str, ...]] = (*OfTable.needs, "_members")

    def frequency_tables(self) -> Any:
        """Where some groups are of counts."""
        return self.model._tables() if getattr(self.model, "_counted", None) else None
