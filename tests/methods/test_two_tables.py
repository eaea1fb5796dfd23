"""PLS, CCA and PCR: closed forms, other programs' numbers, identities, offsets, weights, files and words."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.linalg
from scipy import sparse
from sklearn.cross_decomposition import PLSSVD, PLSRegression
from sklearn.datasets import load_diabetes, load_linnerud
from sklearn.decomposition import PCA
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import ritz

EXERCISE, BODY = load_linnerud(return_X_y=True)
X10, Y10 = load_diabetes(return_X_y=True)


def tables(n=60, d=7, q=3, seed=0, noise=0.5):
    rng = np.random.default_rng(seed)
    latent = rng.standard_normal((n, 2))
    X = latent @ rng.standard_normal((2, d)) + noise * rng.standard_normal((n, d))
    Y = latent @ rng.standard_normal((2, q)) + noise * rng.standard_normal((n, q))
    return X, Y


def models(**options):
    return [
        ritz.PLS(2, **options), ritz.PLS(2, algorithm="nipals", **options), ritz.PLS(2, algorithm="svd", **options),
        ritz.CCA(2, **options), ritz.PCR(2, **options),
    ]  # fmt: skip


# other programs


@pytest.mark.parametrize("scale", [True, False])
@pytest.mark.parametrize("k", [1, 2, 3])
def test_nipals_is_pls_regression_of_scikit_learn(k, scale):
    X, Y = tables()
    other = PLSRegression(k, scale=scale, tol=1e-15, max_iter=100_000).fit(X, Y)
    model = ritz.PLS(k, algorithm="nipals", scale=scale).fit(X, Y)
    np.testing.assert_allclose(model.predict(X), other.predict(X), rtol=0, atol=1e-6)
    for name in ("x_weights_", "x_loadings_", "x_rotations_", "y_loadings_"):
        np.testing.assert_allclose(np.abs(getattr(model, name)), np.abs(getattr(other, name)), atol=1e-6, err_msg=name)
    np.testing.assert_allclose(model.coef_, other.coef_, atol=1e-6)


def test_one_target_is_the_same_by_simpls_nipals_and_scikit_learn():
    X, Y = tables()
    a, b = (ritz.PLS(4, algorithm=one).fit(X, Y[:, 0]) for one in ("simpls", "nipals"))
    other = PLSRegression(4).fit(X, Y[:, 0])
    np.testing.assert_allclose(a.predict(X), b.predict(X), atol=1e-12)
    np.testing.assert_allclose(a.predict(X), other.predict(X).ravel(), atol=1e-10)
    assert a.predict(X).shape == (60,)


def test_svd_is_pls_svd_of_scikit_learn():
    X, Y = tables()
    other, model = PLSSVD(3).fit(X, Y), ritz.PLS(3, algorithm="svd").fit(X, Y)
    np.testing.assert_allclose(np.abs(model.x_weights_), np.abs(other.x_weights_), atol=1e-12)
    np.testing.assert_allclose(np.abs(model.transform(X)), np.abs(other.transform(X)), atol=1e-11)
    s = scipy.linalg.svdvals(StandardScaler().fit_transform(X).T @ StandardScaler().fit_transform(Y)) / 60
    np.testing.assert_allclose(model.covariances_, s, rtol=1e-12)  # both divide by n − 1 once in the end


def test_the_canonical_correlations_that_sas_prints():
    model = ritz.CCA().fit(EXERCISE, BODY)
    np.testing.assert_allclose(model.canonical_correlations_, [0.795608, 0.200556, 0.072570], atol=5e-7)
    np.testing.assert_allclose(model.wilks_, [0.35039053, 0.95472266, 0.99473355], atol=5e-9)
    np.testing.assert_allclose(model.f_values_, [2.05, 0.18, 0.08], atol=5e-3)
    np.testing.assert_allclose(model.f_dof_, [[9, 34.223], [4, 30], [1, 16]], atol=5e-4)
    np.testing.assert_allclose(model.f_p_values_, [0.0635, 0.9491, 0.7748], atol=5e-5)


def test_pcr_is_components_and_least_squares():
    other = make_pipeline(StandardScaler(), PCA(4), LinearRegression()).fit(X10, Y10)
    model = ritz.PCR(4).fit(X10, Y10)
    np.testing.assert_allclose(model.predict(X10), other.predict(X10), rtol=1e-11)
    assert model.score(X10, Y10) == pytest.approx(other.score(X10, Y10), abs=1e-12)
    own = ritz.PCA(4, scale=True).fit(X10)
    np.testing.assert_allclose(model.components_, own.components_, atol=1e-12)
    np.testing.assert_allclose(model.explained_variance_, own.explained_variance_, rtol=1e-12)
    np.testing.assert_allclose(model.certificate_.values, own.explained_variance_ratio_, rtol=1e-12)


# closed forms and identities


def test_all_components_are_least_squares():
    X, Y = tables()
    least = LinearRegression().fit(X, Y)
    for model in (ritz.PLS(7), ritz.PLS(7, algorithm="nipals"), ritz.PCR(None), ritz.CCA(None)):
        found = model.fit(X, Y)
        np.testing.assert_allclose(found.predict(X), least.predict(X), atol=1e-10, err_msg=repr(model))
        np.testing.assert_allclose(found.coef_, least.coef_, atol=1e-10)
        np.testing.assert_allclose(X @ found.coef_.T + found.intercept_, found.predict(X), atol=1e-12)


@pytest.mark.parametrize("algorithm", ["simpls", "nipals"])
def test_scores_are_uncorrelated_and_what_they_explain_adds_up(algorithm):
    X, Y = tables(d=9)
    model = ritz.PLS(9, algorithm=algorithm).fit(X, Y)
    T = model.transform(X)
    G = T.T @ T
    assert np.max(np.abs(G - np.diag(np.diag(G)))) < 1e-10 * G.max()
    assert model.explained_variance_ratio_.sum() == pytest.approx(1, abs=1e-12)
    assert model.y_explained_variance_ratio_.sum() == pytest.approx(
        np.mean([LinearRegression().fit(X, y).score(X, y) for y in Y.T]), abs=1e-10
    )
    np.testing.assert_allclose(model.inverse_transform(T), X, atol=1e-10)
    assert np.mean(model.vip_**2) == pytest.approx(1, abs=1e-12)


def test_pls_with_one_target_is_conjugate_gradients():
    """The coefficients are those of least squares within the Krylov space of XᵀX and Xᵀy."""
    X, Y = tables(d=8)
    Z, z = X - X.mean(axis=0), Y[:, 0] - Y[:, 0].mean()
    for k in (1, 2, 3, 4):
        K = np.column_stack([np.linalg.matrix_power(Z.T @ Z, j) @ (Z.T @ z) for j in range(k)])
        K = np.linalg.qr(K / np.linalg.norm(K, axis=0))[0]
        beta = K @ np.linalg.lstsq(Z @ K, z, rcond=None)[0]
        np.testing.assert_allclose(ritz.PLS(k, scale=False).fit(X, Y[:, 0]).coef_[0], beta, atol=1e-9)


def test_canonical_correlations_are_cosines_of_principal_angles():
    X, Y = tables(d=5, q=4)
    angles = scipy.linalg.subspace_angles(X - X.mean(axis=0), Y - Y.mean(axis=0))
    model = ritz.CCA().fit(X, Y)
    np.testing.assert_allclose(model.canonical_correlations_, np.sort(np.cos(angles))[::-1], atol=1e-12)
    T, U = model.transform(X), model.transform_y(Y)
    both = np.corrcoef(T.T, U.T)
    np.testing.assert_allclose(both[:4, :4], np.eye(4), atol=1e-10)
    np.testing.assert_allclose(both[:4, 4:], np.diag(model.canonical_correlations_), atol=1e-10)
    np.testing.assert_allclose(T.std(axis=0, ddof=1), 1, rtol=1e-10)
    one = ritz.CCA(1).fit(X, Y[:, 0])  # with one column, multiple correlation
    assert one.canonical_correlations_[0] ** 2 == pytest.approx(LinearRegression().fit(X, Y[:, 0]).score(X, Y[:, 0]))


def test_canonical_correlations_do_not_depend_on_units_or_on_a_change_of_basis():
    X, Y = tables(d=4, q=3)
    rng = np.random.default_rng(1)
    truth = ritz.CCA().fit(X, Y).canonical_correlations_
    moved = ritz.CCA(scale=False).fit(X @ rng.standard_normal((4, 4)) * 1e-6, Y * [1e9, 1, 1e-9])
    np.testing.assert_allclose(moved.canonical_correlations_, truth, atol=1e-11)


def test_a_ridge_is_that_of_the_textbook():
    X, Y = tables(d=6, q=3)
    Z, z = StandardScaler().fit_transform(X), StandardScaler().fit_transform(Y)
    Cx, Cy, C = Z.T @ Z / 60 + 0.3 * np.eye(6), z.T @ z / 60 + 0.1 * np.eye(3), Z.T @ z / 60
    truth = scipy.linalg.eigh(C @ np.linalg.solve(Cy, C.T), Cx, eigvals_only=True)[::-1][:3]
    model = ritz.CCA(ridge=(0.3, 0.1)).fit(X, Y)
    np.testing.assert_allclose(model.certificate_.values, truth, rtol=1e-10)
    assert np.isnan(model.p_values_).all()  # the test is of plain correlations
    wide = ritz.CCA(2, ridge=0.5).fit(*tables(n=20, d=60, q=30))
    assert wide.canonical_correlations_[0] < 1
    assert wide.verify(*tables(n=20, d=60, q=30))


def test_bartlett_finds_the_number_of_correlations():
    rng = np.random.default_rng(3)
    shared = rng.standard_normal((500, 2))
    X, Y = (np.hstack([shared, rng.standard_normal((500, 3))]) + 0.3 * rng.standard_normal((500, 5)) for _ in range(2))
    model = ritz.CCA("bartlett").fit(X, Y)
    assert model.n_components_ == 2
    assert (model.p_values_[:2] < 1e-6).all()


# numbers that spoil others


@pytest.mark.parametrize("which", range(5))
def test_an_offset_of_1e8_changes_nothing(which):
    X, Y = np.round(tables()[0] * 2**10) / 2**10, np.round(tables()[1] * 2**10) / 2**10
    plain, moved = models()[which].fit(X, Y), models()[which].fit(X + 2.0**27, Y - 2.0**27)
    np.testing.assert_allclose(moved.coef_, plain.coef_, rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(moved.predict(X + 2.0**27) + 2.0**27, plain.predict(X), atol=1e-6)
    np.testing.assert_allclose(moved.transform(X + 2.0**27), plain.transform(X), atol=1e-8)
    assert moved.verify(X + 2.0**27, Y - 2.0**27)


def test_ill_conditioned_columns_keep_their_correlations():
    """Squaring κ = 1e7 would leave nothing; QR leaves ten digits."""
    rng = np.random.default_rng(5)
    Q = np.linalg.qr(rng.standard_normal((200, 6)) - 0)[0]
    Q = np.linalg.qr(Q - Q.mean(axis=0))[0]
    rho = np.array([0.9, 0.5, 0.1])
    Y = Q[:, :3] * rho + Q[:, 3:] * np.sqrt(1 - rho**2)
    mix = np.linalg.qr(rng.standard_normal((3, 3)))[0] * [1, 1e-4, 1e-7] @ np.linalg.qr(rng.standard_normal((3, 3)))[0]
    model = ritz.CCA().fit(Q[:, :3] @ mix, Y)
    error = np.abs(model.canonical_correlations_ - rho)
    assert error.max() < 1e-8
    c = model.certificate_
    assert ((c.lower <= rho**2) & (rho**2 <= c.upper)).all()


@pytest.mark.parametrize("which", range(5))
def test_weights_are_copies(which):
    X, Y = tables(n=40)
    w = np.random.default_rng(2).integers(0, 4, 40)
    one = models()[which].fit(X, Y, sample_weight=w)
    other = models()[which].fit(np.repeat(X, w, axis=0), np.repeat(Y, w, axis=0))
    np.testing.assert_allclose(one.coef_, other.coef_, atol=1e-11)
    np.testing.assert_allclose(one.explained_variance_, other.explained_variance_, rtol=1e-11)
    assert one.verify(X, Y, sample_weight=w)
    assert not one.verify(X, Y)


def test_far_more_columns_than_rows_and_far_more_rows_than_columns():
    X, Y = tables(n=20, d=300, q=2)
    wide = ritz.PLS(3, algorithm="nipals").fit(X, Y)
    np.testing.assert_allclose(
        wide.predict(X), PLSRegression(3, tol=1e-15, max_iter=10_000).fit(X, Y).predict(X), atol=1e-7
    )
    assert wide.verify(X, Y)
    with pytest.warns(ritz.AccuracyWarning, match=r"20 rows .* canonical correlations must be 1, whatever"):
        model = ritz.CCA(2).fit(X, Y)
    np.testing.assert_allclose(model.canonical_correlations_, 1, atol=1e-12)
    assert any("must be 1" in note for note in model.certificate_.notes)
    X, Y = tables(n=30_000, d=6, q=2)
    tall = ritz.PLS(3, algorithm="nipals").fit(X, Y)
    other = PLSRegression(3, tol=1e-15, max_iter=10_000).fit(X, Y)
    np.testing.assert_allclose(tall.predict(X[:9]), other.predict(X[:9]), atol=1e-8)


def test_sparse_rows_blocks_of_rows_and_float32(tmp_path):
    X, Y = tables(n=200)
    X = np.where(np.abs(X) > 1, X, 0)
    for model, other in zip(models(), models(), strict=True):
        dense, thin = model.fit(X, Y), other.fit(sparse.csr_array(X), Y)
        np.testing.assert_allclose(thin.coef_, dense.coef_, atol=1e-11)
        np.testing.assert_allclose(thin.predict(sparse.csr_array(X)), dense.predict(X), atol=1e-11)
    single = ritz.PLS(2).fit(X.astype(np.float32), Y)
    assert single.coef_.dtype == np.float32
    assert single.verify(X.astype(np.float32), Y)
    frame = pd.DataFrame(np.hstack([X, Y]), columns=[*"abcdefg", "u", "v", "w"])
    frame.to_parquet(tmp_path / "t.parquet")
    table = ritz.read(tmp_path / "t.parquet", memory="1MB")
    from_file = ritz.PLS(2, target=["u", "v", "w"], memory="200MB").fit(table)
    np.testing.assert_allclose(from_file.coef_, ritz.PLS(2).fit(X, Y).coef_, atol=1e-12)
    np.testing.assert_allclose(from_file.predict(table), ritz.PLS(2).fit(X, Y).predict(X), atol=1e-12)


# which columns are the second table


def test_columns_of_one_table_are_the_second():
    X, Y = tables()
    frame = pd.DataFrame(np.hstack([X, Y]), columns=[*"abcdefg", "u", "v", "w"])
    model = ritz.PLS(2, target=["u", "w"]).fit(frame)
    two = ritz.PLS(2).fit(frame[[*"abcdefg", "v"]], frame[["u", "w"]])
    np.testing.assert_array_equal(model.coef_, two.coef_)
    assert list(model.target_names_) == ["u", "w"]
    assert list(model.feature_names_in_) == [*"abcdefg", "v"]
    np.testing.assert_array_equal(model.predict(frame), model.predict(frame.drop(columns=["u", "w"])))
    assert model.score(frame) == model.score(frame, frame[["u", "w"]])
    assert model.verify(frame)
    assert not model.verify(frame.assign(u=frame.u.iloc[::-1].to_numpy()))
    by_place = ritz.PLS(2, target=[-3, -1]).fit(frame.to_numpy())
    np.testing.assert_allclose(by_place.coef_, model.coef_, atol=1e-14)
    first = frame[[*"abcdefg", "v"]].to_numpy()
    np.testing.assert_array_equal(by_place.transform(frame.to_numpy()), by_place.transform(first))


@pytest.mark.parametrize(
    ("words", "call"),
    [
        ("the second table, or target=", lambda X, Y: ritz.PLS(2).fit(X)),
        ("expected a column 'price' for target", lambda X, Y: ritz.PLS(2, target="price").fit(pd.DataFrame(X))),
        ("names places of its 7 columns", lambda X, Y: ritz.PLS(2, target=9).fit(X)),
        ("two tables of the same rows", lambda X, Y: ritz.CCA().fit(X, Y[:-1])),
        ("contains NaN or infinity", lambda X, Y: ritz.PCR(2).fit(X, np.where(Y > 1, np.nan, Y))),
        ("takes numbers, also in column 'kind'", lambda X, Y: ritz.PLS(1).fit(X, pd.DataFrame({"kind": ["a"] * 60}))),
        ("from 1 to 7, None, 'kfold'", lambda X, Y: ritz.PLS(8).fit(X, Y)),
        ("from 1 to 3, None, 'bartlett'", lambda X, Y: ritz.CCA(4).fit(X, Y)),
        ("algorithm must be 'simpls', 'nipals' or 'svd'", lambda X, Y: ritz.PLS(2, algorithm="pls2").fit(X, Y)),
        ("ridge must be a number ≥ 0", lambda X, Y: ritz.CCA(ridge=-1).fit(X, Y)),
        ("something in common", lambda X, Y: ritz.PLS(1).fit(X, np.ones(60))),
        ("columns that vary in the second table", lambda X, Y: ritz.CCA(1).fit(X, np.ones(60))),
        ("has 3 columns", lambda X, Y: ritz.PLS(2).fit(X, Y).transform_y(Y[:, :2])),
    ],
)
def test_what_cannot_be_meant_is_refused_in_words(words, call):
    X, Y = tables()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ritz.ConstantColumnWarning)
        with pytest.raises((ritz.InputError, ritz.ParameterError)) as refused:
            call(X, Y)
    assert words in str(refused.value)


# how many


def test_cross_validation_is_that_of_a_loop_over_numbers():
    X, Y = tables(n=50, d=6, q=2)
    model = ritz.PLS("kfold", scale=False, algorithm="nipals").fit(X, Y)
    turn = np.random.default_rng(0).permutation(50)
    folds = [(np.setdiff1d(np.arange(50), out), np.sort(out)) for out in np.array_split(turn, 10)]
    for k in (1, 3, 6):
        predicted = cross_val_predict(PLSRegression(k, scale=False, tol=1e-14, max_iter=5000), X, Y, cv=folds)
        assert model.cv_errors_[k] == pytest.approx(np.sqrt(np.mean((Y - predicted) ** 2)), abs=1e-7)
    assert model.n_components_ == 2  # as many as there are latent variables
    assert ritz.PCR("kfold").fit(X, Y).n_components_ <= 3


def test_grid_search_and_pipelines():
    X, Y = tables()
    search = GridSearchCV(ritz.PLS(), {"n_components": [1, 2, 5]}, cv=4).fit(X, Y[:, 0])
    assert search.best_params_["n_components"] in (1, 2)
    pipe = make_pipeline(StandardScaler(), ritz.PCR(3)).fit(X, Y)
    np.testing.assert_allclose(pipe.predict(X), ritz.PCR(3).fit(X, Y).predict(X), atol=1e-12)


def test_fewer_components_than_asked_are_said():
    X, Y = tables(d=5)
    X = np.hstack([X, X[:, :2]])  # rank 5
    with pytest.warns(ritz.AccuracyWarning, match="5 components say all that the first table says"):
        model = ritz.PLS(7).fit(X, Y)
    assert model.n_components_ == 5
    np.testing.assert_allclose(model.predict(X), LinearRegression().fit(X, Y).predict(X), atol=1e-9)


# the certificate, files


def test_certificates_hold_in_generated_cases():
    """Exact cross-products of known singular values: enclosures contain them."""
    rng = np.random.default_rng(0)
    for trial in range(60):
        n, d, q = int(rng.integers(12, 80)), int(rng.integers(1, 7)), int(rng.integers(1, 5))
        Q = np.linalg.qr(np.hstack([np.ones((n, 1)), rng.standard_normal((n, d + q))]))[0][:, 1 : d + q + 1]
        m = min(d, q)
        rho = np.sort(10.0 ** -rng.uniform(0, 8, m))[::-1] * (1 - 1e-9)
        X, Y = Q[:, :d], Q[:, d:].copy()
        Y[:, :m] = X[:, :m] * rho + Y[:, :m] * np.sqrt(1 - rho**2)
        turn = [np.linalg.qr(rng.standard_normal((s, s)))[0] for s in (d, q)]
        X, Y = X @ turn[0], Y @ turn[1]
        for model in (ritz.CCA().fit(X, Y), ritz.PLS(m, algorithm="svd", scale=False).fit(X, Y)):
            c = model.certificate_
            truth = rho**2 * (1 if isinstance(model, ritz.CCA) else 1 / (d * q))
            assert ((c.lower <= truth) & (truth <= c.upper)).all(), trial
            assert (c.width < 1e-13 * np.sqrt(truth) + 1e-26).all(), trial


@pytest.mark.parametrize("which", range(5))
def test_files_hold_the_model(which, tmp_path):
    X, Y = tables()
    model = models()[which].fit(X, Y)
    ritz.save(model, tmp_path / "m.ritz")
    again = ritz.load(tmp_path / "m.ritz")
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    np.testing.assert_array_equal(again.transform(X), model.transform(X))
    np.testing.assert_array_equal(again.transform_y(Y), model.transform_y(Y))
    assert again.verify(X, Y)
    again.coef_ = again.coef_ * 1.001
    assert not again.verify(X, Y)
    again = ritz.load(tmp_path / "m.ritz")
    again._record.coef64 = again._record.coef64 * 1.001
    assert "not least squares" in str(again.verify(X, Y))


def test_a_report_of_two_tables(tmp_path):
    X, Y = tables()
    frame = pd.DataFrame(np.hstack([X, Y]), columns=[*"abcdefg", "u", "v", "w"])
    for model in models(target=["u", "v"]):
        model.fit(frame)
        path = tmp_path / "r.html"
        ritz.report(model, frame, path)
        text = path.read_text()
        assert model.about.title in text
        assert "second table" in text


def test_directions_without_covariance_get_no_coefficients():
    rng = np.random.default_rng(1)
    x = rng.standard_normal(23)
    X, Y = np.column_stack([x, x]), x[:, None] * [1.0, 2.0, 3.0] + 0.3 * rng.standard_normal((23, 3))
    with pytest.warns(ritz.AccuracyWarning, match="1 component says all that the first table says"):
        model = ritz.PLS(2, algorithm="svd", scale=False).fit(X, Y)
    slope = (x - x.mean()) @ Y / np.sum(np.square(x - x.mean()))
    np.testing.assert_allclose(model.coef_, np.column_stack([slope, slope]) / 2, rtol=1e-12)
    assert model.verify(X, Y)


@pytest.mark.parametrize("method", [ritz.PLS, ritz.CCA, ritz.PCR])
def test_large_means_fail_no_right_model(method):
    rng = np.random.default_rng(0)
    X, Y = np.round(4 * rng.standard_normal((25, 4))) + 2.0**40, np.round(4 * rng.standard_normal((25, 2))) - 2.0**45
    model = method(2).fit(X, Y)
    assert model.verify(X, Y)
    Y[0] += 1
    assert not model.verify(X, Y)


@pytest.mark.parametrize("near", [1e-8, 1e-9, 1e-10, 1e-11, 1e-12])
def test_right_models_of_columns_that_nearly_repeat_each_other_are_verified(near, seed):
    """Scores are then small differences of large terms, and rounding of these is no sign of other coefficients."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((80, 5))
    X[:, 1] = X[:, 0] + near * rng.standard_normal(80)
    Y = X[:, :2] @ rng.standard_normal((2, 2)) + rng.standard_normal((80, 2))
    for method in (ritz.PCR(), ritz.CCA(), ritz.PLS(5)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ritz.AccuracyWarning)
            model = method.fit(X, Y)
        assert model.verify(X, Y)
        model._record.coef64 = model._record.coef64 * (1 + 1e-4)
        assert not model.verify(X, Y)


