"""Text with lines of any length, and text whose last line has no end."""

from __future__ import annotations

import csv
import gzip
import warnings

import numpy as np
import pytest

import ritz
from ritz._core.errors import FileCutOff, FileError, MemoryLimitError


@pytest.mark.parametrize(("width", "digits"), [(8_000, 1), (20_000, 50)])  # a header of 130 kB, and one of 1.2 MB
def test_headers_and_lines_of_any_length(tmp_path, width, digits):
    X = np.random.default_rng(0).integers(10_000, 10_009, (5, width))
    names = [f"gene_number_{j:0{digits}d}" for j in range(width)]
    lines = [",".join(names), *(",".join(map(str, row)) for row in X)]
    (tmp_path / "genes.csv").write_text("\n".join(lines) + "\n")
    before = csv.field_size_limit()
    table = ritz.read(tmp_path / "genes.csv")
    assert csv.field_size_limit() == before
    kept = [name for name, kind in table.kinds.items() if kind == "numeric"]
    assert table.names == names
    np.testing.assert_array_equal(table.select(kept[:50]), X[:, [names.index(name) for name in kept[:50]]])


def test_one_long_field_and_a_header_alone(tmp_path):
    text = "x" * 400_000
    (tmp_path / "t.csv").write_text(f'a,note,b\n1,"{text}",2\n3,short,5\n4,c,1\n')
    table = ritz.read(tmp_path / "t.csv")
    assert table.labels("note")[0] == text
    (tmp_path / "h.csv").write_text(",".join(f"name{j}" for j in range(40_000)) + "\n")
    with pytest.raises(FileError, match="0 rows"):
        ritz.read(tmp_path / "h.csv")


def test_a_line_that_no_limit_holds_is_refused(tmp_path):
    with gzip.open(tmp_path / "t.csv.gz", "wb", compresslevel=1) as file:
        file.write(b"a,b\n1,2\n3,4\n5,6\n7,8\n" + b"9" * (30 << 20))
    with pytest.raises(MemoryLimitError, match=r"(?s)a line of more than .* MB, line 6.*hint"):
        ritz.read(tmp_path / "t.csv.gz", memory="50MB")


def numbers(rows: int) -> str:
    return "".join(f"{i},{np.sin(i + 1):.6f}\n" for i in range(rows))


@pytest.mark.parametrize(
    ("end", "sign"),
    [
        ("40,0.15", "shorter than all above it"),
        ("40,0.", "its last value is '0.'"),
        ("40,-", "its last value is '-'"),
        ("40,", "its last value is empty"),
    ],
)
def test_a_last_line_that_looks_cut_is_warned_of(tmp_path, end, sign):
    (tmp_path / "t.csv").write_text("n,x\n" + numbers(40) + end)
    with pytest.warns(FileCutOff, match=sign):
        table = ritz.read(tmp_path / "t.csv")
    assert any("the last line has no end" in note for note in table.notes)


def test_a_file_of_whole_sectors_is_warned_of(tmp_path):
    text = "n,x\n" + numbers(200)
    whole = text[:1024].rsplit("\n", 1)[0]
    whole = whole.replace("n,x", "n" * (1 + 1024 - len(whole)) + ",x")  # ends with a value that is complete
    assert len(whole) == 1024
    (tmp_path / "t.csv").write_text(whole)
    with pytest.warns(FileCutOff, match="a multiple of 512"):
        ritz.read(tmp_path / "t.csv")


def test_a_last_line_without_an_end_is_a_note_and_no_warning(tmp_path):
    (tmp_path / "t.csv").write_text("n,x\n" + numbers(40).rstrip("\n"))
    (tmp_path / "whole.csv").write_text("n,x\n" + numbers(40))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        table = ritz.read(tmp_path / "t.csv")
        whole = ritz.read(tmp_path / "whole.csv")
    assert any("the last line has no end" in note for note in table.notes)
    assert not any("the last line has no end" in note for note in whole.notes)
