"""Folders: what of them is read, what is removed from them, and what stands in the way of writing."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ritz
from ritz.data.tables.write import disk_errors

WINE = Path(ritz.__file__).parent / "data" / "samples" / "wine.csv"


def test_files_of_a_folder_that_are_not_read_are_named(run):
    Path("t/w_ritz").mkdir(parents=True)
    rng = np.random.default_rng(0)
    pq.write_table(pa.table({"x": rng.normal(size=9), "y": rng.normal(size=9)}), "t/w_ritz/scores.parquet")
    assert "ignored" not in run("fit t --no-report").stderr
    for name in ("t/w.csv", "t/w_ritz/manifest.json", "t/_SUCCESS", "t/.hidden"):
        Path(name).write_text("a,b\n1,2\n")
    words = "1 Parquet file of the folder: w_ritz/scores.parquet; ignored: w.csv, w_ritz/manifest.json"
    assert words in " ".join(run("fit t --no-report").stderr.split())
    assert ritz.read("t").notes == (words,)


def test_what_a_second_fit_removes_is_named(run):
    run("fit WINE -k 2 -q --scores npy")
    run("export wine_ritz --to sql -q")
    result = run("fit WINE -k 3 --no-report")
    assert "removed: model.sql, report.html, scores.npy, of the run before" in " ".join(result.stderr.split())
    assert not Path("wine_ritz/model.sql").exists()
    assert json.loads(run("fit WINE -k 3 --no-report --json").stdout)["removed"] == []
    assert "removed" not in run("fit WINE -k 3 --no-report").stderr


def test_a_file_that_cannot_be_read_is_an_error_of_files(run, monkeypatch):
    Path("t.csv").write_text("a,b\n1,2\n3,5\n4,4\n")
    opened = Path.open

    def refused(self, *args, **kwargs):
        if self.name == "t.csv":
            raise PermissionError(errno.EACCES, "Permission denied", str(self))
        return opened(self, *args, **kwargs)

    monkeypatch.setattr(Path, "open", refused)
    monkeypatch.setattr(os, "access", lambda path, *_, **__: Path(path).name != "t.csv")
    for command in ("fit", "plan", "rank"):
        assert run(f"{command} t.csv", 4).stderr == (
            "error: could not read t.csv: Permission denied\nhint: check its permissions\n"
        )
    run("inspect t.csv", 4)
    run("merge t.csv -o m.ritz", 4)


@pytest.mark.parametrize(
    ("number", "hint"),
    [
        (errno.EACCES, "change the permissions of the folder, or write elsewhere; nothing"),
        (errno.EROFS, "write to a file system that can be written; nothing"),
        (errno.ENOENT, "make the folder first, or write elsewhere; nothing"),
        (errno.ENOSPC, "free some space or write elsewhere; nothing"),
        (errno.EIO, "write elsewhere; nothing"),
    ],
)
def test_the_hint_follows_the_cause(number, hint):
    with pytest.raises(ritz.FileError, match=hint) as caught, disk_errors(Path("out/z.csv")):
        raise OSError(number, os.strerror(number))
    assert ("free some space" in str(caught.value)) is (number == errno.ENOSPC)


def test_a_folder_in_the_way_is_named(run):
    Path("out/scores.csv").mkdir(parents=True)
    result = run("fit WINE -k 2 --no-report -o out --force", 4)
    words = "error: expected a file at out/scores.csv; received a folder\nhint: move that folder, or write elsewhere\n"
    assert result.stderr == words
    assert [one.name for one in Path("out").iterdir()] == ["scores.csv"]
