"""Thousands of fits against the truth: ``python -m ritz.testing.certify [--all] [--count N] [--seed S]``.

    problem = (case, solver);    violation = a claim of ``certificate_`` that the true spectrum refutes

The truth of a matrix is computed once and serves all solvers. A certified enclosure may never fail, also when
its label holds only with probability 1 − 1e-9. Enclosures that are estimates say how often they hold: their
misses are counted and compared with that share. The exit status is 1 if there is any violation.

    --case I --solver NAME     one problem again, with its findings
    --device cuda              fits on a graphics processor; torch:cpu: the code of devices without one
    --changes                  every change of course in every case, instead of all routes with one of them
    --adverse                  only those that break an assumption about rounding (numbers from 1,000,000)
"""

from __future__ import annotations

import argparse
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from itertools import islice
from multiprocessing import get_context
from typing import Any

import numpy as np

from ritz.testing.certify.cases import ADVERSE_FROM, adverse_cases, cases, is_hard
from ritz.testing.certify.checks import Finding, Subject, examine, guesses, misses, ratios
from ritz.testing.certify.counts import CountCase, examine_counts
from ritz.testing.certify.device import choose_device
from ritz.testing.certify.kernels import KernelCase, examine_kernel
from ritz.testing.certify.problem import ROUTES, SOLVERS, Case
from ritz.testing.certify.smallest import SmallestCase, examine_smallest

__all__ = ["Record", "main", "run_case", "summarise"]

ALL = 4900
FEW = 210
#: Adverse problems beside them.
ADVERSE_ALL, ADVERSE_FEW = 5600, 70

EXAMINE: dict[type, Callable[[Subject], list[Finding]]] = {
    Case: examine,
    CountCase: examine_counts,
    KernelCase: examine_kernel,
    SmallestCase: examine_smallest,
}


@dataclass(frozen=True)
class Record:
    """What became of one problem."""

    number: int
    case: Any  # Case, or one of the other kinds of EXAMINE
    solver: str
    findings: tuple[Finding, ...] = ()
    tightness: tuple[float, ...] = ()
    components: int = 0
    labelled: int = 0
    converged: bool = False
    estimate: bool = False
    missed: int = 0
    stated: float = 1.0
    seconds: float = 0.0


@dataclass
class Tally:
    """The line of one solver."""

    problems: int = 0
    violations: int = 0
    components: int = 0
    labelled: int = 0
    converged: int = 0
    missed: int = 0
    estimated: int = 0
    seconds: float = 0.0
    tightness: list[float] = field(default_factory=list)


def run_case(number: int, case: Any, routes: Iterable[str] | None = None, changes: bool = False) -> list[Record]:
    """Fit one case by every route, or by every change of course, and hold the answers against its truth."""
    taken = getattr(case, "changes", ()) if changes else case.routes
    taken = [route for route in taken if routes is None or route in routes]
    if not taken:
        return []
    X = case.data()
    try:
        truth = case.truth()
    except ArithmeticError as error:  # the reference could not be proved: nothing can be said about this matrix
        print(f"--case {number} {case}: no truth, left out ({error})", file=sys.stderr)
        return []
    return [_run(number, case, route, X, truth) for route in taken]


def _run(number: int, case: Any, solver: str, X: Any, truth: Any) -> Record:
    start = time.perf_counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = case.fit(solver, X)
            certificate = model.certificate_
    except Exception as error:  # noqa: BLE001  every case is a fair question: no answer is a finding
        words = f"{type(error).__name__}: {error}".splitlines()[0]
        return Record(number, case, solver, (Finding("error", -1, words),))
    seconds = time.perf_counter() - start
    subject = Subject(case, solver, model, X, truth)
    with np.errstate(all="ignore"):
        findings = tuple(EXAMINE[type(case)](subject))
    estimate = guesses(subject)
    return Record(
        number,
        case,
        solver,
        findings,
        tuple(ratios(subject)),
        components=len(certificate.values),
        labelled=int(np.sum(certificate.labelled)),
        converged=bool(certificate.converged),
        estimate=estimate,
        missed=len(misses(subject)) if estimate else 0,
        stated=float(certificate.probability),
        seconds=seconds,
    )


