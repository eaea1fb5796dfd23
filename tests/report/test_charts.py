"""What charts are drawn from: supplementary columns and rows, contributions, ratios, clusters, rotations, kinds.

Numbers are those of FactoMineR under R, or of the functions that are tested against it.
"""

from __future__ import annotations

import json
import re
import warnings
from typing import Any

import numpy as np
import pytest
from scipy import stats

import ritz
from ritz import insight
from ritz.data.tables.levels import in_order
from ritz.report.colours import colour_of
from ritz.report.parts.biplot import ARROWS, candidates

pd = pytest.importorskip("pandas")


def held(page: str, part: str) -> Any:
    """The data of a chart."""
    found = re.search(rf'<script type="application/json" id="data-{part}">(.*?)</script>', page, re.DOTALL)
    return None if found is None else json.loads(found[1])


def golden(shared: Any, place: str) -> Any:
    return json.loads((shared / place).read_text())


def matrix(values: dict[str, Any]) -> Any:
    return pd.DataFrame(values["values"], index=values["rows"], columns=values["cols"], dtype=float)


def alike(found: Any, known: Any, *, rel: float = 1e-4) -> bool:
    """Whether two matrices are the same up to the signs of their columns."""
    found, known = np.asarray(found, float), np.asarray(known, float)
    return found.shape == known.shape and all(
        min(np.abs(a - b).max(), np.abs(a + b).max()) <= rel * np.abs(b).max()
        for a, b in zip(found.T, known.T, strict=True)
    )


@pytest.fixture(scope="module")
def athletes(shared):
    """41 athletes, the page of ten events with rank, points and competition beside them, and R's numbers."""
    table = pd.read_csv(shared / "decathlon" / "data.csv", index_col=0)
    model = ritz.PCA(5, scale=True).fit(table.iloc[:, :10])
    beside = list(table.columns[10:])
    page = ritz.report.render(model, table, supplementary=beside, clusters=True, rotation="varimax")
    return table, model, page, golden(shared, "decathlon/factominer_PCA.json")


@pytest.mark.shared
def test_columns_without_part_are_in_the_circle_as_in_factominer(athletes):
    _, _, page, known = athletes
    drawn = held(page, "circle")
    assert drawn["further"]["names"] == ["Rank", "Points"]
    assert alike(np.array(drawn["further"]["columns"]).T[:, :3], matrix(known["quanti_sup"]["cor"]).iloc[:, :3])
    assert alike(np.array(drawn["columns"]).T[:, :3], matrix(known["var"]["cor"]).iloc[:, :3])
    assert "Rank" in page[page.index('id="circle"') : page.index('id="contributions"')]


@pytest.mark.shared
def test_categories_without_part_are_among_the_rows_as_in_factominer(athletes):
    _, _, page, known = athletes
    (side,) = held(page, "scores")["further"]
    assert side["names"] == ["Competition=Decastar", "Competition=OlympicG"]
    places = matrix(known["quali_sup"]["coord"]).iloc[:, :3] * np.sqrt(40 / 41)  # scores divide by n − 1
    assert alike(np.array(side["xy"]).T[:, :3], places)
    assert alike(np.array(side["v"]).T[:, :3], matrix(known["quali_sup"]["v.test"]).iloc[:, :3])


@pytest.mark.shared
def test_contributions_and_cos2_are_those_of_factominer(athletes):
    _, _, page, known = athletes
    columns, rows = held(page, "contributions")["sides"]
    for side, name in ((columns, "var"), (rows, "ind")):
        assert (
            pytest.approx(matrix(known[name]["contrib"]).to_numpy()[:, :5] / 100, abs=2e-6) == np.array(side["share"]).T
        )
        assert pytest.approx(matrix(known[name]["cos2"]).to_numpy()[:, :5], abs=2e-6) == np.array(side["cos2"]).T
    assert "The 20 largest of the rows: contributions and cos²" in page


@pytest.mark.shared
def test_axes_are_described_as_by_dimdesc(athletes, shared):
    _, _, page, _ = athletes
    part = page[page.index('id="described"') : page.index('id="clusters"')]
    known = golden(shared, "decathlon/factominer_dimdesc.json")["dims"]["Dim.1"]["quanti"]
    for name, (r, _) in zip(known["rows"], known["values"], strict=True):
        assert f"{abs(r):.3f}" in part, name
    assert "took no part" in part


