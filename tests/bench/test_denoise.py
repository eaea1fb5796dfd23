"""The denoising bench: its digits are kept apart, its coordinates are those of the first k, and it runs to its end."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import ritz

ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.fixture
def denoise(monkeypatch: pytest.MonkeyPatch):
    pytest.importorskip("matplotlib").use("Agg")
    monkeypatch.syspath_prepend(str(ROOT))
    from bench import denoise

    return denoise


@pytest.fixture
def digits(tmp_path: Path) -> Path:
    """A file like that of the real digits: ten kinds of smooth pictures, each row a picture of its own."""
    rng = np.random.default_rng(0)
    x = np.linspace(-1, 1, 16)
    kinds = rng.uniform(-0.6, 0.6, (10, 2, 2))

    def draw(kind: int) -> np.ndarray:
        at = kinds[kind] + 0.1 * rng.standard_normal((2, 2))
        bumps = [np.exp(-6 * ((x - a) ** 2 + (x[:, None] - b) ** 2)) for a, b in at]
        return 2 * np.clip(sum(bumps), 0, 1).ravel() - 1

    y_train, y_test = np.repeat(np.arange(10), 70), np.repeat(np.arange(10), 55)
    X_train, X_test = (np.array([draw(kind) for kind in y]) for y in (y_train, y_test))
    path = tmp_path / "usps" / "usps.npz"
    path.parent.mkdir()
    as_stored = {"X_train": X_train, "X_test": X_test}
    np.savez(
        path, y_train=y_train, y_test=y_test, **{k: np.round(1000 * v).astype(np.int16) for k, v in as_stored.items()}
    )
    return path


def test_no_digit_serves_two_purposes(denoise, digits):
    made = denoise.load(digits, 0, 40)
    assert made.train.shape == (400, 256)
    assert made.valid.shape == (200, 256)
    assert made.test.shape == (500, 256)
    parts = [{row.tobytes() for row in part} for part in (made.train, made.valid, made.test)]
    assert [len(part) for part in parts] == [400, 200, 500]
    assert not parts[0] & parts[1]
    assert not (parts[0] | parts[1]) & parts[2]
    assert np.isclose((made.test_noisy - made.test).std(), 0.5, rtol=0.02)
    again = denoise.load(digits, 1, 40)
    assert not np.array_equal(again.train, made.train)


def test_zeros_beyond_k_are_the_model_of_k_components(denoise, digits):
    made = denoise.load(digits, 0, 20)
    whole = ritz.KernelPCA(60, kernel="rbf", gamma=1 / 128).fit(made.train)
    few = ritz.KernelPCA(12, kernel="rbf", gamma=1 / 128).fit(made.train)
    rows = made.valid_noisy[::10]
    ours = denoise.denoised(whole, whole.transform(rows), 12)
    theirs = few.inverse_transform(few.transform(rows), method="fixed-point")
    assert np.allclose(ours, theirs, atol=1e-6)


def test_it_runs_and_reports_and_draws(denoise, digits, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(denoise, "SHARED", digits.parent.parent)
    # Small networks and few numbers of components take the same steps.
    for name, value in {"COUNTS": (16, 64, 256), "NETWORKS": ((16, (32,)), (32, (64,))), "UNITS": 32}.items():
        monkeypatch.setattr(denoise, name, value)
    assert denoise.main(["--quick", "--pictures", str(tmp_path / "pictures")]) == 0
    out = capsys.readouterr().out
    assert "400 training digits, 500 test digits" in out
    assert "ratio, mean of the splits" in out
    assert "asked for" not in out  # that is said of the full experiment only
    for name in ("denoising.png", "denoising-error.png"):
        assert (tmp_path / "pictures" / name).stat().st_size > 5_000


def test_without_digits_it_says_so(denoise, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(denoise, "SHARED", tmp_path)
    assert denoise.main(["--quick"]) == 0
    assert "no digits at" in capsys.readouterr().out
