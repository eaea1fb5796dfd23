"""How far ahead Ritz could be at all on the tables of ``bench.planner``: ``python -m bench.planner_floor``.

    floor    direct     one symmetric product (BLAS; sparse rows: SciPy's product) and the k leading pairs of the
                        result, by LAPACK or ARPACK, whichever takes less
             iterated   the products with which the fit's own chain or block found its answer, as plain calls in the
                        precision of that chain: nothing orthonormal, nothing measured, nothing proved

Of every table that was measured and had a peer of as many digits as Ritz, that peer, Ritz and the floor are timed in
turns in processor seconds of one thread, the least of a few. What is told of a class are geometric means: the peer's
time over Ritz's, which is reached, over the floor, which no route could exceed, and Ritz's over the floor. ``--most``
limits the entries of a table, ``--least`` those from below.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import scipy.linalg
from scipy.sparse.linalg import eigsh

import ritz
from bench import planner
from bench.planner_peers import fastest, peers_of
from bench.planner_tables import Table

__all__ = ["floor_of", "main"]

#: Seconds of calls that are timed together, and turns.
BATCH, TURNS = 0.03, 4
#: Share of pairs up to which ARPACK is tried beside LAPACK.
FEW = 0.1


@contextmanager
def counted() -> Iterator[dict[tuple[int, str], int]]:
    """Count the products of chains and blocks, by columns and precision, while the block runs; no search, no finish."""
    from ritz.spectral.solvers import chain, strand
    from ritz.spectral.subspace import Subspace

    seen: dict[tuple[int, str], int] = {}
    single, block, space = strand.Strand.extend, chain.Chain.extend, Subspace.extend

    def note(columns: int, dtype: Any) -> None:
        key = (columns, np.dtype(dtype).name)
        seen[key] = seen.get(key, 0) + 1

    def extend_single(self: Any) -> bool:
        if self.first == 0:  # one that stays outside of what was found searches for what was missed
            note(1, self.dtype)
        return single(self)

    def extend_block(self: Any, Q: Any, W: Any) -> Any:
        note(Q.shape[1], self.dtype)
        return block(self, Q, W)

    def extend_space(self: Any, Q: Any, MQ: Any, **options: Any) -> None:
        if self._MV is None or not self.narrow:
            note(Q.shape[1], self._float)
        space(self, Q, MQ, **options)

    strand.Strand.extend, chain.Chain.extend = extend_single, extend_block  # type: ignore[method-assign]
    Subspace.extend = extend_space  # type: ignore[method-assign]
    try:
        yield seen
    finally:
        strand.Strand.extend, chain.Chain.extend = single, block  # type: ignore[method-assign]
        Subspace.extend = space  # type: ignore[method-assign]


def floor_of(
    table: Table, X: Any, model: Any, products: dict[tuple[int, str], int]
) -> list[tuple[float, Callable[[], Any]]]:
    """Calls and how often each counts."""
    if model.plan_.solver in ("moments", "svd"):
        return _direct(table, X)
    found: list[tuple[float, Callable[[], Any]]] = []
    chained = {key: times for key, times in products.items() if key[0] == 1} or products
    for (columns, dtype), times in chained.items():
        held = X.astype(dtype)
        V = np.ones((table.d, columns), dtype)[:, 0] if columns == 1 else np.ones((table.d, columns), dtype)
        U, turned = held @ V, held.T
        found += [(times, lambda held=held, V=V: held @ V), (times, lambda turned=turned, U=U: turned @ U)]
    return found


def _direct(table: Table, X: Any) -> list[tuple[float, Callable[[], Any]]]:
    wide = X.T if table.n < table.d else X
    if table.density is None:
        syrk = scipy.linalg.get_blas_funcs("syrk", (X,))
        turned = wide.T if wide.flags.c_contiguous else wide  # column by column, as BLAS wants it
        trans = int(turned is wide)
        product: Callable[[], Any] = lambda: syrk(1.0, turned, trans=trans)  # noqa: E731
        G = np.asarray(wide.T @ wide, np.float64)
    else:
        product = lambda: wide.T @ wide  # noqa: E731
        G = np.asarray((wide.T @ wide).toarray(), np.float64)
    p, k = len(G), min(table.k, min(table.n, table.d))
    solve: list[Callable[[], Any]] = [
        (lambda: np.linalg.eigh(G)) if k > p // 5 else lambda: scipy.linalg.eigh(G, subset_by_index=(p - k, p - 1))
    ]
    if k <= FEW * p:
        solve.append(lambda: eigsh(G, k, v0=np.ones(p)))
    return [(1.0, product), (1.0, min(solve, key=_seconds))]


def _seconds(call: Callable[[], Any]) -> float:
    """Processor seconds of a call: of as many as take BATCH together."""
    start = time.process_time()
    call()
    first = time.process_time() - start
    if first >= BATCH:
        return first
    many = max(1, int(BATCH / max(first, 1e-5)))
    start = time.process_time()
    for _ in range(many):
        call()
    return (time.process_time() - start) / many


def measured(table: Table, peer: str) -> tuple[float, float, float]:
    """Seconds of the peer, of Ritz and of the floor."""
    X = planner.make(table)
    run = peers_of(table)[peer][0]
    with counted() as products:
        model = ritz.SVD(table.k).fit(X)
    calls = floor_of(table, X, model, products)
    least = [np.inf] * (2 + len(calls))
    for _ in range(TURNS):
        each = [lambda: run(X), lambda: ritz.SVD(table.k).fit(X), *(call for _, call in calls)]
        least = [min(one, _seconds(call)) for one, call in zip(least, each, strict=True)]
        if least[0] > 1:
            break
    floor = sum(times * seconds for (times, _), seconds in zip(calls, least[2:], strict=True))
    return least[0], least[1], floor


def kind(table: Table, solver: str) -> str:
    """The class of a table."""
    size = "below 10⁵" if table.work < 1e5 else "10⁵ to 10⁷" if table.work < 1e7 else "10⁷ and more"
    route = "direct" if solver in ("moments", "svd") else "iterated"
    return f"{'dense' if table.density is None else 'sparse'}, {size} entries, {route}"


def main(arguments: list[str] | None = None) -> int:
    """Measure, and print a line a table and a table of classes."""
    parser = argparse.ArgumentParser(prog="python -m bench.planner_floor", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--most", type=float, default=5e6, help="entries of a table at most")
    parser.add_argument("--least", type=float, default=0.0, help="entries of a table at least")
    parser.add_argument("--only", default="", help="tables whose name contains this")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    file = planner.ROOT / "bench" / "results" / f"planner-{options.seed}.jsonl"
    if not file.exists():
        print("python -m bench.planner has to be run first")
        return 1
    known = planner._read(file)
    warnings.simplefilter("ignore")
    planner.warm()
    rows: dict[str, list[tuple[float, float, float]]] = {}
    for table in planner.tables(options.seed):
        found = known.get(table.name)
        if found is None or options.only not in table.name or not options.least <= table.work <= options.most:
            continue
        peer = fastest(found["peers"], "equal")
        if peer is None:
            continue
        seconds = measured(table, peer)
        rows.setdefault(kind(table, found["times"]["auto"]["solver"]), []).append(seconds)
        ms = ", ".join(f"{1e3 * one:.3g}" for one in seconds)
        print(f"{table.name:<48} {peer:<10} peer, Ritz and floor {ms} ms", flush=True)
    together = {"all of these": [seconds for some in rows.values() for seconds in some]} if rows else {}
    for name, some in (dict(sorted(rows.items())) | together).items():
        peer_s, ritz_s, floor_s = (np.log(np.array(some)).mean(axis=0)).tolist()
        print(
            f"| {name} | {len(some)} | {np.exp(peer_s - ritz_s):.2f} | {np.exp(peer_s - floor_s):.2f} | "
            f"{np.exp(ritz_s - floor_s):.2f} |"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
