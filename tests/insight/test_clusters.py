"""Clusters on components against SciPy's trees, FactoMineR's published HCPC, and naive counts."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from scipy.cluster.hierarchy import fcluster, linkage

import ritz
from ritz import insight
from ritz.insight.clusters.clusters import clusters_of
from ritz.insight.clusters.consolidate import consolidated
from ritz.insight.clusters.ward import cut, ward_tree

pd = pytest.importorskip("pandas")

#: What FactoMineR's HCPC(PCA(USArrests, ncp = 3)) prints: v-tests, by cluster.
ARRESTS = {
    1: {"UrbanPop": -3.90, "Murder": -4.03},
    2: {"UrbanPop": 2.79, "Murder": -2.37},
    3: {"Murder": 4.36, "Assault": 2.70, "UrbanPop": -2.51},
    4: {"Rape": 5.35, "Assault": 4.36, "UrbanPop": 3.03},
}


@pytest.fixture(scope="module")
def blobs():
    rng = np.random.default_rng(1)
    centres = np.array([[-6.0, 0, 0], [0, 5, 0], [6, -2, 1]])
    return np.concatenate(
        [rng.normal(size=(size, 3)) + centre for size, centre in zip((20, 35, 25), centres, strict=True)]
    )


@pytest.mark.parametrize("n", [2, 3, 60])
def test_the_tree_is_that_of_scipy(seed, n):
    X = np.random.default_rng(seed).normal(size=(n, 4))
    tree = ward_tree(X, np.full(n, 1 / n))
    known = linkage(X, "ward")
    assert tree[:, 2] == pytest.approx(known[:, 2] ** 2 / (2 * n), rel=1e-9)
    assert tree[:, 3] == pytest.approx(known[:, 3])
    total = np.square(X - X.mean(axis=0)).sum() / n
    assert tree[:, 2].sum() == pytest.approx(total, rel=1e-12)  # gains share the inertia out
    if n > 3:
        pairs = list(zip(cut(tree, 5), fcluster(known, 5, "maxclust"), strict=True))
        assert len(set(pairs)) == 5


def test_a_weight_is_as_many_copies(seed):
    rng = np.random.default_rng(seed)
    X, w = rng.normal(size=(15, 2)), rng.integers(1, 4, 15)
    heavy = ward_tree(X, w / w.sum())[::-1, 2]
    copies = ward_tree(np.repeat(X, w, axis=0), np.full(w.sum(), 1 / w.sum()))[::-1, 2]
    assert heavy == pytest.approx(copies[: len(heavy)], rel=1e-9)
    assert copies[len(heavy) :] == pytest.approx(0, abs=1e-15)


@pytest.mark.shared
def test_states_fall_into_the_clusters_of_factominer(shared):
    X = pd.read_csv(shared / "usarrests" / "data.csv", index_col=0)
    found = insight.clusters(ritz.PCA(3, scale=True).fit(X), X)
    assert (found.k, found.sizes.tolist()) == (4, [13, 16, 8, 13])
    first = dict(zip(X.index[:10], found.labels[:10].tolist(), strict=True))
    assert first == {"Alabama": 3, "Alaska": 4, "Arizona": 4, "Arkansas": 3, "California": 4, "Colorado": 4,
                     "Connecticut": 2, "Delaware": 2, "Florida": 4, "Georgia": 3}  # fmt: skip
    told = found.describe(X)
    for cluster, tests in ARRESTS.items():
        held = {m.variable: m for m in told[cluster].measurements}
        for name, value in tests.items():
            assert held[name].v_test == pytest.approx(value, abs=0.006)
            assert held[name].mean == pytest.approx(X[name][found.labels == cluster].mean())
            assert held[name].overall_sd == pytest.approx(X[name].std(ddof=0))
    near = {g: list(X.index[rows[:3]]) for g, rows in found.paragons.items()}
    assert near == {1: ["Idaho", "South Dakota", "Maine"], 2: ["Ohio", "Oklahoma", "Pennsylvania"],
                    3: ["Alabama", "South Carolina", "Georgia"], 4: ["Michigan", "Arizona", "New Mexico"]}  # fmt: skip


def test_the_number_is_where_the_quotient_of_inertias_is_least(blobs):
    found = clusters_of(blobs, np.ones(80))
    assert found.k == 3 == min(found.quotients, key=found.quotients.get)
    assert found.sizes.tolist() == [20, 35, 25]
    gains = linkage(blobs, "ward")[::-1, 2] ** 2
    within = gains[::-1].cumsum()[::-1]  # within[q − 1]: of q clusters
    assert found.quotients[4] == pytest.approx(within[3] / within[2])
    own, clouds = found.chance()
    assert own > clouds.max()


def test_one_cloud_is_no_more_than_chance(seed):
    F = np.random.default_rng(seed).normal(size=(200, 2))
    own, clouds = clusters_of(F, np.ones(200)).chance(draws=9)
    assert abs(own - clouds.mean()) < 0.15


def test_no_single_row_can_be_moved_to_the_better(seed):
    rng = np.random.default_rng(seed)
    X, w = rng.normal(size=(60, 2)), rng.uniform(0.5, 2, 60)
    labels = consolidated(X, w, rng.integers(0, 4, 60).astype(np.intp), 4)

    def within(code):
        return sum(
            float(w[code == g] @ np.square(X[code == g] - np.average(X[code == g], 0, w[code == g])).sum(axis=1))
            for g in range(4)
        )

    best = within(labels)
    for i in range(60):
        for g in range(4):
            moved = labels.copy()
            moved[i] = g
            if len(set(moved.tolist())) == 4:
                assert within(moved) >= best - 1e-9


def test_levels_have_the_hypergeometric_test_value():
    kind = np.array(["a"] * 12 + ["b"] * 18)
    level = np.array(["x"] * 10 + ["y"] * 2 + ["x"] * 4 + ["y"] * 14)
    found = insight.describe_groups({"q": level}, kind)
    one = next(row for row in found["a"].levels if row.category == "q=x")
    chance = stats.hypergeom(30, 14, 12)
    p = 2 * chance.sf(10) + chance.pmf(10)
    assert one.p_value == pytest.approx(p)
    assert one.v_test == pytest.approx(stats.norm.isf(p / 2))
    assert (one.share_of_level, one.share_of_group, one.overall_share) == pytest.approx((10 / 14, 10 / 12, 14 / 30))
    related = found.variables[0]
    known = stats.chi2_contingency(pd.crosstab(level, kind), correction=False)
    assert (related.variable, related.dof) == ("q", 1)
    assert (related.strength * 30, related.p_value) == pytest.approx((known.statistic, known.pvalue))


def test_measurements_tell_groups_apart_as_an_f_test_says(seed):
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 3, 60)
    x = 1e6 + group + rng.normal(size=60)
    found = insight.describe_groups({"x": x, "noise": rng.normal(size=60)}, group, alpha=1)
    known = stats.f_oneway(*[x[group == g] for g in range(3)])
    assert next(r for r in found.variables if r.variable == "x").p_value == pytest.approx(known.pvalue, rel=1e-6)
    one = next(m for m in found[0].measurements if m.variable == "x")
    n, own = 60, x[group == 0]
    spread = x.std() * np.sqrt((n - len(own)) / (n - 1) / len(own))
    assert one.v_test == pytest.approx((own.mean() - x.mean()) / spread, rel=1e-6)
    assert one.sd == pytest.approx(own.std(), rel=1e-6)


def test_counts_of_a_table_weigh_its_rows():
    X = pd.DataFrame([[40, 2, 3], [38, 3, 2], [2, 30, 4], [1, 25, 5], [3, 2, 50], [5, 4, 44]], index=list("abcdef"))
    found = insight.clusters(ritz.CA().fit(X), X)
    assert len({tuple(pair) for pair in found.labels.reshape(3, 2).tolist()}) == 3
    assert all(len(set(pair)) == 1 for pair in found.labels.reshape(3, 2).tolist())


def test_many_rows_are_gathered_first():
    rng = np.random.default_rng(0)
    centre = rng.integers(0, 3, 4_500)
    F = rng.normal(size=(4_500, 2)) + 8 * np.eye(3)[centre][:, :2]
    found = clusters_of(F, np.ones(len(F)))
    assert found.gathered
    assert found.k == 3
    agree = sum(max(np.bincount(centre[found.labels == g])) for g in (1, 2, 3))
    assert agree > 0.99 * len(F)


@pytest.mark.parametrize(("k", "words"), [(0, "from 1 to"), (2.5, "from 1 to"), (81, "from 1 to 80")])
def test_impossible_numbers_are_refused(blobs, k, words):
    with pytest.raises(ritz.ParameterError, match=words):
        clusters_of(blobs, np.ones(80), k)


def test_too_few_rows_and_foreign_groups_are_refused(blobs):
    with pytest.raises(ritz.InputError, match="three rows"):
        clusters_of(blobs[:2], np.ones(2))
    with pytest.raises(ritz.InputError, match="one value for each of 80 rows"):
        insight.describe_groups(blobs, [1, 2])


def test_the_whole_course_by_independent_means():
    """Scores by NumPy, Ward's tree by SciPy, the cut by its quotient, moves of single rows, v-tests by formula."""
    from sklearn.datasets import load_iris

    X = load_iris().data
    n = len(X)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    U, s, _ = np.linalg.svd(Z, full_matrices=False)
    F = U[:, :3] * s[:3]
    tree = linkage(F, "ward")
    gains = tree[::-1, 2] ** 2 / (2 * n)
    within = gains[::-1].cumsum()[::-1]  # within[q − 1]: of q clusters
    quotients = {q: within[q - 1] / within[q - 2] for q in range(3, 11)}
    k = min(quotients, key=quotients.get)
    code = fcluster(tree, k, "maxclust")

    def inertia(labels):
        return sum(np.square(F[labels == g] - F[labels == g].mean(axis=0)).sum() for g in range(1, k + 1)) / n

    better = True
    while better:
        better = False
        for i in range(n):
            moved = np.repeat(code[None], k, axis=0)
            moved[:, i] = np.arange(1, k + 1)
            costs = [inertia(one) for one in moved]
            if min(costs) < inertia(code) - 1e-12:
                code, better = moved[int(np.argmin(costs))], True
    frame = pd.DataFrame(X, columns=list("abcd"))
    found = insight.clusters(ritz.PCA(3, scale=True).fit(frame), frame)
    assert found.k == k
    assert len(set(zip(found.labels.tolist(), code.tolist(), strict=True))) == k  # the same clusters
    told = found.describe(frame, alpha=1)
    for g in range(1, k + 1):
        own = found.labels == g
        sd = X.std(axis=0) * np.sqrt((n - own.sum()) / (n - 1) / own.sum())
        known = dict(zip("abcd", (X[own].mean(axis=0) - X.mean(axis=0)) / sd, strict=True))
        assert {m.variable: m.v_test for m in told[g].measurements} == pytest.approx(known, rel=1e-9)
