"""Reports name values that stand apart from all others of their column, such as misplaced commas; not noise."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

import ritz
from ritz.insight.outliers.values import expected_counts, values_apart
from ritz.report.context import Context
from ritz.report.values import value_words
from tests.report.test_noise_outliers import clause, counts, numbers


def people(n: int, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng([seed, n])
    size, age = rng.standard_normal(n), rng.integers(18, 80, n).astype(float)
    return pd.DataFrame({
        "height": 170 + 9 * size + 3 * rng.standard_normal(n), "weight": 70 + 10 * size + 6 * rng.standard_normal(n),
        "age": age, "income": np.exp(10 + 0.5 * rng.standard_normal(n)), "pressure": 120 + 8 * rng.standard_normal(n),
    })  # fmt: skip


MODELS = {
    "pca": lambda: ritz.PCA(),
    "pca of two, scaled": lambda: ritz.PCA(2, scale=True),
    "svd": lambda: ritz.SVD(2),
    "factors": lambda: ritz.FactorAnalysis(1),
    "famd": lambda: ritz.FAMD(2),
    "kernel": lambda: ritz.KernelPCA(3, kernel="rbf", gamma="median"),
    "mds": lambda: ritz.MDS(2),
}


@pytest.mark.parametrize("method", MODELS)
@pytest.mark.parametrize(("n", "rows"), [(20, [3]), (20, [3, 11]), (60, [3, 11])])
def test_rows_with_a_comma_in_the_wrong_place_are_named(method, n, rows):
    X = people(n)
    X.loc[rows, "height"] *= 100
    if method == "famd":
        X["sex"] = np.tile(["f", "m"], n)[:n]
    words = clause(MODELS[method](), X)
    assert all(re.search(rf"row {row + 1}\b", words) for row in rows), words
    assert "no row" not in words


@pytest.mark.parametrize("n", [20, 60, 200])
@pytest.mark.parametrize("rows", [[3], [3, 11]])
def test_counts_with_two_zeros_too_many_are_named(n, rows):
    rng = np.random.default_rng(n)
    N = rng.poisson(np.outer(rng.gamma(2.0, 20.0, n) + 3, [0.1, 0.3, 0.25, 0.15, 0.2])) + 1
    N[rows, 1] *= 100
    words = clause(ritz.CA(2), pd.DataFrame(N, columns=list("abcde")))
    assert all(re.search(rf"row {row + 1}\b", words) for row in rows), words


def test_the_words_say_what_stands_there_and_what_else_does():
    X = people(30)
    X.loc[4, "age"] = 4500
    X.loc[[5, 6], "height"] = [17_100, 16_200]
    about = Context(ritz.PCA(2, scale=True).fit(X), X)
    words = re.sub("<[^>]+>", "", str(value_words(about)))
    age = X["age"].drop(4)
    assert f"By age: row 5 (4,500), where all others lie from {age.min():.0f} to {age.max():.0f}" in words.replace(
        ".0", ""
    )
    assert "By height: row 6 (17,100) and row 7 (16,200), where all others lie from 1" in words
    assert {one.column for one in about.values} == {"age", "height"}


def test_categories_and_gaps_are_no_values():
    X = people(40)
    X["code"] = pd.Categorical(np.r_[np.tile([1, 2, 3], 13), 9_000])
    X.loc[::5, "weight"] = np.nan
    X.loc[7, "weight"] = 9_000
    model = ritz.FAMD(2, missing="regularized").fit(X)
    assert [one.column for one in Context(model, X).values] == ["weight"]


NOISE = {
    "normal": lambda rng, n: rng.standard_normal(n),
    "exponential": lambda rng, n: rng.standard_exponential(n),
    "lognormal": lambda rng, n: np.exp(rng.standard_normal(n)),
    "t of 2": lambda rng, n: rng.standard_t(2, n),
    "poisson": lambda rng, n: rng.poisson(1.0, n).astype(float),
    "rare": lambda rng, n: rng.poisson(0.1, n).astype(float),
    "geometric": lambda rng, n: rng.geometric(0.5, n).astype(float),
    "answers": lambda rng, n: rng.choice([1.0, 2, 3, 4, 5], n, p=[0.02, 0.1, 0.7, 0.15, 0.03]),
    "mostly zero": lambda rng, n: np.where(rng.random(n) < 0.7, 0.0, np.exp(4 + rng.standard_normal(n))),
    "two groups": lambda rng, n: rng.standard_normal(n) + 500 * (np.arange(n) < max(3, n // 8)),
}


@pytest.mark.parametrize("noise", NOISE)
@pytest.mark.parametrize("n", [20, 60, 300])
def test_no_value_of_noise_stands_apart(noise, n):
    rng = np.random.default_rng(1)
    found = sum(bool(values_apart([(str(j), NOISE[noise](rng, n)) for j in range(5)])) for _ in range(60))
    assert found <= binom.isf(1e-3, 60, 0.05)


def test_tables_of_noise_have_none():
    assert sum(bool(values_apart([(name, X[name].to_numpy()) for name in X])) for X in map(numbers, range(48))) <= 6
    for i in range(32):
        N = counts(i).to_numpy(float)
        e = expected_counts(N)
        assert not values_apart([(str(j), x) for j, x in enumerate(((N - e) / np.sqrt(np.maximum(e, 1))).T)])


def test_odd_columns_are_looked_at_without_harm():
    n = 30
    columns = {"constant": np.ones(n), "gaps": np.full(n, np.nan), "huge": np.r_[np.zeros(n - 2), -1.7e308, 1.7e308],
               "one": np.r_[np.zeros(n - 1), 1.0], "infinite": np.r_[np.arange(n - 1.0), np.inf]}  # fmt: skip
    assert values_apart(columns.items()) == []
    assert values_apart([]) == []
    assert expected_counts(np.zeros((3, 2))).tolist() == [[0, 0]] * 3
