"""How text is cut and read: options of the user, numbers in text, cuts at row ends, line numbers, packed files."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import lzma
import math
import tempfile

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ritz._core.errors import FileError, ParameterError
from ritz.data.formats.delimited import DelimitedSource
from ritz.data.formats.text.dialect import TextOptions
from ritz.data.formats.text.numbers import Reading, clean, decimal_mark, forms
from ritz.data.formats.text.read import read_text
from ritz.data.formats.text.rows import last_cut


@pytest.fixture
def put(tmp_path):
    def write(text, name="t.csv", encoding="utf-8"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode(encoding))
        return path

    return write


def columns(path, span_bytes=1 << 20, **options):
    values = read_text(path, TextOptions(**options), span_bytes=span_bytes).values
    return {name: values.column(name).to_pylist() for name in values.schema.names}


# --- what the user says -----------------------------------------------------------------------------------


def test_the_user_overrules_every_guess(put):
    assert columns(put("a,b;c\n1,2;3\n4,5;6\n"), delimiter=";") == {"a,b": [1.2, 4.5], "c": [3, 6]}
    assert columns(put("a;b\n1,234;5\n2,345;6\n"), thousands=",") == {"a": [1234, 2345], "b": [5, 6]}
    assert columns(put("a;b\n1.234;5\n2.345;6\n"), decimal=",") == {"a": [1234, 2345], "b": [5, 6]}
    assert columns(put("a;b\n1,234;5\n2,345;6\n"), decimal=".") == {"a": [1234, 2345], "b": [5, 6]}
    assert columns(put("a,b\n1,-\n-9,x\n"), missing=["-9"]) == {"a": [1, None], "b": [None, "x"]}
    assert columns(put("ä,b\n1,2\n", encoding="utf-8"), encoding="latin-1") == {"Ã¤": [1], "b": [2]}
    assert columns(put("1:2\n3:4\n"), delimiter=":", header=False) == {"x0": [1, 3], "x1": [2, 4]}
    assert columns(put("名前,b\nあ,2\nい,3\n", encoding="shift_jis"), encoding="shift_jis") == {
        "名前": ["あ", "い"],
        "b": [2, 3],
    }


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"delimiter": ",,"}, "delimiter must be one character; received ',,'\nhint: delimiter=';'"),
        ({"delimiter": '"'}, "delimiter must be one character"),
        ({"thousands": ""}, "thousands must be one character"),
        ({"decimal": ";"}, "decimal must be '.' or ','; received ';'"),
        ({"decimal": ",", "thousands": ","}, "must differ"),
        ({"encoding": "utf-9"}, "one that Python knows; received 'utf-9'\nhint: encoding='utf-8'"),
        ({"missing": "NA"}, r"a list of texts; received 'NA'\nhint: missing=\['-99'\]"),
    ],
)
def test_options_that_make_no_sense(options, word):
    with pytest.raises(ParameterError, match=word.replace(".'", r"\.'")):
        TextOptions(**options)


def test_an_encoding_that_does_not_fit(put):
    with pytest.raises(FileError, match=r"(?s)expected utf8 text in .*received byte 0xfc in line 2\nhint: leave enc"):
        read_text(put("a,b\nü,2\n", encoding="latin-1"), TextOptions(encoding="utf-8"))
    far = "a,b\n" + "x,1\n" * 80_000 + "ü,2\n"
    with pytest.raises(FileError, match=r"(?s)expected utf-8 text in .*hint: leave encoding out"):
        read_text(put(far, encoding="latin-1"), TextOptions(encoding="utf-8"))


def test_a_byte_far_down_decides_the_encoding(put):
    far = "a,b\n" + "x,1\n" * 80_000
    pieces = read_text(put(far + "ü,2\n", encoding="latin-1"), span_bytes=1 << 16)
    assert pieces.values.column("a")[-1].as_py() == "ü"
    assert any("Windows-1252" in note for note in pieces.notes)
    pieces = read_text(put(far.encode() + b"\xfc\x81,2\n"))
    assert pieces.values.column("a")[-1].as_py() == "ü\x81"
    assert any("latin-1" in note for note in pieces.notes)


# --- numbers in text --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cells", "delimiter", "mark"),
    [
        (["1,5", "2"], ";", ","),
        (["1.5", "2"], ";", "."),
        (["1.234,5"], ";", ","),
        (["1,234.5"], ",", "."),
        (["1,234,567"], ";", "."),
        (["1.234.567"], ";", ","),
        (["1,234"], ";", ","),
        (["1,234"], ",", "."),
        (["1.234"], ";", "."),
        (["0,123"], ";", ","),
        (["31.12.2021", "x"], ";", "."),
        (["12,345", "1.5"], "\t", "."),
    ],
)
def test_the_decimal_mark(cells, delimiter, mark):
    assert decimal_mark(cells, delimiter)[0] == mark


def read_as(texts, decimal="."):
    """The first reading that fits all texts, and the numbers."""
    values = clean(pa.array(texts), [""])
    for reading in forms(decimal, None, False, ""):
        import pyarrow.compute as pc

        if pc.all(pc.match_substring_regex(values.drop_null(), reading.pattern)).as_py():
            return reading, reading.numbers(values).to_pylist()
    return None, None


@pytest.mark.parametrize(
    ("texts", "numbers"),
    [
        (["1,234", "12", "1,234,567.5"], [1234, 12, 1234567.5]),
        (["1.234,5", "2,25"], [1234.5, 2.25]),
        (["1 234", "12 345 678"], [1234, 12345678]),
        (["1\u202f234,5", "7"], [1234.5, 7]),
        (["1'234.5", "1’000"], [1234.5, 1000]),
        (["(3)", "−4", "+5", " 6 "], [-3, -4, 5, 6]),
        (["1,5e3", "2"], [1500, 2]),
        ([".5", "5.", ""], [0.5, 5, None]),
        (["1,23", "4,5"], [1.23, 4.5]),
        (["1,234", "1,23"], [1.234, 1.23]),
        (["12,34,567"], [1234567]),
        (["1,2345,678"], None),
        (["007", "1"], None),
        (["007.5", "1"], [7.5, 1]),
        (["1-2"], None),
        (["12:30"], None),
        (["1.2.3"], None),
        (["1,234.5", "1.234,5"], None),
    ],
)
def test_text_is_read_as_numbers_or_not_at_all(texts, numbers):
    assert read_as(texts)[1] == numbers


@given(st.lists(st.integers(-(10**9), 10**9).map(lambda i: i / 1000), min_size=1), st.sampled_from(",. '"))
@settings(max_examples=50, deadline=None)
def test_python_formats_are_read_back(values, thousands):
    """Python's own ``format(x, ',.3f')`` writes, the reading reads."""
    decimal = "," if thousands == "." else "."
    swap = str.maketrans({",": thousands, ".": decimal})
    texts = [format(value, ",.3f").translate(swap) for value in values]
    assert Reading(decimal, thousands).numbers(pa.array(texts)).to_pylist() == values


