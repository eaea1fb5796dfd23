"""Columns of strings of every library, and what is refused by position."""

from __future__ import annotations

import numpy as np
import pytest

import ritz
from ritz._core.errors import InputError
from ritz.kernels import EditDistance, Spectrum, Subsequence
from ritz.kernels.strings.input import read_strings

WORDS = ["abba", "", "naïve 😀", "\x00end\x00", "abba"]


def columns():
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    yield "tuple", tuple(WORDS)
    yield "object array", np.array(WORDS, dtype=object)
    yield "object column", np.array(WORDS, dtype=object)[:, None]
    yield "string array", np.array(WORDS, dtype=np.dtypes.StringDType())
    yield "pandas", pd.Series(WORDS, index=[5, 4, 3, 2, 1])
    yield "pandas frame", pd.DataFrame({"name": WORDS})
    yield "pandas categories", pd.Series(WORDS, dtype="category")
    yield "polars", pl.Series(WORDS)
    yield "polars frame", pl.DataFrame({"name": WORDS})
    yield "arrow", pa.array(WORDS)
    yield "arrow chunks", pa.chunked_array([WORDS[:2], WORDS[2:]])
    yield "arrow table", pa.table({"name": WORDS})


@pytest.mark.parametrize("column", [pytest.param(X, id=name) for name, X in columns()])
def test_columns_of_every_library(column):
    assert np.array_equal(Spectrum(2)(column), Spectrum(2)(WORDS))
    assert np.array_equal(EditDistance(0.5)(column), EditDistance(0.5)(WORDS))
    taken = Spectrum(2).prepare(column).take([4, 0]).at(np.float32)
    assert np.array_equal(Spectrum(2).diag(taken), [1.0, 1.0])


@pytest.mark.parametrize("kernel", [Spectrum(2), Subsequence(2, 0.5), EditDistance(0.5)], ids=repr)
def test_bytes_and_tokens_count_as_strings_do(kernel):
    words = ["to be or not to be", "not to be", "", "be", "or be not"]
    truth = kernel([w.encode() for w in words])
    assert np.array_equal(truth, kernel(words))
    assert np.array_equal(kernel([list(w) for w in words]), kernel(words))
    assert np.array_equal(
        kernel([tuple(w) for w in words], words and [list(w) for w in words[::-1]]), kernel(words)[:, ::-1]
    )
    numbers = [np.frombuffer(w.encode(), np.uint8) for w in words]
    assert np.array_equal(kernel(numbers), kernel(words))
    tokens = [w.split() for w in words]
    assert kernel(tokens)[0, 1] != kernel(words)[0, 1]
    mixed = [[1, "a", (2, 3)], [1, "a"]]  # tokens without an order of their own
    assert kernel(mixed)[0, 1] == kernel(["xyz", "xy"])[0, 1]
    assert kernel(mixed, [["a", "new"]]).shape == (2, 1)


def test_strings_are_spelt_back_and_taken_apart():
    strings = read_strings(WORDS)
    assert [strings.spell(strings[[i]].symbols) for i in range(5)] == WORDS
    assert [strings.spell(strings[i : i + 1].symbols) for i in range(5)] == WORDS
    assert len(strings[1:1]) == 0
    assert len(strings[np.array([False, True, True, False, False])]) == 2
    assert read_strings(["\ud800"]).spell(np.array([0])) == "\ud800"


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (["a", None, "b", None], "2 missing, in rows 1, 3"),
        (["a", float("nan")], "1 missing, in row 1"),
        ([None, "a"], "in row 0"),
        ([b"a", None], "in row 1"),
        ([["a"], None], "in row 1"),
        ([["a", None]], "a missing token in row 0"),
        ([["a"], ["b", float("nan")]], "a missing token in row 1"),
        ([[["a"]]], "hashed"),
        (["a", 3], "int in row 1"),
        (["a", b"b"], "bytes in row 1"),
        ([b"a", "b"], "str in row 1"),
        ([["a"], "b"], "str in row 1"),
        ([1.5, 2.5], "float in row 0"),
        ("abc", "one string"),
        (np.eye(3), "float64"),
        (np.zeros((2, 2, 2), int), "shape"),
        (7, "int"),
    ],
)
def test_what_is_no_string_is_refused_by_position(column, message):
    with pytest.raises(InputError, match=message):
        Spectrum(2)(column)


def test_missing_strings_of_frames_are_refused():
    import pandas as pd
    import pyarrow as pa

    for column in (pd.Series(["a", None]), pd.Series(["a", pd.NA], dtype="string"), pa.array(["a", None])):
        with pytest.raises(InputError, match="1 missing, in row 1"):
            Subsequence(1, 0.5)(column)
    with pytest.raises(InputError, match="2 columns"):
        Spectrum(1)(pd.DataFrame({"a": ["x"], "b": ["y"]}))


@pytest.mark.parametrize("rule", [0.9, "elbow", "broken-stick"])
def test_rules_need_rows_with_features(rule):
    words = ["a", "b", "c"]
    kernel = ritz.kernels.Spectrum(3)
    assert not ritz.KernelPCA(1, kernel=kernel).fit(words).eigenvalues_.any()
    with pytest.raises(ritz.InputError, match=r"3 rows of which none has a feature of Spectrum[\s\S]*hint: a kernel"):
        ritz.KernelPCA(rule, kernel=kernel).fit(words)
