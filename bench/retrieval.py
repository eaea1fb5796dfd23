"""Finding documents beside other libraries: ``python -m bench.retrieval [--quick] [--threads]``.

    average precision = mean over relevant documents of (relevant ones up to it) / (its rank);   MAP = mean over queries
    nDCG@10 = Σ_{i ≤ 10} rel_i/log₂(i + 1), over that of the best order

Two collections with judgements (Cranfield, CISI), and with ``--threads`` three on which nothing was chosen, made of 20
newsgroups: the query is the subject of a thread, its messages are relevant, and documents are messages without their
headers and without lines that they quote. Every judged pair counts as relevant. Queries are cut into two halves
at random; where a system has a number of components to choose, the best on one half is taken on the other, and the
halves change places: every query is scored by a choice that it had no part in. "fixed" stands for systems with nothing
to choose: Ritz with its defaults among them.

    words "own"    each library's usual words: its own tokens, nothing stemmed (Ritz: the language it recognises)
    words "Ritz's" the very tokens of Ritz, handed to every peer

Scores come from ir-measures where it is installed, else from the same formulas here.
"""

from __future__ import annotations

import argparse
import gzip
import json
import lzma
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any

import numpy as np

from bench.digits import ABSENT, SHARED

__all__ = ["Collection", "collection", "main", "systems"]

NAMES = ("cranfield", "cisi")
#: Pairs of groups of which collections are made; messages of a thread; words of a message at least.
GROUPS = ("sci.space sci.med", "rec.autos comp.graphics", "talk.politics.mideast soc.religion.christian")
THREAD, WORDS = (4, 60), 15
CHOICES = (50, 100, 150, 200, 300)
Ranking = Callable[[], np.ndarray]  # (queries, documents) scores


@dataclass(frozen=True)
class Collection:
    """Documents, queries with judgements, and the relevant documents of each query."""

    name: str
    texts: list[str]
    queries: list[str]
    relevant: list[set[int]]


@dataclass
class System:
    """A way to rank: by number of components, or with nothing to choose."""

    name: str
    words: str
    rank: Callable[[int], np.ndarray]
    choices: tuple[int, ...] = (0,)
    scores: dict[int, tuple[np.ndarray, np.ndarray]] = field(default_factory=dict)


def collection(name: str) -> Collection | None:
    """A collection of the folder of reference data; None where that is not."""
    if name in GROUPS:
        return threads(name)
    folder = SHARED / name
    if not folder.is_dir():
        return None
    with gzip.open(folder / "docs.jsonl.gz", "rt", encoding="utf-8") as lines:
        documents = [json.loads(line) for line in lines]
    # The texts of Cranfield begin with their titles.
    texts = [d["text"] if name == "cranfield" else f"{d.get('title') or ''} {d['text']}" for d in documents]
    place = {d["id"]: i for i, d in enumerate(documents)}
    relevant: dict[int, set[int]] = {}
    for line in (folder / "qrels.tsv").read_text().splitlines()[1:]:
        query, document, _ = line.split("\t")
        relevant.setdefault(int(query), set()).add(place[int(document)])
    queries = [json.loads(line) for line in (folder / "queries.jsonl").read_text(encoding="utf-8").splitlines()]
    queries = [q for q in queries if q["id"] in relevant]
    return Collection(name, texts, [q["text"] for q in queries], [relevant[q["id"]] for q in queries])


def threads(groups: str) -> Collection | None:
    """Threads of messages of some groups."""
    path = SHARED / "20newsgroups" / "20news-bydate.jsonl.xz"
    if not path.exists():
        return None
    texts: list[str] = []
    found: dict[tuple[str, str], set[int]] = {}
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        messages = [message for message in map(json.loads, lines) if message["group"] in groups.split()]
    for message in messages:
        head, _, body = message["text"].partition("\n\n")
        subject = re.search(r"^Subject: (.*)$", head, re.MULTILINE)
        about = re.sub(r"^((re|fwd?)\s*:\s*)+", "", subject.group(1).strip().lower() if subject else "")
        own = [line for line in body.splitlines() if not re.match(r"\s*[>|:}]", line) and "writes:" not in line]
        if len(" ".join(own).split()) >= WORDS:
            found.setdefault((message["group"], about.strip()), set()).add(len(texts))
            texts.append("\n".join(own))
    kept = {key: rows for key, rows in found.items() if THREAD[0] <= len(rows) <= THREAD[1] and " " in key[1]}
    return Collection(groups, texts, [about for _, about in kept], list(kept.values()))


# scores


