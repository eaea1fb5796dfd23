"""Small files as people have them, each with what a person sees in it: names, kinds, some values, and the notes.

The values were written down from the files by hand. A file that cannot be read is refused with the line and a hint.
"""

from __future__ import annotations

import datetime as dt
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from ritz._core.errors import DoubtfulReading, FileError, InputError
from ritz.data.formats.load import load
from ritz.data.formats.text.dialect import TextOptions
from ritz.data.formats.text.read import read_text
from ritz.data.tables.read import read

FOLDER = Path(__file__).parent / "csv"
N, C, I, T, D = "numeric", "categorical", "identifier", "text", "date"


@dataclass(frozen=True)
class Seen:
    """What a person sees: kinds by name in order, the values of some rows, and the beginnings of all notes."""

    kinds: dict[str, str]
    rows: dict[int, tuple[Any, ...]]
    n: int = 3
    notes: tuple[str, ...] = ()
    options: dict[str, Any] = field(default_factory=dict)
    doubt: str = ""  # the beginning of a warning


SEMICOLON, TAB = "fields are separated by semicolon", "fields are separated by tab"
COMMA = "the decimal mark is a comma"
NO_HEADER = "no header: the first line holds numbers, so it is taken as data (header=True takes it as names)"
LATIN = "the text is not UTF-8; read as Windows-1252, the latin-1 of Windows (encoding= sets another)"
day = dt.datetime(2021, 12, 31)

