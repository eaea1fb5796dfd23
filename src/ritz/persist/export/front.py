"""``ritz.export``: a fitted model for programs that do not know Ritz.

ritz.export(model, "model.onnx")        a graph, for onnxruntime and others
ritz.export(model, "score.sql")         a SELECT, for DuckDB and PostgreSQL
ritz.export(model, "components.csv")    the numbers, also .parquet
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ritz._core.atomic import replacing
from ritz._core.errors import ParameterError
from ritz._core.warn import one_call
from ritz.data.tables.write import disk_errors

__all__ = ["FORMATS", "export"]

#: Formats and the endings of names that mean them.
FORMATS = {"onnx": (".onnx",), "sql": (".sql",), "csv": (".csv",), "parquet": (".parquet", ".pq")}
#: Options that each format knows.
OPTIONS = {"onnx": ("dtype",), "sql": ("table", "keep"), "csv": (), "parquet": ()}


@one_call()
def export(
    model: Any, path: str | os.PathLike[str], to: str | None = None, *, dtype: str | None = None,
    table: str | None = None, keep: Sequence[str] | None = None,
) -> Path:  # fmt: skip
    """Write a fitted model for another program, and give the path.

    Parameters
    ----------
    model : fitted model
        Of numbers, categories or counts; kernels of strings, and kernels that are Python functions, have no form that
        other programs know.
    path : path
        Written whole or not at all.
    to : "onnx", "sql", "csv" or "parquet"
        None: what the ending of the name says.
    dtype : "float32" or "float64"
        ONNX: precision of inputs, outputs and all between; float32 unless asked.
    table : str
        SQL: the table to read, ``schema.table`` where it has a point; ``rows`` unless named.
    keep : list of names
        SQL: columns that go along with the scores; all of them unless named.

    Examples
    --------
    >>> import ritz
    >>> from sklearn.datasets import load_iris
    >>> X = load_iris(as_frame=True).data.rename(columns=lambda name: name.replace(" (cm)", "").replace(" ", "_"))
    >>> path = ritz.export(ritz.PCA(1).fit(X), "scores.sql", table="flowers", keep=[])  # runs in any database
    >>> print(path.read_text().split("SELECT")[0].strip())
    -- PCA of 150 rows, ritz 0.1.0
    -- columns: sepal_length, sepal_width, petal_length, petal_width
    """
    path = Path(path)
    kind = _format(path, to)
    given = {name: value for name, value in (("dtype", dtype), ("table", table), ("keep", keep)) if value is not None}
    strange = [name for name in given if name not in OPTIONS[kind]]
    if strange:
        allowed = ", ".join(OPTIONS[kind]) or "none"
        raise ParameterError(f"options of to={kind!r} are {allowed}", received=strange[0], hint="leave it out")
    content = _content(model, kind, given)
    with disk_errors(path), replacing(path) as file:
        if isinstance(content, bytes):
            file.write(content)
        else:
            from ritz.persist.export.tables import write_table

            write_table(content, file, kind)
    return path


def _format(path: Path, to: str | None) -> str:
    if to is None:
        for kind, endings in FORMATS.items():
            if path.suffix.lower() in endings:
                return kind
        endings = tuple(ending for names in FORMATS.values() for ending in names)
        raise ParameterError(
            f"expected a file name that ends in one of {', '.join(endings)}",
            received=path.name,
            hint="or say to='onnx'",
        )
    if to not in FORMATS:
        raise ParameterError(f"to must be one of {', '.join(map(repr, FORMATS))}", received=repr(to), hint="to='onnx'")
    return to


def _content(model: Any, kind: str, options: dict[str, Any]) -> Any:
    """Bytes, or a table: everything is made before a file is begun."""
    if kind in ("csv", "parquet"):
        from ritz.persist.export.tables import components_table

        return components_table(model)
    from ritz.persist.export.form import form_of

    form = form_of(model)
    if kind == "sql":
        from ritz.persist.export.sql.query import sql_query

        return sql_query(form, **options).encode()
    from ritz.persist.export.onnx import onnx_model

    made: bytes = onnx_model(form, **options).SerializeToString()
    return made
