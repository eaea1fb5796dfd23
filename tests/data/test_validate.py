"""What comes in passes unchanged where it can, and is refused by name where it cannot."""

from __future__ import annotations

import pickle
import tracemalloc
import warnings
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.estimator_checks import check_estimator
from sklearn.utils.validation import check_is_fitted

import ritz
from ritz._core.errors import InputError, NonFiniteError
from ritz.data.engines import Engine, adopt, register, unregister
from ritz.data.passes import finite
from ritz.data.validate import InputTypeError, require_finite, validate_rows, validate_weights


class Centre(TransformerMixin, BaseEstimator):
    """The smallest estimator that leans on the checks: subtracts the mean."""

    def fit(self, X, y=None):
        X = validate_rows(self, X, reset=True)
        require_finite(X, getattr(self, "feature_names_in_", None))
        self.mean_ = np.asarray(X.mean(axis=0)).ravel()
        return self

    def transform(self, X):
        check_is_fitted(self)
        X = validate_rows(self, X, reset=False)
        require_finite(X)
        return (X.toarray() if sp.issparse(X) else X) - self.mean_

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64"]
        return tags


class Holder:
    """Something to hang n_features_in_ on."""


def rows_of(X, **options):
    return validate_rows(Centre(), X, reset=True, **options)


def test_scikit_learns_own_checks_pass():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_estimator(Centre())


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "i1", "u1", "i4", "i8", "u8", "?"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_plain_arrays_pass_without_cast_or_copy(dtype, order):
    X = np.ones((5, 3), dtype=dtype, order=order)
    X.flags.writeable = False
    out = rows_of(X)
    assert out.dtype == X.dtype
    assert np.shares_memory(out, X)
    assert out.strides == X.strides


def test_memmap_and_strided_views_are_not_read_into_memory(tmp_path):
    path = tmp_path / "x.npy"
    np.save(path, np.arange(4_000_000, dtype=np.float32).reshape(-1, 8))
    X = np.load(path, mmap_mode="r")
    tracemalloc.start()
    out = rows_of(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1_000_000 < X.nbytes
    assert np.shares_memory(out, X)
    assert np.shares_memory(rows_of(X[::2, ::-1]), X)


def test_foreign_byte_order_and_long_double_become_native_doubles():
    X = np.array([[1.5, 2.0], [3.0, 4.0]])
    for other in (X.astype(">f8"), X.astype(np.longdouble)):
        out = rows_of(other)
        assert out.dtype == np.float64
        assert out.dtype.isnative
        np.testing.assert_array_equal(out, X)
    assert rows_of(X.astype(">f4")).dtype == np.float32


def test_nan_passes_here_and_is_left_to_the_first_pass():
    assert np.isnan(rows_of([[np.nan, 1.0], [2.0, np.inf]])[0, 0])


def test_records_and_compares_columns():
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": [3.0, 4.0]})
    model = Centre()
    validate_rows(model, frame, reset=True)
    assert model.n_features_in_ == 2
    assert list(model.feature_names_in_) == ["a", "b"]
    with pytest.raises(InputError, match=r"(?s)feature names should match.*hint: .*feature_names_in_"):
        validate_rows(model, frame[["b", "a"]], reset=False)
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        validate_rows(model, frame.to_numpy(), reset=False)
    validate_rows(model, np.ones((2, 3)), reset=True)
    assert not hasattr(model, "feature_names_in_")
    with pytest.raises(InputError, match=r"(?s)X has 2 features, but Centre is expecting 3 features.*hint"):
        validate_rows(model, np.ones((2, 2)), reset=False)


# --- frames -----------------------------------------------------------------------------------------------


def test_pandas_single_block_is_a_view():
    X = np.random.default_rng(0).normal(size=(6, 4)).astype(np.float32)
    frame = pd.DataFrame(X, columns=list("abcd"))
    out = rows_of(frame)
    assert out.dtype == np.float32
    assert np.shares_memory(out, frame.to_numpy())


def test_pandas_nullable_bool_and_mixed_columns():
    frame = pd.DataFrame(
        {
            "i": pd.array([1, None, 3], dtype="Int64"),
            "b": pd.array([True, None, False], dtype="boolean"),
            "f": np.array([1, 2, 3], dtype=np.float32),
            "t": [True, False, True],
            "o": np.array([1, Decimal("2.5"), None], dtype=object),
        }
    )
    nan = np.nan
    expected = [[1, 1, 1, 1, 1], [nan, nan, 2, 0, 2.5], [3, 0, 3, 1, nan]]
    np.testing.assert_array_equal(rows_of(frame), np.array(expected, dtype=float))


def test_all_bool_and_bool_with_float32_keep_small_dtypes():
    assert rows_of(pd.DataFrame({"a": [True, False], "b": [False, True]})).dtype == bool
    mixed = pd.DataFrame({"a": [True, False], "b": np.array([1, 2], dtype="f4")})
    assert rows_of(mixed).dtype == np.float32


def test_fully_sparse_pandas_stays_sparse():
    frame = pd.DataFrame.sparse.from_spmatrix(sp.random(20, 4, density=0.2, random_state=0), columns=list("abcd"))
    out = rows_of(frame)
    assert sp.issparse(out)
    assert out.format == "csr"


@pytest.mark.parametrize("wrap", [lambda d: pl.DataFrame(d), lambda d: pa.table(d)], ids=["polars", "pyarrow"])
def test_polars_and_arrow_keep_names_and_missing(wrap):
    model = Centre()
    frame = wrap({"x": [1, None, 3], "y": [True, False, None], "z": [0.5, 1.5, 2.5]})
    out = validate_rows(model, frame, reset=True)
    assert list(model.feature_names_in_) == ["x", "y", "z"]
    np.testing.assert_array_equal(out, [[1, 1, 0.5], [np.nan, 0, 1.5], [3, np.nan, 2.5]])


def test_polars_float32_stays_float32():
    assert rows_of(pl.DataFrame({"x": [1.0], "y": [2.0]}, schema={"x": pl.Float32, "y": pl.Float32})).dtype == "f4"


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"n": [1.0, 2.0], "colour": ["red", "blue"], "when": pd.to_datetime(["2020", "2021"])}),
        pl.DataFrame({"n": [1.0, 2.0], "colour": ["red", "blue"], "when": ["a", "b"]}),
        pa.table({"n": [1.0, 2.0], "colour": ["red", "blue"], "when": ["a", "b"]}),
        pd.DataFrame({"n": [1.0, 2.0], "colour": np.array(["1", 2], dtype=object), "when": pd.Categorical([1, 2])}),
    ],
    ids=["pandas", "polars", "arrow", "object"],
)
def test_non_numeric_columns_are_named(frame):
    with pytest.raises(InputError, match=r"(?s)non-numeric columns 'colour' \(.*\), 'when' \(.*hint: .*ritz.read"):
        rows_of(frame)


