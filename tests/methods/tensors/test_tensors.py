"""Tensors in parts: other programs' numbers, bounds that hold, pieces without the whole, files and the command line."""

from __future__ import annotations

import dataclasses
import json
import math
from pathlib import Path

import numpy as np
import pytest

import ritz
from ritz.methods.tensors.modes import fine, solve_mode
from ritz.methods.tensors.source import slabs
from ritz.testing.tensors import cases, check_case

GOLDEN = Path(__file__).parents[2] / "golden" / "tensors"
OPTIONS = {"solver": "auto", "tol": 1e-6, "random_state": 0, "memory": None, "progress": None, "room": 1e9}


@pytest.fixture(scope="module")
def iris3():
    return np.loadtxt(GOLDEN / "iris3.csv", skiprows=1).reshape((50, 4, 3), order="F")


@pytest.fixture(scope="module")
def golden():
    r, py = (json.loads((GOLDEN / f"iris3_{name}.json").read_text()) for name in ("rtensor", "tensorly"))
    return r, py


def smooth(*shape):
    return 1 / (1 + sum(np.meshgrid(*(np.linspace(0, 1, n) for n in shape), indexing="ij")))


def test_errors_and_singular_values_are_those_of_rtensor_and_tensorly(iris3, golden):
    r, py = golden
    hosvd = ritz.HOSVD((3, 3, 2), sequential=False).fit(iris3)
    assert hosvd.certificate_.error == pytest.approx(r["hosvd"]["fnorm_resid"], abs=1e-10)
    assert np.linalg.norm(hosvd.core_) == pytest.approx(r["hosvd"]["core_norm"], abs=1e-10)
    for mode, values in enumerate(hosvd.mode_singular_values_, 1):
        wanted = r["unfolding_singular_values"][f"mode{mode}"]
        np.testing.assert_allclose(values[: len(wanted)], wanted[: len(values)], atol=1e-10)
    hooi = ritz.Tucker((3, 3, 2), tol=1e-9).fit(iris3)
    assert hooi.certificate_.error == pytest.approx(r["tucker_hooi"]["fnorm_resid"], abs=1e-10)
    assert hooi.certificate_.error == pytest.approx(py["tucker_error"], abs=1e-10)
    train = ritz.TensorTrain((3, 2)).fit(iris3)
    assert train.certificate_.error == pytest.approx(py["tt_error"], abs=1e-10)


def test_cp_is_as_near_as_rtensor_and_tensorly(iris3, golden):
    r, py = golden
    assert ritz.CP(1).fit(iris3).certificate_.error == pytest.approx(r["cp1"]["fnorm_resid"], abs=1e-9)
    model = ritz.CP(2).fit(iris3)
    assert model.certificate_.error <= min(r["cp2"]["fnorm_resid"], py["cp2_error"]) + 1e-10
    assert model.certificate_.error == pytest.approx(py["cp2_error"], abs=1e-8)
    assert model.certificate_.stationarity < 1e-8
    assert model.certificate_.best_low < model.certificate_.error
    np.testing.assert_allclose(np.linalg.norm(model.factors_[1], axis=0), 1)
    assert model.explained_variance_ratio_.sum() == pytest.approx(1 - model.relative_error_**2, abs=1e-7)
    np.testing.assert_allclose(model.transform(model.reconstruct()), model.embedding_, atol=1e-8)


@pytest.mark.parametrize("case", list(cases(60, seed=7)), ids=lambda case: case.name.replace(" ", "-"))
def test_no_certificate_is_false(case):
    assert check_case(case) == []


def test_the_bracket_holds_the_best_error_of_a_matrix():
    """Of two modes the best error is known: Eckart and Young."""
    X = np.random.default_rng(0).standard_normal((30, 20))
    best = np.linalg.norm(np.linalg.svd(X, compute_uv=False)[4:])
    for model in (ritz.HOSVD(4), ritz.TensorTrain(4), ritz.Tucker(4)):
        told = model.fit(X).certificate_
        assert told.error == pytest.approx(best, rel=1e-12)
        assert told.best_low <= best <= told.error_high
        assert told.factor < 1 + 1e-6


