"""New rows, by every map: held-out rows beside a fit with them, rows of the fit, and the way back to rows."""

from __future__ import annotations

import numpy as np
import pytest

import ritz

RNG = np.random.default_rng(8)
T = np.c_[RNG.uniform(0, 3, 700), RNG.uniform(0, 1.5, 700)]
SHEET = np.c_[np.cos(T[:, 0]), np.sin(T[:, 0]), T[:, 1]]  # rolled up; T are arc length and height
HELD, FITTED = np.arange(35), np.arange(35, 700)  # few: a fit without many would itself be worse

MAPS = {
    "classical": ritz.MDS(2),
    "manhattan": ritz.MDS(2, metric="manhattan"),
    "landmarks": ritz.MDS(2, metric="manhattan", landmarks=100),
    "metric": ritz.MDS(2, method="metric"),
    "isomap": ritz.Isomap(2, n_neighbors=10),
    "isomap landmarks": ritz.Isomap(2, n_neighbors=10, landmarks=100),
    "laplacian": ritz.LaplacianEigenmaps(2, n_neighbors=10),
    "heat": ritz.LaplacianEigenmaps(2, n_neighbors=10, weights="heat"),
    "self-tuning": ritz.LaplacianEigenmaps(2, n_neighbors=10, weights="self-tuning"),
    "walk": ritz.DiffusionMaps(2, epsilon=0.05),
    "walk of neighbours": ritz.DiffusionMaps(2, n_neighbors=30, epsilon=0.05),
    **{method: ritz.LLE(2, method=method, n_neighbors=10) for method in ("standard", "modified", "hessian", "ltsa")},
}


def fitted(name, rows):
    from sklearn.base import clone

    return clone(MAPS[name]).fit(rows)


def left(Y: np.ndarray, of: np.ndarray) -> float:
    """What an affine map, fitted to all rows of the picture, leaves of the true coordinates of held-out rows."""
    design = np.c_[np.ones(len(Y)), Y, Y**2, Y[:, :1] * Y[:, 1:]]  # axes of Laplacians and walks are bent
    rest = of - design @ np.linalg.lstsq(design, of, rcond=None)[0]
    return float(np.linalg.norm(rest[HELD]))


@pytest.mark.parametrize("name", MAPS)
def test_held_out_rows_are_placed_nearly_as_well_as_by_a_fit_with_them(name):
    part, whole = fitted(name, SHEET[FITTED]), fitted(name, SHEET)
    Y = np.empty((700, 2))
    Y[FITTED], Y[HELD] = part.embedding_, part.transform(SHEET[HELD])
    assert left(Y, T) <= 1.5 * left(whole.embedding_, T)


def test_held_out_rows_of_an_unfolded_sheet():
    """As above, of fewer rows: an unfolding takes longer."""
    X, truth, held = SHEET[:160], T[:160], np.arange(16)
    errors = []
    for fitted_rows in (X[16:], X):
        model = ritz.MVU(2, n_neighbors=6).fit(fitted_rows)
        Y = model.embedding_ if len(fitted_rows) == 160 else np.vstack([model.transform(X[held]), model.embedding_])
        design = np.c_[np.ones(160), Y]
        rest = truth - design @ np.linalg.lstsq(design, truth, rcond=None)[0]
        errors.append(float(np.linalg.norm(rest[held])))
    assert errors[0] <= 1.5 * errors[1]
    np.testing.assert_array_equal(model.transform(X), model.embedding_)


def test_held_out_rows_keep_their_neighbours_in_a_map_by_divergence():
    """t-SNE keeps no coordinates but neighbours: what is measured is the share of these that is lost."""
    pytest.importorskip("openTSNE")
    from ritz.insight import embedding_quality

    X, held = SHEET[:300], np.arange(30)
    lost = []
    for fitted_rows in (X[30:], X):
        model = ritz.TSNE(2, perplexity=15, max_iter=250).fit(fitted_rows)
        Y = model.embedding_ if len(fitted_rows) == 300 else np.vstack([model.transform(X[held]), model.embedding_])
        lost.append(1 - float(embedding_quality(X, Y, 10).rows_overlap[held].mean()))
    assert lost[0] <= 1.5 * lost[1]
    np.testing.assert_array_equal(model.transform(X), model.embedding_)


@pytest.mark.parametrize("method", ["interval", "ordinal", "sammon"])
def test_held_out_rows_of_other_stresses(method):
    """As above, of fewer rows: stresses of ranks and intervals take longer."""
    X, truth, held = SHEET[:200], T[:200], np.arange(15)
    part, whole = (ritz.MDS(2, method=method).fit(rows) for rows in (X[15:], X))
    errors = []
    for Y in (np.vstack([part.transform(X[held]), part.embedding_]), whole.embedding_):
        design = np.c_[np.ones(200), Y, Y**2, Y[:, :1] * Y[:, 1:]]
        rest = truth - design @ np.linalg.lstsq(design, truth, rcond=None)[0]
        errors.append(float(np.linalg.norm(rest[held])))
    assert errors[0] <= 1.5 * errors[1]


@pytest.mark.parametrize("name", MAPS)
def test_rows_of_the_fit_have_their_own_coordinates(name, apart):
    """The formulas promise it for all but steps down a stress, which end within their tolerance."""
    model = fitted(name, SHEET[FITTED])
    assert apart(model.transform(SHEET[FITTED]), model.embedding_) < (1e-3 if name == "metric" else 1e-8)


@pytest.mark.parametrize("name", MAPS)
def test_rows_come_back_from_coordinates(name):
    model = fitted(name, SHEET)
    back = model.inverse_transform(model.embedding_)
    if name == "landmarks":  # between these, rows are put together from landmarks alone
        np.testing.assert_allclose(back[model.landmarks_], SHEET[model.landmarks_], atol=1e-6)
    elif name == "classical":  # a plane: what lies off it is gone
        np.testing.assert_allclose(back, ritz.PCA(2).fit(SHEET).inverse_transform(model.embedding_), atol=1e-8)
    else:
        np.testing.assert_allclose(back, SHEET, atol=1e-6)
    with pytest.raises(ritz.InputError, match="coordinates of 2 components"):
        model.inverse_transform(np.zeros((3, 5)))
    with pytest.raises(ritz.InputError, match="NaN"):
        model.inverse_transform([[np.nan, 0.0]])
    # between neighbours of the picture lie rows near the sheet
    if name in ("isomap", "ltsa", "hessian", "modified"):
        near = ritz.Neighbours(k=4).fit(model.embedding_).kneighbors(return_distance=False)[:, 0]
        rows = model.inverse_transform((model.embedding_ + model.embedding_[near]) / 2)
        assert np.abs(np.hypot(rows[:, 0], rows[:, 1]) - 1).max() < 0.05