def test_repeated_pandas_names_are_refused():
    with pytest.raises(InputError, match=r"(?s)columns of different names.*'a' \(2 times\).*hint: rename"):
        rows_of(pd.DataFrame([[1, 2.5], [3, 4.5]], columns=["a", "a"]))


def test_mixed_name_types_are_type_errors_too():
    with pytest.raises(InputTypeError, match=r"(?s)all input features have string names.*hint"):
        rows_of(pd.DataFrame({"a": [1.0], 1: [2.0]}))


def test_lazy_frames_are_read():
    assert rows_of(pl.LazyFrame({"a": [1.0, 2.0], "b": [3.0, 5.0]})).tolist() == [[1.0, 3.0], [2.0, 5.0]]


# --- sparse -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [sp.csr_array, sp.csr_matrix])
def test_canonical_csr_is_kept(kind):
    X = kind(np.eye(4))
    out = rows_of(X)
    assert np.shares_memory(out.data, X.data)
    assert type(out) is type(X)


@pytest.mark.parametrize("name", ["csc", "coo", "lil", "dok", "dia", "bsr"])
def test_other_formats_become_csr(name):
    dense = np.array([[1.0, 0, 2], [0, 0, 3]])
    out = rows_of(sp.csr_array(dense).asformat(name))
    assert out.format == "csr"
    assert out.has_canonical_format
    np.testing.assert_array_equal(out.toarray(), dense)


def test_duplicates_are_summed_on_a_copy():
    data, indices, indptr = np.array([1.0, 2.0, 4.0]), np.array([1, 1, 0]), np.array([0, 3, 3])
    X = sp.csr_array((data.copy(), indices.copy(), indptr.copy()), shape=(2, 3))
    out = rows_of(X)
    assert out.nnz == 2
    assert out.has_sorted_indices
    np.testing.assert_array_equal(out.toarray(), [[4, 3, 0], [0, 0, 0]])
    np.testing.assert_array_equal(X.data, data)
    np.testing.assert_array_equal(X.indices, indices)
    csc = sp.csc_array((data.copy(), np.array([0, 0, 1]), np.array([0, 2, 3])), shape=(2, 2))
    assert rows_of(csc).nnz == 2
    assert csc.nnz == 3


