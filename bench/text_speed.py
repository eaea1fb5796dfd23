"""Topics of texts beside other libraries, by time and singular values: ``python -m bench.text_speed [--large] …``.

    error   max_i |s_i − σ_i|/σ_i over the k singular values, σ those of ARPACK at full precision
    ratio   a peer's seconds over those of Ritz by the loosest tolerance of LADDER whose error is not larger than
            that of the peer, or by what comes without asking where that is quicker

Two tables of words: 20 newsgroups with all words (or a generated one of its shape where the collection is not at hand),
and a generated collection (words by Zipf's law, half of them by one of 300 subjects), tf-idf weights, k = 100. A
library that is asked for 100 components gives 100 numbers; how good they are differs by eleven digits. So every peer
is timed at several efforts: as it comes, and up to the least one by which its largest error is below 1e-3. For each of
these the tolerance of Ritz is sought in LADDER by halving, in the run. Errors below 1e-9 are full precision, and equal.
A peer that takes longer than ``--limit`` is stopped: it counts as that long, beside Ritz as it comes. Seconds are of
the processor, by one thread, the best of ``--repeat``; ``--threads 2`` prints wall time by two. From raw text to a
model is timed with each library's own words. ``--keep FILE`` writes every run to a file, and goes on from there.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import lzma
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

if __name__ == "__main__" and "--threads" not in sys.argv:
    os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1"))

import numpy as np

from bench.digits import SHARED

__all__ = ["Run", "compared", "corpus", "loosest", "main", "systems"]

K, GOOD, FULL = 100, 1e-3, 1e-9
#: Tolerances of Ritz, the loosest first; the last one is what comes without asking.
LADDER = (1e-1, 5e-2, 2e-2, 1e-2, 5e-3, 1e-3, 1e-4, 1e-5, 1e-6)
#: rows, columns and tokens of a row: the shape of 20 newsgroups, and the one that the aim speaks of
NEWS, SMALL, LARGE = (18_846, 168_000, 310), (100_000, 60_000, 120), (1_000_000, 200_000, 90)


@dataclass
class System:
    """A way to singular values: by effort, the default first."""

    name: str
    run: Callable[[Any, Any], np.ndarray]
    efforts: Sequence[Any]
    peer: bool = True


def messages() -> list[str] | None:
    """20 newsgroups; None where the folder of reference data is not."""
    path = SHARED / "20newsgroups" / "20news-bydate.jsonl.xz"
    if not path.exists():
        return None
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line)["text"] for line in lines]


def corpus(n: int, d: int, tokens: int, subjects: int = 300, seed: int = 0) -> Any:
    """CSR (n, d) of tf-idf weights of generated documents, made 20,000 at a time.

    Rank r of a word has probability ∝ 1/(r + 2.7)^1.05; half of the words of a document are those of its subject, an
    order of the words of its own.
    """
    from scipy.sparse import csr_array, vstack

    import ritz

    rng = np.random.default_rng(seed)
    share = np.cumsum((np.arange(d) + 2.7) ** -1.05)
    steps = 2 * rng.integers(1, d // 2, subjects) + 1
    popular = np.cumsum(np.arange(1, subjects + 1) ** -0.7)
    parts = []
    for first in range(0, n, 20_000):
        m = min(20_000, n - first)
        lengths = np.maximum(3, rng.poisson(tokens * rng.gamma(4.0, 0.25, m))).astype(np.int64)
        row = np.repeat(np.arange(m), lengths)
        word = np.searchsorted(share, rng.random(len(row)) * share[-1])
        subject = np.searchsorted(popular, rng.random(m) * popular[-1])[row]
        own = rng.random(len(row)) < 0.5
        word[own] = (word[own] * steps[subject[own]] + 37 * subject[own]) % d
        ends = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
        rows = csr_array((np.ones(len(row)), word.astype(np.int32), ends), shape=(m, d))
        rows.sum_duplicates()
        parts.append(rows)
    counts = vstack(parts, format="csr")
    parts.clear()
    return ritz.text.weighting("tf-idf").fit_transform(counts)


# systems


def _ritz(W: Any, tol: float) -> np.ndarray:
    import ritz

    return np.asarray(ritz.SVD(K, tol=tol).fit(W).singular_values_)


def _scikit(algorithm: str, W: Any, effort: Any) -> np.ndarray:
    from sklearn.decomposition import TruncatedSVD

    more = {"n_iter": effort} if algorithm == "randomized" else {}
    return np.asarray(TruncatedSVD(K, algorithm=algorithm, random_state=0, **more).fit(W).singular_values_)


def _gensim(one_pass: bool, W: Any, power: int) -> np.ndarray:
    from gensim.matutils import Sparse2Corpus
    from gensim.models import LsiModel

    words = dict(enumerate(map(str, range(W.shape[1]))))
    corpus = Sparse2Corpus(W, documents_columns=False)
    return np.asarray(
        LsiModel(corpus, K, id2word=words, onepass=one_pass, power_iters=power, random_seed=0).projection.s
    )


def systems() -> list[System]:
    """Ritz, and the peers that are installed."""
    found = [
        System("Ritz", _ritz, LADDER, peer=False),
        System("scikit-learn, randomized", lambda W, n: _scikit("randomized", W, n), (5, 10, 20)),
        System("scikit-learn, arpack", lambda W, n: _scikit("arpack", W, n), (0,)),
    ]
    if find_spec("gensim") is None:
        print("gensim is not installed and is left out: pip install 'ritz[bench]'")
        return found
    return [
        *found,
        System("gensim, one pass", lambda W, n: _gensim(True, W, n), (2,)),  # more do not mend what merging lost
        System("gensim, onepass=False", lambda W, n: _gensim(False, W, n), (2, 5, 10)),
    ]


# times


def timed(call: Callable[[], Any], repeat: int, wall: bool) -> tuple[float, Any]:
    """Seconds, the best of some, and what came out."""
    clock, best, out = time.perf_counter if wall else time.process_time, float("inf"), None
    for _ in range(repeat):
        start = clock()
        out = call()
        best = min(best, clock() - start)
    return best, out


class Kept:
    """Runs by name, in a file where one is given."""

    def __init__(self, path: str | None) -> None:
        self.path = None if path is None else Path(path)
        self.runs: dict[str, Any] = {}
        if self.path is not None and self.path.exists():
            self.runs = json.loads(self.path.read_text())

    def of(self, name: str, run: Callable[[], tuple[float, Any]]) -> tuple[float, np.ndarray]:
        """Seconds and singular values, made where they are not known yet."""
        if name not in self.runs:
            seconds, s = run()
            self.runs[name] = [seconds, np.asarray(s, np.float64).tolist()]
            if self.path is not None:
                new = self.path.with_name(self.path.name + ".new")
                new.write_text(json.dumps(self.runs))
                new.replace(self.path)
        seconds, s = self.runs[name]
        return float(seconds), np.asarray(s)


@dataclass
class Run:
    """A system at an effort: seconds, and the largest and the mean error; infinite where it was stopped."""

    effort: Any
    seconds: float
    worst: float
    mean: float


class Stopped(Exception):
    """A peer has taken longer than it may."""


@contextlib.contextmanager
def limited(seconds: float, wall: bool) -> Iterator[None]:
    """Stop what runs longer; libraries whose loops are Python's hear of it."""

    def stop(*_: Any) -> None:
        raise Stopped

    timer, number = (signal.ITIMER_REAL, signal.SIGALRM) if wall else (signal.ITIMER_PROF, signal.SIGPROF)
    before = signal.signal(number, stop)
    signal.setitimer(timer, seconds)
    try:
        yield
    finally:
        signal.setitimer(timer, 0)
        signal.signal(number, before)


