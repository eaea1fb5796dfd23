"""The fit behind ``ritz fit``: a table in memory, or one that is read in pieces.

In memory the spreads of the columns are known before a PCA. From files they come out of the same single pass: the
moment state gives them, and the state of the columns as they are is also that of the standardised ones. All other
methods take the table as it is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ritz._core.errors import InputError, ParameterError
from ritz._core.memory import limit
from ritz.cli.fitting.columns import Parts
from ritz.cli.fitting.components import DEFAULT_COMPONENTS, count
from ritz.cli.fitting.estimator import MAPS, TWO_TABLES, make_estimator, standardizes
from ritz.cli.fitting.method import Choice
from ritz.cli.fitting.scaling import (
    ALWAYS,
    AS_GIVEN,
    Scaling,
    always_words,
    decide_scaling,
    near_words,
    spreads,
    unknown_spreads,
)
from ritz.cli.terminal.console import say
from ritz.cli.terminal.vocabulary import by_name
from ritz.data.passes.finite import FILL
from ritz.data.passes.observed import observe
from ritz.data.passes.statistics import Statistics
from ritz.data.tables.table import Table
from ritz.data.validate import require_finite, validate_rows
from ritz.methods.factor_analysis.factor_analysis import FactorAnalysis
from ritz.methods.fitted import fitted_of
from ritz.methods.moments import KEEP_STATE, LARGEST_STATE, STATE_FLOOR
from ritz.methods.pca import PCA
from ritz.methods.plan import reading
from ritz.spectral.plan import size_words, time_words

__all__ = ["FittedTable", "Request", "decided", "fit_table", "keeps_state"]

#: Multiplications that a sentence about the choice of k may cost.
CHEAP = 1e9

#: What fills gaps of numbers, for methods that do not.
FILL_BY_PCA = "--method pca --missing regularized"

#: Axes that gaps of categories are filled in by where nobody says how many, as missMDA takes.
FILLING_AXES = 2


@dataclass(frozen=True)
class Request:
    """What is to be fitted; ``k`` is 0 where the user did not choose."""

    parts: Parts
    choice: Choice
    method: dict[str, Any]
    k: Any
    memory: Any
    options: dict[str, Any]  # of every estimator
    outside: bool  # read in pieces, or by a cluster
    scores: str | None
    quiet: bool
    covariance_of: int | None = None


@dataclass(frozen=True)
class FittedTable:
    """A model with what the summary says about it."""

    model: Any
    rows: Any  # what transform takes, or row blocks
    columns: list[str]  # of the table, that the fit used
    shape: tuple[int, int]
    scaling: Scaling | None = None
    refit: Callable[[int], Any] | None = field(default=None, repr=False)
    covariance_of: int | None = None  # rows behind a table that is a covariance matrix


#: How many components of networks there are where nobody says: two to look at, or as many as are shown.
DEFAULTS = {"autoencoder": 2, "rbm": DEFAULT_COMPONENTS}
#: Bytes for each entry of a moment state, of its sums and of what its eigenvectors take.
SOLVED = 48.0
#: Methods whose rows all count once.
UNWEIGHTED = ("kpca", "isomap", "lle", "laplacian", "diffusion", "mvu", "tsne", "nmf", "rbm")


def fit_table(job: Request) -> FittedTable:
    """Fit by the method that was chosen."""
    if job.covariance_of is not None:
        return _of_matrix(job, job.parts.used, job.parts.used.numeric_names())
    if job.choice.method == "pca":
        names = job.parts.used.numeric_names()
        return _outside(job, job.parts.used, names) if job.outside else _inside(job, job.parts.used, names)
    return _general(job)


# principal components


def _inside(job: Request, table: Table, names: list[str]) -> FittedTable:
    X, weight = table.select(names), job.parts.weight()
    missing = job.method["missing"]
    if missing == "error" or not isinstance(X, np.ndarray):  # gaps of sparse rows are never filled
        require_finite(X, names, table.row_name)
    try:
        scaling = decide_scaling(spreads(X), names, job.method["scale"])
        model = _pca(job, X.shape, scaling.scale).fit(X, sample_weight=weight)
    except InputError as error:
        raise by_name(error, names, table.row_name) from error
    model.feature_names_in_ = np.asarray(names, dtype=object)  # so that other tables are matched by name
    if scaling.near and missing == "error":
        other = PCA(1, scale=not scaling.scale, memory=job.memory, **job.options).fit(X, sample_weight=weight)
        scaling = _near(scaling, model, other)
    cheap = float(X.shape[0]) * X.shape[1] * min(X.shape) <= CHEAP and missing == "error" and weight is None
    refit = (lambda r: PCA(r, scale=scaling.scale, progress=False).fit(X)) if cheap else None
    return FittedTable(model, X, names, X.shape, scaling, refit)


def _of_matrix(job: Request, table: Table, names: list[str]) -> FittedTable:
    """A covariance matrix of rows that are not there."""
    S, n, name = table.select(names), int(job.covariance_of or 0), job.choice.method
    shape = (n, len(names))
    scale = job.method["scale"]
    given: dict[str, Any] = {"names": names, "memory": job.memory, **job.options}
    if name == "factor":
        k = None if job.k == 0 else job.k
        model: Any = FactorAnalysis.from_covariance(S, n, k, scale=scale is not False, **given)
        scaling = always_words(name) if scale is None else unknown_spreads(scale)
        return FittedTable(model, None, names, shape, scaling, covariance_of=n)
    given["scale"] = bool(scale)
    model = PCA.from_covariance(S, n, count(job.k, n, len(names), "error"), **given)
    refit = lambda r: fitted_of(model).restated(n_components=r)  # noqa: E731
    scaling = AS_GIVEN if scale is None else unknown_spreads(scale)
    return FittedTable(model, None, names, shape, scaling, refit, covariance_of=n)


def _outside(job: Request, table: Table, names: list[str]) -> FittedTable:
    probe, wanted = _pca(job, (table.n_rows or 0, len(names)), False), job.method["scale"]
    rows, weight = validate_rows(probe, table, reset=True), job.parts.weight()
    shape, missing = (int(rows.shape[0]), len(names)), job.method["missing"]
    if wanted is not None:
        model = _pca(job, rows.shape, wanted)
        _announce(job, model, rows)
        return FittedTable(model.fit(table, sample_weight=weight), rows, names, shape, unknown_spreads(wanted))
    if keeps_state(shape[0], shape[1], job.memory, undecided=True) is None or missing != "error":
        scaling = decide_scaling(_spreads(rows, names, missing), names, None)
        model = _pca(job, rows.shape, scaling.scale)
        _announce(job, model, rows, before=1)
        return FittedTable(model.fit(table, sample_weight=weight), rows, names, shape, scaling)
    probe.mergeable = True
    _announce(job, probe, rows)
    model = probe.fit(table, sample_weight=weight)
    fitted = fitted_of(model)
    scaling = decide_scaling(np.asarray(fitted.column_spread()), names, None)
    if scaling.near:
        both = (
            fitted.restated(scale=scaling.scale, n_components=1),
            fitted.restated(scale=not scaling.scale, n_components=1),
        )
        scaling = _near(scaling, *both)
    if scaling.scale:
        model = fitted.restated(scale=True)
        # The rows were read once, for the state that both answers come from.
        cost = {name: getattr(probe.plan_, name) for name in ("actual_passes", "actual_seconds", "reasons")}
        model.plan_ = replace(model.plan_, **cost)
        model.certificate_ = replace(model.certificate_, passes=probe.certificate_.passes)
    return FittedTable(model, rows, names, shape, scaling, lambda r: fitted_of(model).restated(n_components=r))


def _near(scaling: Scaling, chosen: Any, other: Any) -> Scaling:
    """The decision with the share of the first component as decided and otherwise."""
    mine, theirs = (float(np.asarray(model.explained_variance_ratio_)[0]) for model in (chosen, other))
    return near_words(scaling, (theirs, mine) if scaling.scale else (mine, theirs))


def _pca(job: Request, shape: tuple[int, ...], scale: bool) -> PCA:
    n, d = shape
    missing = job.method["missing"]
    k = count(job.k, n, d, missing)
    kept = keeps_state(n, d, job.memory)
    return PCA(k, scale=scale, missing=missing, memory=job.memory, mergeable=kept, **job.options)


def keeps_state(n: int, d: int, memory: Any = None, *, undecided: bool = False) -> bool | None:
    """What ``mergeable`` is given: ``ritz merge`` takes what this program has written, where the limit holds its state.

    ``undecided``: rows are read in pieces, once, and both answers, with scaling and without, come from the state.
    """
    if SOLVED * d * d > limit(memory):
        return None
    if undecided:
        return True if d <= LARGEST_STATE else None
    return True if 8 * d * d > STATE_FLOOR and d <= min(n, KEEP_STATE) else None


def _spreads(rows: Any, names: list[str], missing: str) -> np.ndarray:
    """Standard deviations of what every column has, by one pass."""
    if missing == "error":
        column = Statistics(rows, names=names).column
        return np.sqrt(column.squares / max(column.weight - 1, 1.0)) * column.unit
    seen = observe(rows, None, names)
    return np.sqrt(seen.squares / np.maximum(seen.weights - 1, 1.0))


def _announce(job: Request, model: PCA, rows: Any, before: int = 0) -> None:
    """Say how often the data will be read, before they are."""
    if job.quiet:
        return
    missing = job.method["missing"]
    if missing != "error":
        times = "several times"
        solver = f"missing values: {missing}"
    else:
        plan, again = reading(model, rows)
        passes = plan.passes + before
        times = "at least once" if again and passes == 1 else time_words(passes, plan.solver)
        solver = plan.solver
    scores = "" if job.scores == "none" else ", then once for scores"
    say("plan", f"{size_words(rows.nbytes)} will be read {times} to fit ({solver}){scores}", "bold cyan")


# all other methods


def require_weighted(name: str, parts: Parts) -> None:
    """Raise where rows of a method have no weights, but a column of them was named."""
    if parts.weights is not None and name in UNWEIGHTED:
        raise ParameterError(f"--weights is for every method but {', '.join(UNWEIGHTED)}",
                             received=f"--method {name}", hint="leave it out")  # fmt: skip


def _general(job: Request) -> FittedTable:
    table, name = job.parts.used, job.choice.method
    rows, columns, strings = rows_for(job.choice, table)
    common = {**job.options, "memory": job.memory}
    weight = job.parts.weight()
    require_weighted(name, job.parts)
    scaling = None if strings else decided(name, job.method["scale"], table)
    method = job.method if scaling is None else {**job.method, "scale": scaling.scale}

    fills = job.method["missing"] == "regularized" and name in ("mca", "famd", "mfa")

    def fitted(k: Any) -> Any:
        model = make_estimator(name, method, table, k, common, strings=strings, counts=_counts(job))
        if name == "kpca":
            model.remove_zero_eig = job.k == 0
            return model.fit(rows)
        return model.fit(rows) if weight is None else model.fit(rows, sample_weight=weight)

    try:
        if job.k == 0:
            model = fitted(FILLING_AXES) if fills else _default(fitted, table, name)
        else:
            model = fitted(job.k)
    except InputError as error:
        raise _in_table_words(error, table, name) from error
    used = columns or _used(model, table)
    scaling = scaling or _unscaled(name, table, used, strings, job.method["scale"])
    return FittedTable(model, rows, used, (int(model.n_samples_), len(used)), scaling)


def _in_table_words(error: InputError, table: Table, name: str) -> Any:
    """The error with lines of the file in place of row numbers; for methods of one table pca fills gaps of numbers."""
    other = "fill them before" if name in TWO_TABLES else f"let {FILL_BY_PCA} fill the gaps"
    hint = (error.hint or "").replace(FILL, other)
    told = type(error)(error.expected, received=error.received, hint=hint or None)
    return by_name(told, [name for name, kind in table.kinds.items() if kind == "numeric"], table.row_name)


def rows_for(choice: Choice, table: Table) -> tuple[Any, list[str] | None, bool]:
    """What ``fit`` takes, the columns that are used where that is known, and whether they are strings."""
    if choice.strings is None:
        return table, None, False
    return ["" if text is None else str(text) for text in table.labels(choice.strings)], [choice.strings], True


def _default(fitted: Callable[[Any], Any], table: Table, name: str) -> Any:
    """At most 20 components; a table that has fewer gives all of them."""
    if name == "factor":  # as many common factors as rows tell; twenty would fit anything
        return fitted("parallel")
    if name in TWO_TABLES:  # as many as predict well, or all pairs that there are
        return fitted(None if name == "cca" else 2 if table.lazy else "kfold")
    if name in MAPS:  # to look at
        return fitted(2)
    if name in DEFAULTS:
        return fitted(DEFAULTS[name])
    if name in ("svd", "kpca"):
        n = len(table)
        d = sum(kind == "numeric" for kind in table.kinds.values()) if name == "svd" else n - 1
        return fitted(max(1, min(n, d, DEFAULT_COMPONENTS)))
    try:
        return fitted(DEFAULT_COMPONENTS)
    except ParameterError as error:
        if "n_components" not in str(error):
            raise
        return fitted(None)


def _counts(job: Request) -> str | None:
    return job.method["counts"] or job.choice.counts


def _used(model: Any, table: Table) -> list[str]:
    if fitted_of(model).counts is not None:  # counted from two columns of categories
        asked = [model.rows, model.columns, model.counts]
        words = [name for name, kind in table.kinds.items() if kind in ("categorical", "text")]
        return [name for name in asked if name is not None] or words
    return [str(name) for name in getattr(model, "feature_names_in_", [])]


def decided(name: str, wanted: bool | None, table: Table) -> Scaling | None:
    """Whether columns are standardised, as for principal components; None for methods that have a rule of their own."""
    if name not in ("robust", "sparse", "ica", "autoencoder") and not standardizes(name):
        return None
    if table.lazy:
        return None if wanted is None else unknown_spreads(wanted)
    names = table.numeric_names()
    return decide_scaling(spreads(table.select(names)), names, wanted) if names else None


def _unscaled(name: str, table: Table, used: list[str], strings: bool, wanted: bool | None) -> Scaling | None:
    """What methods with a rule of their own do; of numbers taken as they are, how much their spreads differ."""
    if name in ALWAYS:
        return always_words(name) if wanted is None else unknown_spreads(wanted)
    if name not in ("svd", "kpca", *MAPS) or strings or table.lazy:
        return None
    scaling = decide_scaling(spreads(table.select(used)), used, False)
    return Scaling(False, False, scaling.why.replace("as asked; ", f"{name} takes numbers as they are; "))
