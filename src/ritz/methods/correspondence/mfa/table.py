"""Tables whose columns come in groups: numbers, categories and counts, in one encoded row.

    row   (x | z | n)   →   (x − shift | z | r),   r the shares of the counts, as ``rows.py`` centres them

Rows of groups of counts weigh as much as they count, times their sample weights.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import EmptyProfiles, InputError
from ritz._core.warn import warn
from ritz.data.encode import Encoder
from ritz.data.encode.openings import Opened
from ritz.data.passes.blocks import are_blocks
from ritz.data.words import describe
from ritz.methods.correspondence.encoded.encoded import EncodedTable
from ritz.methods.correspondence.famd.results import MixedColumns
from ritz.methods.correspondence.mfa.groups import check_groups, resolved
from ritz.methods.correspondence.mfa.rows import Tables, count_totals, with_shares
from ritz.methods.correspondence.mfa.separate import weighted_mean
from ritz.methods.correspondence.table import Encoded

__all__ = ["GroupedColumns"]

Floats = NDArray[np.float64]
Places = NDArray[np.intp]


class GroupedColumns(MixedColumns):
    """Base of analyses whose columns come in groups."""

    groups: Any
    frequencies: Any
    supplementary: Any
    scale: Any

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_groups(self.groups, self.frequencies, self.supplementary, self.scale)

    # groups

    def _scales(self, group: str) -> bool:
        """Whether the numbers of a group are divided by their standard deviation."""
        return bool(self.scale if isinstance(self.scale, bool) else self.scale.get(group, True))

    def _active(self) -> dict[str, list[str]]:
        held: dict[str, list[str]] = self.__dict__["_members"]
        return {name: columns for name, columns in held.items() if name not in self.supplementary}

    def _beside_columns(self) -> dict[str, list[str]]:
        held: dict[str, list[str]] = self.__dict__["_members"]
        return {name: held[name] for name in self.supplementary}

    def _group_places(self) -> dict[str, Places]:
        encoder = self._encoder
        names = [*encoder.numeric, *(encoder.vocabulary.names[j] for j in encoder.active.owners)]
        out = {}
        for group, columns in self._active().items():
            held = set(columns)
            out[group] = np.asarray([j for j, name in enumerate(names) if name in held], np.intp)
        return out

    def _tables(self) -> Tables:
        """Tables of counts among the active groups."""
        held = self.__dict__.get("_profiles")
        places = tuple(at for name, at in self._group_places().items() if name in self.frequencies)
        return Tables(places, None if held is None or len(places) < 2 else tuple(held[at] for at in places))

    @property
    def _counted(self) -> list[str]:
        return [column for name, columns in self._active().items() if name in self.frequencies for column in columns]

    # columns

    def _divided(self) -> set[str]:
        held = [columns for name, columns in self._active().items() if self._scales(name)]
        return {column for columns in held for column in columns}.difference(self._counted)

    def _compare(self, X: Any, reset: bool) -> None:
        """Columns are found by their names, so that tables may hold others too; without names by their places."""
        if not reset and isinstance(X, np.ndarray) and X.shape[1] != self.n_features_in_:
            raise InputError(
                f"X has {X.shape[1]} features, but {type(self).__name__} is expecting {self.n_features_in_} features "
                "as input",
                received=describe(X),
                hint="give the columns of the fit, in the same order",
            )

    def _open(self, X: Any, *, reset: bool) -> Opened:
        table = super()._open(X, reset=reset)
        if reset:
            self.__dict__["_members"] = resolved(self.groups, table.names, table.named)
            for name in ("_profiles", "_frequencies"):
                self.__dict__.pop(name, None)
        return table

    def _look(self, table: Any, weights: Floats, columns: list[str], counts: list[str], **options: Any) -> Encoder:
        """What one look at some columns learns; counts are not shifted."""
        some = self.categorical
        if some is not None and not isinstance(some, str):
            held = {table.names[name] if isinstance(name, int) else str(name) for name in some}
            some = [name for name in columns if name in held]
        encoder = Encoder.learn(
            table, categorical=some, numbers=True, missing=self.missing, weights=weights, columns=columns, **options
        )
        return self._unshifted(encoder, counts)

    def _unshifted(self, encoder: Encoder, counts: list[str]) -> Encoder:
        held = set(counts)
        words = [name for name in encoder.vocabulary.names if name in held]
        if words:
            raise InputError(
                f"expected counts in column {words[0]!r}, which is in a group of frequencies", received="categories"
            )
        shift = np.where([name in held for name in encoder.numeric], 0.0, encoder.shift)
        return replace(encoder, shift=shift, few=tuple(name for name in encoder.few if name not in held))

    def _look_at(self, table: Opened, weights: Floats, **options: Any) -> Encoder:
        active = {column for columns in self._active().values() for column in columns}
        return self._look(table, weights, [name for name in table.names if name in active], self._counted, **options)

    def _learned_again(self, table: Opened, weights: Floats) -> Encoder:
        return self._unshifted(super()._learned_again(table, weights), self._counted)

    def _name_variables(self, encoder: Encoder) -> None:
        super()._name_variables(encoder)
        if not encoder.named:
            self.n_features_in_ = len(encoder.columns)

    # rows

    def _weights(self, table: Opened, sample_weight: Any) -> Floats:
        weights = super()._weights(table, sample_weight)
        if not self._counted:
            return weights
        encoder = self._look(table, weights, self._counted, self._counted)
        totals = count_totals(encoder.rows(table, unseen=None, memory=self.memory), list(encoder.numeric))
        empty = np.flatnonzero((totals == 0) & (weights > 0))
        if len(empty):
            plural = "s" if len(empty) > 1 else ""
            warn(
                f"{len(empty)} row{plural} without counts, the first row {int(empty[0])}: no profile, so no part in "
                "the fit; coordinates are NaN",
                EmptyProfiles,
            )
        return weights * totals

    def _finished(self, coded: EncodedTable) -> EncodedTable:
        if not self._counted:
            return coded
        tables = self._tables()
        if len(tables.places) > 1 and tables.profiles is None:  # in a fit
            R, w = self._present(EncodedTable(with_shares(coded.rows, tables), coded.weights))
            mean = weighted_mean(R, w / np.sum(w), self._encoder.labels)
            profiles = np.zeros(len(mean))
            for places in tables.places:
                profiles[places] = mean[places] / max(float(np.sum(mean[places])), 1e-300)
            self.__dict__.update(_profiles=profiles, _frequencies=mean)
            tables = self._tables()
        coded.empty = coded.weights <= 0 if are_blocks(coded.rows) else tables.totals(coded.rows) == 0
        coded.rows = with_shares(coded.rows, tables)
        return coded

    def _forward(self, coded: Encoded) -> Floats:
        F = super()._forward(coded)
        empty = getattr(coded, "empty", None)
        if empty is not None and bool(np.any(empty)):
            F[empty] = np.nan
        return F

    def _coordinates(self, rows: Any) -> Floats:
        weights = np.ones(rows.shape[0])
        if self._counted:
            counts = rows[:, self._tables().all]
            weights = np.asarray(counts.sum(axis=1)).reshape(-1)
        return self._forward(self._finished(EncodedTable(rows, weights)))
