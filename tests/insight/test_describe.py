"""Descriptions of axes against FactoMineR's dimdesc and naive tests."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy import stats

import ritz
from ritz.insight import describe

pd = pytest.importorskip("pandas")


@pytest.mark.shared
def test_decathlon_is_described_as_by_factominer(shared):
    table = pd.read_csv(shared / "decathlon" / "data.csv", index_col=0)
    golden = json.loads((shared / "decathlon" / "factominer_dimdesc.json").read_text())["dims"]
    model = ritz.PCA(5, scale=True).fit(table.iloc[:, :10])
    found = describe(model, table.iloc[:, :10], table.iloc[:, 10:], components=[0, 1, 2])
    assert list(found) == ["PC1", "PC2", "PC3"]
    for axis, known in zip(found.values(), golden.values(), strict=True):
        held = dict(zip(known["quanti"]["rows"], known["quanti"]["values"], strict=True))
        numbers = axis.quantitative
        assert set(numbers.index) == set(held)
        flip = np.sign(numbers.correlation.iloc[0]) * np.sign(held[numbers.index[0]][0])
        for name, row in numbers.iterrows():
            assert row.correlation * flip == pytest.approx(held[name][0], abs=1e-10)
            assert row.p_value == pytest.approx(held[name][1], rel=1e-6)
        assert list(numbers.correlation) == sorted(numbers.correlation, reverse=True)
        assert len(axis.qualitative) == len(axis.categories) == 0  # the competition does not matter


@pytest.mark.shared
@pytest.mark.parametrize("axis", [1, 2])
def test_tea_is_described_as_by_factominer(shared, axis):
    table = pd.read_csv(shared / "tea" / "data.csv", na_filter=False)
    golden = json.loads((shared / "tea" / "factominer_dimdesc.json").read_text())[f"dim{axis}"]
    model = ritz.MCA(5).fit(table.iloc[:, :18])
    found = describe(model, table.iloc[:, :18], table.iloc[:, 18:])[f"Dim{axis}"]
    known = dict(zip(golden["quali"]["rows"], golden["quali"]["values"], strict=True))
    assert set(found.qualitative.index) == set(known)
    for name, row in found.qualitative.iterrows():
        assert row.eta2 == pytest.approx(known[name][0], abs=1e-10)
        assert row.p_value == pytest.approx(known[name][1], rel=1e-6)
    known = dict(zip(golden["category"]["rows"], golden["category"]["values"], strict=True))
    assert set(found.categories.index) == set(known)
    flip = np.sign(found.categories.estimate.iloc[0]) * np.sign(known[found.categories.index[0]][0])
    for name, row in found.categories.iterrows():
        assert row.estimate * flip == pytest.approx(known[name][0], abs=1e-10)
        assert row.p_value == pytest.approx(known[name][1], rel=1e-6)
    known = golden.get("quanti", {"rows": [], "values": []})
    assert list(found.quantitative.index) == known["rows"]
    for row, value in zip(found.quantitative.to_numpy(), known["values"], strict=True):
        assert abs(row[0]) == pytest.approx(abs(value[0]), abs=1e-10)
        assert row[1] == pytest.approx(value[1], rel=1e-6)


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(80, 4)) @ rng.normal(size=(4, 4))
    other = pd.DataFrame({"size": X[:, 0] + rng.normal(size=80), "kind": np.where(X[:, 1] > 0.4, "a", "b")})
    other.loc[other.index % 7 == 0, "kind"] = "c"
    other.loc[3:5, "size"] = np.nan
    other.loc[8:10, "kind"] = None
    return X, other


def test_values_are_those_of_scipy_where_some_are_missing(table):
    X, other = table
    model = ritz.PCA(2).fit(X)
    t = model.transform(X)[:, 0]
    found = describe(model, X, other, alpha=1)["PC1"]
    size = next(r for r in found.quantitative if r.variable == "size")
    there = other["size"].notna()
    naive = stats.pearsonr(other["size"][there], t[there])
    assert (size.correlation, size.p_value) == (pytest.approx(naive.statistic), pytest.approx(naive.pvalue))
    parts = [t[other.kind == level] for level in "abc"]
    F = stats.f_oneway(*parts)
    assert found.qualitative[0].p_value == pytest.approx(F.pvalue)
    everyone = np.concatenate(parts)
    for level, part in zip("abc", parts, strict=True):
        one = next(r for r in found.categories if r.category == f"kind={level}")
        rest = t[other.kind.notna() & (other.kind != level)]
        n, m = len(everyone), len(part)
        assert one.p_value == pytest.approx(stats.ttest_ind(part, rest).pvalue)
        assert one.estimate == pytest.approx(part.mean() - np.mean([p.mean() for p in parts]))
        spread = np.sqrt(everyone.var() / m * (n - m) / (n - 1))
        assert one.v_test == pytest.approx((part.mean() - everyone.mean()) / spread)


def test_weights_are_copies(table):
    X, other = table
    weights = np.arange(80) % 3 + 1
    model = ritz.PCA(2).fit(X, sample_weight=weights)
    copies = np.repeat(np.arange(80), weights)
    found = describe(model, X, other, alpha=1, sample_weight=weights)
    naive = describe(model, X[copies], other.iloc[copies].reset_index(drop=True), alpha=1)
    for axis in found:
        for part, known in zip(found[axis], naive[axis], strict=True):
            assert [r[0] for r in part] == [r[0] for r in known]
            np.testing.assert_allclose([r[1:] for r in part], [r[1:] for r in known], atol=1e-10)


def test_words_and_refusals(table):
    X, other = table
    model = ritz.PCA(2).fit(X)
    assert repr(describe(model, X, other)).startswith("PC1\n  +")
    with pytest.raises(ritz.InputError, match="each of the 80 rows"):
        describe(model, X, other[:10])
    with pytest.raises(ritz.ParameterError, match="alpha"):
        describe(model, X, alpha=0)
    with pytest.raises(ritz.ParameterError, match="from 0 to 1"):
        describe(model, X, components=[5])


def test_sparse_rows_are_described_as_dense_ones(seed):
    from scipy.sparse import csr_array

    X = np.random.default_rng(seed).normal(size=(40, 4)) @ np.diag([4, 2, 1, 0.5])
    model = ritz.PCA(2).fit(X)
    assert str(describe(model, csr_array(X), alpha=1)) == str(describe(model, X, alpha=1))