def test_long_indices_integers_and_float32_pass():
    X = sp.csr_array(np.eye(3, dtype=np.float32))
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    assert rows_of(X).indices.dtype == np.int64
    assert rows_of(X).dtype == np.float32
    assert rows_of(sp.csr_array(np.eye(3, dtype=np.int8))).dtype == np.int8


def test_damaged_index_arrays_are_refused():
    for change in (
        {"indices": np.array([0, 9])},
        {"indices": np.array([0, -1])},
        {"indptr": np.array([0, 5, 2])},
    ):
        X = sp.csr_array(np.eye(2))
        for name, values in change.items():
            setattr(X, name, values.astype(np.int32))
        with pytest.raises(InputError, match=r"(?s)damaged csr index arrays.*hint"):
            rows_of(X)


def test_sparse_refusals():
    with pytest.raises(InputError, match="Complex data not supported"):
        rows_of(sp.csr_array(np.eye(2) * 1j))
    words = sp.csr_array(np.eye(1))
    words.data = np.array(["a"], dtype=object)  # scipy itself refuses to build one
    with pytest.raises(InputTypeError, match=r"(?s)sparse data of dtype object.*hint"):
        rows_of(words)
    with pytest.raises(InputTypeError, match=r"(?s)[Ss]parse.*hint: .*toarray"):
        rows_of(sp.csr_array(np.eye(2)), accept_sparse=False)


# --- what the user sees -----------------------------------------------------------------------------------

REFUSALS = [
    pytest.param(
        [1.0, 2.0],
        r"(?s)Expected 2D array, got 1D array instead; received list of length 2\nhint: Reshape your data",
        id="1-D",
    ),
    pytest.param(3.0, "(?s)got scalar array instead.*Reshape your data", id="scalar"),
    pytest.param(None, "(?s)NoneType|scalar", id="None"),
    pytest.param(pd.Series([1.0, 2.0]), "(?s)Expected a 2-dimensional container.*Series", id="series"),
    pytest.param(np.ones((2, 2, 2)), r"(?s)dim 3.*dim <= 2.*\(2, 2, 2\).*hint: reshape", id="3-D"),
    pytest.param(
        np.empty((0, 3)),
        r"(?s)0 sample\(s\) \(shape=\(0, 3\)\) while a minimum of 1 is required.*hint",
        id="no rows",
    ),
    pytest.param(
        np.empty((3, 0)),
        r"(?s)0 feature\(s\) \(shape=\(3, 0\)\) while a minimum of 1 is required.*hint",
        id="no columns",
    ),
    pytest.param(pd.DataFrame({"a": []}, dtype=float), r"0 sample\(s\)", id="empty frame"),
    pytest.param([], r"Expected 2D array", id="empty list"),
    pytest.param(
        [[1, 2], [3]],
        r"(?s)rows of one length; received 2 entries in row 0 but 1 in row 1\nhint",
        id="ragged",
    ),
    pytest.param(
        np.eye(2) * 1j,
        "(?s)Complex data not supported; received dtype complex128\nhint: .*imag",
        id="complex",
    ),
    pytest.param(np.array([[1, 2j]], dtype=object), "Complex data not supported.*row 0, column 1", id="complex object"),
    pytest.param([["a", "b"]], "(?s)bytes/strings.*hint: convert", id="strings"),
    pytest.param("data.csv", r"(?s)received the text 'data.csv'\nhint: read the file first: ritz.read", id="a path"),
    pytest.param(
        np.array([[1, "x"]], dtype=object),
        "(?s)could not convert string to float: 'x'; received 'x' at row 0, column 1\nhint",
        id="object",
    ),
    pytest.param(
        np.array([["2020-01-01"]], dtype="M8[D]"),
        r"(?s)numbers in X; received an array of dtype datetime64\[D\]\nhint",
        id="dates",
    ),
    pytest.param(np.ma.array([[1.0, 2.0]], mask=[[0, 1]]), "(?s)1 masked entries\nhint", id="masked"),
    pytest.param(np.array([(1, 2.0)], dtype=[("a", int), ("b", float)]), ".", id="structured"),
]