SEEN = {
    "semicolon_decimal_comma.csv": Seen(
        {"Land": I, "Fläche": N, "Dichte": N},
        {0: ("Deutschland", 357588.0, 236.7), 2: ("Österreich", 83882.25, 107.6)},
        notes=(SEMICOLON, COMMA),
    ),
    "utf8_bom.csv": Seen({"temp": N, "Größe": N}, {0: (1.5, 3)}),
    "utf16.csv": Seen({"naïve": N, "x": N}, {2: (5, 1.0)}, notes=("the text is not UTF-8; read as utf-16",)),
    "utf16_no_bom.csv": Seen(
        {"name": I, "x": N, "value": N},
        {1: ("bob", 4.5, 2)},
        notes=("the text is not UTF-8; read as utf-16-le", TAB),
    ),
    "windows_1252.csv": Seen({"café": I, "price €": N}, {1: ("Brûlée", 4.25)}, notes=(LATIN,)),
    "quoted_newlines.csv": Seen(
        {"id": I, "note": I, "x": N}, {0: (1, "two\nlines, and a comma", 0.5), 1: (2, 'he said "no"', 1.5)}
    ),
    "thousands_comma.csv": Seen(
        {"city": I, "people": N, "area": N},
        {0: ("Berlin", 3755251, 891.1), 1: ("Rome", 2748109, 1285.3)},
        notes=("'people', 'area': commas between thousands taken out",),
    ),
    "thousands_point.csv": Seen(
        {"Stadt": I, "Einwohner": N, "Fläche": N},
        {0: ("Berlin", 3755251, 891.1), 1: ("Rom", 2748109, 1285.3), 2: ("Pisa", 89969, 185.2)},
        notes=(SEMICOLON, COMMA, "'Einwohner', 'Fläche': points between thousands taken out"),
    ),
    "thousands_space.csv": Seen(
        {"ville": I, "habitants": N, "surface": N},
        {0: ("Paris", 2133111, 105.4)},
        notes=(SEMICOLON, COMMA, "'habitants': spaces between thousands taken out"),
    ),
    "thousands_apostrophe.csv": Seen(
        {"Ort": I, "Einwohner": N, "x": N},
        {0: ("Zürich", 421878, 1.5)},
        notes=(SEMICOLON, "'Einwohner': apostrophes between thousands taken out"),
    ),
    "ambiguous_comma.csv": Seen(
        {"a": N, "b": N},
        {0: (1.234, 5)},
        notes=(SEMICOLON, f"{COMMA} (thousands=',' takes the commas as separators of thousands)"),
        doubt="'a': commas are taken for decimal marks, as in '1,234'; thousands=',' takes",
    ),
    "ambiguous_point.csv": Seen(
        {"a": N, "b": N},
        {0: (1.601, 5)},
        notes=(SEMICOLON,),
        doubt="'a': points are taken for decimal marks, as in '1.601'; thousands='.' takes",
    ),
    "three_decimals.csv": Seen({"a": N, "b": N}, {0: (1.601, 0.5), 1: (2.01, 6)}),
    "thousands_money.csv": Seen(
        {"Name": I, "Miete": N, "Fläche": N},
        {0: ("A", 532, 40), 1: ("B", 1601, 80), 3: ("D", 2010, 120)},
        n=4,
        notes=(SEMICOLON, "'Miete': points between thousands taken out (decimal='.' takes", "'Miete': € taken off"),
    ),
    "thousands_without_decimals.csv": Seen(
        {"town": I, "people": N, "visitors": N},
        {0: ("Ulm", 532, 12480), 1: ("Kiel", 1601, 7001), 2: ("Bonn", 12480, 980)},
        notes=(SEMICOLON, "'people': points between thousands", "'visitors': commas between thousands"),
    ),
    "thousands_in_doubt.csv": Seen(
        {"a": N, "b": N},
        {0: (532, 1.5), 1: (1601, 2), 2: (12480, 3)},
        notes=("'a': points between thousands taken out (decimal='.' takes",),
        doubt="'a': points are taken for separators of thousands, as in '1.601' beside whole numbers below 1000",
    ),
    "thousands_india.csv": Seen(
        {"state": I, "people": N, "area": N},
        {0: ("Goa", 1458545, 3702), 1: ("Kerala", 33406061, 38863)},
        notes=("'people': commas between thousands taken out",),
    ),
    "trailing_minus.csv": Seen(
        {"account": I, "balance": N},
        {0: ("A", -12.5), 1: ("B", 3.25), 2: ("C", -1)},
        notes=("'balance': a minus behind a number is its sign",),
    ),
    "units_in_cells.csv": Seen(
        {"fruit": I, "mass": N, "heat": N, "pieces": N},
        {0: ("apple", 150, 20.5, 3), 2: ("plum", 40.5, 19, 12)},
        notes=("'mass': g taken off", "'heat': °C taken off", "'pieces': pcs taken off"),
    ),
    "money_of_many.csv": Seen(
        {"item": I, "swiss": N, "rupees": N, "crowns": N},
        {0: ("a", 1200.5, 5, 12)},
        notes=(SEMICOLON, "'swiss': apostrophes", "'swiss': CHF taken", "'rupees': ₹ taken", "'crowns': kr taken"),
    ),
    "units_below_names.csv": Seen(
        {"height": N, "weight": N, "age": N},
        {0: (180.5, 81, 40)},
        notes=("line 2 left out, which holds units: '(cm), (kg), (years)'",),
    ),
    "titles_of_full_width.csv": Seen(
        {"h": N, "w": N, "a": N},
        {0: (1.5, 2, 3)},
        notes=("2 lines before the header left out, beginning with 'Survey made by the office'",),
    ),
    "mixed_decimals.csv": Seen({"x": T, "y": N}, {1: ("2,5", 2)}, n=4),
    "decimals_by_column.csv": Seen(
        {"a": N, "b": N, "c": N},
        {0: (1.5, 1.5, 1200), 1: (2.25, 2.25, 3400.5), 2: (3.75, 7.125, 12)},
        notes=(SEMICOLON, COMMA, "'b': the decimal mark is a point", "'c': points between thousands"),
    ),
    "repeated_header.csv": Seen({"h": T, "w": T}, {0: ("1.5", "2"), 9: ("h", "w")}, n=13),
    "booleans_of_words.csv": Seen({"x": N, "answer": C, "flag": N}, {0: (1.5, "yes", True), 1: (2, "no", False)}),
    "percent.csv": Seen(
        {"party": I, "share": N, "swing": N},
        {0: ("A", 41.2, 1.5), 1: ("B", 33, -2)},
        notes=("'share', 'swing': per cent signs taken off, so that 5% is 5",),
    ),
    "currency.csv": Seen(
        {"item": I, "price": N, "refund": N, "euro": N},
        {0: ("pen", 1000.5, -2.5, 3), 1: ("cup", 3, 0.75, 4), 2: ("bag", -12.25, -1, 5)},
        notes=(
            "'price': commas between thousands taken out",
            "'price', 'refund': $ taken off",
            "'refund': numbers in parentheses are negative",
            "'euro': € taken off",
        ),
    ),
    "mixed_currency.csv": Seen({"item": I, "price": T}, {1: ("cup", "€4")}),
    "accounting_minus.csv": Seen(
        {"x": N, "y": N}, {0: (-1.5, -3), 1: (2, 4.5)}, notes=("'y': numbers in parentheses are negative",)
    ),
    "units_in_header.csv": Seen({"height (cm)": N, "weight [kg]": N, "temp °C": N}, {0: (180.5, 81, 36.6)}),
    "duplicate_headers.csv": Seen(
        {"x": N, "x_2": N, "y": N, "x_3": N},
        {0: (1, 2, 3, 4)},
        notes=("some columns share a name; a number was added",),
    ),
    "empty_headers.csv": Seen(
        {"row": I, "a": N, "x2": N, "b": N},
        {0: ("r1", 1.5, 2, 3)},
        notes=("columns without a name are called 'row', 'x2'",),
    ),
    "dates.csv": Seen(
        {"iso": D, "stamp": D, "german": D, "us": D, "british": D, "named": D, "short": D, "x": N},
        {0: (day.date(), day.replace(hour=10, minute=30), day, day, day, day, day, 1.5)},
        notes=(
            "'german', 'british', 'named', 'short': read as dates: day, month, year",
            "'us': read as dates: month, day, year",
        ),
    ),
    "ambiguous_dates.csv": Seen(
        {"day": D, "x": N},
        {0: (dt.datetime(2022, 2, 1), 1)},
        notes=("'day': read as dates: day, month, year (month, day, year would fit as well)",),
    ),
    "leading_zeros.csv": Seen(
        {"zip": I, "account": I, "x": N},
        {0: ("00123", "12345678901234567890", 1)},
        notes=(
            "'zip': codes such as '00123' kept as text",
            "'account': codes such as '12345678901234567890' kept as text",
        ),
    ),
    "trailing_commas.csv": Seen({"a": N, "b": N}, {1: (3, 4.5)}, notes=("every line, the header too, ends in a del",)),
    "trailing_commas_short_header.csv": Seen({"a": N, "b": N}, {1: (3, 4.5)}, notes=("every line ends in a del",)),
    "trailing_commas_filled.csv": Seen(
        {"a": N, "b": N, "x2": I}, {1: (3, 4.5, "oops")}, notes=("columns without a name are called 'x2'",)
    ),
    "title_lines.csv": Seen(
        {"region": I, "q1": N, "q2": N},
        {0: ("north", 1.5, 2)},
        notes=("2 lines before the header left out, beginning with 'Sales report 2021'",),
    ),
    "title_padded.csv": Seen(
        {"region": I, "q1": N, "q2": N},
        {0: ("north", 1.5, 2)},
        notes=("2 lines before the header left out, beginning with 'Sales report'",),
    ),
    "comment_lines.csv": Seen(
        {"time": N, "volt": N},
        {0: (0.1, 5.5)},
        notes=("2 lines before the header left out, beginning with '# made by a logger'",),
    ),
    "hash_header.tsv": Seen(
        {"chrom": C, "start": N, "score": N},
        {0: ("chr1", 5, 0.5)},
        notes=("1 line before the header left out, beginning with '##source=sim'", TAB),
    ),
    "mixed_types.csv": Seen({"a": N, "b": T}, {1: (2, "n.d.")}, n=6),
    "one_row.csv": Seen({"a": N, "b": I}, {0: (1.5, "x")}, n=1),
    "one_column.csv": Seen({"length": N}, {0: (1.5,)}),
    "tabs.tsv": Seen({"a": N, "b": C}, {0: (1.5, "red")}, notes=(TAB,)),
    "pipes.txt": Seen({"a": N, "b": N}, {0: (1.5, 2)}, notes=("fields are separated by bar",)),
    "spaces_around.csv": Seen(
        {"name": C, "x": N, "y": N},
        {0: ("ann", 1.5, None), 1: ("bob", 2, 3)},
        notes=("'name', 'y': spaces around values taken off", "'NA' counts as missing"),
    ),
    "missing_marks.csv": Seen(
        {"a": N, "b": N, "c": N, "d": C},
        {0: (1, None, None, "x"), 1: (None, 2, 4, None), 3: (5, None, 7, "x")},
        n=4,
        notes=("'?', '-', 'NA', 'n/a', '#N/A' and 1 more count as missing",),
    ),
    "own_missing_mark.csv": Seen({"a": N, "b": N}, {0: (1, None), 1: (None, 2)}, options={"missing": ["-99"]}),
    "scientific.csv": Seen({"a": N, "b": N}, {0: (1500, -0.0002), 1: (6.02214076e23, 1), 2: (0.5, 5)}),
    "scientific_comma.csv": Seen({"a": N, "b": N}, {0: (1500, -0.0002), 2: (0.5, 2.5)}, notes=(SEMICOLON, COMMA)),
    "booleans.csv": Seen({"x": N, "flag": N, "answer": C}, {0: (1.5, True, "yes"), 1: (2, False, "no")}),
    "excel_sep.csv": Seen(
        {"a": N, "b": N}, {0: (1.5, 2), 1: (3, 4.25)}, n=2, notes=("the first line, sep=;, names the delimiter", COMMA)
    ),
    "r_write_table.txt": Seen(
        {"row": I, "sepal": N, "petal": N, "species": C},
        {0: (1, 5.1, 1.4, "setosa x"), 2: (3, 6.3, 6, "virginica")},
        notes=("the header is one field short", "columns without a name", "fields are separated by space"),
    ),
    "r_write_csv.csv": Seen(
        {"row": I, "mpg": N, "cyl": N},
        {0: ("Mazda RX4", 21, 6)},
        notes=("columns without a name are called 'row'",),
    ),
    "all_quoted.csv": Seen(
        {"a": N, "b": C, "c": I}, {0: (1.5, "x", "00017")}, notes=("'c': codes such as '00017' kept as text",)
    ),
    "cr_only.csv": Seen({"a": N, "b": N}, {0: (1.5, 2), 2: (5, 9)}),
    "no_header_mixed.csv": Seen({"x0": N, "x1": N, "x2": C}, {0: (5.1, 3.5, "setosa")}, notes=(NO_HEADER,)),
    "years_in_header.csv": Seen(
        {"country": I, "2019": N, "2020": N, "2021": N},
        {0: ("A", 1.5, 2, 3)},
        notes=("the first line, country … 2021, holds numbers that look like names (2019, …), so it is the header",),
    ),
    "quantile_header.csv": Seen(
        {"region": I, "5%": N, "95%": N},
        {0: ("north", 1.5, 9)},
        notes=("the first line, region … 95%, holds numbers that look like names (5%, …), so it is the header",),
    ),
    "empty_rows_at_end.csv": Seen(
        {"a": N, "b": N, "c": N},
        {2: (3, None, None)},
        notes=("3 empty lines at the end left out",),
    ),
    "inch_quotes.csv": Seen({"size": I, "x": N}, {0: ('5" pipe', 1.5), 2: ('2" pipe', 4)}),
}

