"""What the ways to hang share: small tables, a small fit, and a list of the ways.

A way is a function of an empty folder that gives sentences, one a finding. It runs in a process of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from ritz.data.tables.read import read
from ritz.methods.pca import PCA

__all__ = ["LONG", "WAYS", "Batches", "Findings", "fit", "outside", "rows", "same", "way"]

Findings = list[str]
#: Seconds for which a way waits inside: longer than whoever runs it, who then says where it hung.
LONG = 3600.0
WAYS: dict[str, Callable[[Path], Findings]] = {}


def way(function: Callable[[Path], Findings]) -> Callable[[Path], Findings]:
    """List a function among the ways."""
    WAYS[function.__name__] = function
    return function


def rows(n: int, d: int, seed: int = 0) -> Any:
    """Rows whose columns have different spreads."""
    return np.random.default_rng(seed).standard_normal((n, d)) * np.arange(1, d + 1)


def fit(n: int = 60, d: int = 5, **options: Any) -> Any:
    """A small fit of its own."""
    return PCA(2, **options).fit(rows(n, d))


def same(model: Any, X: Any, what: str) -> Findings:
    """Whether a model has the variances of rows, by NumPy's own singular values."""
    s = np.linalg.svd(X - X.mean(axis=0), compute_uv=False)[: len(model.explained_variance_)]
    truth = s**2 / (len(X) - 1)
    return [] if np.allclose(model.explained_variance_, truth, rtol=1e-6) else [f"{what}: another spectrum"]


class Batches:
    """Rows outside memory: batches that can be read again, with a function called before each."""

    def __init__(self, X: Any, before: Callable[[], object] = lambda: None, size: int = 50) -> None:
        self.X, self.before, self.size = X, before, size

    def __iter__(self) -> Iterator[Any]:
        for start in range(0, len(self.X), self.size):
            self.before()
            yield self.X[start : start + self.size]


def outside(X: Any, before: Callable[[], object] = lambda: None, size: int = 50) -> Any:
    """A table that stays outside memory, with a function called before each batch once it is there."""
    batches = Batches(X, size=size)
    table = read(batches, memory=1000)
    batches.before = before
    return table
