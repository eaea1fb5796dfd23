"""Streams of very many columns: frequent directions and sketches enclose what they cannot hold; rows that fade."""

from __future__ import annotations

import warnings
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

import ritz
from ritz.data.passes.moments import Moments
from ritz.data.streams.directions import Directions
from ritz.data.streams.gathered import Gathered
from ritz.methods.streams.held import settled, with_state

WIDE = 20_050


def batches(X, size):
    return (X[i : i + size] for i in range(0, X.shape[0], size))


def fed(model, X, size, weights=None):
    for i in range(0, X.shape[0], size):
        model.partial_fit(X[i : i + size], sample_weight=None if weights is None else weights[i : i + size])
    return model


def truth(X, weights=None, center=True):
    """Eigenvalues of the weighted scatter, by an SVD of the rows in float64."""
    w = np.ones(len(X)) if weights is None else weights
    Z = X - np.average(X, axis=0, weights=w) if center else X
    Z = Z - np.average(Z, axis=0, weights=w) if center else Z
    return np.square(np.linalg.svd(np.sqrt(w)[:, None] * Z, compute_uv=False))


def encloses(c, true, slack=1e-13):
    k = len(c.values)
    return bool(np.all((c.lower <= true[:k] + slack * true[0]) & (true[:k] <= c.upper + slack * true[0])))


def directed(X, k, width, size, weights=None, **options):
    state = Directions.empty(X.shape[1], width)
    for i in range(0, X.shape[0], size):
        state = state.add(X[i : i + size], None if weights is None else weights[i : i + size])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ritz.WideEnclosure)
        model = with_state(ritz.PCA(k, mergeable="directions", **options), X, state)
        len(model.certificate_.values)
    return model


@pytest.fixture
def drifting():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((420, 40)) * 0.8 ** np.arange(40) + 1e6
    X[200:] += 3.0
    X[300] += 40 * rng.standard_normal(40)  # one huge row
    X[350:380] = X[350]  # and some that repeat each other
    return X


# more columns than a d×d state takes


def test_partial_fit_of_very_many_columns_just_works():
    rng = np.random.default_rng(0)
    V = np.linalg.qr(rng.standard_normal((WIDE, 4)))[0]
    X = rng.standard_normal((90, 4)) * [60, 40, 25, 12] @ V.T + 1e-3 * rng.standard_normal((90, WIDE)) + 7
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = fed(ritz.PCA(3), X, 20)
        c = model.certificate_
    true = truth(X)
    assert encloses(c, true)
    assert np.all(c.width < 1e-4 * c.values)
    assert c.total == pytest.approx(true.sum(), rel=1e-12)
    assert model.plan_.solver == "directions"
    np.testing.assert_allclose(model.mean_, X.mean(axis=0), rtol=1e-14)
    one = ritz.PCA(3).partial_fit(X)  # however the stream was cut
    np.testing.assert_array_equal(one.components_, model.components_)
    read = ritz.PCA(3).fit(batches(X, 30))  # an iterator is a stream
    np.testing.assert_allclose(read.explained_variance_, model.explained_variance_, rtol=1e-9)


@pytest.mark.parametrize("order", ["as it is", "sorted", "reversed"])
@pytest.mark.parametrize("width", [4, 7, 40])
def test_enclosures_hold_however_much_is_cut_away(drifting, order, width):
    X = drifting if order == "as it is" else drifting[np.argsort(drifting[:, 0])][:: -1 if order == "reversed" else 1]
    model = directed(X, 4, width, 30)
    c, true = model.certificate_, truth(X)
    assert encloses(c, true)
    assert c.ceiling >= true[4] * (1 - 1e-12)
    assert c.total == pytest.approx(true.sum(), rel=1e-12)
    state = settled(model)
    # the bound of the theorem, for every j below the width
    tails = [true[j:].sum() / (width - j) for j in range(width)]
    assert state.lost * state.unit**2 <= min(tails) * (1 + 1e-9)
    assert model.verify(X)