@pytest.mark.parametrize(("X", "match"), REFUSALS)
def test_refusals(X, match):
    with pytest.raises(InputError, match=match) as caught:
        rows_of(X)
    assert caught.value.received
    copy = pickle.loads(pickle.dumps(caught.value))
    assert type(copy) is type(caught.value)
    assert str(copy) == str(caught.value)


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
def test_type_errors_where_scikit_learn_raises_them():
    with pytest.raises(TypeError, match=r"(?s)argument must be .* string.* number.*row 1, column 0"):
        rows_of(np.array([[1, 2], [{"a": 1}, 3]], dtype=object))
    with pytest.raises(TypeError, match=r"(?s)np.matrix.*hint: use numpy.asarray"):
        rows_of(np.asmatrix([[1.0]]))


def test_object_arrays_of_numbers_become_float64():
    X = np.array([[1, 2.5], [Fraction(1, 2), Decimal("4")], [None, pd.NA], [True, np.float32(2)]], dtype=object)
    out = rows_of(X)
    assert out.dtype == np.float64
    np.testing.assert_array_equal(out, [[1, 2.5], [0.5, 4], [np.nan, np.nan], [1, 2]])


# --- finite -----------------------------------------------------------------------------------------------


def test_finite_data_passes_in_every_form():
    big = np.full((4, 3), 1e308)  # the sum overflows, the entries do not
    for X in (
        big,
        np.asfortranarray(big),
        np.ones((2, 2), int),
        np.ones((2, 2), bool),
        np.full((300, 2), 6e4, "f2"),
    ):
        assert require_finite(X) is None
    assert require_finite(sp.csr_array(np.diag([1e308, 1e308]))) is None
    assert require_finite(np.empty((0, 3))) is None


@pytest.mark.parametrize("form", ["C", "F", "strided", "sparse", "csc", "f4"])
@pytest.mark.parametrize("block", [1, 7, 1 << 20])
def test_names_count_columns_and_first_positions(form, block, monkeypatch):
    monkeypatch.setattr(finite, "BLOCK_ENTRIES", block)
    X = np.ones((9, 4))
    X[7, 0] = X[2, 3] = X[2, 1] = X[5, 3] = np.nan
    forms = {"C": X, "F": np.asfortranarray(X), "strided": np.repeat(X, 2, axis=1)[:, ::2]}
    forms |= {"sparse": sp.csr_array(X), "csc": sp.csc_array(X), "f4": X.astype("f4")}
    with pytest.raises(NonFiniteError) as caught:
        require_finite(forms[form], ["a", "b", "c", "d"])
    text = str(caught.value)
    assert text.startswith("Input X contains NaN, where only finite")
    assert "4 such values in 3 of 4 columns: column 'd' (2), column 'a' (1), column 'b' (1)" in text
    assert "first at row 2 column 'b', row 2 column 'd', row 5 column 'd'" in text
    way = "put numbers there: gaps of sparse" if form in ("sparse", "csc") else "let PCA fill the gaps"
    assert f"hint: drop those rows or columns, or {way}" in text


def test_infinity_and_both():
    with pytest.raises(
        NonFiniteError,
        match=r"(?s)Input X contains infinity or a value too large for dtype\('float64'\).*row 0 column 1",
    ):
        require_finite(np.array([[1.0, -np.inf]]))
    with pytest.raises(NonFiniteError, match=r"Input X contains NaN \(1 time\) and contains infinity .*\(2 times\)"):
        require_finite(np.array([[np.nan, -np.inf, np.inf]]))


