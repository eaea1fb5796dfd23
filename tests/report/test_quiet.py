"""What refits on other rows would warn of never reaches the user of a report."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

import ritz
from ritz._core import blas


def rare(seed, n=24):
    """Columns and levels that draws of the rows lose: one value that differs, levels of one row."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.standard_normal((n, 3)), columns=["a", "b", "c"])
    frame["nearly"] = np.r_[1.0, np.zeros(n - 1)]
    frame["q"] = np.r_[["once"], rng.choice(["x", "y"], n - 1)]
    frame["r"] = np.r_[["u"] * (n - 2), ["v", "w"]]
    return frame


@pytest.mark.parametrize("method", ["pca", "famd", "mca", "ca"])
def test_reports_warn_of_nothing(method, seed):
    frame = rare(seed)
    rng = np.random.default_rng(seed)
    counts = pd.DataFrame(rng.poisson(3, (12, 5)), columns=list("abcde"))
    counts["e"] = np.r_[2, np.zeros(11, int)]
    rows = {"pca": frame[["a", "b", "c", "nearly"]], "famd": frame, "mca": frame[["q", "r"]], "ca": counts}[method]
    model = {"pca": ritz.PCA(scale=True), "famd": ritz.FAMD(), "mca": ritz.MCA(), "ca": ritz.CA()}[method].fit(rows)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ritz.report.render(model, rows)


def test_small_reports_run_in_one_thread(seed, monkeypatch):
    asked = []
    real = blas.limited_blas
    monkeypatch.setattr(blas, "limited_blas", lambda threads: asked.append(threads) or real(threads))
    X = np.random.default_rng(seed).standard_normal((20, 4))
    ritz.report.render(ritz.PCA(2).fit(X), X)
    assert asked[0] == 1
    before = len(asked)
    with blas.small_blas(100_000, 1_000):  # a large table keeps its threads
        assert len(asked) == before