def test_affixes_must_agree(put):
    text = 'a,b,c,d\n5%,$3,EUR 4,$1\n6%,$4,"EUR 1,000.5",€2\n7,$5.5,EUR 6,$3\n'
    got = columns(put(text))
    assert got["b"] == [3, 4, 5.5]
    assert got["c"] == [4, 1000.5, 6]
    assert got["a"] == ["5%", "6%", "7"]
    assert got["d"] == ["$1", "€2", "$3"]


# --- cuts -------------------------------------------------------------------------------------------------


def records_by_csv(text):
    """Python's csv module as the judge of where rows end."""
    ends, at = set(), 0
    lines = io.StringIO(text, newline="")
    seen = []

    def remember():
        for line in lines:
            seen.append(len(line))
            yield line

    for _ in csv.reader(remember()):
        at = sum(seen)
        ends.add(at)
    return ends


@given(st.text(alphabet='ab",\n', max_size=60))
@settings(max_examples=300, deadline=None)
def test_cuts_are_where_pythons_csv_module_ends_rows(text):
    data = text.encode()
    stop, _, is_open = last_cut(data, ",", "\n")
    ends = records_by_csv(text)
    if is_open is None:
        complete = {end for end in ends if end == 0 or text[end - 1] == "\n"}
        assert stop == max(complete, default=0)
    else:
        assert data[is_open] == ord('"')
        assert stop in ends | {0}


def test_rows_longer_than_a_piece(put):
    long = "y" * 5000
    got = columns(put(f'a,b\n1,{long}\n2,"{long}\n{long}"\n3,z\n'), span_bytes=64)
    assert got == {"a": [1, 2, 3], "b": [long, f"{long}\n{long}", "z"]}


def test_rows_longer_than_a_block_of_the_parser(put):
    long = "y" * 3_000_000
    assert columns(put(f"a,b\n1,{long}\n2,z\n"))["a"] == [1, 2]


@pytest.mark.parametrize("span_bytes", [8, 1 << 20])
def test_lines_of_rows(put, span_bytes):
    pieces = read_text(put('# c\n\na,b\n1,"x\ny"\n\n2,z\n3,"w"\n'), span_bytes=span_bytes)
    assert [pieces.line(i) for i in range(-1, 4)] == [None, 4, 7, 8, None]


@pytest.mark.parametrize("span_bytes", [16, 1 << 20])
def test_a_word_far_down_is_named_with_its_line(put, span_bytes):
    text = "a,b,c\n" + "".join(f"{i},{i}.5,x\n" for i in range(200)) + "200,oops,x\n201,3,x\n"
    pieces = read_text(put(text), span_bytes=span_bytes)
    assert pieces.reasons == {"b": "text among numbers, such as 'oops' in line 202"}
    assert pieces.values.schema.field("b").type == pa.string()
    assert pieces.values.column("b")[0].as_py() == "0.5"


