"""The moment state: rows arrive in pieces, models merge and rows leave again, all as if fitted at once."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError

import ritz
from ritz import PCA, SVD


@pytest.fixture
def X():
    rng = np.random.default_rng(0)
    return rng.normal(size=(90, 5)) * [5, 4, 3, 2, 1] + 100


def same(a, b, *, rtol=1e-10):
    np.testing.assert_allclose(a.explained_variance_, b.explained_variance_, rtol=rtol)
    np.testing.assert_allclose(a.components_, b.components_, atol=1e-8)
    np.testing.assert_allclose(a.mean_, b.mean_, rtol=1e-12)
    np.testing.assert_allclose(a.noise_variance_, b.noise_variance_, rtol=1e-6, atol=1e-12)
    assert (a.n_samples_, a.n_components_, a.n_features_in_) == (
        b.n_samples_,
        b.n_components_,
        b.n_features_in_,
    )


# -------------------------------------------------------------------------------------- partial_fit


def test_rows_may_come_one_at_a_time(X):
    model = PCA(3)
    for row in X:
        assert model.partial_fit(row[None]) is model
    same(model, PCA(3).fit(X))


def test_one_row_is_taken_but_not_enough_to_be_read(X):
    model = PCA(2).partial_fit(X[:1])
    for name in ("components_", "explained_variance_", "certificate_"):
        with pytest.raises(ritz.InputError, match=r"at least 2 rows.*n_samples=1\nhint: pass more rows"):
            getattr(model, name)
    model.partial_fit(X[1:])
    same(model, PCA(2).fit(X))


def test_one_row_about_zero_is_enough():
    model = PCA(center=False).partial_fit([[3.0, 4.0]])
    np.testing.assert_allclose(model.components_, [[0.6, 0.8]])


def test_nothing_is_solved_before_a_result_is_read(X, monkeypatch):
    solved = []
    solve = PCA._solve_state
    monkeypatch.setattr(PCA, "_solve_state", lambda self: (solved.append(1), solve(self))[1])
    model = PCA(2)
    for piece in np.array_split(X, 6):
        model.partial_fit(piece)
        repr(model)
        model.n_features_in_  # noqa: B018
    merged = model.merge(PCA(2).partial_fit(X))
    assert not solved
    assert model.components_.shape == (2, 5)
    assert model.explained_variance_.shape == (2,)
    model.transform(X)
    assert len(solved) == 1
    model.partial_fit(X)
    assert len(solved) == 1
    assert model.n_samples_ == 180
    assert len(solved) == 2
    merged.score(X)
    assert len(solved) == 3


@pytest.mark.parametrize("method", ["transform", "score", "score_samples", "reconstruction_error"])
def test_every_method_solves_what_is_pending(X, method):
    pending = PCA(2).partial_fit(X[:50]).partial_fit(X[50:])
    np.testing.assert_allclose(getattr(pending, method)(X), getattr(PCA(2).fit(X), method)(X), rtol=1e-8)


@pytest.mark.parametrize("method", ["get_covariance", "get_precision", "get_feature_names_out"])
def test_every_method_without_rows_solves_what_is_pending(X, method):
    pending, fitted = getattr(PCA(2).partial_fit(X), method)(), getattr(PCA(2).fit(X), method)()
    if method == "get_feature_names_out":
        assert list(pending) == list(fitted) == ["pca0", "pca1"]
    else:
        np.testing.assert_allclose(pending, fitted, rtol=1e-8, atol=1e-10)
    T = np.ones((3, 2))
    np.testing.assert_allclose(
        PCA(2, whiten=True).partial_fit(X).inverse_transform(T),
        PCA(2, whiten=True).fit(X).inverse_transform(T),
    )


def test_partial_fit_goes_on_where_fit_ended(X):
    same(PCA(2).fit(X[:60]).partial_fit(X[60:]), PCA(2).fit(X))


def test_fit_starts_anew(X):
    same(PCA(2).partial_fit(X[:60] * 9).fit(X), PCA(2).fit(X))


def test_sparse_and_dense_pieces_may_be_mixed(X):
    model = PCA(2).partial_fit(sp.csr_array(X[:30])).partial_fit(X[30:60]).partial_fit(sp.coo_array(X[60:]))
    same(model, PCA(2).fit(X))


def test_n_components_may_change_and_is_decided_at_the_end(X):
    model = PCA(0.5).partial_fit(X[:5])
    first = model.n_components_
    model.partial_fit(X[5:])
    assert model.n_components_ == PCA(0.5).fit(X).n_components_
    assert first >= 1
    model.set_params(n_components=3).partial_fit(X[:1])
    assert model.n_components_ == 3


def test_bad_pieces_leave_the_state_as_it_was(X):
    model = PCA(2).partial_fit(X)
    bad = X[:3].copy()
    bad[0, 0] = np.nan
    with pytest.raises(ritz.NonFiniteError):
        model.partial_fit(bad)
    with pytest.raises(ritz.InputError, match="X has 3 features, but PCA is expecting 5"):
        model.partial_fit(X[:, :3])
    same(model, PCA(2).fit(X))


def test_constant_columns_are_found_in_a_state():
    X = np.array([[1.0, 5], [2, 5], [4, 5], [7, 5]])
    model = PCA(scale=True)
    for row in X:
        model.partial_fit(row[None])
    with pytest.warns(ritz.ConstantColumnWarning, match="constant column 1"):
        assert model.scale_[1] == 1


def test_the_certificate_of_a_state_says_what_it_can_promise(X):
    model = PCA(2).partial_fit(X)
    truth = np.linalg.eigvalsh(np.cov(X.T))[::-1] * 89
    certificate = model.certificate_
    assert np.all(certificate.lower <= truth[:2])
    assert np.all(truth[:2] <= certificate.upper)
    assert np.all(certificate.width <= 1e-11 * truth[0])


# -------------------------------------------------------------------------------------------- merge


def test_merge_is_the_model_of_all_rows(X):
    a, b, c = (PCA(3).fit(part) for part in (X[:10], X[10:45], X[45:]))
    same(a.merge(b, c), PCA(3).fit(X))
    same(a.merge(b).merge(c), PCA(3).fit(X))
    same(c.merge(a, b), PCA(3).fit(X))


@pytest.mark.parametrize("options", [{"scale": True}, {"whiten": True}, {"center": False}, {"solver": "krylov"}])
def test_merge_keeps_parameters(X, options):
    merged = PCA(2, tol=1e-12, **options).fit(X[:40]).merge(PCA(2, tol=1e-12, **options).fit(X[40:]))
    whole = PCA(2, tol=1e-12, **options).fit(X)
    assert merged.get_params() == whole.get_params()
    np.testing.assert_allclose(merged.transform(X), whole.transform(X), rtol=1e-7, atol=1e-7)


def test_merge_changes_neither_model(X):
    a, b = PCA(2).fit(X[:40]), PCA(2).partial_fit(X[40:])
    before = pickle.dumps(a), pickle.dumps(b)
    merged = a.merge(b)
    merged.components_  # noqa: B018
    merged.partial_fit(X * 5)
    assert (pickle.dumps(a), pickle.dumps(b)) == before
    assert type(merged) is PCA


def test_merge_of_single_rows(X):
    first, *more = (PCA(2).partial_fit(row[None]) for row in X)
    same(first.merge(*more), PCA(2).fit(X))


def test_merge_decides_a_fraction_again():
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=(50, 4)) * [9, 1, 0.1, 0.1], rng.normal(size=(50, 4)) * [0.1, 0.1, 1, 9]
    models = [PCA(0.9).fit(rows) for rows in (a, b)]
    assert [m.n_components_ for m in models] == [1, 1]
    assert models[0].merge(models[1]).n_components_ == 2


def test_merge_keeps_names_and_dtype(X):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=list("abcde")).astype(np.float32)
    merged = PCA(2).fit(frame[:40]).merge(PCA(2).fit(frame[40:]))
    assert list(merged.feature_names_in_) == list("abcde")
    assert merged.components_.dtype == np.float32
    assert merged.transform(frame).dtype == np.float32
    assert PCA(2).fit(frame).merge(PCA(2).fit(X)).components_.dtype == np.float64


def test_unequal_models_do_not_merge(X):
    pandas = pytest.importorskip("pandas")
    model = PCA(2).fit(X)
    for options in ({"n_components": 3}, {"scale": True}, {"center": False}, {"whiten": True}):
        other = PCA(**{"n_components": 2} | options).fit(X)
        name = next(iter(options))
        told = f"{name}={getattr(model, name)} and {name}={options[name]}"
        with pytest.raises(ritz.MergeError, match=rf"(?s)same parameters.*received {told}\nhint: fit"):
            model.merge(other)
    with pytest.raises(ritz.MergeError, match=r"(?s)same columns; received 5 and 4 columns\nhint: fit both"):
        model.merge(PCA(2).fit(X[:, :4]))
    named = [PCA(2).fit(pandas.DataFrame(X, columns=list(names))) for names in ("abcde", "abced", "abcxy")]
    with pytest.raises(ritz.MergeError, match=r"columns in another order, such as 'e' where the first has 'd'\nhint: "):
        named[0].merge(named[1])
    only = r"columns 'd', 'e' only in the first and 'x', 'y' only in the second\nhint: "
    with pytest.raises(ritz.MergeError, match=only):
        named[0].merge(named[2])
    for other in (SVD(2).fit(X), X, None):
        with pytest.raises(ritz.MergeError, match=r"(?s)with a PCA only; received \w+\nhint: "):
            model.merge(other)
    with pytest.raises(NotFittedError):
        model.merge(PCA(2))
    with pytest.raises(NotFittedError):
        PCA(2).merge(model)


def test_a_model_without_state_names_the_option():
    wide = np.random.default_rng(2).normal(size=(4, 2001))
    model = PCA(2).fit(wide)
    expected = r"(?s){} needs the moment state.*with 2,001 columns, mergeable=None\nhint: .*mergeable=True"
    with pytest.raises(ritz.MergeError, match=expected.format("merge")):
        model.merge(model)
    with pytest.raises(ritz.MergeError, match=expected.format("subtract")):
        model.subtract(model)
    with pytest.raises(ritz.MergeError, match=expected.format("partial_fit")):
        model.partial_fit(wide)


def test_the_state_can_be_asked_for_or_declined(X):
    wide = np.random.default_rng(3).normal(size=(12, 2001))
    parts = [PCA(2, mergeable=True).fit(part) for part in (wide[:6], wide[6:])]
    merged, whole = parts[0].merge(parts[1]), PCA(2).fit(wide)
    np.testing.assert_allclose(merged.explained_variance_, whole.explained_variance_, rtol=1e-10)
    np.testing.assert_allclose(merged.components_, whole.components_, atol=1e-7)
    declined = PCA(2, mergeable=False).fit(X)
    with pytest.raises(ritz.MergeError, match="mergeable=False"):
        declined.merge(declined)
    with pytest.raises(ritz.ParameterError, match=r"(?s)at most 20,000 columns; received 20,001 columns\nhint"):
        PCA(1, mergeable=True).fit(sp.csr_array((3, 20_001)))


# ----------------------------------------------------------------------------------------- subtract


def test_subtract_takes_rows_out_again(X):
    whole, part = PCA(3).fit(X), PCA(3).fit(X[:30])
    rest = whole.subtract(part)
    same(rest, PCA(3).fit(X[30:]), rtol=1e-9)
    same(rest.merge(part), whole, rtol=1e-9)


def test_subtract_reports_what_it_is_exact_to(X):
    rest = PCA(3).fit(X).subtract(PCA(3).fit(X[:30]))
    assert "subtracted: eigenvalues are exact to" in str(rest.certificate_)
    truth = np.linalg.eigvalsh(np.cov(X[30:].T))[::-1] * 59
    assert np.all(rest.certificate_.lower <= truth[:3])
    assert np.all(truth[:3] <= rest.certificate_.upper)


@pytest.mark.parametrize("size", [1e6, 1e9, 1e14])
def test_subtract_does_not_tell_shares_of_a_total_that_is_rounding(X, size, recwarn):
    others = size * np.random.default_rng(3).standard_normal((200, X.shape[1]))
    rest = PCA(1).fit(np.concatenate([X, others])).subtract(PCA(1).fit(others))
    truth = np.linalg.eigvalsh(np.cov(X.T))[-1] * (len(X) - 1)
    assert rest.certificate_.lower[0] <= truth <= rest.certificate_.upper[0]
    assert rest.certificate_.verify(X)
    told = [str(one.message) for one in recwarn if "what is left of the rest is rounding" in str(one.message)]
    lost = "subtracted: what is left cannot be told from the rounding of what was taken off"
    assert (lost in rest.certificate_.notes) == bool(told) == (size > 1e8)


@pytest.mark.filterwarnings("ignore:constant column:ritz._core.errors.ConstantColumnWarning")
def test_subtract_knows_that_a_column_of_float32_numbers_is_constant_again():
    rng = np.random.default_rng(4)
    rows = rng.standard_normal((5000, 3)).astype(np.float32)
    rows[:, 0] = 0.05
    others = rng.standard_normal((10, 3)).astype(np.float32)
    others[:, 0] = 0.05 + 1e-6 * others[:, 0]
    rest = PCA(3, scale=True).fit(np.concatenate([rows, others])).subtract(PCA(3, scale=True).partial_fit(others))
    assert rest.scale_[0] == 1
    assert rest.certificate_.width[0] <= 1e-9 * rest.certificate_.values[0]
    same(rest, PCA(3, scale=True).fit(rows), rtol=1e-5)
    rows[7, 0] = np.nextafter(rows[7, 0], np.float32(1))  # one entry by one step: it varies
    whole = PCA(3, scale=True).fit(np.concatenate([rows, others]))
    assert whole.subtract(PCA(3, scale=True).partial_fit(others)).scale_[0] < 1e-9


def test_subtract_works_with_weights(X):
    w = np.random.default_rng(4).integers(1, 5, 90)
    whole, part = PCA(3).fit(X, sample_weight=w), PCA(3).fit(X[:30], sample_weight=w[:30])
    same(whole.subtract(part), PCA(3).fit(X[30:], sample_weight=w[30:]), rtol=1e-9)


def test_what_was_never_in_cannot_be_taken_out(X):
    model = PCA(2).fit(X)
    with pytest.raises(ritz.MergeError, match=r"(?s)with some rows left; received 90 rows .* from 90.*\nhint: "):
        model.subtract(model)
    with pytest.raises(ritz.MergeError, match=r"(?s)rows are part of this one.*would become negative\nhint: "):
        model.subtract(PCA(2).fit(X[:20] * 1000))
    with pytest.raises(ritz.MergeError, match="received scale=False and scale=True"):
        model.subtract(PCA(2, scale=True).fit(X[:20]))


def test_a_model_verifies_itself_from_memory_and_files(tmp_path) -> None:
    X = np.random.default_rng(0).normal(5.0, 2.0, (400, 5)) * [1, 2, 3, 4, 5]
    w = np.arange(400) % 3
    frame = pd.DataFrame(X, columns=list("abcde"))
    frame.to_parquet(tmp_path / "x.parquet", row_group_size=90)
    frame.iloc[:, ::-1].assign(a=X[::-1, 0])[list("abcde")].to_parquet(tmp_path / "y.parquet", row_group_size=90)
    for model in (ritz.PCA(2), ritz.PCA(2, scale=True), ritz.SVD(2)):
        assert model.fit(X, sample_weight=w).verify(X, sample_weight=w)
        assert not model.verify(X)
        model.fit(ritz.read(tmp_path / "x.parquet", memory="1kB"))
        assert model.verify(ritz.read(tmp_path / "x.parquet", memory="1kB"))
        assert not model.verify(ritz.read(tmp_path / "y.parquet", memory="1kB"))
