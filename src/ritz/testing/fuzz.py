"""Damaged and hostile model files: ``python -m ritz.testing.fuzz [--count N] [--seed S]``.

    file → mutation (a fault of a disk, or of somebody who means harm) → load → a model, or an error of Ritz

A file that loads must also work: rows are placed, the certificate is printed. Everything runs in a process of its own
that may take 200 MB beyond what it has at the start and some seconds a file, so that a crash, a hang and a bomb are
findings and not the end. The exit status is 1 if there is any.

    --case I      one file again, with what became of it
"""

from __future__ import annotations

import argparse
import contextlib
import faulthandler
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ritz._core.errors import RitzError
from ritz.persist.model import load, pack
from ritz.testing.fuzz_models import fitted, product_of
from ritz.testing.fuzz_mutations import mutate
from ritz.testing.mutate.further import FURTHER

__all__ = ["FEW", "MANY", "Outcome", "fuzz", "main"]

#: Files in ``make certify``, and in ``make test``.
MANY, FEW = 20_000, 500
#: Bytes that loading a file of some kilobytes may add, and seconds of the processor that it may take; on the clock a
#: busy machine gets more.
ROOM, PATIENCE, CLOCK = 200_000_000, 10.0, 300.0

#: One model of every kind of file.
SEEDS = (
    "pca frame scaled", "pca sparse", "pca pending", "pca gaps em", "svd", "factor analysis", "robust robpca",
    "robust pursuit", "sparse pca", "ca frame", "ca observations", "mca missing", "mca regularized", "mca burt pooled",
    "famd", "mfa counts", "kernel linear", "kernel rbf", "kernel rbf sparse", "kernel sum", "kernel laplacian sparse",
    "kernel nystrom", "kernel precomputed", "kernel spectrum", "kernel subsequence", "kernel edit", "kernel function",
)  # fmt: skip
#: Models of other methods, from the list whose numbers are changed.
FURTHER_SEEDS = (
    "PCA mean given", "FactorAnalysis fiml", "ICA", "NMF", "HOSVD", "Tucker", "TensorTrain", "CP", "PLS", "CCA", "PCR",
    "LSI", "LSI ca", "LSI updated", "MDS", "MDS landmarks", "MDS ordinal", "Isomap", "Isomap landmarks", "LLE",
    "LaplacianEigenmaps", "DiffusionMaps", "MVU", "Autoencoder", "RBM",
)  # fmt: skip


@dataclass
class Outcome:
    """What became of many files."""

    files: int = 0
    refused: int = 0
    loaded: int = 0
    peak: int = 0  # bytes beyond the start
    seconds: float = 0.0
    kinds: Counter[str] = field(default_factory=Counter)
    findings: list[str] = field(default_factory=list)


def fuzz(count: int, seed: int = 0, first: int = 0) -> Outcome:
    """Try ``count`` files in processes of their own; one that dies is a finding, and the rest goes on without it."""
    outcome, start, at = Outcome(), time.perf_counter(), first
    while at < first + count:
        at = _watched(outcome, at, first + count, seed)
    outcome.seconds = time.perf_counter() - start
    return outcome


def _watched(outcome: Outcome, at: int, end: int, seed: int) -> int:
    """One process over the files from ``at`` on; the file to go on with."""
    command = [sys.executable, "-m", "ritz.testing.fuzz", "--worker", str(at), str(end), "--seed", str(seed)]
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "2"}
    with tempfile.TemporaryFile("w+") as words:
        done = at
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=words, text=True, env=environment) as process:
            for line in process.stdout or ():
                done = _noted(outcome, json.loads(line), done)
            status = process.wait()
        if status == 0:
            return end
        words.seek(0)
        said = [line for line in words.read().splitlines() if line.strip()]
    if status == 3:  # the process could not begin: no file is to blame
        raise RuntimeError("\n".join(said[-5:]))
    outcome.files += 1
    outcome.findings.append(f"--case {done}: the process ended with status {status}: {' | '.join(said[-3:])[:300]}")
    return done + 1


def _noted(outcome: Outcome, record: dict[str, Any], done: int) -> int:
    outcome.files += 1
    outcome.kinds[record["kind"]] += 1
    outcome.refused += record["what"] == "refused"
    outcome.loaded += record["what"] == "loaded"
    outcome.peak = max(outcome.peak, record["peak"])
    if record["what"] == "finding":
        outcome.findings.append(f"--case {record['case']} ({record['kind']} of {record['model']}): {record['words']}")
    return int(record["case"]) + 1


# --- the process that reads the files ---------------------------------------------------------------------


