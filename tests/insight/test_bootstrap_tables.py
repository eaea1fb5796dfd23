"""The bootstrap of CA and MCA: draws equal refits, points and ellipses by name, coverage."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import ritz
from ritz import insight


def counts(rng, total=600):
    P = np.outer([0.2, 0.3, 0.4, 0.1], [0.3, 0.3, 0.2, 0.2])
    P += 0.06 * np.outer([1, -1, 0.3, -0.3], [1, -1, 0.2, -0.2])
    P += 0.02 * np.outer([0.3, 0.3, -1, 0.4], [0.5, 0.5, -1, 0])
    P = np.maximum(P, 0.002)
    return rng.multinomial(total, (P / P.sum()).ravel()).reshape(4, 4), P / P.sum()


def named(N):
    return pd.DataFrame(N, index=list("abcd"), columns=list("ABCD"))


def test_draws_of_counts_equal_a_ca_of_them(seed):
    N, _ = counts(np.random.default_rng(seed))
    model = ritz.CA(2).fit(named(N))
    found = insight.bootstrap(model, named(N), 20)
    assert np.allclose(found.rows.estimate, model.row_coordinates_)
    assert np.allclose(found.columns.estimate, model.column_coordinates_)
    for b in range(5):
        drawn = np.random.default_rng([0, 37, b]).multinomial(N.sum(), (N / N.sum()).ravel()).reshape(N.shape)
        again = ritz.CA(2).fit(drawn)
        assert np.allclose(found.draws[b], again.eigenvalues_, rtol=1e-8)
        assert np.allclose(np.abs(found._draws.turned[b]), np.abs(model.components_ @ again.components_.T), atol=1e-8)


def test_draws_of_rows_equal_an_mca_of_them(seed):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"u": rng.choice(list("abc"), 120), "v": rng.choice(list("xy"), 120)})
    frame["w"] = np.where(rng.random(120) < 0.7, frame["u"], "d")
    model = ritz.MCA(2).fit(frame)
    found = insight.bootstrap(model, frame, 10)
    for b in range(4):
        w = np.random.default_rng([0, 37, b]).multinomial(120, np.full(120, 1 / 120))
        again = ritz.MCA(2).fit(frame.loc[np.repeat(frame.index, w)].reset_index(drop=True))
        assert np.allclose(found.draws[b], again.eigenvalues_, rtol=1e-8)
        mine, theirs = found._draws.columns[b], again.column_coordinates_.to_numpy()
        assert np.allclose(mine @ mine.T, theirs @ theirs.T, atol=1e-7)  # the same up to a turn
    assert list(found.ellipses()) == list(model.column_names_)
    assert "rows, intervals" in repr(found)


@pytest.mark.slow
def test_inertias_of_clear_axes_are_covered():
    rng = np.random.default_rng(3)
    _, P = counts(rng)
    expected = np.outer(P.sum(axis=1), P.sum(axis=0))
    truth = np.linalg.svd((P - expected) / np.sqrt(expected))[1] ** 2
    held = []
    for i in range(60):
        N, _ = counts(rng)
        found = insight.bootstrap(ritz.CA(1).fit(N), N, 200, random_state=i)
        held.append(found.eigenvalues.covers(truth[:1])[0])
    assert abs(np.mean(held) - 0.95) <= 3 * np.sqrt(0.95 * 0.05 / 60) + 0.005


def test_ellipses_carry_names_and_shrink_with_counts(seed):
    N, _ = counts(np.random.default_rng(seed))
    model = ritz.CA(2).fit(named(N))
    few = insight.bootstrap(model, named(N), 200).ellipses("rows")
    assert list(few) == list("abcd")
    many = named(N * 25)
    lots = insight.bootstrap(ritz.CA(2).fit(many), many, 200).ellipses("rows")
    assert all(lots[name].area < 0.2 * few[name].area for name in few)


def test_what_has_no_counts_is_refused(seed):
    N, _ = counts(np.random.default_rng(seed))
    with pytest.raises(ValueError, match="whole numbers"):
        insight.bootstrap(ritz.CA(1).fit(N / N.sum()), N / N.sum(), 5)
    frame = pd.DataFrame({"u": list("abcab") * 8, "v": list("xyxyx") * 8, "w": list("ppqqp") * 8})
    with pytest.raises(ValueError, match="rows of its indicator"):
        insight.bootstrap(ritz.MCA(1, method="burt").fit(frame), frame, 5)
    with pytest.raises(ValueError, match="'rows' for a CA"):
        insight.bootstrap(ritz.MCA(2).fit(frame), frame, 5).ellipses("rows")
