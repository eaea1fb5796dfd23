"""Files become tables: dialects, kinds of columns, and refusals that say what to do."""

from __future__ import annotations

import gzip
import os
import pickle
import re
import warnings

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.base import BaseEstimator

from ritz._core.errors import ColumnsSetAside, FileError, InputError, NonFiniteError
from ritz.data.tables.read import read
from ritz.data.tables.table import Column, Table
from ritz.data.validate import require_finite, validate_rows


@pytest.fixture
def put(tmp_path):
    def write(text, name="t.csv", encoding="utf-8"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode(encoding))
        return path

    return write


def numbers(table):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ColumnsSetAside)
        return table.numeric()


# --- dialects ---------------------------------------------------------------------------------------------

DIALECTS = {
    "comma": "a,b\n1.5,2\n3,4.25\n",
    "semicolon": "a;b\n1.5;2\n3;4.25\n",
    "decimal comma": "a;b\n1,5;2\n3;4,25\n",
    "tab": "a\tb\n1.5\t2\n3\t4.25\n",
    "tab with decimal comma": "a\tb\n1,5\t2\n3\t4,25\n",
    "bar": "a|b\n1.5|2\n3|4.25\n",
    "windows ends": "a,b\r\n1.5,2\r\n3,4.25\r\n",
    "no end": "a,b\n1.5,2\n3,4.25",
    "blank lines": "\n\na,b\n1.5,2\n\n3,4.25\n\n",
    "quotes": '"a","b"\n"1.5","2"\n"3","4.25"\n',
    "spaces in header": " a , b \n1.5,2\n3,4.25\n",
    "exponents": "a,b\n1.5e0,20E-1\n3,4.25\n",
}


@pytest.mark.parametrize("text", DIALECTS.values(), ids=DIALECTS.keys())
def test_dialects_give_the_same_numbers(put, text):
    X, names = numbers(read(put(text)))
    assert names == ["a", "b"]
    np.testing.assert_array_equal(X, [[1.5, 2], [3, 4.25]])


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "latin-1"])
def test_encodings(put, encoding):
    X, names = numbers(read(put("größe,b\n1,2.5\n3,4\n", encoding=encoding)))
    assert names == ["größe", "b"]
    np.testing.assert_array_equal(X, [[1, 2.5], [3, 4]])


def test_latin_1_far_behind_the_sample(put):
    body = "a,b,c\n" + "1,2,x\n" * 60_000 + "3,4,ü\n"
    table = read(put(body, encoding="latin-1"))
    assert table.n_rows == 60_001
    assert any("latin-1" in note for note in table.notes)


def test_no_header_is_noticed_and_noted(put):
    table = read(put("1,5;2\n3;4,5\n7;8\n"))
    X, names = numbers(table)
    assert names == ["x0", "x1"]
    assert X.shape == (3, 2)
    assert any("taken as data" in note for note in table.notes)
    assert any("decimal mark is a comma" in note for note in table.notes)


BODY = "5,7.5,1\n2,8,4\n3,3,3\n"


@pytest.mark.parametrize("first", ["0,1,2", "1,2,3", "2019,2020,2024", '"0","1","2"'])
def test_a_header_that_counts_or_gives_years(put, first):
    table = read(put(f"{first}\n{BODY}"))
    assert table.names == first.replace('"', "").split(",")
    assert table.n_rows == 3
    assert any("numbers the columns, so it is the header (header=False" in note for note in table.notes)


@pytest.mark.parametrize(
    "text",
    [
        f"0,2,1\n{BODY}",
        f"1,1,1\n{BODY}",
        f"2020,2019,2018\n{BODY}",
        f"1,2,3.0\n{BODY}",
        "0,1,2\n2,1,0\n0,1,2\n1,1,1\n",
        "1,2,3\n4,5,6\n7,8,9\n10,11,12\n",
        "2001,2005,2009\n1950,1951,1960\n1999,2000,2010\n2001,2002,2003\n",
    ],
)
def test_a_first_line_of_other_numbers_is_data(put, text):
    table = read(put(text))
    assert table.n_rows == 4
    assert table.names == ["x0", "x1", "x2"]
    assert any("header=True takes it as names" in note for note in table.notes)


