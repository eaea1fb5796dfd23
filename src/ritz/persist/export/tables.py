"""Components as a table, CSV or Parquet.

    column, mean, scale, PC1, …, PCk        score = Σⱼ (xⱼ − meanⱼ)/scaleⱼ · PCⱼ

One line a column of the projection: a column of the table, a ``variable=level``, or, for kernel models, a row that new
ones are compared with (``row``, ``mean`` of its kernel values, the weights).
"""

from __future__ import annotations

from typing import Any, BinaryIO

import numpy as np

from ritz.methods.fitted import fitted_of
from ritz.project.kernel import FeatureMapped, KernelMap

__all__ = ["components_table", "write_table"]


def components_table(model: Any) -> Any:
    """The components of a fitted model, as a ``pyarrow.Table``."""
    fitted = fitted_of(model)
    if fitted.formula == "kernel":
        return _of_kernel(fitted.kernel_map)
    step: Any = fitted.linear_map()
    V = np.asarray(step.components, np.float64)
    V = V if step.spread is None else V / np.asarray(step.spread)[:, None]
    d = V.shape[1]
    mean = np.zeros(d) if step.mean is None else np.array(step.mean, np.float64)
    scale = np.ones(d) if step.scale is None else np.asarray(step.scale, np.float64)
    names = getattr(model, "feature_names_in_", None)
    labels = [f"x{j}" for j in range(d)] if names is None else [str(name) for name in names]
    encoder = fitted.encoder()
    if encoder is not None:
        labels = encoder.labels
        mean[: encoder.p] += encoder.shift
    return _table({"column": labels, "mean": mean, "scale": scale}, V, fitted.about.axis)


def _of_kernel(step: KernelMap | FeatureMapped) -> Any:
    if isinstance(step, FeatureMapped):
        V, mean, first = np.asarray(step.axes, np.float64).T, np.asarray(step.mean, np.float64), "feature"
    else:
        V, mean, first = step.dual.T, step.row_means, "row"
    return _table({first: [str(i) for i in range(V.shape[1])], "mean": mean}, V, "PC")


def _table(first: dict[str, Any], V: np.ndarray, axis: str) -> Any:
    import pyarrow as pa

    return pa.table(first | {f"{axis}{i + 1}": np.ascontiguousarray(row) for i, row in enumerate(V)})


def write_table(table: Any, file: BinaryIO, kind: str) -> None:
    """Write a table to an open file."""
    if kind == "parquet":
        import pyarrow.parquet as pq

        pq.write_table(table, file)
    else:
        import pyarrow.csv as pc

        pc.write_csv(table, file, pc.WriteOptions(quoting_style="needed"))
