"""What a user sees for parameters, weights and calls that cannot be: expected, received, and a hint."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError

import ritz
from ritz import PCA, SVD
from ritz.data.validate import InputTypeError

X = np.random.default_rng(0).normal(size=(20, 4))

# -------------------------------------------------------------------------------------- parameters

WRONG_K = [
    (
        5,
        r"n_components=5 must be between 0 and min\(n_samples, n_features\)=4; received 5 for 20 rows and 4 "
        r"columns\nhint: n_components=None keeps all 4",
    ),
    (-1, r"n_components=-1 must be between 0 and .*=4; received -1.*\nhint: "),
    (np.int64(21), r"n_components=21 must be between 0 and"),
    (1.0, r"strictly between 0 and 1; received 1.0\nhint: n_components=None keeps everything"),
    (2.0, r"strictly between 0 and 1; received 2.0\nhint: write n_components=2 for a number"),
    (0.0, r"strictly between 0 and 1; received 0.0\nhint: "),
    (-0.5, r"strictly between 0 and 1; received -0.5\nhint: "),
    (97.5, r"strictly between 0 and 1; received 97.5\nhint: n_components=0.975 if 97.5 was a percentage"),
    (np.nan, r"strictly between 0 and 1; received nan\nhint: "),
    (True, r"None, an int, a fraction .*, or the name of a rule; received True\nhint: "),
    ([2], r"None, an int, a fraction .*, or the name of a rule; received list\nhint: "),
    ("kayser", r"the name of a rule; received 'kayser'\nhint: did you mean 'kaiser'\?"),
    ("paralel", r"the name of a rule; received 'paralel'\nhint: did you mean 'parallel'\?"),
    ("concensus", r"the name of a rule; received 'concensus'\nhint: did you mean 'consensus'\?"),
]


@pytest.mark.parametrize("cls", [PCA, SVD])
@pytest.mark.parametrize(("k", "words"), WRONG_K)
def test_numbers_of_components_that_cannot_be(k, words, cls):
    with pytest.raises(ritz.ParameterError, match=f"(?s){words}"):
        cls(k).fit(X)
    with pytest.raises(ritz.ParameterError, match=f"(?s){words}"):
        cls(k).fit(sp.csr_array(X))
    if cls is PCA:
        with pytest.raises(ritz.ParameterError, match=f"(?s){words}"):
            PCA(k).partial_fit(X).components_  # noqa: B018


def test_rules_that_do_not_fit_the_data_or_the_solver():
    with pytest.raises(
        ritz.ParameterError, match=r"(?s)'mle' is only supported if .*received 4 rows and 20.*\nhint: a fr"
    ):
        PCA("mle").fit(X.T)
    with pytest.raises(
        ritz.ParameterError, match=r"(?s)whole spectrum.*received solver='krylov'\nhint: use solver='auto'"
    ):
        PCA("elbow", solver="krylov").fit(X)
    with pytest.raises(ritz.ParameterError, match=r"(?s)n_components=0 must be between 1 and .*=4 with solver='power'"):
        PCA(0, solver="power").fit(X)


PARAMETERS = [
    (
        {"solver": "arpack"},
        r"solver must be 'auto' or one of svd, .*; received 'arpack'\nhint: leave solver='auto'",
    ),
    ({"solver": None}, r"solver must be 'auto' or one of .*; received None\nhint: "),
    ({"solver": ["svd"]}, r"solver must be 'auto' or one of .*; received \['svd'\]\nhint: "),
    ({"tol": -1.0}, r"tol must be a number in \[0, 1\); received -1.0\nhint: tol=1e-6"),
    ({"tol": 1.0}, r"tol must be a number in \[0, 1\); received 1.0\nhint: "),
    ({"tol": "tight"}, r"tol must be a number in \[0, 1\); received 'tight'\nhint: "),
    ({"tol": np.nan}, r"tol must be a number in \[0, 1\); received nan\nhint: "),
    ({"device": "gpu"}, r"device must be \"cpu\", \"auto\", .*; received 'gpu'\nhint: "),
    ({"memory": "lots"}, r"memory must be None, a number of bytes, .*; received 'lots'\nhint: memory='2GB'"),
    ({"random_state": "x"}, r"random_state must be None, an int ≥ 0, .*; received 'x'\nhint: pass an integer"),
    ({"progress": "x"}, r"progress .*; received 'x'\nhint: "),
]


@pytest.mark.parametrize("cls", [PCA, SVD])
@pytest.mark.parametrize(("options", "words"), PARAMETERS)
def test_parameters_that_cannot_be(options, words, cls):
    estimator = cls(2, **options)  # the constructor only stores
    with pytest.raises(ritz.ParameterError, match=f"(?s){words}"):
        estimator.fit(X)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            {"missing": "impute"},
            r"missing must be one of 'error', 'mean', 'em', 'regularized'; received 'impute'\nhint: ",
        ),
        ({"scale": "auto"}, r"scale must be True or False; received 'auto'\nhint: "),
        ({"center": None}, r"center must be True or False; received None\nhint: "),
        ({"whiten": 1.0}, r"whiten must be True or False; received 1.0\nhint: "),
    ],
)
def test_parameters_of_pca_that_cannot_be(options, words):
    for verb in ("fit", "partial_fit"):
        with pytest.raises(ritz.ParameterError, match=f"(?s){words}"):
            getattr(PCA(2, **options), verb)(X)


def test_a_memory_limit_that_cannot_be_kept():
    with pytest.raises(
        ritz.MemoryLimitError, match=r"(?s)must stay within memory=.*; received at least .*\nhint: allow"
    ):
        PCA(50, memory="100kB").fit(np.random.default_rng(0).normal(size=(400, 300)))


# ----------------------------------------------------------------------------------------- weights

WEIGHTS = [
    (-np.ones(20), r"must not be negative; received -1 at row 0\nhint: .*frequencies.*subtract"),
    (np.zeros(20), r"must not be zero everywhere; received 20 weights that are all zero\nhint: "),
    (
        np.full(20, 0.01),
        r"must sum to more than 1, .*; received a sum of 0.2\nhint: .*multiplied by the number",
    ),
    (np.ones(19), r"one weight for each of the 20 rows; received shape \(19,\)\nhint: "),
    (np.ones((20, 1)), r"one weight for each of the 20 rows; received shape \(20, 1\)\nhint: "),
    (3.0, r"one weight for each of the 20 rows; received shape \(\)\nhint: "),
    (np.full(20, np.nan), r"must be finite; received nan at row 0\nhint: "),
    (np.full(20, np.inf), r"must be finite; received inf at row 0\nhint: "),
    (["a"] * 20, r"must be numbers; received list of length 20\nhint: "),
]


@pytest.mark.parametrize("cls", [PCA, SVD])
@pytest.mark.parametrize(("weights", "words"), WEIGHTS)
def test_weights_that_cannot_be(weights, words, cls):
    with pytest.raises(ritz.InputError, match=f"(?s)sample_weight {words}|sample_weight must be 1D with {words}"):
        cls(2).fit(X, sample_weight=weights)


def test_weights_that_leave_one_row():
    with pytest.raises(ritz.InputError, match=r"at least 2 rows.*n_samples=1\nhint: "):
        PCA().fit(X, sample_weight=[5] + [0] * 19)


# ---------------------------------------------------------------------------------------- unfitted

UNFITTED = {
    "transform": (X,), "inverse_transform": (X,), "score": (X,), "score_samples": (X,), "get_covariance": (),
    "get_precision": (), "reconstruction_error": (), "get_feature_names_out": (), "merge": (PCA(),),
    "subtract": (PCA(),),
}  # fmt: skip


@pytest.mark.parametrize("method", UNFITTED)
def test_what_is_not_fitted_says_so(method):
    words = "instance is not fitted yet. Call 'fit'"
    with pytest.raises(NotFittedError, match=words):
        getattr(PCA(), method)(*UNFITTED[method])
    if hasattr(SVD, method):
        with pytest.raises(NotFittedError, match=words):
            getattr(SVD(), method)(*UNFITTED[method])


def test_plan_takes_estimators_of_ritz():
    with pytest.raises(ritz.ParameterError, match=r"(?s)an estimator of ritz; received int\nhint: ritz.plan"):
        ritz.plan(X, 3)


def test_errors_can_be_caught_as_pythons_and_as_ritzs_own():
    assert issubclass(ritz.InputError, ValueError)
    assert issubclass(ritz.ParameterError, ValueError)
    assert issubclass(ritz.MergeError, ValueError)
    assert issubclass(ritz.MemoryLimitError, MemoryError)
    assert issubclass(InputTypeError, TypeError)
    for error in (
        ritz.InputError,
        ritz.ParameterError,
        ritz.MergeError,
        ritz.MemoryLimitError,
        InputTypeError,
    ):
        assert issubclass(error, ritz.RitzError)


def test_a_table_in_a_dict_is_told_to_be_a_frame():
    with pytest.raises(
        TypeError, match=r"expected rows and columns of numbers; received dict.*\nhint: make a frame first"
    ):
        ritz.PCA(1).fit({"a": [1.0, 2.0, 4.0], "b": [3.0, 1.0, 0.0]})


def test_a_report_of_rows_is_told_that_the_model_comes_first(tmp_path):
    X = np.random.default_rng(0).normal(size=(20, 3))
    with pytest.raises(
        ritz.ParameterError, match=r"(?s)^expected a fitted model; received numpy.*comes before the rows"
    ):
        ritz.report(X, ritz.PCA(2).fit(X), tmp_path / "page.html")