@pytest.mark.parametrize("draw", [0, 1, 5])
def test_predictions_of_float32_rows_with_a_collinear_column_keep_their_digits(draw):
    rng = np.random.default_rng(draw)
    X = rng.standard_normal((60, 4)) + rng.standard_normal((60, 2)) @ rng.standard_normal((2, 4))
    X[:, 2] = X[:, 0] - 2 * X[:, 1]
    X = X.astype(np.float32)  # which leaves the three columns nearly collinear: coefficients are about 1e5
    Y = X[:, :3].astype(float) @ rng.standard_normal((3, 2)) + 0.1 * rng.standard_normal((60, 2))
    model = ritz.CCA(2).fit(X, Y)
    told = model.verify(X, Y)
    assert told, told.words
    np.testing.assert_allclose(model.predict(X), model.predict(X.astype(float)), rtol=1e-6, atol=1e-6)
    assert not model.verify(X, Y[::-1])


@pytest.mark.parametrize("which", [ritz.CCA, ritz.PLS, ritz.PCR])
def test_scores_of_both_tables_as_scikit_learn_hands_them_out(which):
    X, Y = load_linnerud(return_X_y=True)
    model = which(2).fit(X, Y)
    first, second = model.transform(X, Y)
    assert np.array_equal(first, model.transform(X))
    assert np.array_equal(second, model.transform_y(Y))
    framed = model.set_output(transform="pandas").transform(pd.DataFrame(X), Y)
    assert isinstance(framed[0], pd.DataFrame)
    for scores in (framed[1], model.transform_y(Y)):
        assert list(scores.columns) == list(framed[0].columns)
    named = model.transform(pd.DataFrame(X, index=range(100, 120)), Y)[1]  # an array: rows are those of the first
    assert list(named.index) == list(range(100, 120))
    named = model.transform(X, pd.DataFrame(Y, index=range(100, 120)))[1]
    assert list(named.index) == list(range(100, 120))


