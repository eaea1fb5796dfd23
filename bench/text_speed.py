"""Topics of texts beside other libraries, by time and singular values: ``python -m bench.text_speed [--large] …``.

    error   max_i |s_i − σ_i|/σ_i over the k singular values, σ those of ARPACK at full precision

Two tables of words: 20 newsgroups with all words (or a generated one of its shape where the collection is not at hand),
and a generated collection (words by Zipf's law, half of them by one of 300 subjects), tf-idf weights, k = 100. A
library that is asked for 100 components gives 100 numbers; how good they are differs by eleven digits. So every system
is timed twice: as it comes, and at the least effort by which its largest error is below 1e-3: more power iterations, a
tighter or looser tolerance. Seconds are of the processor, by one thread, the best of ``--repeat``; ``--threads 2``
prints wall time by two. From raw text to a model is timed with each library's own words.
"""

from __future__ import annotations

import argparse
import json
import lzma
import os
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

if __name__ == "__main__" and "--threads" not in sys.argv:
    os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1"))

import numpy as np

from bench.digits import SHARED

__all__ = ["corpus", "main", "systems"]

K, GOOD = 100, 1e-3
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
        System("Ritz", _ritz, (1e-6, 1e-3), peer=False),
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


def table(name: str, W: Any, repeat: int, wall: bool, only: str) -> tuple[list[float], list[float]]:
    """Print a table; the ratios of the peers' times and Ritz's, as they come and at the same error."""
    print(f"\n{name}: {W.shape[0]:,} × {W.shape[1]:,}, {W.nnz:,} entries, k = {K}")
    print(f"  {'system':28}{'effort':>8}{'seconds':>10}{'error':>10}{'mean error':>12}")
    runs: dict[str, list[tuple[float, float]]] = {}
    chosen = [system for system in systems() if only in system.name or not system.peer]
    truth = _scikit("arpack", W, 0)
    for system in chosen:
        for effort in system.efforts:
            seconds, s = timed(lambda system=system, effort=effort: system.run(W, effort), repeat, wall)
            s = np.sort(np.pad(s, (0, max(0, K - len(s)))))[::-1][:K]
            off = np.abs(s - truth) / truth
            runs.setdefault(system.name, []).append((seconds, float(off.max())))
            line = f"{seconds:10.2f}{off.max():10.1e}{off.mean():12.1e}"
            print(f"  {system.name:28}{effort!s:>8}{line}", flush=True)
            if off.max() <= GOOD and system.peer:
                break
    ours = runs.pop("Ritz")
    fine, loose = ours[0][0], ours[-1][0]
    first = [them[0][0] / fine for them in runs.values()]
    equal = [them[-1][0] / loose for them in runs.values()]
    reached = ["" if them[-1][1] <= GOOD else " (not reached)" for them in runs.values()]
    for peer, a, b, note in zip(runs, first, equal, reached, strict=True):
        print(f"  {peer:28} as it comes {a:5.1f} times Ritz at 1e-6; with errors below {GOOD:g} {b:5.1f} times{note}")
    return first, equal


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
        "Ritz, the same, tol=1e-3": lambda: ritz.LSI(K, words=words, weighting="tf-idf", tol=1e-3).fit(texts),
    }
    for algorithm in ("randomized", "arpack"):
        svd = TruncatedSVD(K, algorithm=algorithm, random_state=0)
        ways[f"scikit-learn, {algorithm}"] = lambda svd=svd: make_pipeline(TfidfVectorizer(), svd).fit_transform(texts)
    print(f"\nfrom {len(texts):,} raw texts to {K} topics with coordinates of all documents")
    seconds = {}
    for name, way in ways.items():
        seconds[name] = timed(way, repeat, wall)[0]
        print(f"  {name:32}{seconds[name]:8.2f} s", flush=True)
    own = seconds["Ritz, stems and log-entropy"]
    print(f"  ratios to Ritz's default: {', '.join(f'{s / own:.1f}' for n, s in seconds.items() if 'scikit' in n)}")


def mean(ratios: list[float]) -> float:
    """The geometric mean."""
    return float(np.exp(np.mean(np.log(ratios)))) if ratios else float("nan")


def main(arguments: list[str] | None = None) -> int:
    """Print the tables and the geometric means."""
    parser = argparse.ArgumentParser(prog="python -m bench.text_speed", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--large", action="store_true", help="1,000,000 × 200,000 instead of 100,000 × 60,000: hours")
    parser.add_argument("--quick", action="store_true", help="newsgroups only")
    parser.add_argument("--cases", default="news,generated,texts", help="which of news, generated, texts")
    parser.add_argument("--only", default="", help="peers whose name contains this")
    parser.add_argument("--repeat", type=int, default=2)
    parser.add_argument("--threads", type=int, default=1)
    chosen = parser.parse_args(arguments)
    cases, wall = chosen.cases.split(",") if not chosen.quick else ["news"], chosen.threads > 1
    print(f"{'wall' if wall else 'processor'} time, {chosen.threads} thread{'s' if wall else ''}")
    texts, ratios = messages(), ([], [])
    for case in cases:
        if case == "texts":
            if texts is not None:
                from_texts(texts, chosen.repeat, wall)
            continue
        if case == "news" and texts is not None:
            import ritz

            W = ritz.text.weighting("tf-idf").fit_transform(ritz.text.Counts().fit_transform(texts))
        else:
            W = corpus(*(NEWS if case == "news" else LARGE if chosen.large else SMALL))
        found = table(case, W, chosen.repeat, wall, chosen.only)
        for total, more in zip(ratios, found, strict=True):
            total += more
        del W
    if ratios[0]:
        print(f"\ngeometric mean of {len(ratios[0])} ratios: as they come {mean(ratios[0]):.1f}, "
              f"with errors below {GOOD:g} {mean(ratios[1]):.1f}")  # fmt: skip
    return 0


if __name__ == "__main__":
    sys.exit(main())
