"""The planner's choice beside every solver it could have chosen: ``python -m bench.planner [--quick] [--threads 2]``.

    ratio = T(choice) / T(fastest solver)        ahead = T(fastest peer) / T(choice)

200 tables from 50×4 to 1,000,000×768, sparse ones with 0.05 % to 20 % of entries, five spectra, k from 1 to d
(``planner_tables.py``). Each is fitted with ``solver="auto"`` and with every solver that applies, ``tol`` at its
default, in processes of their own and in turns. Processor seconds of one thread count: they suffer least on a busy
machine; with ``--threads 2``, of a quiet one, those of the clock, both libraries with as many threads. A fit is
repeated until it has taken a quarter of a second, one of more than half a second is not; a solver that takes twice as
long as the best so far, or 1.1 times as long as one of more than half a second, is cut off, one that takes 1.5 times as
long is not repeated, and one that the planner expects to take five times as long as its choice is not begun. The ratio
is that of the choice to the fastest, itself included, of those that reach the tolerance and, where the choice does,
prove that no component was missed; a route that was measured twice, as the choice and under its name, counts with its
better time. What was measured is kept in a file of results for each seed, and not measured again.

Peers (``planner_peers.py``): one that is slower than the fastest of them so far is cut off, and one that takes ten
times as long as Ritz, or three times where ten would be more than a minute; a dense SVD that would be so at the rate of
products is not begun. Two of them are told of: the fastest that reaches the tolerance, which most direct answers of
Ritz exceed by far, and the fastest whose answer has as many digits as that of Ritz. Both and the choice are measured
again in turns, unless one takes three times as long as the other. Where all were cut off, that limit counts.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import resource
import signal
import subprocess
import sys
import time
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import scipy.sparse as sp

import ritz
from bench.planner_peers import LONG_CUT, PEER_CUT, fastest, in_turns, measure_peers, peer_limit, peers_of, too_large
from bench.planner_tables import SPECTRA, Table, drawn, make, tables
from bench.planner_timed import CLOCK, CUT, forked, timed
from ritz.data.passes.sparse import products as sparse_products
from ritz.spectral.plan import Shape, choose

__all__ = ["SPECTRA", "Table", "main", "make", "measure", "tables"]

ROOT = Path(__file__).resolve().parent.parent
SOLVERS = ("moments", "krylov", "lanczos", "chebyshev", "svd")
WITHIN = 1.3
#: Times the choice that the planner predicts at which a solver is not begun. Of 187 solvers that were predicted to take
#: five to twenty times as long none was faster, at best 1.2.
SKIP = 5.0
#: Tables of a quick run at most.
QUICK = 40
#: Seconds of a fit by the choice above which it is not measured again as long as it is the fastest.
SAME = 0.1


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
        if predicted[name] > SKIP * reference or (name == "svd" and too_large(table)):
            found[name] = None
            continue
        if name == chosen["solver"] and chosen["seconds"] > SAME and not chosen["left"]:
            found[name] = {key: chosen[key] for key in chosen if key != "answer"}  # the same route: once is enough
            continue
        found[name] = _timed(X, table.k, name, best)
        if found[name] is not None and _as_good(found[name], chosen):
            best = min(best, found[name]["seconds"])
    # In turns: once before the others, once after; where it is the fastest of long fits, that would change nothing.
    again = chosen if best >= chosen["seconds"] > SAME else _timed(X, table.k, "auto", math.inf)
    same = found.get(chosen["solver"]) or again  # where the same route was measured under its name
    same = same if _same(same, chosen) else again
    found["auto"]["seconds"] = min(chosen["seconds"], again["seconds"], same["seconds"])
    beside = _beside(table, X, found["auto"])
    best = min(best, found["auto"]["seconds"])
    ratio = found["auto"]["seconds"] / best
    return {"table": asdict(table), "times": found, "best": best, "ratio": ratio, **beside, "code": code()}


def _beside(table: Table, X: Any, ours: dict[str, Any]) -> dict[str, Any]:
    """Peers, and the seconds at which they were cut off."""
    limit = peer_limit(ours["seconds"])
    peers = measure_peers(table, X, ours)
    in_turns(table, X, ours, peers, lambda: _timed(X, table.k, "auto", math.inf))
    return {"peers": peers, "limit": limit}


def measure_further(table: Table, found: dict[str, Any]) -> dict[str, Any]:
    """Peers once more where all of them were cut off sooner than they would be now."""
    ours = found["times"]["auto"]
    begun = set(peers_of(table)) <= set(found["peers"])
    if ahead(found, "equal")[1] or (begun and _limit(found) >= 0.9 * peer_limit(ours["seconds"])):
        return found
    X = make(table)
    again = _timed(X, table.k, "auto", math.inf)
    ours |= {"answer": again["answer"], "seconds": min(ours["seconds"], again["seconds"])}
    return found | _beside(table, X, ours)


def _same(other: dict[str, Any], chosen: dict[str, Any]) -> bool:
    """Whether a solver under its name did what the choice did: where nothing else could be chosen, nothing is paid for
    the proof of an iteration that has none by itself.
    """
    return all(other[key] == chosen[key] for key in ("route", "proved")) and not chosen["left"]


def _as_good(other: dict[str, Any], chosen: dict[str, Any]) -> bool:
    """Whether a solver has the tolerance, and the proof that nothing was missed where the choice has it."""
    return bool(other["converged"]) and bool(other["proved"] or not chosen["proved"])


def _predicted(shape: Shape, k: int, solver: str) -> float:
    if solver == "moments" and shape.small > 20_000:
        return float("inf")
    return choose(shape, k, solver=solver).seconds


def _timed(X: Any, k: int, solver: str, best: float) -> Any:
    """The fastest of some fits by a solver; None where it took CUT times ``best`` seconds."""
    found = forked(lambda pipe: timed(pipe, lambda: ritz.SVD(k, solver=solver).fit(X), _read_ritz, best, CUT))
    if solver != "auto" and found is not None:
        found.pop("answer")  # what is compared with peers is the choice
    return found


def _read_ritz(model: Any) -> dict[str, Any]:
    plan = model.plan_
    return {
        "solver": plan.solver, "predicted": plan.seconds, "answer": (model.singular_values_, model.components_),
        "route": f"{plan.solver} on the {plan.side}, {plan.precision}", "left": "was planned" in str(plan),
        "passes": plan.actual_passes, "converged": bool(model.certificate_.converged), "reasons": list(plan.reasons),
        "proved": bool(model.certificate_.labelled.all()),
    }  # fmt: skip


def warm() -> None:
    """Fit something by every solver, dense and sparse, so that no measurement pays for what is imported then."""
    X = make(Table(60, 40, 3, "slow"))
    for rows in (X, sp.csr_array(X), X.astype(np.float32)):
        for solver in SOLVERS:
            ritz.SVD(3, solver=solver).fit(rows)
    for run, _ in peers_of(Table(60, 40, 3, "slow")).values():
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
    """One line: the ratio, the choice, the fastest, and what each took, with its error where it was measured."""
    times = found["times"]
    cells = [_cell(name, one, one is None or _as_good(one, times["auto"])) for name, one in times.items()]
    others = [_cell(name, peer, peer is None or peer["accurate"]) for name, peer in found["peers"].items()]
    flag = " " if found["ratio"] <= WITHIN else "*"
    return (
        f"{flag}{found['ratio']:5.2f}  {table.name:<48} {times['auto']['solver']:<10} {', '.join(cells)}; "
        f"peers {', '.join(others)}"
    )


def _cell(name: str, one: dict[str, Any] | None, good: bool) -> str:
    """Seconds and error; a dash where one was cut off or not begun, a mark where it is not as good as the choice."""
    if one is None:
        return f"{name} –"
    error = f" ({one['off']:.0e})" if "off" in one else ""
    return f"{name} {one['seconds']:.3g}{error}{'' if good else '!'}"


def ahead(found: dict[str, Any], count: str = "accurate") -> tuple[float, bool]:
    """How many times longer the fastest peer takes that counts, and whether there was one."""
    ours = found["times"]["auto"]["seconds"]
    name = fastest(found["peers"], count)
    return (_limit(found) if name is None else found["peers"][name]["seconds"]) / ours, name is not None


def _limit(found: dict[str, Any]) -> float:
    """Seconds at which the peers of a table were cut off."""
    return float(found["limit"]) if "limit" in found else LONG_CUT * float(found["times"]["auto"]["seconds"])


def summary(measured: list[tuple[Table, dict[str, Any]]]) -> str:
    """The share within 1.3, the worst tables, and how far ahead of the best peer."""
    ratios = np.array([found["ratio"] for _, found in measured])
    lines = [
        f"{len(ratios)} tables: {np.mean(ratios <= WITHIN):.1%} within {WITHIN} of the fastest solver, 95 % was asked "
        f"for; geometric mean {np.exp(np.mean(np.log(ratios))):.3f}, at worst {ratios.max():.2f}",
        *(f"  {shown(*measured[i])}" for i in np.argsort(-ratios)[:12] if ratios[i] > WITHIN),
    ]
    kinds = {"accurate": "that reaches the tolerance", "equal": "of as many digits as Ritz"}
    for count, words in kinds.items():
        against = [ahead(found, count) for _, found in measured]
        factors = np.array([factor for factor, _ in against])
        lines.append(
            f"the fastest peer {words} takes {np.exp(np.mean(np.log(factors))):.2f} times as long (geometric mean; "
            f"tables without one count as the limit, {LONG_CUT:g} to {PEER_CUT:g} times Ritz: there are "
            f"{sum(not there for _, there in against)}); Ritz is slower than 1.2 times it on "
            f"{np.sum(factors < 1 / 1.2)}"
        )
        behind = [i for i in np.argsort(factors)[:12] if factors[i] < 1 / 1.2]
        lines += [f"  {1 / factors[i]:5.2f}  {shown(*measured[i])}" for i in behind]
    now = code()
    lines.append(f"{sum(found.get('code') == now for _, found in measured)} of them were measured with this code")
    return "\n".join(lines)


def main(arguments: list[str] | None = None) -> int:
    """Measure, print a line a table and the share within 1.3 of the fastest."""
    parser = argparse.ArgumentParser(prog="python -m bench.planner", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help=f"at most {QUICK} small tables, under three minutes")
    parser.add_argument("--count", type=int, help="how many tables, a random part of the 200")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--drawn", action="store_true", help="200 other tables, of shapes drawn at random")
    parser.add_argument("--only", default="", help="tables whose name contains this")
    parser.add_argument("--least", type=float, default=0.0, help="entries of a table at least")
    parser.add_argument("--most", type=float, default=float("inf"), help="entries of a table at most")
    parser.add_argument("--ascending", action="store_true", help="the smallest tables first")
    parser.add_argument("--known", action="store_true", help="only tables that were measured before")
    parser.add_argument("--threads", type=int, default=1, help="of both libraries; above 1 the wall's clock counts")
    parser.add_argument("--peers", action="store_true", help="go on with peers that were cut off sooner than now")
    parser.add_argument("--again", action="store_true", help="measure what was measured with other code once more")
    options = parser.parse_args(arguments)
    if options.threads > 1:
        _threaded(options.threads, sys.argv[1:] if arguments is None else arguments)
    folder = ROOT / "bench" / "results"
    folder.mkdir(exist_ok=True)
    name = f"planner-{'drawn-' if options.drawn else ''}{options.seed}"
    file = folder / f"{name}{'' if options.threads == 1 else f'-{options.threads}'}.jsonl"
    before = _read(file) if file.exists() else {}
    if options.again:
        before = {name: found for name, found in before.items() if found.get("code") == code()}
    listed = (drawn if options.drawn else tables)(options.seed, quick=options.quick)
    chosen = (
        table for table in (sorted(listed, key=lambda table: table.work) if options.ascending else listed)
        if options.only in table.name and options.least <= table.work <= options.most
        and (table.name in before or not options.known)
    )  # fmt: skip
    warm()
    measured, begin = [], time.process_time()
    for table in islice(chosen, options.count or (QUICK if options.quick else None)):
        known = before.get(table.name)
        found = measure(table) if known is None else measure_further(table, known) if options.peers else known
        if found is not known:
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
