"""What PLS, CCA and principal component regression have in common: two tables in, scores and predictions out.

    z = (x − μ)D_σ⁻¹,   t = z W (k scores),   ẑ = t Pᵀ,   ŷ = ν + t C D_τ = ν + (x − μ) B,   B = D_σ⁻¹ W C D_τ

    T = Q Rₜ      P = Rₜ⁻¹QᵀX̃ (k×d),   C = Rₜ⁻¹QᵀỸ (k×q)      least squares on the scores, by QR
    component a explains ‖q_aᵀX̃‖² of X and ‖q_aᵀỸ‖² of Y beside those before it

A method says where W comes from; the rest is here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from ritz._core.bases import check_is_fitted
from ritz._core.errors import AccuracyWarning, InputError, ParameterError
from ritz._core.frozen import changed
from ritz._core.linalg import signs
from ritz._core.memory import SMALL_TABLE
from ritz._core.warn import warn
from ritz.data.validate import room_for, validate_rows, validate_weights
from ritz.data.words import counted
from ritz.methods.linear_record import TwoTableRecord
from ritz.methods.method import Method
from ritz.methods.posed import Posed, rows_that_count, verify_posed
from ritz.methods.record import keep
from ritz.methods.rest import with_passes
from ritz.methods.scaling import divisor_held
from ritz.methods.sparse_pca.covariance import Formed, rest_spectrum
from ritz.methods.sparse_pca.sparse_pca import ObliqueMap
from ritz.methods.two_tables.components import Found
from ritz.methods.two_tables.folds import folded
from ritz.methods.two_tables.joint import Joint, joint_of
from ritz.methods.two_tables.order import in_order, in_output, paired
from ritz.methods.two_tables.second import Second, Together, first_of, require_numbers, second_of, split, targets_of
from ritz.methods.verify.model import with_held
from ritz.project.linear import LinearMap, result_dtype
from ritz.spectral.plan import Plan, Shape, route
from ritz.spectral.solution import Solution
from ritz.spectral.verify import Verification

__all__ = ["Fit", "TwoTables"]

Floats = NDArray[np.float64]

#: What rounding may leave of the covariance of scores and residuals, in units of both.
RESTING = 1e-7
#: Roundings of its terms that a score or a prediction may be off by, in the fit and in the check together.
ROUNDED, U = 64.0, 2.0**-53
#: Smaller sides up to which the small problem is decomposed as it stands, instead of its Gram matrix.
SMALL = 500
#: Share of a sum of squares below which a difference has lost its digits.
CANCELLED = 1e-6
#: How far pivots of rotations may differ where products with the first table are had from the scores.
LEVEL = 1e-2
#: Columns up to which all variances off the plane are kept.
FEW = 100


@dataclass(frozen=True)
class Fit:
    """Least squares on the scores of some rotations."""

    scores: Floats  # (m, k) T
    dual: Floats  # (k, d) Pᵀ
    second: Floats  # (k, q) C
    covariance: Floats  # (k, k) of the scores
    common: Floats  # (d, k) X̃ᵀT
    gains: Floats  # (k,) what each adds of X
    gains_second: Floats  # (k,) and of Y

    @classmethod
    def of(cls, joint: Joint, W: Floats) -> Fit:
        """From the factor and rotations (d, k)."""
        T = joint.X @ W
        Q, R = np.linalg.qr(T)
        along, beside = Q.T @ joint.X, Q.T @ joint.Y
        solve = scipy.linalg.solve_triangular
        with np.errstate(divide="ignore", invalid="ignore"):
            dual, second = solve(R, along, check_finite=False), solve(R, beside, check_finite=False)
        return cls(
            T,
            dual,
            second,
            T.T @ T / joint.divisor,
            along.T @ R,
            np.sum(np.square(along), axis=1),
            np.sum(np.square(beside), axis=1),
        )


class TwoTables(Method):
    """Base of the methods of two tables."""

    cv_errors_: Floats
    _records: ClassVar[type[TwoTableRecord]] = TwoTableRecord
    _record: TwoTableRecord
    #: whether small directions count as much as large ones, so that no digit of a factor may be lost
    _by_angles: ClassVar[bool] = False
    #: whether the small problem is decomposed as it stands
    _small_svd: ClassVar[bool] = True
    #: words that ``n_components`` may be, beside a number and None
    _words: ClassVar[tuple[str, ...]] = ("kfold",)

    target: Any
    scale: bool

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit to two tables of the same rows.

        Parameters
        ----------
        X : array-like, sparse matrix, frame or Table of shape (n, d)
            The first table; with ``target`` also the columns of the second.
        y : array-like, frame or Table of shape (n,) or (n, q), or None
            The second table; None where ``target`` names its columns.
        sample_weight : (n,) frequencies, or None
        """
        return self._fit(X, y, sample_weight)

    def _fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        if isinstance(X, Together):
            X, y = X.X, X.Y
        return super()._fit(X, y, sample_weight)

    def _adopt(self, X: Any, y: Any, sample_weight: Any) -> tuple[Together, Floats | None]:
        """Rows of both tables, those of weight zero left out."""
        self._record = self._records()
        first, second = split(self, X, y)
        rows, Y, weights = self._paired(first, second, sample_weight, reset=True)
        self.target_names_ = np.asarray(second.names, dtype=object)
        self._record.flat = second.flat
        return Together(rows, Y), weights

    def _paired(self, X: Any, second: Second, given: Any, *, reset: bool) -> tuple[Any, Floats, Floats | None]:
        rows, weights = self._rows(X, given, reset=reset)
        n, Y = int(rows.shape[0]), second.values
        if weights is not None and n < len(np.asarray(given)):
            Y = Y[np.flatnonzero(validate_weights(given, len(Y)))] if len(np.asarray(given)) == len(Y) else Y
        if len(Y) != n:
            raise InputError(
                "two tables of the same rows: inconsistent numbers of samples",  # scikit-learn's phrase
                received=f"{n:,} rows and {len(Y):,}", hint="row i of both belongs to the same thing",
            )  # fmt: skip
        require_numbers(Y if weights is None else Y[weights > 0], second.names)
        if weights is not None and not np.isfinite(Y).all():
            Y = np.where(weights[:, None] > 0, Y, 0.0)
        return rows, Y, weights

    def _first_table(self, X: Any) -> Any:
        """Rows without the columns of the second table, where they have any; asked by the check of rows."""
        wanted = targets_of(self.target)
        return first_of(X, wanted, getattr(self, "n_features_in_", None)) if wanted else X

    # the problem

    def pose(self, rows: Any, weights: Floats | None) -> Posed:
        """The factor of both tables, and the small problem that it leaves."""
        rows_that_count(self, rows.X, weights, "a covariance")
        joint = joint_of(self, rows.X, rows.Y, weights, scale=bool(self.scale), few=self._few_products())
        most = self._most(joint)
        wanted: Any = self.n_components
        if hasattr(self, "cv_errors_"):
            del self.cv_errors_
        if wanted == "kfold":
            chosen = folded(self, rows.X, rows.Y, weights, most)
            wanted, self.cv_errors_ = chosen.k, chosen.errors
            self._record.choice = ("kfold", chosen.why)
        return self._pose_joint(joint, wanted, most, result_dtype(rows.X.dtype), weights)

    def _few_products(self) -> int | None:
        """Components that products with the first table are made for, one after the other; None of other methods."""
        return None

    def _most(self, joint: Joint) -> int:
        """How many components there can be."""
        return max(1, min(joint.rows - 1, joint.d))

    def _pose_joint(self, joint: Joint, wanted: Any, most: int, dtype: Any, weights: Any) -> Posed:
        raise NotImplementedError

    def _directions(self, joint: Joint, k: int) -> Found:
        """Rotations of k components, without a certificate: what cross-validation fits many times."""
        raise NotImplementedError

    def _number(self, wanted: Any, most: int) -> int:
        """``n_components`` as a number of at most ``most``."""
        if wanted is None:
            return most
        if isinstance(wanted, (int, np.integer)) and not isinstance(wanted, bool) and 1 <= int(wanted) <= most:
            return int(wanted)
        words = "".join(f", {word!r}" for word in self._words)
        raise ParameterError(
            f"n_components={wanted!r} must be a number from 1 to {most}, None{words}", received=repr(wanted),
            hint=f"n_components={min(2, most)}",
        )  # fmt: skip

    def _plan(self, posed: Posed) -> Plan:
        joint: Joint = posed.kept[0]
        plan = self._as_it_stands(super()._plan(posed), posed.shape, posed.wanted)
        return self._joint(plan, joint.d, joint.q, joint.passes)

    def _as_it_stands(self, plan: Plan, small: Shape, wanted: int) -> Plan:
        """The plan of the small problem that the factor leaves: no Gram matrix of it where it is small enough."""
        if not self._small_svd or self.solver != "auto" or min(small.n, small.d) > SMALL or plan.solver != "moments":
            return plan
        little = self.memory is None and 8 * small.numbers <= SMALL_TABLE
        plan = route(small, wanted, memory=None if little else room_for(self), solver="svd", tol=self.tol)
        return changed(plan, reasons=("the small problem that it leaves is decomposed as it stands",))

    @staticmethod
    def _joint(plan: Plan, d: int, q: int, passes: float) -> Plan:
        """Rows are read for their means and for the factor; the small problem is no reading of them."""
        words = f"a factor of both tables ({d:,} and {q:,} columns) by QR of the rows, block by block"
        return changed(plan, passes=passes, reasons=(words, *plan.reasons))

    def _remember(self, problem: Any, solution: Solution, unit: float) -> None:
        choice = self._record.choice
        super()._remember(problem, solution, unit)
        if choice is not None:  # by cross-validation, or a test
            self._record.choice = choice

    def _route(self, X: Any, y: Any = None, sample_weight: Any = None) -> Plan:
        first, second = split(self, X, y)
        shape = self._shape(validate_rows(self, first, reset=True))
        q = second.values.shape[1]
        k = self.n_components if isinstance(self.n_components, int) else 1
        small = self._small(shape, q)
        k = max(1, min(k, small.n, small.d))
        return self._joint(self._as_it_stands(self._plan_for(small, k), small, k), shape.d, q, 2)

    def _small(self, shape: Shape, q: int) -> Shape:
        """The problem that the factor of a table of this shape leaves."""
        return Shape(max(q, shape.d), min(q, shape.d), 8, None)

    # the names of what was found

    def _name(
        self, joint: Joint, found: Found, solution: Solution, dtype: Any, second: Floats, told: tuple[str, ...]
    ) -> None:  # fmt: skip
        """Name the results of rotations; ``second``: rotations of the second table (q, k)."""
        turn = signs(found.rotations)
        W, weights, V = found.rotations * turn, found.weights * turn, second * turn
        fit = Fit.of(joint, W)
        k, d = W.shape[1], joint.d
        total, all_of_y = joint.sizes
        self.components_ = np.ascontiguousarray(W.T, dtype)
        self.x_weights_, self.x_rotations_ = weights.astype(dtype), W.astype(dtype)
        self.x_loadings_, self.y_loadings_ = fit.dual.T.astype(dtype), fit.second.T.astype(dtype)
        self.y_weights_, self.y_rotations_ = (found.second * turn).astype(dtype), V.astype(dtype)
        self.explained_variance_ = (fit.gains / joint.divisor).astype(dtype)
        self.explained_variance_ratio_ = (fit.gains / (total or 1.0)).astype(dtype)
        self.y_explained_variance_ratio_ = (fit.gains_second / (all_of_y or 1.0)).astype(dtype)
        self.singular_values_ = np.sqrt(fit.gains).astype(dtype)
        self.total_variance_ = total / joint.divisor
        self._name_frames(joint, dtype)
        sigma = 1.0 if joint.x.scale is None else joint.x.scale[:, None]
        B = W @ fit.second * (1.0 if joint.y.scale is None else joint.y.scale)
        self.coef_ = np.ascontiguousarray((B / sigma).T, dtype)
        shift = joint.x.mean if joint.x.low is None else joint.x.mean + joint.x.low
        self.intercept_ = (joint.y.mean - shift @ (B / sigma)).astype(dtype)
        self.n_components_, self.n_samples_ = k, joint.rows
        solution = with_passes(solution, joint.passes)
        certificate = solution.certificate
        self.certificate_ = changed(certificate, notes=(*certificate.notes, *told))
        self.plan_ = solution.plan
        Q, R = np.linalg.qr(W)
        rest = _off(joint.X, Q, _on(joint.X, Q, R, fit.scores), total) / joint.divisor if k < d else 0.0
        spread = np.sqrt(np.maximum(np.diag(fit.covariance), 0.0))
        keep(
            self, mean64=joint.x.mean, mean_low=joint.x.low, scale64=joint.x.scale, weight=joint.weight,
            weight_low=joint.weight_low, dtype=np.dtype(dtype), loadings=W, dual=fit.dual,
            structure=fit.common / joint.divisor / np.where(spread > 0, spread, 1.0),
            spread=joint.x.spread, score_covariance=fit.covariance, rest_variance=rest,
            rest=rest_spectrum(Formed(joint.X.T @ joint.X / joint.divisor), Q) if d <= FEW else None,
            coef64=B, y_rotations=V,
        )  # fmt: skip

    def _name_frames(self, joint: Joint, dtype: Any) -> None:
        self.mean_, self.y_mean_ = joint.x.mean.astype(dtype), joint.y.mean.astype(dtype)
        self.scale_ = None if joint.x.scale is None else joint.x.scale.astype(dtype)
        self.y_scale_ = None if joint.y.scale is None else joint.y.scale.astype(dtype)
        keep(self, y_mean64=joint.y.mean, y_mean_low=joint.y.low, y_scale64=joint.y.scale)

    def _few(self, asked: Any, k: int, k_found: int) -> tuple[str, ...]:
        """Say that there were fewer components than asked for."""
        if k_found >= k:
            return ()
        say = "says" if k_found == 1 else "say"
        words = f"{counted(k_found, 'component')} {say} all that the first table says of the second"
        if isinstance(asked, (int, np.integer)):
            warn(f"{words}; {k} were asked for", AccuracyWarning)
        return (words,)

    # rows

    def _map(self) -> ObliqueMap:
        check_is_fitted(self)
        record, names = self._record, getattr(self, "feature_names_in_", None)
        return ObliqueMap(
            record.loadings.T, record.mean64, record.scale64, None, names, record.mean_low, dual=record.dual
        )

    def _plane(self) -> dict[str, Any]:
        """An orthonormal basis of the plane of the rotations, and what makes its coordinates white."""
        record = self._record
        Q, R = np.linalg.qr(record.loadings)  # t = zW = (zQ)R
        values, vectors = np.linalg.eigh(record.score_covariance)
        there = values > 1e-12 * float(np.max(values, initial=0.0))
        return {
            "basis": Q.T, "white": R @ (vectors[:, there] / np.sqrt(values[there])), "mean": record.mean64,
            "scale": record.scale64, "low": record.mean_low, "variances": values[there][::-1], "rows": record.weight,
            "divisor": divisor_held(self), "centered": True, "rest": record.rest_variance, "chosen": False,
        }  # fmt: skip

    def predict(self, X: Any) -> Any:
        """The second table of rows of the first, (n, q), or (n,) where it was a vector.

        Means are taken off rows before they are multiplied, so that large ones cost no digits.

        Parameters
        ----------
        X : array-like, sparse matrix, frame or Table of shape (n, d)
        """
        check_is_fitted(self)
        rows = validate_rows(self, X, reset=False)
        Y = self._predicted(rows).astype(result_dtype(rows.dtype), copy=False)
        return Y[:, 0] if self._record.flat else Y

    def _predicted(self, rows: Any) -> Floats:
        record = self._record
        low = 0.0 if record.y_mean_low is None else record.y_mean_low
        return np.asarray(self._beside_mean(rows) + low + record.y_mean64)

    def _beside_mean(self, rows: Any) -> Floats:
        """Predictions less the mean of the second table, in float64.

        Products in float32 are off by u32 Σ|z||B|: where columns nearly repeat each other, more than a prediction.
        """
        record, names = self._record, getattr(self, "feature_names_in_", None)
        step = LinearMap(record.coef64.T, record.mean64, record.scale64, None, names, record.mean_low)
        return np.asarray(step.forward(rows, np.float64))

    def transform(self, X: Any, y: Any = None) -> Any:
        """Scores of rows of the first table, (n, k); of both tables, as a pair, where both are given.

        Parameters
        ----------
        X : array-like, sparse matrix, frame or Table of shape (n, d)
        y : array-like, frame or Table of shape (n,) or (n, q), or None
            Rows of the second table, as :meth:`transform_y` takes them.
        """
        scores = super().transform(X)
        return scores if y is None else paired(scores, self.transform_y(y), y)

    def transform_y(self, Y: Any) -> Any:
        """Scores of rows of the second table, (n, k), in its precision.

        Parameters
        ----------
        Y : array-like, frame or Table of shape (n,) or (n, q)
            The columns of the second table.
        """
        check_is_fitted(self)
        record, second = self._record, self._second(Y)
        require_numbers(second.values, second.names)
        step = LinearMap(record.y_rotations.T, record.y_mean64, record.y_scale64, None, None, record.y_mean_low)
        return in_output(self, step.forward(second.values).astype(result_dtype(second.dtype), copy=False), Y)

    def _second(self, Y: Any, X: Any = None) -> Second:
        """The second table as the model knows it: handed in, or columns of the rows."""
        second = split(self, X, None)[1] if Y is None else second_of(Y, type(self).__name__)
        if second.values.shape[1] != len(self.target_names_):
            raise InputError(
                f"the second table of this {type(self).__name__} has {counted(len(self.target_names_), 'column')}",
                received=f"{counted(second.values.shape[1], 'column')}", hint="pass the columns of the fit",
            )  # fmt: skip
        return second if Y is None else in_order(second, list(self.target_names_), type(self).__name__)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """R² of the predictions, the mean over the columns of the second table.

        Parameters
        ----------
        X, y : as for fit
        sample_weight : (n,) frequencies, or None
        """
        from sklearn.metrics import r2_score

        check_is_fitted(self)
        second = self._second(y, X)
        Y = np.asarray(self.predict(X), np.float64).reshape(len(second.values), -1)
        require_numbers(second.values, second.names)
        return float(r2_score(second.values, Y, sample_weight=sample_weight))

    # the check

    def verify(self, X: Any, y: Any = None, sample_weight: Any = None) -> Verification:  # type: ignore[override]
        """Check the certificate, and that predictions are least squares on the scores, from both tables.

        Parameters
        ----------
        X, y, sample_weight : what fit took

        Examples
        --------
        >>> import numpy as np, ritz
        >>> X = np.random.default_rng(0).standard_normal((40, 5))
        >>> y = X @ [1.0, 2, 0, 0, 0]
        >>> model = ritz.PLS(2).fit(X, y)
        >>> bool(model.verify(X, y)), bool(model.verify(X, y[::-1]))
        (True, False)
        """
        check_is_fitted(self)
        first, second = split(self, X, y)
        rows, Y, weights = self._paired(first, second, sample_weight, reset=False)
        record = self._record
        posed = self._again(rows, Y, weights)
        checked = verify_posed(self.certificate_, posed)
        wrong = self._at_rest(rows, Y, weights)
        if wrong:
            checked = changed(checked, ok=False, words=(*wrong, *checked.words))
        self._record = record
        return with_held(self, checked, (Together(X, y), sample_weight), certificate=True)

    def _again(self, rows: Any, Y: Floats, weights: Floats | None) -> Posed:
        """The problem, posed once more from the rows by an estimator that knows nothing of the fit."""
        other = type(self)(**{**self.get_params(deep=False), "n_components": self.n_components_})
        other._record = self._records()
        for name in ("n_features_in_", "feature_names_in_", "target_names_"):
            if hasattr(self, name):
                setattr(other, name, getattr(self, name))
        joint = joint_of(other, rows, Y, weights, scale=bool(self.scale), few=other._few_products())
        return other._pose_joint(joint, self.n_components_, other._most(joint), result_dtype(rows.dtype), weights)

    def _at_rest(self, rows: Any, Y: Floats, weights: Floats | None) -> list[str]:
        """Whether residuals are uncorrelated with scores, which makes the coefficients those of least squares."""
        w = np.ones(len(Y)) if weights is None else weights
        T = np.asarray(self._map().forward(rows, np.float64))
        low = 0.0 if self._record.y_mean_low is None else self._record.y_mean_low
        beside = Y - self._record.y_mean64 - low  # before anything is taken off: large means cost no digits
        E = beside - self._beside_mean(rows)
        spread = beside - np.average(beside, axis=0, weights=w)
        size = np.sqrt(np.outer(w @ np.square(T), w @ np.square(spread)))
        off = np.abs((T * w[:, None]).T @ E)
        length = np.sqrt(w @ np.square(spread))
        off_mean = np.abs(w @ E) / np.sqrt(np.sum(w) * np.square(length) + 1e-300)
        close = 1e-4 if self._record.dtype == np.float32 else RESTING
        scores, made = self._terms(float(np.sum(w)))
        lost = ROUNDED * U * (np.outer(scores, length) + np.outer(np.sqrt(w @ np.square(T)), made))
        lost_mean = ROUNDED * U * made / np.where(length > 0, length, np.inf)
        if not (bool(np.all(off <= close * size + lost + 1e-300)) and bool(np.all(off_mean <= close + lost_mean))):
            return ["residuals of the predictions are correlated with the scores: these are not least squares"]
        return []

    def _terms(self, weight: float) -> tuple[Floats, Floats]:
        """Lengths of the terms that scores (k,) and predictions (q,) are sums of: rounding is a share u of these.

        Of columns that nearly repeat each other, rotations are large and scores are small differences.
        """
        r = self._record
        z = np.asarray(r.spread) * np.sqrt(weight)  # ‖z_l‖ of each column in the frame of the fit
        return z @ np.abs(r.loadings), z @ np.abs(r.coef64)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if not isinstance(self.scale, (bool, np.bool_)):
            raise ParameterError("scale must be True or False", received=repr(self.scale), hint="scale=True")
        if isinstance(self.n_components, str) and self.n_components not in self._words:
            raise ParameterError(
                f"n_components must be a number, None or {' or '.join(map(repr, self._words))}",
                received=repr(self.n_components), hint="n_components=2",
            )  # fmt: skip

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = self.target is None
        tags.target_tags.multi_output = True
        tags.target_tags.single_output = True
        return tags


def _on(X: Floats, Q: Floats, R: Floats, T: Floats) -> Floats:
    """XQ: TR⁻¹ of the scores T = XW, W = QR, unless rotations are far from independent."""
    pivots = np.abs(np.diag(R))
    if float(np.min(pivots)) <= LEVEL * float(np.max(pivots)):
        return X @ Q
    return np.asarray(scipy.linalg.solve_triangular(R, T.T, trans="T", check_finite=False).T)


def _off(X: Floats, Q: Floats, on: Floats, total: float) -> float:
    """‖X − XQQᵀ‖², ``on`` = XQ; from the difference of squares as long as that has its digits."""
    left = total - float(np.vdot(on, on))
    return left if left > CANCELLED * total else float(np.sum(np.square(X - on @ Q.T)))
