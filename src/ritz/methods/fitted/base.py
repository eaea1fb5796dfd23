"""What may be asked of a fitted model, and how it is refused where a method has no such thing."""

from __future__ import annotations

from typing import Any, ClassVar, NoReturn

import numpy as np
from numpy.typing import NDArray

from ritz._core.bases import check_is_fitted
from ritz._core.errors import ParameterError
from ritz.data.validate import validate_weights
from ritz.data.words import describe
from ritz.methods.fitted.axes import Axes
from ritz.methods.fitted.encodes import Encodes
from ritz.methods.fitted.plane import Plane
from ritz.methods.rank.within import Within
from ritz.project.linear import LinearMap
from ritz.rank.material import Material
from ritz.spectral.problem import Seen

#: Where what a rule lacks can come from.
PASS = "pass them, choose_rank(model, X)"
NO_STATE = "the variances of the columns, which the model did not keep: pass the rows, choose_rank(model, X)"

__all__ = ["PASS", "Fitted", "capabilities_of", "fitted_of", "require_fitted", "require_named"]

Floats = NDArray[np.float64]


def require_fitted(model: Any) -> None:
    """Refuse what is not a fitted model, in words that name the slip: rows first, a class, the path of a file."""
    if isinstance(model, type):
        raise ParameterError("expected a fitted model", received=f"the class {model.__name__}",
                             hint=f"{model.__name__}().fit(X)")  # fmt: skip
    if not hasattr(model, "fit"):
        hint = "model = ritz.load(path)" if isinstance(model, str) else "the model comes before the rows: f(model, X)"
        raise ParameterError("expected a fitted model", received=describe(model), hint=hint)
    check_is_fitted(model)


def fitted_of(model: Any) -> Fitted:
    """The capabilities of a fitted model of Ritz; anything else is refused."""
    require_fitted(model)
    capabilities = capabilities_of(model)
    if capabilities is None:
        raise ParameterError(
            "expected a fitted model of Ritz",
            received=f"{type(model).__module__.split('.')[0]}'s {type(model).__name__}",
            hint="ritz.PCA(3).fit(X)",
        )
    return capabilities


def capabilities_of(estimator: Any) -> Fitted | None:
    """The capabilities of an estimator of Ritz, fitted or not; None of anything else.

    What is the same for every fit of a method may be asked before the fit: its words, its rules, what it projects.
    """
    kind: type[Fitted] | None = getattr(type(estimator), "fitted", None)
    return None if kind is None else kind(estimator)


def require_named(model: Any) -> None:
    """Refuse a method of another package that does not name what its family of capabilities speaks of."""
    family = type(model).fitted
    missing = [name for name in family.named if not hasattr(model, name)]
    missing += [name for name in family.needs if name.startswith("_") and not hasattr(model._record, name[1:])]
    if missing:
        raise TypeError(
            f"{type(model).__name__}.read must name {', '.join(missing)}: fitted = {family.__name__} speaks of these"
        )


def solved_again(fitted: Fitted, parameters: dict[str, Any]) -> Any:
    """The model with other parameters that follows from the moment state of a fitted one."""
    if not fitted.restates:
        return Fitted.restated(fitted, **parameters)
    model = fitted.model._restated(**parameters)
    len(model.components_)  # solves the state
    return model


