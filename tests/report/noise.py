"""Tables of pure noise: columns that have nothing to do with each other, nor with the groups beside them.

    noise_table(i)  →  (model, rows, what to colour by)      the same for the same i

Numbers are Gaussian, uniform, skew or whole; counts are Poisson counts of two independent characteristics; categories
are drawn with unequal frequencies. Shapes run from a dozen rows to a few hundred, wide tables among them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

import ritz

__all__ = ["KINDS", "noise_table"]

KINDS = ("numbers", "wide", "counts", "categories", "mixed", "groups", "kernel", "labelled", "robust", "gaps")
SHAPES = ((14, 3), (25, 5), (40, 12), (60, 4), (90, 9), (150, 6), (250, 20), (400, 8))
LETTERS = "abcdefgh"


def _numbers(rng: np.random.Generator, n: int, d: int) -> pd.DataFrame:
    kind = rng.integers(4)
    units = 10.0 ** rng.integers(-1, 2, d)
    X = (
        rng.standard_normal((n, d)),
        rng.uniform(-1, 1, (n, d)),
        rng.gamma(4.0, size=(n, d)),
        rng.integers(0, 30, (n, d)).astype(float),
    )[kind]
    return pd.DataFrame(X * units, columns=[f"x{j}" for j in range(d)])


def _categories(rng: np.random.Generator, n: int, d: int) -> pd.DataFrame:
    columns = {}
    for j in range(d):
        levels = int(rng.integers(2, 5))
        p = rng.dirichlet(np.full(levels, 8.0))
        columns[f"q{j}"] = np.array(list(LETTERS[:levels]))[rng.choice(levels, n, p=p)]
    return pd.DataFrame(columns)


def noise_table(i: int) -> tuple[Any, Any, Any]:
    """The i-th table with a model for it, fitted, and labels of its rows that mean nothing, or None."""
    rng = np.random.default_rng([7, i])
    kind = KINDS[i % len(KINDS)]
    n, d = SHAPES[(i // len(KINDS)) % len(SHAPES)]
    labels = np.array(list("uvw"))[rng.integers(0, 3, n)]
    if kind == "numbers":
        X = _numbers(rng, n, d)
        return ritz.PCA(scale=True).fit(X), X, None
    if kind == "wide":
        X = _numbers(rng, max(12, n // 8), 10 * d)
        return ritz.PCA(scale=bool(rng.integers(2))).fit(X), X, None
    if kind == "counts":
        rows, columns = int(rng.integers(5, 20)), int(rng.integers(4, 9))
        N = rng.multinomial(
            n * 20, np.outer(rng.dirichlet(np.full(rows, 6.0)), rng.dirichlet(np.full(columns, 6.0))).ravel()
        )
        frame = pd.DataFrame(N.reshape(rows, columns), index=[f"r{k}" for k in range(rows)])
        frame.columns = [f"c{j}" for j in range(columns)]
        return ritz.CA().fit(frame), frame, None
    if kind == "categories":
        frame = _categories(rng, max(n, 30), min(d, 8))
        return ritz.MCA().fit(frame), frame, None
    if kind == "mixed":
        frame = pd.concat([_numbers(rng, max(n, 30), 4), _categories(rng, max(n, 30), 3)], axis=1)
        return ritz.FAMD().fit(frame), frame, None
    if kind == "groups":
        frame = _numbers(rng, n, 6)
        groups = {"one": ["x0", "x1", "x2"], "two": ["x3", "x4", "x5"]}
        return ritz.MFA(groups=groups).fit(frame), frame, None
    if kind == "kernel":
        X = _numbers(rng, min(n, 90), d)
        X = (X - X.mean()) / X.std()
        return ritz.KernelPCA(4, kernel="rbf", gamma="median").fit(X), X, None
    if kind == "robust":
        X = _numbers(rng, max(n, 40), min(d, 6))
        X = X / X.std()
        return (ritz.RobustPCA(2) if rng.integers(2) else ritz.SparsePCA(2)).fit(X), X, None
    if kind == "gaps":
        X = _numbers(rng, max(n, 25), max(d, 4))
        X = X.mask(rng.random(X.shape) < 0.05)
        return ritz.PCA(2, scale=True, missing="regularized").fit(X), X, None
    X = _numbers(rng, n, d)
    return ritz.PCA(scale=True).fit(X), X, labels