def test_ranks_follow_from_the_error_that_may_be_left():
    X = smooth(30, 25, 20)
    sizes = []
    for error in (1e-1, 1e-3, 1e-6, 1e-9, 1e-12):
        for method in (ritz.HOSVD, ritz.Tucker, ritz.TensorTrain):
            model = method(error=error).fit(X)
            assert np.linalg.norm(X - model.reconstruct()) <= error * np.linalg.norm(X) * (1 + 1e-9)
        sizes.append(model.compression_)
    assert sizes == sorted(sizes, reverse=True)
    share = ritz.HOSVD(1 - 1e-6).fit(X)
    assert share.relative_error_ <= 1e-3 * (1 + 1e-9)


def test_small_singular_values_come_from_a_triangle_where_squares_would_lose_them():
    rng = np.random.default_rng(1)
    Q, V = np.linalg.qr(rng.standard_normal((500, 12)))[0], np.linalg.qr(rng.standard_normal((12, 12)))[0]
    s = 10.0 ** -np.arange(12.0)
    A = Q * s @ V.T
    mode = fine(A, 9, None, 1e9)
    np.testing.assert_allclose(mode.values, s, atol=1e-15)
    assert mode.left_low <= np.sum(s[9:] ** 2) <= mode.left_high
    assert mode.left_low > 0.9 * np.sum(s[9:] ** 2)
    asked = solve_mode(A, None, 2e-20, 1.0, OPTIONS)
    assert asked.route == "qr"
    assert asked.vectors.shape[1] == 10  # which leaves 1e-10 and 1e-11


def test_parts_of_the_tensor_come_without_the_whole(seed):
    X = smooth(9, 8, 7, 6)
    for method in (ritz.HOSVD, ritz.TensorTrain):
        model = method(error=1e-3).fit(X)
        whole = model.reconstruct()
        assert model[2, 3, 4, 5] == pytest.approx(whole[2, 3, 4, 5], abs=1e-14)
        np.testing.assert_allclose(model[1, ..., 2], whole[1, ..., 2], atol=1e-14)
        np.testing.assert_allclose(model[-1, 2:5, [0, 3], ::2], whole[-1, 2:5][:, [0, 3], ::2], atol=1e-14)
        with pytest.raises(IndexError, match="mode 1"):
            model[0, 8]
        with pytest.raises(ritz.ParameterError, match="4 modes"):
            model[0, 0, 0, 0, 0]
    huge = ritz.TensorTrain((1, 1)).fit(smooth(3, 3, 3))
    assert np.ndim(huge[0, 0, 0]) == 0


def test_slices_are_placed_and_come_back():
    rng = np.random.default_rng(3)
    X = np.einsum("ir,jr,kr->ijk", *(rng.standard_normal((n, 3)) for n in (40, 8, 7)))
    for model in (ritz.HOSVD(3), ritz.Tucker(3), ritz.TensorTrain(3)):
        F = model.fit(X[:30]).transform(X[30:])
        np.testing.assert_allclose(model.inverse_transform(F), X[30:], atol=1e-10)
        np.testing.assert_allclose(model.transform(X[30:].reshape(10, -1)), F, atol=1e-12)
        np.testing.assert_allclose(model.transform(X[:30]), model.embedding_, atol=1e-10)
        np.testing.assert_allclose(model.embedding_.T @ model.embedding_, np.diag(model.singular_values_**2), atol=1e-8)
        with pytest.raises(ritz.InputError, match="slices of 8 × 7"):
            model.transform(X[:, :5])
    tucker = ritz.HOSVD(3).fit(X)
    np.testing.assert_allclose(tucker.expand(tucker.compress(X)), X, atol=1e-10)


def test_a_mapped_tensor_gives_the_same_within_a_limit_that_does_not_hold_it(tmp_path):
    rng = np.random.default_rng(4)
    X = np.einsum("ir,jr,kr->ijk", *(rng.standard_normal((n, 3)) for n in (160, 120, 100)))
    X += 1e-3 * rng.standard_normal(X.shape)
    path = tmp_path / "tensor.npy"
    np.save(path, X)
    for method in (ritz.HOSVD, ritz.Tucker, ritz.TensorTrain):
        held = method(3).fit(X)
        for source in (path, np.load(path, mmap_mode="r")):
            model = method(3, memory="25MB").fit(source)  # X has 15 MB
            assert model.relative_error_ == pytest.approx(held.relative_error_, rel=1e-3)
            assert model.verify(path)
    wide = ritz.HOSVD((100, 110, 98), memory="25MB").fit(path)  # what is between does not fit either
    assert wide.relative_error_ == pytest.approx(ritz.HOSVD((100, 110, 98)).fit(X).relative_error_, rel=1e-6)
    with pytest.raises(ritz.ParameterError, match="mode after mode"):
        ritz.HOSVD(3, sequential=False, memory="25MB").fit(path)


