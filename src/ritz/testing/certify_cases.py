"""The problems of the certificate check: which matrix, under which treatment, how many components.

    case = matrix (family, kind, n, d, condition, dtype) × estimator (centre, scale, weights) × (k, tol)

A case is a few numbers; its data and its truth are made from them where they are needed, so cases travel
between processes for free. They are drawn in a fixed order from a seed: the first N are the same for every N.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from ritz.testing.known import Known, incidence, known_hadamard, known_sparse
from ritz.testing.spectra import HOSTILE, KINDS, hostile, matrix, sparse_matrix
from ritz.testing.truth import Truth, known_truth, true_spectrum

__all__ = ["ROUTES", "SOLVERS", "Case", "cases"]

SOLVERS = ("svd", "moments", "krylov", "lanczos", "chebyshev", "power", "sketch")

ROUTES = (*SOLVERS, "stream", "merge")  # partial_fit in chunks; merge of shards in any order
POWER_COMPONENTS = 6  # 3,000 steps a component add up, and the lectures' method is not asked for more

_TALL = [(60, 8), (200, 20), (500, 12), (120, 30), (1000, 5), (41, 40), (300, 1), (12, 2)]
_WIDE = [(8, 60), (20, 200), (30, 100), (2, 9), (3, 50)]
_SQUARE = [(10, 10), (25, 25), (32, 32), (2, 2)]
_CONDITIONS = [1.0, 1e1, 1e2, 1e4, 1e6, 1e8, 1e10, 1e12, 1e14]
_TOLERANCES = [1e-6, 1e-6, 1e-3, 1e-10]
_GRAPHS = [("path", 60), ("cycle", 64), ("complete", 24), ("star", 80), ("grid", 9), ("cube", 7)]
_GRAPHS += [("path", 400), ("complete", 50), ("grid", 18), ("star", 300), ("cube", 9), ("cycle", 301)]


@dataclass(frozen=True)
class Case:
    """One matrix with its treatment; ``family`` says who makes it."""

    family: str  # dense, sparse, hostile, reflected, hadamard, graph
    kind: str
    n: int
    d: int
    seed: int
    cond: float = 1e4
    dtype: str = "float64"
    offset: float = 0.0
    exponent: int = 0
    method: str = "PCA"  # or SVD
    center: bool = True
    scale: bool = False
    weighted: bool = False
    k: int | None = None
    share: float | None = None  # of the variance, instead of k
    tol: float = 1e-6

    def __str__(self) -> str:
        """The case as one line that says everything needed to make it again."""
        parts = [f"{self.family}/{self.kind} {self.n}x{self.d} cond={self.cond:.0e} {self.dtype} seed={self.seed}"]
        parts += [f"offset={self.offset:g}"] if self.offset else []
        parts += [f"2^{self.exponent}"] if self.exponent else []
        flags = [name for name in ("center", "scale", "weighted") if getattr(self, name)]
        return " ".join([*parts, self.method, *flags, f"k={self.share or self.k}", f"tol={self.tol:g}"])

    @property
    def known(self) -> Known | None:
        """The matrix with its closed-form spectrum, for the families that have one."""
        return _known(self)

    def data(self) -> Any:
        """X, dense or CSR."""
        known = self.known
        if known is not None:
            return known.X
        if self.family == "hostile":
            return hostile(self.kind, self.n, self.d, seed=self.seed, dtype=self.dtype, exponent=self.exponent)
        options: dict[str, Any] = {"cond": self.cond, "seed": self.seed, "dtype": self.dtype}
        if self.family == "sparse":
            return sparse_matrix(self.kind, self.n, self.d, **options)
        return matrix(self.kind, self.n, self.d, offset=self.offset, exponent=self.exponent, **options)

    def weights(self, n: int) -> Any:
        """Frequencies, some of them zero and some of them fractions, or None."""
        if not self.weighted:
            return None
        return np.random.default_rng(self.seed + 1).choice([0.0, 0.5, 1.0, 1.0, 2.0, 3.25], n) + np.eye(1, n)[0]

    @property
    def routes(self) -> tuple[str, ...]:
        """Every solver, and for PCA the two ways to an answer from a moment state."""
        return ROUTES if self.method == "PCA" else SOLVERS

    def components(self, route: str, shape: tuple[int, int]) -> int | float:
        """How many to ask for: at most the rows that have a weight; a share; few of the slow ``power``."""
        n, d = shape
        weights = self.weights(n)
        rows = n if weights is None else int(np.count_nonzero(weights))
        k = min(rows, d) if self.k is None else min(self.k, rows)
        if route == "power":
            return min(k, POWER_COMPONENTS)
        return k if self.share is None else self.share

    def truth(self) -> Truth:
        """The true spectrum of the problem: in closed form, else in high precision with vectors."""
        known = self.known
        if known is not None:
            return known_truth(known)
        X = self.data()
        options = {"center": self.center, "scale": self.scale, "weights": self.weights(X.shape[0])}
        return true_spectrum(X, vectors=True, **options)

    def fit(self, route: str, X: Any) -> Any:
        """The fitted estimator: by a solver, from rows in chunks, or as a merger of shards."""
        weights = self.weights(X.shape[0])
        if route in SOLVERS:
            model = self._estimator(route, X.shape)
            return model.fit(X) if weights is None else model.fit(X, sample_weight=weights)
        rng = np.random.default_rng(self.seed)
        n = X.shape[0]
        order = np.arange(n) if route == "stream" else rng.permutation(n)
        pieces = [p for p in np.split(order, np.sort(rng.integers(0, n + 1, 4))) if p.size]
        models = [self._estimator("auto", X.shape) for _ in pieces]
        target = models[:1] * len(pieces) if route == "stream" else models
        for model, piece in zip(target, pieces, strict=True):
            model.partial_fit(X[piece], sample_weight=None if weights is None else weights[piece])
        return models[0] if route == "stream" or len(models) == 1 else models[0].merge(*models[1:])

    def _estimator(self, solver: str, shape: tuple[int, int]) -> Any:
        from ritz.methods.pca import PCA
        from ritz.methods.svd import SVD

        k = self.components(solver, shape)
        asked = None if self.k is None and k == min(shape) else k
        if self.method == "SVD":
            return SVD(asked, solver=solver, tol=self.tol, random_state=self.seed)
        options: dict[str, Any] = {"center": self.center, "scale": self.scale, "tol": self.tol}
        return PCA(asked, solver=solver, random_state=self.seed, **options)


@lru_cache(maxsize=1)
def _known(case: Case) -> Known | None:
    options: dict[str, Any] = {"cond": case.cond, "seed": case.seed, "dtype": case.dtype}
    if case.family == "reflected":
        return known_sparse(case.kind, case.n, case.d, **options)
    if case.family == "hadamard":
        return known_hadamard(case.kind, case.n, case.d, offset=int(case.offset), **options)
    if case.family == "graph":
        return incidence(case.kind, case.n, dtype=case.dtype, transpose=case.center)
    return None


def cases(seed: int = 0) -> Iterator[Case]:
    """Cases without end, every family and kind in turn, the rest drawn."""
    rng = np.random.default_rng(seed)
    families = ["dense", "hostile", "dense", "sparse", "hadamard"]
    families += ["dense", "reflected", "dense", "graph", "sparse"]
    number = 0
    while True:
        family = families[number % len(families)]
        yield _DRAW[family](rng, number // len(families), seed * 100_003 + number)
        number += 1


def _pick(rng: np.random.Generator, options: Any) -> Any:
    return options[int(rng.integers(len(options)))]


def _shape(rng: np.random.Generator) -> tuple[int, int]:
    shape: tuple[int, int] = _pick(rng, _pick(rng, [_TALL, _TALL, _WIDE, _SQUARE]))
    return shape


def _treatment(rng: np.random.Generator, n: int, d: int, *, raw: bool = True, centered: bool = True) -> dict[str, Any]:
    """Estimator, number of components and tolerance that suit a shape."""
    options: dict[str, Any] = {"method": "PCA" if centered and not (raw and rng.random() < 0.3) else "SVD"}
    options["center"] = options["method"] == "PCA"
    r = min(n, d)
    choices = [1, 2, 3, max(1, r // 2), max(1, r - 1), r, None]
    k = _pick(rng, choices)
    options["k"] = None if k is None else min(k, r)
    options["tol"] = _pick(rng, _TOLERANCES)
    if k is not None and rng.random() < 0.15:
        options["share"] = float(_pick(rng, [0.5, 0.9, 0.99]))
    return options


def _dense(rng: np.random.Generator, turn: int, seed: int) -> Case:
    n, d = _shape(rng)
    treatment = _treatment(rng, n, d)
    if treatment["method"] == "PCA":
        treatment |= {"offset": _pick(rng, [0.0, 0.0, 0.0, 10.0, 1e4, 1e8])}
        # far offsets round columns to a few steps, where "constant" is a matter of definition
        treatment |= {"scale": bool(rng.random() < 0.3) and treatment["offset"] <= 10}
        treatment |= {"weighted": bool(rng.random() < 0.25) and n > 3}
    dtype = _pick(rng, ["float64", "float64", "float32"])
    exponent = int(_pick(rng, [0, 0, 0, -300, 300] if dtype == "float64" else [0, 0, 0, -35, 35]))
    kind = list(KINDS)[(turn + seed) % len(KINDS)]
    cond = _pick(rng, _CONDITIONS)
    return Case("dense", kind, n, d, seed, cond=cond, dtype=dtype, exponent=exponent, **treatment)


def _hostile(rng: np.random.Generator, turn: int, seed: int) -> Case:
    n, d = _shape(rng)
    treatment = _treatment(rng, n, d)
    if treatment["method"] == "PCA":
        treatment["weighted"] = bool(rng.random() < 0.2) and n > 3
    dtype = _pick(rng, ["float64", "float64", "float32"])
    kind = list(HOSTILE)[turn % len(HOSTILE)]
    if kind in ("coherent", "lone"):  # rounding adds up over many rows
        n, d, treatment["k"] = int(_pick(rng, [300, 1000, 2000])), 4, int(rng.integers(1, 4))
    return Case("hostile", kind, n, d, seed, dtype=dtype, **treatment)


def _sparse(rng: np.random.Generator, turn: int, seed: int) -> Case:
    n, d = _shape(rng)
    treatment = _treatment(rng, n, d)
    if treatment["method"] == "PCA":
        treatment["weighted"] = bool(rng.random() < 0.2) and n > 3
    dtype = _pick(rng, ["float64", "float32"])
    cond = _pick(rng, _CONDITIONS)
    return Case("sparse", list(KINDS)[turn % len(KINDS)], n, d, seed, cond=cond, dtype=dtype, **treatment)


def _reflected(rng: np.random.Generator, turn: int, seed: int) -> Case:
    n, d = _pick(rng, [(300, 60), (500, 128), (64, 400), (150, 150), (2000, 40), (900, 500)])
    dtype = _pick(rng, ["float64", "float32"])
    cond = float(_pick(rng, [1e1, 1e3, 1e6, 1e10] if dtype == "float64" else [1e1, 1e3]))
    treatment = _treatment(rng, n, d, centered=False) | {"k": int(rng.integers(1, 12))}
    return Case("reflected", list(KINDS)[turn % len(KINDS)], n, d, seed, cond=cond, dtype=dtype, **treatment)


def _hadamard(rng: np.random.Generator, turn: int, seed: int) -> Case:
    n, d = _pick(rng, [(64, 20), (256, 64), (512, 100), (1024, 30), (2048, 16), (1024, 500)])
    dtype = _pick(rng, ["float64", "float32"])
    offset = float(_pick(rng, [0, 0, 100, 2**20] if dtype == "float64" else [0, 0, 100]))
    cond = float(_pick(rng, [1e1, 1e3, 1e6] if dtype == "float64" else [1e1, 1e2]))
    treatment = _treatment(rng, n, d, raw=offset == 0) | {"k": int(rng.integers(1, 12))}
    kind = list(KINDS)[turn % len(KINDS)]
    return Case("hadamard", kind, n, d, seed, cond=cond, dtype=dtype, offset=offset, **treatment)


def _graph(rng: np.random.Generator, turn: int, seed: int) -> Case:
    kind, size = _GRAPHS[turn % len(_GRAPHS)]
    treatment = _treatment(rng, 12, 12) | {"k": int(rng.integers(1, 9))}
    return Case("graph", kind, size, size, seed, dtype=_pick(rng, ["float64", "float32"]), **treatment)


_DRAW = {
    "dense": _dense,
    "hostile": _hostile,
    "sparse": _sparse,
    "reflected": _reflected,
    "hadamard": _hadamard,
    "graph": _graph,
}
