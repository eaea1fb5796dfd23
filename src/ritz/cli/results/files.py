"""The files of a result folder: scores with their row labels, components, the model, and what was asked for besides.

scores        row, identifiers, axes
components    pca, svd: column, mean, scale, axes      score = Σ_j (x_j − mean_j)/scale_j · PC_j
              ca, mca, famd, mfa: column, mass, coordinates, contributions and cos² on each axis
              kpca: coefficients of the training rows; of windows of letters where the kernel counts these
coefficients  pls, pcr, cca: what the second table is predicted by
supplementary columns without part in the fit, placed among the axes
"""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np

from ritz.cli.fitting.columns import Parts
from ritz.cli.fitting.fitting import FittedTable
from ritz.cli.results.extra import Found, extra_files
from ritz.cli.results.scores import axis_heads, coordinates
from ritz.data.tables.table import Table
from ritz.data.tables.write import rows_to
from ritz.methods.fitted import fitted_of
from ritz.persist.model import pack

__all__ = ["components_table", "contents", "untimed"]


def contents(job: Any, parts: Parts, done: FittedTable, found: Found, ranks: Any = None) -> dict[str, Any]:
    """Files by name: functions that write to an open file, or Arrow tables."""
    ending = job.scores or ("parquet" if parts.used.lazy else "csv")
    files: dict[str, Any] = {"model.ritz": lambda sink: pack(untimed(done.model, job.memory), sink)}
    if ending != "none":
        files[f"scores.{ending}"] = lambda sink: _scores(sink, ending, done, parts.used)
    if fitted_of(done.model).space != "embedding":  # whose axes are made of rows: the scores are all there is
        files["components.csv"] = components_table(done.model, done.columns)
    if hasattr(done.model, "coef_"):
        files["coefficients.csv"] = coefficients_table(done.model, done.columns)
    if parts.supplementary:
        files["supplementary.csv"] = _supplementary(done, parts)
    files |= extra_files(found, done, parts.whole)
    if job.figures:
        from ritz.cli.results.figures import figures

        files |= figures(job.figures, done, parts)
    if job.report:
        files["report.html"] = lambda sink: sink.write(_page(job, parts, done, found, ranks))
    return files


def _page(job: Any, parts: Parts, done: FittedTable, found: Found, ranks: Any) -> bytes:
    from ritz.cli.results.page import render_page

    model = untimed(done.model, job.memory)
    table = copy(parts.whole)
    table.origin = _origin(job, parts, done)
    return render_page(
        model, done.rows if isinstance(done.rows, list) else None, table, color=parts.color,
        title=parts.whole.source, command=job.command, seed=job.options["random_state"],
        supplementary=parts.supplementary, found=found.page(), ranks=ranks,
    )  # fmt: skip


def _origin(job: Any, parts: Parts, done: FittedTable) -> Any:
    """How the table was read and what its columns were for."""
    origin = getattr(parts.whole, "origin", None)
    if origin is None or not (origin.files or [*job.named] == [job.path]):
        return None
    strings = done.columns[0] if isinstance(done.rows, list) else None
    numbers = tuple(name for name in parts.dropped if parts.whole.kinds.get(name) == "numeric")
    if len(numbers) < len(parts.dropped):
        return None
    return replace(origin, weights=parts.weights, strings=strings, complete=numbers)


def untimed(model: Any, memory: Any) -> Any:
    """The model without seconds and with the limit as it was asked for, so that equal runs write equal files."""
    same = fitted_of(model).with_parameters(progress=None, memory=memory)
    same.certificate_ = replace(model.certificate_, seconds=float("nan"))
    same.plan_ = replace(model.plan_, actual_seconds=None)
    return same


def _scores(sink: Any, ending: str, done: FittedTable, table: Table) -> None:
    scores = coordinates(done.model, done.rows, table, fitted=True)
    with rows_to(sink, f".{ending}", scores.heads, scores.dtype, scores.rows) as write:
        scores.into(write)


# components