def summarise(records: Sequence[Record]) -> tuple[str, int]:
    """The table, and the number of violations."""
    tallies: dict[str, Tally] = {}
    for r in records:
        t = tallies.setdefault(r.solver, Tally())
        t.problems += 1
        t.violations += bool(r.findings)
        t.components += r.components
        t.labelled += r.labelled
        t.converged += r.converged
        t.missed += r.missed
        t.estimated += r.components if r.estimate else 0
        t.seconds += r.seconds
        t.tightness += r.tightness
    head = f"{'solver':<15}{'problems':>9}{'violations':>11}{'converged':>10}"
    lines = [head + f"{'labelled':>9}{'width/error':>12}{'missed estimates':>18}{'seconds':>9}"]
    for name, t in tallies.items():
        share = t.labelled / t.components if t.components else 0.0
        tight = float(np.median(t.tightness)) if t.tightness else float("nan")
        estimates = f"{t.missed}/{t.estimated}" if t.estimated else "-"
        line = f"{name:<15}{t.problems:>9}{t.violations:>11}{t.converged:>10}"
        lines.append(line + f"{share:>9.0%}{tight:>12.3g}{estimates:>18}{t.seconds:>9.1f}")
    violations = sum(t.violations for t in tallies.values())
    lines.append(f"{'all':<15}{len(records):>9}{violations:>11}")
    return "\n".join(lines), violations + _estimates_too_bold(records)


def _estimates_too_bold(records: Sequence[Record]) -> int:
    """1 if estimates missed more often than they said they would (five standard deviations), else 0."""
    bold = [r for r in records if r.estimate]
    expected = sum((1 - r.stated) * r.components for r in bold)
    variance = sum(r.stated * (1 - r.stated) * r.components**2 for r in bold)
    return int(sum(r.missed for r in bold) > expected + 5 * variance**0.5)


def _worst(records: Sequence[Record], seed: int, limit: int) -> list[str]:
    """Findings, the simplest cases first."""
    bad = sorted((r for r in records if r.findings), key=lambda r: r.case.n * r.case.d)
    lines = []
    for r in bad[:limit]:
        lines.append(f"\n--seed {seed} --case {r.number} --solver {r.solver}    {r.case}")
        lines += [f"    {f.check:<10} component {f.component}: {f.words}" for f in r.findings[:3]]
    if len(bad) > limit:
        lines.append(f"\nand {len(bad) - limit} more")
    return lines


def _many(
    numbered: list[tuple[int, Any]], routes: Sequence[str] | None, workers: int, changes: bool = False
) -> list[Record]:  # fmt: skip
    if workers == 1:
        return [record for number, case in numbered for record in run_case(number, case, routes, changes)]
    # One thread a process: two processes with two threads each would run slower on two cores.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        numbers, chosen = zip(*numbered, strict=True)
        results = pool.map(run_case, numbers, chosen, [routes] * len(numbered), [changes] * len(numbered), chunksize=2)
        return [record for records in results for record in records]


def _chosen(options: argparse.Namespace, routes: Sequence[str] | None) -> list[tuple[int, Any]]:
    """The numbered cases that were asked for."""
    if options.case is not None:
        adverse = options.case >= ADVERSE_FROM
        stream = adverse_cases(options.seed) if adverse else cases(options.seed)
        place = options.case - ADVERSE_FROM * adverse
        return [(options.case, next(islice(stream, place, None)))]
    share = 1 if routes else len(SOLVERS)
    common, adverse = options.count or (ALL if options.all else FEW), ADVERSE_ALL if options.all else ADVERSE_FEW
    if options.adverse:
        common, adverse = 0, options.count or adverse
    chosen = (pair for pair in enumerate(cases(options.seed)) if not options.hard or is_hard(pair[0]))
    numbered = list(islice(chosen, -(-common // share)))
    if options.hard or (options.count and not options.adverse):
        return numbered
    return numbered + list(islice(enumerate(adverse_cases(options.seed), ADVERSE_FROM), -(-adverse // share)))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the problems, print the table and the violations, return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m ritz.testing.certify", description=__doc__.splitlines()[0])
    parser.add_argument("--all", action="store_true", help=f"{ALL} problems instead of {FEW}")
    parser.add_argument("--count", type=int, help="how many problems")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--case", type=int, help="only the case of this number")
    parser.add_argument("--adverse", action="store_true", help="only families that break an assumption each")
    parser.add_argument("--changes", action="store_true", help="every change of course in every case")
    parser.add_argument("--hard", action="store_true", help="only families that are hard on one bound each")
    parser.add_argument(
        "--solver", help=f"only this route: of {', '.join(ROUTES)}, kernel:SOLVER, counts:SOLVER, smallest:SOLVER"
    )
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--device", default="cpu", help="where fits run: cuda, or torch:cpu for tensors of the host")
    parser.add_argument("--show", type=int, default=20, help="how many violations to print")
    options = parser.parse_args(arguments)
    choose_device(options.device)
    routes = [options.solver] if options.solver else None
    numbered = _chosen(options, routes)
    start = time.perf_counter()
    records = _many(numbered, routes, 1 if len(numbered) == 1 else options.workers, options.changes)
    table, violations = summarise(records)
    print(table)
    print("\n".join(_worst(records, options.seed, options.show)))
    print(f"\n{len(numbered)} matrices, {len(records)} problems, {violations} violations, ", end="")
    print(f"{time.perf_counter() - start:.0f} s; width/error is the median of half-widths over true errors")
    return int(violations > 0)