class Table:
    """Runs of all systems on one table of words, made where they are not known yet."""

    def __init__(self, name: str, W: Callable[[], Any], kept: Kept, repeat: int, wall: bool, limit: float) -> None:
        self.name, self.kept, self.repeat, self.wall, self.limit = name, kept, repeat, wall, limit
        self._made, self._W = W, None
        self.said: set[tuple[str, Any]] = set()
        arpack = next(system for system in systems() if "arpack" in system.name)
        self.truth = kept.of(f"{name}, {arpack.name}, {arpack.efforts[0]}", lambda: self._timed(arpack, 0))[1]

    def _timed(self, system: System, effort: Any) -> tuple[float, Any]:
        if self._W is None:
            self._W = self._made()
        if not system.peer or "arpack" in system.name:  # which the others are compared with
            return timed(lambda: system.run(self._W, effort), self.repeat, self.wall)
        try:
            with limited(self.limit * self.repeat, self.wall):
                return timed(lambda: system.run(self._W, effort), self.repeat, self.wall)
        except Stopped:
            return self.limit, []

    def run(self, system: System, effort: Any) -> Run:
        """One line of the table."""
        seconds, s = self.kept.of(f"{self.name}, {system.name}, {effort}", lambda: self._timed(system, effort))
        if not len(s):
            one = Run(effort, seconds, float("inf"), float("inf"))
        else:
            s = np.sort(np.pad(s, (0, max(0, K - len(s)))))[::-1][:K]
            off = np.abs(s - self.truth) / self.truth
            one = Run(effort, seconds, float(off.max()), float(off.mean()))
        if (system.name, effort) not in self.said:
            self.said.add((system.name, effort))
            print(f"  {system.name:28}{effort!s:>8}{seconds:10.2f}{one.worst:10.1e}{one.mean:12.1e}", flush=True)
        return one


