"""Retrieval on judged collections: mean average precision of the defaults, above what is measured beside them."""

from __future__ import annotations

import gzip
import json
import warnings
from typing import Any, NamedTuple

import numpy as np
import pytest
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer

import ritz

pytestmark = pytest.mark.shared

#: Floors for the defaults, for 100 topics, for hybrid search and for plain words: 0.01 below what was measured.
FLOORS = {"cranfield": (0.461, 0.445, 0.462, 0.427), "cisi": (0.246, 0.238, 0.243, 0.211)}


class Collection(NamedTuple):
    name: str
    ids: list[int]
    texts: list[str]
    queries: dict[int, str]
    relevant: dict[int, set[int]]


@pytest.fixture(scope="module", params=["cranfield", "cisi"])
def collection(request, shared) -> Collection:
    folder = shared / request.param
    with gzip.open(folder / "docs.jsonl.gz", "rt", encoding="utf-8") as lines:
        docs = [json.loads(line) for line in lines]
    title = "" if request.param == "cranfield" else "title"  # texts of Cranfield begin with their titles
    texts = [f"{doc[title]} {doc['text']}" if title else doc["text"] for doc in docs]
    queries = {one["id"]: one["text"] for one in map(json.loads, (folder / "queries.jsonl").read_text().splitlines())}
    relevant: dict[int, set[int]] = {}
    for line in (folder / "qrels.tsv").read_text().splitlines()[1:]:
        query, doc, _ = line.split("\t")
        relevant.setdefault(int(query), set()).add(int(doc))
    return Collection(request.param, [int(doc["id"]) for doc in docs], texts, queries, relevant)


def average_precision(ranked: Any, relevant: set[int]) -> float:
    hit = np.array([doc in relevant for doc in ranked])
    return float(np.sum(np.cumsum(hit)[hit] / (np.flatnonzero(hit) + 1)) / len(relevant))


def precision_of(collection: Collection, rank: Any) -> float:
    """Mean average precision over the judged queries; ``rank`` gives rows, best first, for each of them."""
    judged = [query for query in collection.queries if query in collection.relevant]
    ranked = rank([collection.queries[query] for query in judged])
    ids = np.array(collection.ids)
    scores = [average_precision(ids[rows], collection.relevant[q]) for q, rows in zip(judged, ranked, strict=True)]
    return float(np.mean(scores))


def by_search(lsi: ritz.LSI, **options: Any) -> Any:
    return lambda queries: [hits.rows for hits in lsi.search(queries, top=lsi.n_samples_, **options)]


def by_cosine(documents: Any, queries: Any) -> Any:
    D, Q = (np.asarray(X.todense() if hasattr(X, "todense") else X) for X in (documents, queries))
    D, Q = (X / np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1e-300) for X in (D, Q))
    return np.argsort(-(Q @ D.T), axis=1, kind="stable")


def test_defaults_find_more_than_what_is_used_elsewhere(collection):
    vectors = TfidfVectorizer(stop_words="english")
    X = vectors.fit_transform(collection.texts)
    cosine = precision_of(collection, lambda queries: by_cosine(X, vectors.transform(queries)))
    svd = TruncatedSVD(100, random_state=0).fit(X)
    truncated = precision_of(
        collection, lambda queries: by_cosine(svd.transform(X), svd.transform(vectors.transform(queries)))
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ritz.EmptyDocuments)
        lsi, fewer = ritz.LSI().fit(collection.texts), ritz.LSI(100).fit(collection.texts)
        plain = ritz.LSI(words=ritz.text.Words()).fit(collection.texts)
    assert lsi.language_.name == "english"
    floors = FLOORS[collection.name]
    found = precision_of(collection, by_search(lsi))
    assert found > max(floors[0], cosine, truncated)
    assert precision_of(collection, by_search(fewer)) > max(floors[1], cosine, truncated)
    assert precision_of(collection, by_search(fewer, hybrid=True)) > floors[2]
    assert precision_of(collection, by_search(plain)) > floors[3]
    assert precision_of(collection, by_search(lsi, hybrid=1.0)) < found  # BM25 alone


def test_the_rankings_of_r_are_found_from_the_same_counts(collection, shared):
    """Mean average precision of R's lsi on the same counts, k = 100: documents V S, queries qᵀU, cosine."""
    import scipy.sparse as sp

    with np.load(shared / collection.name / "tdm.npz") as file:
        parts = dict(file)
    N, Q = (
        sp.csc_matrix((parts[f"{p}data"], parts[f"{p}indices"], parts[f"{p}indptr"]), shape=parts[f"{p}shape"]).T
        for p in ("", "q_")
    )
    told = json.loads((shared / collection.name / "r_lsi.json").read_text())["retrieval_all_pairs"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ritz.EmptyDocuments)
        lsi = ritz.LSI(100, norm=None).fit(N)
    hits = dict(zip(collection.queries, lsi.search(Q, top=lsi.n_samples_), strict=True))
    ids = np.array(collection.ids)
    mine = np.mean(
        [average_precision(ids[hits[query].rows], collection.relevant[query]) for query in collection.relevant]
    )
    assert mine == pytest.approx(told["lsi_k100"]["MAP"], abs=1e-5)  # R ranks empty documents