def test_the_user_decides_about_the_header(put):
    table = read(put("0,1,2\n" + BODY), header=False)
    assert (table.n_rows, table.names) == (4, ["x0", "x1", "x2"])
    assert any("as asked" in note for note in table.notes)
    table = read(put("0.5,7,1\n" + BODY), header=True)
    assert (table.n_rows, table.names, table.notes) == (3, ["0.5", "7", "1"], ())
    assert read(put("a,b\n1,2\n3,4\n"), header=False).n_rows == 3


def test_a_row_is_named_by_its_line(put):
    table = read(put("\n\na,b\n1,2\n\n3,4\n"))
    assert [table.row_name(i) for i in range(3)] == ["line 4", "line 6", "row 2"]
    assert read(put('a,b\n"1",2\n3,4\n')).row_name(0) == "line 2"
    assert read(put(gzip.compress(b"a,b\n1,2\n3,4\n"), "t.csv.gz")).row_name(1) == "line 3"


def test_header_one_field_short_as_r_writes_it(put):
    table = read(put('"a" "b"\n'.replace(" ", "\t") + '"r1"\t1\t2\n"r2"\t3\t4.5\n"r3"\t5\t6\n'))
    X, names = numbers(table)
    assert names == ["a", "b"]
    assert table.names == ["row", "a", "b"]
    assert table.kinds["row"] == "identifier"
    np.testing.assert_array_equal(X, [[1, 2], [3, 4.5], [5, 6]])


def test_repeated_and_empty_names(put):
    table = read(put(",a,a,\n0,1,2,5\n1,3,4,7\n2,9,9,8\n"))
    assert table.names == ["row", "a", "a_2", "x3"]
    assert numbers(table)[1] == ["a", "a_2", "x3"]


def test_line_ends_inside_quotes(put):
    table = read(put('a,note\n1,"two\nlines, and a comma"\n2,"x"\n3,"x"\n'))
    assert table.n_rows == 3
    np.testing.assert_array_equal(numbers(table)[0].ravel(), [1, 2, 3])


def test_one_column_of_numbers(put):
    X, names = numbers(read(put("length\n1\n2\n3.5\n")))
    assert names == ["length"]
    assert X.shape == (3, 1)


def test_a_type_that_changes_late_is_still_right(put):
    X, _ = numbers(read(put("a,b\n" + "1,2\n" * 400_000 + "1.5,3\n")))
    assert X[-1].tolist() == [1.5, 3.0]


def test_compressed_text(put):
    X, _ = numbers(read(put(gzip.compress(b"a,b\n1,2\n3,4\n"), "t.csv.gz")))
    np.testing.assert_array_equal(X, [[1, 2], [3, 4]])


# --- kinds ------------------------------------------------------------------------------------------------


def test_kinds_and_reasons(put):
    rows = [
        f"{i + 100},{i * 1.5},{'red' if i % 2 else 'blue'},2021-01-{i + 1:02d},5,k{i},"
        f"{'a long remark that nobody would take for a key ' + str(i)},{i % 3 == 0},,{i if i else 'n.d.'}"
        for i in range(25)
    ]
    table = read(put("sample_id,x,colour,day,unit,key,remark,flag,nothing,y\n" + "\n".join(rows) + "\n"))
    assert table.kinds == {
        "sample_id": "identifier",
        "x": "numeric",
        "colour": "categorical",
        "day": "date",
        "unit": "constant",
        "key": "identifier",
        "remark": "text",
        "flag": "numeric",
        "nothing": "constant",
        "y": "text",
    }
    reasons = dict(table.set_aside)
    assert reasons["colour"] == "categories: 2 different values"
    assert reasons["unit"] == "always 5"
    assert reasons["nothing"] == "no values"
    assert reasons["y"] == "text among numbers, such as 'n.d.' in line 2"
    assert table.missing == {"nothing": 25}
    assert "25 rows × 10 columns: 2 numeric, 1 categorical" in repr(table)


def test_numbers_that_only_look_like_identifiers_stay(put):
    table = read(put("year,x,n\n2001,1,3\n2002,5,1\n2003,2,2\n"))
    assert set(table.kinds.values()) == {"numeric"}  # consecutive, but counting from neither 0 nor 1
    table = read(put("x,i\n5,1\n7,2\n6,3\n"))
    assert set(table.kinds.values()) == {"numeric"}  # counts, but is not the first column
    assert read(put("i,x\n1,5\n2,7\n3,6\n")).kinds["i"] == "numeric"  # too few rows to tell
    rows = [f"{i},{i * i}" for i in range(12)]
    assert read(put("i,x\n" + "\n".join(rows))).kinds["i"] == "identifier"
    assert read(put("i,x\n" + "\n".join(rows[::-1]))).kinds["i"] == "numeric"