def test_finite_check_needs_little_memory():
    X = np.ones((200_000, 40), dtype=np.float32)
    X[-1, -1] = np.nan
    tracemalloc.start()
    with pytest.raises(NonFiniteError, match="row 199999 column 39"):
        require_finite(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < X.nbytes / 8


# --- weights ----------------------------------------------------------------------------------------------


def test_weights_pass_as_float64():
    for w in ([1, 2, 0], np.array([1, 2, 0], "i1"), pd.Series([1.0, 2.0, 0.0]), (True, True, False)):
        out = validate_weights(w, 3)
        assert out.dtype == np.float64
        assert out.shape == (3,)


@pytest.mark.parametrize(
    ("w", "match"),
    [
        ([1, -2.5, 1], "must not be negative; received -2.5 at row 1"),
        ([1, np.nan, 1], "must be finite; received nan at row 1"),
        ([1, 1, np.inf], "must be finite; received inf at row 2"),
        ([1, 1], r"each of the 3 rows; received shape \(2,\)"),
        (np.ones((3, 2)), r"must be 1D .* received shape \(3, 2\)"),
        (2.0, r"received shape \(\)"),
        ([0, 0, 0], "weight must not be zero everywhere"),
        ([0.5, 0.25, 0.25], "sum to more than 1.*received a sum of 1"),
        (["a", "b", "c"], "must be numbers"),
        ([1, 2j, 3], "must be numbers"),
    ],
)
def test_weights_refused(w, match):
    with pytest.raises(InputError, match=f"(?s){match}.*hint: weights are frequencies"):
        validate_weights(w, 3)


# ------------------------------------------------------------------------------------------ plain arrays


@pytest.mark.parametrize("dtype", ["f8", "f4", "f2", "i8", "u1", "?", ">f8", np.longdouble])
@pytest.mark.parametrize("order", ["C", "F"])
def test_plain_arrays_are_taken_as_scikit_learns_checks_take_them(dtype, order):
    X = np.asarray(np.arange(12).reshape(4, 3) % 5, dtype, order=order)
    quick, slow = Centre(), Centre()
    got, want = validate_rows(quick, X, reset=True), adopt(X, slow)
    assert got.dtype == want.dtype
    assert np.shares_memory(got, X) == np.shares_memory(want, X)
    np.testing.assert_array_equal(got, want)
    assert vars(quick) == vars(slow)


def test_a_plain_array_forgets_the_names_of_an_earlier_fit():
    model = Centre().fit(pd.DataFrame({"a": [1.0, 2.0], "b": [3.0, 5.0]}))
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        model.transform(np.ones((1, 2)))
    model.fit(np.ones((3, 4)))
    assert not hasattr(model, "feature_names_in_")
    assert model.n_features_in_ == 4
    with pytest.raises(ValueError, match="X has 3 features, but Centre is expecting 4 features as input"):
        model.transform(np.ones((2, 3)))


def test_an_engine_that_is_added_may_take_plain_arrays():
    class Doubled(Engine):
        name, foreign = "doubled", False

        def takes(self, X):
            return isinstance(X, np.ndarray)

        def adopt(self, X, asked):
            return asked.recorded(2 * X)

    register(Doubled())
    try:
        np.testing.assert_array_equal(Centre().fit(np.ones((3, 2))).mean_, [2.0, 2.0])
    finally:
        unregister("doubled")


def test_plain_csr_rows_pass_as_plain_arrays_do(monkeypatch):
    """Nothing is copied or looked up in scikit-learn; damaged places are refused, rows in another order are sorted."""
    X = sp.random_array((30, 8), density=0.3, format="csr", rng=np.random.default_rng(0))
    monkeypatch.setattr("ritz.data.validate.adopt", lambda *_, **__: pytest.fail("was looked at twice"))
    model = ritz.SVD(2)
    assert validate_rows(model, X, reset=True) is X
    assert model.n_features_in_ == 8
    monkeypatch.undo()
    damaged = X.copy()
    damaged.indices[3] = 8
    with pytest.raises(ValueError, match="indices lie inside it"):
        ritz.SVD(2).fit(damaged)
    turned = sp.csr_array((X.data[::-1].copy(), X.indices[::-1].copy(), X.nnz - X.indptr[::-1]), shape=X.shape)
    rows = validate_rows(ritz.SVD(2), turned, reset=True)
    assert rows is not turned
    assert rows.has_canonical_format
    np.testing.assert_array_equal(rows.toarray(), X.toarray()[::-1])


@pytest.mark.parametrize("kind", [sp.csr_array, sp.csr_matrix, sp.csc_array])
@pytest.mark.parametrize("left", [np.nan, 1e300])
def test_room_behind_the_last_entry_is_no_part_of_a_table(kind, left):
    X = kind(sp.random(400, 400, 0.02, random_state=0))
    expected = ritz.SVD(3, solver="svd").fit(X.toarray()).singular_values_
    X.data, X.indices = np.append(X.data, [left] * 3), np.append(X.indices, X.indices[:3])
    for solver in ("auto", "lanczos", "moments"):
        assert np.allclose(ritz.SVD(3, solver=solver).fit(X).singular_values_, expected, rtol=1e-5)
    assert X.data.size == X.nnz + 3
