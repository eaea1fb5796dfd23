"""The result folder: all new or all old, and nothing that belongs to somebody else is touched."""

from __future__ import annotations

import csv
import hashlib
import json
import os
from pathlib import Path

import pyarrow as pa
import pytest

from ritz._core.errors import FileError
from ritz.cli.results.manifest import MANIFEST, own_files
from ritz.cli.results.output import Place, check_folder, result_folder, working, write_results

NAMES = ["scores.csv", "components.csv"]


def tables(value=1.0):
    return {
        "scores.csv": pa.table({"row": [0, 1], "PC1": [value, 0.1]}),
        "components.csv": pa.table({"column": ["a"]}),
    }


@pytest.mark.parametrize(
    ("table", "folder"),
    [
        ("wine.csv", "wine_ritz"),
        ("/data/wine.parquet", "wine_ritz"),
        ("a.b.csv.gz", "a.b_ritz"),
        ("x", "x_ritz"),
        ("a.csv.xz", "a_ritz"),
    ],
)
def test_folder_name(table, folder):
    assert result_folder(Path(table), None) == Path(folder)
    assert result_folder(Path(table), Path("elsewhere")) == Path("elsewhere")


@pytest.mark.parametrize(
    ("name", "given", "folder"),
    [
        ("shards", "shards", "shards_ritz"),
        ("shards", "shards/", "shards_ritz"),
        ("shards", "./shards", "shards_ritz"),
        ("shards.v2", "shards.v2/", "shards.v2_ritz"),  # a point in the name of a folder begins no ending
        ("sales.parquet", "sales.parquet", "sales_ritz"),
        ("cells.zarr", "cells.zarr/", "cells_ritz"),
    ],
)
def test_folder_name_of_a_folder(tmp_path, monkeypatch, name, given, folder):
    (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path)
    assert result_folder(Path(given), None) == Path(folder)


@pytest.mark.parametrize(
    ("place", "given"), [("shards", "."), ("shards/year=1", ".."), ("shards/year=1", "../../shards")]
)
def test_results_never_go_into_the_folder_that_is_the_table(tmp_path, monkeypatch, place, given):
    (tmp_path / place).mkdir(parents=True)
    monkeypatch.chdir(tmp_path / place)
    folder = result_folder(Path(given), None)
    assert folder.resolve() == tmp_path / "shards_ritz"
    assert not folder.is_absolute()
    with pytest.raises(
        FileError, match=r"(?s)result folder outside of .*, which is read as one table; received out\nhint"
    ):
        result_folder(Path(given), Path("out"))


