"""Formulas as SQL: one SELECT that scores the rows of a table.

    SELECT t.*, <sum> AS "PC1", … FROM "rows" AS t

    numbers     (CAST(t."acid" AS DOUBLE PRECISION) - 3.4) * 0.7 + …            sums as trees: no parser digs deep
    categories  CASE WHEN t."soil" = 'clay' THEN 0.3 … WHEN t."soil" IS NULL THEN … ELSE … END
    gaps        columns of laterally joined SELECTs: the system, one elimination step each, the solution
    kernels     the rows compared with are a VALUES list, summed over

The text is read alike by DuckDB and PostgreSQL. A row that ``transform`` refuses has NULL for its scores, because NULL
makes NULL of every sum it enters. Names are quoted, and quotes in names doubled, so a name is never more than a name.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ritz import __version__
from ritz._core.errors import ParameterError
from ritz.persist.export.form import Form
from ritz.persist.export.sql.case import case
from ritz.persist.export.sql.gaps import filled
from ritz.persist.export.sql.kernel import kernel_select
from ritz.persist.export.sql.words import added, column, name_of, number, times

__all__ = ["sql_query"]

#: Numbers in a query at most; more belong into an ONNX model.
LARGEST = 400_000


def sql_query(form: Form, table: str = "rows", keep: Sequence[str] | None = None) -> str:
    """The query.

    Parameters
    ----------
    form
        The formula.
    table
        The table to read, by name; ``schema.table`` where it has a point.
    keep
        Columns of the table that go along; None: all.
    """
    size = _size(form)
    if size > LARGEST:
        raise ParameterError(
            f"a query holds at most {LARGEST:,} numbers", received=f"{size:,}",
            hint="KernelPCA(solver='nystrom', landmarks=200), fewer components, or to='onnx'",
        )  # fmt: skip
    source = ".".join(name_of(word) for word in table.split("."))
    kept = ["t.*"] if keep is None else [f"t.{name_of(name)}" for name in keep]
    if form.kernel is not None:
        scores, joined = kernel_select(form)
    elif form.fills or form.gaps is not None:
        scores, joined = filled(form, _base(form), _factor(form))
    else:
        scores, joined = _scores(form), ""
    shown = [*kept, *(f"{score} AS {name_of(axis)}" for axis, score in zip(form.axes, scores, strict=True))]
    return f"{_comment(form)}SELECT\n  " + ",\n  ".join(shown) + f"\nFROM {source} AS t{joined};\n"


def _size(form: Form) -> int:
    count = (len(form.numbers) + len(form.counts)) * form.k + sum(len(c.levels) for c in form.choices) * form.k
    if form.kernel is not None:
        kernel = form.kernel
        parts = [kernel.rows, kernel.dual] if kernel.rows is not None else [kernel.axes, kernel.axes]
        count = sum(int(np.size(array)) for array in parts if array is not None)
    q = form.fills
    return count + q * (q + form.k) * len(form.columns)


def _comment(form: Form) -> str:
    model = form.model
    shown = ", ".join(" ".join(name.split()) for name in form.columns[:20]) + (" …" if len(form.columns) > 20 else "")
    lines = [f"{type(model).__name__} of {int(model.n_samples_)} rows, ritz {__version__}", f"columns: {shown}"]
    folded = [name.casefold() for name in form.columns]
    alike = [name for name in form.columns if folded.count(name.casefold()) > 1]
    if alike:
        lines.append(f"DuckDB takes names that differ in case alone for one; rename before the fit: {', '.join(alike)}")
    # A comment ends with its line, and neither */ nor ; means anything in it.
    return "".join(f"-- {''.join(c for c in line if c.isprintable())[:1000]}\n" for line in lines)


def _scores(form: Form) -> list[str]:
    base, factor = _base(form), _factor(form)
    answers = [added([case(choice, i) for choice in form.choices]) for i in range(form.k)]
    out = []
    for i in range(form.k):
        parts = [base[i]]
        if form.choices:
            parts.append(answers[i] if factor is None else f"{factor} * {answers[i]}")
        out.append(added(parts))
    return out


def _base(form: Form) -> list[str]:
    """Bias, numbers and counts, one sum a score."""
    out = []
    total = _total(form)
    for i in range(form.k):
        parts = []
        if form.numbers and form.gaps is None:
            terms = zip(form.numbers, form.centre, form.weights[:, i], strict=True)
            parts = [times(f"({column(name)} - {number(c)})" if c else column(name), w) for name, c, w in terms]
        if form.counts:
            shares = added([times(column(name), w) for name, w in zip(form.counts, form.shares[:, i], strict=True)])
            parts.append(f"{shares} / {total}")
        if form.bias[i]:
            parts.append(number(form.bias[i]))
        out.append(added(parts))
    return out


def _total(form: Form) -> str:
    """The sum of the counts; NULL where it is zero or a count is negative."""
    names = [column(name) for name in form.counts]
    sound = " AND ".join(f"{name} >= 0" for name in names)
    return f"CASE WHEN {sound} THEN NULLIF({added(names)}, 0) END"


def _factor(form: Form) -> str | None:
    """J / J_known, NULL where no answer is known."""
    if not form.stretch:
        return None
    placing = added([case(choice, 0, lambda a: float(a.known)) for choice in form.choices])
    return f"({number(float(len(form.choices)))} / NULLIF({placing}, 0))"
