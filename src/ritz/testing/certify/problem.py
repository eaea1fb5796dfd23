"""One problem of the certificate check: a matrix under a treatment, its truth, and the ways to fit it.

    case  = matrix (family, kind, n, d, condition, dtype) × estimator (centre, scale, weights) × (k, tol)
    route = a solver on the rows · stream · merge · subtract · state:SOLVER (a merged state under that solver)
            · fed, joined: one batch thousands of times by partial_fit, by merge
            · SOLVER→moments: a solver that is made to leave its road after some products
            · krylov32, lanczos32: a float32 phase first, however small; krylov32→moments, lanczos32→moments
            · refined: a Gram matrix in float32 that is corrected, however small
            · iterated: the Gram matrix at hand is iterated on, however small
            · directions, directions-merge, sketched: states of bounded size, cut down again and again

A case is a few numbers; its data and its truth are made from them where they are needed, so cases travel
between processes for free.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from ritz.data.streams.directions import Directions
from ritz.data.streams.gathered import faded, fading
from ritz.methods.streams.held import begun, with_state
from ritz.spectral.constants import FLOAT32_TOL
from ritz.spectral.course import Course
from ritz.testing.certify.device import on_device
from ritz.testing.certify.tables import chosen, distinct, repeated
from ritz.testing.known import Known, incidence, known_hadamard, known_integers, known_sparse, known_wide
from ritz.testing.spectra import hostile, matrix, sparse_matrix
from ritz.testing.truth import Truth, known_truth, true_spectrum

__all__ = ["CHANGES", "ROUTES", "SOLVERS", "Case", "from_state"]

SOLVERS = ("svd", "moments", "krylov", "lanczos", "chebyshev", "power", "sketch")
#: partial_fit in chunks; merge of shards in any order; rows taken off again; one batch over and over; a merged state
#: under every solver.
#: Changes of course, and routes that plans take on large tables only.
CHANGES = (
    "krylov→moments", "lanczos→moments", "chebyshev→moments", "iterated",
    "krylov32", "lanczos32", "krylov32→moments", "lanczos32→moments", "refined",
)  # fmt: skip
#: Products after which a road is left, of tables with a short side and of others.
TURNS = {True: (1, 1, 2), False: (1, 2, 4)}
ROUTES = (*SOLVERS, *CHANGES, "stream", "merge", "subtract", "fed", "joined", *(f"state:{name}" for name in SOLVERS))
#: States of bounded size: added up, and merged from shards.
BOUNDED = ("directions", "directions-merge", "sketched")
ROUTES += BOUNDED
#: Directions beyond the components that such a state may keep, so that small tables are cut down as well.
SPARE_DIRECTIONS = (0, 1, 4)
POWER_COMPONENTS = 6  # 3,000 steps a component add up, and the lectures' method is not asked for more


def from_state(route: str) -> bool:
    """Whether a route ends in a moment state without its rows."""
    return route not in SOLVERS and route not in CHANGES and route not in BOUNDED


@dataclass(frozen=True)
class Case:
    """One matrix with its treatment; ``family`` says who makes it."""

    family: str  # dense, sparse, hostile, reflected, hadamard, wide, graph, integers, repeated, alike, chosen
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
    weighting: str = "plain"  # or extreme (1e-12 … 1e12), copies (integers), one (Σw near 1), far (1e-200 … 1e200)
    spread: int = 0  # columns are multiplied by powers of two from 2^-spread to 2^spread
    means: float = 0.0  # columns get means from 1 to this, of either sign
    removed: int = 0  # rows that ``subtract`` takes off again, 0 for a few more than components
    extra: float = 1.0  # their size in units of the table's
    order: str = "sorted"  # where repeated rows stand
    csr: bool = False  # repeated rows as CSR
    far: int = 0  # offset of integers
    state: int | None = None  # random_state, if not the seed
    decay: float = 1.0  # of rows that fade

    def __str__(self) -> str:
        """The case as one line that says everything needed to make it again."""
        parts = [f"{self.family}/{self.kind} {self.n}x{self.d} cond={self.cond:.0e} {self.dtype} seed={self.seed}"]
        parts += [f"offset={self.offset:g}"] if self.offset else []
        parts += [f"2^{self.exponent}"] if self.exponent else []
        parts += [f"spread=2^±{self.spread}"] if self.spread else []
        parts += [f"means={self.means:g}"] if self.means else []
        parts += [f"{self.order}{' CSR' * self.csr}"] if self.family == "repeated" else []
        parts += [f"offset={self.far}"] if self.far else []
        parts += [f"random_state={self.state}"] if self.state is not None else []
        parts += [f"decay={self.decay:g}"] if self.decay != 1 else []
        parts += [f"removed={self.removed}·{self.extra:g}"] if self.removed else []
        flags = [name for name in ("center", "scale", "weighted") if getattr(self, name)]
        flags += [self.weighting] if self.weighted and self.weighting != "plain" else []
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
        if self.family in ("repeated", "alike"):
            return repeated(*self._distinct, self.order, self.seed, self.csr)
        if self.family == "chosen":
            return chosen(self.kind, self.n, self.d, self.seed, self.state or 0, self.cond, self.dtype)
        if self.family == "hostile":
            return hostile(self.kind, self.n, self.d, seed=self.seed, dtype=self.dtype, exponent=self.exponent)
        options: dict[str, Any] = {"cond": self.cond, "seed": self.seed, "dtype": self.dtype}
        if self.family == "sparse":
            return sparse_matrix(self.kind, self.n, self.d, **options)
        X = matrix(self.kind, self.n, self.d, offset=self.offset, exponent=self.exponent, **options)
        rng = np.random.default_rng(self.seed + 2)
        if self.spread:
            X = np.ldexp(X, rng.permutation(np.linspace(-self.spread, self.spread, self.d).round().astype(int)))
        if self.means:
            X = X + rng.permutation(np.geomspace(1, self.means, self.d)) * rng.choice([-1.0, 1.0], self.d)
        return X.astype(self.dtype)

    def weights(self, n: int) -> Any:
        """What rows weigh in the table that is solved: frequencies, less of rows that have faded."""
        if self.decay == 1:
            return self.given(n)
        return self.decay ** np.arange(n - 1, -1, -1, dtype=np.float64)

    def given(self, n: int) -> Any:
        """Frequencies, or None: some zero and some fractions; over many orders of magnitude; whole numbers; Σw ≈ 1."""
        if not self.weighted:
            return None
        rng = np.random.default_rng(self.seed + 1)
        if self.weighting == "one":
            share = rng.dirichlet(np.ones(n))
            return share * (1 + 10.0 ** -rng.uniform(1, 13))
        if self.weighting == "far":
            return 10.0 ** rng.uniform(-200, 200, n) + 2 * np.eye(1, n)[0]
        if self.weighting == "extreme":
            return 10.0 ** rng.uniform(-12, 12, n) * rng.choice([0.0, 1.0, 1.0, 1.0, 1.0], n) + 2 * np.eye(1, n)[0]
        if self.weighting == "copies":
            return rng.choice([0.0, 1.0, 1.0, 2.0, 3.0, 7.0], n) + 2 * np.eye(1, n)[0]
        return rng.choice([0.0, 0.5, 1.0, 1.0, 2.0, 3.25], n) + np.eye(1, n)[0]

    @property
    def routes(self) -> tuple[str, ...]:
        """Every solver, and for PCA the ways to an answer from a moment state, one solver on it drawn."""
        if self.family == "alike":
            return ("fed", "joined", "directions", "sketched")[: 4 if self.k is not None and not self.scale else 2]
        if self.decay != 1:
            return ("moments", "svd", "stream", "directions", "sketched")
        large = self.n * self.d > 300_000  # a thousand power steps on each of these would take the longest of all
        rows = tuple(name for name in SOLVERS if not (large and name == "power"))
        changed = CHANGES[self.seed % len(CHANGES)]
        rows += (changed,)
        if self.k is not None and self.share is None and not self.scale:
            rows += BOUNDED
        if self.method != "PCA" or self.d > 2000:  # ``fit`` keeps no state of more columns
            return rows
        solvers = tuple(name for name in rows if name in SOLVERS)
        drawn = np.random.default_rng(self.seed + 4).integers(len(solvers))
        return (*rows, "stream", "merge", "subtract", f"state:{solvers[drawn]}")

    @property
    def changes(self) -> tuple[str, ...]:
        """Every change of course, not only the one that is drawn."""
        return () if self.family == "alike" or self.decay != 1 else CHANGES

    def components(self, route: str, shape: tuple[int, int]) -> int | float:
        """How many to ask for: at most the rows that have a weight; a share; few of the slow ``power``."""
        n, d = shape
        weights = self.weights(n)
        rows = n if weights is None else int(np.count_nonzero(weights))
        k = min(rows, d) if self.k is None else min(self.k, rows)
        if route.endswith("power"):
            return min(k, POWER_COMPONENTS)
        return k if self.share is None else self.share

    def truth(self) -> Truth:
        """The true spectrum of the problem: in closed form, else in high precision with vectors."""
        known = self.known
        if known is not None:
            return known_truth(known)
        if self.family in ("repeated", "alike"):
            rows, counts = self._distinct
            full = true_spectrum(rows, vectors=True, center=self.center, scale=self.scale, weights=counts.astype(float))
            return full if len(rows) >= self.d else _without_vectors(full, min(self.n, self.d))
        X = self.data()
        weights = self.weights(X.shape[0])
        if self.weighted and self.weighting == "copies":  # the truth knows nothing of weights
            X, weights = X[np.repeat(np.arange(X.shape[0]), weights.astype(int))], None
        return true_spectrum(X, vectors=True, center=self.center, scale=self.scale, weights=weights)

    @property
    def _distinct(self) -> tuple[Any, Any]:
        """The distinct rows of a table of repeated ones, and their counts."""
        return distinct(self.kind, self.n, self.d, self.seed, self.dtype, self.order, self.family == "alike")

    # ways to fit

    def fit(self, route: str, X: Any) -> Any:
        """The fitted estimator: by a solver, from rows in chunks, as a merger of shards, or with rows taken off."""
        weights = self.given(X.shape[0])
        if route in BOUNDED:
            return self._bounded(X, weights, route)
        if route in SOLVERS:
            return _fitted(self._estimator(route, X.shape), X, weights)
        if route in CHANGES:
            asked = "moments" if route in ("iterated", "refined") else route.split("→")[0].removesuffix("32")
            turns = TURNS[min(X.shape) < 100]
            after = turns[self.seed // len(CHANGES) % len(turns)]
            return _fitted(on_course(self._estimator(asked, X.shape), route, after), X, weights)
        if route == "subtract":
            E = self.others(X)
            both, w = _stacked(X, E), None if weights is None else np.append(weights, np.ones(E.shape[0]))
            model = _fitted(self._estimator("auto", X.shape), both, w)
            removed = _fitted(self._estimator("auto", X.shape), E, None if weights is None else np.ones(E.shape[0]))
            return model.subtract(removed)
        if route in ("fed", "joined"):
            return self._over_and_over(X, route)
        rng = np.random.default_rng(self.seed)
        n = X.shape[0]
        order = np.arange(n) if route == "stream" else rng.permutation(n)
        if route.startswith("state:"):
            return self._merged(X, weights, np.array_split(order, 2), route)
        pieces = [p for p in np.split(order, np.sort(rng.integers(0, n + 1, 4))) if p.size]
        models = [self._estimator("auto", X.shape) for _ in pieces]
        target = models[:1] * len(pieces) if route == "stream" else models
        for model, piece in zip(target, pieces, strict=True):
            model.partial_fit(X[piece], sample_weight=None if weights is None else weights[piece])
        return models[0] if route == "stream" or len(models) == 1 else models[0].merge(*models[1:])

    def _bounded(self, X: Any, weights: Any, route: str) -> Any:
        """Rows in hostile pieces, in a state that is so narrow that it is cut down with every one of them."""
        rng = np.random.default_rng(self.seed)
        present = np.arange(X.shape[0]) if weights is None else np.flatnonzero(weights)
        joins = route.endswith("merge")
        order = rng.permutation(present) if joins else present
        pieces = [p for p in np.split(order, np.sort(rng.integers(0, len(order) + 1, 5))) if p.size]
        model = self._estimator(route, X.shape)
        k, spare = int(self.components(route, X.shape)), SPARE_DIRECTIONS[self.seed % len(SPARE_DIRECTIONS)]
        directed = route.startswith("directions")
        states = [begun(model, X.shape[1], "directions" if directed else "sketch") for _ in pieces]
        if directed:
            states = [Directions.empty(X.shape[1], min(k + spare, X.shape[1])) for _ in pieces]
        total = None
        for piece, empty in zip(pieces, states, strict=True):
            w = fading(None if weights is None else weights[piece], len(piece), self.decay)
            if joins:
                part = empty.add(X[piece], w)
                total = part if total is None else total.merge(part)
            else:
                total = faded(empty if total is None else total, len(piece), self.decay).add(X[piece], w)
        return with_state(model, X, total)

    def _over_and_over(self, X: Any, route: str) -> Any:
        """The batch that the table repeats, fed or merged as often as it stands there."""
        rows, counts = self._distinct
        model = self._estimator("auto", X.shape).partial_fit(rows)
        batch = self._estimator("auto", X.shape).partial_fit(rows)
        for _ in range(int(counts.min()) - 1):
            model = model.partial_fit(rows) if route == "fed" else model.merge(batch)
        return model

    def _merged(self, X: Any, weights: Any, pieces: list[Any], route: str) -> Any:
        """Two shards, fitted where they have rows enough (large float32 ones in float32), merged, solved by name."""
        models = []
        for piece in pieces:
            model, w = self._estimator(route, X.shape), None if weights is None else weights[piece]
            model.set_params(solver="auto")
            enough = w is None and piece.size > max(2, X.shape[1])
            models.append(model.fit(X[piece]) if enough else model.partial_fit(X[piece], sample_weight=w))
        return models[0].merge(*models[1:]).set_params(solver=route.removeprefix("state:"))

    def others(self, X: Any) -> Any:
        """The rows that ``subtract`` takes off again: Gaussian about another mean, ``extra`` times as large."""
        n, d = X.shape
        rows = self.removed or min(n, d) + 2
        dense = np.asarray(X.toarray() if hasattr(X, "toarray") else X, np.float64)
        middle = dense.mean(axis=0)
        size = self.extra * np.maximum(np.abs(dense - middle).max(axis=0), np.abs(dense - middle).max() * 2.0**-20)
        rng = np.random.default_rng(self.seed + 3)
        E = middle + size * (rng.standard_normal((rows, d)) + rng.standard_normal(d))
        if np.dtype(self.dtype).kind in "iu":  # what lies beyond their range would wrap around to its other end
            low, high = (float(getattr(np.iinfo(self.dtype), end)) for end in ("min", "max"))
            E = np.clip(E, low, high if high < 2.0**53 else np.nextafter(high, 0.0))
        return E.astype(self.dtype)

    @property
    def _state(self) -> int:
        return self.seed if self.state is None else self.state

    def _estimator(self, route: str, shape: tuple[int, int]) -> Any:
        from ritz.methods.pca import PCA
        from ritz.methods.svd import SVD

        k = self.components(route, shape)
        asked = None if self.k is None and k == min(shape) else k
        solver = route.removeprefix("state:")
        if self.method == "SVD":
            more = {"mergeable": _bounded_name(route), "solver": "auto"} if route in BOUNDED else {"solver": solver}
            return on_device(SVD(asked, tol=self.tol, random_state=self._state, decay=self.decay, **more))
        options: dict[str, Any] = {"center": self.center, "scale": self.scale, "tol": self.tol, "decay": self.decay}
        options["mergeable"] = None if route in SOLVERS else _bounded_name(route) if route in BOUNDED else True
        solver = "auto" if route in BOUNDED or route == "stream" else solver
        return on_device(PCA(asked, solver=solver, random_state=self._state, **options))


def on_course(model: Any, route: str, products: int = 2) -> Any:
    """An estimator whose next fits take a route of ``CHANGES``, leaving their road after that many products."""
    planned, posed = model._plan, model._problem
    early = route.split("→")[0].endswith("32") and model.tol >= FLOAT32_TOL

    def plan(*given: Any) -> Any:
        made = planned(*given)
        if early and made.solver == "krylov":
            made = replace(made, precision="float32 then float64")
        if route == "refined":
            made = replace(made, solver="refined", side="columns", precision="float32 then float64")
        return replace(made, course=Course(turn=(products, "moments"))) if "→" in route else made

    model._plan = plan
    model._problem = lambda *given: replace(posed(*given), iterate=route == "iterated", early=early)
    return model


def _bounded_name(route: str) -> str:
    return "sketch" if route == "sketched" else "directions"


def _fitted(model: Any, X: Any, weights: Any) -> Any:
    return model.fit(X) if weights is None else model.fit(X, sample_weight=weights)


def _without_vectors(truth: Truth, r: int) -> Truth:
    """The truth of fewer distinct rows than columns: the eigenvalues that are left are zero."""
    zero = truth.total * 0
    return Truth((*truth.eigenvalues, *(zero,) * (r - len(truth.eigenvalues))), truth.total)


def _stacked(X: Any, E: Any) -> Any:
    if isinstance(X, np.ndarray):
        return np.concatenate([X, E])
    from scipy import sparse

    return sparse.vstack([X, sparse.csr_matrix(E)], format="csr")


@lru_cache(maxsize=1)
def _known(case: Case) -> Known | None:
    options: dict[str, Any] = {"cond": case.cond, "seed": case.seed, "dtype": case.dtype}
    if case.family == "reflected":
        return known_sparse(case.kind, case.n, case.d, **options)
    if case.family == "hadamard":
        return known_hadamard(case.kind, case.n, case.d, offset=int(case.offset), **options)
    if case.family == "integers":
        options["dtype"] = np.dtype(case.dtype)
        return known_integers(case.kind, case.n, case.d, offset=case.far, **options)
    if case.family == "wide":
        return known_wide(case.kind, case.n, case.d, offset=int(case.offset), **options)
    if case.family == "graph":
        return incidence(case.kind, case.n, dtype=case.dtype, transpose=case.center)
    return None