def test_slabs_cover_a_tensor_once():
    shape = (3, 1, 4, 5)
    seen = np.zeros(shape, int)
    for index in slabs(shape, 8 * 8 * 40):
        seen[index] += 1
    assert (seen == 1).all()


def test_verify_finds_changed_numbers():
    X = smooth(12, 10, 8)
    for model in (ritz.HOSVD(2), ritz.Tucker(2), ritz.TensorTrain(2)):
        assert model.fit(X).verify(X)
        assert not model.verify(X + 0.01)
        assert not model.verify(X[:5])
        parts = model.factors_ if hasattr(model, "factors_") else model.cores_
        parts[0][...] = parts[0] * 1.01
        assert not model.verify(X)
    model = ritz.HOSVD(2).fit(X)
    model.embedding_ = model.embedding_ * 1.1
    assert not model.verify(X)


def test_choose_ranks_tells_bounds_that_hold():
    X = smooth(20, 15, 10) + 1e-3 * np.random.default_rng(0).standard_normal((20, 15, 10))
    model = ritz.HOSVD().fit(X)
    for error, ranks, bound, compression in model.choose_ranks([0.3, 0.03, 0.003]):
        made = ritz.HOSVD(ranks).fit(X)
        assert made.relative_error_ <= bound * (1 + 1e-9) <= error * (1 + 2e-9)
        assert compression == pytest.approx(made.compression_)


def test_files_hold_all_parts(tmp_path):
    X = smooth(8, 7, 6).astype(np.float32)
    for model in (ritz.HOSVD(3), ritz.Tucker(2), ritz.TensorTrain((2, 3))):
        ritz.save(model.fit(X), tmp_path / "t.ritz")
        again = ritz.load(tmp_path / "t.ritz")
        np.testing.assert_array_equal(again.reconstruct(), model.reconstruct())
        assert again.reconstruct().dtype == np.float32
        assert again.certificate_.error == model.certificate_.error
        assert again.verify(X)
        np.testing.assert_array_equal(again.transform(X), model.transform(X))
    values = dict(vars(model), cores_=model.cores_[::-1])
    with pytest.raises(ValueError, match=r"cores|length"):
        type(model).fitted.checked({**values, "n_features_in_": 42})


def test_zeros_and_single_entries():
    for X in (
        np.zeros((4, 3, 2)),
        np.ones((1, 1)),
        np.full((1, 5, 1), 2.0),
        np.array([[[1e140, 3e139]], [[0.0, 1.0]]]),
    ):
        for method in (ritz.HOSVD, ritz.Tucker, ritz.TensorTrain):
            model = method().fit(X)
            np.testing.assert_allclose(model.reconstruct(), X, rtol=1e-12, atol=1e-12 * np.abs(X).max())
            assert model.verify(X)


@pytest.mark.parametrize(
    ("X", "parameters", "words"),
    [
        (np.ones(5), {}, "2 to 24 modes"),
        (np.ones((2, 0, 3)), {}, "with entries"),
        (np.array([[[1.0, np.nan]]]), {}, "nan at \\(0, 0, 1\\)"),
        (np.ones((2, 2), complex), {}, "real numbers"),
        (np.ones((2, 2, 2)), {"n_components": (1, 2)}, "one rank for each of the 3 modes"),
        (np.ones((2, 2, 2)), {"n_components": "kaiser"}, "one rank a mode"),
        (np.ones((2, 2, 2)), {"n_components": 0}, "one rank a mode"),
        (np.ones((2, 2, 2)), {"error": 1.5}, "relative error"),
        (np.ones((2, 2, 2)), {"error": 0.1, "n_components": 2}, "both"),
    ],
)
def test_bad_input_is_refused_in_words(X, parameters, words):
    with pytest.raises((ritz.InputError, ritz.ParameterError), match=words):
        ritz.HOSVD(**parameters).fit(X)


def test_tucker_is_never_farther_than_hosvd_and_says_where_it_stopped():
    X = np.random.default_rng(5).standard_normal((10, 9, 8))
    assert ritz.Tucker(2).fit(X).relative_error_ <= ritz.HOSVD(2).fit(X).relative_error_
    with pytest.warns(ritz.AccuracyWarning, match="raise max_iter"):
        ritz.Tucker(2, max_iter=1, tol=1e-12).fit(X)