def test_directions_that_stay_are_enclosed_more_narrowly_than_by_what_was_shrunk():
    X = np.random.default_rng(5).standard_normal((400, 40)) * np.r_[9, 7, 5, np.ones(37)]
    model = directed(X, 3, 8, 40)
    lost = settled(model).lost
    assert lost > 0
    assert encloses(model.certificate_, truth(X))
    assert model.certificate_.width[0] < 0.05 * lost


def test_merging_is_enclosed_as_well_in_any_order(drifting):
    parts = [drifting[i : i + 70] for i in range(0, 420, 70)]
    models = [directed(part, 4, 6, 25) for part in parts]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ritz.WideEnclosure)
        for order in (models, models[::-1], models[3:] + models[:3]):
            both = order[0].merge(*order[1:])
            assert both.n_samples_ == 420
            assert encloses(both.certificate_, truth(drifting))


def test_sparse_batches_weights_and_float32():
    S = sp.random(150, 300, 0.05, random_state=0, format="csr")
    w = np.random.default_rng(0).integers(0, 4, 150).astype(float)
    dense = S.toarray()
    options = {"n_components": 3, "mergeable": "directions"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ritz.WideEnclosure)
        sparse = fed(ritz.PCA(**options), S, 40, w)
        plain = fed(ritz.PCA(**options), dense, 40, w)
        narrow = fed(ritz.PCA(**options), dense.astype(np.float32), 40, w)
    true = truth(dense, w)
    for model in (sparse, plain):
        assert encloses(model.certificate_, true)
    np.testing.assert_allclose(sparse.certificate_.values, plain.certificate_.values, rtol=1e-9)
    assert narrow.components_.dtype == np.float32
    assert encloses(narrow.certificate_, truth(dense.astype(np.float32).astype(float), w))
    assert sparse.n_samples_ == int(np.count_nonzero(w))


def test_about_zero_and_svd(drifting):
    X = drifting - 1e6
    true = truth(X, center=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ritz.WideEnclosure)
        pca = fed(ritz.PCA(3, center=False, mergeable="directions"), X, 50)
        svd = fed(ritz.SVD(3, mergeable="directions"), X, 50)
    for model in (pca, svd):
        assert encloses(model.certificate_, true)
        assert model.verify(X)
    exact = ritz.SVD(3).fit(X)
    streamed = fed(ritz.SVD(3), X, 50)
    np.testing.assert_allclose(streamed.singular_values_, exact.singular_values_, rtol=1e-13)
    np.testing.assert_allclose(streamed.explained_variance_, exact.explained_variance_, rtol=1e-9)
    half = fed(ritz.SVD(3), X[:200], 50).merge(fed(ritz.SVD(3), X[200:], 50))
    np.testing.assert_allclose(half.singular_values_, exact.singular_values_, rtol=1e-12)
    rest = half.subtract(ritz.SVD(3).partial_fit(X[:200]))
    np.testing.assert_allclose(rest.singular_values_, ritz.SVD(3).fit(X[200:]).singular_values_, rtol=1e-9)


def test_a_wide_enclosure_is_warned_about_and_a_narrow_one_is_not():
    rng = np.random.default_rng(1)
    noise, state = rng.standard_normal((600, 200)), Directions.empty(200, 6)
    for some in batches(noise, 30):
        state = state.add(some)
    model = with_state(ritz.PCA(3, mergeable="directions"), noise, state)
    with pytest.warns(ritz.WideEnclosure, match="components open"):
        len(model.certificate_.values)
    assert encloses(model.certificate_, truth(noise))
    assert issubclass(ritz.WideEnclosure, ritz.AccuracyWarning)


def test_a_sketch_adds_up_and_merges(drifting):
    X = drifting - 1e6
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ritz.AccuracyWarning)
        whole = fed(ritz.PCA(5, mergeable="sketch"), X, 37)
        halves = [fed(ritz.PCA(5, mergeable="sketch"), rows, 37) for rows in (X[:100], X[100:])]
        both = halves[0].merge(halves[1])
        np.testing.assert_allclose(both.certificate_.values, whole.certificate_.values, rtol=1e-9)
        assert encloses(whole.certificate_, truth(X))
        assert whole.verify(X)
        other = ritz.PCA(5, mergeable="sketch", random_state=1).partial_fit(X)
    with pytest.raises(ritz.MergeError, match="same random_state"):
        whole.merge(other)