@pytest.mark.parametrize(
    ("late", "column"),
    [
        ("3.5", [1.0, 1.0, 3.5]),
        ("007", ["1", "1", "007"]),
        ("1,000", [1.0, 1.0, 1000.0]),
        ("TRUE", ["1", "1", "TRUE"]),
        ("99999999999999999999", ["1", "1", "99999999999999999999"]),
        ("NA", [1, 1, None]),
        (" 2 ", [1, 1, 2]),
        (" 02 ", ["1", "1", "02"]),
    ],
)
@pytest.mark.parametrize("span_bytes", [8, 1 << 20])
def test_the_last_value_decides_as_well(put, late, column, span_bytes):
    assert columns(put(f"a;b\n1;x\n1;x\n{late};x\n"), span_bytes, decimal=".")["a"] == column


@pytest.mark.parametrize("others", [["1", "2"], ["1.5", "2"], ["1", "2.5"], ['"3"', " 4 "]])
@pytest.mark.parametrize("written", ["0x1F", "0X1f", " 0x1F", '"0x1F"', "0xFFFFFFFFFFFFFFFF"])
@pytest.mark.parametrize("at", [0, 1, 2])
@pytest.mark.parametrize("span_bytes", [8, 1 << 20])
def test_hexadecimal_digits_are_text_however_the_file_is_cut(put, others, written, at, span_bytes):
    cells = [*others[:at], written, *others[at:]]
    path = put("a;b\n" + "".join(f"{cell};x\n" for cell in cells))
    assert columns(path, span_bytes, decimal=".")["a"] == [cell.strip('" ') for cell in cells]


def test_one_hexadecimal_number_among_others_is_named_with_its_line(put):
    text = "a,b\n" + "".join(f"{'0x1F' if i == 20 else i},{i}\n" for i in range(40))
    assert read_text(put(text)).reasons == {"a": "text among numbers, such as '0x1F' in line 22"}


@pytest.mark.parametrize("late", ["5", "2.5"])
@pytest.mark.parametrize("nought", ["-0", " -0 ", "-0\t", '"-0"'])
@pytest.mark.parametrize("span_bytes", [8, 1 << 20])
def test_minus_nought_keeps_its_sign_however_the_file_is_cut(put, late, nought, span_bytes):
    values = columns(put(f"a;b\n{nought};x\n0;y\n3;-0.5\n{late};x\n"), span_bytes, decimal=".")["a"]
    assert [math.copysign(1, value) for value in values] == [-1, 1, 1, 1]


# --- packed and damaged -----------------------------------------------------------------------------------

PLAIN = b"a,b\n1,2.5\n3,4\n"