@pytest.mark.shared
def test_a_rotation_and_clusters_have_parts(athletes):
    table, model, page, _ = athletes
    drawn = held(page, "rotation")
    turned = insight.rotate(model, "varimax")
    assert drawn["shares"] == pytest.approx(turned.variance_ratio.tolist(), rel=1e-5)
    first = drawn["columns"][0][0]
    assert first["loading"] == pytest.approx(turned.loadings.loc[first["name"], "RC1"])
    found = insight.clusters(model, table.iloc[:, :10])
    assert held(page, "clusters")["sizes"] == found.sizes.tolist()
    assert len(held(page, "clusters")["joins"]) == len(table) - 1
    assert "Nearest to its centre" in page


@pytest.mark.shared
def test_rows_and_columns_without_part_are_on_the_map_of_a_ca(shared):
    table = pd.read_csv(shared / "children" / "data.csv", index_col=0)
    active = table.iloc[:14, :5]
    model = ritz.CA().fit(active)
    page = ritz.report.render(model, active, supplementary=table.iloc[:14, 5:], supplementary_rows=table.iloc[14:, :5])
    known = golden(shared, "children/factominer_CA.json")
    _, _, columns, rows = held(page, "points")["sides"]
    assert alike(np.array(columns["xy"]).T[:, :4], matrix(known["col_sup"]["coord"]))
    assert alike(np.array(rows["xy"]).T[:, :4], matrix(known["row_sup"]["coord"]))
    assert np.array(rows["cos2"]).T[:, :4] == pytest.approx(matrix(known["row_sup"]["cos2"]).to_numpy(), abs=1e-5)
    test = stats.chi2_contingency(active, correction=False)
    assert f"χ² = {test.statistic:.2f} with {test.dof} degrees of freedom" in page


@pytest.mark.shared
def test_ratios_of_an_mca_are_those_of_factominer(shared):
    table = pd.read_csv(shared / "poison" / "data.csv")
    model = ritz.MCA(5).fit(table.iloc[:, 4:])
    page = ritz.report.render(model, table, supplementary=list(table.columns[:4]))
    known = golden(shared, "poison/factominer_MCA.json")
    own, numbers, beside = held(page, "relations")["sides"]
    assert pytest.approx(matrix(known["var"]["eta2"]).to_numpy(), abs=1e-5) == np.array(own["xy"]).T
    assert pytest.approx(matrix(known["quali_sup"]["eta2"]).to_numpy(), abs=1e-5) == np.array(beside["xy"]).T
    assert pytest.approx(matrix(known["quanti_sup"]["coord"]).to_numpy() ** 2, abs=1e-5) == np.array(numbers["xy"]).T
    categories = held(page, "points")["sides"][-1]
    assert alike(np.array(categories["xy"]).T, matrix(known["quali_sup"]["coord"]))
    assert held(page, "circle")["further"]["names"] == ["Age", "Time"]
    assert held(page, "points")["numbers"]["further"] == [True, True]
    assert "Benzécri&#x27;s and Greenacre&#x27;s rates" in page
    assert f"{model.benzecri_.percent.iloc[0]:.1f}\u00a0%" in page


@pytest.mark.shared
def test_numbers_of_famd_are_arrows_and_have_a_circle(shared):
    table = pd.read_csv(shared / "wine" / "data.csv", index_col=0)
    page = ritz.report.render(ritz.FAMD(5).fit(table), table)
    known = golden(shared, "wine/factominer_FAMD.json")
    numbers = matrix(known["quanti_var"]["coord"])
    assert alike(np.array(held(page, "circle")["columns"]).T[:, :3], numbers.iloc[:, :3])
    assert held(page, "points")["numbers"]["names"] == list(numbers.index)
    (side,) = held(page, "points")["sides"]
    assert all("=" in name for name in side["names"])  # categories alone are points


