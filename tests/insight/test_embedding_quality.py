"""Measures of embeddings: coRanking's and vegan's results in R, scikit-learn's, and the definitions themselves."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest
from scipy.spatial.distance import cdist

import ritz
from ritz import insight


def table(path):
    with path.open() as file:
        rows = list(csv.reader(file))[1:]
    numbers = [j for j, value in enumerate(rows[0]) if value.replace(".", "").replace("-", "").isdigit()]
    return np.array([[row[j] for j in numbers] for row in rows], float)


def cases():
    return [("swiss", "cmdscale"), ("swiss", "isomap"), ("swiss", "first_two_columns"),
            ("swiss_roll", "isomap"), ("swiss_roll", "cmdscale")]  # fmt: skip


@pytest.mark.shared
@pytest.mark.parametrize(("name", "method"), cases())
def test_results_of_coranking_in_r(shared, name, method):
    folder = shared / "manifold" / name
    X = table(folder / "truth.csv")[:, :2] if name == "swiss_roll" else table(folder / "data.csv")
    if name == "swiss":
        X = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
    golden = json.loads((folder / "coranking.json").read_text())[method]
    Y = np.array(golden["embedding"]["values"])
    Q = insight.coranking(X, Y)
    assert np.array_equal(Q[:10, :10], golden["coranking_corner"]["values"])
    for place, k in enumerate(golden["K"]):
        found = insight.embedding_quality(X, Y, k)
        assert found.trustworthiness == pytest.approx(golden["trustworthiness"][place], abs=1e-12)
        assert found.continuity == pytest.approx(golden["continuity"][place], abs=1e-12)
        assert found.lcmc == pytest.approx(golden["LCMC"][place], abs=1e-12)
        assert np.array_equal(found.coranking, Q[:k, :k])
        assert np.allclose(found.curve["overlap"], golden["Q_NX"]["values"][:k], atol=1e-12)
        assert np.allclose(found.curve["r_nx"], golden["R_NX"]["values"][:k], atol=1e-12)


def between(X, Y, k):
    """Least and largest trustworthiness, continuity and LCMC over all orders of rows that are equally far in X."""
    n = len(X)
    # Iris is measured in tenths of a centimetre: squares of distances are whole numbers of hundredths.
    far = np.rint(np.square(X[:, None] - X).sum(axis=2) * 100).astype(int)
    near = np.linalg.norm(Y[:, None] - Y, axis=2)
    lost, late, common = np.zeros(2), np.zeros(2), np.zeros(2)
    for i in range(n):
        others = np.delete(np.arange(n), i)
        d, e = far[i, others], near[i, others]
        ties = n - 1 - len(np.unique(e))  # of the map: hardly any, none at the edge, each worth one rank
        assert ties <= 1
        assert np.sort(e)[k - 1] < np.sort(e)[k]
        late += -ties, ties
        rank = e.argsort().argsort() + 1
        shown = rank <= k
        inside = np.sort(rank[d < np.sort(d)[k - 1]])  # surely among the k nearest, and those of whom some are
        edge = np.sort(rank[d == np.sort(d)[k - 1]])
        left = k - len(inside)
        for which, some in enumerate((edge[:left], edge[len(edge) - left :])):
            late[which] += np.maximum(np.append(inside, some) - k, 0).sum()
            common[which] += np.count_nonzero(np.append(inside, some) <= k)
        for distance in np.unique(d[shown]):
            first, many = np.count_nonzero(d < distance), np.count_nonzero(d == distance)
            seen = np.count_nonzero(d[shown] == distance)
            ranks = np.maximum(first + np.arange(1, many + 1) - k, 0)
            lost += ranks[:seen].sum(), ranks[many - seen :].sum()
    scale = 2 / (n * k * (2 * n - 3 * k - 1))
    return {
        "trustworthiness": 1 - scale * lost, "continuity": 1 - scale * late, "LCMC": common / (n * k) - k / (n - 1),
    }  # fmt: skip


@pytest.mark.shared
@pytest.mark.parametrize("method", ["cmdscale", "isomap"])
def test_where_distances_tie_r_takes_one_order_of_many(shared, method):
    """R's sort leaves the order of ties open: its results, and Ritz's, lie between the best and the worst order."""
    X = table(shared / "manifold" / "iris" / "data.csv")[:, 1:]
    X = X[np.sort(np.unique(X, axis=0, return_index=True)[1])]
    golden = json.loads((shared / "manifold" / "iris" / "coranking.json").read_text())[method]
    Y = np.array(golden["embedding"]["values"])
    for place, k in enumerate(golden["K"]):
        found, allowed = insight.embedding_quality(X, Y, k), between(X, Y, k)
        for name, own in (("trustworthiness", found.trustworthiness), ("continuity", found.continuity),
                          ("LCMC", found.lcmc)):  # fmt: skip
            high, low = max(allowed[name]) + 1e-12, min(allowed[name]) - 1e-12
            assert low <= golden[name][place] <= high
            assert low <= own <= high
            assert high - low < 0.03  # which is not much


@pytest.mark.shared
def test_procrustes_of_vegan(shared):
    folder = shared / "manifold" / "swiss_roll"
    golden = json.loads((folder / "procrustes.json").read_text())
    truth = table(folder / "truth.csv")[:, :2]
    isomap = json.loads((folder / "vegan_isomap_k10.json").read_text())
    Y = np.array(isomap["points"]["values"])[:, :2]
    found = insight.procrustes(truth, Y)
    assert found.ss == pytest.approx(golden["ss"], rel=1e-10)
    assert found.scale == pytest.approx(golden["scale"], rel=1e-10)
    assert np.allclose(found.rotation, golden["rotation"]["values"], atol=1e-10)
    assert np.allclose(found.translation, golden["translation"], rtol=1e-10)
    assert found.distances @ found.distances == pytest.approx(found.ss)


def definition(X, Y, k):
    """Trustworthiness, continuity and overlap of each row, straight from their definitions; ties by row number."""
    n = len(X)
    ranks = []
    for rows in (X, Y):
        D = cdist(rows, rows)
        np.fill_diagonal(D, -1)
        order = np.argsort(D, axis=1, kind="stable")
        rank = np.empty_like(order)
        np.put_along_axis(rank, order, np.broadcast_to(np.arange(n), order.shape), axis=1)
        ranks.append(rank)
    a, b = ranks
    other = ~np.eye(n, dtype=bool)
    worst = k * (2 * n - 3 * k - 1) / 2
    trust = 1 - np.where((b <= k) & (a > k) & other, a - k, 0).sum(axis=1) / worst
    cont = 1 - np.where((a <= k) & (b > k) & other, b - k, 0).sum(axis=1) / worst
    return trust, cont, ((a <= k) & (b <= k) & other).sum(axis=1) / k


@pytest.mark.parametrize("kind", ["smooth", "ties", "copies", "far"])
def test_every_row_by_the_definition(kind):
    rng = np.random.default_rng(0)
    X = {
        "smooth": rng.standard_normal((150, 5)), "ties": rng.integers(0, 3, (150, 4)).astype(float),
        "copies": np.repeat(rng.standard_normal((30, 3)), 5, axis=0), "far": rng.standard_normal((150, 20)) + 1e4,
    }[kind]  # fmt: skip
    Y = X[:, :2] if kind == "ties" else X[:, :2] + 0.5 * rng.standard_normal((150, 2))
    found = insight.embedding_quality(X, Y, 7)
    trust, cont, overlap = definition(X, Y, 7)
    assert np.allclose(found.rows_trustworthiness, trust, atol=1e-13)
    assert np.allclose(found.rows_continuity, cont, atol=1e-13)
    assert np.allclose(found.rows_overlap, overlap, atol=1e-13)
    assert found.trustworthiness == pytest.approx(trust.mean(), abs=1e-13)


def test_trustworthiness_is_that_of_scikit_learn():
    from sklearn.manifold import trustworthiness

    X = np.random.default_rng(1).standard_normal((400, 6))
    Y = np.abs(X[:, :2])
    for k in (3, 15):
        assert insight.embedding_quality(X, Y, k).trustworthiness == pytest.approx(
            trustworthiness(X, Y, n_neighbors=k), abs=1e-13
        )
        assert insight.embedding_quality(X, Y, k).continuity == pytest.approx(
            trustworthiness(Y, X, n_neighbors=k), abs=1e-13
        )


def test_a_perfect_embedding_and_what_it_prints():
    X = np.random.default_rng(2).standard_normal((100, 2))
    found = insight.embedding_quality(X, 3 * X @ np.array([[0.0, 1.0], [-1.0, 0.0]]) + 5, 8)
    assert found.trustworthiness == found.continuity == found.overlap == 1.0
    assert found.lcmc == pytest.approx(1 - 8 / 99)
    assert found.shepard == pytest.approx(1.0)
    assert found.procrustes == pytest.approx(0.0, abs=1e-12)
    assert np.allclose(found.rows_stretch, 1.0)
    assert np.trace(found.coranking) == 800
    assert "trustworthiness  1.0000" in repr(found)


def test_shepard_is_the_correlation_of_all_distances():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((120, 4))
    Y = X[:, :2] ** 3
    upper = np.triu_indices(120, 1)
    expected = np.corrcoef(cdist(X, X)[upper], cdist(Y, Y)[upper])[0, 1]
    assert insight.embedding_quality(X, Y).shepard == pytest.approx(expected, abs=1e-12)
    cosine = np.corrcoef(cdist(X, X, "cosine")[upper], cdist(Y, Y)[upper])[0, 1]
    assert insight.embedding_quality(X, Y, metric="cosine").shepard == pytest.approx(cosine, abs=1e-10)


def test_distances_strings_and_sparse_rows_are_taken():
    from scipy.sparse import csr_array

    rng = np.random.default_rng(4)
    X = rng.standard_normal((80, 3)) * (rng.random((80, 3)) < 0.7)
    Y = X[:, :2] + 0.1 * rng.standard_normal((80, 2))
    plain = insight.embedding_quality(X, Y, 5)
    given = insight.embedding_quality(cdist(X, X), Y, 5, metric="precomputed")
    stored = insight.embedding_quality(csr_array(X), Y, 5)
    for other in (given, stored):
        assert other.trustworthiness == pytest.approx(plain.trustworthiness, abs=1e-12)
        assert other.procrustes is None
    words = ["ann", "anna", "hanna", "johanna", "joe", "joey", "jo", "ja"]
    assert 0 <= insight.embedding_quality(words, rng.standard_normal((8, 2)), 2, metric="edit").overlap <= 1


def test_a_sample_of_rows_has_standard_errors_that_hold():
    rng = np.random.default_rng(5)
    X = rng.standard_normal((1500, 4))
    Y = X[:, :2]
    whole = insight.embedding_quality(X, Y, 10)
    off = []
    for seed in range(20):
        some = insight.embedding_quality(X, Y, 10, sample=150, random_state=seed)
        assert some.standard_errors is not None
        off.append((some.overlap - whole.overlap) / some.standard_errors["overlap"])
    assert np.abs(off).max() < 4
    assert 0.5 < np.std(off) < 1.7
    assert "150 of 1,500 rows, drawn at random" in repr(some)


def test_what_cannot_be_measured_is_said():
    X = np.random.default_rng(6).standard_normal((20, 3))
    with pytest.raises(ritz.InputError, match="as many rows as what it embeds; received 20 rows and 19"):
        insight.embedding_quality(X, X[:19, :2])
    with pytest.raises(ritz.ParameterError, match="k must be a whole number from 1 to 9"):
        insight.embedding_quality(X, X[:, :2], 10)
    with pytest.raises(ritz.NonFiniteError):
        insight.embedding_quality(X, np.full((20, 2), np.nan))
    with pytest.raises(ritz.MemoryLimitError, match="embedding_quality"):
        insight.coranking(X, X[:, :2], memory=1000)
    assert insight.embedding_quality(X[:3], X[:3, :2]).k == 1


@pytest.mark.slow
def test_ten_thousand_rows_take_little_memory():
    import resource

    rng = np.random.default_rng(7)
    X = rng.standard_normal((10_000, 3))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    insight.embedding_quality(X, X[:, :2], 10)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 300_000
