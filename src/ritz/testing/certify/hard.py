"""Cases that are hard on one bound each.

weights    from 1e-12 to 1e12 in one table, zeros among them; whole numbers, whose truth is that of the copies
taken      rows taken off again that were up to 1e8 times as large, or up to a thousand times as many
spread     standardised columns whose spreads differ by up to 24 orders of magnitude
means      means up to 1e12 times the spread, another one in every column
narrow     float32 tables large enough that products are formed in float32
broad      wide tables, solved on their rows: plain, weighted, standardised, far from zero, large in float32
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ritz.testing.certify.problem import Case
from ritz.testing.spectra import KINDS

__all__ = ["HARD", "few", "kind_of", "pick"]

_TALL = [(60, 8), (150, 12), (400, 6), (40, 15), (31, 30), (200, 2), (1500, 4)]
_NEAR = [(12, 3), (40, 8), (6, 5), (100, 10), (30, 30)]
_NARROW = [(4096, 256), (2048, 400), (8192, 200), (4096, 320), (16384, 160)]
_BROAD = [(40, 1200), (12, 900), (60, 300), (25, 120), (5, 600), (30, 31)]
_HADAMARD = [(16, 1024), (64, 4096), (128, 16384), (128, 1024)]
_TOLERANCES = [1e-6, 1e-6, 1e-3, 1e-10]


def pick(rng: np.random.Generator, options: Any) -> Any:
    """One of the options."""
    return options[int(rng.integers(len(options)))]


def kind_of(turn: int, seed: int) -> str:
    """A kind of spectrum, one after the other."""
    return list(KINDS)[(turn + seed) % len(KINDS)]


def few(rng: np.random.Generator, r: int) -> dict[str, Any]:
    """How many components, of r at most, and the tolerance."""
    return {"k": min(r, int(pick(rng, [1, 2, max(1, r // 2), r]))), "tol": pick(rng, _TOLERANCES)}


def _weights(rng: np.random.Generator, turn: int, seed: int) -> Case:
    n, d = pick(rng, _TALL)
    options = few(rng, min(n, d)) | {"weighted": True, "weighting": pick(rng, ["extreme", "extreme", "copies"])}
    options |= {"offset": float(pick(rng, [0, 0, 10, 1e6])), "dtype": pick(rng, ["float64", "float64", "float32"])}
    if rng.random() < 0.2:
        options |= {"method": "SVD", "center": False, "offset": 0.0}
    else:
        options["scale"] = bool(rng.random() < 0.3) and options["offset"] <= 10
    return Case("dense", kind_of(turn, seed), n, d, seed, cond=float(pick(rng, [1, 1e2, 1e6, 1e10])), **options)


def _taken(rng: np.random.Generator, turn: int, seed: int) -> Case:
    n, d = pick(rng, _NEAR)
    options = few(rng, min(n, d)) | {"dtype": pick(rng, ["float64", "float64", "float32"])}
    options |= {"removed": int(pick(rng, [d + 2, 200, 3000])), "extra": float(pick(rng, [1e-4, 1, 1e2, 1e4, 1e8]))}
    if options["dtype"] == "float32":
        options["extra"] = min(options["extra"], 1e4)
    options |= {"scale": bool(rng.random() < 0.25), "weighted": bool(rng.random() < 0.2)}
    offset = float(pick(rng, [0, 0, 100]))
    return Case("dense", kind_of(turn, seed), n, d, seed, cond=pick(rng, [1.0, 1e2, 1e4]), offset=offset, **options)


def _spread(rng: np.random.Generator, turn: int, seed: int) -> Case:
    n, d = pick(rng, [*_TALL, *_BROAD[2:]])
    dtype = pick(rng, ["float64", "float64", "float32"])
    options = few(rng, min(n, d)) | {
        "dtype": dtype,
        "spread": int(pick(rng, [10, 40] if dtype == "float64" else [8, 20])),
    }
    options |= {"scale": bool(rng.random() < 0.85), "weighted": bool(rng.random() < 0.2)}
    return Case("dense", kind_of(turn, seed), n, d, seed, cond=float(pick(rng, [1, 1e2, 1e6])), **options)


def _means(rng: np.random.Generator, turn: int, seed: int) -> Case:
    n, d = pick(rng, [*_TALL, *_BROAD[2:]])
    dtype = pick(rng, ["float64", "float64", "float32"])
    options = few(rng, min(n, d)) | {"dtype": dtype, "weighted": bool(rng.random() < 0.2)}
    options["means"] = float(pick(rng, [1e6, 1e9, 1e12] if dtype == "float64" else [1e2, 1e4]))
    return Case("dense", kind_of(turn, seed), n, d, seed, cond=float(pick(rng, [1, 1e2, 1e4])), **options)


def _narrow(rng: np.random.Generator, turn: int, seed: int) -> Case:
    n, d = _NARROW[turn % len(_NARROW)]
    options = {
        "k": int(rng.integers(1, 12)),
        "tol": pick(rng, _TOLERANCES),
        "offset": float(pick(rng, [0, 0, 30, 1000])),
    }
    if options["offset"] == 0 and rng.random() < 0.3:
        options |= {"method": "SVD", "center": False}
    cond = float(pick(rng, [1e1, 1e2, 1e3]))
    return Case("hadamard", kind_of(turn, seed), n, d, seed, cond=cond, dtype="float32", **options)


def _broad(rng: np.random.Generator, turn: int, seed: int) -> Case:
    dtype = pick(rng, ["float64", "float32"])
    if turn % 3 == 2:
        n, d = _HADAMARD[turn // 3 % len(_HADAMARD)]
        options = {"k": int(rng.integers(1, 12)), "tol": pick(rng, _TOLERANCES), "offset": float(pick(rng, [0, 50]))}
        if options["offset"] == 0 and rng.random() < 0.5:
            options |= {"method": "SVD", "center": False}
        return Case("wide", kind_of(turn, seed), n, d, seed, cond=float(pick(rng, [1e1, 1e3])), dtype=dtype, **options)
    n, d = pick(rng, _BROAD)
    options = few(rng, n) | {
        "dtype": dtype,
        "offset": float(pick(rng, [0, 10, 1e6] if dtype == "float64" else [0, 10])),
    }
    options |= {"scale": bool(rng.random() < 0.3) and options["offset"] <= 10, "weighted": bool(rng.random() < 0.4)}
    options["weighting"] = pick(rng, ["plain", "extreme", "copies"])
    return Case("dense", kind_of(turn, seed), n, d, seed, cond=float(pick(rng, [1, 1e2, 1e6, 1e10])), **options)


HARD: list[Callable[[np.random.Generator, int, int], Case]] = [_weights, _taken, _spread, _means, _narrow, _broad]
