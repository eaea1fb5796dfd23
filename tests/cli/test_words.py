"""What the program says: usage errors like all others, reasons together, plurals, and hints that lead on."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import ritz
from ritz.cli.main import app

WINE = Path(ritz.__file__).parent / "data" / "samples" / "wine.csv"


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_COLOR", "1")

    def call(*args, code=0):
        if args and args[0] == "fit":  # the page has tests of its own
            args = ("fit", "--no-report", *args[1:])
        result = CliRunner().invoke(app, [str(a) for a in args])
        assert result.exit_code == code, (result.stdout, result.stderr, result.exception)
        return result

    return call


# --- usage ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("fit", r"error: missing argument 'TABLE'\nhint: ritz fit --help lists the options\n"),
        ("fit t.csv --forse", r"error: no such option: --forse\nhint: did you mean --force.*\? ritz fit --help lists"),
        ("fit t.csv --seed x", r"error: invalid value for '--seed': .*\nhint: ritz fit --help"),
        ("fit t.csv -k", r"error: option '-k' requires an argument\nhint: ritz fit --help"),
        ("inspect a.ritz b.csv", r"error: got unexpected extra argument.*b\.csv.*\nhint: ritz inspect --help"),
        ("merge -o x", r"error: missing argument 'MODEL\.\.\.'\nhint: ritz merge --help"),
        ("transfrom", r"error: no such command 'transfrom'\nhint: did you mean transform\? ritz --help lists the comm"),
        ("--nonsense", r"error: no such option: --nonsense\nhint: ritz --help lists the options\n"),
    ],
)
def test_usage_errors_look_like_all_others(run, command, words):
    result = run(*command.split(), code=2)
    assert re.match(words, result.stderr, re.DOTALL)
    assert result.stdout == ""
    assert "╭" not in result.stderr


def test_help_without_a_command(run):
    result = run(code=2)
    assert "Usage: ritz" in result.stdout + result.stderr
    assert "error:" not in result.stderr


# --- tables that cannot be read ---------------------------------------------------------------------------


def refused(*args, **kwargs):
    raise PermissionError(13, "Permission denied")


@pytest.mark.parametrize(
    ("name", "path"),
    [("t.csv", "pathlib.Path.open"), ("t.csv", "pathlib.Path.is_dir"), ("t.csv", "ritz.data.formats.text.bytes.stamp")],
    ids=["the file", "its folder", "later"],
)
def test_an_unreadable_table_is_an_error_of_files(run, monkeypatch, name, path):
    Path(name).write_text("a,b\n1,2\n3,5\n7,7\n")
    with monkeypatch.context() as patch:
        patch.setattr(
            path if path != "ritz.data.formats.text.bytes.stamp" else "ritz.data.formats.text.file.stamp", refused
        )
        with pytest.raises(ritz.FileError, match=r"(?s)could not read t\.csv: Permission denied\nhint: "):
            ritz.read(name)


@pytest.mark.skipif(os.geteuid() == 0 if hasattr(os, "geteuid") else True, reason="root may read everything")
def test_an_unreadable_table_stops_the_program(run):
    Path("t.csv").write_text("a,b\n1,2\n3,5\n")
    Path("t.csv").chmod(0)
    result = run("fit", "t.csv", code=4)
    assert result.stderr == "error: could not read t.csv: Permission denied\nhint: check its permissions\n"


def test_one_unreadable_file_of_a_folder_is_named(run, monkeypatch):
    Path("shards").mkdir()
    for i in range(2):
        pq.write_table(pa.table({"x": [1.0, 2.0, 4.0], "y": [3.0, 1.0, 2.0]}), f"shards/{i}.parquet")
    monkeypatch.setattr(pq, "read_metadata", refused)
    result = run("fit", "shards", code=4)
    assert "could not read shards/0.parquet: Permission denied\nhint: check its permissions" in result.stderr


def test_names_that_no_file_can_have(run):
    words = r"error: could not use a{300}.*: File name too long\nhint: check the path"
    assert re.match(words, run("fit", "a" * 300, code=4).stderr)
    for name in ("a" * 300, "a\0b"):
        with pytest.raises(
            ritz.FileError, match=r"(?s)^could not read a.*: (File name too long|embedded null byte)\nhint"
        ):
            ritz.read(name)


# --- folders ----------------------------------------------------------------------------------------------


def test_a_folder_of_parquet_is_named_by_itself_from_anywhere(run, tmp_path, monkeypatch):
    (tmp_path / "shards").mkdir()
    rng = np.random.default_rng(0)
    for i in range(2):
        pq.write_table(pa.table({"x": rng.normal(size=9), "y": rng.normal(size=9)}), tmp_path / f"shards/{i}.parquet")
    assert "shards: 18 rows, 2 columns" in run("fit", "shards/").stderr
    monkeypatch.chdir(tmp_path / "shards")
    for _ in range(2):  # the results of the first run are no part of the table of the second
        result = run("fit", ".")
        assert "shards: 18 rows, 2 columns" in result.stderr
        assert "../shards_ritz/: model.ritz, scores.csv" in result.stderr
    assert sorted(os.listdir()) == ["0.parquet", "1.parquet"]


def test_a_folder_without_parquet_names_a_table_in_it(run):
    Path("deep").mkdir()
    assert "hint: give one table\n" in run("fit", "deep", code=4).stderr
    Path("deep/b.csv.gz").write_bytes(b"")
    assert "hint: give one table inside it, such as deep/b.csv.gz" in run("fit", "deep", code=4).stderr


def test_a_result_folder_stands_for_its_model(run):
    run("fit", WINE, "-k", 2, "-q")
    run("transform", "wine_ritz", WINE, "-o", "z.csv")
    run("merge", "wine_ritz", "wine_ritz", "-o", "m.ritz")
    Path("empty").mkdir()
    result = run("transform", "empty", WINE, "-o", "z.csv", code=4)
    assert "expected a model file at empty; received a folder without a model" in result.stderr
    assert "hint: ritz fit writes model.ritz into its result folder" in result.stderr
    Path("m").mkdir()
    Path("m.ritz").rename("m/other.ritz")
    assert "hint: did you mean m/other.ritz?" in run("transform", "m", WINE, code=4).stderr
    result = run("inspect", "wine_ritzz", code=4)
    assert result.stderr == "error: there is no model at wine_ritzz\nhint: did you mean wine_ritz?\n"


# --- --drop, --id, --na -----------------------------------------------------------------------------------


@pytest.fixture
def table():
    lines = [
        "city,code,x,y,z",
        *(f"c{i % 7},{i * 3 % 31},{i * i % 23},{-99 if i == 4 else i % 5},{i % 3}" for i in range(31)),
    ]
    Path("t.csv").write_text("\n".join(lines) + "\n")


def columns(path="t_ritz/components.csv"):
    return [line.split(",")[0].strip('"') for line in Path(path).read_text().splitlines()[1:]]


def test_columns_are_dropped_and_named_as_identifiers(run, table):
    run("fit", "t.csv", "-k", 1, "-q")
    assert columns() == ["code", "x", "y", "z"]
    result = run("fit", "t.csv", "-k", 1, "--drop", "y", "--drop", "z", "--id", "code", "--id", "city")
    assert columns() == ["x"]
    assert "left out, as you said: 'y', 'z'" in result.stderr
    assert "city, code (identifier, as you said)" in result.stderr
    assert Path("t_ritz/scores.csv").read_text().splitlines()[:2][0] == '"row","city","code","PC1"'
    run("transform", "t_ritz/model.ritz", "t.csv", "-o", "z.csv")  # as the fit was told
    assert Path("z.csv").read_text().splitlines()[0] == '"city","code","PC1"'


def test_a_text_counts_as_missing_when_it_is_said(run, table):
    result = run("fit", "t.csv", "-k", 1, "--na", "-99", code=3)
    assert "1 such value in 1 of 4 columns: column 'y' (1); first at line 6" in result.stderr
    run("fit", "t.csv", "-k", 1, "--na", "-99", "--missing", "mean", "-q")
    model = ritz.load("t_ritz/model.ritz")
    y = np.array([i % 5 for i in range(31) if i != 4], dtype=float)
    assert model.mean_[2] == pytest.approx(y.mean())
    run("transform", "t_ritz/model.ritz", "t.csv", "--na", "-99", "-o", "z.npy")
    assert np.isfinite(np.load("z.npy")).all()
    np.save("x.npy", np.random.default_rng(0).normal(size=(9, 3)))
    words = "error: --na is for text files only; received --na -99 for something else\nhint: leave out --na\n"
    assert run("fit", "x.npy", "--na", "-99", code=2).stderr == words


def test_columns_that_are_not_there(run, table):
    result = run("fit", "t.csv", "--drop", "cty", code=3)
    assert "expected a column 'cty' for --drop; received columns" in result.stderr
    assert "hint: did you mean 'city'?" in result.stderr
    assert (
        "received --drop x and --id x\nhint: leave out one"
        in run("fit", "t.csv", "--drop", "x", "--id", "x", code=2).stderr
    )


# --- columns set aside ------------------------------------------------------------------------------------


def test_columns_set_aside_are_told_together_by_reason(run):
    lists = {f"id{i}": [f"{i}:{j}" for j in range(20)] for i in range(40)}
    lists |= {"colour": ["red", "blue"] * 10, "five": [5] * 20, "x": list(np.arange(20.0) % 7), "y": [1.0, 3.0] * 10}
    pq.write_table(pa.table(lists), "t.parquet")
    result = run("fit", "t.parquet", "-k", 1)
    lines = [line.strip() for line in result.stderr.splitlines()]
    start = next(i for i, line in enumerate(lines) if line.startswith("set aside"))
    assert lines[start].endswith(
        "id0, id1, id2, id3, id4, id5, id6, id7 and 32 more (an identifier: every row has its own)"
    )
    assert lines[start + 1 : start + 3] == ["colour (categories: 2 different values)", "five (always 5)"]
    assert len(json.loads(run("fit", "t.parquet", "-k", 1, "--json").stdout)["set_aside"]) == 42


def test_many_reasons_of_one_kind_are_one_line(run):
    lists = {f"c{i}": [f"v{j % (i + 2)}" for j in range(60)] for i in range(12)}
    lists |= {f"k{i}": [i] * 60 for i in range(3)}
    pq.write_table(pa.table(lists | {"x": np.arange(60.0) % 7, "y": np.arange(60.0) % 11}), "t.parquet")
    words = " ".join(run("fit", "t.parquet", "-k", 1, "--method", "pca").stderr.split())
    assert "c0, c1, c2, c3, c4, c5, c6, c7 and 4 more (categories) k0, k1, k2 (always the same value)" in words


def test_empty_lists_say_so(run):
    pq.write_table(pa.table({"emb": pa.array([[]] * 5, pa.list_(pa.float64()))}), "t.parquet")
    words = run("fit", "t.parquet", code=3).stderr
    assert "'emb' (values of type list<element: double>, all of them empty)" in words
    assert "one list of numbers to every row" in words


def test_lists_of_different_lengths_say_so(run):
    ragged = pa.array([[1.0, 2.0], [3.0]] * 5)
    pq.write_table(pa.table({"emb": ragged, "x": np.arange(10.0) % 7, "y": np.arange(10.0) % 3}), "t.parquet")
    words = " ".join(run("fit", "t.parquet", "-k", 1).stderr.split())
    assert "emb (lists of numbers of different lengths: 2 in row 1 but 1 in row 2, counted from 1)" in words
    pq.write_table(pa.table({"emb": ragged}), "e.parquet")
    result = run("fit", "e.parquet", code=3)
    assert "received 'emb', lists of numbers of different lengths: 2 in row 1 but 1 in row 2, counted" in result.stderr
    assert "hint: make the lists equally long: an embedding has as many numbers in every row" in result.stderr
    named = pa.table(
        {"emb": ragged, "name": [f"row {i}" for i in range(10)], "a": ["x", "y"] * 5, "b": list("xxyyy") * 2}
    )
    for columns in (["emb", "name"], ["emb", "a", "b"], ["emb", "a"]):  # neither strings nor categories in their place
        pq.write_table(named.select(columns), "n.parquet")
        assert "or leave the column out: --drop emb" in run("fit", "n.parquet", code=3).stderr
        assert not Path("n_ritz").exists()
    run("fit", "n.parquet", "--drop", "emb")
    far = pa.array([[1.0, 2.0]] * 3000 + [[3.0]])
    pq.write_table(pa.table({"emb": far}), "far.parquet")
    result = run("fit", "far.parquet", code=3)
    assert "expected lists of 2 numbers in column 'emb'; received 1 number in row 3,001\nhint" in result.stderr
    assert "or leave the column out: --drop emb" in result.stderr


# --- plurals ----------------------------------------------------------------------------------------------


def test_one_is_no_plural(run):
    Path("one.csv").write_text("x\n1\n2\n4\n")
    assert "one.csv: 3 rows, 1 column, 1 component\n" in run("fit", "one.csv").stderr
    Path("row.csv").write_text("x\n3\n")
    assert "1 row, 1 component: z.csv" in run("transform", "one_ritz/model.ritz", "row.csv", "-o", "z.csv").stderr
    assert "1 model, 3 rows: m.ritz" in run("merge", "one_ritz/model.ritz", "-o", "m.ritz").stderr
    Path("bare.csv").write_text("x,y\n")
    assert "0 rows and 2 columns" in run("fit", "bare.csv", code=4).stderr


# --- merge ------------------------------------------------------------------------------------------------


def test_models_that_differ_say_in_what(run):
    rng = np.random.default_rng(0)
    np.savetxt("a.csv", rng.normal(size=(9, 3)), delimiter=",", header="a,b,c", comments="")
    np.savetxt("b.csv", rng.normal(size=(9, 3)), delimiter=",", header="a,b,d", comments="")
    run("fit", "a.csv", "-k", 1, "--scale", "-q", "-o", "a")
    run("fit", "a.csv", "-k", 2, "--no-scale", "-q", "-o", "k")
    run("fit", "b.csv", "-k", 1, "--scale", "-q", "-o", "b")
    models = ["a/model.ritz", "a/model.ritz", "k/model.ritz"]
    result = run("merge", *models, "-o", "m.ritz", code=3)
    expected = (
        "error: a/model.ritz and k/model.ritz must be fitted with the same options on the same columns; received "
    )
    assert expected + "-k 1 and -k 2; --scale and --no-scale\nhint: fit both" in result.stderr
    result = run("merge", "a/model.ritz", "b/model.ritz", "-o", "m.ritz", code=3)
    assert "columns 'c' only in the first and 'd' only in the second" in result.stderr
    assert not Path("m.ritz").exists()


def test_nested_lists_get_a_hint_about_lists_and_not_about_delimiters(run):
    pq.write_table(pa.table({"emb": [[[1.0, 2.0]], [[3.0, 5.0]], [[2.0, 2.0]]]}), "nested.parquet")
    result = run("fit", "nested.parquet", code=3)
    assert "hint: give every number a column of its own" in result.stderr
    assert "delimiter" not in result.stderr


def test_columns_too_far_apart_are_refused_without_a_warning_of_numpy(run):
    Path("far.csv").write_text("a,b\n1e-200,1e200\n3e-200,-2e200\n2e-200,4e200\n")
    result = run("fit", "far.csv", code=3)
    assert "overflow encountered" not in result.stderr
    assert "within the range of float64" in result.stderr


def test_a_pattern_from_the_root_is_not_called_relative(run):
    result = run("fit", str(Path.cwd() / "none-*.csv"), code=4)
    assert "hint: check the folder and the pattern" in result.stderr
    assert "relative to" in run("fit", "none-*.csv", code=4).stderr


@pytest.mark.parametrize("form", ["[{:.3f}, {:.3f}]", "[ {:.3f}  {:.3f}]", "[{:.3f}\n {:.3f}]"])
def test_embeddings_written_as_text_are_not_compared_letter_by_letter(run, form):
    rows = np.random.default_rng(0).normal(size=(60, 2))
    texts = "".join(f'"{form.format(*row)}"\n' for row in rows)
    Path("lists.csv").write_text("embedding\n" + texts)
    result = run("fit", "lists.csv", code=3)
    assert "'embedding', text that holds lists of numbers, such as '[" in result.stderr
    assert "write a Parquet file with lists in place of texts" in result.stderr
    with pytest.raises(ritz.InputError, match="hint: give every number a column of its own, or one list"):
        ritz.PCA().fit(ritz.read("lists.csv"))


def test_intervals_stay_categories(run):
    lines = [f'{i % 7},{i % 5},"{("[18, 25]", "[26, 40]")[i % 2]}"\n' for i in range(60)]
    Path("ages.csv").write_text("x,y,age\n" + "".join(lines))
    assert "age (categories: 2 different values)" in run("fit", "ages.csv", "-k", 1).stderr