REFUSED = {
    "zero_rows.csv": r"expected .*received an empty file\nhint: ",
    "blank.csv": r"expected .*received an empty file\nhint: ",
    "header_only.csv": r"received 0 rows and 3 columns \('alpha', 'beta', 'gamma'\)\nhint: .*header=False",
    "ragged_long.csv": r"received line 3: .*columns, got 3: '3,4,5'\nhint: .*double quotes",
    "ragged_short.csv": r"received line 3: .*columns, got 2: '3,4'\nhint: ",
    "cut_off.csv": r"received line 4: .*got 2: '6,7'\nhint: .*seems to be cut off",
    "open_quote.csv": r"a field that opens with a quote in line 3 and never ends\nhint: ",
    "aligned_spaces.txt": r"columns set apart by several spaces\nhint: put one delimiter between",
    "prose.txt": r"lines without a delimiter, such as 'Dear reader, this is'\nhint: ",
    "page.html": r"begins with '<!doctype html>.*\nhint: ",
    "binary.csv": r"received binary content\nhint: ",
}


@pytest.mark.parametrize("name", SEEN)
def test_a_file_is_read_as_a_person_reads_it(name):
    seen = SEEN[name]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        table = read(FOLDER / name, **seen.options)
    assert [str(one.message).startswith(f"{name}: {seen.doubt}") for one in caught] == [True] * bool(seen.doubt)
    assert table.kinds == seen.kinds
    assert table.names == list(seen.kinds)
    assert table.n_rows == seen.n
    rows = list(zip(*(table.labels(column) for column in table.names), strict=True))
    for i, values in seen.rows.items():
        assert rows[i] == values
    assert len(table.notes) == len(seen.notes), table.notes
    for note, start in zip(table.notes, seen.notes, strict=True):
        assert note.startswith(start)


