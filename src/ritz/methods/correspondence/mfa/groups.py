"""Groups of columns: who belongs to whom, and what kind of group it is.

    {"taste": ["acid", "sweet"], "words": slice("tea", "milk"), "origin": ["soil"]}   →   names of columns

A slice of names holds both ends, as in pandas; places (for tables without names) are counted as in Python.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import ColumnsSetAside, InputError, ParameterError
from ritz._core.warn import warn
from ritz.data.encode import Encoder
from ritz.data.words import shorten
from ritz.methods.correspondence.mfa.rows import Tables

__all__ = ["Grouping", "check_groups", "resolved"]

Places = NDArray[np.intp]

FORM = "groups={'taste': ['acid', 'sweet'], 'origin': ['soil']}"


@dataclass(frozen=True)
class Grouping:
    """The groups of a fitted table by the names of their columns.

    Parameters
    ----------
    members : names of the columns of every group
    frequencies, supplementary : names of groups of counts, and of those that take no part in the axes
    scale : whether numbers are divided by their standard deviation, for all groups or by group
    """

    members: dict[str, list[str]]
    frequencies: Any
    supplementary: Any
    scale: Any

    def scales(self, group: str) -> bool:
        """Whether the numbers of a group are divided by their standard deviation."""
        return bool(self.scale if isinstance(self.scale, bool) else self.scale.get(group, True))

    @property
    def active(self) -> dict[str, list[str]]:
        """Groups that make the axes."""
        return {name: columns for name, columns in self.members.items() if name not in self.supplementary}

    @property
    def beside(self) -> dict[str, list[str]]:
        """Groups that are placed against them."""
        return {name: self.members[name] for name in self.supplementary}

    @property
    def counted(self) -> list[str]:
        """Columns of counts in active groups."""
        return [column for name, columns in self.active.items() if name in self.frequencies for column in columns]

    @property
    def divided(self) -> set[str]:
        """Columns of active groups whose numbers are divided by their standard deviation."""
        scaled = (columns for name, columns in self.active.items() if self.scales(name))
        return {column for columns in scaled for column in columns}.difference(self.counted)

    def places(self, encoder: Encoder) -> dict[str, Places]:
        """Encoded columns of every active group."""
        names = [*encoder.numeric, *(encoder.vocabulary.names[j] for j in encoder.active.owners)]
        places = {}
        for group, columns in self.active.items():
            mine = set(columns)
            places[group] = np.asarray([j for j, name in enumerate(names) if name in mine], np.intp)
        return places

    def tables(self, encoder: Encoder, profiles: NDArray[np.float64] | None) -> Tables:
        """Tables of counts among the active groups; ``profiles`` (d,) of several of them."""
        places = tuple(at for name, at in self.places(encoder).items() if name in self.frequencies)
        return Tables(places, None if profiles is None or len(places) < 2 else tuple(profiles[at] for at in places))


def check_groups(groups: Any, frequencies: Any, supplementary: Any, scale: Any) -> None:
    """Refuse what cannot be groups."""
    if not isinstance(groups, Mapping) or not groups or not all(isinstance(name, str) for name in groups):
        raise ParameterError("groups must be a dict of names and their columns", received=repr(groups), hint=FORM)
    for name, chosen in (("frequencies", frequencies), ("supplementary", supplementary)):
        if isinstance(chosen, str) or not isinstance(chosen, Iterable):
            raise ParameterError(
                f"{name} must be a list of names of groups", received=repr(chosen), hint=f"{name}=[{chosen!r}]"
            )
        lost = [one for one in chosen if one not in groups]
        if lost:
            raise ParameterError(
                f"{name} must name groups",
                received=repr(lost[0]),
                hint=f"the groups are {', '.join(map(repr, groups))}",
            )
    if all(name in supplementary for name in groups):
        raise ParameterError("expected a group that is not supplementary", received=repr(list(supplementary)))
    if not (isinstance(scale, bool) or (isinstance(scale, Mapping) and all(name in groups for name in scale))):
        raise ParameterError(
            "scale must be True, False or a dict of groups and truth values",
            received=repr(scale),
            hint="scale={'taste': False}: all other groups are scaled",
        )


def resolved(groups: Mapping[str, Any], names: Sequence[str], named: bool) -> dict[str, list[str]]:
    """Names of the columns of every group; columns of no group are set aside with a warning."""
    members = {name: _columns(name, spec, names, named) for name, spec in groups.items()}
    owner: dict[str, str] = {}
    for group, columns in members.items():
        for column in columns:
            if column in owner:
                where = "twice in" if owner[column] == group else f"in {owner[column]!r} and"
                raise ParameterError(f"column {column!r} is {where} group {group!r}", hint="a column has one group")
            owner[column] = group
    aside = [repr(name) for name in names if name not in owner]
    if aside:
        plural = "column" if len(aside) == 1 else "columns"
        warn(f"{len(aside)} {plural} in no group, set aside: {shorten(aside)}", ColumnsSetAside)
    return members


def _columns(group: str, spec: Any, names: Sequence[str], named: bool) -> list[str]:
    if isinstance(spec, slice):
        columns = _sliced(group, spec, names)
    elif isinstance(spec, (str, int)):
        columns = [_one(group, spec, names, named)]
    elif isinstance(spec, Iterable):
        columns = [_one(group, one, names, named) for one in spec]
    else:
        raise ParameterError(f"group {group!r} must be a list or a slice of columns", received=repr(spec), hint=FORM)
    if not columns:
        raise InputError(
            f"expected columns in group {group!r}", received=f"none of the table's {len(names)} feature(s)", hint=FORM
        )
    return columns


def _sliced(group: str, spec: slice, names: Sequence[str]) -> list[str]:
    if not any(isinstance(end, str) for end in (spec.start, spec.stop)):
        return list(names[spec])
    first = 0 if spec.start is None else names.index(_one(group, spec.start, names, True))
    last = len(names) - 1 if spec.stop is None else names.index(_one(group, spec.stop, names, True))
    return list(names[first : last + 1])


def _one(group: str, name: Any, names: Sequence[str], named: bool) -> str:
    if not isinstance(name, str) and not named and -len(names) <= int(name) < len(names):
        return names[int(name)]
    if str(name) in names:
        return str(name)
    import difflib

    close = difflib.get_close_matches(str(name), names, n=1)
    raise InputError(
        f"expected a column {name!r}, which group {group!r} names",
        received=f"columns {shorten([repr(one) for one in names])}",
        hint=f"did you mean {close[0]!r}?" if close else "check the names",
    )
