"""What a user sees for rows that cannot be used: what was expected, what came, and a hint what to do."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError

import ritz
from ritz import PCA, SVD
from ritz.data.validate import InputTypeError

X = np.random.default_rng(0).normal(size=(20, 4))
NAMED = pd.DataFrame(X, columns=["height", "weight", "age", "income"])
SOLVERS = ("auto", "svd", "moments", "krylov", "lanczos", "chebyshev", "power", "sketch")


def with_entry(value, form=np.asarray):
    rows = X.copy()
    rows[3, 1] = value
    return form(rows)


def damaged():
    rows = sp.csr_array(X)
    rows.indices[5] = 99
    return rows


def words():
    rows = sp.csr_array(X)
    rows.data = np.full(rows.nnz, "a", dtype=object)
    return rows


# ------------------------------------------------------------------------------------------- rows

ROWS = [
    pytest.param(
        with_entry(np.nan),
        ritz.NonFiniteError,
        r"contains NaN.*received 1 such value in 1 of 4 columns: column 1 \(1\); first at row 3 column 1"
        r"\nhint: .*impute first",
        id="NaN",
    ),
    pytest.param(
        with_entry(np.nan, lambda x: pd.DataFrame(x, columns=NAMED.columns)),
        ritz.NonFiniteError,
        r"contains NaN.*column 'weight' \(1\); first at row 3 column 'weight'\nhint: ",
        id="NaN in a frame",
    ),
    pytest.param(
        pl.DataFrame({"a": [1.0, None, 3.0], "b": [1, 2, 4]}),
        ritz.NonFiniteError,
        r"contains NaN.*column 'a' \(1\)",
        id="null in polars",
    ),
    pytest.param(with_entry(np.nan, sp.csc_array), ritz.NonFiniteError, r"contains NaN.*hint: ", id="NaN in sparse"),
    pytest.param(with_entry(np.nan, np.float32), ritz.NonFiniteError, r"contains NaN.*hint: ", id="NaN in float32"),
    pytest.param(
        with_entry(-np.inf),
        ritz.NonFiniteError,
        r"contains infinity or a value too large for dtype\('float64'\).*row 3 column 1\nhint: .*overflow",
        id="infinity",
    ),
    pytest.param(
        with_entry(np.inf, sp.csr_array),
        ritz.NonFiniteError,
        r"contains infinity.*hint: ",
        id="infinity in sparse",
    ),
    pytest.param(
        [["a", "b"], ["c", "d"]],
        ritz.InputError,
        r"not compatible with arrays of bytes/strings.*received list of length 2\nhint: convert them first",
        id="strings",
    ),
    pytest.param(
        [[1, 2], [3]],
        ritz.InputError,
        r"rows of one length; received 2 entries in row 0 but 1 in row 1\nhint: pad",
        id="ragged",
    ),
    pytest.param([], ritz.InputError, r"Expected 2D array.*received list of length 0\nhint: ", id="empty list"),
    pytest.param(
        np.empty((0, 3)),
        ritz.InputError,
        r"0 sample\(s\).*received .*\(0, 3\).*\nhint: the data has no rows",
        id="no rows",
    ),
    pytest.param(
        np.empty((3, 0)),
        ritz.InputError,
        r"0 feature\(s\).*received .*\(3, 0\).*\nhint: the data has no columns",
        id="no columns",
    ),
    pytest.param(
        X * 1j,
        ritz.InputError,
        r"Complex data not supported; received dtype complex128\nhint: .*X.imag",
        id="complex",
    ),
    pytest.param(
        np.array([[1, {}], [2, 3]], dtype=object),
        InputTypeError,
        r"numbers in X.*received \{\} at row 0, column 1\nhint: drop or encode",
        id="object",
    ),
    pytest.param(
        np.array([[1, "x"], [2, "y"]], dtype=object),
        ritz.InputError,
        r"could not convert string to float: 'x'; received 'x' at row 0, column 1\nhint: ",
        id="object with strings",
    ),
    pytest.param(X[0], ritz.InputError, r"Expected 2D array.*received .*\(4,\).*\nhint: Reshape", id="one dimension"),
    pytest.param(X[None], ritz.InputError, r"dim 3.*received .*\(1, 20, 4\).*\nhint: reshape", id="three dimensions"),
    pytest.param(None, ritz.InputError, r"received NoneType\nhint: ", id="None"),
    pytest.param("wine.csv", ritz.InputError, r"received the text 'wine.csv'\nhint: .*ritz.read\(path\)", id="a path"),
    pytest.param(
        np.array([["2020-01-01"], ["2020-01-02"]], "M8[D]"),
        InputTypeError,
        r"numbers in X; received an array of dtype datetime64\[D\]\nhint: ",
        id="dates",
    ),
    pytest.param(
        np.ma.array(X, mask=X > 1),
        ritz.InputError,
        r"without masked entries; received \d+ masked.*\nhint: ",
        id="masked",
    ),
    pytest.param(
        pd.DataFrame({"n": [1.0, 2.0], "colour": ["red", "blue"]}),
        ritz.InputError,
        r"every column .* numbers; received non-numeric column 'colour' .*\nhint: drop or encode",
        id="text in pandas",
    ),
    pytest.param(
        pl.DataFrame({"n": [1.0, 2.0], "colour": ["red", "blue"]}),
        ritz.InputError,
        r"received non-numeric column 'colour' \(String\)\nhint: ",
        id="text in polars",
    ),
    pytest.param(pd.Series([1.0, 2.0]), ritz.InputError, r"2-dimensional.*Series.*\nhint: .*to_frame", id="series"),
    pytest.param(sp.csr_array(X * 1j), ritz.InputError, r"Complex data not supported.*\nhint: ", id="complex sparse"),
    pytest.param(
        words(),
        InputTypeError,
        r"numbers in X; received sparse data of dtype object\nhint: ",
        id="sparse words",
    ),
    pytest.param(
        damaged(),
        ritz.InputError,
        r"received damaged csr index arrays\nhint: build it anew",
        id="damaged sparse",
    ),
    pytest.param(sp.coo_array(X[0]), ritz.InputError, r"received scipy.coo_array of shape \(4,\)", id="sparse vector"),
]


@pytest.mark.parametrize("estimator", [PCA(1), SVD(1)], ids=["PCA", "SVD"])
@pytest.mark.parametrize(("rows", "error", "words"), ROWS)
def test_rows_that_cannot_be_used(rows, error, words, estimator):
    with pytest.raises(error, match=f"(?s){words}"):
        estimator.fit(rows)
    with pytest.raises(error, match=f"(?s){words}"):
        estimator.fit_transform(rows)
    if isinstance(estimator, PCA):
        with pytest.raises(error, match=f"(?s){words}"):
            PCA(1).partial_fit(rows)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("form", [np.asarray, np.float32, sp.csr_array])
@pytest.mark.parametrize("turn", [False, True])
def test_every_solver_names_what_is_not_finite(solver, value, form, turn):
    rows = with_entry(value)
    rows, place = (rows.T, "row 1 column 3") if turn else (rows, "row 3 column 1")
    for estimator in (PCA(2, solver=solver), PCA(2, scale=True, solver=solver), SVD(2, solver=solver)):
        with pytest.raises(ritz.NonFiniteError, match=rf"(?s)1 such value.*{place}\nhint: "):
            estimator.fit(form(rows))


@pytest.mark.parametrize("method", ["transform", "score", "score_samples", "reconstruction_error"])
@pytest.mark.parametrize(("rows", "error", "words"), [case for case in ROWS if case.values[0] is not None])
def test_new_rows_that_cannot_be_used(rows, error, words, method):
    if isinstance(rows, (pd.DataFrame, pl.DataFrame)):
        model = PCA(1).fit(pd.DataFrame(X[:, : rows.shape[1]], columns=list(rows.columns)))
    else:
        model = PCA(1).fit(X[:, : rows.shape[1] or 4] if getattr(rows, "ndim", 0) == 2 else X)
    with pytest.raises(error, match=f"(?s){words}"):
        getattr(model, method)(rows)


def test_one_row():
    for estimator in (PCA(), PCA(scale=True), PCA(1, solver="lanczos")):
        with pytest.raises(ritz.InputError, match=r"at least 2 rows.*; received n_samples=1\nhint: .*center=False"):
            estimator.fit(X[:1])


# -------------------------------------------------------------------------------------- other columns


@pytest.mark.parametrize("method", ["transform", "score", "score_samples", "partial_fit"])
def test_another_number_of_columns(method):
    for rows, d in ((X[:, :3], 3), (sp.csr_array(X[:, :2]), 2), (np.hstack([X, X]), 8)):
        words = rf"X has {d} features, but PCA is expecting 4 features as input; received .*\nhint: give the"
        with pytest.raises(ritz.InputError, match=f"(?s){words}"):
            getattr(PCA(2).fit(X), method)(rows)
    with pytest.raises(ritz.InputError, match="X has 3 features, but SVD is expecting 4"):
        SVD(2).fit(X).transform(X[:, :3])


def test_other_names_and_another_order():
    model = PCA(2).fit(NAMED)
    with pytest.raises(ritz.InputError, match=r"(?s)names should match.*unseen.*- size.*hint: add or rename columns"):
        model.transform(NAMED.rename(columns={"height": "size"}))
    with pytest.raises(
        ritz.InputError, match=r"(?s)same order.*hint: select them by name: X\[model.feature_names_in_\]"
    ):
        model.transform(NAMED[NAMED.columns[::-1]])
    np.testing.assert_array_equal(model.transform(NAMED[model.feature_names_in_]), model.transform(NAMED))


@pytest.mark.parametrize(
    ("coordinates", "words"),
    [
        (
            X,
            r"coordinates of 2 components, shape \(n, 2\); received shape \(20, 4\)\nhint: pass what",
        ),
        (X[0, :2], r"coordinates of 2 components, shape \(n, 2\); received shape \(2,\)\nhint: "),
        ([["a", "b"]], r"takes real numbers; received dtype <U1\nhint: "),
        ([[1j, 2j]], r"takes real numbers; received dtype complex128\nhint: "),
        ([[1.0, 2.0], [3.0]], r"rows of one length; received 2 entries in row 0 but 1 in row 1\nhint: "),
        (sp.csr_array(X[:, :2]), r"dense coordinates; received .*csr.*\nhint: .*toarray"),
        (np.ma.masked_less(X[:, :2], 0), r"without masked entries; received \d+ masked entries\nhint: "),
        (with_entry(np.nan)[:, :2], r"finite coordinates; .* contains NaN; received 1 row .* row 3\nhint: "),
        (with_entry(-np.inf)[:, :2], r"finite coordinates; .* contains infinity; received 1 row .* row 3\nhint: "),
    ],
)
@pytest.mark.parametrize("cls", [PCA, SVD])
def test_coordinates_that_lead_nowhere(coordinates, words, cls):
    with pytest.raises(ritz.InputError, match=f"(?s){words}"):
        cls(2).fit(X).inverse_transform(coordinates)


@pytest.mark.parametrize("form", [list, np.ma.asarray, pd.DataFrame, pl.DataFrame, lambda T: T.astype(object)])
def test_coordinates_in_other_forms(form):
    model = PCA(2).fit(X)
    T = model.transform(X)
    np.testing.assert_array_equal(model.inverse_transform(form(T)), model.inverse_transform(T))


# -------------------------------------------------------------------------------------------- after


def test_a_fit_that_failed_leaves_no_model_behind():
    model = PCA(2).fit(X)
    with pytest.raises(ritz.NonFiniteError):
        model.fit(with_entry(np.nan))
    with pytest.raises(NotFittedError):
        model.transform(X)


COUNTS = np.abs(np.rint(10 * X)) + 1
MIXED = pd.DataFrame({"a": list("xyzx") * 5, "b": list("uvwtu") * 4, "c": X[:, 0]})
WAYS_BACK = {
    "PCA": lambda: (ritz.PCA(2).fit(X), X),
    "ZCA": lambda: (ritz.ZCA().fit(X), X),
    "linear kernel": lambda: (ritz.KernelPCA(2).fit(X), X),
    "RBF kernel": lambda: (ritz.KernelPCA(2, kernel="rbf").fit(X), X),
    "NMF": lambda: (ritz.NMF(2).fit(COUNTS), COUNTS),
    "CA": lambda: (ritz.CA(2).fit(COUNTS), COUNTS),
    "MCA": lambda: (ritz.MCA(2).fit(MIXED[["a", "b"]]), MIXED[["a", "b"]]),
    "FAMD": lambda: (ritz.FAMD(2).fit(MIXED), MIXED),
    "Isomap": lambda: (ritz.Isomap(2, n_neighbors=8).fit(X), X),
    "LLE": lambda: (ritz.LLE(2, n_neighbors=8).fit(X), X),
    "MDS": lambda: (ritz.MDS(2).fit(X), X),
    "HOSVD": lambda: (ritz.HOSVD((2, 2, 2)).fit(X.reshape(20, 2, 2)), X.reshape(20, 2, 2)),
}


@pytest.mark.parametrize("name", WAYS_BACK)
def test_no_row_is_made_from_coordinates_behind_a_mask(name):
    model, rows = WAYS_BACK[name]()
    places = np.asarray(model.transform(rows))
    hidden = np.ma.array(places, mask=np.zeros(places.shape, bool))
    assert np.shape(model.inverse_transform(hidden))  # nothing is hidden yet
    hidden[1, 0] = np.ma.masked
    ways = [
        model.inverse_transform,
        *(getattr(model, way) for way in ("preimages", "probabilities") if hasattr(model, way)),
    ]
    for way in ways:
        with pytest.raises(ritz.InputError, match=r"(?s)without masked entries; received 1 masked entries\nhint: "):
            way(hidden)


def _hidden(Z):
    return np.ma.array(Z, mask=np.arange(Z.size).reshape(Z.shape) == 1)


BESIDE_ROWS = {
    "second table of a fit": lambda: ritz.PLS(1).fit(X, _hidden(X[:, :2])),
    "second table of scores": lambda: ritz.CCA(1).fit(X, X[:, :2] + X[:, 1:3] ** 2).transform(X, _hidden(X[:, :2])),
    "second table of an R²": lambda: ritz.PCR(1).fit(X, X[:, 0]).score(X, _hidden(X[:, 0])),
    "weights": lambda: PCA(1).fit(X, sample_weight=_hidden(np.ones(len(X)))),
    "mixed table": lambda: ritz.FAMD(1).fit(_hidden(X)),
    "rows of a mixed table": lambda: ritz.FAMD(1).fit(X).transform(_hidden(X)),
    "totals": lambda: ritz.CA(1).fit(np.abs(X)).inverse_transform(np.zeros((2, 1)), totals=_hidden(np.ones(2))),
    "table of a certificate": lambda: PCA(1).fit(X).certificate_.verify(_hidden(X)),
    "counts of a certificate": lambda: ritz.CA(1).fit(COUNTS).certificate_.verify(_hidden(COUNTS)),
    "weights of a certificate": lambda: SVD(1).fit(X).certificate_.verify(X, _hidden(np.ones(len(X)))),
    "tensor": lambda: ritz.HOSVD(2).fit(_hidden(X)),
    "slices of a tensor": lambda: ritz.Tucker(2).fit(X).transform(_hidden(X)),
    "rows of an index": lambda: ritz.LSH(n_bits=2).fit(_hidden(X)),
    "queries of an index": lambda: ritz.LSH(n_bits=2).fit(X).kneighbors(_hidden(X)),
    "counts of texts": lambda: ritz.LSI(1).fit(_hidden(COUNTS)),
    "counts of residuals": lambda: ritz.PearsonResiduals().fit(_hidden(COUNTS)),
    "chances of ones": lambda: ritz.RBM(1).fit(_hidden(np.abs(X) / 9)),
    "further columns": lambda: ritz.CA(1).fit(np.abs(X)).supplementary_columns(_hidden(np.abs(X[:, :2]))),
}


@pytest.mark.parametrize("what", BESIDE_ROWS)
def test_no_number_behind_a_mask_is_taken_beside_rows(what):
    with pytest.raises(ritz.InputError, match=r"(?s)without masked entries; received 1 masked entries\nhint: "):
        BESIDE_ROWS[what]()


@pytest.mark.parametrize(
    ("rows", "weights", "words"),
    [
        (X[:, 0], None, r"rows and columns; received shape \(20,\)"),
        (X, np.ones(19), r"one weight for each of the 20 rows; received shape \(19,\)\nhint: "),
        (X, -np.ones(20), r"must not be negative; received -1 at row 0\nhint: "),
    ],
)
def test_a_certificate_refuses_what_no_fit_takes(rows, weights, words):
    with pytest.raises(ritz.InputError, match=f"(?s){words}"):
        PCA(1).fit(X).certificate_.verify(rows, weights)