def test_setting_aside_warns_with_reasons(put):
    table = read(put("x,colour\n1,red\n2,blue\n3,red\n"))
    with pytest.warns(ColumnsSetAside, match=r"1 column set aside: 'colour' \(categories: 2 different values\)"):
        X, names = table.numeric()
    assert names == ["x"]
    assert X.shape == (3, 1)


def test_no_numeric_column(put):
    table = read(put("a,b\nred,x\nblue,y\nred,z\n"))
    with pytest.raises(InputError, match=r"(?s)a numeric column in t.csv; received 2 columns, none.*'a' \(cat.*hint"):
        table.numeric()


def test_only_constant_columns(put):
    with pytest.raises(
        InputError, match=r"(?s)a column that varies in t.csv; received only constant columns: 'a' .*hint"
    ):
        read(put("a,b\n1,x\n1,x\n")).numeric()


def test_numbers_with_signs_in_other_tables_are_text_that_says_so():
    columns = {"p": ["$1,000.50", "-$3", "$3"], "q": ["5%", "7.5%", "7.5 %"], "e": ["3 €", "4 €", "4 €"]}
    table = read(pa.table({"a": [1, 2, 5], **columns, "w": ["5% off", "x", "y"]}))
    reasons = dict(table.set_aside)
    assert reasons["p"] == "text that holds numbers with $ or %, such as '$1,000.50'"
    assert reasons["q"] == "text that holds numbers with $ or %, such as '5%'"
    assert reasons["e"] == "text that holds numbers with €, such as '3 €'"
    assert "identifier" in reasons["w"]
    assert table.kinds["p"] == "text"


def test_missing_marks_become_nan_and_are_counted(put):
    table = read(put("a,b\n1,?\nNA,2\n3,-\n4,5\n"))
    assert table.missing == {"a": 1, "b": 2}
    X, names = numbers(table)
    with pytest.raises(NonFiniteError, match=r"3 such values in 2 of 2 columns: column 'b' \(2\), column 'a' \(1\)"):
        require_finite(X, names)


# --- tables in estimators ---------------------------------------------------------------------------------


class Known(BaseEstimator):
    """Something to hang column names on."""


def test_fit_records_the_columns_used_and_transform_selects_by_name(put):
    model = Known()
    with pytest.warns(ColumnsSetAside):
        validate_rows(model, read(put("x,colour,y\n1,red,5\n2,blue,6\n4,red,9\n")), reset=True)
    assert list(model.feature_names_in_) == ["x", "y"]
    assert model.n_features_in_ == 2
    other = read(put("y,extra,x\n50,1,10\n60,7,20\n", "new.csv"))
    np.testing.assert_array_equal(validate_rows(model, other, reset=False), [[10, 50], [20, 60]])
    with pytest.raises(InputError, match=r"(?s)columns 'x', 'y' in bad.csv; received a table without 'y'\nhint: .*'z'"):
        validate_rows(model, read(put("x,z\n1,2\n3,4\n", "bad.csv")), reset=False)


def test_one_row_can_be_transformed(put):
    model = Known()
    validate_rows(model, read(put("x,y\n1,5\n2,6\n")), reset=True)
    np.testing.assert_array_equal(validate_rows(model, read(put("x,y\n7,8\n", "one.csv")), reset=False), [[7, 8]])
    assert read(put("x,y\n7,8\n")).kinds == {"x": "numeric", "y": "numeric"}  # one row is never constant


def test_fitted_without_names(put):
    model = Known()
    validate_rows(model, np.ones((3, 3)), reset=True)
    with pytest.raises(InputError, match=r"(?s)X has 2 features, but Known is expecting 3.*hint"):
        validate_rows(model, read(put("x,y\n1,5\n2,6\n")), reset=False)


def test_did_you_mean_a_column():
    table = Table([Column("alcohol", "numeric")], np.ones((2, 1)))
    with pytest.raises(InputError, match="did you mean 'alcohol'"):
        table.select(["alchohol"])


# --- Parquet and arrays -----------------------------------------------------------------------------------


