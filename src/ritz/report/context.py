"""What a report is about: a fitted model, its rows, and what was found out about them, each thing once.

model, X  →  n, d, k, axis names, shares, a sample of rows with scores, names and colours, ranks, distances, odd rows

Parts read from here and compute nothing twice. All of it is lazy, so a part that does not apply costs nothing. Rows
beyond ``points`` are sampled, evenly at random and the farthest ones besides, and every part says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import InputError, RitzError
from ritz._core.lazy import cached_property
from ritz.data.tables.levels import Declared, ordered_levels
from ritz.data.tables.table import Table
from ritz.insight.axes.of_model import axes_of, axis_names, column_labels, scores_of
from ritz.insight.outliers.values import ValuesApart
from ritz.kernels.base import take_rows
from ritz.methods.fitted import Fitted, fitted_of
from ritz.report.colours import Colour, colour_of, offered
from ritz.report.evidence import Evidence, find_evidence
from ritz.report.findings import Odd, find_odd, find_ranks
from ritz.report.further import Further, FurtherRows, further_of, further_rows_of
from ritz.report.html import KEPT, clip
from ritz.report.map_trust import MapTrust, trust_of
from ritz.report.rows import Rows, rows_of
from ritz.report.values import find_values

__all__ = ["Context"]

Floats = NDArray[np.float64]

#: Rows drawn at most, and how many of them are the farthest ones where rows are sampled.
POINTS, FARTHEST = 100_000, 500
#: Entries up to which the distances of all rows are measured.
ALL_ROWS = 4e8
#: Rows of a map that are looked at to see whether they are those of the fit.
LOOKED = 64
#: Entries of a kernel matrix that placing the rows may cost.
KERNEL_ENTRIES = 2e8


@dataclass(eq=False)
class Context:
    """A model, its rows and how the report shall look; see :func:`ritz.report.write` for the parameters."""

    model: Any
    X: Any = None
    color: Any = None
    names: Any = None
    title: str | None = None
    image_shape: tuple[int, int] | None = None
    command: str | None = None
    seed: Any = None
    ranks_given: Any = None
    points: int = POINTS
    supplementary: Any = None  # columns without part in the fit: names of columns of X, or a table
    supplementary_rows: Any = None  # rows without part in it
    clusters: Any = None  # rows in clusters: True, a number, or what insight.clusters found
    rotation: Any = None  # a rotation of the components: its name, or what insight.rotate found
    alone: bool = False  # no row is looked at, even where the model keeps some
    notes: list[str] = field(default_factory=list)

    # the model

    @cached_property
    def known(self) -> Fitted:
        """What may be asked of the model."""
        return fitted_of(self.model)

    @property
    def method(self) -> str:
        """Name of the estimator."""
        return type(self.model).__name__

    @property
    def correspondence(self) -> bool:
        """Whether the model is one of CA, MCA, FAMD and MFA."""
        return self.known.space == "table"

    @property
    def kernel(self) -> bool:
        """Whether components live in a feature space."""
        return self.known.space == "feature"

    @property
    def texts(self) -> bool:
        """Whether rows are documents, and columns words."""
        return self.known.about.takes == "texts"

    @property
    def maps(self) -> bool:
        """Whether axes are made of rows: the model is a map, not directions in columns."""
        return self.known.space == "embedding"

    @property
    def row(self) -> str:
        """What a row is called."""
        return "document" if self.texts else "row"

    @property
    def linear(self) -> bool:
        """Whether components are directions in the columns."""
        other = self.kernel or self.correspondence or self.texts or self.maps
        return not other and hasattr(self.model, "components_")

    @cached_property
    def shares(self) -> Floats:
        """(k,) share of each component in the whole."""
        return self.known.shares

    @property
    def whole(self) -> str:
        """What the shares are shares of."""
        return self.known.about.whole

    @property
    def k(self) -> int:
        """Number of components."""
        return self.known.k if self.maps else len(self.shares)

    @property
    def component(self) -> str:
        """What one is called."""
        return self.known.about.component

    @property
    def component_plural(self) -> str:
        """What several are called."""
        return self.known.about.components(2).removeprefix("2 ")

    def components(self, count: int) -> str:
        """``3 components``."""
        return self.known.about.components(count)

    @cached_property
    def axes(self) -> list[str]:
        """PC1, PC2, …"""
        return axis_names(self.model, self.k)

    @property
    def n(self) -> int:
        """Number of rows: of X, or of the fit where there are none."""
        return self.rows.n if self.rows is not None else int(getattr(self.model, "n_samples_", 0))

    @property
    def of_fit(self) -> bool:
        """Whether these are the rows of the fit, as far as their number and their distances tell."""
        n = getattr(self.model, "n_samples_", None)
        if self.rows is None or n is None:
            return True
        if self.texts:
            return bool(self.rows.of_fit)  # type: ignore[attr-defined]
        if self.weighted:  # rows of weight zero do not count
            return self.n >= n
        odd = self.odd if self.k else None
        return self.n == n and (odd is None or not odd.all_rows or odd.bounds.rows == "training")

    @property
    def weighted(self) -> bool:
        """Whether rows counted differently often in the fit."""
        if self.known.about.takes == "counts":  # whose weight is the number of things counted
            return False
        n, weight = getattr(self.model, "n_samples_", None), self.known.weight
        return n is not None and weight is not None and abs(weight - n) > 1e-9 * n

    @cached_property
    def columns(self) -> list[str]:
        """Names of the columns that the model uses; ``column 0`` … where it knows none."""
        if self.correspondence:
            return [str(name) for name in self.model.column_names_]
        if (self.kernel or self.maps) and self.known.compares != "vectors":
            return []
        names = column_labels(self.model)
        d = int(getattr(self.model, "n_features_in_", 0) or 0)
        names = self.known.entry_labels() if names is None else names
        return [f"column {j}" for j in range(d)] if names is None else names

    @property
    def column_counts(self) -> tuple[int, int, int]:
        """Of an encoded table: columns of numbers, columns of categories, and levels of these together."""
        used = [str(name) for name in getattr(self.model, "feature_names_in_", ())]
        numbers = len(set(used) & set(self.columns))
        return numbers, len(used) - numbers, len(self.columns) - numbers

    @property
    def pieces(self) -> str:
        """What the columns of an encoded table are called."""
        pieces = self.known.about.pieces
        numbers = self.known.number_columns() if self.known.encoder() is not None else 0
        return {0: pieces, len(self.columns): "numbers"}.get(numbers, pieces)

    @cached_property
    def loadings(self) -> Floats:
        """(d, k) of a linear model."""
        return axes_of(self.model).loadings

    # the rows

    @cached_property
    def rows(self) -> Rows | None:
        """The rows, if there are any to look at."""
        if self.alone:
            return None
        X = self.model.X_fit_ if self.X is None and self._remembers else self.X
        return rows_of(self.model, X)

    @property
    def _remembers(self) -> bool:
        """Whether a kernel model keeps every row of the fit."""
        rows = getattr(self.model, "X_fit_", None) if self.kernel else None
        if rows is None or self.known.eigenvectors is None:
            return False
        return getattr(self.known.kernel, "takes", "") != "precomputed"

    @cached_property
    def index(self) -> NDArray[np.intp]:
        """Numbers of the rows that are shown, increasing."""
        most = self.points if self.rows is None else self.rows.most(self.points)
        if self.kernel:
            most = max(200, min(most, int(KERNEL_ENTRIES / max(1, self.model.n_samples_))))
        if self.n <= most:
            return np.arange(self.n)
        chosen = np.random.default_rng(0).choice(self.n, most, replace=False)
        far: Any = self.odd.farthest(min(FARTHEST, most // 20)) if self.measurable and self.odd is not None else []
        return np.unique(np.concatenate([chosen, np.asarray(far, np.intp)]))

    @property
    def measurable(self) -> bool:
        """Whether the distances of all rows can be afforded, not only those of the rows that are shown."""
        entries = float(self.n) * max(1, len(self.columns))
        return self.n * float(self.model.n_samples_) <= KERNEL_ENTRIES if self.kernel else entries <= ALL_ROWS

    @property
    def whole_table(self) -> Any:
        """All rows with all columns, those without part in the fit too."""
        return self.X if self.X is not None or self.rows is None else self.rows.X

    @cached_property
    def table(self) -> Any:
        """All rows, as the model takes them: what is drawn again or fitted anew must not see supplementary columns."""
        X = self.whole_table
        if not isinstance(X, Table) or not isinstance(self.supplementary, (list, tuple)):
            return X
        beside = {str(name) for name in self.supplementary}
        return X.narrowed([name for name in X.names if name not in beside])

    @property
    def sampled(self) -> bool:
        """Whether some rows are left out of the pictures."""
        return len(self.index) < self.n

    @cached_property
    def part(self) -> Any:
        """The rows that are shown, as the model takes them."""
        if self.rows is None:
            raise InputError("this part needs rows", received="a model alone", hint="ritz.report(model, X, path)")
        if not self.sampled and not self.texts and not hasattr(self.rows.X, "each"):
            return self.rows.X
        return self.rows.take(self.index)

    @cached_property
    def scores(self) -> Floats:
        """(m, a) coordinates of the rows that are shown, on the axes that are offered."""
        if self.texts and self.rows is not None:
            return np.asarray(self.rows.coordinates[self.index, : self.offered])  # type: ignore[attr-defined]
        placed = self.known.row_coordinates() if self.own_rows or not self.known.places_new_rows else None
        if placed is not None and len(placed) == self.n:
            if not self.known.places_new_rows:
                self.known.require_own(self.table)
            return placed[self.index, : self.offered]
        return scores_of(self.model, self.part)[:, : self.offered]

    def placed(self) -> None:
        """Place the rows, so that what there is to warn of is said; a part that needs them says what went wrong."""
        with suppress(RitzError):
            if self.rows is not None and self.k:
                len(self.scores)

    @cached_property
    def compared(self) -> Any:
        """All rows as the distances of a map see them."""
        return self.known.compared(self.table)

    @cached_property
    def own_rows(self) -> bool:
        """Whether these are the rows of the fit of a map: rows that it keeps, or places where the fit placed them."""
        known = self.known.row_coordinates() if self.maps and self.rows is not None else None
        if known is None or len(known) != self.n or not self.known.places_new_rows:
            return False
        some = np.unique(np.linspace(0, self.n - 1, LOOKED).astype(np.intp))
        kept = self.known.compared_rows()
        try:
            if kept is not None and (kept.shape[0] if hasattr(kept, "shape") else len(kept)) == self.n:
                return _same(take_rows(kept, some), take_rows(self.compared, some))
            again = scores_of(self.model, self.rows.take(some) if self.rows is not None else None)
        except RitzError:
            return False
        there = np.isfinite(known[some]).all(axis=1)  # rows that were left out of a map can be placed on it
        size = float(np.nanstd(known)) or 1.0
        return bool(there.any() and np.allclose(again[there], known[some][there], rtol=0, atol=1e-5 * size))

    @cached_property
    def trust(self) -> MapTrust | None:
        """How far a map can be trusted; None of other models, and where that cannot be afforded."""
        if not self.maps or self.rows is None:
            return None
        return self._tried("how far to trust the map", lambda: trust_of(self))

    @property
    def offered(self) -> int:
        """Axes that a reader may choose among."""
        return min(self.k, 10 if len(self.index) <= 20_000 else 5)

    @cached_property
    def row_names(self) -> list[str] | None:
        """Names of the rows that are shown; None where they have numbers only."""
        given = self.names
        if given is None or given is True:
            labels = self.rows.labels(self.part) if self.rows is not None else None
            if labels is None and self.correspondence and not self.sampled:
                labels = self.known.row_names()
                labels = labels if labels is not None and len(labels) == len(self.index) else None
        elif given is False:
            labels = None
        else:
            labels = self._one_a_row("names", given)
        return None if labels is None else [clip(name, KEPT) for name in labels]

    def row_name(self, place: int) -> str:
        """The name of a row that is shown, or its number from 1."""
        names = self.row_names
        return f"row {self.index[place] + 1:,}" if names is None else names[place]

    @cached_property
    def colours(self) -> list[Colour]:
        """Columns to colour by; what the user asked for comes first."""
        colours: list[Colour] = []
        if self.rows is None:
            return colours
        asked = self.color if isinstance(self.color, Mapping) else {} if self.color is None else {"": self.color}
        for name, values in asked.items():
            title = name or (values if isinstance(values, str) else getattr(values, "name", None) or "colour")
            one = colour_of(str(title), self._one_a_row("color", values), asked=True)
            colours += [one] if one is not None else []
        m = len(self.index)
        taken = {one.name for one in colours}
        columns = (one for one in chain(self.beside.items(), self.rows.columns(self.part)) if one[0] not in taken)
        beside = set(self.supplementary) if isinstance(self.supplementary, (list, tuple)) else set(self.beside)
        most = 40 if m <= 2_000 else 12 if m <= 20_000 else 6
        return colours + offered(columns, most, lambda name: (name not in beside, self.uses(name)))

    @cached_property
    def beside(self) -> dict[str, Any]:
        """Columns without part in the fit that came in a table of their own, for the rows that are shown."""
        table = self.supplementary
        if table is None or isinstance(table, (list, tuple)) or self.known.about.takes == "counts":
            return {}
        import narwhals as nw

        frame = nw.from_native(table, eager_only=True, pass_through=True)
        if not hasattr(frame, "columns") or len(frame) != self.n:
            return {}
        held = {}
        for name in frame.columns:
            values, levels = frame[name].to_list(), ordered_levels(frame[name].to_native())
            shown = self._one_a_row("supplementary", values)
            held[str(name)] = shown if levels is None else Declared(shown, levels)
        return held

    @cached_property
    def _used_names(self) -> set[str] | None:
        names = getattr(self.model, "feature_names_in_", None)
        return None if names is None else {str(one) for one in names}

    def uses(self, name: str) -> bool:
        """Whether the model was fitted to a column of this name."""
        return not isinstance(self.X, Table) if self._used_names is None else name in self._used_names

    def _one_a_row(self, what: str, values: Any) -> Any:
        """One value for each row that is shown: of a column of X, or of those given for all rows."""
        if isinstance(values, str):
            for name, column in self.rows.columns(self.part) if self.rows is not None else ():
                if name == values:
                    return column
            if hasattr(self.X, "labels"):  # identifiers and texts of a Table
                return np.asarray(self.X.labels(values), object)[self.index].tolist()
            raise InputError(
                f"{what}={values!r} names a column of X", received="rows without this column",
                hint=f"pass the values themselves: {what}=labels",
            )  # fmt: skip
        if hasattr(values, "to_list") or hasattr(values, "to_pylist"):
            values = values.to_list() if hasattr(values, "to_list") else values.to_pylist()
        array = values if isinstance(values, list) else np.asarray(values)
        if len(array) != self.n:
            raise InputError(f"{what} has one value for each of {self.n:,} rows", received=f"{len(array):,} values")
        return [array[i] for i in self.index.tolist()] if isinstance(array, list) else array[self.index]

    @cached_property
    def norms(self) -> Floats | None:
        """(m,) squared distances of the rows that are shown from the centre: what cos² is a share of."""
        if (
            self.rows is None
            or not (self.linear or self.correspondence)
            or self.known.rotates_all
            or not self.measurable
        ):
            return None
        try:
            return np.asarray(self.known.squares(self.part)[1], np.float64)
        except RitzError:
            return None

    @cached_property
    def row_sums(self) -> Floats | None:
        """(a,) sums of squared scores of all rows, where rows weigh alike: what contributions are shares of."""
        if self.norms is None or self.sampled or self.weighted or self.known.about.takes == "counts" or not self.of_fit:
            return None
        return np.square(self.scores).sum(axis=0)

    @cached_property
    def further(self) -> Further | None:
        """Columns without part in the fit, placed among the axes."""
        if self.supplementary is None or self.rows is None or not self.k:
            return None
        return self._tried("columns without part in the fit", lambda: further_of(self))

    @cached_property
    def further_rows(self) -> FurtherRows | None:
        """Rows without part in the fit, placed among the others."""
        if self.supplementary_rows is None or not self.k:
            return None
        return self._tried("rows without part in the fit", lambda: further_rows_of(self))

    # what was found out

    @cached_property
    def ranks(self) -> Any:
        """What the rules say about the number of components; None for methods that they do not know."""
        if self.ranks_given is not None:
            return self.ranks_given
        if self.maps and not self.known.tells_shares:  # eigenvalues that are no shares
            return None
        if self.texts:  # what chance reaches says more of texts than rules for tables of numbers
            return None
        return self._tried("how many components", lambda: find_ranks(self))

    @cached_property
    def evidence(self) -> Evidence | None:
        """Which components are more than chance; None where that could not be tested."""
        return self._tried("what is more than chance", lambda: find_evidence(self))

    def beyond_chance(self, i: int) -> bool:
        """Whether something may be said about the meaning of component i: it is more than chance, or was not tested."""
        return self.evidence is None or i < self.evidence.count

    @cached_property
    def chance(self) -> Any:
        """How many topics are more than chance; None where that is not known, or rows are no texts."""
        return self.rows.chance if self.texts and self.rows is not None else None  # type: ignore[attr-defined]

    @cached_property
    def odd(self) -> Odd | None:
        """Distances of the rows, limits, and the odd ones; None where the model has no such thing."""
        if self.texts or self.maps or self.rows is None or not self.k:  # rows of a map lie nowhere off it
            return None
        return self._tried("odd rows", lambda: find_odd(self))

    @cached_property
    def values(self) -> list[ValuesApart]:
        """Values that stand apart from all others of their column."""
        return self._tried("single values", lambda: find_values(self)) or []

    def _tried(self, what: str, find: Any) -> Any:
        """What was found, or None and a note why not."""
        try:
            return find()
        except RitzError as error:
            self.notes.append(f"{what}: {error}")
            return None


def _same(a: Any, b: Any) -> bool:
    """Whether two sets of rows are the same."""
    a, b = (one.toarray() if hasattr(one, "toarray") else one for one in (a, b))
    return bool(np.array_equal(a, b)) if isinstance(a, np.ndarray) else list(a) == list(b)
