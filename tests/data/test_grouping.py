"""Groups of three digits: thousands or decimals, as people and programs write them."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import ritz


@pytest.mark.parametrize(
    ("column", "values"),
    [
        (["532", "1.601", "2.010", "12.480"], [532, 1601, 2010, 12480]),  # groups that end in 0 beside whole numbers
        (["532", "1.601", "2.011", "999"], [532, 1601, 2011, 999]),  # whole numbers far above 1.6 and 2.0
        (["532 €", "1.601 €", "2.011 €", "3 €"], [532, 1601, 2011, 3]),
        (["2.821", "3", "2.929", "3.115"], [2.821, 3, 2.929, 3.115]),  # means, as R writes them
        (["1.926", "2", "1.857", "12.143"], [1.926, 2, 1.857, 12.143]),
        (["0.601", "1.6", "12.4805", "3"], [0.601, 1.6, 12.4805, 3]),
    ],
)
@pytest.mark.parametrize("sure", [True, False])
def test_groups_are_thousands_where_no_program_writes_such_decimals(column, values, sure, tmp_path):
    other = ["0.5", "1.25", "3.75", "2.5"] if sure else ["1", "2", "3", "5"]
    path = tmp_path / "t.csv"
    path.write_text("x;y\n" + "".join(f"{a};{b}\n" for a, b in zip(column, other, strict=True)), encoding="utf-8")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        table = ritz.read(path)
    np.testing.assert_array_equal(table.select(["x"])[:, 0], values)


def test_decimals_of_a_file_with_decimals_are_not_warned_of(tmp_path):
    path = tmp_path / "means.csv"
    path.write_text("x,y\n2.821,0.5\n3,1.25\n2.929,2.5\n3.115,1\n", encoding="utf-8")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ritz.read(path)
