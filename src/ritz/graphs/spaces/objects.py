"""Distances of anything: a function of two objects, or the number of edits between two strings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.callback import calling_user
from ritz._core.errors import InputError
from ritz._core.threads import go_on
from ritz.graphs.search.screen import Direct, Screen
from ritz.graphs.spaces.base import Space
from ritz.kernels.base import take_rows

__all__ = ["Edits", "Objects"]

Floats = NDArray[np.float64]


class Objects(Space):
    """A function ``f(x, y) → number ≥ 0``, called for every pair."""

    route, proof = "blocks", "every distance was computed by the function"
    reason = "a function is called for every pair"

    def __init__(self, function: Callable[..., Any], X: Any, params: dict[str, Any]) -> None:
        self.function, self.items, self.params = function, X, params
        self.n = X.shape[0] if hasattr(X, "shape") else len(X)
        self.distance = f"distance by {getattr(function, '__name__', 'a function')}"

    def screen(self, Q: Any = None) -> Screen:
        """Values of the function."""
        return _Called(self, self.items if Q is None else Q, Q is None)

    def pairs(self, rows: Any, cols: Any) -> Floats:
        """The function of these pairs only."""
        screen = self.screen()
        found = [screen.tile(np.array([i]), slice(int(j), int(j) + 1))[0] for i, j in zip(rows, cols, strict=True)]
        return np.concatenate(found) if found else np.zeros(0)


class _Called(Direct):
    parallel = False

    def __init__(self, space: Objects, Q: Any, own: bool) -> None:
        self.space, self.Q, self.own = space, Q, own
        self.m, self.n = Q.shape[0] if hasattr(Q, "shape") else len(Q), space.n

    def tile(self, rows: Any, cols: slice) -> Floats:
        function, params = self.space.function, self.space.params
        left, right = take_rows(self.Q, rows), take_rows(self.space.items, cols)
        numbers = np.arange(self.m)[rows]
        made = np.zeros((len(numbers), cols.stop - cols.start))
        with calling_user():
            for i, number in enumerate(numbers):
                go_on()
                for j in range(made.shape[1]):
                    if self.own and number == cols.start + j:
                        continue
                    made[i, j] = function(left[i], right[j], **params)
        if not np.isfinite(made).all() or (made < 0).any():
            bad = made[~np.isfinite(made) | (made < 0)][0]
            raise InputError("a distance function gives finite numbers ≥ 0", received=f"{bad:g}",
                             hint="look for a logarithm of 0, a division by 0, or a similarity")  # fmt: skip
        return made


class Edits(Space):
    """Levenshtein's distance: insertions, deletions and replacements from one string to another."""

    distance, route, proof = "edit distance", "blocks", "every distance was computed; it is a whole number"
    reason = "edits are counted for every pair"
    rounding = 0.0

    def __init__(self, X: Any) -> None:
        from ritz.kernels.strings.input import read_strings

        self.strings = read_strings(X)
        self.n = len(self.strings)

    def new(self, X: Any) -> Any:
        """Strings as numbers of symbols."""
        from ritz.kernels.strings.input import read_strings

        return read_strings(X)

    def screen(self, Q: Any = None) -> Screen:
        """Numbers of edits."""
        return _Counted(self.strings, self.strings if Q is None else Q)


class _Counted(Direct):
    def __init__(self, strings: Any, Q: Any) -> None:
        self.strings, self.Q, self.m, self.n = strings, Q, len(Q), len(strings)

    def tile(self, rows: Any, cols: slice) -> Floats:
        from ritz.kernels.strings.edit import edit_distances
        from ritz.kernels.strings.input import translate

        s, t = self.Q[rows], self.strings[cols]
        codes = translate(t, s.alphabet, s.kind) if len(s.symbols) else np.full_like(t.symbols, -1)
        return np.asarray(edit_distances(s, t, codes), np.float64)