def table(table: Table, chosen: list[System]) -> list[float]:
    """Print a table; how many times longer than Ritz the peers take for singular values that are not better."""
    print(f"\n{table.name}, k = {K}\n  {'system':28}{'effort':>8}{'seconds':>10}{'error':>10}{'mean error':>12}")
    ours = next(system for system in chosen if not system.peer)
    table.run(ours, LADDER[-1])
    peers: dict[str, list[Run]] = {}
    for system in chosen:
        for effort in system.efforts if system.peer else ():
            one = table.run(system, effort)
            peers.setdefault(system.name, []).append(one)
            if not GOOD < one.worst < np.inf:
                break
    return compared(lambda tol: table.run(ours, tol), peers)


def loosest(ours: Callable[[float], Run], worst: float) -> Run | None:
    """Ritz by the loosest tolerance whose error is no larger, sought by halving, or by what comes without asking where
    that is quicker; None where there is none.
    """
    usual = ours(LADDER[-1])
    if not usual.worst <= worst:
        return None
    low, high = 0, len(LADDER) - 1
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if ours(LADDER[middle]).worst <= worst else (middle + 1, high)
    return min(ours(LADDER[low]), usual, key=lambda run: run.seconds)


def compared(ours: Callable[[float], Run], peers: dict[str, list[Run]]) -> list[float]:
    """Print and return the ratios: peers as they come, and at their best."""
    ratios = []
    for peer, theirs in peers.items():
        said = []
        for one in dict.fromkeys((0, len(theirs) - 1)):
            stopped = theirs[one].worst == np.inf
            good = ours(LADDER[-1]) if stopped else loosest(ours, max(theirs[one].worst, FULL))
            ratio = theirs[one].seconds / good.seconds if good is not None else float("nan")
            words = "more than " if stopped else ""
            error = "without coming to an end" if stopped else f"at an error of {theirs[one].worst:.0e}"
            said.append(f"{words}{ratio:.1f} times {error} (tol={'none' if good is None else f'{good.effort:g}'})")
            if one == 0:
                ratios.append(ratio)
        print(f"  {peer:28} takes {', '.join(said)}")
    return ratios


