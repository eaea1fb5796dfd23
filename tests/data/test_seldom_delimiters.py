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