def test_text_among_numbers_is_named_with_its_line():
    assert dict(read(FOLDER / "mixed_types.csv").set_aside) == {"b": "text among numbers, such as 'n.d.' in line 3"}


def test_values_that_are_no_numbers_are_named_with_their_lines_and_made_missing_when_asked(tmp_path):
    path = tmp_path / "typo.csv"
    rows = [f"{i}.5,{i}" for i in range(1, 21)]
    rows[3], rows[7] = "4..5,4", "8.5,8x"
    path.write_text("h,w\n" + "\n".join(rows) + "\n")
    table = read(path)
    assert [(c.name, c.stray_count, c.strays) for c in table.columns] == [
        ("h", 1, (("4..5", 3),)),
        ("w", 1, (("8x", 7),)),
    ]
    expected = (
        r"(?s)numbers in 'h', 'w' of typo.csv.*1 other value in 'h': '4..5' in line 5; .*'8x' in line 9\nhint: coerce"
    )
    with pytest.raises(InputError, match=expected):
        table.select(["h", "w"])
    with pytest.raises(InputError, match=r"numbers in 'w' of typo\.csv"):
        read(path, kinds={"w": "numeric"})
    for eager in (1e9, 1.0):  # in memory, and in pieces
        pieces = read_text(path, TextOptions(coerce=True), memory=eager)
        source = pieces.values if pieces.source is None else load(pieces.source).table
        assert source["h"].to_pylist() == [None if i == 4 else i + 0.5 for i in range(1, 21)]
        assert source["w"].to_pylist() == [None if i == 8 else i for i in range(1, 21)]
        assert pieces.notes[-1] == "'h', 'w': values that are no numbers made missing, as asked (1)"


