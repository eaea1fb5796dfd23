"""Wide tables: what is kept of them is looked up once and stays right, and text says how much its columns need."""

from __future__ import annotations

import csv

import numpy as np
import pytest

import ritz


@pytest.fixture(scope="module")
def wide(tmp_path_factory):
    X = np.random.default_rng(0).standard_normal((12, 900)).round(4)
    path = tmp_path_factory.mktemp("wide") / "w.csv"
    names = ",".join(f"c{j}" for j in range(900))
    path.write_text("\n".join([names, *(",".join(map(str, row)) for row in X.tolist())]) + "\n")
    return path, X


def test_the_last_selection_is_that_of_the_names_asked_for_and_nobody_can_change_it(wide):
    path, X = wide
    table, names = ritz.read(path), [f"c{j}" for j in range(900)]
    first = table.select(names)
    assert np.array_equal(first, X)
    first[:] = 0
    assert np.array_equal(table.select(names), X)
    turned = names[::-1]
    assert np.array_equal(table.select(turned), X[:, ::-1])
    assert np.array_equal(table.select(names[:600]), X[:, :600])
    assert np.array_equal(table.select(names), X)
    assert table.labels("c7") == X[:, 7].tolist()
    assert [batch.column_names for batch in table.batches(["c899", "c0"])] == [["c899", "c0"]]


def test_models_of_a_wide_table_see_it_as_it_is(wide):
    path, X = wide
    table = ritz.read(path)
    model = ritz.PCA(3).fit(table)
    truth = ritz.PCA(3).fit(X)
    assert np.array_equal(model.explained_variance_, truth.explained_variance_)
    assert np.array_equal(model.transform(table), truth.transform(X))
    half = ritz.PCA(3).fit(ritz.read(X[:6]))
    assert half.n_samples_ == 6


def test_more_columns_than_the_limit_holds_are_refused_with_what_they_need(tmp_path):
    path = tmp_path / "w.csv"
    path.write_text(",".join(f"c{j}" for j in range(4000)) + "\n" + ("1," * 3999 + "2\n") * 3)
    with pytest.raises(ritz.MemoryLimitError, match="4,000 columns") as refused:
        ritz.read(path, memory="60MB")
    assert "memory='80MB' would do" in str(refused.value)
    assert len(ritz.read(path, memory="80MB").columns) == 4000


#: What stands in some columns of a wide table below a first line of fractions.
MIXED = {
    name: cells.split(",")
    for name, cells in csv.reader(
        """\
fraction|1.5,2.25,-3.5,4.0
then whole|1.5,2,3,4
then a word|1.5,low,2.5,high
then nothing|1.5,,NA,2.5
then a date|1.5,2020-01-02,2020-01-03,2020-01-04
then a code|1.5,007,008,009
whole|1,2,3,5
code|0012,0013,0014,0015
many digits|12345678901234567890123.5,1.5,2.5,3.5
large|1.5,1e25,2.5,3.5
exponent|1.5e-3,2.5E4,3.5,1e5
thousands|1.234,2.345,3.456,7.890
""".splitlines(),
        delimiter="|",
    )
}


@pytest.mark.parametrize("name", MIXED)
def test_types_that_the_first_line_tells_are_those_found_by_looking(tmp_path, monkeypatch, name):
    from ritz.data.formats.text import file

    X = np.random.default_rng(0).standard_normal((4, 520)).round(3).astype(str)
    X[:, 7] = MIXED[name]
    path = tmp_path / "w.csv"
    path.write_text("\n".join([",".join(f"c{j}" for j in range(520)), *(",".join(row) for row in X.tolist())]) + "\n")
    told = ritz.read(path)
    monkeypatch.setattr(file, "WIDE", 10**9)
    found = ritz.read(path)
    assert [(c.name, c.kind, c.missing, c.reason) for c in told.columns] == [
        (c.name, c.kind, c.missing, c.reason) for c in found.columns
    ]
    assert told.labels("c7") == found.labels("c7")
    assert np.array_equal(told.select(["c6", "c8"]), found.select(["c6", "c8"]))