@pytest.mark.parametrize(
    "pack", [gzip.compress, bz2.compress, lzma.compress, lambda b: pa.compress(b, "zstd").to_pybytes()]
)
@pytest.mark.parametrize("name", ["t.csv.packed", "t.csv"])
def test_packed_text_is_known_by_its_content(put, pack, name):
    assert columns(put(pack(PLAIN), name)) == {"a": [1, 3], "b": [2.5, 4]}


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_packed_text_that_is_cut_off(put, pack):
    whole = pack(b"a,b\n" + b"".join(b"%d,%d\n" % (i, i * i % 9973) for i in range(60_000)))
    with pytest.raises(FileError, match=r"(?s)undamaged .*t.csv.*\nhint: the file may be cut off"):
        read_text(put(whole[: len(whole) // 2]))


def test_unpacked_text_goes_to_a_nameless_file(put, monkeypatch, tmp_path):
    monkeypatch.setattr("ritz.data.formats.text.bytes.KEPT", 10)
    monkeypatch.setattr("ritz.data.formats.text.file.open_text", _small)
    room = tmp_path / "room"
    room.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(room))
    assert columns(put(gzip.compress(PLAIN))) == {"a": [1, 3], "b": [2.5, 4]}
    assert list(room.iterdir()) == []


def test_a_full_disk_while_unpacking(put, monkeypatch):
    class Full(io.BytesIO):
        def write(self, data):
            raise OSError(28, "No space left on device")

    monkeypatch.setattr("ritz.data.formats.text.file.open_text", _small)
    monkeypatch.setattr(tempfile, "TemporaryFile", Full)
    with pytest.raises(FileError, match=r"(?s)room for the unpacked text of .*No space left.*\nhint: set TMPDIR"):
        read_text(put(gzip.compress(PLAIN)))


def _small(path, encoding):
    from ritz.data.formats.text.bytes import open_text

    return open_text(path, encoding, kept=4)


def test_a_zero_byte_far_down(put):
    with pytest.raises(FileError, match=r"(?s)expected text in .*a zero byte in line 100002\nhint: "):
        read_text(put(b"a,b\n" + b"1,2\n" * 100_000 + b"1,\x00\n"))


def test_damage_far_down_names_the_line(put):
    text = "a,b\n" + "1,2\n" * 100_000 + "1\n" + "1,2\n" * 10
    for span_bytes in (1 << 16, 1 << 25):
        with pytest.raises(FileError, match=r"line 100002: Expected 2 columns, got 1: '1'"):
            read_text(put(text), span_bytes=span_bytes)


# --- whatever is written is read back ---------------------------------------------------------------------

finite = st.floats(allow_nan=False, allow_infinity=False, width=64)
words = st.text(alphabet=st.sampled_from("abcxyzäß,;|\"' \n\té"), min_size=1, max_size=8).filter(
    lambda text: text == text.strip() and any(c.isalpha() for c in text)
)
# The first letter keeps words from being read as something else.
cells = {"float": finite, "integer": st.integers(-(2**53), 2**53), "word": words.map(lambda text: f"w{text}")}


@st.composite
def tables(draw):
    kinds = draw(st.lists(st.sampled_from(sorted(cells)), min_size=2, max_size=5))
    n = draw(st.integers(2, 12))
    return [draw(st.lists(st.none() | cells[kind], min_size=n, max_size=n)) for kind in kinds]


def written(table, delimiter, decimal, end, quoting, mark):
    out = io.StringIO(newline="")
    if end == "\r":  # the csv module leaves the other line end without quotes
        quoting = csv.QUOTE_ALL
    writer = csv.writer(out, delimiter=delimiter, lineterminator=end, quoting=quoting)
    writer.writerow([f"name {j}" for j in range(len(table))])
    for row in zip(*table, strict=True):
        writer.writerow(
            [mark if v is None else v if isinstance(v, str) else repr(v).replace(".", decimal) for v in row]
        )
    return out.getvalue()


@given(
    table=tables(),
    delimiter=st.sampled_from(",;\t|"),
    decimal=st.sampled_from(".,"),
    end=st.sampled_from(["\n", "\r\n", "\r"]),
    quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    mark=st.sampled_from(["", "NA", "?"]),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "latin-1"]),
    span_bytes=st.sampled_from([8, 50, 1 << 20]),
)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_random_tables_in_random_dialects(
    tmp_path, table, delimiter, decimal, end, quoting, mark, encoding, span_bytes
):
    if all(column[-1] is None for column in table):
        mark = "NA"  # empty lines at the end are left out
    path = tmp_path / "random.csv"
    path.write_bytes(written(table, delimiter, decimal, end, quoting, mark).encode(encoding))
    # What Python's csv module wrote is said where it could be read in two ways.
    options = TextOptions(
        delimiter=delimiter, decimal=decimal, header=True, encoding="latin-1" if encoding == "latin-1" else None
    )
    got = read_text(path, options, span_bytes=span_bytes).values
    assert got.num_rows == len(table[0])
    for values, column in zip(table, got.columns, strict=True):
        assert column.to_pylist() == values
    whole = read_text(path, options).values
    assert whole.equals(got)
    source = DelimitedSource(path, options, span_bytes=span_bytes)
    streamed = pa.Table.from_batches(
        [batch for span in source.spans for batch in source.record_batches(span, source.fields, 5)]
    )
    assert streamed.equals(whole)


plain = {
    "float": st.integers(-(10**7), 10**7).map(lambda i: i / 128),
    "integer": st.integers(0, 10**6),
    "word": st.sampled_from(["red", "blue", "a b", "x,y", "5 apples", "né"]),
}


@st.composite
def plain_tables(draw):
    kinds = ["float", *draw(st.lists(st.sampled_from(sorted(plain)), min_size=1, max_size=4))]
    n = draw(st.integers(4, 12))
    columns = [draw(st.lists(plain[kind], min_size=n, max_size=n)) for kind in kinds]
    columns[0][0] = 0.5  # one number that shows the decimal mark
    return columns


@given(
    table=plain_tables(),
    delimiter=st.sampled_from(",;\t|"),
    decimal=st.sampled_from(".,"),
    end=st.sampled_from(["\n", "\r\n", "\r"]),
    quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC]),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "latin-1"]),
)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_plain_tables_are_found_out(tmp_path, table, delimiter, decimal, end, quoting, encoding):
    path = tmp_path / "plain.csv"
    path.write_bytes(written(table, delimiter, decimal, end, quoting, "").encode(encoding))
    got = read_text(path).values
    assert got.schema.names == [f"name {j}" for j in range(len(table))]
    for values, column in zip(table, got.columns, strict=True):
        assert column.to_pylist() == values