def test_what_cannot_be_joined_is_refused(drifting):
    some, few = ritz.PCA(2, mergeable="directions").partial_fit(drifting), ritz.PCA(2).partial_fit(drifting)
    with pytest.raises(ritz.MergeError, match=r"same kind of state.*frequent directions and a moment state"):
        some.merge(few)
    with pytest.raises(ritz.MergeError, match="cannot be taken away from a state of frequent directions"):
        some.subtract(ritz.PCA(2, mergeable="directions").partial_fit(drifting[:50]))
    with pytest.raises(ritz.ParameterError, match="known when the rows are gone"):
        ritz.PCA(2, scale=True, mergeable="directions").partial_fit(drifting)
    with pytest.raises(ritz.ParameterError, match="a number of components"):
        ritz.PCA(mergeable="directions").partial_fit(drifting)
    with pytest.raises(ritz.ParameterError, match="mergeable must be"):
        ritz.PCA(2, mergeable="often").fit(drifting)
    bad = drifting.copy()
    bad[5, 7] = np.nan
    before = settled(some)
    with pytest.raises(ritz.InputError, match="NaN"):
        some.partial_fit(bad)
    assert settled(some) is before


@pytest.mark.parametrize("kind", ["directions", "sketch"])
@pytest.mark.parametrize("solved", [False, True])
def test_files_keep_such_states(drifting, tmp_path, kind, solved):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ritz.AccuracyWarning)
        model = fed(ritz.PCA(3, mergeable=kind), drifting, 100)
        if solved:
            len(model.certificate_.values)
        ritz.save(model, tmp_path / "a.ritz")
        again = ritz.load(tmp_path / "a.ritz")
        np.testing.assert_array_equal(again.components_, model.components_)
        again.partial_fit(drifting[:50])
        assert again.n_samples_ == 470
        assert encloses(again.certificate_, truth(np.vstack([drifting, drifting[:50]])))
        fitted = ritz.PCA(3, mergeable=kind).fit(drifting)  # an exact answer, with a state beside it
        assert fitted.plan_.solver != kind
        assert fitted.merge(model).n_samples_ == 840


# rows that fade


def exact_fading(X, decay):
    """Trace and mean of the weighted table in rational numbers."""
    rows = [[Fraction(float(x)) for x in row] for row in X]
    w = [Fraction(decay) ** (len(rows) - 1 - i) for i in range(len(rows))]
    total = sum(w)
    d = X.shape[1]
    mean = [sum(wi * row[j] for wi, row in zip(w, rows, strict=True)) / total for j in range(d)]
    trace = sum(wi * (row[j] - mean[j]) ** 2 for wi, row in zip(w, rows, strict=True) for j in range(d))
    return float(total), np.array([float(m) for m in mean]), float(trace)


@pytest.mark.parametrize("kind", [None, "directions"])
@pytest.mark.parametrize("size", [1, 7, 60])
def test_rows_fade_one_by_one_however_they_were_cut(kind, size):
    X = np.random.default_rng(4).standard_normal((60, 5)) * [9, 5, 3, 1, 0.2] + 1e4
    X[30:] = X[30:, ::-1]  # the stream turns round
    decay = 0.9
    model = fed(ritz.PCA(2, decay=decay, mergeable=kind), X, size)
    total, mean, trace = exact_fading(X, decay)
    assert model._record.state is not None
    assert settled(model).weight == pytest.approx(total, rel=1e-14)
    np.testing.assert_allclose(model.mean_, mean, rtol=1e-15)
    assert model.certificate_.total == pytest.approx(trace, rel=1e-12)
    assert encloses(model.certificate_, truth(X, decay ** np.arange(59, -1, -1.0)))
    assert model.verify(X)
    np.testing.assert_allclose(
        model.explained_variance_, ritz.PCA(2, decay=decay).fit(X).explained_variance_, rtol=1e-9
    )


