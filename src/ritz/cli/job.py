"""The work behind ``ritz fit``: a table in memory, or one that is read in pieces.

    read → decide about scaling → fit → describe → write

In memory the spreads of the columns are known before the fit. From files they come out of the same single pass: the
moment state gives them, and the state of the columns as they are is also that of the standardised ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ritz import __version__
from ritz._core.errors import Cancelled, RitzError
from ritz._core.journal import Journal, journaling, known_identity
from ritz._core.memory import available, limit
from ritz._core.threads import lane_count
from ritz.cli.choice import count, reason
from ritz.cli.console import say
from ritz.cli.output import check_folder, result_folder, write_results
from ritz.cli.scaling import Scaling, decide_scaling, spreads, unknown_spreads
from ritz.cli.summary import describe
from ritz.data.dask.cluster import engaged
from ritz.data.labels import identifiers_of
from ritz.data.observed import observe
from ritz.data.read import read
from ritz.data.statistics import Statistics
from ritz.data.table import Table
from ritz.data.validate import require_finite, validate_rows
from ritz.data.write import rows_to
from ritz.methods.pca import PCA
from ritz.methods.state import LARGEST_STATE
from ritz.persist.model import pack
from ritz.spectral.plan import size_words

__all__ = ["Job", "run"]

#: Multiplications that a sentence about the choice of k may cost.
CHEAP = 1e9
JOURNAL = ".journal"


@dataclass(frozen=True)
class Job:
    """What the user asked for; ``k`` is 0 where he did not choose."""

    path: Path
    k: Any
    scale: bool | None
    output: Path | None
    force: bool
    how: dict[str, Any]  # to read the table, as far as the user says
    memory: str | float | None
    missing: str
    resume: bool
    engine: str | None
    scores: str | None
    quiet: bool
    options: dict[str, Any]  # of the estimator


@dataclass(frozen=True)
class Fitted:
    """A model with what the summary says about it."""

    model: PCA
    rows: Any  # array, or row blocks
    scaling: Scaling
    refit: Callable[[int], Any] | None


def run(job: Job) -> tuple[dict[str, Any], Path]:
    """Do the work; what the summary says, and the folder with the results."""
    folder = result_folder(job.path, job.output)
    before = check_folder(folder, job.force)
    # Workers of a cluster run in folders of their own.
    path = job.path if job.engine is None else job.path.absolute()
    bounded = replace(job, memory=_allowed(job, folder))
    table = read(path, memory=bounded.memory, progress=job.options["progress"], **job.how)
    names = table.numeric_names()
    outside = table.lazy or job.engine is not None
    if job.resume and not outside:
        say("note", "a table in memory is fitted at once: nothing to go on with", "bold cyan")
    with engaged(job.engine):
        with _journal(bounded, folder, table, names) if outside else nullcontext():
            done = _outside(bounded, table, names) if outside else _inside(job, table, names)
        shape = (int(done.rows.shape[0]), len(names))
        facts = describe(table, names, done.model, done.scaling, reason(job.k, done.model, shape, done.refit))
        written = [path.name for path in write_results(folder, _contents(job, table, names, done), facts)]
    replaced = before if before != table.source else None
    return {**facts, "replaced": replaced, "written": written, "seconds": done.model.plan_.actual_seconds}, folder


def _allowed(job: Job, folder: Path) -> float:
    """The memory limit in bytes: what was asked for, or half of what is available.

    Batches and lanes are sized by it, and with them the order of sums. So a fit that is gone on with keeps the limit it
    began with, however much is available by now, as long as that much is.
    """
    before = known_identity(folder / JOURNAL) if job.resume and job.memory is None else None
    kept = None if before is None else before.get("memory")
    if isinstance(kept, (int, float)) and 0 < kept <= available():
        return float(kept)
    return float(int(limit(job.memory)))


def _inside(job: Job, table: Table, names: list[str]) -> Fitted:
    X = table.select(names)
    if job.missing == "error":
        require_finite(X, names, table.row_name)
    scaling = decide_scaling(spreads(X), names, job.scale)
    model = _estimator(job, X.shape, scaling.scale).fit(X)
    model.feature_names_in_ = np.asarray(names, dtype=object)  # so that other tables are matched by name
    cheap = float(X.shape[0]) * X.shape[1] * min(X.shape) <= CHEAP and job.missing == "error"
    return Fitted(model, X, scaling, (lambda r: PCA(r, scale=scaling.scale, progress=False).fit(X)) if cheap else None)


def _outside(job: Job, table: Table, names: list[str]) -> Fitted:
    probe = _estimator(job, (table.n_rows or 0, len(names)), False)
    rows = validate_rows(probe, table, reset=True)
    stateful = len(names) <= LARGEST_STATE and job.missing == "error"
    if job.scale is not None:
        model = _estimator(job, rows.shape, job.scale)
        _announce(job, model, rows)
        return Fitted(model.fit(table), rows, unknown_spreads(job.scale), None)
    if not stateful:
        scaling = decide_scaling(_spreads(rows, names, job.missing), names, None)
        model = _estimator(job, rows.shape, scaling.scale)
        _announce(job, model, rows, before=1)
        return Fitted(model.fit(table), rows, scaling, None)
    probe.mergeable = True
    _announce(job, probe, rows)
    model = probe.fit(table)
    state = model._need_state()
    spread = np.sqrt(np.diag(state.scatter) / max(state.weight - 1, 1.0)) * state.unit
    scaling = decide_scaling(spread, names, None)
    if scaling.scale:
        model = model._restated(scale=True)
        model._solve_state()
        # The rows were read once, for the state that both answers come from.
        cost = {name: getattr(probe.plan_, name) for name in ("actual_passes", "actual_seconds", "reasons")}
        model.plan_ = replace(model.plan_, **cost)
        model.certificate_ = replace(model.certificate_, passes=probe.certificate_.passes)
    return Fitted(model, rows, scaling, lambda r: model._restated(n_components=r))


def _estimator(job: Job, shape: tuple[int, ...], scale: bool) -> PCA:
    n, d = shape
    return PCA(count(job.k, n, d, job.missing), scale=scale, memory=job.memory, **job.options)


def _spreads(rows: Any, names: list[str], missing: str) -> np.ndarray:
    """Standard deviations of what every column has, by one pass."""
    if missing == "error":
        column = Statistics(rows, names=names).column
        return np.sqrt(column.squares / max(column.weight - 1, 1.0)) * column.unit
    seen = observe(rows, None, names)
    return np.sqrt(seen.squares / np.maximum(seen.weights - 1, 1.0))


def _announce(job: Job, model: PCA, rows: Any, before: int = 0) -> None:
    """Say how often the data will be read, before they are."""
    if job.quiet:
        return
    shape = model._shape(rows)
    if job.missing != "error":
        times = "several times"
        solver = f"missing values: {job.missing}"
    else:
        plan = model._plan_for(shape, model._wanted(shape.n, shape.d, centered=True))
        passes = plan.passes + before
        again = plan.solver == "moments" and model._rereads(shape)
        times = ("at least once" if again else "once") if passes == 1 else f"about {passes:g} times"
        solver = plan.solver
    scores = "" if job.scores == "none" else ", then once for scores"
    say("plan", f"{size_words(rows.nbytes)} will be read {times} to fit ({solver}){scores}", "bold cyan")


@contextmanager
def _journal(job: Job, folder: Path, table: Table, names: list[str]) -> Iterator[None]:
    """Keep sums in the result folder while they are formed; a fit that fails by itself takes them away again."""
    source, _ = table.source_for(names)
    place, made = folder / JOURNAL, not folder.exists()
    if job.resume and not place.exists():
        say("note", f"nothing to go on with in {folder}; starting from the beginning", "bold cyan")
    if place.exists() and not job.resume:
        say("note", "an earlier fit was broken off; --resume goes on with it, this one starts anew", "bold cyan")
        Journal(place, {"old": True}).clear()
    identity = {
        "data": source.fingerprint(), "columns": names, "lanes": lane_count(), "ritz": __version__,
        "memory": job.memory, "table": repr(sorted(job.how.items())),
        "parameters": repr((job.k, job.scale, job.missing, sorted(job.options.items(), key=str))),
    }  # fmt: skip
    try:
        with journaling(place, identity):
            yield
        if made:
            _remove_empty(folder)  # it is made again with all results in it, or not at all
    except (KeyboardInterrupt, Cancelled):
        say("note", "what was summed so far is kept: run again with --resume", "bold cyan")
        raise
    except RitzError:
        Journal(place, identity).clear()
        if made:
            _remove_empty(folder)
        raise


def _remove_empty(folder: Path) -> None:
    try:
        folder.rmdir()
    except OSError:
        return


def _contents(job: Job, table: Table, names: list[str], done: Fitted) -> dict[str, Any]:
    """Files by name: scores with their row labels, components with what is needed to apply them, the model."""
    ending = job.scores or ("parquet" if table.lazy else "csv")
    heads = [f"PC{i + 1}" for i in range(len(done.model.components_))]

    def scores(sink: Any) -> None:
        with rows_to(sink, f".{ending}", heads, done.model.components_.dtype, len(table)) as write:
            done.model._scores_into(done.rows, identifiers_of(table, numbered=True), write)

    files: dict[str, Any] = {} if ending == "none" else {f"scores.{ending}": scores}
    return files | {
        "components.csv": _components(names, heads, done.model),
        "model.ritz": lambda sink: pack(_untimed(done.model, job.memory), sink),
    }


def _untimed(model: PCA, memory: Any) -> PCA:
    """The model without seconds and with the limit as it was asked for, so that equal runs write equal files."""
    copy = type(model)(**model.get_params(deep=False))
    copy.__dict__.update({**vars(model), "progress": None, "memory": memory})
    copy.certificate_ = replace(model.certificate_, seconds=float("nan"))
    copy.plan_ = replace(model.plan_, actual_seconds=None)
    return copy


def _components(names: list[str], heads: list[str], model: PCA) -> Any:
    import pyarrow as pa

    d = len(names)
    mean = np.zeros(d) if model.mean_ is None else model.mean_
    scale = np.ones(d) if model.scale_ is None else model.scale_
    columns: dict[str, Any] = {"column": names, "mean": mean, "scale": scale}
    return pa.table(columns | {head: np.ascontiguousarray(model.components_[i]) for i, head in enumerate(heads)})