def test_files_and_manifest_agree(tmp_path):
    folder = tmp_path / "deep" / "x_ritz"
    paths, removed = write_results(folder, tables(), {"rows": 2})
    assert removed == []
    assert sorted(p.name for p in paths) == sorted(os.listdir(folder)) == sorted([*NAMES, MANIFEST])
    manifest = json.loads((folder / MANIFEST).read_text())
    assert manifest["rows"] == 2
    for name in NAMES:
        data = (folder / name).read_bytes()
        assert manifest["files"][name] == {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    with (folder / "scores.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [float(r["PC1"]) for r in rows] == [1.0, 0.1]


def test_a_second_run_replaces_and_removes_only_what_the_first_wrote(tmp_path):
    folder = tmp_path / "x_ritz"
    write_results(folder, tables() | {"old.csv": pa.table({"a": [1]})}, {})
    (folder / "note.txt").write_text("mine")
    with pytest.raises(FileError, match=r"other files: note\.txt"):
        check_folder(folder, force=False)
    check_folder(folder, force=True)
    write_results(folder, tables(7.0), {})
    assert sorted(os.listdir(folder)) == sorted([*NAMES, MANIFEST, "note.txt"])
    assert "7" in (folder / "scores.csv").read_text()


def test_foreign_files_are_refused_without_force(tmp_path):
    folder = tmp_path / "x_ritz"
    folder.mkdir()
    check_folder(folder, force=False)  # an empty folder is fine
    (folder / "thesis.tex").write_text("years of work")
    with pytest.raises(FileError, match=r"(?s)other files: thesis.tex\nhint: .*-o.*--force"):
        check_folder(folder, force=False)
    check_folder(folder, force=True)
    write_results(folder, tables(), {})
    assert (folder / "thesis.tex").read_text() == "years of work"


def test_hidden_files_are_nobodys_and_the_table_is_told(tmp_path):
    write_results(tmp_path, tables(), {"source": "x.npy"})
    (tmp_path / ".DS_Store").write_text("")
    assert check_folder(tmp_path, force=False) == "x.npy"
    write_results(tmp_path, tables(), {"source": 3})
    assert check_folder(tmp_path, force=False) is None


def test_a_target_that_the_manifest_does_not_list_is_refused(tmp_path):
    folder = tmp_path / "x_ritz"
    write_results(folder, {"scores.csv": tables()["scores.csv"]}, {})
    (folder / "components.csv").write_text("typed by hand")
    with pytest.raises(FileError, match=r"other files: components.csv"):
        check_folder(folder, force=False)


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"files": 3}', "\x00"])
def test_a_broken_manifest_counts_as_foreign(tmp_path, content):
    (tmp_path / MANIFEST).write_text(content)
    with pytest.raises(FileError, match="other files"):
        check_folder(tmp_path, force=False)


def test_a_manifest_cannot_reach_out_of_its_folder(tmp_path):
    victim = tmp_path / "victim.txt"
    victim.write_text("precious")
    folder = tmp_path / "x_ritz"
    folder.mkdir()
    (folder / MANIFEST).write_text(json.dumps({"files": {"../victim.txt": {}, str(victim): {}, "..": {}}}))
    write_results(folder, tables(), {})
    assert victim.read_text() == "precious"


@pytest.mark.parametrize("break_it", ["format", "seal", "a name more", "its words"])
def test_a_manifest_that_is_not_as_ritz_wrote_it_proves_nothing(tmp_path, break_it):
    write_results(tmp_path, tables(), {"source": "x.csv"})
    assert own_files(tmp_path) == {*NAMES, MANIFEST}
    content = json.loads((tmp_path / MANIFEST).read_text())
    (tmp_path / "mine.txt").write_text("mine")
    if break_it == "a name more":
        data = b"mine"
        content["files"]["mine.txt"] = {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    elif break_it == "its words":
        content["source"] = "y.csv"
    else:
        content[break_it] = 1
    (tmp_path / MANIFEST).write_text(json.dumps(content))
    assert own_files(tmp_path) == set()
    with pytest.raises(FileError, match=r"other files: components\.csv, manifest\.json, mine\.txt"):
        check_folder(tmp_path, force=False)
    write_results(tmp_path, {"scores.csv": tables()["scores.csv"]}, {})
    assert (tmp_path / "mine.txt").read_text() == "mine"
    assert (tmp_path / "components.csv").exists(), "not proved to be ours, so it stays"


def test_a_changed_result_is_named_and_stays(tmp_path):
    write_results(tmp_path, tables(), {})
    (tmp_path / "components.csv").write_text("mine")
    with pytest.raises(FileError, match=r"changed since Ritz wrote them: components\.csv\nhint: .*--force"):
        check_folder(tmp_path, force=False)
    write_results(tmp_path, {"scores.csv": tables()["scores.csv"]}, {})
    assert (tmp_path / "components.csv").read_text() == "mine"


@pytest.mark.parametrize("spelled", ["itself", "link", "hard link", "folder"])
def test_what_is_read_is_never_replaced(tmp_path, spelled):
    folder = tmp_path / "x_ritz"
    write_results(folder, tables(), {})
    table = folder / "scores.csv"
    if spelled == "link":
        table = tmp_path / "t.csv"
        table.symlink_to(folder / "scores.csv")
    elif spelled == "hard link":
        table = tmp_path / "t.csv"
        os.link(folder / "scores.csv", table)
    elif spelled == "folder":
        table = tmp_path / "parts"
        table.mkdir()
        (table / "part.csv").symlink_to(folder / "scores.csv")
    for force in (False, True):
        with pytest.raises(FileError, match=r"(?s)nothing that is read would be replaced.*scores\.csv, which is read"):
            check_folder(folder, force, [table])
    before = table.read_bytes() if table.is_file() else b""
    for contents in (tables(2.0), {}):  # written over, or removed because no run needs it any more
        with pytest.raises(FileError, match="which is read"):
            write_results(folder, contents, {}, place=Place(folder, [table]))
    assert not before or table.read_bytes() == before


def test_what_has_come_during_the_fit_is_not_replaced(tmp_path):
    place = Place(tmp_path)
    (tmp_path / "scores.csv").write_text("mine")
    with pytest.raises(FileError, match="has come or was changed during the fit"):
        write_results(tmp_path, tables(), {}, place=place)
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"scores.csv": "mine"}


def test_a_run_that_was_killed_while_it_renamed_is_finished(tmp_path, monkeypatch):
    folder = tmp_path / "x_ritz"
    write_results(folder, tables(1.0) | {"old.csv": pa.table({"a": [1]})}, {})
    rename, left = os.rename, [5]

    def mortal(a, b):
        left[0] -= 1
        if left[0] == 0:
            os._exit(9)
        rename(a, b)

    child = os.fork()
    if child == 0:
        monkeypatch.setattr("ritz._core.together.os.rename", mortal)
        write_results(folder, tables(2.0), {})
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
    with working(folder):
        check_folder(folder, force=False)
    assert sorted(os.listdir(folder)) == sorted([*NAMES, MANIFEST])
    assert own_files(folder) == {*NAMES, MANIFEST}
    assert "2" in (folder / "scores.csv").read_text()


def test_one_run_at_a_time_and_no_folder_for_nothing(tmp_path):
    folder = tmp_path / "a/b_ritz"
    with working(folder), pytest.raises(FileError, match=f"process {os.getpid()}"):
        working(folder).__enter__()
    assert os.listdir(tmp_path) == []


def test_a_file_in_the_way(tmp_path):
    (tmp_path / "x_ritz").write_text("")
    with pytest.raises(FileError, match="received a file"):
        check_folder(tmp_path / "x_ritz", force=True)
    with pytest.raises(FileError, match="could not write to"):
        write_results(tmp_path / "x_ritz" / "inner", tables(), {})


@pytest.mark.parametrize("fresh", [True, False])
def test_a_failure_leaves_everything_as_it_was(tmp_path, monkeypatch, fresh):
    folder = tmp_path / "x_ritz"
    if not fresh:
        write_results(folder, tables(1.0), {})
    before = {p.name: p.read_bytes() for p in folder.iterdir()} if not fresh else None

    with pytest.raises(ValueError, match="JSON"):
        write_results(folder, tables(2.0), {"bad": float("nan")})
    if fresh:
        assert not folder.exists()
    else:
        assert {p.name: p.read_bytes() for p in folder.iterdir()} == before
