"""Usual numbers are told by one look; the answer is that of looking at every mark of every one."""

from __future__ import annotations

from pathlib import Path

import pytest

from ritz.data.formats.text.dialect import sniff
from ritz.data.formats.text.numbers import EITHER, POINTED, USUAL, count_loose, decimal_mark, is_loose

CELLS = (
    "0.25", "-12.5", "1.2345", "1.234", "0.234", "1234.567", "1,234", "1,5", "1.234,5", "1,234.5", "12", "-7", "",
    " 3.25 ", "+2.5", "3.", ".5", "1e5", "1.25e-3", "1.5e10", "5%", "$1.25", "(2.5)", "a.b", "1.2.3", "x", "NA",
    "1" * 40 + ".25", "2021.05.06", "٣.٢٥",
)  # fmt: skip


@pytest.mark.parametrize("cell", CELLS)
def test_a_pointed_number_is_one_number_whose_point_separates_no_thousands(cell):
    if POINTED.fullmatch(cell):
        assert is_loose(cell)
        assert (cell.count("."), cell.count(",")) == (1, 0)
        assert not EITHER.fullmatch(cell)
    if USUAL.fullmatch(cell):
        assert is_loose(cell)
    assert count_loose([cell]) == is_loose(cell.strip())


def test_loose_numbers_are_counted():
    assert count_loose(["0.5", " 0.5 ", "x", "", "5%", "1,234.5", "-3e4"]) == 5
    assert count_loose([]) == 0


@pytest.mark.parametrize(
    ("cells", "mark"),
    [
        (["0.25", "1,5"], (".", False)),  # one each
        (["0.25", "0.5", "1,25"], (".", True)),
        (["0.25", "1,25", "3,5"], (",", True)),
        (["1.234", "2.345"], (".", False)),
        (["1,234", "2,345"], (",", False)),
        (["12", "x", ""], (".", False)),
        (["1.234.567", "12"], (",", True)),
    ],
)
def test_the_decimal_mark_is_that_of_most_values_that_can_be_read_in_one_way(cells, mark):
    assert decimal_mark(cells, ";") == mark


@pytest.mark.parametrize(
    ("text", "delimiter", "skip", "header"),
    [
        ("a,b\n1,2\n3,4\n", ",", 1, ("a", "b")),
        ("a;b\n1,5;2\n3,5;4\n", ";", 1, ("a", "b")),
        ("a,b\ncm,kg\n1,2\n3,4\n5,6\n7,8\n", ",", 2, ("a", "b")),
        ("of all,of all\na,b\n1,2\n3,4\n5,6\n7,8\n", ",", 2, ("a", "b")),
        ("a,b\nx,2\n3,4\n5,6\n7,8\n", ",", 1, ("a", "b")),
        ("1 2\n3 4\n5 6\n", " ", 0, None),
        ("a~b\n1~2\n3~4\n", "~", 1, ("a", "b")),
        ("a\x01b\n1,5\x012,5\n3,5\x014,5\n", "\x01", 1, ("a", "b")),
        ("only\n1\n2\n", ",", 1, ("only",)),
    ],
)
def test_files_are_cut_by_the_marks_that_they_hold(text, delimiter, skip, header):
    found = sniff(text.encode(), Path("x.csv"))
    assert (found.delimiter, found.skip, found.header) == (delimiter, skip, header)
