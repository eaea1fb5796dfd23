"""Frames of several dtypes become one array: the promotion of their columns, gaps as NaN, whichever way it is made."""

from __future__ import annotations

import decimal
import itertools

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import ritz
from ritz._core.errors import DigitsLost, InputError
from ritz.data.engines import Engine, engine_of, register, unregister
from ritz.data.tables.frames import copied_bytes, frame_names, frame_to_rows, library_of

N = 6
KINDS = ("int8", "int64", "uint64", "float32", "float64", "bool")
NULLABLE = {
    "int8": "Int8", "int64": "Int64", "uint64": "UInt64", "float32": "Float32", "float64": "Float64", "bool": "boolean"
}  # fmt: skip
PAIRS = list(itertools.combinations(KINDS, 2))


def columns(kinds):
    rng = np.random.default_rng(1)
    return {kind: rng.integers(0, 2 if kind == "bool" else 90, N).astype(kind) for kind in kinds}


def gapped(values):
    return [None, *values.tolist()[1:]]


def expected(numbers, missing=()):
    """Each column by itself, a gap as NaN in float64; then NumPy's promotion."""
    each = []
    for kind, values in numbers.items():
        if kind in missing:
            values = values.astype(values.dtype if values.dtype.kind == "f" else np.float64)
            values[0] = np.nan
        each.append(values)
    return np.stack([values.astype(np.result_type(*each)) for values in each], axis=1)


@pytest.mark.parametrize("kinds", PAIRS, ids="+".join)
def test_columns_of_two_dtypes_promote_as_numpy_does(kinds):
    numbers = columns(kinds)
    truth = expected(numbers)
    frame = pd.DataFrame(numbers)
    forms = {
        "pandas": frame,
        "nullable": frame.astype({kind: NULLABLE[kind] for kind in kinds}),
        "arrow in pandas": frame.convert_dtypes(dtype_backend="pyarrow") if "float" not in "".join(kinds) else frame,
        "polars": pl.DataFrame(numbers),
        "pyarrow": pa.table(numbers),
    }
    for name, form in forms.items():
        rows = frame_to_rows(form)
        assert rows.dtype == truth.dtype, name
        np.testing.assert_array_equal(rows, truth, err_msg=name)


@pytest.mark.parametrize("kinds", PAIRS, ids="+".join)
@pytest.mark.parametrize("where", [0, 1])
def test_a_gap_is_nan_in_a_floating_dtype(kinds, where):
    numbers, missing = columns(kinds), {kinds[where]}
    truth = expected(numbers, missing)
    lists = {kind: gapped(values) if kind in missing else values.tolist() for kind, values in numbers.items()}
    nullable = pd.DataFrame({kind: pd.array(values, dtype=NULLABLE[kind]) for kind, values in lists.items()})
    rows = frame_to_rows(nullable)
    assert rows.dtype == truth.dtype
    np.testing.assert_array_equal(rows, truth)
    like = pl.DataFrame(numbers).schema
    for form in (pl.DataFrame(lists, schema=like), pl.DataFrame(lists, schema=like).to_arrow()):
        rows = frame_to_rows(form)
        assert rows.dtype.kind == "f"
        np.testing.assert_array_equal(rows, truth)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
@pytest.mark.parametrize("far", [2**53 + 1, -(2**53) - 1])
def test_integers_that_lose_digits_are_named_and_those_that_do_not_pass(make, far):
    near = make({"x": [0.5, 1.5, 2.5], "id": [2**53, -(2**53), 3]})
    assert frame_to_rows(near)[:2, 1].tolist() == [2.0**53, -(2.0**53)]
    with pytest.warns(DigitsLost, match="column 'id'"):
        frame_to_rows(make({"x": [0.5, 1.5, 2.5], "id": [far, 2, 3]}))


def test_what_is_no_plain_number_takes_the_long_way():
    halves = pl.DataFrame({"a": [decimal.Decimal("1.5"), decimal.Decimal("2.25")], "b": [1, 2]})
    assert frame_to_rows(halves)[:, 0].tolist() == [1.5, 2.25]
    objects = pd.DataFrame({"a": pd.Series([1, None], dtype=object), "b": [1, 2]})
    np.testing.assert_array_equal(frame_to_rows(objects), [[1.0, 1.0], [np.nan, 2.0]])
    for frame in (pd.DataFrame({"a": [1, 2], "t": ["x", "y"]}), pl.DataFrame({"a": [1, 2], "t": ["x", "y"]})):
        with pytest.raises(InputError, match="'t'"):
            frame_to_rows(frame)


def test_a_polars_frame_tells_its_names_library_and_bytes():
    frame = pl.DataFrame({"a": [1, 2], "b": [0.5, 1.0]})
    assert (frame_names(frame), library_of(frame), copied_bytes(frame)) == (["a", "b"], "polars", 32)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_names_are_compared_and_a_mixed_frame_gives_what_its_array_gives(make):
    rng = np.random.default_rng(0)
    numbers = {"a": rng.normal(size=40), "b": rng.integers(0, 9, 40), "c": rng.normal(size=40)}
    frame, array = make(numbers), np.stack([np.asarray(v, float) for v in numbers.values()], axis=1)
    model = ritz.PCA(2).fit(frame)
    np.testing.assert_allclose(model.components_, ritz.PCA(2).fit(array).components_, rtol=0, atol=1e-12)
    np.testing.assert_allclose(model.transform(frame), ritz.PCA(2).fit(array).transform(array), rtol=0, atol=1e-12)
    with pytest.raises(InputError, match="feature names should match"):
        model.transform(frame[["b", "a", "c"]])
    with pytest.raises(InputError, match="feature names should match"):
        model.transform(frame[["a", "b"]])


