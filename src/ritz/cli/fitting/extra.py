"""What ``ritz fit`` does with components besides: clusters of rows, a rotation, rows that take no part.

    --clusters auto|K             rows in clusters on the components        clusters.csv, cluster_description.csv
    --rotate NAME                 components after a rotation               rotated_components.csv, rotated_scores.csv
    --supplementary-rows ROWS     placed among the others, without part     supplementary_rows.csv

ROWS are names of rows, numbers from 1 or ranges ``first..last`` of either, with commas between.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ritz._core.errors import InputError, MemoryLimitError, ParameterError
from ritz.cli.fitting.components import parse_choice
from ritz.data.tables.table import Table
from ritz.data.words import counted, shorten
from ritz.methods.fitted import fitted_of

__all__ = ["ROTATIONS", "Extra", "apart", "clusters_of_fit", "parse_extra", "rotation_of_fit"]

ROTATIONS = ("varimax", "quartimax", "promax", "oblimin")
#: Components that clusters are made on where the user does not choose, as FactoMineR keeps.
CLUSTERED = 5


@dataclass(frozen=True)
class Extra:
    """What the user asks for besides; ``clusters`` is 0 for as many as the tree suggests."""

    clusters: int | None = None
    rotate: str | None = None
    rows: tuple[str, ...] = ()

    @property
    def asked(self) -> bool:
        """Whether there is anything."""
        return self.clusters is not None or self.rotate is not None or bool(self.rows)


def parse_extra(clusters: str | None, rotate: str | None, rows: list[str] | None) -> Extra:
    """The options as they are typed."""
    number = None
    if clusters is not None:
        word = clusters.strip().lower()
        if word != "auto" and not (word.isdecimal() and int(word) > 0):
            raise ParameterError(
                "--clusters is a number of clusters, or auto", received=repr(clusters), hint="--clusters auto"
            )
        number = 0 if word == "auto" else int(word)
    method = None if rotate is None else parse_choice("--rotate", rotate, ROTATIONS)
    named = tuple(one.strip() for text in rows or () for one in text.split(",") if one.strip())
    return Extra(number, method, named)


# rows that take no part


def apart(table: Table, names: tuple[str, ...]) -> tuple[Table, Table, list[int]]:
    """The rows that take part, those that do not, and the numbers of the latter, from 1."""
    if table.lazy:
        raise MemoryLimitError(
            "--supplementary-rows needs the table in memory", received=f"{table.source}, which is read in pieces",
            hint="allow more --memory, or place them later: ritz transform MODEL ROWS",
        )  # fmt: skip
    n, labels = len(table), _labels(table)
    chosen = np.unique(np.concatenate([_places(name, labels, n, table.source) for name in names]))
    rest = np.setdiff1d(np.arange(n), chosen)
    if not len(rest):
        raise InputError("expected rows that take part", received="--supplementary-rows of all rows")
    many = counted(len(chosen), "row")
    return (
        table.kept(rest, f"{many} without part in the axes, as asked"),
        table.kept(chosen, "rows without part in the axes"),
        (chosen + 1).tolist(),
    )


def _labels(table: Table) -> dict[str, int]:
    named = [name for name, kind in table.kinds.items() if kind == "identifier"]
    found: dict[str, int] = {}
    for i, label in enumerate(table.labels(named[0]) if named else ()):
        found.setdefault(str(label), i)
    return found


def _places(text: str, labels: dict[str, int], n: int, source: str) -> np.ndarray:
    """Places from 0 of a name, a number or a range."""
    first, dots, last = text.partition("..")
    ends = [text] if text in labels or not dots else [first.strip(), last.strip()]
    found = []
    for end in ends:
        place = labels.get(end, int(end) - 1 if end.isdecimal() else -1)
        if not 0 <= place < n:
            names = f", or names such as {shorten([repr(one) for one in list(labels)[:3]])}" if labels else ""
            raise InputError(
                f"--supplementary-rows names rows of {source or 'the table'}: numbers from 1 to {n:,}{names}",
                received=repr(end), hint="--supplementary-rows 1..3",
            )  # fmt: skip
        found.append(place)
    return np.arange(min(found), max(found) + 1)


# clusters and rotations


def clusters_of_fit(done: Any, rows: Any, extra: Extra, chosen: bool, weights: Any) -> Any:
    """Rows in clusters; on the first five components where the user did not choose their number."""
    if extra.clusters is None:
        return None
    from ritz.insight import clusters

    k = fitted_of(done.model).k
    if k == 0:
        raise InputError("clusters need a component", received="a model without any", hint="leave out --clusters")
    kept = k if chosen else min(k, CLUSTERED)
    count = extra.clusters or None
    if count is not None and count > done.shape[0]:
        raise ParameterError(
            f"--clusters is at most the number of rows, {done.shape[0]:,}", received=str(count), hint="--clusters auto"
        )
    given = {} if weights is None else {"sample_weight": weights}
    return clusters(done.model, rows, count, n_components=kept, **given)


def rotation_of_fit(done: Any, extra: Extra) -> Any:
    """Components after a rotation."""
    if extra.rotate is None:
        return None
    fitted = fitted_of(done.model)
    if fitted.space != "columns" or not (fitted.turns or fitted.rotates_all):
        raise ParameterError(
            "--rotate is for methods whose components are directions in the columns: pca, svd, robust, factor",
            received=f"--method {fitted.about.short}", hint="leave out --rotate",
        )  # fmt: skip
    if fitted.k < 2:
        raise ParameterError(
            "--rotate needs two components or more", received=counted(fitted.k, "component"),
            hint="-k 2, or leave out --rotate",
        )  # fmt: skip
    from ritz.insight import rotate

    return rotate(done.model, extra.rotate)