def test_fading_is_checked_and_not_subtracted():
    X = np.random.default_rng(0).standard_normal((30, 4))
    for wrong in (0, 1.5, -0.1, "slow", True, None):
        with pytest.raises(ritz.ParameterError, match="decay must be a number"):
            ritz.PCA(2, decay=wrong).partial_fit(X)
    model = ritz.PCA(2, decay=0.9).partial_fit(X)
    with pytest.raises(ritz.MergeError, match="do not fade"):
        model.subtract(ritz.PCA(2, decay=0.9).partial_fit(X[:5]))
    with pytest.raises(ritz.MergeError, match="decay"):
        model.merge(ritz.PCA(2).partial_fit(X))
    weights = np.ones(30)
    weights[3] = 0  # is absent: it makes no other row older
    one = ritz.PCA(2, decay=0.9).partial_fit(X, sample_weight=weights)
    np.testing.assert_allclose(one.mean_, ritz.PCA(2, decay=0.9).fit(np.delete(X, 3, 0)).mean_, rtol=1e-13)


def test_a_window_that_slides_for_long_stays_within_its_certificate():
    rng = np.random.default_rng(6)
    parts = [rng.standard_normal((20, 4)) * [5, 3, 1, 0.5] + 1e3 * np.sin(i / 9) for i in range(60)]
    models = [ritz.PCA(2).partial_fit(part) for part in parts]
    window = models[0].merge(*models[1:4])
    for i in range(4, 60):
        window = window.merge(models[i]).subtract(models[i - 4])
    assert window.n_samples_ == 80
    true = truth(np.vstack(parts[-4:]))
    assert encloses(window.certificate_, true)
    np.testing.assert_allclose(window.certificate_.values, true[:2], rtol=1e-9)


# rows that wait


def test_few_rows_of_many_columns_are_the_state():
    X = np.random.default_rng(0).standard_normal((60, 2500)) * 0.9 ** np.arange(2500)
    model = fed(ritz.PCA(3), X, 20)
    assert isinstance(model._record.state, Gathered)
    np.testing.assert_allclose(model.certificate_.values, truth(X)[:3], rtol=1e-12)
    assert isinstance(model._record.state, Gathered)
    assert not model._record.state.formed  # nothing of d² was computed
    model.partial_fit(X[:10] + 1)
    assert model.n_samples_ == 70
    np.testing.assert_allclose(model.certificate_.values, truth(np.vstack([X, X[:10] + 1]))[:3], rtol=1e-12)
    assert isinstance(settled(model), Moments)


def test_a_bad_batch_is_found_when_it_comes():
    X = np.random.default_rng(0).standard_normal((20, 6))
    model = ritz.PCA(2).partial_fit(X)
    X[3, 2] = np.inf
    with pytest.raises(ritz.InputError, match="infinit"):
        model.partial_fit(X)
    assert model.n_samples_ == 20


def test_few_components_of_a_large_state_are_iterated_for():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1500, 1100)) * 0.97 ** np.arange(1100)
    state = fed(ritz.PCA(4), X, 500)
    held = settled(state)
    model = with_state(ritz.PCA(4), X, held)
    assert model.plan_.solver == "moments"  # which iterates on a Gram matrix of this many columns
    direct = with_state(ritz.PCA(4, solver="svd"), X, held)
    np.testing.assert_allclose(model.certificate_.values, direct.certificate_.values, rtol=1e-12)
    assert np.max(model.certificate_.residuals) < 1e-11 * model.certificate_.values[0]


def test_a_sketch_of_rows_that_are_gone_advises_no_other_solver():
    X = np.random.default_rng(0).normal(size=(200, 60))
    with pytest.warns(ritz.AccuracyWarning, match="Try mergeable='directions' from the first rows on, or") as caught:
        ritz.PCA(2, mergeable="sketch").partial_fit(X).certificate_  # noqa: B018
    assert not any("solver=" in str(one.message) for one in caught)