@pytest.mark.parametrize("which", [ritz.CCA, ritz.PLS, ritz.PCR])
@pytest.mark.parametrize("form", [np.asarray, pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64, np.float16])
def test_scores_of_the_second_table_have_its_precision(which, form, dtype):
    X, Y = load_linnerud(return_X_y=True)
    model = which(2).fit(X, Y)
    given = form(Y.astype(dtype)) if dtype != np.float16 or form is np.asarray else Y.astype(dtype)
    scores = model.transform_y(given)
    assert scores.dtype == model.transform(X.astype(dtype)).dtype
    np.testing.assert_allclose(scores, model.transform_y(Y.astype(dtype).astype(float)), rtol=2e-6, atol=2e-6)


@pytest.mark.parametrize("which", [ritz.CCA, ritz.PLS, ritz.PCR])
def test_a_gap_of_the_second_table_is_named_as_its_own(which):
    X, Y = load_linnerud(return_X_y=True)
    model = which(2).fit(X, Y)
    for gap in (np.nan, np.inf):
        spoilt = Y.copy()
        spoilt[3, 1] = gap
        calls = [lambda m, Z: m.transform(X, Z), lambda m, Z: m.transform_y(Z), lambda m, Z: m.score(X, Z),
                 lambda m, Z: which(2).fit(X, Z), lambda m, Z: m.verify(X, Z)]  # fmt: skip
        for call in calls:
            with pytest.raises(ritz.NonFiniteError, match=rf"second table: .*received {gap} in column 'y1', row 3"):
                call(model, spoilt)
