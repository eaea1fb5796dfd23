"""What the certificate says: enclosures, labels, clusters, completeness, words."""

from __future__ import annotations

import gc
import pickle
import weakref
from dataclasses import replace

import numpy as np
import pytest

import ritz
from ritz.spectral.certificate import enclosure
from ritz.spectral.certificate.certificate import DERIVED
from ritz.spectral.certificate.completeness import by_start, by_trace, strongest
from ritz.spectral.certificate.enclosure import angle_bounds, certify, enclose
from ritz.spectral.problem import Completeness, Pairs


def made(theta, residuals, ceiling=np.inf, rounding=0.0):
    """An iterative answer with orthogonal residuals of given norms."""
    k = len(theta)
    block = np.zeros((k + 3, k))
    block[np.arange(k), np.arange(k)] = residuals
    V = np.eye(k + 3)[:, :k]
    theta = np.asarray(theta, float)
    return Pairs(theta, V, block, rounding, Completeness("trace", ceiling, 0.0, "proved"), True, 1e-16, "float64")


def test_without_completeness_an_interval_holds_some_eigenvalue():
    box = enclose(made([4.0, 2.0], [0.1, 0.2]))
    assert not box.labelled.any()
    np.testing.assert_allclose(box.lower, [3.9, 1.8])
    np.testing.assert_allclose(box.upper, [4.1, 2.2])


def test_with_a_ceiling_the_bound_is_quadratic_and_labelled():
    box = enclose(made([4.0, 2.0], [1e-4, 1e-4], ceiling=1.0))
    assert box.labelled.all()
    np.testing.assert_allclose(box.lower, [4.0, 2.0])  # Cauchy
    assert box.upper[1] - 2.0 <= 2.1e-8  # ‖R‖²/(θ − τ)


def test_labels_stop_where_the_ceiling_is_reached():
    box = enclose(made([4.0, 2.0, 1.0], [1e-6, 1e-6, 1e-6], ceiling=1.5))
    assert box.labelled.tolist() == [True, True, False]


def test_a_wide_neighbour_takes_the_label_of_a_close_pair():
    """The second pair may stand for an eigenvalue above the first: neither can be counted."""
    box = enclose(made([1.0, 0.999], [1e-9, 0.01], ceiling=0.5))
    assert not box.labelled[0]


def test_angles_and_clusters():
    found = made([4.0, 2.0, 2.0 - 1e-12, 1.0], [1e-8] * 4, ceiling=0.1, rounding=1e-14)
    sine, clusters = angle_bounds(found, enclose(found))
    assert sine[0] == pytest.approx(0.5e-8, rel=1e-3)
    assert np.isnan(sine[1])
    assert np.isnan(sine[2])
    assert [(first, last) for first, last, _ in clusters] == [(1, 2)]
    assert clusters[0][2] < 3e-8
    assert sine[3] == pytest.approx(1e-8 / 0.9, rel=1e-2)


def test_completeness_by_trace():
    status = by_trace(np.array([4.0, 2.0, 1.0]), 2, 7.5, 0.0)
    assert status.ceiling == pytest.approx(1.5)  # θ₃ + what the trace leaves
    assert by_trace(np.array([4.0]), 1, None, 0.0).kind == "none"


def test_completeness_by_start_needs_steps_and_spare_columns():
    theta = 0.5 ** np.arange(30)
    few = by_start(theta, np.zeros(15), 5, p=1000, width=15, steps=2)
    many = by_start(theta, np.zeros(15), 5, p=1000, width=15, steps=12)
    assert many.ceiling < theta[4] < few.ceiling
    assert many.ceiling >= theta[5]
    assert by_start(theta, np.zeros(5), 5, p=1000, width=5, steps=12).kind == "none"
    assert strongest(few, many) is many


