"""The planner's choice beside every solver it could have chosen: ``python -m bench.planner [--quick] [--threads 2]``.

    X = Z diag(σ), Z Gaussian (dense rows turned by three reflections), or Gaussian entries at random places (sparse)

    fast       σⱼ = e^(−j/k)               clusters   levels a tenth apart, k/4 columns each
    slow       σⱼ = j^(−½)                 step       10 up to the k-th column, then 1
    flat       σⱼ = 1

200 tables from 50×4 to 1,000,000×768, sparse ones with 0.05 % to 20 % of entries, k from 1 to d. Each is fitted with
``solver="auto"`` and with every solver that applies, ``tol`` at its default, in processes of their own and in turns.
Processor seconds of one thread count: they suffer least on a busy machine; with ``--threads 2``, of a quiet one, those
of the clock, both libraries with as many threads. A fit is repeated until it has taken a quarter of a
second, one of more than half a second is not; a solver that takes twice as long as the best so far, or 1.1 times as
long as one of more than half a second, is cut off, one that takes 1.5 times as long is not repeated, and one that the
planner expects to take five times as long as its choice is not begun. The ratio is that of the choice to the fastest,
itself included, of those that reach the tolerance and, where the choice does, prove that no component was missed; a
route that was measured twice, as the choice and under its name, counts with its better time. What was measured is kept
in a file of results for each seed, and not measured again.

Peers: ARPACK by way of scikit-learn's TruncatedSVD with the same tolerance, its randomized solver, and of dense tables
its PCA by covariances, which takes sparse ones too, and by a dense SVD, which centre. One that is slower than the
fastest of them so far is cut off, and one that takes ten times as long as Ritz, or three times where ten would be more
than half a second; a dense SVD that would be so at the rate of products is not begun. A peer counts where it is as
accurate: residuals ‖Mv − θv‖ ≤ tol·θ₁ and values within tol·θ₁ of Ritz's. The fastest of those and the choice are
measured again in turns, unless one takes three times as long as the other. Where all were cut off, that limit counts.
"""

from __future__ import annotations

import argparse
import json
import math
import multiprocessing
import os
import resource
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import scipy.sparse as sp

import ritz
from ritz.data.passes import sparse_products
from ritz.spectral.plan import Shape, choose

__all__ = ["SPECTRA", "Table", "main", "make", "measure", "tables"]

ROOT = Path(__file__).resolve().parent.parent
SPECTRA = ("fast", "slow", "flat", "clusters", "step")
SOLVERS = ("moments", "krylov", "lanczos", "chebyshev", "svd")
WITHIN = 1.3
#: Times the best at which a solver is cut off, and is not repeated, and predicted ones at which it is not begun.
#: Of 187 solvers that were predicted to take five to twenty times as long as the choice none was faster, at best 1.2.
CUT, SLOW, SKIP = 2.0, 1.5, 5.0
#: The first of these where the best takes more than ONCE seconds, of which the first fit counts.
CUT_LONG = 1.1
#: Times Ritz at which a peer is cut off if that is not above LONG seconds, and if it is.
PEER_CUT, LONG_CUT, LONG = 10.0, 3.0, 0.5
#: The default of every Ritz solver: what a peer has to reach.
TOL = 1e-6
ALL, QUICK = 200, 40
#: Seconds after which a fit is not repeated any more, and of one fit that is not repeated at all.
TOGETHER, ONCE = 0.25, 0.5
#: Seconds of a fit by the choice above which it is not measured again as long as it is the fastest.
SAME = 0.1
#: Seconds of fits that are timed together.
BATCH = 0.04
#: The clock, and the timer that ends a process: of the processor, or, with several threads, of the wall.
CLOCK: dict[str, Any] = {"now": time.process_time, "timer": signal.ITIMER_PROF}
#: Times the other at which a peer and the choice are close, and how often they are measured again in turns then.
CLOSE, TURNS = 3.0, 2