def quality(scores: np.ndarray, relevant: list[set[int]]) -> tuple[np.ndarray, np.ndarray]:
    """(m,) average precisions and nDCG@10; documents of one score stand in the order of the collection."""
    order = np.argsort(-scores, axis=1, kind="stable")
    try:
        return _by_library(order, relevant)
    except ImportError:
        gain = 1 / np.log2(np.arange(2, 12))
        precisions, gains = [], []
        for found, wanted in zip(order, relevant, strict=True):
            hit = np.isin(found, list(wanted))
            at = np.flatnonzero(hit) + 1
            precisions.append(float(np.sum(np.arange(1, len(at) + 1) / at) / len(wanted)))
            gains.append(float(hit[:10] @ gain / gain[: len(wanted)].sum()))
        return np.array(precisions), np.array(gains)


def _by_library(order: np.ndarray, relevant: list[set[int]]) -> tuple[np.ndarray, np.ndarray]:
    import ir_measures
    from ir_measures import AP, Qrel, ScoredDoc, nDCG

    judged = [Qrel(str(q), str(d), 1) for q, wanted in enumerate(relevant) for d in wanted]
    n = order.shape[1]
    run = [ScoredDoc(str(q), str(d), float(n - i)) for q, found in enumerate(order) for i, d in enumerate(found)]
    out = {AP: np.zeros(len(relevant)), nDCG @ 10: np.zeros(len(relevant))}
    for value in ir_measures.iter_calc([AP, nDCG @ 10], judged, run):
        out[value.measure][int(value.query_id)] = value.value
    return out[AP], out[nDCG @ 10]


def cosines(queries: Any, documents: Any) -> np.ndarray:
    """(m, n) cosines of rows; zero for rows that are zero."""
    from sklearn.preprocessing import normalize

    product = normalize(queries) @ normalize(documents).T
    return np.asarray(product.toarray() if hasattr(product, "toarray") else product)


# systems


def systems(c: Collection) -> list[System]:
    """Every system on one collection."""
    import ritz
    from ritz.methods.lsi.weighed import rule_of

    tokens = rule_of(ritz.LSI(2).fit(c.texts)).tokens  # the rule that the language gave
    plain = _scikit_tokens()
    found = []
    for words, cut in (("own", plain), ("Ritz's", tokens)):
        found += _scikit(c, words, cut)
        found += _gensim(c, words, cut)
        found += _bm25(c, words, cut)
    return found + _ritz(c)


def _scikit_tokens() -> Callable[[str], list[str]]:
    from sklearn.feature_extraction.text import CountVectorizer

    analyse: Callable[[str], list[str]] = CountVectorizer().build_analyzer()
    return analyse


def _scikit(c: Collection, words: str, cut: Callable[[str], list[str]]) -> list[System]:
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer

    out = []
    for sublinear in (False, True):
        vectors = TfidfVectorizer(analyzer=cut, sublinear_tf=sublinear)
        X = vectors.fit_transform(c.texts)
        Q = vectors.transform(c.queries)
        name = "tf-idf" + (", sublinear" if sublinear else "")
        out.append(System(f"scikit-learn {name}, cosine", words, lambda _, Q=Q, X=X: cosines(Q, X)))

        def reduced(k: int, Q: Any = Q, X: Any = X) -> np.ndarray:
            svd = TruncatedSVD(k, algorithm="arpack", random_state=0).fit(X)
            return cosines(svd.transform(Q), svd.transform(X))

        out.append(System(f"scikit-learn TruncatedSVD of {name}", words, reduced, CHOICES))
    return out


def _gensim(c: Collection, words: str, cut: Callable[[str], list[str]]) -> list[System]:
    try:
        from gensim.corpora import Dictionary
        from gensim.matutils import corpus2dense
        from gensim.models import LogEntropyModel, LsiModel, TfidfModel
    except ImportError:
        return []
    documents, queries = [cut(text) for text in c.texts], [cut(text) for text in c.queries]
    dictionary = Dictionary(documents)
    bags, asked = [dictionary.doc2bow(d) for d in documents], [dictionary.doc2bow(q) for q in queries]
    out = []
    for name, model in (("tf-idf", TfidfModel(bags)), ("log-entropy", LogEntropyModel(bags))):
        weighed, wanted = [model[bag] for bag in bags], [model[bag] for bag in asked]

        def reduced(k: int, weighed: Any = weighed, wanted: Any = wanted) -> np.ndarray:
            lsi = LsiModel(weighed, id2word=dictionary, num_topics=k, random_seed=0)
            dense = lambda bags: corpus2dense(lsi[bags], num_terms=k, num_docs=len(bags)).T  # noqa: E731
            return cosines(dense(wanted), dense(weighed))

        out.append(System(f"gensim LsiModel of {name}", words, reduced, CHOICES))
    return out