def test_the_start_almost_never_misses():
    """Over many seeds no eigenvalue above the stated ceiling is missed."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 60)) * 1.05 ** -np.arange(60)
    true = np.linalg.svd(X, compute_uv=False) ** 2
    for seed in range(40):
        c = ritz.SVD(6, solver="krylov", tol=1e-2, random_state=seed).fit(X).certificate_
        assert true[6] <= c.ceiling * (1 + 1e-12)
        assert np.all(c.lower <= c.values)
        assert np.all(c.values <= c.upper)
        for i in np.flatnonzero(c.labelled):
            assert c.lower[i] <= true[i] <= c.upper[i]


def test_it_prints_as_a_small_table():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 5)) * [9, 5, 3, 3, 1]
    text = str(ritz.PCA(3).fit(X).certificate_)
    assert text.splitlines()[0] == "certificate (certified; eigenvalues of AᵀA)"
    assert "none missed (the dense decomposition returns every eigenvalue)" in text
    assert "over the data" in text


def test_equal_eigenvalues_span_a_plane():
    X = np.repeat(np.eye(4), 4, axis=0) * [3, 2, 2, 1]
    text = str(ritz.SVD(None).fit(X).certificate_)
    assert "gap too small: components 2–3 span a plane" in text


@pytest.mark.parametrize("solver", ["moments", "krylov", "lanczos", "svd", "chebyshev"])
@pytest.mark.parametrize("shape", [(300, 12), (10, 90)])
def test_verify_passes_on_the_data_and_fails_on_other_data(solver, shape):
    rng = np.random.default_rng(5)
    X = rng.standard_normal(shape) * 0.7 ** np.arange(shape[1]) + 3
    c = ritz.PCA(3, solver=solver).fit(X).certificate_
    check = c.verify(X)
    assert check, str(check)
    assert str(check).startswith("verification: passed")
    other = c.verify(X[:, ::-1].copy())
    assert not other
    assert "FAILED" in str(other)


def test_verify_beyond_inertia(monkeypatch):
    monkeypatch.setattr("ritz.spectral.verify.search.INERTIA_LIMIT", 10)
    monkeypatch.setattr("ritz.spectral.verify.anew.SMALL", 10)
    rng = np.random.default_rng(5)
    X = rng.standard_normal((400, 60)) * 0.7 ** np.arange(60)
    check = ritz.PCA(4, solver="krylov").fit(X).certificate_.verify(X)
    assert check
    assert check.missed_bound is not None
    true = np.sort(np.linalg.svd(X - X.mean(0), compute_uv=False) ** 2)[::-1]
    assert true[4] <= check.missed_bound <= 2.5 * true[4]


def test_what_a_device_told_of_other_vectors_is_not_taken_for_these(seed: int) -> None:
    rng = np.random.default_rng(seed)
    V = np.linalg.qr(rng.standard_normal((30, 4)))[0]
    none = Completeness("none", np.inf)
    pairs = Pairs(np.arange(4.0, 0, -1), V, np.zeros((30, 4)), 0.0, none, True, 2.0**-53, "float64", error=0.0)
    told = replace(pairs, turned=(V, 1.5 * np.eye(4)))
    given = {"total": 10.0, "unit": 1.0, "tol": None, "passes": 1, "seconds": 0.0, "frame": {}}
    assert 0.5 <= certify(told, **given).orthogonality < 0.51  # what it told
    assert certify(replace(told, vectors=V.copy()), **given).orthogonality < 1e-13
    assert certify(pairs, **given).orthogonality < 1e-13


# small answers, whose bounds are derived when they are read

FITS = {
    "tall": lambda X: ritz.PCA(3).fit(X),
    "all": lambda X: ritz.PCA().fit(X),
    "wide": lambda X: ritz.PCA(2).fit(X.T),
    "about zero": lambda X: ritz.SVD(2).fit(X),
    "iterated": lambda X: ritz.PCA(2, solver="lanczos").fit(X),
    "float32": lambda X: ritz.PCA(2).fit(X.astype(np.float32)),
    "tiny unit": lambda X: ritz.PCA(2).fit(X * 1e-150),
}


@pytest.fixture
def rows(seed):
    return np.random.default_rng(seed).standard_normal((60, 7)) * np.arange(7, 0, -1) + 3


@pytest.mark.parametrize("fit", FITS.values(), ids=FITS)
def test_what_is_derived_later_is_what_is_derived_at_once(fit, rows, monkeypatch):
    told = fit(rows).certificate_
    monkeypatch.setattr(enclosure, "DEFERRED", 0)
    at_once = fit(rows).certificate_
    assert set(DERIVED) <= set(vars(at_once))
    for name in DERIVED:
        np.testing.assert_array_equal(getattr(told, name), getattr(at_once, name), err_msg=name)
    assert set(vars(told)) == set(vars(at_once))


@pytest.mark.parametrize("name", ["tall", "all", "about zero", "float32"])
def test_a_small_fit_leaves_its_bounds_to_whoever_reads_them(name, rows):
    told = FITS[name](rows).certificate_
    assert not set(DERIVED) & set(vars(told))
    assert told.lower[0] <= told.values[0] <= told.upper[0]
    assert set(DERIVED) <= set(vars(told))


def test_bounds_that_nobody_has_read_are_pickled(rows):
    model = ritz.PCA(3).fit(rows)
    other = pickle.loads(pickle.dumps(model)).certificate_
    assert set(DERIVED) <= set(vars(other))
    np.testing.assert_array_equal(other.angles, model.certificate_.angles)


def test_components_that_are_changed_by_hand_change_no_certificate(rows):
    model, other = ritz.PCA(3).fit(rows), ritz.PCA(3).fit(rows)
    model.components_ *= 2
    for name in DERIVED:
        np.testing.assert_array_equal(getattr(model.certificate_, name), getattr(other.certificate_, name))


def test_a_certificate_that_nobody_has_read_does_not_hold_the_rows(rows):
    X = rows.copy()
    seen = weakref.ref(X)
    model = ritz.PCA(3).fit(X)
    assert "_later" in vars(model.certificate_)
    del X
    gc.collect()
    assert seen() is None
