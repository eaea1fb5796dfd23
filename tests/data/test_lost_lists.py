"""Embeddings that hold nothing are not replaced by the numbers that name their rows."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import ritz
from ritz.cli.main import app

N = 60
FLOATS = pa.list_(pa.float32())
LOST = {
    "missing": pa.nulls(N, FLOATS),
    "large": pa.nulls(N, pa.large_list(pa.float64())),
    "halves": pa.nulls(N, pa.list_(pa.float16())),
    "empty": pa.array([[]] * N, FLOATS),
    "some empty": pa.array([[] if i % 2 else None for i in range(N)], FLOATS),
    "ragged": pa.array([[0.5] * (i % 3 + 1) for i in range(N)], FLOATS),
    "untyped": pa.nulls(N),
}
#: Numbers that name or count rows, none of which is recognised as an identifier.
NAMES = {
    "several chunks a document": {"doc_id": np.arange(N) // 3},
    "no order": {"document": np.random.default_rng(0).permutation(10**6)[:N]},
    "gaps": {"id": [None, *range(1, N)]},
    "as floats": {"id": np.arange(N) // 2 + 0.0},
    "a document and a chunk": {"doc_id": np.arange(N) // 3, "chunk": np.arange(N) % 3},
}


def written(path, columns, lists):
    pq.write_table(pa.table({**{name: pa.array(each) for name, each in columns.items()}, "embedding": lists}), path)
    return path


def invoke(*args, code=0):
    result = CliRunner().invoke(app, [str(a) for a in args], env={"NO_COLOR": "1"})
    assert result.exit_code == code, (result.output, result.exception)
    return " ".join((result.stderr + result.stdout).split())


@pytest.mark.parametrize("lists", LOST.values(), ids=LOST)
@pytest.mark.parametrize("columns", NAMES.values(), ids=NAMES)
def test_what_names_rows_is_not_analysed(columns, lists, tmp_path):
    path = written(tmp_path / "x.parquet", columns, lists)
    told = "in 'embedding' of x.parquet; received 'embedding' "
    for source in (path, pq.read_table(path)):
        with pytest.raises(
            ritz.InputError, match=r"^expected lists of numbers, of one length, in 'embedding'"
        ) as error:
            ritz.PCA(1).fit(ritz.read(source))
        assert "\nhint: fill the lists; kinds={'embedding': 'drop'} analyses the other columns" in str(error.value)
    for command in ("fit", "plan", "rank"):
        shown = invoke(command, path, *(["--no-report"] if command == "fit" else []), code=3)
        assert told in shown
        assert "hint: fill the lists; --drop embedding analyses the other columns" in shown


def test_other_methods_refuse_as_well(tmp_path):
    path = written(tmp_path / "x.parquet", {"doc": np.arange(N) // 3, "kind": list("abcd") * 15}, LOST["missing"])
    for method in ("auto", "pca", "svd", "kpca", "famd", "robust"):
        assert "expected lists of numbers" in invoke("fit", path, "--method", method, "--no-report", code=3)
    out = tmp_path / "out"
    assert "mca" in invoke("fit", path, "--method", "mca", "--no-report", "-o", out)  # which takes categories alone


def test_the_user_may_mean_those_numbers(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = written("x.parquet", {"doc": np.arange(N) // 3}, LOST["missing"])
    for number, said in enumerate((["--drop", "embedding"], ["--columns", "doc"], ["--numeric", "doc"])):
        facts = json.loads(invoke("fit", path, "--json", "--no-report", "-o", f"out{number}", *said))
        assert facts["columns"] == ["doc"], said
    with pytest.warns(ritz.ColumnsSetAside, match="embedding"):
        assert ritz.PCA(1).fit(ritz.read(path, kinds={"doc": "numeric"})).n_features_in_ == 1
    assert ritz.PCA(1).fit(ritz.read(path, kinds={"embedding": "drop"})).n_features_in_ == 1


def test_measurements_beside_lost_lists_are_analysed(tmp_path):
    columns = {"height": np.arange(N) ** 0.5, "weight": np.arange(N) % 7 + 0.5}
    with pytest.warns(ritz.ColumnsSetAside, match="embedding"):
        model = ritz.PCA(1).fit(ritz.read(written(tmp_path / "x.parquet", columns, LOST["missing"])))
    assert list(model.feature_names_in_) == ["height", "weight"]


def test_one_embedding_that_is_there_is_enough(tmp_path):
    there = pa.array(np.random.default_rng(0).standard_normal((N, 3)).tolist(), FLOATS)
    with pytest.warns(ritz.ColumnsSetAside, match="embedding"):
        model = ritz.PCA(1).fit(ritz.read(written(tmp_path / "x.parquet", {"other": there}, LOST["missing"])))
    assert model.n_features_in_ == 3


def test_a_column_without_values_of_another_name_is_set_aside(tmp_path):
    frame = pd.DataFrame({"rain": np.arange(N) // 3, "remarks": [None] * N})
    frame.to_parquet(tmp_path / "x.parquet")
    with pytest.warns(ritz.ColumnsSetAside, match="remarks"):
        assert ritz.PCA(1).fit(ritz.read(tmp_path / "x.parquet")).n_features_in_ == 1
