"""The table of detectors runs, and linear detectors have the areas that came with the data."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.fixture(autouse=True)
def bench_is_importable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT))


@pytest.mark.shared
def test_two_small_tables_are_scored_by_every_detector(capsys):
    from bench.novelty import golden, main

    assert main(["--quick"]) == 0
    out = capsys.readouterr().out
    every, normal = out.split("fitted to half of the normal rows")
    values = {}
    for line in every.splitlines()[4:]:
        if line.strip() and not line.startswith("-"):
            values[line[:42].strip()] = [float(word) for word in line[42:].split()]
    assert len(values) == 16
    assert all(len(v) == 3 and min(v) >= 0 and max(v) <= 1 for v in values.values())
    assert abs(values["KernelPCA potential, median"][2] - np.mean(values["KernelPCA potential, median"][:2])) < 2e-4
    told = golden()["error of PCA, as given"]
    # 90 % of the variance, standardised columns: the same score by another program, to the digits printed.
    for name in ("ritz.PCA, reconstruction error", "scikit-learn PCA, reconstruction error"):
        np.testing.assert_allclose(values[name][:2], [told["Ionosphere"], told["WDBC"]], atol=6e-5)
    after = {line[:42].strip(): line[42:].split() for line in normal.splitlines() if line.startswith("KernelPCA")}
    assert len(after) == 8
    assert float(after["KernelPCA novelty, median"][1]) > 0.97  # WDBC: outliers kept out of the fit stand out


def test_an_outlier_far_from_all_rows_has_an_area_of_one():
    from bench.novelty import areas

    rng = np.random.default_rng(0)
    rows = rng.standard_normal((200, 3))
    new = np.vstack([rng.standard_normal((50, 3)), 30 + rng.standard_normal((5, 3))])
    found = areas(rows, new, np.arange(55) >= 50)
    for name in ("KernelPCA novelty, median", "KernelPCA potential, scale", "scikit-learn OneClassSVM, scale"):
        assert found[name] == 1.0
    guess = areas(rows, rng.standard_normal((400, 3)), np.arange(400) % 2 == 0)
    assert all(abs(value - 0.5) < 0.15 for value in guess.values())


def test_minus_the_novelty_is_the_score_of_samples():
    import ritz
    from bench.novelty import kernel_scores

    X = np.random.default_rng(1).standard_normal((60, 4))
    model = ritz.KernelPCA(0.9, kernel="rbf", gamma="median", fit_inverse_transform=False).fit(X)
    found = kernel_scores(X, "median")
    np.testing.assert_array_equal(found["KernelPCA novelty, median"](X), -model.score_samples(X))
    F = np.abs(model.transform(X)).sum(axis=1)
    np.testing.assert_allclose(found["KernelPCA activation, median"](X), F, rtol=1e-9)
    np.testing.assert_allclose(found["KernelPCA |activation − median|, median"](X), np.abs(F - np.median(F)), atol=1e-9)