DENSE = [
    (50, 4), (500, 20), (2_000, 100), (300, 300), (100, 3_000), (5_000, 500), (20_000, 200), (1_000, 1_000),
    (3_000, 1_500), (10_000, 2_000), (2_000, 8_000), (4_000, 4_000), (100_000, 100), (20_000, 5_000), (1_500, 30_000),
    (200_000, 784), (1_000_000, 100), (1_000_000, 768),
]  # fmt: skip
SPARSE = [
    (1_000, 300, 0.05), (5_000, 1_000, 0.01), (3_000, 3_000, 0.01), (20_000, 2_000, 0.1), (20_000, 10_000, 0.005),
    (10_000, 1_500, 0.2), (50_000, 5_000, 0.002), (100_000, 5_000, 0.01), (5_000, 40_000, 0.002),
    (100_000, 20_000, 0.0005), (200_000, 50_000, 0.0005), (30_000, 30_000, 0.001), (300_000, 1_000, 0.02),
]  # fmt: skip


@dataclass(frozen=True)
class Table:
    """One table with the number of components asked for."""

    n: int
    d: int
    k: int
    spectrum: str
    density: float | None = None
    dtype: str = "float64"

    @property
    def name(self) -> str:
        """The table in words."""
        stored = "dense" if self.density is None else f"{100 * self.density:g} %"
        return f"{self.n}×{self.d} {stored} {self.spectrum} k={self.k} {self.dtype}"

    @property
    def work(self) -> float:
        """Entries: how large it is."""
        return self.n * self.d * (1.0 if self.density is None else self.density)

    @property
    def shape(self) -> Shape:
        """What the planner sees of it."""
        stored = None if self.density is None else int(self.n * self.d * self.density)
        return Shape(self.n, self.d, 4 if self.dtype == "float32" else 8, stored)


