"""Cases in which numbers are not what a quick look takes them for.

integers    whole numbers of every width, up to 2⁶³ from zero
equal       columns of few values in thousands of rows, sparse and dense: sums that round in one direction
zeros       the same where the first rows, or all but the last, hold nothing
alike       one batch fed or merged thousands of times
ones        weights that sum to 1 + 1e-13 … 1 + 0.1: the divisor Σw − 1 cancels
far         weights from 1e-200 to 1e200; rows of 1e±150
fading      rows of a stream whose weights fall with every further row, from slowly to by half
chosen      a leading direction that the Gaussian block of a public seed cannot see
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ritz.testing.certify.hard import few, kind_of, pick
from ritz.testing.certify.problem import Case
from ritz.testing.certify.tables import ORDERS, VALUES

__all__ = ["ADVERSE"]

_INTEGERS = [
    ("int8", [0, 100, -90]), ("uint8", [128, 200]), ("int16", [0, 20_000, -30_000]), ("uint16", [40_000, 60_000]),
    ("int32", [0, 10**9, -(2**31) + 2**20, 20_260_101]), ("uint32", [2**31, 3 * 10**9]),
    ("int64", [0, 10**9, 2**53 + 1, -(2**60), 2**62 + 12_345]), ("uint64", [10**6, 2**60 + 1, 2**63 + 5]),
]  # fmt: skip
_HADAMARD = [(64, 20), (512, 100), (4096, 256), (2048, 400), (1024, 30), (16384, 160), (256, 12)]
_LONG = [(131_072, 3), (40_000, 8), (100_000, 4), (20_000, 12), (65_536, 2), (8_000, 20), (131_072, 1)]
_TALL = [(60, 8), (150, 12), (400, 6), (40, 15), (31, 30), (200, 2), (12, 60)]


def _integers(rng: np.random.Generator, turn: int, seed: int) -> Case:
    dtype, offsets = _INTEGERS[turn % len(_INTEGERS)]
    n, d = pick(rng, _HADAMARD)
    far = int(pick(rng, offsets))
    options: dict[str, Any] = {"k": int(rng.integers(1, min(d, 12))), "tol": pick(rng, [1e-6, 1e-10]), "far": far}
    if far == 0 and rng.random() < 0.5:
        options |= {"method": "SVD", "center": False}
    return Case("integers", kind_of(turn, seed), n, d, seed, cond=float(pick(rng, [2, 8, 30])), dtype=dtype, **options)


def _equal(rng: np.random.Generator, turn: int, seed: int, order: str | None = None) -> Case:
    n, d = pick(rng, _LONG)
    options = few(rng, min(n, d)) | {"order": order or pick(rng, ["sorted", "shuffled"]), "csr": bool(turn % 2)}
    options |= {"dtype": pick(rng, ["float64", "float32"]), "scale": bool(rng.random() < 0.2)}
    if rng.random() < 0.4:
        options |= {"method": "SVD", "center": False, "scale": False}
    return Case("repeated", list(VALUES)[turn // 2 % len(VALUES)], n, d, seed, **options)


def _zeros(rng: np.random.Generator, turn: int, seed: int) -> Case:
    return _equal(rng, turn, seed, pick(rng, ORDERS[1:3]))


def _alike(rng: np.random.Generator, turn: int, seed: int) -> Case:
    n, d = 6 * int(pick(rng, [100, 1000, 3000])), int(pick(rng, [1, 2, 5]))
    options = few(rng, d) | {"scale": bool(rng.random() < 0.3), "dtype": pick(rng, ["float64", "float64", "float32"])}
    return Case("alike", list(VALUES)[turn % len(VALUES)], n, d, seed, **options)


def _ones(rng: np.random.Generator, turn: int, seed: int) -> Case:
    n, d = pick(rng, _TALL)
    options = few(rng, min(n, d)) | {"weighted": True, "weighting": "one", "scale": bool(rng.random() < 0.7)}
    options |= {"offset": float(pick(rng, [0, 10])), "dtype": pick(rng, ["float64", "float64", "float32"])}
    return Case("dense", kind_of(turn, seed), n, d, seed, cond=float(pick(rng, [1, 1e2, 1e4])), **options)


def _far(rng: np.random.Generator, turn: int, seed: int) -> Case:
    n, d = pick(rng, _TALL)
    options = few(rng, min(n, d)) | {"cond": float(pick(rng, [1, 1e2, 1e6]))}
    if turn % 3 == 2:
        options |= {"exponent": int(pick(rng, [-490, -330, 330, 490])), "scale": bool(rng.random() < 0.3)}
        return Case("dense", kind_of(turn, seed), n, d, seed, **options)
    options |= {"weighted": True, "weighting": "far", "offset": float(pick(rng, [0, 10]))}
    if turn % 3 == 1:
        return Case("sparse", kind_of(turn, seed), n, d, seed, **options | {"offset": 0.0})
    return Case("dense", kind_of(turn, seed), n, d, seed, **options | {"scale": bool(rng.random() < 0.3)})


def _chosen(rng: np.random.Generator, turn: int, seed: int) -> Case:
    n, d = pick(rng, [(120, 60), (300, 48), (60, 120), (50, 400)])
    options: dict[str, Any] = {"k": int(pick(rng, [1, 2, 3])), "tol": pick(rng, [1e-3, 1e-6]), "state": turn % 3 * 7}
    if n < d or rng.random() < 0.5:
        options |= {"method": "SVD", "center": False}
    kind = pick(rng, ["flat", "slow", "spikes", "step"])
    return Case("chosen", kind, n, d, seed, cond=2.0, **options)


def _fading(rng: np.random.Generator, turn: int, seed: int) -> Case:
    n, d = pick(rng, [(60, 8), (150, 12), (400, 6), (40, 15), (31, 30), (200, 2)])
    options = few(rng, min(n, d)) | {"decay": float(pick(rng, [0.999, 0.99, 0.9, 0.5]))}
    options |= {"offset": float(pick(rng, [0, 0, 10, 1e6])), "dtype": pick(rng, ["float64", "float64", "float32"])}
    if rng.random() < 0.3:
        options |= {"method": "SVD", "center": False, "offset": 0.0}
    cond = float(pick(rng, [1, 1e2, 1e6, 1e10]))
    return Case("dense", kind_of(turn, seed), n, d, seed, cond=cond, **options)


ADVERSE: list[Callable[[np.random.Generator, int, int], Case]] = [
    _integers, _equal, _chosen, _zeros, _ones, _alike, _far, _fading,
]  # fmt: skip