@pytest.mark.shared
def test_groups_of_an_mfa_have_a_map_and_partial_points(shared):
    table = pd.read_csv(shared / "wine" / "data.csv", index_col=0)
    names = list(table.columns)
    groups = {"olf": names[2:7], "vis": names[7:10], "olfag": names[10:20], "gust": names[20:29]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ritz.ColumnsSetAside)
        model = ritz.MFA(5, groups=groups).fit(table)
    drawn = held(ritz.report.render(model, table), "groups")
    known = golden(shared, "wine/factominer_MFA.json")
    places = matrix(known["group"]["coord"]).loc[list(groups)]
    assert np.array(drawn["places"]).T[:, :3] == pytest.approx(places.to_numpy()[:, :3], abs=1e-5)
    partial = drawn["partial"]
    mean = np.mean([np.array(part)[:2] for part in partial["xy"]], axis=0).T  # the middle of the partial points
    assert mean == pytest.approx(np.asarray(model.row_coordinates_)[partial["rows"], :2], rel=1e-4, abs=1e-5)


def test_clusters_of_one_cloud_are_called_slices(seed):
    X = np.random.default_rng(seed).normal(size=(80, 4))
    page = ritz.report.render(ritz.PCA(3).fit(X), X, clusters=3)
    assert "Rows without clusters give as much" in page or "more than in rows without clusters" in page
    centres = 12 * np.eye(4)[np.arange(80) % 3]
    page = ritz.report.render(ritz.PCA(3).fit(X + centres), X + centres, clusters=True)
    assert "3 clusters of" in page
    assert "That is more than in rows without clusters" in page


def test_many_kinds_are_the_ten_largest_and_others():
    words = [f"k{i:02d}" for i in range(30) for _ in range(i + 1)]
    colour = colour_of("kind", words, asked=True)
    assert colour.kinds == [*(f"k{i}" for i in range(20, 30)), "20 others"]
    assert colour.other == 10
    assert np.bincount(colour.code).tolist() == [*range(21, 31), sum(range(1, 21))]


@pytest.mark.parametrize(
    ("levels", "order"),
    [
        (["high", "low", "medium"], ["low", "medium", "high"]),
        (["35-44", "+60", "15-24", "25-34", "45-59"], ["15-24", "25-34", "35-44", "45-59", "+60"]),
        (["grade 10", "grade 9", "grade"], ["grade", "grade 9", "grade 10"]),
        (["Tue", "Mon", "Sun"], ["Mon", "Tue", "Sun"]),
        (["strongly agree", "disagree", "agree"], ["disagree", "agree", "strongly agree"]),
        ([">60", "<20", "20-60"], ["<20", "20-60", ">60"]),
        (["b", "a10", "a9"], ["a9", "a10", "b"]),
    ],
)
def test_levels_come_in_their_order(levels, order):
    assert in_order(levels) == order
    assert colour_of("level", levels * 4).kinds == order


def test_an_order_that_is_declared_is_kept(seed):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(30, 3)), columns=list("abc"))
    level = pd.Categorical(rng.choice(["x", "a", "m"], 30), ["x", "m", "a"], ordered=True)
    page = ritz.report.render(ritz.PCA(2).fit(X), X.assign(level=level), supplementary=["level"])
    assert held(page, "rows")["colours"][0]["kinds"] == ["x", "m", "a"]


def test_arrows_of_a_wide_table_point_every_way(seed):
    rng = np.random.default_rng(seed)
    V = rng.normal(size=(4000, 4)) * 0.3
    V[:200, 0] += 5  # a wedge of long arrows
    kept = candidates(V)
    assert len(kept) < 1000
    turn = np.arctan2(V[kept, 1], V[kept, 0])
    assert len(np.unique(np.floor((turn + np.pi) / (np.pi / 4)))) >= 8
    assert int(np.argmax(np.hypot(V[:, 0], V[:, 1]))) in kept
    assert ARROWS == 20


def test_a_map_is_coloured_by_the_reach_of_the_scores(ring):
    page = ritz.report.render(*ring)
    F = ring[0].transform(ring[1])
    for i, one in enumerate(held(page, "kernel_maps")["maps"]):
        assert one["reach"] == pytest.approx(np.abs(F[:, i]).max(), rel=1e-6)