class Worker:
    """Models to start from, a place for files, and limits."""

    def __init__(self, seed: int, folder: Path) -> None:
        self.seed, self.path = seed, folder / "model.ritz"
        self.files: list[bytes] = []
        self.rows: list[Any] = []
        for name in (*SEEDS, *FURTHER_SEEDS):
            model, rows = fitted(name) if name in SEEDS else _further(name)
            with self.path.open("wb") as file:
                pack(model, file)
            self.files.append(self.path.read_bytes())
            self.rows.append(rows)
            self._used(load(self.path, kernel=product_of), rows)  # compiles and imports what is needed, once

    def limit(self) -> None:
        """From here on, memory is short."""
        import resource

        size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (size + ROOM, size + ROOM))

    def mutated(self, case: int) -> tuple[int, str, bytes]:
        """The file of a number: which model, what was done to it, and its bytes."""
        rng = np.random.default_rng([self.seed, case])
        which = int(rng.integers(len(self.files)))
        return which, *mutate(self.files[which], self.files[int(rng.integers(len(self.files)))], rng)

    def case(self, case: int) -> dict[str, Any]:
        """Load one file, and use what comes."""
        which, kind, data = self.mutated(case)
        self.path.write_bytes(data)
        what, words, before = "refused", "", _fresh_peak()
        faulthandler.dump_traceback_later(CLOCK, exit=True)
        signal.setitimer(signal.ITIMER_PROF, PATIENCE)  # its signal ends the process, wherever it is
        try:
            loaded = load(self.path, kernel=product_of)
            what = "loaded"
            self._used(loaded, self.rows[which])
        except RitzError as error:
            if what == "refused" and not (str(error) and error.hint):
                what, words = "finding", f"a refusal without words: {error!r}"
        except BaseException as error:  # noqa: BLE001  anything else is what is looked for
            what, words = "finding", f"{what} then {type(error).__name__}: {str(error)[:200]}"
        finally:
            faulthandler.cancel_dump_traceback_later()
            signal.setitimer(signal.ITIMER_PROF, 0)
        peak = max(_memory("VmHWM") - before, 0)
        if peak > ROOM:
            what, words = "finding", f"{peak / 1e6:.0f} MB"
        return {
            "case": case,
            "kind": kind,
            "model": (*SEEDS, *FURTHER_SEEDS)[which],
            "what": what,
            "words": words,
            "peak": peak,
        }

    def _used(self, model: Any, rows: Any) -> None:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            scores = np.asarray(model.transform(rows))
            if hasattr(model, "inverse_transform") and not hasattr(model, "kernel"):
                model.inverse_transform(scores[:2])
            str(model.certificate_), str(model.plan_), repr(model)


def _further(name: str) -> tuple[Any, Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model, rows, *_ = FURTHER[name]()
    return model, rows[:7]


def _memory(name: str) -> int:
    """Bytes of this process: ``VmRSS`` now, ``VmHWM`` at most since ``_fresh_peak``."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(name):
            return int(line.split()[1]) * 1024
    return 0


def _fresh_peak() -> int:
    """Forget the peak; bytes held now."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")
    return _memory("VmRSS")


def work(first: int, last: int, seed: int, tell: Callable[[str], Any]) -> int:
    """The process: a line of JSON for every file."""
    with tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as folder:
        try:
            worker = Worker(seed, Path(folder))
            worker.limit()
        except Exception as error:  # noqa: BLE001  told apart from what files do
            print(f"{type(error).__name__}: {error}", file=sys.stderr)
            return 3
        for case in range(first, last):
            tell(json.dumps(worker.case(case)))
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Try the files, print what became of them, return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m ritz.testing.fuzz", description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=MANY, help="how many files")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--case", type=int, help="only the file of this number")
    parser.add_argument("--worker", type=int, nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.worker:
        first, last = options.worker
        return work(first, last, options.seed, lambda line: print(line, flush=True))
    first, count = (0, options.count) if options.case is None else (options.case, 1)
    outcome = fuzz(count, options.seed, first)
    for kind, files in sorted(outcome.kinds.items()):
        print(f"{kind:<28}{files:>7}")
    print(f"\n{outcome.files} files: {outcome.refused} refused, {outcome.loaded} still models, ", end="")
    print(f"{len(outcome.findings)} findings, {outcome.peak / 1e6:.0f} MB at most, {outcome.seconds:.0f} s")
    print("\n".join(outcome.findings[:40]))
    return int(bool(outcome.findings))


if __name__ == "__main__":
    sys.exit(main())