def components_table(model: Any, columns: list[str]) -> Any:
    """What the axes are made of, as an Arrow table."""
    import pyarrow as pa

    heads = axis_heads(model)
    space = fitted_of(model).space
    if space == "feature":
        return pa.table(_kernel_columns(model, heads))
    if space == "table":
        return pa.table(_coordinate_columns(model, heads))
    d = len(columns)
    mean, scale = getattr(model, "mean_", None), getattr(model, "scale_", None)
    first: dict[str, Any] = {"column": columns, "mean": np.zeros(d) if mean is None else mean}
    first["scale"] = np.ones(d) if scale is None else scale
    return pa.table(first | {head: np.ascontiguousarray(model.components_[i]) for i, head in enumerate(heads)})


def coefficients_table(model: Any, columns: list[str]) -> Any:
    """What a model of two tables predicts by: one column for each of the second table, the constant in the last row."""
    import pyarrow as pa

    both = np.column_stack([model.coef_, model.intercept_])
    names = [str(name) for name in model.target_names_]
    return pa.table({"column": [*columns, "(constant)"]} | {name: both[j] for j, name in enumerate(names)})


def _coordinate_columns(model: Any, heads: list[str]) -> dict[str, Any]:
    labels = fitted_of(model).column_labels()
    if labels is None:
        labels = [f"x{j}" for j in range(model.components_.shape[1])]
    columns: dict[str, Any] = {"column": [str(label) for label in labels]}
    columns["mass"] = np.asarray(model.column_masses_, np.float64).ravel()
    for tail, values in (
        ("", model.column_coordinates_),
        ("_contribution", model.column_contributions_),
        ("_cos2", model.column_cos2_),
    ):
        array = np.asarray(values, np.float64)
        columns |= {f"{head}{tail}": np.ascontiguousarray(array[:, i]) for i, head in enumerate(heads)}
    return columns


def _kernel_columns(model: Any, heads: list[str]) -> dict[str, Any]:
    step = fitted_of(model).kernel_map
    spell = getattr(getattr(step, "features", None), "names", None)
    if spell is not None and hasattr(step, "axes"):
        axes = np.asarray(step.axes, np.float64)
        first: dict[str, Any] = {"window": [str(word) for word in spell()], "mean": np.asarray(step.mean).ravel()}
        return first | {head: np.ascontiguousarray(axes[:, i]) for i, head in enumerate(heads)}
    dual = getattr(step, "dual", None)
    if dual is None:
        dual = np.asarray(step.axes, np.float64)
    rows = np.arange(1, len(dual) + 1)
    return {"row": rows} | {head: np.ascontiguousarray(np.asarray(dual)[:, i]) for i, head in enumerate(heads)}


# supplementary columns


def _supplementary(done: FittedTable, parts: Parts) -> Any:
    """Correlations of numbers, barycentres and test values of categories, one line each."""
    import pyarrow as pa

    model, heads = done.model, axis_heads(done.model)
    further = parts.whole.narrowed(parts.supplementary)
    if fitted_of(model).space == "table":
        placed_columns = model.supplementary_columns(further)
        array = np.asarray(placed_columns, np.float64)
        numbers = [name for name, kind in further.kinds.items() if kind == "numeric"]
        plain = numbers if len(numbers) == len(array) else range(len(array))
        names = [str(name) for name in getattr(placed_columns, "index", plain)]
        return pa.table({"column": names} | {head: array[:, i] for i, head in enumerate(heads)})
    from ritz.insight import supplementary

    frame = pa.table({name: further.labels(name) for name in parts.supplementary})
    placed = supplementary(model, parts.used, frame, sample_weight=parts.weight())
    names, kinds, values = [], [], []
    for kind, labels, table in (
        ("correlation", placed.measurements, placed.correlations),
        ("barycentre", placed.levels, placed.barycentres),
        ("test value", placed.levels, placed.v_tests),
    ):
        names += [str(label) for label in labels]
        kinds += [kind] * len(labels)
        if len(labels):
            values.append(_numbers(table, heads))
    array = np.vstack(values) if values else np.zeros((0, len(heads)))
    first = {"column": names, "what": kinds}
    return pa.table(first | {head: np.ascontiguousarray(array[:, i]) for i, head in enumerate(heads)})


def _numbers(table: Any, heads: list[str]) -> np.ndarray:
    """The coordinates of a frame of Arrow, which carries its labels in a column."""
    if not hasattr(table, "column_names"):
        return np.asarray(table, np.float64)
    return np.column_stack([table.column(i).to_numpy() for i in range(table.num_columns)[-len(heads) :]])