def tables(seed: int = 0, *, quick: bool = False) -> list[Table]:
    """200 tables in a random order, every shape with every spectrum in turn; ``quick``: the small ones of them."""
    rng = np.random.default_rng(seed)
    found: list[Table] = []
    shapes, turn = [*DENSE, *SPARSE], 0
    while len(found) < ALL:
        for n, d, *density in shapes:
            r = min(n, d)
            choices = [1, 3, 10, 30, 50, 100, max(1, r // 10), max(1, r // 3), r]
            likely = [k for k in choices[:6] if k <= r // 4] or [1]
            large = n * d > 2e8
            k = int(rng.choice(likely if large or rng.random() < 0.75 else [k for k in choices if k <= r]))
            dtype = "float32" if n * d >= 5e8 or (not density and rng.random() < 0.25) else "float64"
            spectrum = SPECTRA[(turn + shapes.index((n, d, *density))) % len(SPECTRA)]
            table = Table(n, d, k, spectrum, density[0] if density else None, dtype)
            found += [] if table in found else [table]
        turn += 1
    found = [found[i] for i in rng.permutation(len(found))[:ALL]]
    return [table for table in found if not quick or _small(table)]


def _small(table: Table) -> bool:
    """Whether all solvers together take seconds."""
    r = min(table.n, table.d)
    return table.work <= 3e6 and r <= 3_000 and table.k <= 0.1 * r + 50


def sizes(table: Table) -> np.ndarray:
    """σ, (d,)."""
    j, k = np.arange(1, table.d + 1), table.k
    return {
        "fast": np.exp(-j / max(k, 2)) + 1e-6,
        "slow": j**-0.5,
        "flat": np.ones(table.d),
        "clusters": 0.9 ** (j // max(1, k // 4)) + 1e-3,
        "step": np.where(j <= k, 10.0, 1.0),
    }[table.spectrum]


def make(table: Table, seed: int = 0) -> Any:
    """The table itself."""
    rng = np.random.default_rng([seed, table.n, table.d, table.k])
    sigma = sizes(table).astype(table.dtype)
    if table.density is None:
        X = rng.standard_normal((table.n, table.d), np.dtype(table.dtype))
        X *= sigma
        for _ in range(3):
            v = rng.standard_normal(table.d).astype(table.dtype)
            v /= np.linalg.norm(v)
            for first in range(0, table.n, 65_536):  # a copy of the whole would take as much memory again
                some = X[first : first + 65_536]
                some -= np.multiply.outer(2 * (some @ v), v)
        return X
    X = sp.random_array((table.n, table.d), density=table.density, format="csr", rng=rng, dtype=np.dtype(table.dtype))
    X.data = rng.standard_normal(X.nnz).astype(table.dtype) * sigma[X.indices]
    return X


def measure(table: Table) -> dict[str, Any]:
    """Processor seconds of the choice and of every solver; None where one was cut off or not begun."""
    X = make(table)
    found: dict[str, Any] = {}
    chosen = _timed(X, table.k, "auto", math.inf)
    found["auto"], best = chosen, chosen["seconds"]
    shape = table.shape
    predicted = {name: _predicted(shape, table.k, name) for name in SOLVERS}
    for name in sorted(SOLVERS, key=lambda name: predicted[name]):
        reference = max(predicted.get(chosen["solver"], best), 1e-4)
        if predicted[name] > SKIP * reference or (name == "svd" and _too_large(table)):
            found[name] = None
            continue
        if name == chosen["solver"] and chosen["seconds"] > SAME and not chosen["left"]:
            found[name] = dict(chosen)  # the same route: what is short is measured once more
            continue
        found[name] = _timed(X, table.k, name, best)
        if found[name] is not None and _as_good(found[name], chosen):
            best = min(best, found[name]["seconds"])
    # In turns: once before the others, once after; where it is the fastest of long fits, that would change nothing.
    again = chosen if best >= chosen["seconds"] > SAME else _timed(X, table.k, "auto", math.inf)
    same = found.get(chosen["solver"]) or again  # where the same route was measured under its name
    same = same if _same(same, chosen) else again
    found["auto"]["seconds"] = min(chosen["seconds"], again["seconds"], same["seconds"])
    peers = measure_peers(table, X, found["auto"])
    in_turns(table, X, found["auto"], peers)
    best = min(best, found["auto"]["seconds"])
    return {
        "table": asdict(table), "times": found, "best": best, "ratio": found["auto"]["seconds"] / best, "peers": peers,
        "code": code(),
    }  # fmt: skip


def in_turns(table: Table, X: Any, ours: dict[str, Any], peers: dict[str, Any]) -> None:
    """Measure the choice and the fastest accurate peer again, one after the other, where one is close to the other."""
    accurate = [name for name, peer in peers.items() if peer is not None and peer["accurate"]]
    if not accurate:
        return
    name = min(accurate, key=lambda one: peers[one]["seconds"])
    run, peer = _peers(table)[name][0], peers[name]
    for _ in range(TURNS):
        if not 1 / CLOSE <= peer["seconds"] / ours["seconds"] <= CLOSE:
            return
        ours["seconds"] = min(ours["seconds"], _timed(X, table.k, "auto", math.inf)["seconds"])
        again = _forked(lambda pipe: _child(pipe, lambda: run(X), lambda _: {}, math.inf, CUT))
        peer["seconds"] = min(peer["seconds"], again["seconds"])


def _same(other: dict[str, Any], chosen: dict[str, Any]) -> bool:
    """Whether a solver under its name did what the choice did: where nothing else could be chosen, nothing is paid for
    the proof of an iteration that has none by itself.
    """
    return all(other[key] == chosen[key] for key in ("route", "proved")) and not chosen["left"]


def _as_good(other: dict[str, Any], chosen: dict[str, Any]) -> bool:
    """Whether a solver has the tolerance, and the proof that nothing was missed where the choice has it."""
    return bool(other["converged"]) and bool(other["proved"] or not chosen["proved"])


def measure_peers(table: Table, X: Any, ours: dict[str, Any]) -> dict[str, Any]:
    """Seconds and accuracy of other libraries; None where one was cut off."""
    found: dict[str, Any] = {}
    best = peer_limit(ours["seconds"])
    for name, (run, centred) in _peers(table).items():
        if name == "dense" and _dense_seconds(table) > best:
            found[name] = None
            continue
        found[name] = _forked(lambda pipe, run=run, best=best: _child(pipe, lambda: run(X), _read_peer, best, 1.2))
        if found[name] is None:
            continue
        sigma, V = found[name].pop("answer")
        off = _residual(X, sigma, V, centred)
        if not centred:  # the same problem
            off = max(off, float(np.max(np.abs(sigma**2 - np.square(ours["sigma"])))) / sigma[0] ** 2)
        found[name] |= {"off": off, "accurate": bool(off <= TOL)}
        if found[name]["accurate"]:
            best = min(best, found[name]["seconds"])
    ours.pop("sigma")
    return found


def peer_limit(ours: float) -> float:
    """Seconds at which a peer is cut off."""
    return max(LONG_CUT * ours, min(PEER_CUT * ours, LONG))


def _peers(table: Table) -> dict[str, tuple[Callable[[Any], Any], bool]]:
    """Fits of others, those that are likely to be fast first, and whether they centre."""
    from sklearn.decomposition import PCA, TruncatedSVD

    k, r = table.k, min(table.n, table.d)
    peers: dict[str, tuple[Callable[[Any], Any], bool]] = {}
    if table.d <= (5_000 if table.density is None else 2_000) or (k == r and table.d <= 5_000):
        peers["covariance"] = (lambda X: PCA(k, svd_solver="covariance_eigh").fit(X), True)
    if k < r:
        made = {"algorithm": "arpack", "tol": TOL}
        peers["arpack"] = (lambda X: TruncatedSVD(k, **made).fit(X), False)
        peers["randomized"] = (lambda X: TruncatedSVD(k, random_state=0).fit(X), False)
    if table.density is None and not _too_large(table):
        peers["dense"] = (lambda X: PCA(k, svd_solver="full").fit(X), True)
    return peers


def _residual(X: Any, sigma: np.ndarray, V: np.ndarray, centred: bool) -> float:
    """Largest ‖XᵀXv − σ²v‖ of unit vectors, rows of V, in units of σ₁²."""
    mean = X.mean(axis=0) if centred else None
    W, total = V.T.astype(np.float64), np.zeros(V.T.shape)
    for first in range(0, X.shape[0], 65_536):
        some = X[first : first + 65_536]
        B = some @ W if mean is None else some @ W - mean @ W
        total += some.T @ B if mean is None else some.T @ B - np.multiply.outer(mean, B.sum(axis=0))
    return float(np.max(np.linalg.norm(total - W * sigma**2, axis=0))) / float(sigma[0]) ** 2


def _dense_seconds(table: Table) -> float:
    """Of a dense SVD on one core, at the rate of products: from below."""
    return 2 * choose(table.shape, table.k, solver="svd").seconds / (2 if table.dtype == "float32" else 1)


def _too_large(table: Table) -> bool:
    return table.n * table.d > 4e7 or min(table.n, table.d) > 3_000


def _predicted(shape: Shape, k: int, solver: str) -> float:
    if solver == "moments" and shape.small > 20_000:
        return float("inf")
    return choose(shape, k, solver=solver).seconds


def _timed(X: Any, k: int, solver: str, best: float) -> Any:
    """The fastest of some fits by a solver; None where it took CUT times ``best`` seconds."""
    return _forked(lambda pipe: _child(pipe, lambda: ritz.SVD(k, solver=solver).fit(X), _read_ritz, best, CUT))


def _forked(work: Callable[[Any], None]) -> Any:
    """What a process that shares the table sends; None where it was ended."""
    here, there = multiprocessing.get_context("fork").Pipe(duplex=False)
    process = multiprocessing.get_context("fork").Process(target=work, args=(there,))
    process.start()
    there.close()
    try:
        found = here.recv()
    except EOFError:  # its clock ended it: too many seconds of processor time
        found = None
    process.join()
    return found


def _child(pipe: Any, fit: Callable[[], Any], read: Callable[[Any], dict[str, Any]], best: float, cut: float) -> None:
    """Time a fit: cut off at ``cut`` times the best so far, and repeated only where it is about as fast."""
    warnings.simplefilter("ignore")
    if best < math.inf:
        cut = min(cut, CUT_LONG) if best > ONCE else cut
        signal.setitimer(CLOCK["timer"], max(cut * best, 2 * BATCH))  # ends the process
    now = CLOCK["now"]
    start = now()
    model = fit()
    first = now() - start
    signal.setitimer(CLOCK["timer"], 0)
    seconds: list[float] = [first] if first > ONCE else []
    many = 1
    while first <= ONCE and len(seconds) < 7 and sum(seconds) * many < TOGETHER:
        if len(seconds) > 1 and min(seconds) > SLOW * best:
            break
        start = now()
        for _ in range(many):
            model = fit()
        taken = now() - start
        if taken < BATCH:  # the clock of a process may tick seldom
            many *= 2 if taken > BATCH / 4 else 4
        else:
            seconds.append(taken / many)
    pipe.send({"seconds": min(seconds), **read(model)})
    pipe.close()


def _read_ritz(model: Any) -> dict[str, Any]:
    plan = model.plan_
    return {
        "solver": plan.solver, "predicted": plan.seconds, "sigma": np.asarray(model.singular_values_).tolist(),
        "route": f"{plan.solver} on the {plan.side}, {plan.precision}", "left": "was planned" in str(plan),
        "passes": plan.actual_passes, "converged": bool(model.certificate_.converged), "reasons": list(plan.reasons),
        "proved": bool(model.certificate_.labelled.all()),
    }  # fmt: skip


def _read_peer(model: Any) -> dict[str, Any]:
    return {"answer": (np.asarray(model.singular_values_, np.float64), model.components_)}


def warm() -> None:
    """Fit something by every solver, dense and sparse, so that no measurement pays for what is imported then."""
    X = make(Table(60, 40, 3, "slow"))
    for rows in (X, sp.csr_array(X), X.astype(np.float32)):
        for solver in SOLVERS:
            ritz.SVD(3, solver=solver).fit(rows)
    for run, _ in _peers(Table(60, 40, 3, "slow")).values():
        run(X)
    sparse_products._made = sparse_products.ENOUGH  # compiled loops are loaded by long fits, which are not repeated
    for dtype in (np.float32, np.float64):
        rows = sp.csr_array(np.ones((100, 100), dtype))
        for width in (8, 16):
            block = np.ones((100, width), dtype)
            for product in (sparse_products.csr_matvecs, sparse_products.csc_matvecs):
                product(100, 100, width, rows.indptr, rows.indices, rows.data, block.ravel(), block.copy().ravel())
    sparse_products.tiles_pay(sp.csr_array(np.ones((100, 100))))
    for dtype in (np.float32, np.float64):
        rows, v = sp.csr_array(np.ones((100, 100), dtype)), np.ones(100, dtype)
        if (product := sparse_products.normal(rows.indptr, rows.indices, rows.data)) is not None:
            product(v, v[0], v.copy(), v.copy())
    ritz.SVD(3, solver="moments").fit(
        sp.random_array((3_000, 400), density=0.05, format="csr", rng=np.random.default_rng(0))
    )


def code() -> str:
    """What of the repository was measured: the state of its source, as Git knows it."""
    told = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD:src"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return told.stdout.strip()


def shown(table: Table, found: dict[str, Any]) -> str:
    """One line: the ratio, the choice, the fastest, and what each took."""
    times = found["times"]
    cells = [
        f"{name} {'–' if times[name] is None else format(times[name]['seconds'], '.3g')}"
        + ("" if times[name] is None or _as_good(times[name], times["auto"]) else "!")
        for name in times
    ]
    others = [
        f"{name} {'–' if peer is None else format(peer['seconds'], '.3g')}"
        + ("" if peer is None or peer["accurate"] else "!")
        for name, peer in found["peers"].items()
    ]
    flag = " " if found["ratio"] <= WITHIN else "*"
    return (
        f"{flag}{found['ratio']:5.2f}  {table.name:<48} {times['auto']['solver']:<10} {', '.join(cells)}; "
        f"peers {', '.join(others)}"
    )


def ahead(found: dict[str, Any]) -> tuple[float, bool]:
    """How many times longer the fastest peer of as many digits takes, and whether there was one."""
    ours = found["times"]["auto"]["seconds"]
    seconds = [peer["seconds"] for peer in found["peers"].values() if peer is not None and peer["accurate"]]
    return min([*seconds, peer_limit(ours)]) / ours, bool(seconds)


def summary(measured: list[tuple[Table, dict[str, Any]]]) -> str:
    """The share within 1.3, the worst tables, and how far ahead of the best peer."""
    ratios = np.array([found["ratio"] for _, found in measured])
    lines = [
        f"{len(ratios)} tables: {np.mean(ratios <= WITHIN):.1%} within {WITHIN} of the fastest solver, 95 % was asked "
        f"for; geometric mean {np.exp(np.mean(np.log(ratios))):.3f}, at worst {ratios.max():.2f}",
        *(f"  {shown(*measured[i])}" for i in np.argsort(-ratios)[:12] if ratios[i] > WITHIN),
    ]
    against = [ahead(found) for _, found in measured]
    factors = np.array([factor for factor, _ in against])
    lines.append(
        f"the fastest peer of as many digits takes {np.exp(np.mean(np.log(factors))):.2f} times as long (geometric "
        f"mean; tables without one count {PEER_CUT:g}, or {LONG_CUT:g} where fits are long: there are "
        f"{sum(not there for _, there in against)}); Ritz is slower than 1.2 times it on {np.sum(factors < 1 / 1.2)}"
    )
    now = code()
    lines.append(f"{sum(found.get('code') == now for _, found in measured)} of them were measured with this code")
    behind = [i for i in np.argsort(factors)[:12] if factors[i] < 1 / 1.2]
    lines += [f"  {1 / factors[i]:5.2f}  {shown(*measured[i])}" for i in behind]
    return "\n".join(lines)


def main(arguments: list[str] | None = None) -> int:
    """Measure, print a line a table and the share within 1.3 of the fastest."""
    parser = argparse.ArgumentParser(prog="python -m bench.planner", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help=f"at most {QUICK} small tables, under three minutes")
    parser.add_argument("--count", type=int, help="how many tables, a random part of the 200")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="tables whose name contains this")
    parser.add_argument("--least", type=float, default=0.0, help="entries of a table at least")
    parser.add_argument("--most", type=float, default=float("inf"), help="entries of a table at most")
    parser.add_argument("--ascending", action="store_true", help="the smallest tables first")
    parser.add_argument("--known", action="store_true", help="only tables that were measured before")
    parser.add_argument("--threads", type=int, default=1, help="of both libraries; above 1 the wall's clock counts")
    parser.add_argument("--again", action="store_true", help="measure what was measured with other code once more")
    options = parser.parse_args(arguments)
    if options.threads > 1:
        _threaded(options.threads, sys.argv[1:] if arguments is None else arguments)
    folder = ROOT / "bench" / "results"
    folder.mkdir(exist_ok=True)
    file = folder / f"planner-{options.seed}{'' if options.threads == 1 else f'-{options.threads}'}.jsonl"
    before = _read(file) if file.exists() else {}
    if options.again:
        before = {name: found for name, found in before.items() if found.get("code") == code()}
    listed = tables(options.seed, quick=options.quick)
    chosen = (
        table for table in (sorted(listed, key=lambda table: table.work) if options.ascending else listed)
        if options.only in table.name and options.least <= table.work <= options.most
        and (table.name in before or not options.known)
    )  # fmt: skip
    warm()
    measured, begin = [], time.process_time()
    for table in islice(chosen, options.count or (QUICK if options.quick else None)):
        found = before.get(table.name)
        if found is None:
            found = measure(table)
            with file.open("a") as lines:
                lines.write(json.dumps(found) + "\n")
        measured.append((table, found))
        print(shown(table, found), flush=True)
    if not measured:
        print("no table was asked for")
        return 1
    print(summary(measured))
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"{time.process_time() - begin + usage.ru_utime + usage.ru_stime:.0f} s of processor time")
    return int(np.mean([found["ratio"] <= WITHIN for _, found in measured]) < 0.95)


def _threaded(threads: int, arguments: list[str]) -> None:
    """Go on with so many threads, which BLAS has to be told before it is loaded, and with the clock of the wall."""
    asked = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"), str(threads))
    if any(os.environ.get(name) != many for name, many in asked.items()):
        os.execve(sys.executable, [sys.executable, "-m", "bench.planner", *arguments], {**os.environ, **asked})
    CLOCK.update(now=time.perf_counter, timer=signal.ITIMER_REAL)


def _read(file: Path) -> dict[str, Any]:
    """What was measured before, by the name of the table."""
    lines = [json.loads(line) for line in file.read_text().splitlines() if line.strip()]
    return {Table(**line["table"]).name: line for line in lines}


if __name__ == "__main__":
    sys.exit(main())