def from_texts(texts: list[str], repeat: int, wall: bool) -> None:
    """Raw text to a model: scikit-learn's vectoriser and decompositions beside Ritz."""
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.pipeline import make_pipeline

    import ritz

    words = ritz.text.Words()
    ways: dict[str, Callable[[], Any]] = {
        "Ritz, stems and log-entropy": lambda: ritz.LSI(K).fit(texts),
        "Ritz, plain words and tf-idf": lambda: ritz.LSI(K, words=words, weighting="tf-idf").fit(texts),
        "Ritz, the same, tol=1e-2": lambda: ritz.LSI(K, words=words, weighting="tf-idf", tol=1e-2).fit(texts),
    }
    for algorithm in ("randomized", "arpack"):
        svd = TruncatedSVD(K, algorithm=algorithm, random_state=0)
        ways[f"scikit-learn, {algorithm}"] = lambda svd=svd: make_pipeline(TfidfVectorizer(), svd).fit_transform(texts)
    print(f"\nfrom {len(texts):,} raw texts to {K} topics with coordinates of all documents")
    seconds = {}
    for name, way in ways.items():
        seconds[name] = timed(way, repeat, wall)[0]
        print(f"  {name:32}{seconds[name]:8.2f} s", flush=True)
    exact, loose = seconds["Ritz, plain words and tf-idf"], seconds["Ritz, the same, tol=1e-2"]
    print(f"  randomized takes {seconds['scikit-learn, randomized'] / loose:.1f} times as long as Ritz with tol=1e-2, "
          f"arpack {seconds['scikit-learn, arpack'] / exact:.1f} times as long as Ritz with tol=1e-6")  # fmt: skip


def mean(ratios: list[float]) -> float:
    """The geometric mean."""
    return float(np.exp(np.mean(np.log(ratios)))) if ratios else float("nan")


def _words(case: str, shape: tuple[int, int, int], texts: Callable[[], list[str] | None]) -> Any:
    """A table of weighted words."""
    found = texts() if case == "news" else None
    if found is None:
        W = corpus(*shape)
    else:
        import ritz

        W = ritz.text.weighting("tf-idf").fit_transform(ritz.text.Counts().fit_transform(found))
    print(f"{case}: {W.shape[0]:,} × {W.shape[1]:,}, {W.nnz:,} entries", flush=True)
    return W


def main(arguments: list[str] | None = None) -> int:
    """Print the tables and the geometric means."""
    parser = argparse.ArgumentParser(prog="python -m bench.text_speed", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--large", action="store_true", help="1,000,000 × 200,000 instead of 100,000 × 60,000: hours")
    parser.add_argument("--quick", action="store_true", help="newsgroups only")
    parser.add_argument("--cases", default="news,generated,texts", help="which of news, generated, texts")
    parser.add_argument("--only", default="", help="peers whose name contains this")
    parser.add_argument("--keep", default=None, help="a file of runs that are not made again")
    parser.add_argument("--repeat", type=int, default=2)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--plain", action="store_true", help="peers as they come only, not with more effort")
    parser.add_argument("--limit", type=float, default=1800.0, help="seconds after which a peer is stopped")
    chosen = parser.parse_args(arguments)
    cases, wall = chosen.cases.split(",") if not chosen.quick else ["news"], chosen.threads > 1
    print(f"{'wall' if wall else 'processor'} time, {chosen.threads} thread{'s' if wall else ''}")
    kept, ratios, loaded = Kept(chosen.keep), [], []
    found = [system for system in systems() if chosen.only in system.name or not system.peer]
    if chosen.plain:
        found = [replace(system, efforts=system.efforts[:1]) if system.peer else system for system in found]

    def texts() -> list[str] | None:
        if not loaded:
            loaded.append(messages())
        return loaded[0]

    for case in cases:
        if case == "texts":
            if texts() is not None:
                from_texts(texts() or [], chosen.repeat, wall)
            continue
        shape = NEWS if case == "news" else LARGE if chosen.large else SMALL
        name = f"{case}, {shape[0]:,} × {shape[1]:,}"
        made = lambda case=case, shape=shape: _words(case, shape, texts)  # noqa: E731
        ratios += table(Table(name, made, kept, chosen.repeat, wall, chosen.limit), found)
    if ratios:
        print(f"\ngeometric mean of {len(ratios)} ratios at equal or better singular values: {mean(ratios):.1f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