def test_an_engine_of_ones_own_is_asked_before_memory():
    class Frames(Engine):
        name = "frames of my own"

        def takes(self, X):
            return isinstance(X, pd.DataFrame)

        def adopt(self, X, asked):
            return X.to_numpy()

    frame = pd.DataFrame({"a": [1.0, 2.0]})
    assert engine_of(frame).name == "memory"
    register(Frames())
    try:
        assert engine_of(frame).name == "frames of my own"
    finally:
        unregister("frames of my own")
    assert engine_of(frame).name == "memory"


LONG = [None, *(2**60 + i for i in range(1, N))]


@pytest.mark.parametrize("beside", ["int64", "float64"])
@pytest.mark.parametrize(
    "form",
    [
        lambda frame: pd.DataFrame({"a": pd.array(frame["a"], dtype="Int64"), "b": frame["b"]}),
        lambda frame: pd.DataFrame({"a": pd.array(frame["a"], dtype="int64[pyarrow]"), "b": frame["b"]}),
        pl.DataFrame,
        pa.table,
    ],
    ids=["pandas", "arrow in pandas", "polars", "pyarrow"],
)
def test_long_integers_beside_a_gap_are_named_too(form, beside):
    frame = form({"a": LONG, "b": np.arange(N).astype(beside)})
    with pytest.warns(DigitsLost, match=r"column 'a' holds integers beyond 2\^53"):
        rows = frame_to_rows(frame)
    np.testing.assert_array_equal(rows, np.stack([np.array(LONG, dtype=float), np.arange(N)], axis=1))


def test_short_integers_beside_a_gap_are_not():
    frame = pd.DataFrame({"a": pd.array([None, 2**53 - 1, -(2**53) + 1], dtype="Int64"), "b": [0.5, 1.0, 2.0]})
    assert frame_to_rows(frame)[1, 0] == 2**53 - 1


def test_long_python_integers_are_named():
    with pytest.warns(DigitsLost, match="column 'a' holds integers"):
        rows = frame_to_rows(pd.DataFrame({"a": [10**30 + i for i in range(N)], "b": np.arange(N)}))
    assert rows[0, 0] == 1e30


def test_integers_of_128_bits_are_numbers():
    frame = pl.DataFrame({"a": [None, 3, 4], "b": [0.5, 1.0, 2.0]}, schema_overrides={"a": pl.Int128})
    np.testing.assert_array_equal(frame_to_rows(frame), [[np.nan, 0.5], [3, 1.0], [4, 2.0]])


@pytest.mark.parametrize("fill", [1.0, np.nan])
def test_sparse_columns_that_leave_out_other_things_than_zeros_are_filled_in(fill):
    values = np.array([[fill, 2.0], [3.0, fill], [fill, fill]])
    frame = pd.DataFrame(values, columns=["a", "b"]).astype(pd.SparseDtype(float, fill))
    np.testing.assert_array_equal(frame_to_rows(frame), values)
    assert copied_bytes(frame) == values.nbytes


def test_a_sparse_column_beside_dense_ones_is_a_column_of_numbers():
    frame = pd.DataFrame({"a": pd.arrays.SparseArray([0, 0, 2]), "b": [0.5, 1.0, 2.0]})
    rows = frame_to_rows(frame)
    assert rows.dtype == np.float64
    np.testing.assert_array_equal(rows, [[0, 0.5], [0, 1.0], [2, 2.0]])


def test_a_sparse_column_in_a_frame_read_in_pieces_is_refused_by_name():
    dense = np.arange(2_000_000.0)
    frame = pd.DataFrame({"a": pd.arrays.SparseArray(dense % 2, fill_value=0.0), "b": dense})
    with pytest.raises(InputError, match=r"received sparse column 'a'\nhint: allow more memory"):
        ritz.PCA(1, memory="50MB").fit(frame)


def test_a_column_of_intervals_is_refused_by_name():
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": pd.arrays.IntervalArray.from_breaks([0.0, 1.0, 2.0, 3.0])})
    with pytest.raises(InputError, match=r"non-numeric column 'b' \(interval"):
        ritz.PCA(1).fit(frame)


def test_a_column_of_polars_alone_is_refused_with_what_to_do():
    with pytest.raises(InputError, match=r"received polars.Series of shape \(3,\)(.|\n)*X.to_frame\(\)"):
        ritz.PCA(1).fit(pl.Series("a", [1.0, 2.0, 3.0]))


def test_a_column_that_is_not_there_cannot_be_selected():
    frame = pd.DataFrame({"a": [1.0, 2.0, 4.0], "b": [1.0, 0.0, 2.0]})
    model = ritz.PCA(1).fit(frame)
    with pytest.raises(InputError, match=r"yet now missing:\n- b(.|\n)*hint: add or rename columns"):
        model.transform(frame[["a"]])
    with pytest.raises(InputError, match=r"same order(.|\n)*hint: select them by name"):
        model.transform(frame[["b", "a"]])