def test_parquet_with_types_of_its_own(tmp_path):
    columns = {
        "f4": pa.array([1.5, 2.5, None], pa.float32()),
        "i2": pa.array([1, 2, 4], pa.int16()),
        "flag": pa.array([True, None, False]),
        "money": pa.array([1, 2, 3], pa.decimal128(10, 2)),
        "half": pa.array(np.array([1, 2, 3], np.float16)),
        "nan": pa.array([1.0, float("nan"), 3.0]),
        "colour": pa.array(["red", "blue", "red"]).dictionary_encode(),
        "when": pa.array([1, 2, 3], pa.timestamp("s")),
        "vector": pa.array([[1, 2], [3], []]),
    }
    pq.write_table(pa.table(columns), tmp_path / "t.bin")
    table = read(tmp_path / "t.bin")  # the content decides, not the ending
    X, names = numbers(table)
    assert names == ["f4", "i2", "flag", "money", "half", "nan"]
    assert table.kinds["colour"] == "categorical"
    assert table.kinds["when"] == "date"
    assert table.kinds["vector"] == "text"
    assert table.missing == {"f4": 1, "flag": 1, "nan": 1}
    nan = np.nan
    np.testing.assert_array_equal(X, [[1.5, 1, 1, 1, 1, 1], [2.5, 2, nan, 2, 2, nan], [nan, 4, 0, 3, 3, 3]])


def test_float32_parquet_stays_float32(tmp_path):
    pq.write_table(pa.table({"a": pa.array([1, 2], pa.float32()), "b": pa.array([3, 1], pa.float32())}), tmp_path / "t")
    assert numbers(read(tmp_path / "t"))[0].dtype == np.float32