class Fitted(Encodes):
    """Capabilities of a fitted model; what a method does not define is refused.

    Parameters
    ----------
    model : a fitted estimator
    """

    #: where components lie: in the space of the ``columns``, of an encoded ``table``, or in a ``feature`` space
    space: ClassVar[str] = "columns"
    #: whether a row's scores are its projections on orthogonal axes
    projects: ClassVar[bool] = True
    #: names that ``read`` of a method of this family gives
    named: ClassVar[tuple[str, ...]] = ("certificate_", "plan_", "n_components_", "n_samples_")
    #: whether rows that took no part in the fit have coordinates
    places_new_rows: ClassVar[bool] = True
    #: whether a model with fewer components follows from the moment state
    restates: ClassVar[bool] = False
    #: names without which a model places no row
    needs: ClassVar[tuple[str, ...]] = ()
    #: how a file holds the model and what its formula is made of
    stores: ClassVar[str] = "numbers"
    formula: ClassVar[str] = "linear"
    #: whether limits of distances come from the rows themselves, not from a distribution of scores
    distribution_free: ClassVar[bool] = False
    #: whether components are rotated all together
    rotates_all: ClassVar[bool] = False
    #: what is drawn again: ``rows``, ``counts`` of a table, ``answers`` to questions; None where there is no bootstrap
    resamples: ClassVar[str | None] = None
    #: degrees of freedom that the divisor of the variances lacks
    estimated: ClassVar[int] = 1
    #: what a permutation test permutes: ``rows`` column by column, ``counts``, or the ``encoded`` columns
    permutes: ClassVar[str | None] = None
    #: whether components may be turned round in a model itself: those of its certificate, in order of variance
    turns: ClassVar[bool] = False
    #: whether the spectrum of all rows is kept, for rules to ask
    keeps_spectrum: ClassVar[bool] = True
    #: whether rules can say how many components there are
    chooses: ClassVar[bool] = False
    #: why they cannot, and what to use instead where something else than the rules of all rows serves
    without_rules: ClassVar[tuple[str, str | None]] = (
        "it trusts only some rows or entries, and the rules look at all of them",
        None,
    )
    #: what an odd row is told by, unless somebody says otherwise
    oddity: ClassVar[str] = "combined"
    #: why capabilities made of columns are refused, and what to use instead
    without_columns: ClassVar[tuple[str, str] | None] = None

    @staticmethod
    def checked(values: dict[str, Any]) -> None:
        """Refuse values of a file that do not belong together, beyond what holds for all methods."""

    @staticmethod
    def as_asked(parameters: dict[str, Any], values: dict[str, Any]) -> None:
        """Refuse values of a file that lack what these parameters need."""

    # shares

    @property
    def certified(self) -> bool:
        """Whether values and axes of the model are those of its certificate, and not of a problem behind it."""
        return self.space != "columns" or self.turns

    @property
    def shares(self) -> Floats:
        """(k,) share of each component in the whole."""
        return np.asarray(self.model.explained_variance_ratio_, np.float64)

    @property
    def tells_shares(self) -> bool:
        """Whether values of axes are shares of a whole; those of a graph, a walk or an alignment are not."""
        return not self.about.tells

    @property
    def values(self) -> Floats:
        """(k,) eigenvalues of the axes, in float64, as results name them."""
        return np.asarray(self.model.certificate_.values, np.float64)[: self.k] / self.divisor

    @property
    def gaps(self) -> Floats:
        """(k,) how far each eigenvalue is from the next; of the last one at least, NaN where nothing is proved."""
        c = self.model.certificate_
        rest = np.asarray(c.values, np.float64)[self.k : self.k + 1] if len(c.values) > self.k else [c.ceiling]
        steps = np.diff(np.concatenate([np.asarray(c.values, np.float64)[: self.k], rest]))
        gaps = steps if c.which == "smallest" else -steps
        return np.where(np.isfinite(gaps) & (gaps >= 0), gaps, np.nan) / self.divisor

    @property
    def divisor(self) -> float:
        """What turns eigenvalues of the certificate into what the method calls the value of an axis."""
        return 1.0

    def possible(self, n: int, d: int) -> int | None:
        """How many components a table of this size has; None where that is not known without computing them."""
        return min(n - 1, d)

    @property
    def stands_on_rows(self) -> bool:
        """Whether the problem is known to be that of rows about their mean and scale, which may be drawn again."""
        return True

    @property
    def keeps_spread(self) -> bool:
        """Whether standard deviations of the columns are known without rows."""
        return False

    @property
    def centered(self) -> bool:
        """Whether a mean was taken off."""
        return bool(getattr(self.model, "center", True))

    # rows

    def rows(self, X: Any) -> Any:
        """Rows as the model encodes them: an array, CSR or row blocks."""
        self.refuse("rows that can be encoded")

    def row_weights(self, X: Any, n: int, sample_weight: Any) -> Floats:
        """(n,) weights of rows."""
        return np.ones(n) if sample_weight is None else validate_weights(sample_weight, n)

    def scores(self, X: Any) -> Floats:
        """Coordinates of rows as variances count them: those of a whitening model get their spread back."""
        F = self.model.transform(X)
        return np.asarray(F.to_numpy() if hasattr(F, "to_numpy") else F, np.float64)  # set_output may give a frame

    def shares_of_rows(self, X: Any, n: int, sample_weight: Any) -> Floats:
        """(n,) weights of rows as ``sums`` counts them."""
        given = None if sample_weight is None else np.asarray(sample_weight, np.float64)
        return given if given is not None and len(given) == n else np.ones(n)

    def require_own(self, X: Any) -> None:
        """Refuse rows that are not those of the fit, of a model that places no others."""

    def row_count(self, X: Any) -> int:
        """Number of rows."""
        return int(self.rows(X).shape[0])

    def kept_rows(self) -> Any:
        """The rows of the fit, where the model itself keeps all of them; None otherwise."""
        return None

    @property
    def compares(self) -> str:
        """What rows are: "vectors" of numbers, "strings", "any" objects, or "precomputed" kernels or distances."""
        return str(getattr(getattr(self.model, "kernel_", None), "takes", "vectors"))

    def compared(self, X: Any) -> Any:
        """Rows as the distances of a map see them."""
        return X

    def compared_rows(self) -> Any:
        """The rows of the fit as the distances of a map see them, where it keeps all of them; None otherwise."""
        return None

    def has_columns(self) -> bool:
        """Whether the rows that ``transform`` takes are a table, whose columns can be described."""
        return True

    def picked(self, X: Any, rows: NDArray[np.intp], columns: NDArray[np.intp]) -> Any:
        """Some rows for a model of some rows (``columns``), which matters to a matrix of kernels only."""
        self.refuse("rows that can be picked")

    def refit(self, fit_on: Any, X: Any, seen: NDArray[np.intp], weights: Floats) -> Any:
        """The model that ``fit_on`` becomes by the ``seen`` rows of X; ``weights`` (n,) are zero for all others."""
        return fit_on.fit(X, sample_weight=weights)

    def changes(self, rows: int) -> dict[str, Any]:
        """Parameters of the same model for fewer rows: what was chosen from all rows stays chosen."""
        params = self.model.get_params(deep=False)
        changes: dict[str, Any] = {"progress": None}
        if self.model.n_components is not None:
            changes["n_components"] = min(int(self.model.n_components_), rows - 1)
        if "unseen" in params:
            changes["unseen"] = "ignore"  # a level that only the rows left out have
        return changes

    # other models of the same rows

    def restated(self, **parameters: Any) -> Any:
        """The model with other parameters that follows from the moment state, solved: no row is read."""
        self.refuse("second model that would follow from its moment state")

    def require_alike(self, other: Any) -> None:
        """Refuse another model that was fitted in another way, before the two are merged."""

    # how many

    def spectrum(self) -> Seen:
        """The eigenvalues of the fit: what the solver knew, or all of them from the moment state."""
        len(getattr(self.model, "components_", ()))  # solves a pending state
        seen = self.seen
        if seen is None:  # a model from a file of an older release
            certificate = self.model.certificate_
            n, d = float(self.model.n_samples_), int(getattr(self.model, "n_features_in_", self.model.n_samples_))
            r = min(int(n) - 1, d)
            return Seen(certificate.values, certificate.total, n, d, r, True, len(certificate.values) >= r)
        if seen.complete or self.state is None:
            return seen
        every = type(self)(self.restated(n_components=None)).seen
        return seen if every is None else every

    def answers_for(self, X: Any) -> bool:
        """Whether the fitted model itself, with some rows, answers how many components there are."""
        return False

    def material(self, X: Any) -> Material:
        """What rules may ask of the fit, and of rows where there are any."""
        return Material(
            self.name, why_not=PASS, lacking={name: f"{name} needs {NO_STATE}" for name in ("parallel", "dpa")}
        )

    def within(self, rule: Any, seen: Seen) -> Within | None:
        """A rule as it sees the axes that the columns can have; None for a rule as it is."""
        return None

    def column_spread(self) -> Floats | None:
        """(d,) standard deviations of the columns, from what is kept for merging; None where nothing is."""
        return None

    def unlike_columns(self) -> Floats:
        """Standard deviations of columns that count as they are, (d,); empty where they do not."""
        return np.zeros(0)

    # axes and plane

    def linear_map(self) -> LinearMap:
        """From a row without gaps to its coordinates: mean, scale and components."""
        self._refuse_columns("linear map of its columns")

    def gap_filler(self) -> Any:
        """What fills gaps among the numbers of a row; None where a row with gaps has no coordinates."""
        return None

    def row_coordinates(self) -> Floats | None:
        """Coordinates of the rows of the fit, where the model keeps them; None otherwise."""
        return None

    def axes(self) -> Axes:
        """Loadings and variances of the axes."""
        self._refuse_columns("loadings")

    def spread(self, X: Any = None, sample_weight: Any = None) -> Floats:
        """Standard deviation of every column in the frame of the fit, (d,)."""
        self._refuse_columns("standard deviations of columns")

    def plane(self) -> Plane:
        """The plane of the axes, with the variances that the model itself reports."""
        self._refuse_columns("plane in the space of its columns")

    def mapped(self, plane: Plane, rows: Any, width: int, step: Any, *, whole: bool = False) -> Floats:
        """``step`` of the parts of every row, (n, width), in one pass; ``whole``: also the parts of sparse rows."""
        self._refuse_columns("plane in the space of its columns")

    def squares(self, X: Any) -> tuple[Floats, Floats]:
        """Scores (n, k) and the squared distances of rows from the centre, (n,)."""
        self.refuse("cos²")

    def column_contributions(self) -> Any:
        """Shares of columns in axes, as the model itself names them; None where they follow from loadings."""
        return None

    def column_cos2(self) -> Any:
        """Squared cosines of columns and axes, as the model itself names them; None where they follow from loadings."""
        return None

    def unrotated(self) -> Floats:
        """Loadings (d, k) that a rotation begins with."""
        return self.axes().loadings

    def directions(self) -> Floats:
        """Axes as long as the standard deviations along them, (d, k): what two models are compared by."""
        return self.axes().loadings

    def standard(self) -> tuple[Floats, Floats, Floats]:
        """Standard coordinates of the columns (d, k), and variances and shares of the axes (k,): a biplot's."""
        self._refuse_columns("biplot")

    def rotated_scores(self, X: Any, matrix: Floats, correlations: Floats) -> Floats:
        """Scores of rows on rotated components, by the matrix of the rotation and the correlations it leaves."""
        self._refuse_columns("rotations")

    def scale_off(self) -> float | None:
        """What Q is measured in, where a model has no variances off its plane; None where it has."""
        return None

    def robust_limits(self, alpha: float) -> Any:
        """Limits of T² and Q, and moments of Q, of a model that has its own; None otherwise."""
        return None

    def robust_degrees(self) -> float | None:
        """Rows that variances as sure as these would need, if they came from all rows; None of other models."""
        return None

    def distances(self, X: Any, diagonal: Any = None) -> tuple[Floats, Floats]:
        """T² and Q of rows, (n,) each, in one pass; ``diagonal``: k(x, x) of rows of a precomputed kernel."""
        self.refuse("distances of rows")

    def own_distances(self, X: Any) -> tuple[Floats, Floats]:
        """T² and Q of rows from the model itself."""
        return self.distances(X)

    def unseen_distances(self, X: Any, unseen: NDArray[np.intp], seen: NDArray[np.intp]) -> tuple[Floats, Floats]:
        """T² and Q of the ``unseen`` rows of X, by a model of the ``seen`` ones."""
        inside, off = self.distances(X)
        return inside[unseen], off[unseen]

    def new_distances(self, X: Any, seen: NDArray[np.intp]) -> tuple[Floats, Floats]:
        """T² and Q of new rows, by a model of the ``seen`` rows of a fit."""
        return self.distances(X)

    def sums(self) -> tuple[float, float, float]:
        """Σw, Σw·T² and Σw·Q of the rows of the fit, which the model knows without them; NaN where it does not."""
        self.refuse("distances of rows")

    def _refuse_columns(self, what: str) -> NoReturn:
        self.refuse(what, *(self.without_columns or (None, None)))
