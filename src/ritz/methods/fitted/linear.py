"""Models whose axes are directions in columns of numbers: PCA, SVD and what has a basis of its own."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import InputError
from ritz.data.passes.blocks import blocks_of
from ritz.data.passes.kept_rows import KeptRows
from ritz.data.passes.statistics import Statistics
from ritz.data.validate import require_finite, validate_rows, validate_weights
from ritz.methods.fitted.axes import Axes
from ritz.methods.fitted.base import PASS, Fitted, solved_again
from ritz.methods.fitted.plane import Plane, plain_distances, principal, with_variance
from ritz.methods.rank.linear import rows_of_state, state_material
from ritz.methods.rest import rest_of, wide_axes
from ritz.methods.scaling import divisor_held, divisor_of, require_told
from ritz.methods.streams.held import columns_of, settled
from ritz.methods.unfitted import require_mean
from ritz.project.incomplete import IncompleteMap
from ritz.project.linear import LinearMap
from ritz.rank.material import Material

__all__ = ["LinearModel", "Oblique", "OfGoodRows", "Overlapping", "Uncentred"]

Floats = NDArray[np.float64]


class LinearModel(Fitted):
    """A model of rows about their mean, with variances of divisor Σw − 1."""

    named: ClassVar[tuple[str, ...]] = (
        *Fitted.named, "components_", "explained_variance_", "explained_variance_ratio_", "singular_values_",
        "total_variance_", "mean_", "scale_",
    )  # fmt: skip
    needs: ClassVar[tuple[str, ...]] = ("components_", "explained_variance_", "_mean64", "_scale64", "_dtype")
    resamples: ClassVar[str | None] = "rows"
    permutes: ClassVar[str | None] = "rows"
    turns = chooses = restates = True

    def rows(self, X: Any) -> Any:
        """Rows; gaps filled where the model knows how."""
        require_mean(self.model)
        rows, step = validate_rows(self.model, X, reset=False), self.model._map()
        return step.completed(rows) if isinstance(step, IncompleteMap) and not blocks_of(rows).sparse else rows

    def linear_map(self) -> LinearMap:
        """That of rows without gaps."""
        step = self.model._map()
        linear: LinearMap = step.linear if isinstance(step, IncompleteMap) else step
        return linear

    def gap_filler(self) -> Any:
        """Of models that take rows with gaps."""
        step = self.model._map()
        return step.filler if isinstance(step, IncompleteMap) else None

    def write_scores(self, rows: Any, labels: Any, write: Any) -> None:
        """Block by block."""
        self.model._scores_into(rows, labels, write)

    def restated(self, **parameters: Any) -> Any:
        """Of PCA."""
        return solved_again(self, parameters)

    def require_alike(self, other: Any) -> None:
        """Of PCA; other linear models are not merged."""
        if self.restates:
            self.model._same_parameters(other)

    def scores(self, X: Any) -> Floats:
        """Coordinates; those of a whitening model get their spread back."""
        F = super().scores(X)
        if getattr(self.model, "whiten", False):
            F = F * np.sqrt(np.asarray(self.model.explained_variance_, np.float64))
        return F

    def standard(self) -> tuple[Floats, Floats, Floats]:
        """The components."""
        axes = self.axes()
        return np.asarray(self.model.components_, np.float64).T, axes.variances, axes.variances / axes.total

    @property
    def divisor(self) -> float:
        """Σw − 1."""
        return max(divisor_held(self.model), np.finfo(float).tiny)

    @property
    def keeps_spread(self) -> bool:
        """With a state."""
        return self._recorded("_state") is not None

    def answers_for(self, X: Any) -> bool:
        """With a moment state."""
        return self.estimated > 0 and self._recorded("_state") is not None

    def material(self, X: Any) -> Material:
        """The moment state, and some rows."""
        if self.state is None:
            return super().material(X)
        kept = replace(state_material(self.model, self.state), why_not=PASS)
        return kept if X is None else rows_of_state(self.model, kept, validate_rows(self.model, X, reset=False))

    @property
    def stands_on_rows(self) -> bool:
        """Not unless a method of another package says how it takes rows, so that ``verify`` has checked it."""
        return not self.model._guest or "mean" in self.model.certificate_.frame

    def unlike_columns(self) -> Floats:
        """From the state of columns that are not scaled."""
        spread = None if not self.centered or getattr(self.model, "scale", False) else self.column_spread()
        return np.zeros(0) if spread is None else spread

    def rotated_scores(self, X: Any, matrix: Floats, correlations: Floats) -> Floats:
        """Scores of unit variance on rotated components."""
        k, roots = len(matrix), np.sqrt(self.axes().variances)
        white = np.where(roots > 0, 1 / np.where(roots > 0, roots, 1.0), 0.0)
        return np.asarray(self.scores(X)[:, :k] * white[:k] @ matrix)

    def _values(self) -> tuple[Floats, float]:
        """Variances of the scores and of all columns."""
        return np.asarray(self.model.explained_variance_, np.float64), float(self.model.total_variance_)

    def axes(self) -> Axes:
        """V Λ^½."""
        V = np.asarray(self.model.components_, np.float64).T  # read first: it solves a pending state
        require_told(self.model, "what columns and components have in common")
        values, total = self._values()
        return Axes(self.model, V * np.sqrt(values), values, total)

    def spread(self, X: Any = None, sample_weight: Any = None) -> Floats:
        """From the rows, or from the state."""
        if X is not None:
            return self._measured(X, sample_weight)
        spread = self._known_spread()
        if spread is None:
            raise InputError(
                f"{self.name} did not keep how much its columns vary", received="no rows",
                hint="pass the rows of the fit: structure(model, X)",
            )  # fmt: skip
        return spread

    def _known_spread(self) -> Floats | None:
        if getattr(self.model, "scale_", None) is not None:
            return np.ones(self.model.n_features_in_)
        return self.column_spread() if self.centered else None

    def column_spread(self) -> Floats | None:
        """From a state of any kind, or from the rows."""
        held = settled(self.model)
        if held is None:
            return None
        column = held.column if isinstance(held, KeptRows) else columns_of(held)
        return np.asarray(np.sqrt(column.squares / divisor_of(column)) * column.unit)

    def _measured(self, X: Any, sample_weight: Any) -> Floats:
        column, squares = self._statistics(X, sample_weight)
        scale, deviations = getattr(self.model, "scale_", None), np.sqrt(squares / divisor_of(column))
        return np.asarray(deviations if scale is None else deviations / np.asarray(scale, np.float64))

    def _statistics(self, X: Any, sample_weight: Any) -> tuple[Any, Floats]:
        """Statistics of the columns of rows, and their sums of squares about the mean in true units."""
        rows = self.rows(X)
        weights = None if sample_weight is None else validate_weights(sample_weight, rows.shape[0])
        column = Statistics(blocks_of(rows), weights, np.float64, getattr(self.model, "feature_names_in_", None)).column
        return column, np.asarray(column.squares, np.float64) * column.unit**2

    def _divisor(self) -> float:
        return divisor_held(self.model)

    def _total_weight(self) -> float:
        """Σw; files of the first releases have the number of rows only."""
        return float(self.model.n_samples_) if self.weight is None else self.weight

    def plane(self) -> Plane:
        """The components that have a variance."""
        model = self.model
        components = np.asarray(model.components_, np.float64)  # read first: it solves a pending state
        require_told(model, "the plane of a model")
        linear, weight, divisor = self.linear_map(), self._total_weight(), self._divisor()
        values = np.square(np.asarray(model.singular_values_, np.float64)) / divisor
        keep = with_variance(values, components, self.precision or np.asarray(model.components_).dtype)
        rest = rest_of(model) / divisor + float(np.sum(values[~keep]))
        low = None if linear.low is None else np.asarray(linear.low, np.float64)
        fields = {"rows": weight, "divisor": divisor, "rest": rest, "low": low, "model": model}
        return principal(wide_axes(model), values, keep, linear, **fields)

    def distances(self, X: Any, diagonal: Any = None) -> tuple[Floats, Floats]:
        """T² and Q."""
        plane, rows = self.plane(), self.rows(X)
        both = self.mapped(plane, rows, 2, lambda parts: parts.distances)
        return both[:, 0], both[:, 1]

    def squares(self, X: Any) -> tuple[Floats, Floats]:
        """‖z‖² = ‖Bz‖² + ‖z − BᵀBz‖² by one pass over the rows."""
        return self.scores(X), plain_distances(self.plane(), self.rows(X))

    def mapped(self, plane: Plane, rows: Any, width: int, step: Any, *, whole: bool = False) -> Floats:
        """``step`` of the parts of every row, (n, width), in one pass; ``whole``: also the parts of sparse rows."""
        out = plane.frame.map(rows, width, step, whole=whole)
        if not bool(np.isfinite(out).all()):
            require_finite(rows, getattr(self.model, "feature_names_in_", None))
        return out

    def sums(self) -> tuple[float, float, float]:
        """From the plane, unless the model says it."""
        if self.distance_sums is not None:
            return self.distance_sums
        plane = self.plane()
        return plane.rows, plane.k * plane.divisor, plane.rest * plane.divisor


class Uncentred(LinearModel):
    """A model of rows about zero (SVD): mean squares, divisor Σw."""

    named: ClassVar[tuple[str, ...]] = (
        *Fitted.named, "components_", "explained_variance_", "explained_variance_ratio_", "singular_values_", "total_",
    )  # fmt: skip
    needs: ClassVar[tuple[str, ...]] = ("components_",)
    restates = False

    @property
    def centered(self) -> bool:
        """Never."""
        return False

    @property
    def shares(self) -> Floats:
        """Of the sum of squares; a table of zeros has a whole of nothing."""
        squares = np.square(np.asarray(self.model.singular_values_, np.float64))
        return squares / (float(self.model.total_) or 1.0)

    @property
    def divisor(self) -> float:
        """Squares of singular values as they are."""
        return 1.0

    @property
    def keeps_spread(self) -> bool:
        """Never: rows are about zero."""
        return False

    def possible(self, n: int, d: int) -> int:
        """About zero no direction is lost."""
        return min(n, d)

    estimated = 0

    def _divisor(self) -> float:
        return self._total_weight()

    def _values(self) -> tuple[Floats, float]:
        weight = self._total_weight()
        squares = np.square(np.asarray(self.model.singular_values_, np.float64))
        return squares / weight, float(self.model.total_) / weight

    def _known_spread(self) -> Floats | None:
        return None

    def _measured(self, X: Any, sample_weight: Any) -> Floats:
        column, squares = self._statistics(X, sample_weight)
        return np.asarray(np.sqrt(squares / column.weight + np.square(column.mean)))


class Oblique(LinearModel):
    """A model that states its plane itself."""

    resamples = permutes = None
    turns = chooses = restates = False

    def plane(self) -> Plane:
        """As the model states it."""
        return Plane(model=self.model, **self.model._plane())


class Overlapping(Oblique):
    """A model whose components share what they explain (SparsePCA): nothing may be summed over them."""

    needs: ClassVar[tuple[str, ...]] = (*Oblique.needs, "_loadings")
    projects = False

    def axes(self) -> Axes:
        """Loadings that overlap."""
        return replace(super().axes(), overlap=True)

    def squares(self, X: Any) -> tuple[Floats, Floats]:
        """No shares of a distance."""
        self.refuse("cos²", "its components are correlated",
                    "explained_variance_ holds what each component adds to those before it")  # fmt: skip


class OfGoodRows(Oblique):
    """A model of the good rows among all (RobustPCA), with limits of its own."""

    def spread(self, X: Any = None, sample_weight: Any = None) -> Floats:
        """Of the good rows: V(Λ − σ²)Vᵀ + σ²I."""
        V, noise = np.asarray(self.model.components_, np.float64), float(self.model.noise_variance_)
        gains = np.maximum(np.asarray(self.model.explained_variance_, np.float64) - noise, 0.0)
        return np.asarray(np.sqrt(np.square(V).T @ gains + noise))

    def robust_limits(self, alpha: float) -> Any:
        """With the location and scale of the good rows."""
        return self.model._robust_limits(alpha)

    def robust_degrees(self) -> float:
        """By the efficiency of the method."""
        return float(self.model._sure())
