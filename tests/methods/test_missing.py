"""The iterations against missMDA's results, a naive loop of the papers, and closed forms."""

from __future__ import annotations

import csv
import itertools
import json
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ritz
from ritz._core.errors import AccuracyWarning, ParameterError
from ritz.data.passes.blocks import MemoryBlocks
from ritz.data.passes.observed import observe
from ritz.methods.missing.em import Filling, iterate
from ritz.methods.missing.missing import Completed, complete
from ritz.methods.missing.rank import first_minimum, gcv

GOLDEN = Path(__file__).resolve().parent.parent / "golden" / "missing"


def orange() -> np.ndarray:
    with open(GOLDEN / "orange.csv", newline="") as file:
        rows = list(csv.reader(file))[1:]
    return np.array([[float(cell) if cell else np.nan for cell in row[1:]] for row in rows])


def missmda() -> dict[str, Any]:
    return json.loads((GOLDEN / "orange_missmda.json").read_text())


def low_rank(
    n: int, d: int, k: int, noise: float, share: float, seed: int = 0
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Low rank plus noise, with that share removed at random: the truth, what is left, and where it is not."""
    rng = np.random.default_rng(seed)
    axes = rng.standard_normal((k, d))
    T = rng.standard_normal((n, k)) @ (axes / np.linalg.norm(axes, axis=0))  # as much signal in every column
    T += noise * rng.standard_normal((n, d)) + rng.standard_normal(d)
    gone = rng.random((n, d)) < share
    gone[gone.all(axis=1), 0] = False
    return T, np.where(gone, np.nan, T), gone


def completed(X: np.ndarray, method: str, k: Any, **options: Any) -> Completed:
    options = {"center": True, "scale": False, "tol": 1e-9, **options}
    rows, weights = options.pop("rows", None), options.pop("weights", None)
    return complete(MemoryBlocks(X, rows), weights, method, k, **options)


def filled(X: np.ndarray, method: str, k: Any, **options: Any) -> np.ndarray:
    found = completed(X, method, k, **options).filler
    assert found is not None
    return found.fill(X, 0)


def naive(X: np.ndarray, k: int, *, shrink: bool, scale: bool) -> np.ndarray:
    """The loop of Josse & Husson as written: impute, standardise, SVD, shrink, impute again."""
    n, d = X.shape
    gone, Y = np.isnan(X), np.where(np.isnan(X), np.nanmean(X, axis=0), X)
    for _ in range(20_000):
        mean = Y.mean(axis=0)
        unit = Y.std(axis=0) if scale else np.ones(d)
        U, s, Vt = np.linalg.svd((Y - mean) / unit, full_matrices=False)
        values = s**2 / n
        level = n * d / min(d, n - 1) * values[k:].sum() / ((n - 1) * d - (n - 1) * k - d * k + k * k)
        level = min(level, values[k]) if shrink else 0.0
        fit = (U[:, :k] * (s[:k] * (values[:k] - level) / values[:k])) @ Vt[:k] * unit + mean
        step = float(np.max(np.abs(fit - Y)[gone]))
        Y = np.where(gone, fit, X)
        if step < 1e-12:
            break
    return Y


@pytest.mark.parametrize(("name", "method", "k"), [
    ("Regularized_ncp2", "regularized", 2), ("EM_ncp1", "em", 1), ("EM_ncp2", "em", 2),
])  # fmt: skip
def test_orange_is_filled_as_missmda_fills_it(name: str, method: str, k: int) -> None:
    truth = np.array(missmda()[name]["values"])
    # missMDA stopped when its objective moved by 1e-10: its own values are good to about 2e-8
    assert np.max(np.abs(filled(orange(), method, k, scale=True) - truth)) < 1e-7


def test_gcv_is_missmdas() -> None:
    golden = missmda()
    X = MemoryBlocks(orange())
    filling = Filling(X, None, observe(X), 0, True, True, True)
    curve = gcv(filling, units=np.ones(8), tol=1e-8)
    # missMDA compares fits that stopped at 1e-6
    assert np.allclose(curve, golden["gcv_criterion"]["values"], rtol=2e-5)
    assert first_minimum(curve) == golden["estim_ncp_gcv"] == completed(orange(), "regularized", "gcv", scale=True).rank


@pytest.mark.parametrize("scale", [False, True])
@pytest.mark.parametrize("method", ["em", "regularized"])
@pytest.mark.parametrize(("n", "d", "k"), [(60, 8, 2), (25, 40, 3)])
def test_fixed_points_are_those_of_the_naive_loop(method: str, scale: bool, n: int, d: int, k: int) -> None:
    _, X, _ = low_rank(n, d, k, 0.4, 0.15)
    X[:, 1] *= 5.0
    truth = naive(X, k, shrink=method == "regularized", scale=scale)
    assert np.max(np.abs(filled(X, method, k, scale=scale) - truth) / np.nanstd(X, axis=0)) < 1e-6


def test_em_lowers_the_squares_over_what_is_observed_in_every_pass() -> None:
    _, X, _ = low_rank(80, 10, 3, 0.7, 0.25)
    blocks = MemoryBlocks(X)
    filling = Filling(blocks, None, observe(blocks), 3, False, True, False, mixed=False)
    squares = [float(iterate(filling, 0.0, most).residues.sum()) for most in range(1, 30)]
    assert all(b <= a * (1 + 1e-12) for a, b in itertools.pairwise(squares))
    assert squares[-1] < 0.7 * squares[0]


def test_mixing_finds_the_plain_answer_in_fewer_passes() -> None:
    _, X, _ = low_rank(60, 20, 4, 0.8, 0.4)
    blocks = MemoryBlocks(X)
    plain, mixed = (
        iterate(Filling(blocks, None, observe(blocks), 4, True, True, False, mixed=on), 1e-9) for on in (False, True)
    )
    assert np.max(np.abs(plain.filler.fill(X) - mixed.filler.fill(X))) < 1e-6
    assert mixed.passes < 0.6 * plain.passes


def unrelated(n: int, d: int, decay: float, share: float, seed: Any) -> np.ndarray:
    """Independent columns of falling spread: filled by their means they are next to a saddle of the iteration."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * decay ** np.arange(d)
    X[rng.random((n, d)) < share] = np.nan
    X[np.isnan(X).all(axis=1)] = 0.0
    return X


@pytest.mark.parametrize(("n", "d", "k", "share", "draw"), [
    (20_000, 30, 4, 0.1, 0), (2000, 12, 2, 0.12, (2, 2000, 2)), (2000, 12, 2, 0.12, (3, 2000, 2)),
])  # fmt: skip
def test_mixing_does_not_go_back_to_what_plain_passes_leave(n: int, d: int, k: int, share: float, draw: Any) -> None:
    X = unrelated(n, d, 0.8, share, draw)
    filling = Filling(MemoryBlocks(X), None, observe(MemoryBlocks(X)), k, True, True, False)
    plain, mixed = iterate(replace(filling, mixed=False), 1e-8), iterate(filling, 1e-8)
    assert plain.converged
    assert mixed.converged
    assert mixed.passes < plain.passes
    assert np.max(np.abs(mixed.values - plain.values)) < 1e-6 * plain.values[0]


def test_independent_columns_are_filled_as_the_loop_of_the_papers_fills_them() -> None:
    X = unrelated(2000, 12, 0.8, 0.12, (3, 2000, 2))
    assert np.max(np.abs(filled(X, "regularized", 2) - naive(X, 2, shrink=True, scale=False))) < 1e-6


@pytest.mark.parametrize("draw", [0, 1, 4])
def test_an_iteration_ends_within_tol_of_its_fixed_point(draw: int) -> None:
    """Eigenvalues too, which move by more than the axes do where rows with few entries are filled by large values."""
    rng = np.random.default_rng(draw)
    X = rng.standard_normal((3000, 3)) @ rng.standard_normal((3, 6)) + 0.3 * rng.standard_normal((3000, 6))
    X[rng.random(X.shape) < 0.2] = np.nan
    X[np.isnan(X).all(axis=1)] = 0.0
    filling = Filling(MemoryBlocks(X), None, observe(MemoryBlocks(X)), 2, False, True, False)
    settled, found = iterate(replace(filling, mixed=False), 0.0, 150), iterate(filling, 1e-6)
    assert found.converged
    assert found.distance <= 1e-6
    assert settled.change < 1e-8  # rounding leaves 4e-10 to 2e-9
    assert np.max(np.abs(found.values - settled.values)) < 1e-5 * settled.values[0]  # values lag a pass behind


def test_easy_cases_need_few_passes() -> None:
    for method, k, most in (("regularized", 2, 20), ("em", 1, 16), ("em", 2, 24)):
        X = MemoryBlocks(orange())
        assert iterate(Filling(X, None, observe(X), k, method != "em", True, True), 1e-9).passes <= most


@pytest.mark.parametrize("most", [40, 41, 42, 43, 44, 45])
def test_passes_that_run_out_leave_a_point_that_is_good(most: int) -> None:
    """Where nothing settles, mixtures that fail must not be the answer: it moves about as little as plain passes do."""
    _, X, _ = low_rank(80, 10, 3, 0.7, 0.25)
    filling = Filling(MemoryBlocks(X), None, observe(MemoryBlocks(X)), 3, False, True, False)
    plain, mixed = (iterate(replace(filling, mixed=on), 1e-9, most) for on in (False, True))
    assert not mixed.converged
    assert mixed.passes == most
    assert mixed.change < 5 * plain.change
    assert mixed.residues.sum() < 1.01 * plain.residues.sum()


@pytest.mark.parametrize("method", ["em", "regularized"])
def test_exact_low_rank_is_recovered(method: str) -> None:
    T, X, gone = low_rank(200, 12, 2, 0.0, 0.2)
    assert np.max(np.abs(filled(X, method, 2) - T)[gone]) < 1e-6


def test_one_gap_under_one_axis_has_a_closed_form() -> None:
    """Rows on a line through the origin: a gap is the only value that keeps its row on it."""
    t = np.array([1.0, 2.0, -3.0, 5.0])
    X = np.outer(t, [1.0, 2.0, 4.0])
    X[3, 2] = np.nan
    assert filled(X, "em", 1, center=False)[3, 2] == pytest.approx(20.0, abs=1e-6)


def test_mean_is_the_observed_mean_and_so_are_no_axes() -> None:
    _, X, gone = low_rank(50, 6, 2, 0.5, 0.2)
    truth = np.where(gone, np.nanmean(X, axis=0), X)
    for found in (filled(X, "mean", 3), filled(X, "mean", None, center=False), filled(X, "regularized", 0)):
        assert np.allclose(found, truth, rtol=0, atol=1e-14)


def test_regularised_beats_mean_and_em_on_what_was_removed() -> None:
    errors = {method: [] for method in ("mean", "em", "regularized")}
    for seed in range(6):
        T, X, gone = low_rank(150, 15, 4, 0.9, 0.2, seed)
        for method, list_ in errors.items():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", AccuracyWarning)
                list_.append(float(np.sqrt(np.mean((filled(X, method, 4, tol=1e-6) - T)[gone] ** 2))))
    mean, em, regularised = (float(np.mean(values)) for values in errors.values())
    assert regularised < 0.97 * em
    assert regularised < 0.9 * mean
    assert all(a < b for a, b in zip(errors["regularized"], errors["em"], strict=True))


@pytest.mark.parametrize("rule", ["gcv", "kfold"])
@pytest.mark.parametrize("scale", [False, True])
def test_cross_validation_finds_the_rank(rule: str, scale: bool) -> None:
    _, X, _ = low_rank(200, 12, 3, 0.3, 0.15)
    found = completed(X, "regularized", rule, scale=scale, tol=1e-6)
    assert found.rank == found.n_components == 3
    assert found.choice is not None
    assert f"{rule} chose 3 components" in found.choice.why
    assert int(np.argmin(found.choice.criterion)) == 3


def test_pure_noise_needs_no_axis() -> None:
    X = np.random.default_rng(0).standard_normal((300, 8))
    X[np.random.default_rng(1).random(X.shape) < 0.1] = np.nan
    assert completed(X, "regularized", "kfold", tol=1e-6).rank == 0


def test_units_do_not_choose_the_rank_of_scaled_columns() -> None:
    _, X, _ = low_rank(200, 12, 3, 0.3, 0.15)
    units = 10.0 ** np.arange(-6, 6)
    assert completed(X * units, "regularized", "gcv", scale=True, tol=1e-6).rank == 3


def test_many_rows_are_sampled_and_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ritz.methods.missing.rank.MOST_ROWS", 150)
    _, X, _ = low_rank(1000, 12, 3, 0.3, 0.15)
    found = completed(X, "regularized", "gcv", tol=1e-6, weights=np.ones(1000), rows=64)
    assert found.rank == 3
    assert "looked at 150 of 1,000 rows" in found.notes[-1]


def test_anything_but_a_number_fills_by_gcv_and_keeps_its_meaning() -> None:
    _, X, _ = low_rank(200, 12, 3, 0.3, 0.15)
    for asked in (None, 0.9, "kaiser"):
        found = completed(X, "em", asked, tol=1e-6)
        assert found.rank == 3
        assert found.n_components == asked


def test_more_axes_than_the_shape_can_carry_are_refused() -> None:
    _, X, _ = low_rank(20, 6, 2, 0.3, 0.2)
    with pytest.raises(ParameterError, match="can be filled by 0 to 5 components"):
        completed(X, "regularized", 6)
    with pytest.raises(ParameterError, match="can be filled by 0 to 3 components"):
        completed(X[:5], "em", 4)


def test_doubtful_fits_warn() -> None:
    _, X, _ = low_rank(100, 12, 2, 0.3, 0.9)
    with pytest.warns(AccuracyWarning, match="more numbers than the"):
        completed(X, "regularized", 2, tol=0.1)
    T, X, _ = low_rank(100, 12, 2, 0.3, 0.2)
    X[3, 2:] = np.nan
    X[3, :2] = T[3, :2]
    with pytest.warns(AccuracyWarning, match="only 2 entries, no more than the 2 components"):
        completed(X, "em", 2)


def test_an_iteration_that_does_not_end_warns(monkeypatch: pytest.MonkeyPatch) -> None:
    _, X, _ = low_rank(60, 20, 4, 0.8, 0.4)
    monkeypatch.setattr("ritz.methods.missing.missing.iterate", lambda filling, tol: iterate(filling, tol, 5))
    with pytest.warns(AccuracyWarning, match="after 5 passes the filled values still move by"):
        found = completed(X, "regularized", 4)
    assert not found.converged
    assert found.change > 1e-9
    assert f"5 passes, not converged: the last change was {found.change:.1e}" in found.notes[0]
    assert f"what is left about {found.distance:.1e}" in found.notes[0]


def test_the_note_says_how_far_the_fixed_point_is() -> None:
    found = completed(low_rank(60, 8, 2, 0.4, 0.15)[1], "regularized", 2)
    assert 0 < found.distance <= 1e-9
    assert f"passes, to about {found.distance:.1e};" in found.notes[0]


def test_gaps_that_no_component_fills_are_filled_by_means():
    X = np.array([[1.0, 5.0, 9.0], [np.nan, 3.0, 2.0], [7.0, 1.0, 4.0], [2.0, 8.0, np.nan]])
    model = ritz.PCA(missing="regularized").fit(X)
    words = " ".join(str(model.certificate_).split())
    assert "2 of 12 entries (0.167 of all) were missing, filled by the means of the columns, as no component" in words
    assert "inf" not in words.replace("infinity", "")
    expected = np.where(np.isnan(X), np.nanmean(X, axis=0), X)
    np.testing.assert_allclose(model.explained_variance_.sum(), expected.var(axis=0, ddof=1).sum())