def _bm25(c: Collection, words: str, cut: Callable[[str], list[str]]) -> list[System]:
    try:
        import bm25s
    except ImportError:
        return []
    index = bm25s.BM25(method="lucene")
    index.index([cut(text) for text in c.texts], show_progress=False)

    def rank(_: int) -> np.ndarray:
        rows = [index.get_scores(cut(q)) if cut(q) else np.zeros(len(c.texts)) for q in c.queries]
        return np.asarray(rows)

    return [System("BM25 (bm25s)", words, rank)]


def _ritz(c: Collection) -> list[System]:
    import ritz

    def ranked(hybrid: Any = None, **options: Any) -> Callable[[int], np.ndarray]:
        def rank(k: int) -> np.ndarray:
            model = ritz.LSI(k or None, keep_counts=True, **options).fit(c.texts)
            out = np.full((len(c.queries), len(c.texts)), -np.inf)
            for row, hits in zip(out, model.search(c.queries, top=len(c.texts), hybrid=hybrid), strict=True):
                row[hits.rows] = hits.scores
            return out

        return rank

    own = "own"
    weightings = ("log-entropy", "tf-idf", "sublinear", "bm25", "pivoted")
    return [
        System("Ritz LSI, defaults", own, ranked()),
        System("Ritz LSI, hybrid=True", own, ranked(hybrid=True)),
        System("Ritz LSI, hybrid=0.5", own, ranked(hybrid=0.5)),
        System("Ritz LSI, plain words", "plain", ranked(words=ritz.text.Words())),
        System("Ritz LSI, hybrid=True, k chosen", own, ranked(hybrid=True), CHOICES),
        System("Ritz LSI(method='ca')", own, ranked(method="ca"), CHOICES),
        *(System(f"Ritz LSI, {name}", own, ranked(weighting=name), CHOICES) for name in weightings),
    ]


# the table


def crossed(system: System, relevant: list[set[int]], halves: np.ndarray) -> tuple[np.ndarray, np.ndarray, str]:
    """Both measures of every query under a choice made on the other half, and the choices."""
    if not system.scores:
        system.scores = {k: quality(system.rank(k), relevant) for k in system.choices}
    precision, gain = np.zeros(len(relevant)), np.zeros(len(relevant))
    chosen = []
    for half in (0, 1):
        other, mine = halves != half, halves == half
        k = max(system.choices, key=lambda k: float(system.scores[k][0][other].mean()))
        precision[mine], gain[mine] = system.scores[k][0][mine], system.scores[k][1][mine]
        chosen.append(k)
    return precision, gain, "fixed" if len(system.choices) == 1 else f"k = {chosen[0]}, {chosen[1]}"


def main(arguments: list[str] | None = None) -> int:
    """Print a table a collection; the exit status says whether the defaults are above every peer's LSI with its words,
    and hybrid above BM25."""
    parser = argparse.ArgumentParser(prog="python -m bench.retrieval", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="the first collection only")
    parser.add_argument("--threads", action="store_true", help="threads of messages as well")
    chosen = parser.parse_args(arguments)
    absent = [name for name in ("gensim", "bm25s", "ir_measures") if find_spec(name) is None]
    if absent:
        print(f"not installed and left out: {', '.join(absent)}; pip install 'ritz[bench]'")
    ahead, seen = True, False
    for name in (*NAMES[: 1 if chosen.quick else None], *(GROUPS if chosen.threads else ())):
        c = collection(name)
        if c is None:
            continue
        seen = True
        halves = np.random.default_rng(0).permutation(len(c.queries)) % 2
        print(f"\n{name}: {len(c.texts):,} documents, {len(c.queries)} queries")
        print(f"  {'system':42} {'words':7} {'MAP':>6} {'nDCG@10':>8}  chosen")
        means = {}
        for system in systems(c):
            precision, gain, how = crossed(system, c.relevant, halves)
            means[system.name, system.words] = float(precision.mean())
            line = f"{precision.mean():6.3f} {gain.mean():8.3f}  {how}"
            print(f"  {system.name:42} {system.words:7} {line}", flush=True)
        peers = {key: value for key, value in means.items() if "SVD" in key[0] or "LsiModel" in key[0]}
        best = max(peers, key=lambda key: peers[key])
        default, hybrid = means["Ritz LSI, defaults", "own"], means["Ritz LSI, hybrid=True", "own"]
        bm25 = max((value for key, value in means.items() if key[0].startswith("BM25")), default=0.0)
        print(f"  defaults {default:.3f}; best peer {peers[best]:.3f} ({', '.join(best)})")
        print(f"  hybrid {hybrid:.3f}; BM25 {bm25:.3f}")
        own = max(value for key, value in peers.items() if key[1] == "own")
        ahead &= default > own and hybrid > bm25
    if not seen:
        print(ABSENT)
        return 0
    return 0 if ahead else 1


if __name__ == "__main__":
    sys.exit(main())
