"""Files whose fields are set apart by marks that few files use."""

from __future__ import annotations

import pytest

import ritz

ROWS = [("name", "x", "y"), ("a", "1.5", "2"), ("b, c", "2.5", "4"), ("d", "3.5", "9")]


def write(path, mark, rows=ROWS):
    path.write_bytes("\n".join(mark.join(row) for row in rows).encode() + b"\n")
    return path


@pytest.mark.parametrize("mark", ["\x1f", "\x1e", "\x01", "\x02", "~", "^"], ids=repr)
def test_the_mark_is_found_and_told(tmp_path, mark):
    table = ritz.read(write(tmp_path / "t.txt", mark))
    assert table.names == ["name", "x", "y"]
    with pytest.warns(ritz.ColumnsSetAside, match="'name'"):
        assert table.numeric_names() == ["x", "y"]
    words = {"~": "tilde", "^": "caret"}.get(mark, f"the control character 0x{ord(mark):02X}")
    assert any(f"fields are separated by {words}" in note for note in table.notes)


def test_commas_inside_fields_do_not_hide_a_control_character(tmp_path):
    rows = [("name", "x"), ("Ada, L.", "1"), ("Bo, D.", "2"), ("Cy, E.", "3")]
    assert ritz.read(write(tmp_path / "t.txt", "\x1f", rows)).names == ["name", "x"]


def test_common_marks_come_first(tmp_path):
    rows = [("a~b", "1"), ("c~d", "2"), ("e~f", "3")]
    assert ritz.read(write(tmp_path / "t.csv", ",", [("name", "x"), *rows])).names == ["name", "x"]


def test_a_tilde_between_words_is_no_delimiter(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("word\nup~down\nleft~right\nin~out\n")
    assert ritz.read(path).names == ["word"]


@pytest.mark.parametrize("field", ["foo\x01bar", '"foo\x1fbar"', "\x02foo", "foo\x0e"], ids=repr)
@pytest.mark.parametrize("head", ["b", "b\x01"], ids=repr)
def test_a_control_character_inside_fields_is_no_delimiter(tmp_path, field, head):
    """The title and all fields of one column hold one, as exports of databases have it."""
    head = head.replace("\x01", next(c for c in field if c < " "))
    path = tmp_path / "t.csv"
    path.write_text(f"a,{head},c\n" + "".join(f"{i},{field},{i % 4}.5\n" for i in range(12)))
    table = ritz.read(path)
    assert len(table.names) == 3
    assert (table.names[0], table.names[2], table.n_rows) == ("a", "c", 12)


def test_a_control_character_inside_words_is_no_delimiter(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("name\x01,town,kind\n" + "".join(f"x{i}\x01y,t{i % 3},k{i % 2}\n" for i in range(12)))
    assert ritz.read(path).names[1:] == ["town", "kind"]


@pytest.mark.parametrize("values", ["{i}~{j}", "x^{i}", "10^{i}"])
def test_one_column_of_ranges_or_powers_keeps_its_name(tmp_path, values):
    path = tmp_path / "t.csv"
    path.write_text("size\n" + "".join(values.format(i=i, j=i + 1) + "\n" for i in range(12)))
    assert ritz.read(path).names == ["size"]


def test_a_tilde_inside_fields_set_apart_by_spaces(tmp_path):
    path = tmp_path / "t.txt"
    path.write_text("a b c\n" + "".join(f"{i} {i * 2} ~{i % 5}\n" for i in range(12)))
    assert ritz.read(path).names == ["a", "b", "c"]


def test_words_between_tildes_are_columns_from_three_on(tmp_path):
    path = tmp_path / "t.txt"
    path.write_text("sex~town~answer\n" + "".join(f"{'fm'[i % 2]}~t{i % 3}~a{i % 4}\n" for i in range(12)))
    assert ritz.read(path).names == ["sex", "town", "answer"]