def test_damaged_parquet(tmp_path):
    pq.write_table(pa.table({"a": [1.0, 2.0]}), tmp_path / "t.parquet")
    data = (tmp_path / "t.parquet").read_bytes()
    (tmp_path / "t.parquet").write_bytes(data[: len(data) // 2])
    with pytest.raises(FileError, match=r"(?s)an undamaged Parquet file at .*hint"):
        read(tmp_path / "t.parquet")


def test_npy_is_read_and_never_mapped(tmp_path):
    X = np.random.default_rng(0).normal(size=(50, 3)).astype(np.float32)
    np.save(tmp_path / "x.npy", X)
    table = read(tmp_path / "x.npy")
    out, names = numbers(table)
    assert type(out) is np.ndarray
    assert out.base is None or not isinstance(out.base, np.memmap)
    assert names == ["x0", "x1", "x2"]
    np.testing.assert_array_equal(out, X)
    assert out.dtype == np.float32


def test_npy_constant_and_missing_columns(tmp_path):
    X = np.array([[1.0, 5.0, np.nan, np.nan], [2.0, 5.0, np.nan, 1.0], [3.0, 5.0, np.nan, 2.0]])
    np.save(tmp_path / "x.npy", X)
    table = read(tmp_path / "x.npy")
    # Numbers, whether loaded or read in pieces: what is constant is known of neither before the fit.
    assert (
        table.kinds == read(tmp_path / "x.npy", memory=100).kinds == dict.fromkeys(["x0", "x1", "x2", "x3"], "numeric")
    )
    assert table.missing == {"x2": 3, "x3": 1}
    np.testing.assert_array_equal(numbers(table)[0], X)


def test_bool_and_integer_arrays(tmp_path):
    np.save(tmp_path / "x.npy", np.array([[True, True], [False, True]]))
    assert read(tmp_path / "x.npy").kinds == {"x0": "numeric", "x1": "numeric"}
    np.save(tmp_path / "i.npy", np.array([[1, 2], [3, 4]], dtype=np.uint8))
    assert numbers(read(tmp_path / "i.npy"))[0].dtype == np.uint8


@pytest.mark.parametrize(
    ("array", "word"),
    [
        (np.ones(3), r"shape \(3,\)"),
        (np.ones((2, 2, 2), order="F"), r"shape \(2, 2, 2\)"),
        (np.ones((2, 2), complex), "complex128"),
        (np.array([["a"]]), "<U1"),
        (np.empty((0, 3)), "0 rows and 3 columns"),
        (np.array([[{}]], dtype=object), "[Oo]bject"),
    ],
)
def test_arrays_that_are_no_tables(tmp_path, array, word):
    np.save(tmp_path / "x.npy", array)
    with pytest.raises(FileError, match=f"(?s){word}.*hint"):
        read(tmp_path / "x.npy")


# --- refusals ---------------------------------------------------------------------------------------------


def test_missing_file_suggests_a_near_name(put, tmp_path):
    path = put("a,b\n1,2\n", "wine.csv")
    with pytest.raises(FileError, match=rf"(?s)does not exist\nhint: did you mean {path}\?"):
        read(tmp_path / "Whine.csv")
    with pytest.raises(FileError, match=r"(?s)does not exist\nhint: did you mean .*wine.csv\?"):
        read(tmp_path / "wine.parquet")
    with pytest.raises(FileError, match=r"(?s)does not exist\nhint: there is no folder"):
        read(tmp_path / "no" / "wine.csv")
    with pytest.raises(FileError, match=r"does not exist\nhint: check the path"):
        read(tmp_path / "something else")
    with pytest.raises(FileError, match=r"does not exist\nhint: check the path"):
        read(tmp_path / "mine2.csv")  # alike, but not alike enough
    with pytest.raises(FileError, match=r"expected a file at .*received a folder"):
        read(tmp_path)


REFUSED = {
    "nothing": (b"", "an empty file"),
    "blank": (b"\n\n  \n", "an empty file"),
    "header only": (b"a,b,c\n", "0 rows"),
    "ragged": (b"a,b\n1,2\n3,4,5\n6,7\n", "Expected 2 columns, got 3"),
    "prose": (b"Dear reader, this is\na letter and it has\nno columns at all\n", "."),
    "one word lines with spaces": (
        b"here is text\nand more text\nand the end\n",
        "lines without a delimiter",
    ),
    "html": (b"<!doctype html><table>", "begins with '<!doctype"),
    "json": (b'{"a": [1, 2', "a table in JSON"),
    "binary": (b"abc\x00\x01\x02\n" * 10, "binary content"),
    "zip": (b"PK\x03\x04" + bytes(50), r"spreadsheet \(.xlsx"),
    "pdf": (b"%PDF-1.7\n", "a PDF"),
    "png": (b"\x89PNG\r\n\x1a\n", "a PNG"),
    "pickle": (pickle.dumps({"a": 1}), "pickle"),
    "short npy": (b"\x93NUMPY\x01\x00", "."),
    "short parquet": (b"PAR1", "."),
}


@pytest.mark.parametrize(("content", "word"), REFUSED.values(), ids=REFUSED.keys())
def test_files_that_are_no_tables(put, content, word):
    with pytest.raises(FileError, match=f"(?s){word}.*\nhint: "):
        read(put(content))


@pytest.mark.parametrize(
    ("ending", "format_"),
    [("parquet", "Parquet file"), ("npy", "array file"), ("npz", ".npz archive"), ("h5ad", ".h5ad file")],
)
def test_a_file_that_is_not_what_its_ending_promises_is_called_damaged(tmp_path, ending, format_):
    path = tmp_path / f"table.{ending}"
    path.write_bytes(b"abc\x00\x01\x02\n" * 10)
    with pytest.raises(FileError, match=f"expected an undamaged {re.escape(format_)} at .*does not begin like one"):
        read(path)


def test_noise_never_escapes_as_another_error(put):
    rng = np.random.default_rng(3)
    base = b"a;b,c\n1,5;2;x\n" * 20
    for _ in range(300):
        data = bytearray(base)
        for at in rng.integers(0, len(data), size=20):
            data[at] = int(rng.integers(256))
        try:
            table = read(put(bytes(data)))
        except FileError as error:
            text = str(error)
        else:
            text = repr(table)
        assert text


def test_the_bundled_wine_table_is_scikit_learns():
    from pathlib import Path

    from sklearn.datasets import load_wine

    import ritz.data.tables.read

    table = read(Path(ritz.__file__).parent / "data" / "samples" / "wine.csv")
    assert table.kinds["cultivar"] == "categorical"
    np.testing.assert_array_equal(numbers(table)[0], load_wine().data)


def test_streams_are_refused_in_words(tmp_path, monkeypatch):
    os.mkfifo(tmp_path / "pipe")
    monkeypatch.chdir(tmp_path)
    for name in ("pipe", "-"):
        with pytest.raises(FileError, match=f"received a stream, {name}"):
            read(name)
    (tmp_path / "-").write_text("a,b\n1,2\n3,4\n")
    assert read("-").n_rows == 2  # a file may be called so
