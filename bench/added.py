"""Streams that are added batch by batch: Ritz, IncrementalPCA, and where they are installed faiss and gensim.

    time      processor seconds of all ``partial_fit`` and of reading the components once
    memory    most bytes that NumPy held at once, the batch that was handed in included (large buffers of Ritz are maps
              of their own, which are not counted: 8 bytes for every number that waits)
    error     largest relative error of the k variances against the exact ones of the whole stream

The stream is drawn anew, batch by batch, for each: rows of a falling spectrum about another mean in every column.
"""

from __future__ import annotations

import importlib.util
import time
import tracemalloc
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

__all__ = ["CASES", "QUICK_CASES", "added_times"]

#: Columns, rows of a batch, batches.
CASES = [(100, 500, 40), (784, 500, 40), (3000, 500, 1), (3000, 500, 10), (3000, 500, 40), (3000, 100, 50),
         (10_000, 500, 20), (25_000, 500, 8)]  # fmt: skip
QUICK_CASES = [(100, 500, 20), (784, 500, 20), (3000, 500, 1), (3000, 500, 10)]
#: Factors of the spectrum beside the noise.
FACTORS = 200


def _stream(d: int, rows: int, count: int) -> Callable[[], Iterator[np.ndarray]]:
    rng = np.random.default_rng(d)
    r = min(FACTORS, d)
    V = np.linalg.qr(rng.standard_normal((d, r)))[0].T * np.arange(1, r + 1)[:, None] ** -0.7
    mean = rng.standard_normal(d)

    def batches() -> Iterator[np.ndarray]:
        for i in range(count):
            draw = np.random.default_rng([d, i])
            yield draw.standard_normal((rows, r)) @ V + 0.002 * draw.standard_normal((rows, d)) + mean

    return batches


def _exact(batches: Callable[[], Iterator[np.ndarray]], k: int) -> np.ndarray:
    """Leading eigenvalues of the scatter of the whole stream, by the smaller side."""
    X = np.concatenate(list(batches()))
    X -= X.mean(axis=0)
    n, d = X.shape
    G = X @ X.T if n < d else X.T @ X
    import scipy.linalg

    p = len(G)
    return np.asarray(scipy.linalg.eigh(G, eigvals_only=True, subset_by_index=[p - k, p - 1])[::-1])


def _ritz(batches: Iterator[np.ndarray], k: int) -> np.ndarray:
    import ritz

    model = ritz.PCA(k)
    for X in batches:
        with _counted():
            model.partial_fit(X)
    with _counted(), warnings.catch_warnings():
        warnings.simplefilter("ignore", ritz.AccuracyWarning)
        return np.asarray(model.certificate_.values)


def _sklearn(batches: Iterator[np.ndarray], k: int) -> np.ndarray:
    from sklearn.decomposition import IncrementalPCA

    model = IncrementalPCA(k)
    for X in batches:
        with _counted():
            model.partial_fit(X)
    return np.square(model.singular_values_)


def _faiss(batches: Iterator[np.ndarray], k: int) -> np.ndarray:
    """faiss learns from all rows at once, in float32."""
    import faiss

    X = np.concatenate([batch.astype(np.float32) for batch in batches])
    with _counted():
        model = faiss.PCAMatrix(X.shape[1], k)
        model.train(X)
        return np.asarray(faiss.vector_to_array(model.eigenvalues)[:k], np.float64)


def _gensim(batches: Iterator[np.ndarray], k: int) -> np.ndarray:
    """gensim never takes a mean off: it is handed rows about the mean of the stream's first batch."""
    from gensim.matutils import Dense2Corpus
    from gensim.models import LsiModel

    model, mean = None, None
    for X in batches:
        mean = X.mean(axis=0) if mean is None else mean
        corpus = Dense2Corpus(X - mean, documents_columns=False)
        with _counted():
            if model is None:
                model = LsiModel(corpus, num_topics=k, id2word={j: str(j) for j in range(X.shape[1])}, chunksize=len(X))
            else:
                model.add_documents(corpus, chunksize=len(X))
    assert model is not None
    return np.square(np.asarray(model.projection.s[:k]))


class _Clock:
    seconds = 0.0


CLOCK = _Clock()


class _counted:
    """Counts processor time into the clock: that of the learner alone, not of the draws."""

    def __enter__(self) -> None:
        self.begin = time.process_time()

    def __exit__(self, *_: Any) -> None:
        CLOCK.seconds += time.process_time() - self.begin


LEARNERS: dict[str, tuple[str | None, Callable[[Iterator[np.ndarray], int], np.ndarray]]] = {
    "ritz": (None, _ritz), "IncrementalPCA": (None, _sklearn), "faiss": ("faiss", _faiss),
    "gensim": ("gensim", _gensim),
}  # fmt: skip
#: Columns up to which gensim and faiss are tried: gensim writes every number as a pair, faiss decomposes d×d.
SMALL = 3000


def added_times(d: int, rows: int, count: int, k: int, repeat: int) -> dict[str, Any]:
    """Best processor seconds, peak bytes and errors of every learner, in turns."""
    batches = _stream(d, rows, count)
    exact = _exact(batches, k)
    found: dict[str, dict[str, float]] = {}
    chosen = {name: learn for name, (module, learn) in LEARNERS.items()
              if module is None or (d * rows * count <= SMALL * 5000 and importlib.util.find_spec(module))}  # fmt: skip
    for turn in range(repeat):
        for name, learn in chosen.items():
            CLOCK.seconds = 0.0
            values = learn(batches(), k)
            entry = found.setdefault(name, {"cpu": np.inf})
            entry["cpu"] = min(entry["cpu"], CLOCK.seconds)
            entry["error"] = float(np.max(np.abs(values / exact - 1)))
        if turn == 0:
            for name in ("ritz", "IncrementalPCA"):
                found[name]["bytes"] = _peak(LEARNERS[name][1], batches, k)
    return found


def _peak(learn: Callable[[Iterator[np.ndarray], int], np.ndarray], batches: Callable[[], Any], k: int) -> float:
    tracemalloc.start()
    try:
        learn(batches(), k)
        return float(tracemalloc.get_traced_memory()[1])
    finally:
        tracemalloc.stop()
