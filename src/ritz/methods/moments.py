"""The moment state of a PCA: add rows, merge models, take rows away, and solve when a result is first read.

    partial_fit   S ← S ⊕ S(rows)        merge   S_a ⊕ S_b        subtract   S ⊖ S_b     (⊕: data/passes/moments.py)

Nothing but the state is kept of the rows, so the result cannot depend on how they were cut.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ritz._core import memory as memory_limit
from ritz._core.errors import InputError, MergeError, ParameterError
from ritz._core.turns import being_changed, in_turn
from ritz._core.warn import one_call
from ritz.data.passes.center import mean_parts
from ritz.data.passes.moments import Moments
from ritz.data.tables.table import Table
from ritz.data.words import shorten
from ritz.methods.base import LinearEstimator
from ritz.methods.one_pass import fit_sketch, takes_sketch
from ritz.methods.rank.linear import handed, state_material
from ritz.methods.rest import left_over
from ritz.methods.scaling import require_variances, spread_of, unit_of
from ritz.operators import MomentGram
from ritz.spectral.plan import Shape
from ritz.spectral.problem import SpectralProblem
from ritz.spectral.solution import Solution

__all__ = ["LARGEST_STATE", "Stateful"]

#: Columns up to which the moment state is kept without being asked, and at most.
KEEP_STATE, LARGEST_STATE = 2_000, 20_000

#: Round-offs of the spread before by which subtraction may move a mean.
MEAN_SLACK = 100.0

#: Rows that are added up at once from an iterator.
ONCE_ROWS = 1 << 14

#: Results that are solved on first read after ``partial_fit``.
RESULTS = (
    "components_", "explained_variance_", "explained_variance_ratio_", "singular_values_", "mean_", "scale_",
    "noise_variance_", "n_components_", "n_samples_", "total_variance_", "certificate_", "plan_",
)  # fmt: skip


class Stateful(LinearEstimator):
    """What a PCA does with its moment state."""

    #: fitted names that a pending state is solved for, and parameters that must agree in a merge
    _results: ClassVar[tuple[str, ...]] = RESULTS
    _agreeing: ClassVar[tuple[str, ...]] = ("n_components", "center", "scale", "whiten", "missing")

    center: bool
    scale: bool
    mergeable: bool | None
    certificate_: Any

    def _name(
        self, spectrum: Solution, center: Any, scale: Any, weight: float, rows: int, dtype: Any, rest: float
    ) -> None:  # fmt: skip
        """Name the results of a spectrum."""
        raise NotImplementedError

    def _enough_rows(self, rows: int) -> None:
        raise NotImplementedError

    def _restated(self, **parameters: Any) -> Self:
        """A model with other parameters from the same state: no row is read again."""
        state = self._need_state("a second look")
        model = type(self)(**{**self.get_params(deep=False), **parameters})
        model.n_features_in_ = self.n_features_in_
        if hasattr(self, "feature_names_in_"):
            model.feature_names_in_ = self.feature_names_in_
        model.__dict__.update(_state=state, _dtype=self.__dict__["_dtype"], _pending=True)
        return model

    def _fit_once(self, table: Table, sample_weight: Any) -> Self:
        """Fit to rows that can be read only once: their state is added up, then solved."""
        names = table.numeric_names()
        source, columns = table.source_for(names)
        model = type(self)(**self.get_params(deep=False))
        row, weights = 0, None if sample_weight is None else np.asarray(sample_weight)
        d = len(names)
        if takes_sketch(self, d, LARGEST_STATE):
            fit_sketch(model, source, columns, d, weights)
            self._forget()
            self.__dict__.update(vars(model), feature_names_in_=np.asarray(names, dtype=object))
            return self
        for span in source.spans:
            for batch in source.batches(span, columns, ONCE_ROWS):
                model.partial_fit(batch, sample_weight=None if weights is None else weights[row : row + batch.shape[0]])
                row += batch.shape[0]
        if weights is not None and len(weights) != row:
            raise InputError(f"sample_weight needs one entry for each of the {row} rows", received=f"{len(weights)}")
        model._solve_state()
        self._forget()
        self.__dict__.update(vars(model), feature_names_in_=np.asarray(names, dtype=object))
        return self

    def _keeps_state(self, d: int) -> bool:
        if self.mergeable is None:
            return d <= KEEP_STATE and 32.0 * d * d <= memory_limit.limit(self.memory)
        if self.mergeable and d > LARGEST_STATE:
            raise ParameterError(
                f"mergeable=True keeps a d×d state for at most {LARGEST_STATE:,} columns",
                received=f"{d:,} columns",
                hint="leave mergeable=None and fit all rows at once",
            )
        return bool(self.mergeable)

    def _forms_state(self, shape: Shape) -> bool:
        return self._keeps_state(shape.d) and shape.n >= shape.d

    # the moment state

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None, check_input: bool = True) -> Self:
        """Add rows; nothing is solved until a fitted name is read. The result does not depend on how rows are cut.

        Examples
        --------
        >>> import numpy as np, ritz
        >>> day, night = np.array([[9, 2], [4, 8]]), np.array([[3, 7], [6, 1]])
        >>> ca = ritz.CA().partial_fit(day).partial_fit(night)
        >>> bool(np.isclose(ca.total_inertia_, ritz.CA().fit(np.vstack([day, night])).total_inertia_))
        True
        """
        self._check_parameters()
        first = not self.__sklearn_is_fitted__()
        held = None if first else self._need_state("partial_fit")
        X, weights = self._rows(X, sample_weight, reset=first, whole=False)
        if X.shape[1] > LARGEST_STATE:
            raise MergeError(
                f"partial_fit keeps a d×d state for at most {LARGEST_STATE:,} columns",
                received=f"{X.shape[1]:,} columns",
                hint="fit all rows at once; an iterator of batches can be sketched in one pass: solver='sketch'",
            )
        # A state cannot be repaired later: it is always formed in float64.
        plan = replace(self._plan_for(self._shape(X), 1, whole=True), precision="float64")
        added = self._in_range(X, lambda rows, unit: self._leaf(rows, weights, plan, unit)[1].moments)
        state = added if held is None else held.merge(added)
        dtype = self._float(X) if first else np.promote_types(self.__dict__["_dtype"], self._float(X))
        self._forget()
        self.__dict__.update(_state=state, _dtype=dtype, _pending=True)
        return self

    def merge(self, other: Self, *more: Self) -> Self:
        """The model of both data sets together, exactly; neither operand changes.

        Examples
        --------
        >>> import numpy as np, ritz
        >>> from sklearn.datasets import load_iris
        >>> X = load_iris().data
        >>> setosa, others = ritz.PCA(2).fit(X[:50]), ritz.PCA(2).fit(X[50:])
        >>> both = setosa.merge(others)               # neither needs the rows of the other
        >>> both.n_samples_, both.explained_variance_.round(4)
        (150, array([4.2282, 0.2427]))
        >>> ritz.PCA(2).fit(X).explained_variance_.round(4)
        array([4.2282, 0.2427])
        """
        return self._combine([other, *more], Moments.merge)

    def subtract(self, other: Self) -> Self:
        """The model without the rows of ``other``; exact to u·tr(merged)/tr(rest), as its certificate notes.

        Examples
        --------
        >>> import numpy as np, ritz
        >>> from sklearn.datasets import load_iris
        >>> X = load_iris().data
        >>> rest = ritz.PCA(2).fit(X).subtract(ritz.PCA(2).fit(X[:50]))
        >>> rest.n_samples_, rest.explained_variance_.round(4)
        (100, array([1.1822, 0.1216]))
        >>> ritz.PCA(2).fit(X[50:]).explained_variance_.round(4)
        array([1.1822, 0.1216])
        """
        return self._combine([other], Moments.subtract)

    def _combine(self, others: list[Self], verb: Any) -> Self:
        name = verb.__name__
        state = self._need_state(name)
        for other in others:
            self._same_parameters(other)
            state = verb(state, other._need_state(name))
        result = self._restated()
        dtype = np.result_type(*(model.__dict__["_dtype"] for model in (self, *others)))
        result.__dict__.update(_state=state, _dtype=dtype, _pending=True)
        if verb is Moments.subtract:
            result.__dict__["_mean_slack"] = _mean_slack(self._need_state(), state, self.__dict__.get("_mean_slack"))
            before = self._need_state()
            left = float(np.trace(state.scatter)) * (state.unit / before.unit) ** 2
            share = 2.0**-53 * float(np.trace(before.scatter)) / max(left, 1e-300)
            result.__dict__["_note"] = f"subtracted: eigenvalues are exact to {share:.1e} of the remaining total"
        return result

    def _need_state(self, verb: str = "merge") -> Moments:
        check_is_fitted(self)
        state = self.__dict__.get("_state")
        if state is None:
            raise MergeError(
                f"{verb} needs the moment state, which is kept for d ≤ {KEEP_STATE:,} or with mergeable=True",
                received=f"a model with {self.n_features_in_:,} columns, mergeable={self.mergeable!r}",
                hint=f"fit with {type(self).__name__}(mergeable=True)",
            )
        return state

    def _same_parameters(self, other: Self, columns: bool = True) -> None:
        if not (isinstance(other, type(self)) or isinstance(self, type(other))):
            raise MergeError(
                f"a {type(self).__name__} can be combined with a {type(self).__name__} only",
                received=type(other).__name__,
                hint=f"fit the other rows with a {type(self).__name__} first, or add them with partial_fit",
            )
        check_is_fitted(other)
        mine, theirs = self.get_params(deep=False), other.get_params(deep=False)
        pairs = ((name, mine[name], theirs[name]) for name in self._agreeing)
        differ = [f"{name}={one!r} and {name}={two!r}" for name, one, two in pairs if one != two]
        names = getattr(self, "feature_names_in_", None), getattr(other, "feature_names_in_", None)
        if columns and names[0] is not None and names[1] is not None and list(names[0]) != list(names[1]):
            differ.append(_other_names(list(names[0]), list(names[1])))
        if differ:
            raise MergeError(
                "both models must have the same parameters and columns",
                received="; ".join(differ),
                hint="fit both with the same parameters on the same columns in the same order",
            )

    def _solve_state(self) -> None:
        """Solve the accumulated state; called when a fitted name is first read."""
        state: Moments = self.__dict__["_state"]
        self._enough_rows(state.rows)
        if (state.weight - 1) + state.weight_low <= 0 and self.center:
            raise InputError(
                "the weights of all rows must sum to more than 1",
                received=f"{state.weight:g}",
                hint="add more rows",
            )
        shape = Shape(state.rows, state.d, 8, None, symmetric=True)
        wanted = self._wanted(state.rows, state.d, centered=self.center)
        wanted = handed(wanted, lambda: state_material(self, state))
        plan = self._plan_for(shape, wanted, whole=True)
        scale = spread_of(state, self) if self.scale else None
        unit = unit_of(state, self.scale)
        M = MomentGram(state, center=self.center, scale=scale, unit=unit)
        problem = SpectralProblem(
            M,
            kind="eigh",
            n=state.weight,
            d=state.d,
            rows=state.rows,
            centered=self.center,
            repeatable=False,
            **self._request(wanted, shape),
        )
        frame = {"mean": state.mean if self.center else None, "scale": scale}
        frame["mean_slack"] = self.__dict__.get("_mean_slack")
        spectrum = self._solve(problem, plan, unit, frame)
        require_variances(spectrum, state, getattr(self, "feature_names_in_", None))
        self.__dict__.pop("_pending", None)
        self.__dict__["_weight_low"] = state.weight_low
        rest, spectrum = left_over(spectrum, problem.rank, None)
        self._name(spectrum, mean_parts(state), scale, state.weight, state.rows, self.__dict__["_dtype"], rest)
        if "_note" in self.__dict__:
            certificate = self.certificate_
            self.certificate_ = replace(certificate, notes=(*certificate.notes, self.__dict__["_note"]))

    def __getattr__(self, name: str) -> Any:
        if name in self._results and not being_changed(self):
            with one_call(), in_turn(self, name):
                if self.__dict__.get("_pending"):
                    self._solve_state()
                if name in self.__dict__:
                    return self.__dict__[name]
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __sklearn_is_fitted__(self) -> bool:
        return "components_" in self.__dict__ or bool(self.__dict__.get("_pending"))

    def _forget(self) -> None:
        for name in (*self._results, "_pending", "_note", "_mean_slack"):
            self.__dict__.pop(name, None)


def _mean_slack(whole: Moments, rest: Moments, before: np.ndarray | None) -> np.ndarray:
    """What subtraction may leave in the means: as good as spread and mean before allow, over the share that is left."""
    spread = np.sqrt(np.diag(whole.scatter)) / np.sqrt(max(whole.weight, 1e-300)) * whole.unit
    share = whole.weight / max(rest.weight, 1e-300)
    own = 2.0**-53 * (MEAN_SLACK * spread + 4 * np.abs(whole.mean))
    return np.asarray(share * (own + (0.0 if before is None else before)))


def _other_names(mine: list[str], theirs: list[str]) -> str:
    """In what two lists of column names differ."""
    both = set(mine) & set(theirs)
    only = [[repr(name) for name in names if name not in both] for names in (mine, theirs)]
    told = [f"{shorten(words)} only in the {at}" for words, at in zip(only, ("first", "second"), strict=True) if words]
    if told:
        return f"columns {' and '.join(told)}"
    a, b = next((a, b) for a, b in zip(mine, theirs, strict=True) if a != b)
    return f"columns in another order, such as {b!r} where the first has {a!r}"