def test_cp_finds_the_terms_and_names_those_that_are_alike():
    rng = np.random.default_rng(6)
    A = [rng.standard_normal((n, 3)) for n in (9, 8, 7)]
    model = ritz.CP(3).fit(np.einsum("ir,jr,kr->ijk", *A))
    for found, true in zip(model.factors_, A, strict=True):
        cosines = np.abs(found.T @ (true / np.linalg.norm(true, axis=0)))
        np.testing.assert_allclose(np.sort(cosines.max(axis=0)), 1, atol=1e-6)
    a, b = np.eye(2)
    limit = sum(np.einsum("i,j,k->ijk", *terms) for terms in ((a, a, b), (a, b, a), (b, a, a)))  # has no nearest one
    with pytest.warns(ritz.AccuracyWarning, match="fewer terms"):
        model = ritz.CP(2, max_iter=30, tol=1e-14).fit(limit)
    assert any("nearly cancel" in note for note in model.certificate_.notes)


def test_the_report_tells_the_error(tmp_path):
    X = smooth(12, 6, 5)
    page = ritz.report.render(ritz.HOSVD(2).fit(X), X)
    assert "no tensor of these ranks comes nearer" in page.lower()
    assert math.isfinite(len(page))


@pytest.mark.parametrize("unit", [1e200, 1e-200])
def test_shares_whose_squares_leave_the_range_are_not_told_as_numbers(unit):
    T = np.random.default_rng(3).standard_normal((4, 5, 6))
    with np.errstate(all="ignore"):
        words = str(ritz.HOSVD(2).fit(unit * T).certificate_)
    plain = str(ritz.HOSVD(2).fit(T).certificate_)
    assert words.count("out of range") == 3
    assert "nan" not in words
    assert "out of range" not in plain
    assert words.splitlines()[-4:] == plain.splitlines()[-4:]  # the error and its bounds are shares of the norm


@pytest.mark.filterwarnings("ignore::ritz.AccuracyWarning")  # terms of noise come to rest slowly
@pytest.mark.parametrize("method", [ritz.HOSVD, ritz.Tucker, ritz.TensorTrain, ritz.CP])
@pytest.mark.parametrize("unit", [1e-200, 1.0, 1e160])
def test_verify_finds_changed_bounds_at_any_scale(method, unit):
    X = np.random.default_rng(1).standard_normal((4, 5, 6)) * unit
    model = method(2).fit(X)
    told = model.certificate_
    assert model.verify(X)
    assert not model.verify(X * 1.0001)
    lies = [
        {"error": 1.1 * told.error, "error_high": 1.2 * told.error},
        {"error_low": 1.5 * told.error, "error_high": 2 * told.error},
        {"best_low": 1.01 * told.error_high},
    ]
    if method is not ritz.CP:
        lies.append({"constant": 1.0})
        if unit == 1:
            lies.append({"discarded": tuple(0.5 * one for one in told.discarded)})
    for lie in lies:
        model.certificate_ = dataclasses.replace(told, **lie)
        assert not model.verify(X), lie


def test_ranks_that_are_cut_are_told():
    X = np.random.default_rng(0).standard_normal((6, 5, 4))
    model = ritz.HOSVD((7, 2, 2)).fit(X)
    assert model.ranks_ == (4, 2, 2)
    assert any(note.startswith("rank 7 of mode 1 became 4") for note in model.certificate_.notes)
    assert not any("became" in note for note in ritz.HOSVD((2, 2, 2)).fit(X).certificate_.notes)


@pytest.mark.parametrize("shape", [(12, 1), (5, 4, 3)])
def test_more_terms_than_there_are_directions_are_still_verified(shape):
    rng = np.random.default_rng(0)
    X = rng.standard_normal(shape) if len(shape) == 2 else np.zeros(shape)
    model = ritz.CP(4).fit(X)
    assert bool(model.verify(X))
    assert np.allclose(model.inverse_transform(model.transform(X)), X, atol=1e-12)
    assert all(np.allclose(np.linalg.norm(A, axis=0), 1) for A in model.factors_)


def test_small_unfoldings_by_their_squares_have_the_singular_values_of_lapack():
    X = np.random.default_rng(1).standard_normal((9, 8, 7))
    for mode, values in enumerate(ritz.HOSVD((3, 3, 3), sequential=False).fit(X).mode_singular_values_):
        truth = np.linalg.svd(np.moveaxis(X, mode, 0).reshape(X.shape[mode], -1), compute_uv=False)
        assert np.allclose(values, truth[: len(values)], rtol=1e-12)