def test_a_repeated_header_is_called_so():
    with pytest.raises(InputError, match=r"(?s)'h' in line 11; .*hint: line 11 repeats the header: take it out"):
        read(FOLDER / "repeated_header.csv").select(["h", "w"])


def test_numbers_of_a_frame_are_coerced_as_well():
    table = read(pa.table({"x": [*map(str, range(20)), "oops"], "y": range(21)}), coerce=True)
    assert table.kinds == {"x": "numeric", "y": "numeric"}
    assert table.missing == {"x": 1}
    assert table.notes == ("'x': values that are no numbers made missing, as asked (1)",)


def test_marks_of_missing_values_can_be_kept(tmp_path):
    path = tmp_path / "marks.csv"
    path.write_text("x,y\nNone,1\n-,2\na,3\nNA,4\n")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", DoubtfulReading)
        table = read(path)
    doubts = [
        f"marks.csv: 'x': '{mark}' counts as missing; keep=['{mark}'] takes it for a value" for mark in ("None", "-")
    ]
    assert [str(one.message) for one in caught] == doubts
    assert table.labels("x") == [None, None, "a", None]
    assert table.marks == ("-", "NA", "None")
    assert read(path, keep=["None", "-"]).labels("x") == ["None", "-", "a", None]


@pytest.mark.parametrize("name", REFUSED)
def test_a_file_that_cannot_be_read_is_refused_with_a_hint(name):
    with pytest.raises(FileError, match=f"(?s){REFUSED[name]}") as caught:
        read(FOLDER / name)
    assert name in str(caught.value)


def test_every_fixture_is_looked_at():
    files = {path.name for path in FOLDER.iterdir() if not path.name.startswith(".")}
    assert files == SEEN.keys() | REFUSED.keys()


@pytest.mark.filterwarnings("ignore::ritz.DoubtfulReading")
@pytest.mark.parametrize("name", SEEN)
def test_the_same_is_seen_in_small_pieces(name):
    seen = SEEN[name]
    whole = read_text(FOLDER / name, TextOptions(**seen.options))
    pieces = read_text(FOLDER / name, TextOptions(**seen.options), span_bytes=8)
    assert pieces.values.equals(whole.values)
    assert pieces.notes == whole.notes
    assert pieces.reasons == whole.reasons


@pytest.mark.filterwarnings("ignore::ritz.DoubtfulReading")
def test_damaged_fixtures_are_read_alike_in_any_pieces_or_refused(tmp_path):
    """A few bytes of each fixture changed, added or lost: the same table, or an error that says what is wrong."""
    rng = np.random.default_rng(5)
    noise = np.frombuffer(b'",;\n\r\t|.#-+ 0019eE%$abNA\xe9\xc3', np.uint8)
    path = tmp_path / "damaged.csv"
    for name in [*SEEN, *REFUSED] * 3:
        data = list((FOLDER / name).read_bytes())
        for _ in range(int(rng.integers(1, 5)) if data else 0):
            at = int(rng.integers(len(data)))
            data[at : at + int(rng.integers(2))] = [int(rng.choice(noise))] * int(rng.integers(2))
        path.write_bytes(bytes(data))
        found = []
        for span_bytes in (1 << 20, 9):
            try:
                pieces = read_text(path, span_bytes=span_bytes)
            except FileError as error:
                found.append("refused" if error.hint else f"no hint: {error}")
            else:
                found.append((pieces.values.to_pydict(), pieces.reasons))
        assert found[0] == found[1]
        assert not str(found[0]).startswith("no hint")
