"""Which problems the certificate check is made of: every family of matrices in turn, the rest drawn.

Cases (see `problem`) are drawn in a fixed order from a seed: the first N are the same for every N. Two
families in three are matrices of every kind under common treatments; one is made to be hard on a particular
bound (`hard`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ritz.testing.certify.adverse import ADVERSE
from ritz.testing.certify.counts import count_cases
from ritz.testing.certify.hard import HARD, pick
from ritz.testing.certify.kernels import kernel_cases
from ritz.testing.certify.problem import ROUTES, SOLVERS, Case
from ritz.testing.certify.smallest import smallest_cases
from ritz.testing.spectra import HOSTILE, KINDS

__all__ = ["ADVERSE_FROM", "ROUTES", "SOLVERS", "Case", "adverse_cases", "cases", "is_hard"]

#: Adverse cases are counted from here, so that the numbers of the others stay what they were.
ADVERSE_FROM = 1_000_000

_TALL = [(60, 8), (200, 20), (500, 12), (120, 30), (1000, 5), (41, 40), (300, 1), (12, 2)]
_WIDE = [(8, 60), (20, 200), (30, 100), (2, 9), (3, 50)]
_SQUARE = [(10, 10), (25, 25), (32, 32), (2, 2)]
_CONDITIONS = [1.0, 1e1, 1e2, 1e4, 1e6, 1e8, 1e10, 1e12, 1e14]
_TOLERANCES = [1e-6, 1e-6, 1e-3, 1e-10]
_GRAPHS = [("path", 60), ("cycle", 64), ("complete", 24), ("star", 80), ("grid", 9), ("cube", 7)]
_GRAPHS += [("path", 400), ("complete", 50), ("grid", 18), ("star", 300), ("cube", 9), ("cycle", 301)]


def cases(seed: int = 0) -> Iterator[Case]:
    """Cases without end, every family and kind in turn, the rest drawn."""
    rng = np.random.default_rng(seed)
    families = ["dense", "hostile", "dense", "sparse", "hadamard"]
    families += ["dense", "reflected", "dense", "graph", "sparse"]
    common = hard = number = 0
    while True:
        if is_hard(number):
            yield HARD[hard % len(HARD)](rng, hard // len(HARD), seed * 100_003 + number)
            hard += 1
        else:
            family = families[common % len(families)]
            yield _DRAW[family](rng, common // len(families), seed * 100_003 + number)
            common += 1
        number += 1


def adverse_cases(seed: int = 0) -> Iterator[Any]:
    """Cases that break an assumption about rounding each, every family in turn, without end."""
    rng, number = np.random.default_rng([seed, 1]), 0
    others = (kernel_cases(seed), count_cases(seed), smallest_cases(seed))
    while True:
        for draw in ADVERSE:
            yield draw(rng, number // (len(ADVERSE) + len(others)), seed * 100_003 + number)
            number += 1
        for stream in others:
            yield next(stream)
            number += 1


def is_hard(number: int) -> bool:
    """Whether the case of this number is of a family made to be hard on one bound."""
    return number % 3 == 2


def _shape(rng: np.random.Generator) -> tuple[int, int]:
    shape: tuple[int, int] = pick(rng, pick(rng, [_TALL, _TALL, _WIDE, _SQUARE]))
    return shape


def _treatment(rng: np.random.Generator, n: int, d: int, *, raw: bool = True, centered: bool = True) -> dict[str, Any]:
    """Estimator, number of components and tolerance that suit a shape."""
    options: dict[str, Any] = {"method": "PCA" if centered and not (raw and rng.random() < 0.3) else "SVD"}
    options["center"] = options["method"] == "PCA"
    r = min(n, d)
    choices = [1, 2, 3, max(1, r // 2), max(1, r - 1), r, None]
    k = pick(rng, choices)
    options["k"] = None if k is None else min(k, r)
    options["tol"] = pick(rng, _TOLERANCES)
    if k is not None and rng.random() < 0.15:
        options["share"] = float(pick(rng, [0.5, 0.9, 0.99]))
    return options


def _dense(rng: np.random.Generator, turn: int, seed: int) -> Case:
    n, d = _shape(rng)
    treatment = _treatment(rng, n, d)
    if treatment["method"] == "PCA":
        treatment |= {"offset": pick(rng, [0.0, 0.0, 0.0, 10.0, 1e4, 1e8])}
        # far offsets round columns to a few steps, where "constant" is a matter of definition
        treatment |= {"scale": bool(rng.random() < 0.3) and treatment["offset"] <= 10}
        treatment |= {"weighted": bool(rng.random() < 0.25) and n > 3}
    dtype = pick(rng, ["float64", "float64", "float32"])
    exponent = int(pick(rng, [0, 0, 0, -300, 300] if dtype == "float64" else [0, 0, 0, -35, 35]))
    kind = list(KINDS)[(turn + seed) % len(KINDS)]
    cond = pick(rng, _CONDITIONS)
    return Case("dense", kind, n, d, seed, cond=cond, dtype=dtype, exponent=exponent, **treatment)


def _hostile(rng: np.random.Generator, turn: int, seed: int) -> Case:
    n, d = _shape(rng)
    treatment = _treatment(rng, n, d)
    if treatment["method"] == "PCA":
        treatment["weighted"] = bool(rng.random() < 0.2) and n > 3
    dtype = pick(rng, ["float64", "float64", "float32"])
    kind = list(HOSTILE)[turn % len(HOSTILE)]
    if kind in ("coherent", "lone"):  # rounding adds up over many rows
        n, d, treatment["k"] = int(pick(rng, [300, 1000, 2000])), 4, int(rng.integers(1, 4))
    return Case("hostile", kind, n, d, seed, dtype=dtype, **treatment)


def _sparse(rng: np.random.Generator, turn: int, seed: int) -> Case:
    n, d = _shape(rng)
    treatment = _treatment(rng, n, d)
    if treatment["method"] == "PCA":
        treatment["weighted"] = bool(rng.random() < 0.2) and n > 3
    dtype = pick(rng, ["float64", "float32"])
    cond = pick(rng, _CONDITIONS)
    return Case("sparse", list(KINDS)[turn % len(KINDS)], n, d, seed, cond=cond, dtype=dtype, **treatment)


def _reflected(rng: np.random.Generator, turn: int, seed: int) -> Case:
    n, d = pick(rng, [(300, 60), (500, 128), (64, 400), (150, 150), (2000, 40), (900, 500)])
    dtype = pick(rng, ["float64", "float32"])
    cond = float(pick(rng, [1e1, 1e3, 1e6, 1e10] if dtype == "float64" else [1e1, 1e3]))
    treatment = _treatment(rng, n, d, centered=False) | {"k": int(rng.integers(1, 12))}
    return Case("reflected", list(KINDS)[turn % len(KINDS)], n, d, seed, cond=cond, dtype=dtype, **treatment)


def _hadamard(rng: np.random.Generator, turn: int, seed: int) -> Case:
    n, d = pick(rng, [(64, 20), (256, 64), (512, 100), (1024, 30), (2048, 16), (1024, 500)])
    dtype = pick(rng, ["float64", "float32"])
    offset = float(pick(rng, [0, 0, 100, 2**20] if dtype == "float64" else [0, 0, 100]))
    cond = float(pick(rng, [1e1, 1e3, 1e6] if dtype == "float64" else [1e1, 1e2]))
    treatment = _treatment(rng, n, d, raw=offset == 0) | {"k": int(rng.integers(1, 12))}
    kind = list(KINDS)[turn % len(KINDS)]
    return Case("hadamard", kind, n, d, seed, cond=cond, dtype=dtype, offset=offset, **treatment)


def _graph(rng: np.random.Generator, turn: int, seed: int) -> Case:
    kind, size = _GRAPHS[turn % len(_GRAPHS)]
    treatment = _treatment(rng, 12, 12) | {"k": int(rng.integers(1, 9))}
    return Case("graph", kind, size, size, seed, dtype=pick(rng, ["float64", "float32"]), **treatment)


_DRAW = {
    "dense": _dense,
    "hostile": _hostile,
    "sparse": _sparse,
    "reflected": _reflected,
    "hadamard": _hadamard,
    "graph": _graph,
}
