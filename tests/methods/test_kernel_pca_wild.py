"""Pre-images of points that no row is near: within the range of the rows, marked, warned about, with their error."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_wine

import ritz

X = load_wine().data  # in its own units, which differ 2,530-fold


def along(Z, i, m=9):
    """Points on one axis of the score space, all others at the mean."""
    T = np.zeros((m, Z.shape[1]))
    T[:, i] = np.linspace(Z[:, i].min(), Z[:, i].max(), m)
    return T


@pytest.mark.parametrize("k", [2, 4])
def test_rows_far_from_all_scores_stay_among_the_rows(k):
    model = ritz.KernelPCA(k, kernel="rbf", gamma="median").fit(X)
    T = along(model.transform(X), 0)
    means = model.inverse_transform(T)  # the fixed point: a mean of rows, wherever the point lies
    assert np.all(means >= X.min(axis=0))
    assert np.all(means <= X.max(axis=0))
    with pytest.warns(ritz.AccuracyWarning, match=r"\d of 9 points lie far from the scores of all fitted rows"):
        rows = model.inverse_transform(T, method="ridge")
    found = model.preimages(T, method="ridge")
    assert np.array_equal(rows, found.rows)
    wild = found.guessed
    assert len(wild) >= 5
    assert np.all(rows >= X.min(axis=0) - 0.5 * np.ptp(X, axis=0))
    assert np.all(rows <= X.max(axis=0) + 0.5 * np.ptp(X, axis=0))
    spread = np.sqrt(np.square(X - X.mean(axis=0)).sum(axis=1)).mean()
    assert np.all(found.error[wild] > 0)
    assert np.all(found.error[wild] < 2 * spread)


def test_scores_of_rows_are_not_touched():
    model = ritz.KernelPCA(4, kernel="rbf", gamma="median").fit(X)
    found = model.preimages(model.transform(X), method="ridge")
    assert len(found.guessed) == 0


def test_the_error_grows_where_the_regression_reaches_beyond_the_rows():
    model = ritz.KernelPCA(8, kernel="rbf", gamma="median").fit(X)
    Z = model.transform(X)
    known, beyond = model.preimages(Z).error, model.preimages(along(Z, 0)).error
    assert np.median(beyond) > 3 * np.median(known)


def test_sparse_rows():
    model = ritz.KernelPCA(4, kernel="rbf", gamma="median").fit(sp.csr_array(X))
    with pytest.warns(ritz.AccuracyWarning, match="fitted rows"):
        rows = model.inverse_transform(along(model.transform(sp.csr_array(X)), 0))
    assert np.all(rows <= X.max(axis=0) + 0.5 * np.ptp(X, axis=0))
