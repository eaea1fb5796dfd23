"""Workbooks, JSON, databases, pictures: the same table whatever file it is in, and refusals in words."""

from __future__ import annotations

import datetime as dt
import json
import sqlite3

import numpy as np
import pytest

import ritz

NAMES = ["shop", "turnover", "rate", "when"]
ROWS = [[f"S{i}", 1000.5 * i + 1, 1.601 + i, dt.datetime(2024, 1, i + 1)] for i in range(6)]
TURNOVER, RATE = [row[1] for row in ROWS], [row[2] for row in ROWS]


@pytest.fixture
def xlsx(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "Sales"
    for row in (["Report of sales"], [], NAMES, *ROWS):
        sheet.append(row)
    other = book.create_sheet("Typing errors")
    for row in (["x", "y"], *([i + 0.5, i] for i in range(10)), ["4..5", 3]):
        other.append(row)
    book.save(tmp_path / "book.xlsx")
    return tmp_path / "book.xlsx"


@pytest.fixture
def ods(tmp_path):
    pytest.importorskip("odf")
    from odf.opendocument import OpenDocumentSpreadsheet
    from odf.table import Table, TableCell, TableRow
    from odf.text import P

    book, sheet = OpenDocumentSpreadsheet(), Table(name="Sales")
    for values in (["shop", "turnover", "rate"], *(row[:3] for row in ROWS)):
        row = TableRow()
        for value in values:
            kind = {"valuetype": "string"} if isinstance(value, str) else {"valuetype": "float", "value": value}
            cell = TableCell(**kind)
            cell.addElement(P(text=str(value)))
            row.addElement(cell)
        row.addElement(TableCell(numbercolumnsrepeated=16000))
        sheet.addElement(row)
    sheet.addElement(TableRow(numberrowsrepeated=1_000_000))
    book.spreadsheet.addElement(sheet)
    book.save(str(tmp_path / "book.ods"))
    return tmp_path / "book.ods"


def test_a_sheet_is_read_as_a_person_reads_it(xlsx):
    table = ritz.read(xlsx)
    assert table.kinds == {"shop": "identifier", "turnover": "numeric", "rate": "numeric", "when": "date"}
    assert table.labels("turnover") == TURNOVER
    assert table.labels("rate") == RATE  # 1.601 has three decimals, and is no thousand
    assert table.notes[0] == "sheet 'Sales'; others are 'Typing errors', which sheet= names"
    assert table.notes[1].startswith("1 line before the header left out, beginning with 'Report of sales'")
    assert table.row_name(0) == "line 4"  # as the sheet numbers its rows
    assert xlsx in table.files


def test_a_sheet_is_chosen_by_name_or_number(xlsx):
    for sheet in ("Typing errors", 2):
        table = ritz.read(xlsx, sheet=sheet)
        assert table.columns[0].strays == (("4..5", 10),)
        assert table.notes[0] == "sheet 'Typing errors'"
    assert ritz.read(xlsx, sheet=2, coerce=True).missing == {"x": 1}
    with pytest.raises(ritz.InputError, match=r"(?s)a sheet 'Nope'.*received sheets 'Sales', 'Typing errors'\nhint: "):
        ritz.read(xlsx, sheet="Nope")
    with pytest.raises(ritz.ParameterError, match="delimiter is for text files only"):
        ritz.read(xlsx, delimiter=";")


def test_a_sheet_of_opendocument_is_read_alike(ods):
    table = ritz.read(ods)
    assert table.kinds == {"shop": "identifier", "turnover": "numeric", "rate": "numeric"}
    assert table.labels("turnover") == TURNOVER
    assert table.labels("rate") == RATE


def test_a_damaged_workbook_is_refused(xlsx):
    data = xlsx.read_bytes()
    xlsx.write_bytes(data[: len(data) // 2])
    with pytest.raises(ritz.FileError, match="hint: "):
        ritz.read(xlsx)


@pytest.mark.parametrize(
    "written",
    [
        json.dumps([{"a": 1, "b": {"c": 2.5}}, {"a": 3, "b": {"c": 1}}, {"a": 4}]),
        '{"a": 1, "b": {"c": 2.5}}\n\n{"a": 3, "b": {"c": 1}}\n{"a": 4}\n',
        json.dumps({"columns": ["a", "b.c"], "data": [[1, 2.5], [3, 1], [4, None]]}),
        json.dumps({"a": [1, 3, 4], "b.c": [2.5, 1, None]}),
        "\ufeff" + json.dumps({"count": 3, "results": [{"a": 1, "b.c": 2.5}, {"a": 3, "b.c": 1}, {"a": 4}]}),
    ],
    ids=["rows", "lines", "split", "columns", "within"],
)
def test_json_in_its_forms(tmp_path, written):
    path = tmp_path / "table.json"
    path.write_text(written, encoding="utf-8")
    table = ritz.read(path)
    assert table.names == ["a", "b.c"]
    assert table.labels("a") == [1, 3, 4]
    assert table.labels("b.c") == [2.5, 1, None]


@pytest.mark.parametrize(
    ("written", "words"),
    [('[{"x": 1},\n{"y": }]', "line 2"), ('{"x": 1}\n{"x": 2\n', "line 2"), ('[["a"], {"b": 1}]', "begins with")],
)
def test_json_that_is_no_table_is_refused_with_its_line(tmp_path, written, words):
    path = tmp_path / "table.json"
    path.write_text(written, encoding="utf-8")
    with pytest.raises(ritz.FileError, match=rf"(?s)a table in JSON.*{words}.*hint: "):
        ritz.read(path)


def test_tables_of_sqlite(tmp_path):
    path = tmp_path / "base.db"
    base = sqlite3.connect(path)
    base.execute("CREATE TABLE m (x REAL, y TEXT, z)")
    base.executemany("INSERT INTO m VALUES (?, ?, ?)", [(1.5, "a", 1), (2, "b", "?"), (None, "a", 2.5)])
    base.commit()
    table = ritz.read(path)
    assert table.notes == ("table 'm' of the database",)
    assert table.labels("x") == [1.5, 2, None]
    assert table.labels("z") == ["1", "?", "2.5"]
    base.execute('CREATE TABLE "n n" (k INTEGER)')
    base.execute('INSERT INTO "n n" VALUES (7)')
    base.commit()
    base.close()
    with pytest.raises(ritz.InputError, match=r"(?s)2 tables: 'm', 'n n'\nhint: sheet='m'"):
        ritz.read(path)
    assert ritz.read(path, sheet="n n").labels("k") == [7]


def test_tables_of_duckdb(tmp_path):
    duckdb = pytest.importorskip("duckdb")
    path = tmp_path / "base.duckdb"
    (tmp_path / "secret.csv").write_text("s\n1\n")
    base = duckdb.connect(str(path))
    base.execute("CREATE TABLE q AS SELECT i AS a, i * 1.5 AS b FROM range(10) t(i)")
    base.execute(f"CREATE VIEW v AS SELECT * FROM read_csv('{tmp_path / 'secret.csv'}')")
    base.close()
    table = ritz.read(path)
    assert table.notes == ("table 'q' of the database",)
    assert table.select(["b"])[:3, 0].tolist() == [0, 1.5, 3]
    with pytest.raises(ritz.InputError, match="expected a table 'v'"):  # which would read another file
        ritz.read(path, sheet="v")


def test_arrays_of_pictures(tmp_path):
    pictures = np.arange(2 * 3 * 4.0).reshape(2, 3, 4)
    np.save(tmp_path / "p.npy", pictures)
    table = ritz.read(tmp_path / "p.npy")
    assert table.image_shape == (3, 4)
    assert np.array_equal(table.select(table.names), pictures.reshape(2, 12))
    np.save(tmp_path / "f.npy", np.asfortranarray(pictures))
    with pytest.raises(ritz.FileError, match="rows and columns"):
        ritz.read(tmp_path / "f.npy")


def test_folders_of_pictures(tmp_path):
    image = pytest.importorskip("PIL.Image")
    rng = np.random.default_rng(0)
    folder = tmp_path / "faces"
    (folder / "more").mkdir(parents=True)
    pixels = rng.integers(0, 256, (3, 6, 8), dtype=np.uint8)
    for name, values in zip(("a.png", "b.png", "more/c.png"), pixels, strict=True):
        image.fromarray(values).save(folder / name)
    table = ritz.read(folder)
    assert table.labels("file") == ["a.png", "b.png", "more/c.png"]
    assert np.array_equal(table.select([f"x{j}" for j in range(48)]), pixels.reshape(3, 48))
    assert table.image_shape == (6, 8)
    assert table.notes == ("3 pictures of 6×8 pixels, in grey",)
    image.fromarray(pixels[0, :5]).save(folder / "d.png")
    with pytest.raises(ritz.InputError, match=r"(?s)d\.png of 5×8\nhint: image_shape=\(6, 8\)"):
        ritz.read(folder)
    assert ritz.read(folder, image_shape=(3, 4)).image_shape == (3, 4)
    (folder / "d.png").write_bytes(b"no picture")
    with pytest.raises(ritz.FileError, match="undamaged picture"):
        ritz.read(folder)


def test_rows_that_are_pictures_are_said_to_be(tmp_path):
    np.save(tmp_path / "flat.npy", np.random.default_rng(0).random((4, 12)))
    assert ritz.read(tmp_path / "flat.npy", image_shape=(3, 4)).image_shape == (3, 4)
    with pytest.raises(ritz.InputError, match="expected 5×5 = 25 columns of numbers"):
        ritz.read(tmp_path / "flat.npy", image_shape=(5, 5))


@pytest.mark.parametrize("address", ["https://example.org/a/b.csv?x=1", "s3://bucket/k.parquet", "ftp://h/t.csv"])
def test_addresses_are_refused_in_words(address):
    with pytest.raises(ritz.FileError, match=r"(?s)Ritz fetches nothing by itself.*hint: (download|copy) it"):
        ritz.read(address)
